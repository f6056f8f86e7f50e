//! Answers that the web server writes by itself, completed. A request that it cannot read never reaches the dispatcher:
//! it is refused by a head without a body, which is recognized here on its way out and replaced by one like all others.

use std::io;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, ready};

use actix_web::rt::net::TcpStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::connections::OverTcp;
use super::request_id::RequestId;
use super::seldom_logged::SeldomLogged;
use super::tally;
use crate::protocol::api_error::{ApiError, Code, Form};
use crate::protocol::json::Malformed;
use crate::protocol::listener::{HEAD_ARRIVAL_MAX, LINGER_MAX};
use crate::protocol::version::ApiVersion;

/// Bytes of a head without a body that the web server makes, at most. It has three headers.
const BARE_BYTES_MAX: usize = 256;

/// Bytes of a request's head that the web server reads, at most.
const HEAD_BYTES_MAX: usize = 128 * 1024;

/// Headers that it reads, at most.
const HEADERS_MAX: usize = 96;

/// Bytes that are thrown away at once of what a refused caller still sends.
const DISCARDED_AT_ONCE: usize = 4 * 1024;

/// The number of such reads when a connection ends.
const DISCARDS_AT_END: usize = 16;

/// Requests that cannot be read come by the thousand when somebody attacks.
static LOGGED: LazyLock<SeldomLogged> = LazyLock::new(SeldomLogged::default);

/// A connection's socket, whose last answer may be the web server's own.
pub(crate) struct CompletedSocket<S: OverTcp> {
    socket: S,
    ending: Option<Ending>,
}

/// The last answer of a connection on its way, and what is read behind it, so that the caller can read the answer.
struct Ending {
    answer: Vec<u8>,
    written: usize,
    is_shut: bool,
    lingers: Option<Pin<Box<Sleep>>>,
}

impl<S: OverTcp> CompletedSocket<S> {
    pub(crate) const fn new(socket: S) -> CompletedSocket<S> {
        CompletedSocket { socket, ending: None }
    }
}

impl<S: OverTcp> OverTcp for CompletedSocket<S> {
    fn tcp(&self) -> &TcpStream {
        self.socket.tcp()
    }
}

/// Bytes that lie unread when a socket is closed make the system throw away those that were written last.
impl<S: OverTcp> Drop for CompletedSocket<S> {
    fn drop(&mut self) {
        let mut bytes = [0; DISCARDED_AT_ONCE];
        for _ in 0..DISCARDS_AT_END {
            let Ok(1..) = self.socket.tcp().try_read(&mut bytes) else { return };
        }
    }
}

impl<S: OverTcp + AsyncRead + Unpin> AsyncRead for CompletedSocket<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_read(context, buffer)
    }
}

impl<S: OverTcp + AsyncRead + AsyncWrite + Unpin> AsyncWrite for CompletedSocket<S> {
    /// The web server's own answer is taken when its replacement has been read, or nobody reads it: until then the web
    /// server keeps the connection.
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if let Some(ending) = &mut this.ending {
            ready!(ending.poll(&mut this.socket, context))?;
            return Poll::Ready(Ok(bytes.len()));
        }
        let Some(bare) = bare_refusal(bytes) else { return Pin::new(&mut this.socket).poll_write(context, bytes) };
        if let Some(earlier @ [_, ..]) = bytes.strip_suffix(bare) {
            return Pin::new(&mut this.socket).poll_write(context, earlier);
        }
        this.ending = Some(Ending::of(bare));
        context.waker().wake_by_ref();
        Poll::Pending // The web server first learns that this connection ends.
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.ending.as_ref().is_some_and(|ending| ending.is_shut) {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut this.socket).poll_shutdown(context)
    }
}

impl Ending {
    /// The answer in place of a bare one, which is counted and logged.
    fn of(bare: &[u8]) -> Ending {
        let status = status(bare).unwrap_or_default();
        let (error, request_id) = (refusal(status), RequestId::from_header(None));
        let code = error.code().name();
        tally::count_unread(code);
        if let Some(left_out) = LOGGED.turn() {
            let left_out = (left_out > 0).then_some(left_out);
            let span = tracing::info_span!("request", request_id = %request_id);
            span.in_scope(|| tracing::info!(path = "(unread)", status, code, left_out, "answered"));
        }
        Ending { answer: completed(bare, &error, &request_id), written: 0, is_shut: false, lingers: None }
    }

