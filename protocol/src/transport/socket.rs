//! A connection's socket, as the web server reads and writes it.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};
use std::{io, mem};

use actix_web::rt;
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, ReadBuf, copy, empty, sink};
use tokio::time::{Sleep, sleep, sleep_until, timeout};

use super::bare_refusal::bare_refusal;
use crate::connection::{OpenConnection, ReadAllowance};
use crate::dispatch::answer_to_unreadable;

/// The limit of bytes of a piece. A usual request is smaller.
const PIECE_BYTES: usize = 2 * 1024;

/// The time for which a caller may go on sending after its last answer, so that it reads the answer before the
/// connection is closed.
pub(super) const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes of further input that are discarded in one read when the connection ends.
const DISCARDED_AT_ONCE: usize = 16 * 1024;

/// The number of such reads in one poll of the task.
const DISCARDS_IN_TURN: usize = 16;

/// The pause between two such polls: a caller that is refused for the size of its body cannot keep a thread busy by
/// sending more. 256 KiB per poll are 12 MB a second.
const DISCARD_PAUSE: Duration = Duration::from_millis(20);

/// An accepted connection, with or without TLS.
pub(super) trait Transport: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Transport for T {}

/// A connection's socket. It is read only as far as the connection's state allows, ends when the connection has been
/// idle for too long or is evicted, and replaces the web server's own refusals by a whole answer.
pub(super) struct Socket {
    transport: BufReader<Box<dyn Transport>>,
    pub(super) connection: Rc<OpenConnection>,
    /// Wakes the task at the end of the idle time, or earlier.
    alarm: Pin<Box<Sleep>>,
    /// The pause after a poll that discarded input.
    pause: Option<Pin<Box<Sleep>>>,
    /// True when a piece was passed on in this poll.
    has_piece: bool,
    /// True when the last piece ended at the beginning of a line.
    is_at_line: bool,
    /// True while bytes wait for the other end to read earlier ones.
    is_unfetched: bool,
}

impl Socket {
    pub(super) fn new(transport: Box<dyn Transport>, connection: Rc<OpenConnection>) -> Socket {
        let alarm = Box::pin(sleep_until(connection.idle_until(Instant::now()).into()));
        let transport = BufReader::with_capacity(PIECE_BYTES, transport);
        Socket { transport, connection, alarm, pause: None, has_piece: false, is_at_line: false, is_unfetched: false }
    }

    /// Reads the bytes that may be passed on. A task that must wait is woken by the socket, by the end of the request,
    /// by the read of its body, by the other end's read of the answer, or at once when the next piece belongs to the
    /// next poll.
    fn poll_allowed(&mut self, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let allowance = self.connection.allowance();
        if self.is_unfetched {
            return Poll::Pending;
        }
        if matches!(allowance, ReadAllowance::Nothing | ReadAllowance::Body(0)) {
            self.connection.wait(context);
            return Poll::Pending;
        }
        if matches!(allowance, ReadAllowance::Discard) {
            return self.poll_discard(context);
        }
        let bytes = ready!(Pin::new(&mut self.transport).poll_fill_buf(context))?;
        let bytes = &bytes[..bytes.len().min(buffer.remaining())];
        let byte_count = if let ReadAllowance::Body(left) = allowance {
            self.connection.allow(ReadAllowance::Body(left.saturating_sub(bytes.len())));
            left.min(bytes.len())
        } else if mem::replace(&mut self.has_piece, true) && !bytes.is_empty() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        } else {
            one_request(bytes, &mut self.is_at_line)
        };
        buffer.put_slice(&bytes[..byte_count]);
        Pin::new(&mut self.transport).consume(byte_count);
        Poll::Ready(Ok(()))
    }

    /// Discards input, a limited part of it at a time, until the other end has closed.
    fn poll_discard(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(context));
        }
        let buffered = self.transport.buffer().len();
        Pin::new(&mut self.transport).consume(buffered);
        let mut bytes = [0; DISCARDED_AT_ONCE];
        for _ in 0..DISCARDS_IN_TURN {
            let mut read = ReadBuf::new(&mut bytes);
            ready!(Pin::new(self.transport.get_mut()).poll_read(context, &mut read))?;
            if read.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
        self.pause = Some(Box::pin(sleep(DISCARD_PAUSE)));
        context.waker().wake_by_ref(); // The next poll waits for the pause.
        Poll::Pending
    }

    /// Ready when the connection is evicted or has been idle for too long. The task will be woken at that time.
    fn poll_ended(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.connection.eviction.poll(context).is_ready() {
            return Poll::Ready(());
        }
        while self.alarm.as_mut().poll(context).is_ready() {
            let now = Instant::now();
            let until = self.connection.idle_until(now);
            if until <= now {
                return Poll::Ready(());
            }
            self.alarm.as_mut().reset(until.into());
        }
        Poll::Pending
    }

    /// The result of a write or flush, unless the connection ended while it waited for the other end to read.
    fn poll_fetched<T>(&mut self, polled: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if polled.is_pending() {
            self.is_unfetched = true;
            ready!(self.poll_ended(context));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        polled
    }

    /// Sends the last answer instead of the web server's own. The web server sees the end of the connection.
    fn end_with(&mut self, answer: Vec<u8>) {
        let transport = mem::replace(&mut self.transport, BufReader::with_capacity(PIECE_BYTES, Box::new(empty())));
        let connection = Rc::clone(&self.connection);
        rt::spawn(async move {
            send_last(transport, &answer).await;
            drop(connection); // It counts as a connection until then.
        });
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = this.poll_allowed(context, buffer);
        if polled.is_pending() {
            this.has_piece = false; // The web server reads until it gets Pending, once in each poll.
            ready!(this.poll_ended(context));
            return Poll::Ready(Ok(())); // As if the other end had closed.
        }
        polled
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let (end, status) = bare_refusal(bytes).unwrap_or((bytes.len(), 0));
        if end == 0 && status > 0 {
            let answer = answer_to_unreadable(status, this.connection.counters());
            this.end_with(answer);
            return Poll::Ready(Ok(bytes.len()));
        }
        let polled = Pin::new(&mut this.transport).poll_write(context, &bytes[..end]);
        this.poll_fetched(polled, context)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.transport).poll_flush(context);
        if polled.is_ready() && mem::take(&mut this.is_unfetched) {
            context.waker().wake_by_ref(); // To read on.
        }
        this.poll_fetched(polled, context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.transport).poll_shutdown(context);
        this.poll_fetched(polled, context)
    }
}

