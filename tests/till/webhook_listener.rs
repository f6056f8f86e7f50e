//! `till webhook listen`: deliveries are checked, printed, forwarded and answered.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::json;
use till_actors::webhooks::{SIGNING_SECRET_BYTES, SigningSecret, sign};

use crate::harness::{ApiAnswer, Client, KilledOnDrop, now_seconds};

/// The id of the event that is delivered.
const EVENT_ID: &str = "evt_01h2e8kqvbfwea724h75qc655w";

/// A running listener. Dropping it kills it.
struct Listener {
    child: KilledOnDrop,
    output: BufReader<ChildStdout>,
    base: String,
    introduction: String,
}

impl Listener {
    fn start(arguments: &[&str]) -> Listener {
        Listener::start_with(arguments, None)
    }

    fn start_with(arguments: &[&str], secret: Option<&str>) -> Listener {
        let mut command = command(arguments);
        command.envs(secret.map(|secret| ("TILL_WEBHOOK_SECRET", secret)));
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the binary can be started");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut introduction = String::new();
        while !introduction.contains("connect-webhook\"") || !introduction.ends_with("\n\n") {
            assert_ne!(output.read_line(&mut introduction).expect("it is text"), 0, "{introduction}");
        }
        let first = introduction.lines().next().expect("a line");
        let base = first.strip_prefix("Listening on ").expect("it says where").to_owned();
        Listener { child: KilledOnDrop(child), output, base, introduction }
    }

    fn client(&self) -> Client {
        Client::new(&self.base)
    }

    /// The next line that it prints, without the time.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it is text");
        line.split_once("  ").expect("a time comes first").1.trim_end().to_owned()
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_till"));
    command.env_clear().args(["webhook", "listen", "--listen", "127.0.0.1:0"]).args(arguments);
    command
}

fn secret(byte: u8) -> SigningSecret {
    SigningSecret::from_bytes(&[byte; SIGNING_SECRET_BYTES])
}

fn body() -> Vec<u8> {
    let body = json!({
        "event_id": EVENT_ID, "event": "payment_completed", "sequence": 7, "payment_id": "pay_1",
        "status": "SUCCESSFUL", "amount": 12_345, "currency": "THB",
    });
    body.to_string().into_bytes()
}

/// Posts a body that was signed for these bytes at this time.
fn deliver(client: &Client, secrets: &[SigningSecret], signed: &[u8], at: u64, sent: &[u8]) -> ApiAnswer {
    let (newest, older) = secrets.split_first().expect("a secret");
    let headers = sign(newest, older, EVENT_ID, at, signed);
    let named = headers.with_names("Shop-Signature");
    named.iter().fold(client.clone(), |client, (name, value)| client.header(name, value)).post_bytes("/a/b?c=d", sent)
}

#[test]
fn a_signed_delivery_is_printed_and_answered_with_204() {
    let mut listener = Listener::start(&["--secret", &secret(1).secret_text()]);
    for part in ["TILL_WEBHOOK_ALLOWED_NETWORKS=127.0.0.0/8", &format!("\"destination_url\":\"{}\"", listener.base)] {
        assert!(listener.introduction.contains(part), "{}", listener.introduction);
    }
    assert!(!listener.introduction.contains("Nothing is verified"), "{}", listener.introduction);
    assert_eq!(deliver(&listener.client(), &[secret(1)], &body(), now_seconds(), &body()).status, 204);
    assert_eq!(listener.line(), "payment_completed  #7  pay_1  SUCCESSFUL  123.45 THB  verified");
}

#[test]
fn a_wrong_body_time_or_secret_is_refused_with_a_reason() {
    let mut listener = Listener::start(&["--secret", &secret(1).secret_text()]);
    let client = listener.client();
    let mut changed = body();
    *changed.last_mut().expect("a byte") = b' ';
    let deliveries = [
        (deliver(&client, &[secret(1)], &body(), now_seconds(), &changed), "no signature"),
        (deliver(&client, &[secret(2)], &body(), now_seconds(), &body()), "no signature"),
        (deliver(&client, &[secret(1)], &body(), now_seconds() - 301, &body()), "5 minutes in the past"),
        (deliver(&client, &[secret(1)], &body(), now_seconds() + 400, &body()), "5 minutes in the future"),
        (client.post_bytes("/", &body()), "the header webhook-id is missing"),
    ];
    for (answer, reason) in deliveries {
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.body.as_str().is_some_and(|sentence| sentence.contains(reason)), "{answer:?}");
        let line = listener.line();
        assert!(line.contains("refused: ") && line.contains(reason), "{line}");
    }
    assert_eq!(client.get("/").status, 405);
    assert_eq!(client.post_bytes("/", &vec![b' '; 64 * 1024 + 1]).status, 413);
}

#[test]
fn both_secrets_of_a_rotation_and_a_public_key_are_accepted() {
    let both = format!("{},{}", secret(1).secret_text().as_str(), secret(2).secret_text().as_str());
    let environment = Listener::start_with(&[], Some(&both));
    let (old, new) = (secret(1).secret_text(), secret(2).secret_text());
    let flags = Listener::start(&["--secret", &old, "--secret", &new]);
    for listener in [environment, flags] {
        for byte in [1, 2] {
            assert_eq!(
                deliver(&listener.client(), &[secret(byte)], &body(), now_seconds(), &body()).status,
                204,
                "{byte}"
            );
        }
        assert_eq!(deliver(&listener.client(), &[secret(3)], &body(), now_seconds(), &body()).status, 400);
    }
    let public = Listener::start(&["--public-key", &secret(1).public_key_text()]);
    assert_eq!(deliver(&public.client(), &[secret(2), secret(1)], &body(), now_seconds(), &body()).status, 204);
    assert_eq!(deliver(&public.client(), &[secret(2)], &body(), now_seconds(), &body()).status, 400);
}

