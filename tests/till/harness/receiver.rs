//! A receiver of webhooks: it counts the requests, and answers as the test chooses.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// The answer of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It accepts everything.
    Healthy,
    /// It refuses the first delivery of each event.
    RefusesFirst,
    /// It accepts everything after a second.
    Slow,
}

/// Events by id, each with its body and the number of its deliveries.
type Seen = BTreeMap<String, (Value, usize)>;

/// A receiver. It listens until the test's process ends.
#[derive(Clone)]
pub(crate) struct EventReceiver {
    address: SocketAddr,
    manner: Manner,
    seen: Arc<Mutex<Seen>>,
}

impl EventReceiver {
    pub(crate) fn start(manner: Manner) -> EventReceiver {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let receiver = EventReceiver { address, manner, seen: Arc::default() };
        let serving = receiver.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                thread::spawn(move || serving.serve(&stream));
            }
        });
        receiver
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/events", self.address)
    }

    /// The events that it accepted, by their ids.
    pub(crate) fn taken(&self) -> BTreeMap<String, Value> {
        let least = if self.manner == Manner::RefusesFirst { 2 } else { 1 };
        let seen = self.seen();
        let taken = seen.iter().filter(|(_, (_, times))| *times >= least);
        taken.map(|(id, (event, _))| (id.clone(), event.clone())).collect()
    }

    /// The number of requests that it got.
    pub(crate) fn requests(&self) -> usize {
        self.seen().values().map(|(_, times)| times).sum()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().expect("no test panicked with it")
    }

    fn serve(&self, mut stream: &TcpStream) {
        let Some((id, body)) = read(stream) else { return };
        let times = {
            let mut seen = self.seen();
            let entry = seen.entry(id).or_insert((body, 0));
            entry.1 += 1;
            entry.1
        };
        if self.manner == Manner::Slow {
            thread::sleep(Duration::from_secs(1));
        }
        let refuses = self.manner == Manner::RefusesFirst && times == 1;
        let status = if refuses { "500 Not Now" } else { "204 Taken" };
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        let _disconnected = stream.write_all(answer.as_bytes());
    }
}

/// The id and the body of a request; None when it breaks off.
fn read(stream: &TcpStream) -> Option<(String, Value)> {
    let mut reader = BufReader::new(stream);
    let (mut id, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("webhook-id") => id = value.to_owned(),
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().ok()?,
            Some(_) => {}
            None if line == "\r\n" => break,
            None => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((id, serde_json::from_slice(&body).ok()?))
}

/// An address that refuses connections.
pub(crate) fn dead_url() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    format!("http://{}/events", listener.local_addr().expect("it is bound"))
}
