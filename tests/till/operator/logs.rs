//! The form of log lines: for people on a terminal, for machines elsewhere.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Client, KilledOnDrop, Server, Start, directory, first_answer, id_of_nothing, temporary};

/// The first character of the escape codes for colours on terminals.
const ESCAPE: char = '\u{1b}';

fn serve(data: &Path, format: Option<&str>) -> Command {
    let start = Start::default().with("TILL_LOG_FILTER", "info");
    let start = match format {
        Some(format) => start.with("TILL_LOG_FORMAT", format),
        None => start.without("TILL_LOG_FORMAT"),
    };
    let mut command = start.command(data);
    command.arg("serve");
    command
}

/// Ends a server once it has printed that it serves, and returns its whole output.
fn printed(mut child: Child, id: impl Fn(&Child) -> String, mut lines: impl BufRead) -> String {
    let mut printed = String::new();
    while !printed.contains("serving") {
        assert!(lines.read_line(&mut printed).is_ok_and(|length| length > 0), "{printed}");
    }
    let killed = Command::new("kill").args(["-TERM", &id(&child)]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    lines.read_to_string(&mut printed).expect("it is text");
    child.wait().expect("it can be waited for");
    printed
}

/// The lines of a server whose standard error is a pipe.
fn output_into_a_pipe(format: Option<&str>) -> String {
    let directory = directory();
    let mut command = serve(&directory.path().join("data"), format);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it can be started");
    let lines = BufReader::new(child.stderr.take().expect("it is piped"));
    printed(child, |child| child.id().to_string(), lines)
}

/// The lines of a server on a terminal, which script(1) provides; None where it is not installed.
fn output_on_a_terminal(format: Option<&str>) -> Option<String> {
    let directory = directory();
    let serve = serve(&directory.path().join("data"), format);
    let pid = directory.path().join("pid");
    let words: Vec<String> = std::iter::once(serve.get_program())
        .chain(serve.get_args())
        .map(|word| format!("'{}'", word.to_str().expect("temporary directories are ASCII")))
        .collect();
    let line = format!("echo $$ > {}; exec {}", pid.display(), words.join(" "));
    let mut command = Command::new("script");
    command.args(["-q", "-e", "-c", &line, "/dev/null"]).stdin(Stdio::null()).stdout(Stdio::piped());
    for (name, value) in serve.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let Ok(mut child) = command.env_remove("NO_COLOR").spawn() else {
        println!("skipped: this machine has no script(1)");
        return None;
    };
    let lines = BufReader::new(child.stdout.take().expect("it is piped"));
    Some(printed(child, |_| fs::read_to_string(&pid).expect("it is written").trim().to_owned(), lines))
}

fn is_json(line: &str) -> bool {
    serde_json::from_str::<Value>(line).is_ok_and(|line| line["level"].is_string())
}

#[test]
fn a_pipe_gets_json_without_colours_and_the_settings() {
    for format in [None, Some("json")] {
        let printed = output_into_a_pipe(format);
        assert!(printed.lines().all(is_json) && !printed.contains(ESCAPE), "{printed}");
        assert!(printed.contains("starting with these settings") && printed.contains("listen = \\\""), "{printed}");
    }
}

#[test]
fn text_into_a_pipe_has_no_colours() {
    let printed = output_into_a_pipe(Some("text"));
    assert!(!printed.lines().any(is_json) && !printed.contains(ESCAPE), "{printed}");
    assert!(printed.contains("starting with these settings; `till configuration` prints all"), "{printed}");
}

#[test]
fn a_terminal_gets_short_coloured_lines_unless_json_is_set() {
    let Some(printed) = output_on_a_terminal(None) else { return };
    let logged: Vec<&str> = printed.lines().filter(|line| line.contains(ESCAPE)).collect();
    assert!(logged.len() > 2 && printed.contains("till configuration"), "{printed}");
    assert!(logged.iter().all(|line| line.len() < 400), "{printed}");
    assert!(!printed.contains("connections_max"), "no line of all settings: {printed}");
    let json = output_on_a_terminal(Some("json")).expect("as before");
    assert!(!json.contains(ESCAPE) && json.lines().filter(|line| is_json(line)).count() > 2, "{json}");
}

/// A server whose standard error is a file.
struct ServerWithLogFile {
    _child: KilledOnDrop,
    admin: Client,
}

impl ServerWithLogFile {
    fn start(data: &Path, log: &Path) -> ServerWithLogFile {
        let mut command = serve(data, None);
        let log = File::create(log).expect("a file can be made");
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().expect("it can be started");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
        let admin = lines.find_map(|line| line.strip_prefix("admin listening on ").map(str::to_owned));
        ServerWithLogFile { _child: KilledOnDrop(child), admin: Client::new(&admin.expect("it serves")) }
    }

    fn reports_that_its_log_is_gone(&self) -> bool {
        let Value::String(metrics) = self.admin.get("/metrics").body else { panic!("text") };
        metrics.lines().any(|line| line == "till_log_file_gone 1")
    }
}

#[test]
fn a_metric_shows_that_the_log_file_is_moved_or_deleted() {
    let (directory, [log, moved]) = temporary(["log", "log.1"]);
    let server = ServerWithLogFile::start(&directory.path().join("data"), &log);
    assert!(!server.reports_that_its_log_is_gone());
    fs::rename(&log, &moved).expect("it can be moved");
    assert!(server.reports_that_its_log_is_gone());
    fs::write(&log, "").expect("another file can be made");
    assert!(server.reports_that_its_log_is_gone(), "the new file does not get the lines");
    fs::rename(&moved, &log).expect("it can be moved back");
    assert!(!server.reports_that_its_log_is_gone());
    fs::remove_file(&log).expect("it can be removed");
    assert!(server.reports_that_its_log_is_gone());
}

/// A server that logs JSON lines at level info into a file.
fn logging_server(log: &Path, start: Start) -> Server {
    start.recording(log).with("TILL_LOG_FILTER", "info").with("TILL_LOG_FORMAT", "json").server()
}

/// The first line of a log for which a condition holds, once there is one.
#[track_caller]
fn line_where(log: &Path, is_it: impl Fn(&Value) -> bool) -> Value {
    let find = || {
        let text = fs::read_to_string(log).expect("it is recorded");
        let mut lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.find(&is_it).ok_or(text)
    };
    first_answer(Duration::from_secs(30), "there is no such line", find, Result::is_ok).expect("it was found")
}

/// The line of an answered call.
#[track_caller]
fn answered(log: &Path, path: &str, code: &str) -> Value {
    line_where(log, |line| line["message"] == "answered" && line["path"] == path && line["code"] == code)
}

#[test]
fn a_payment_that_fails_leaves_a_line_with_its_code() {
    let (_place, [log]) = temporary(["log"]);
    let server = logging_server(&log, Start::default());
    let shop = server.shop();
    shop.pay(100);
    let more = json!({ "external_id": "order-7", "customer_email": "ada@shop.example" });
    let declined = shop.initiate(&shop.session_of("4000000000000002", 100), 100, &more).id();
    shop.settled(&declined);
    let line = line_where(&log, |line| line["message"] == "a payment failed");
    let members = (&line["level"], &line["merchant_id"], &line["payment_id"], &line["failure_code"]);
    assert_eq!(members, (&json!("INFO"), &json!(shop.merchant_id), &json!(declined), &json!("card_declined")));
    let session = shop.session_of("4000000000003055", 100);
    let refused = shop.initiate(&session, 100, &json!({ "capture": false })).id();
    shop.settled(&refused);
    shop.call("capture-payment", &json!({ "payment_id": refused })).ok();
    let line = line_where(&log, |line| line["message"] == "an operation of a payment was refused");
    let members = (&line["merchant_id"], &line["payment_id"], &line["operation"], &line["failure_code"]);
    let expected = (&json!(shop.merchant_id), &json!(refused), &json!("CAPTURE"), &json!("capture_failed"));
    assert_eq!(members, expected);
    let text = fs::read_to_string(&log).expect("it is recorded");
    assert!(!text.contains("ada@shop.example") && !text.contains("0000000002"), "{text}");
}

#[test]
fn lines_of_calls_name_merchant_and_installation() {
    let (_place, [log]) = temporary(["log"]);
    let server = logging_server(&log, Start::default());
    let shop = server.shop();
    let plans = "/sdk/list-installment-plans";
    shop.sdk("list-installment-plans", &json!({})).ok();
    let line = answered(&log, plans, "OK");
    let members = (&line["merchant_id"], &line["installation_id"], &line["address"]);
    assert_eq!(members, (&json!(shop.merchant_id), &json!(shop.installation_id), &Value::Null));
    assert_eq!(answered(&log, "/admin/generate-key", "OK")["merchant_id"], shop.merchant_id.as_str());
    let unknown = json!({ "merchant_id": shop.merchant_id, "installation_id": id_of_nothing(&shop.installation_id) });
    server.client().post(plans, &unknown).refused("NOT_FOUND");
    let line = answered(&log, plans, "NOT_FOUND");
    assert_eq!((&line["merchant_id"], &line["installation_id"]), (&Value::Null, &Value::Null), "there is no such");
}

#[test]
fn the_log_shows_addresses_of_callers_only_when_it_may() {
    let (_place, [log]) = temporary(["log"]);
    let server = logging_server(&log, Start::default().with("TILL_LOG_CALLER_ADDRESSES", "true"));
    server.shop().sdk("list-installment-plans", &json!({})).ok();
    assert_eq!(answered(&log, "/sdk/list-installment-plans", "OK")["address"], "127.0.0.1");
}

/// Calls of a stranger, of which each would have a line.
const REFUSED: usize = 400;
/// The lines of them in a second.
const LINES_A_SECOND: u64 = 20;

#[test]
fn refused_calls_share_a_bounded_number_of_lines_and_all_count() {
    let (_place, [log]) = temporary(["log"]);
    let server = logging_server(&log, Start::default());
    let shop = server.shop();
    let began = Instant::now();
    (0..REFUSED).for_each(|_| drop(server.client().post("/merchants/nothing", &json!({}))));
    let seconds = began.elapsed().as_secs() + 2;
    shop.call("find-payment", &json!({})).refused("INVALID_ARGUMENTS");
    answered(&log, "/merchants/find-payment", "INVALID_ARGUMENTS"); // Strangers take no line from who has a key.
    thread::sleep(Duration::from_secs(1));
    server.client().post("/merchants/nothing", &json!({}));
    let lines = || {
        let text = fs::read_to_string(&log).expect("it is recorded");
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter(|line| line["code"] == "UNKNOWN_ENDPOINT").collect::<Vec<_>>()
    };
    let told = |lines: &Vec<Value>| {
        let left_out: u64 = lines.iter().filter_map(|line| line["left_out"].as_u64()).sum();
        left_out + lines.len() as u64 == REFUSED as u64 + 1
    };
    let lines = first_answer(Duration::from_secs(30), "each is told or counted", lines, told);
    assert!(lines.len() as u64 <= LINES_A_SECOND * seconds + 1, "{} lines in {seconds} s", lines.len());
    let counted = "till_http_requests_total{code=\"UNKNOWN_ENDPOINT\",endpoint=\"(unknown)\"} 401";
    assert!(server.metrics().lines().any(|line| line == counted));
}
