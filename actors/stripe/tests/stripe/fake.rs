//! A running fake of Stripe, and what a test asks of it besides Stripe's API.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The program, from this crate's directory.
const PROGRAM: &str = "../../tests/fakes/stripe/server.py";

/// A fake, which ends with the test.
pub(crate) struct Fake {
    process: Child,
    pub(crate) address: String,
    _state: TempDir,
}

impl Fake {
    pub(crate) fn start() -> Fake {
        let state = TempDir::new().expect("a directory");
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join(PROGRAM);
        let mut process = Command::new("python3")
            .arg(program)
            .args(["--listen", "127.0.0.1:0", "--state"])
            .arg(state.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let mut line = String::new();
        let output = process.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut line).expect("it tells its address");
        let address = line.trim().rsplit_once('/').expect("a URL").1.to_owned();
        Fake { process, address, _state: state }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A call of the control interface, which must succeed.
    pub(crate) fn control(&self, method: &str, path: &str, wish: &Value) -> Value {
        let (head, body) = self.request(method, &format!("/_fake/{path}"), "application/json", &wish.to_string());
        assert!(head.starts_with("HTTP/1.1 200"), "{method} {path}: {head}\n{body}");
        serde_json::from_str(&body).expect("it is JSON")
    }

    pub(crate) fn ask(&self, path: &str) -> Vec<Value> {
        self.control("GET", path, &json!({})).as_array().expect("it is a list").clone()
    }

    /// The next request of a path goes wrong.
    pub(crate) fn fault(&self, fault: &str, method: &str, path: &str) {
        self.plan(&json!({ "fault": fault, "method": method, "path": path }));
    }

    pub(crate) fn plan(&self, plan: &Value) {
        self.control("POST", "faults/next", plan);
    }

    /// Posts a form to a page, as a customer does; answers the address to which it leads.
    pub(crate) fn post(&self, page: &str, form: &str) -> Option<String> {
        let path = page.strip_prefix(&self.url()).expect("it is a page of the fake");
        let (head, _) = self.request("POST", path, "application/x-www-form-urlencoded", form);
        let location = head.lines().find_map(|line| line.strip_prefix("Location: "));
        location.map(str::to_owned)
    }

    /// Enters a card at the card page.
    pub(crate) fn enter_card(&self, page: &str, number: &str) -> Option<String> {
        self.post(page, &format!("email=ada%40shop.example&number={number}&expiry=12%2F40&cvc=123&name=Ada"))
    }

    fn request(&self, method: &str, path: &str, kind: &str, body: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.address).expect("the fake runs");
        let length = body.len();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: fake\r\nContent-Type: {kind}\r\nConnection: close\r\n");
        write!(stream, "{head}Content-Length: {length}\r\n\r\n{body}").expect("it is read");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("it is HTTP");
        (head.to_owned(), body.to_owned())
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        // A process that has ended has been reported by the test already.
        let _ended = self.process.kill();
        let _status = self.process.wait();
    }
}
