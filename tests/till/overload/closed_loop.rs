//! Callers that make the same calls again and again, each on its own connection and without a pause, and read only the
//! head of each answer. All of them run on one thread, which leaves the processors to the server.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::{RawAnswer, Shop, Wire};

/// The longest time that an answer may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 64 << 10;

/// The bytes of a request after which its connection stays open.
#[derive(Clone)]
pub(super) struct PreparedRequest(Arc<[u8]>);

impl PreparedRequest {
    /// `POST path` with JSON and these headers, each with the end of its line.
    pub(super) fn post(path: &str, headers: &str, body: &str) -> PreparedRequest {
        PreparedRequest::with_body(path, &format!("{headers}Content-Type: application/json\r\n"), body)
    }

    /// `POST path` with a form.
    pub(super) fn form(path: &str, form: &str) -> PreparedRequest {
        PreparedRequest::with_body(path, "Content-Type: application/x-www-form-urlencoded\r\n", form)
    }

    fn with_body(path: &str, headers: &str, body: &str) -> PreparedRequest {
        let headers = format!("{headers}Content-Length: {}\r\n", body.len());
        PreparedRequest(format!("POST {path} HTTP/1.1\r\nHost: a\r\n{headers}\r\n{body}").into_bytes().into())
    }

    /// `GET path` with these headers, each with the end of its line.
    pub(super) fn get(path: &str, headers: &str) -> PreparedRequest {
        PreparedRequest(format!("GET {path} HTTP/1.1\r\nHost: a\r\n{headers}\r\n").into_bytes().into())
    }
}

/// The header that shows a merchant's key, with the end of its line.
pub(super) fn key_of(shop: &Shop) -> String {
    format!("Authorization: Bearer {}\r\n", shop.key)
}

/// A connection for one call at a time, which returns the statuses of answers. When the server has closed it, the next
/// call opens it anew.
pub(super) struct StatusConnection {
    wire: Wire,
    stream: Option<TcpStream>,
    buffer: Vec<u8>,
}

impl StatusConnection {
    /// A connection to the server at `base`, which its first call opens.
    pub(super) fn new(base: &str) -> StatusConnection {
        StatusConnection { wire: Wire::new(base), stream: None, buffer: vec![0; BUFFER_BYTES] }
    }

    /// Makes a call and returns the status of its answer; 0 when there is none.
    pub(super) async fn call(&mut self, request: &PreparedRequest) -> u16 {
        let exchange = tokio::time::timeout(PATIENCE, self.exchange(request)).await;
        exchange.map_or(0, |answer| answer.map_or(0, |head| head.status))
    }

    async fn exchange(&mut self, PreparedRequest(bytes): &PreparedRequest) -> io::Result<RawAnswer> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => opened(&self.wire)?,
        };
        let _ = stream.write_all(bytes).await; // A server that refuses may not read to the end.
        let head = answer_head(&mut stream, &mut self.buffer).await?;
        if head.header("connection") != Some("close") {
            self.stream = Some(stream);
        }
        Ok(head)
    }
}

fn opened(wire: &Wire) -> io::Result<TcpStream> {
    let stream = wire.connect();
    stream.set_nonblocking(true)?;
    TcpStream::from_std(stream)
}

/// Reads one answer to its end and returns its head with the beginning of its body.
async fn answer_head(stream: &mut TcpStream, buffer: &mut [u8]) -> io::Result<RawAnswer> {
    let mut filled = 0;
    let head = loop {
        filled += read_some(stream, &mut buffer[filled..]).await?;
        let head = RawAnswer::parse(&buffer[..filled]);
        if head.status != 0 {
            break head;
        }
    };
    let length: usize = head.header("content-length").and_then(|length| length.parse().ok()).expect("a length");
    let mut left = length - head.body.len();
    while left > 0 {
        left -= read_some(stream, buffer).await?;
    }
    Ok(head)
}

async fn read_some(stream: &mut TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    match stream.read(buffer).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        count => Ok(count),
    }
}

/// Runs callers on the current thread.
pub(super) fn on_one_thread<T>(callers: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime can be made").block_on(callers)
}

/// Lets each caller make its calls in turns until then, and counts the answers by their status.
pub(super) fn statuses(base: &str, callers: &[Vec<PreparedRequest>], until: Instant) -> BTreeMap<u16, u64> {
    let repeat = async |calls: &Vec<PreparedRequest>| {
        let (mut connection, mut statuses) = (StatusConnection::new(base), Vec::new());
        for call in calls.iter().cycle().take_while(|_| Instant::now() < until) {
            statuses.push(connection.call(call).await);
        }
        statuses
    };
    let mut counts = BTreeMap::new();
    for status in on_one_thread(join_all(callers.iter().map(repeat))).into_iter().flatten() {
        *counts.entry(status).or_default() += 1;
    }
    counts
}
