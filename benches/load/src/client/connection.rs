//! A connection that is kept open between calls.

use std::net::IpAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::answer::{CallFailure, HEADERS_MAX, HttpAnswer};
use super::source;
use super::stream::{self, Stream};
use crate::target::ServerAddress;

/// The longest time that an answer may take. A run's histogram reaches further, so that the latency of a call that
/// waited for its connection before is still recorded exactly.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// The first size of the buffer for an answer: a page of 25 entries.
const BUFFER_BYTES: usize = 16 * 1024;

/// The longest answer that is read: a page of 10,000 items of a set.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A connection for one call at a time. After a failure the next call opens it again.
pub(crate) struct Connection {
    server: ServerAddress,
    source: Option<IpAddr>,
    stream: Option<Box<dyn Stream>>,
    buffer: Vec<u8>,
}

/// The head of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AnswerHead {
    status: u16,
    head_bytes: usize,
    body_bytes: usize,
    stays_open: bool,
}

impl Connection {
    /// A connection that its first call opens.
    pub(crate) fn new(server: &ServerAddress) -> Connection {
        let source = source::next_address(server.socket());
        Connection { server: server.clone(), source, stream: None, buffer: vec![0; BUFFER_BYTES] }
    }

    /// Opens the connection now, so that the latency of no call includes it.
    pub(crate) async fn open(&mut self) -> Result<(), CallFailure> {
        self.stream = Some(connect(&self.server, self.source).await?);
        Ok(())
    }

    /// Sends a request and reads its answer.
    pub(crate) async fn call(&mut self, request: &[u8]) -> Result<HttpAnswer<'_>, CallFailure> {
        // The stream is put back only after a whole answer.
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => connect(&self.server, self.source).await?,
        };
        let exchange = exchange(&mut *stream, request, &mut self.buffer);
        let head = tokio::time::timeout(ANSWER_MAX, exchange).await.map_err(|_| CallFailure::TimedOut)??;
        if head.stays_open {
            self.stream = Some(stream);
        }
        let (bytes, rest) = self.buffer.split_at(head.head_bytes);
        Ok(HttpAnswer { status: head.status, head: bytes, body: &rest[..head.body_bytes] })
    }
}

async fn connect(server: &ServerAddress, source: Option<IpAddr>) -> Result<Box<dyn Stream>, CallFailure> {
    let stream = tokio::time::timeout(ANSWER_MAX, stream::connect(server, source)).await;
    stream.map_err(|_| CallFailure::TimedOut)?
}

async fn exchange(stream: &mut dyn Stream, request: &[u8], buffer: &mut Vec<u8>) -> Result<AnswerHead, CallFailure> {
    stream.write_all(request).await.map_err(|error| CallFailure::of(&error))?;
    stream.flush().await.map_err(|error| CallFailure::of(&error))?;
    let mut filled = 0;
    loop {
        let count = stream.read(&mut buffer[filled..]).await.map_err(|error| CallFailure::of(&error))?;
        filled += count;
        if count == 0 {
            return Err(CallFailure::Closed);
        }
        let head = parse_head(&buffer[..filled])?;
        match head {
            Some(head) if filled >= head.head_bytes + head.body_bytes => return Ok(head),
            Some(head) => make_room(buffer, head.head_bytes + head.body_bytes),
            None => make_room(buffer, filled + 1),
        }
    }
}

fn make_room(buffer: &mut Vec<u8>, bytes: usize) {
    if buffer.len() < bytes {
        buffer.resize(bytes.next_power_of_two(), 0);
    }
}

/// The head of an answer, once all of it has arrived.
fn parse_head(bytes: &[u8]) -> Result<Option<AnswerHead>, CallFailure> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let parsed = response.parse(bytes).map_err(|_| CallFailure::NotHttp)?;
    let httparse::Status::Complete(head_bytes) = parsed else { return Ok(None) };
    let value = |name: &str| response.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
    let length = value("content-length").and_then(|header| std::str::from_utf8(header.value).ok()?.parse().ok());
    let body_bytes = length.filter(|length| *length <= ANSWER_BYTES_MAX).ok_or(CallFailure::NotHttp)?;
    let stays_open = !value("connection").is_some_and(|header| header.value.eq_ignore_ascii_case(b"close"));
    let status = response.code.ok_or(CallFailure::NotHttp)?;
    Ok(Some(AnswerHead { status, head_bytes, body_bytes, stays_open }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::net::TcpListener;

    use super::*;

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_server_on_this_machine_sees_several_addresses() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|error| panic!("{error}"));
        let server = listener.local_addr().unwrap_or_else(|error| panic!("{error}"));
        let server = ServerAddress::without_tls(server);
        let mut connections = [(); 4].map(|()| Connection::new(&server));
        let mut seen = BTreeSet::new();
        for connection in &mut connections {
            assert_eq!(connection.open().await, Ok(()));
            seen.extend(listener.accept().map(|(_, peer)| peer.ip()));
        }
        assert!(seen.len() > 1, "{seen:?}");
    }

    #[test]
    fn a_head_is_read_once_it_is_all_there() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntrue";
        let head = AnswerHead { status: 200, head_bytes: text.len() - 4, body_bytes: 4, stays_open: true };
        assert_eq!(parse_head(text), Ok(Some(head)));
        assert_eq!(parse_head(&text[..20]), Ok(None));
    }

    #[test]
    fn an_answer_without_a_length_or_that_is_not_http_is_a_failure() {
        assert_eq!(parse_head(b"HTTP/1.1 200 OK\r\n\r\n"), Err(CallFailure::NotHttp));
        assert_eq!(parse_head(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"), Err(CallFailure::NotHttp));
        assert_eq!(parse_head(b"220 smtp ready\r\n"), Err(CallFailure::NotHttp));
    }

    #[test]
    fn a_closed_connection_is_reported_as_closed() {
        let closing = parse_head(b"HTTP/1.1 503 No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
        assert_eq!(closing.map(|head| head.map(|head| (head.status, head.stays_open))), Ok(Some((503, false))));
    }
}