#[test]
fn without_a_secret_it_prints_that_nothing_is_verified() {
    let mut listener = Listener::start(&[]);
    assert!(listener.introduction.contains("Nothing is verified"), "{}", listener.introduction);
    assert_eq!(listener.client().post_bytes("/", &body()).status, 204);
    assert_eq!(listener.line(), "payment_completed  #7  pay_1  SUCCESSFUL  123.45 THB  not verified");
}

#[test]
fn bodies_are_printed_as_they_came_and_refused_ones_are_not() {
    let mut command = command(&["--json", "--secret", &secret(1).secret_text()]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started");
    let mut printed = BufReader::new(child.stderr.take().expect("it is piped")).lines().map_while(Result::ok);
    let first = printed.next().expect("it says where it listens");
    let client = Client::new(first.strip_prefix("Listening on ").expect("it says where"));
    let mut listener = Listener {
        output: BufReader::new(child.stdout.take().expect("it is piped")),
        child: KilledOnDrop(child),
        base: String::new(),
        introduction: String::new(),
    };
    let body = b"{ \"event\":\n\"test\" }";
    assert_eq!(deliver(&client, &[secret(2)], body, now_seconds(), body).status, 400);
    assert_eq!(deliver(&client, &[secret(1)], body, now_seconds(), body).status, 204);
    let mut line = String::new();
    listener.output.read_line(&mut line).expect("it is text");
    assert_eq!(line, "{ \"event\": \"test\" }\n");
}

/// Answers one request with this status, and returns its head and body.
fn answer_once(status: u16) -> (String, JoinHandle<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let base = format!("http://{}", listener.local_addr().expect("it is bound"));
    let answered = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a caller");
        let request = received(&mut stream);
        write!(stream, "HTTP/1.1 {status} Status\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").expect("it reads");
        request
    });
    (base, answered)
}

fn received(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).expect("a head is text"), 0, "{head}");
    }
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("its length is said");
    let mut body = vec![0; length.parse().expect("a number")];
    reader.read_exact(&mut body).expect("the whole body");
    (head, body)
}

#[test]
fn a_delivery_is_forwarded_and_its_status_is_returned() {
    let (program, answered) = answer_once(418);
    let forward = format!("{program}/hooks?of=shop");
    let mut listener = Listener::start(&["--secret", &secret(1).secret_text(), "--forward-to", &forward]);
    assert_eq!(deliver(&listener.client(), &[secret(2)], &body(), now_seconds(), &body()).status, 400);
    assert!(listener.line().contains("refused: "));
    let at = now_seconds();
    assert_eq!(deliver(&listener.client(), &[secret(1)], &body(), at, &body()).status, 418);
    assert!(listener.line().ends_with("  verified  forwarded: 418"));
    let (head, received) = answered.join().expect("it was called");
    assert_eq!(received, body());
    assert!(head.starts_with("post /hooks?of=shop "), "{head}");
    let headers = sign(&secret(1), &[], EVENT_ID, at, &body());
    for (name, value) in headers.with_names("shop-signature") {
        assert!(head.contains(&format!("{name}: {}\r\n", value.to_lowercase())), "{name} is not in {head}");
    }
    assert!(head.contains("content-type: application/json\r\n"), "{head}");
    assert_eq!(
        deliver(&listener.client(), &[secret(1)], &body(), now_seconds(), &body()).status,
        502,
        "nobody answers now"
    );
    assert!(listener.line().contains("  verified  not forwarded: "));
}

#[test]
fn it_ends_at_once_without_an_error_on_a_signal() {
    for signal in ["-INT", "-TERM"] {
        let mut listener = Listener::start(&[]);
        let _idle = TcpStream::connect(listener.base.trim_start_matches("http://")).expect("it listens");
        let asked = Instant::now();
        let signalled = Command::new("kill").args([signal, &listener.child.id().to_string()]).status();
        assert!(signalled.expect("there is kill").success());
        assert_eq!(listener.child.wait().expect("it can be waited for").code(), Some(0), "{signal}");
        assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    }
}

/// Waits until a process ends by itself, and kills it when it takes longer than this.
fn end_within(child: &mut Child, limit: Duration) {
    let until = Instant::now() + limit;
    while child.try_wait().expect("it can be waited for").is_none() {
        if Instant::now() >= until {
            child.kill().expect("it runs");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn unusable_arguments_are_refused_without_a_secret() {
    for (arguments, reason) in [
        (&["--secret", "hunter2"][..], "must begin with whsec_"),
        (&["--forward-to", "http://192.0.2.1/"], "must be an http address of this machine"),
        (&["--forward-to", "https://127.0.0.1/"], "must be an http address of this machine"),
    ] {
        let mut child = command(arguments).stderr(Stdio::piped()).spawn().expect("the binary can be started");
        end_within(&mut child, Duration::from_secs(10));
        let output = child.wait_with_output().expect("it can be waited for");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains(reason) && !errors.contains("hunter2"), "{errors}");
    }
}