    /// Writes the answer, says that it was the last, and reads on until the other end has closed or time is up.
    fn poll(
        &mut self,
        socket: &mut (impl AsyncRead + AsyncWrite + Unpin),
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while self.written < self.answer.len() {
            match ready!(Pin::new(&mut *socket).poll_write(context, &self.answer[self.written..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                byte_count => self.written += byte_count,
            }
        }
        if !self.is_shut {
            ready!(Pin::new(&mut *socket).poll_flush(context))?;
            ready!(Pin::new(&mut *socket).poll_shutdown(context))?;
            self.is_shut = true;
        }
        let lingers = self.lingers.get_or_insert_with(|| Box::pin(sleep(LINGER_MAX)));
        if lingers.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        poll_closed(socket, context).map(Ok)
    }
}

/// Reads and throws away until the other end has closed.
fn poll_closed(socket: &mut (impl AsyncRead + Unpin), context: &mut Context<'_>) -> Poll<()> {
    let mut bytes = [0; DISCARDED_AT_ONCE];
    loop {
        let mut read = ReadBuf::new(&mut bytes);
        let polled = ready!(Pin::new(&mut *socket).poll_read(context, &mut read));
        if polled.is_err() || read.filled().is_empty() {
            return Poll::Ready(());
        }
    }
}

/// The web server's own refusal at the end of what is to be written: a head with nothing but what it puts into every
/// one. Ours all have more, and no text of ours ends as a head does.
fn bare_refusal(bytes: &[u8]) -> Option<&[u8]> {
    const BEGINNING: &[u8] = b"HTTP/1.";
    let (_, tail) = bytes.split_at(bytes.len().saturating_sub(BARE_BYTES_MAX));
    tail.ends_with(b"\r\n\r\n").then_some(())?;
    let begin = tail.windows(BEGINNING.len()).rposition(|window| window == BEGINNING)?;
    let bare = &tail[begin..];
    (status(bare)? >= 400 && lines(bare)?.skip(1).all(is_of_every_head)).then_some(bare)
}

fn is_of_every_head(line: &str) -> bool {
    line == "content-length: 0" || line.starts_with("connection: ") || line.starts_with("date: ")
}

/// The lines of a head.
fn lines(head: &[u8]) -> Option<impl Iterator<Item = &str>> {
    let text = str::from_utf8(head).ok()?;
    Some(text.split("\r\n").filter(|line| !line.is_empty()))
}

/// The status that a head names.
fn status(head: &[u8]) -> Option<u16> {
    lines(head)?.next()?.split(' ').nth(1)?.parse().ok()
}

/// The answer to a request that could not be read.
fn refusal(status: u16) -> ApiError {
    match status {
        400 => ApiError::malformed(&Malformed::new(
            "the request is not one of HTTP/1.1: its first line or a header is malformed, two headers contradict each other about the body, or the path is longer than 65534 bytes; correct it and use a new connection",
        )),
        408 => {
            let message = format!(
                "The head of the request did not arrive within {} seconds. Send it at once, on a new connection.",
                HEAD_ARRIVAL_MAX.as_secs()
            );
            ApiError::new(Code::RequestTimeout, message)
        }
        431 => {
            let message = format!(
                "The head of the request is larger than {HEAD_BYTES_MAX} bytes, or has more than {HEADERS_MAX} headers. Send less there, on a new connection; arguments belong into the body."
            );
            ApiError::new(Code::HeadTooLarge, message)
        }
        _ => ApiError::unhandled(),
    }
}

/// The whole answer: the first line and the date are the web server's.
fn completed(bare: &[u8], error: &ApiError, request_id: &RequestId) -> Vec<u8> {
    let kept = |beginning: &str| lines(bare)?.find(|line| line.starts_with(beginning));
    let (first, date) = (kept("HTTP/").unwrap_or_default(), kept("date: ").unwrap_or("date: "));
    let body = Form::Triple.render(error).body;
    format!(
        "{first}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\nx-request-id: {request_id}\r\napi-version: {}\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\n{date}\r\n\r\n{body}",
        body.len(),
        ApiVersion::NEWEST.name()
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: &str = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\ndate: Sun, 22 Nov 2026 21:00:00 GMT\r\n\r\n";

    #[test]
    fn a_head_of_the_web_servers_own_is_recognized_at_the_end() {
        assert_eq!(bare_refusal(BARE.as_bytes()), Some(BARE.as_bytes()));
        let behind_an_answer = format!("HTTP/1.1 200 OK\r\ncontent-length: 4\r\nx-request-id: a\r\n\r\ntrue{BARE}");
        assert_eq!(bare_refusal(behind_an_answer.as_bytes()), Some(BARE.as_bytes()));
    }

    #[test]
    fn no_other_answer_is_taken_for_one() {
        for answer in [
            BARE.replace("date: ", "x-request-id: req_1\r\ndate: "),
            BARE.replace("400 Bad Request", "200 OK"),
            BARE.replace("HTTP/1.1", "HTTP/2"),
            format!("{BARE}true"),
            "HTTP/1.1 100 Continue\r\n\r\n".to_owned(),
            "\r\n\r\n".to_owned(),
            String::new(),
        ] {
            assert_eq!(bare_refusal(answer.as_bytes()), None, "{answer:?}");
        }
    }

    #[test]
    fn what_is_sent_instead_is_a_whole_answer_with_the_triple() {
        let id = RequestId::from_header(Some("a-1"));
        for (number, code) in [(400, "INVALID_ARGUMENTS"), (408, "REQUEST_TIMEOUT"), (431, "HEAD_TOO_LARGE")] {
            let bare = BARE.replace("400", &number.to_string());
            let answer = completed(bare.as_bytes(), &refusal(number), &id);
            let text = String::from_utf8_lossy(&answer);
            let (head, body) = text.split_once("\r\n\r\n").unwrap_or_default();
            assert!(head.starts_with(&format!("HTTP/1.1 {number} ")) && head.contains("x-request-id: a-1"), "{head}");
            assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{head}");
            assert!(
                head.ends_with("date: Sun, 22 Nov 2026 21:00:00 GMT") && body.starts_with(&format!("[\"{code}\","))
            );
        }
    }
}
