//! Acquirers that a server calls: the fake of Stripe, a process of its own, and one that lists nothing.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::Client;
use super::program::KilledOnDrop;

/// The program of the fake.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fakes/stripe/server.py");

/// A running fake of Stripe, which ends with the test.
pub(crate) struct StripeFake {
    url: String,
    _process: KilledOnDrop,
    _state: TempDir,
}

impl StripeFake {
    pub(crate) fn start() -> StripeFake {
        let state = TempDir::new().expect("a directory");
        let mut command = Command::new("python3");
        command.args([PROGRAM, "--listen", "127.0.0.1:0", "--state"]).arg(state.path()).stdout(Stdio::piped());
        let mut process = KilledOnDrop(command.spawn().expect("python3 starts"));
        let mut line = String::new();
        let output = process.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut line).expect("it tells its address");
        let url = line.trim().strip_prefix("listening on ").expect("it listens").to_owned();
        StripeFake { url, _process: process, _state: state }
    }

    /// Its address, as `stripe_url`.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// A wish at the control interface, which must be taken.
    pub(crate) fn control(&self, path: &str, wish: &Value) -> Value {
        Client::new(&self.url).post(&format!("/_fake/{path}"), wish).ok()
    }

    /// Everything of a kind that the control interface shows.
    pub(crate) fn ask(&self, path: &str) -> Value {
        Client::new(&self.url).get(&format!("/_fake/{path}")).ok()
    }

    /// The secret of a new account of play money.
    pub(crate) fn account(&self) -> String {
        let account = self.control("accounts", &json!({ "livemode": false, "rate_per_second": 100_000 }));
        account["secret"].as_str().expect("a secret").to_owned()
    }
}

/// The address of an acquirer that answers every request with an empty list. It listens until the test's process ends.
pub(crate) fn empty_acquirer() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _whole = stream.read(&mut [0; 16 * 1024]);
            let list = json!({ "object": "list", "data": [], "has_more": false }).to_string();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", list.len());
            let _disconnected = stream.write_all((head + &list).as_bytes());
        }
    });
    url
}