/// Unread bytes in a socket that is closed make the system discard the bytes written last.
impl Drop for Socket {
    fn drop(&mut self) {
        let (mut bytes, mut context) = ([0; DISCARDED_AT_ONCE], Context::from_waker(Waker::noop()));
        for _ in 0..DISCARDS_IN_TURN {
            let mut read = ReadBuf::new(&mut bytes);
            let polled = Pin::new(&mut self.transport).poll_read(&mut context, &mut read);
            if !matches!(polled, Poll::Ready(Ok(()))) || read.filled().is_empty() {
                return;
            }
        }
    }
}

/// Sends the last answer of a connection and its end; then goes on reading until the other end has closed too or time
/// is up, so that the other end can read the answer.
pub(super) async fn send_last(mut transport: impl Transport, answer: &[u8]) {
    let sent = async {
        transport.write_all(answer).await?;
        transport.shutdown().await?;
        copy(&mut transport, &mut sink()).await
    };
    let _gone_or_late = timeout(DISCONNECT_TIMEOUT, sent).await; // A caller who disconnects cannot be helped.
}

/// The number of bytes that hold at most one request: those up to the first empty line, which ends a head, and all
/// bytes when there is no second one. The web server would end a connection if it answered a request after it had read
/// a part of the next one's body.
fn one_request(bytes: &[u8], is_at_line: &mut bool) -> usize {
    let mut is_at_line_behind = false;
    match after_empty_line(bytes, is_at_line) {
        Some(end) if after_empty_line(&bytes[end..], &mut is_at_line_behind).is_some() => return end,
        Some(_) => *is_at_line = is_at_line_behind,
        None => {}
    }
    bytes.len()
}

/// The bytes after the first empty line. A line ends with LF, and may have a CR before it. `is_at_line` says if the
/// bytes continue at the beginning of a line.
fn after_empty_line(bytes: &[u8], is_at_line: &mut bool) -> Option<usize> {
    for (index, byte) in bytes.iter().enumerate() {
        let is_end = *byte == b'\n';
        if is_end && *is_at_line {
            *is_at_line = false;
            return Some(index + 1);
        }
        *is_at_line = is_end || (*is_at_line && *byte == b'\r');
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_line_is_found_wherever_the_bytes_are_cut() {
        for (text, end) in
            [("GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST", 27), ("a\n\nb", 3), ("a\r\n\nb", 4), ("0\r\n\r\n", 5)]
        {
            for cut in 0..text.len() {
                let (first, second) = text.as_bytes().split_at(cut);
                let mut is_at_line = false;
                let found = after_empty_line(first, &mut is_at_line)
                    .or_else(|| after_empty_line(second, &mut is_at_line).map(|end| cut + end));
                assert_eq!(found, Some(end), "{text:?} cut at {cut}");
            }
        }
        assert_eq!(after_empty_line(b"GET / HTTP/1.1\r\nHost: a\r\n \r\n", &mut false), None);
    }

    #[test]
    fn a_request_is_passed_on_with_its_body_and_without_the_next() {
        let (get, post) = ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}");
        assert_eq!(one_request(post.as_bytes(), &mut false), post.len());
        assert_eq!(one_request(format!("{get}{post}").as_bytes(), &mut false), get.len());
        let half = format!("{get}POST / HT");
        assert_eq!(one_request(half.as_bytes(), &mut false), half.len());
    }
}
