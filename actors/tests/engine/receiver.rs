//! A merchant's endpoint: it keeps the requests and answers as planned.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use till_actors::webhooks::{ReceivedHeaders, VerificationKey};

/// One request.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl ReceivedRequest {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("bodies are JSON")
    }

    /// True when it carries a signature of this key, at this time in Unix seconds.
    pub(crate) fn is_signed_with(&self, key: &str, now_seconds: u64) -> bool {
        let headers = ReceivedHeaders {
            webhook_id: self.header("webhook-id"),
            webhook_timestamp: self.header("webhook-timestamp"),
            webhook_signature: self.header("webhook-signature"),
        };
        let key = VerificationKey::parse(key).expect("a key");
        key.verify(&headers, &self.body, now_seconds).is_ok()
    }
}

#[derive(Default)]
struct Script {
    received: Vec<ReceivedRequest>,
    /// The statuses of the next answers; 200 once there are none.
    statuses: VecDeque<u16>,
    /// The status of all answers, if there is one.
    always: Option<u16>,
    delay: Duration,
}

/// An endpoint. It listens until the test's process ends.
#[derive(Clone)]
pub(crate) struct WebhookReceiver {
    address: SocketAddr,
    script: Arc<Mutex<Script>>,
}

impl WebhookReceiver {
    pub(crate) fn start() -> WebhookReceiver {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let receiver = WebhookReceiver { address, script: Arc::default() };
        let serving = receiver.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                std::thread::spawn(move || serving.serve(stream));
            }
        });
        receiver
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/events", self.address)
    }

    /// Sets the statuses of the next answers.
    pub(crate) fn answers(&self, statuses: &[u16]) {
        self.script().statuses.extend(statuses);
    }

    /// Sets the status of all answers from now on.
    pub(crate) fn always_answers(&self, status: u16) {
        self.script().always = Some(status);
    }

    /// Delays each answer from now on.
    pub(crate) fn is_slow(&self, delay: Duration) {
        self.script().delay = delay;
    }

    pub(crate) fn received(&self) -> Vec<ReceivedRequest> {
        self.script().received.clone()
    }

    /// The sequences of the events that it was sent.
    pub(crate) fn sequences(&self) -> Vec<u64> {
        self.received().iter().filter_map(|received| received.json()["sequence"].as_u64()).collect()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().expect("no test panicked with it")
    }

    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().expect("a stream can be shared"));
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return; // The sender has given up.
            }
            if line == "\r\n" {
                break;
            }
            lines.push(line.trim_end().to_owned());
        }
        let split = |line: &String| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
        let headers: Vec<(String, String)> = lines.iter().filter_map(split).collect();
        let mut received = ReceivedRequest { headers, body: Vec::new() };
        let length: usize = received.header("content-length").parse().unwrap_or(0);
        received.body.resize(length, 0);
        if reader.read_exact(&mut received.body).is_err() {
            return;
        }
        let (status, delay) = self.note(received);
        std::thread::sleep(delay);
        let answer = format!("HTTP/1.1 {status} Told\r\nContent-Length: 5\r\nConnection: close\r\n\r\nthere");
        let _gone = (&stream).write_all(answer.as_bytes());
    }

    fn note(&self, received: ReceivedRequest) -> (u16, Duration) {
        let mut script = self.script();
        script.received.push(received);
        let next = script.statuses.pop_front();
        (script.always.or(next).unwrap_or(200), script.delay)
    }
}
