//! The end of a request: a request with an ambiguous end is refused, and no bytes after it are read as another request
//! (request smuggling, RFC 9112, section 11.2).

use std::io::{Read, Write};
use std::net::Shutdown;

use serde_json::json;

use crate::harness::{RawAnswer, Server, Wire};

/// The request that follows each request. It is answered only where the end of the request before it is unambiguous.
const SMUGGLED: &str = "GET /smuggled HTTP/1.1\r\nHost: a\r\nX-Request-Id: smuggled\r\n\r\n";

/// Sends requests to one server, with a valid key.
struct Sender {
    wire: Wire,
    key: String,
}

/// The answers before the server closed the connection.
struct Answers(Vec<RawAnswer>);

impl Sender {
    fn new(server: &Server) -> Sender {
        Sender { wire: Wire::to(server), key: server.shop().key }
    }

    /// The first line of a call and the headers that do not concern its body.
    fn head(&self, version: &str) -> String {
        let Sender { key, .. } = self;
        format!(
            "POST /merchants/get-balance HTTP/{version}\r\nHost: a\r\nContent-Type: \
                application/json\r\nAuthorization: Bearer {key}\r\n"
        )
    }

    /// Sends these bytes and then the other request, and reads until the server closes the connection.
    fn answers(&self, bytes: &[u8]) -> Answers {
        let mut stream = self.wire.connect();
        let _ended_early = stream.write_all(&[bytes, SMUGGLED.as_bytes()].concat());
        let mut read = Vec::new();
        stream.read_to_end(&mut read).expect("the server ends the connection");
        Answers::parse(&read)
    }

    /// The same, and closes the sending side, where the server would wait for more bytes.
    fn answers_to_all(&self, bytes: &[u8]) -> Answers {
        let mut stream = self.wire.connect();
        stream.write_all(&[bytes, SMUGGLED.as_bytes()].concat()).expect("the server reads");
        stream.shutdown(Shutdown::Write).expect("it is open");
        let mut read = Vec::new();
        stream.read_to_end(&mut read).expect("the server ends the connection");
        Answers::parse(&read)
    }
}

impl Answers {
    fn parse(mut bytes: &[u8]) -> Answers {
        let mut answers = Vec::new();
        while let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = RawAnswer::parse(&bytes[..end + 4]);
            let length = head.header("content-length").map_or(0, |length| length.parse().expect("a number"));
            let end = bytes.len().min(end + 4 + length); // The answer to HEAD has no body.
            answers.push(RawAnswer::parse(&bytes[..end]));
            bytes = &bytes[end..];
        }
        Answers(answers)
    }

    fn statuses(&self) -> Vec<u16> {
        self.0.iter().map(|answer| answer.status).collect()
    }

    /// Checks that the request was refused and that the connection was closed after its answer.
    #[track_caller]
    fn are_one_refusal(&self, about: &str) {
        assert_eq!(self.statuses(), [400], "{about:?}");
        assert_eq!(self.0[0].header("connection"), Some("close"), "{about:?}");
        assert_eq!(self.0[0].clone().answer().refused("INVALID_ARGUMENTS"), json!([]), "{about:?}");
    }

    /// Checks that everything was read as one request, whose body contains the other one, or that the rest was not
    /// read.
    #[track_caller]
    fn are_one(&self, about: &str) {
        assert_eq!(self.0.len(), 1, "{about:?}: {:?}", self.statuses());
        assert_ne!(self.0[0].header("x-request-id"), Some("smuggled"), "{about:?}");
    }
}

#[test]
fn two_lengths_or_one_that_is_no_number_are_refused() {
    let (_server, sender) = Server::with(Sender::new);
    for framing in [
        "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
        "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        "Content-Length: 2\r\ncontent-length: 0\r\n\r\n{}",
        "Content-Length: 2, 3\r\n\r\n{}",
        "Content-Length: 2, 2\r\n\r\n{}",
        "Content-Length: +2\r\n\r\n{}",
        "Content-Length: -2\r\n\r\n{}",
        "Content-Length: -0\r\n\r\n",
        "Content-Length: 0x2\r\n\r\n{}",
        "Content-Length: 2a\r\n\r\n{}",
        "Content-Length: 2 2\r\n\r\n{}",
        "Content-Length: 2.0\r\n\r\n{}",
        "Content-Length: 1_0\r\n\r\n{}",
        "Content-Length: \"2\"\r\n\r\n{}",
        "Content-Length: \u{662}\r\n\r\n{}",
        "Content-Length:\r\n\r\n{}",
        "Content-Length: 18446744073709551616\r\n\r\n{}",
        "Content-Length: 18446744073709551618\r\n\r\n{}",
        "Content-Length: 99999999999999999999999999999999\r\n\r\n{}",
        "Content-Length : 2\r\n\r\n{}",
    ] {
        sender.answers(format!("{}{framing}", sender.head("1.1")).as_bytes()).are_one_refusal(framing);
    }
}

