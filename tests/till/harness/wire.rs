//! Requests byte by byte, which an HTTP client library would not send.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;
use tokio::net::TcpSocket;

use super::client::ApiAnswer;
use super::server::Server;

/// The longest time that the server may be silent.
const SILENCE_MAX: Duration = Duration::from_secs(20);

/// Sends requests to one address, each on a connection of its own.
#[derive(Debug, Clone)]
pub(crate) struct Wire {
    address: String,
    source: Option<Ipv4Addr>,
}

/// An answer with its bytes as they were sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawAnswer {
    /// The HTTP status; 0 without an answer.
    pub(crate) status: u16,
    /// The headers, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// The body's bytes.
    pub(crate) body: Vec<u8>,
}

impl Wire {
    /// A sender to the server at `base`, such as `http://127.0.0.1:8080`.
    pub(crate) fn new(base: &str) -> Wire {
        let address = base.split_once("://").map_or(base, |(_, address)| address).to_owned();
        Wire { address, source: None }
    }

    /// A sender to the public listener of a server.
    pub(crate) fn to(server: &Server) -> Wire {
        Wire::new(server.public())
    }

    /// A sender from another address of this machine, 127.0.0.`last`.
    pub(crate) fn from(&self, last: u8) -> Wire {
        Wire { source: Some(Ipv4Addr::new(127, 0, 0, last)), ..self.clone() }
    }

    /// Sends a request and reads the JSON of the answer.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> ApiAnswer {
        self.receive(method, path, headers, body).answer()
    }

    /// Sends a request and reads the answer.
    pub(crate) fn receive(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> RawAnswer {
        self.exchange(&request(method, path, headers, body))
    }

    /// The same; an answer with status 0 when the server does not listen any more.
    pub(crate) fn attempt(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> RawAnswer {
        let Ok(mut stream) = TcpStream::connect(&self.address) else { return RawAnswer::default() };
        let _ = stream.set_read_timeout(Some(SILENCE_MAX));
        let _ = stream.write_all(&request(method, path, headers, body)); // A killed server reads nothing.
        received(&mut stream)
    }

    /// Sends these bytes and reads the answer.
    pub(crate) fn exchange(&self, bytes: &[u8]) -> RawAnswer {
        let mut stream = self.connect();
        let _ = stream.write_all(bytes); // A server that has answered may not read the rest.
        received(&mut stream)
    }

    /// Sends these bytes, closes the sending side, and reads the answer.
    pub(crate) fn exchange_and_end(&self, bytes: &[u8]) -> RawAnswer {
        let mut stream = self.connect();
        let _ = stream.write_all(bytes); // A server that has answered may not read the rest.
        let _ = stream.shutdown(Shutdown::Write);
        received(&mut stream)
    }

    /// A connection for a test that reads and writes by itself.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = match self.source {
            Some(source) => connected_from(source, &self.address),
            None => TcpStream::connect(&self.address).expect("the server listens"),
        };
        stream.set_read_timeout(Some(SILENCE_MAX)).expect("a time limit can be set");
        stream.set_nodelay(true).expect("an option can be set");
        stream
    }
}

/// A connection from one of this machine's addresses.
fn connected_from(source: Ipv4Addr, address: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket can be made");
    socket.bind((source, 0).into()).expect("the address is this machine's");
    let address: SocketAddr = address.parse().expect("an address");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().expect("the system permits it");
    let stream = runtime.block_on(socket.connect(address)).expect("the server listens");
    let stream = stream.into_std().expect("it is no task's");
    stream.set_nonblocking(false).expect("an option can be set");
    stream
}

/// Reads what the server sends, until it is a whole answer or the connection is closed.
pub(crate) fn received(stream: &mut TcpStream) -> RawAnswer {
    let answer = received_from(stream);
    let _ = stream.shutdown(Shutdown::Both);
    answer
}

/// The same of any connection, which stays open.
pub(crate) fn received_from(stream: &mut impl Read) -> RawAnswer {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 * 1024];
    while !RawAnswer::parse(&bytes).is_whole() {
        let Ok(count @ 1..) = stream.read(&mut buffer) else { break };
        bytes.extend_from_slice(&buffer[..count]);
    }
    RawAnswer::parse(&bytes)
}

/// The bytes of a request. They have a `Content-Length` unless a header of the caller determines the end of the body.
fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        text.push_str("Host: localhost\r\n");
    }
    let ends_itself =
        |name: &str| ["content-length", "transfer-encoding"].iter().any(|own| name.eq_ignore_ascii_case(own));
    if !headers.iter().any(|(name, _)| ends_itself(name)) && (method == "POST" || !body.is_empty()) {
        text.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    [text.as_bytes(), body].concat()
}

/// A body in chunks, without its length beforehand.
pub(crate) fn chunked(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in body.chunks(60_000) {
        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

impl RawAnswer {
    /// Parses the bytes of an answer.
    pub(crate) fn parse(bytes: &[u8]) -> RawAnswer {
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { return RawAnswer::default() };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(0);
        let header =
            |line: &str| line.split_once(':').map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()));
        RawAnswer { status, headers: lines.filter_map(header).collect(), body: bytes[end + 4..].to_vec() }
    }

    /// True when the whole body that the head announces is there.
    pub(crate) fn is_whole(&self) -> bool {
        let announced = self.header("content-length").and_then(|length| length.parse().ok());
        announced.is_some_and(|length: usize| self.body.len() >= length)
    }

    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The answer with its body as JSON; a string with the text of a body that is not JSON.
    pub(crate) fn answer(self) -> ApiAnswer {
        let text = String::from_utf8_lossy(&self.body).into_owned();
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        ApiAnswer { status: self.status, body, headers: self.headers }
    }
}