#[test]
fn every_odd_spelling_of_chunked_is_refused() {
    let (_server, sender) = Server::with(Sender::new);
    let chunks = "2\r\n{}\r\n0\r\n\r\n";
    for header in [
        "Content-Length: 2\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 0",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: gzip, identity",
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunkedx",
        "Transfer-Encoding: chunked;q=1",
        "Transfer-Encoding: \"chunked\"",
        "Transfer-Encoding: 'chunked'",
        "Transfer-Encoding: chunked,",
        "Transfer-Encoding: ,chunked",
        "Transfer-Encoding:",
        "Transfer-Encoding: \u{b}chunked",
        "Transfer-Encoding: chun\u{212a}ed",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding\t: chunked",
        " Transfer-Encoding: chunked",
        "X: a\r\n Transfer-Encoding: chunked",
        "Transfer-Encoding:\r\n chunked",
        "Transfer-Encoding: chunked\r\n ",
        "X: a\rTransfer-Encoding: chunked",
        "X: a\0\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\0",
        "Transfer-Encoding: chunked\r",
        "Trans\0fer-Encoding: chunked",
    ] {
        let request = format!("{}{header}\r\n\r\n{chunks}", sender.head("1.1"));
        sender.answers(request.as_bytes()).are_one_refusal(header);
    }
    for version in ["1.0", "1.2", "2.0"] {
        let request = format!("{}Transfer-Encoding: chunked\r\n\r\n{chunks}", sender.head(version));
        sender.answers(request.as_bytes()).are_one_refusal(version);
    }
}

#[test]
fn chunks_without_a_clear_end_are_refused() {
    let (_server, sender) = Server::with(Sender::new);
    for chunks in [
        "x\r\n{}\r\n0\r\n\r\n",
        "-2\r\n{}\r\n0\r\n\r\n",
        "+2\r\n{}\r\n0\r\n\r\n",
        "0x2\r\n{}\r\n0\r\n\r\n",
        " 2\r\n{}\r\n0\r\n\r\n",
        "\r\n2\r\n{}\r\n0\r\n\r\n",
        "2 2\r\n{}\r\n0\r\n\r\n",
        "2\n{}\r\n0\r\n\r\n",
        "2\r{}\r\n0\r\n\r\n",
        "2\r\n{}0\r\n\r\n",
        "2\r\n{}\n0\r\n\r\n",
        "3\r\n{}\r\n0\r\n\r\n",
        "1\r\n{}\r\n0\r\n\r\n",
        "2;a\nb\r\n{}\r\n0\r\n\r\n",
        "2;a\0\r\n{}\r\n0\r\n\r\n",
        "fffffffffffffffff\r\n{}\r\n0\r\n\r\n",
        "10000000000000002\r\n{}\r\n0\r\n\r\n",
    ] {
        let request = format!("{}Transfer-Encoding: chunked\r\n\r\n{chunks}", sender.head("1.1"));
        sender.answers(request.as_bytes()).are_one_refusal(chunks);
    }
}

#[test]
fn bytes_within_the_length_are_always_body() {
    let (_server, sender) = Server::with(Sender::new);
    let length = SMUGGLED.len();
    for request in [
        format!("GET /merchants HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n"),
        format!("HEAD /merchants HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n"),
        format!("GET /merchants HTTP/1.0\r\nHost: a\r\nContent-Length: {length}\r\n\r\n"),
        format!("OPTIONS /merchants HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n"),
        format!("DELETE /x HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n"),
        format!("{}Content-Length: {length}\r\n\r\n", sender.head("1.1")),
        format!("{}Content-Length: 00{length}\r\n\r\n", sender.head("1.1")),
        format!("{}Content-Length: {}\r\n\r\n{{}}", sender.head("1.1"), length + 3),
        format!("{}Content-Length: 2000000\r\n\r\n{{}}", sender.head("1.1")),
        format!("GET /merchants HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{length:x}\r\n"),
        format!("{}Transfer-Encoding: chunked\r\n\r\n{length:X};a=b\r\n", sender.head("1.1")),
        format!("{}Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n", sender.head("1.1")),
        format!("{}Connection: upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\n{{}}", sender.head("1.1")),
        "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(),
    ] {
        sender.answers_to_all(request.as_bytes()).are_one(&request);
    }
}

#[test]
fn bytes_after_a_clear_end_are_the_next_request() {
    let (_server, sender) = Server::with(Sender::new);
    for framing in [
        "Content-Length: 2\r\n\r\n{}",
        "content-length:2\r\n\r\n{}",
        "Content-Length: 2 \t\r\n\r\n{}",
        "Content-Length: 002\r\n\r\n{}",
        "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "transfer-encoding:\tCHUNKED \r\n\r\n0002\r\n{}\r\n000\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n2;a=\"b\"\r\n{}\r\n0;c\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Trailer: a\r\n\r\n",
    ] {
        let answers = sender.answers_to_all(format!("{}{framing}", sender.head("1.1")).as_bytes());
        assert_eq!(answers.statuses(), [200, 404], "{framing:?}");
        assert_eq!(answers.0[1].header("x-request-id"), Some("smuggled"), "{framing:?}");
    }
}
