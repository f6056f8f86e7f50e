//! How far a connection is read. The web server decodes whatever it can read, and keeps some 7 KB for a request that came
//! in 24 bytes. So it is handed one request at a time: nothing while one is worked on, but for its body, and nothing while
//! an answer waits to be fetched.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use actix_http::error::PayloadError;
use actix_http::{BoxedPayloadStream, HttpMessage, Request};
use actix_web::dev::Payload;
use actix_web::http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use actix_web::rt::net::TcpStream;
use actix_web::web::Bytes;
use futures_util::Stream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::body;
use super::connections::OverTcp;

/// Bytes that are read at once while it is not known where a request ends. Nearly all are shorter.
const AHEAD_BYTES: usize = 4 * 1024;

/// What the web server may be handed.
#[derive(Debug, Clone, Copy, Default)]
enum Allowed {
    /// Nothing until a request is over, its body is asked for, or the next turn comes.
    #[default]
    Nothing,
    /// What is left of a body whose length was announced.
    Bytes(usize),
    /// What may hold the end of a head, or of a body in chunks: each ends with an empty line.
    UntilEmptyLine,
}

/// A place in a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Line {
    /// Before its first line. Empty lines there belong to it: each alone would have the web server begin it anew.
    #[default]
    None,
    /// In a line with text.
    Text,
    /// Behind one; nothing of the next but a CR.
    Empty,
}

/// What may be read of one connection at the moment. Its socket and its requests share it.
#[derive(Default)]
pub(crate) struct Pace {
    allowed: Cell<Allowed>,
    is_busy: Cell<bool>,
    /// Who was handed nothing.
    held: Cell<Option<Waker>>,
}

/// A request that is worked on, until dropped.
pub(super) struct Working(Rc<Pace>);

/// A connection's socket, read at its pace.
pub(crate) struct PacedSocket<S> {
    socket: S,
    pace: Rc<Pace>,
    /// Whether the web server has done what it could with what was read.
    is_new_turn: bool,
    /// Whether bytes wait until the other end fetches those before them.
    is_unfetched: bool,
    /// What was read and may not be handed over yet.
    ahead: Vec<u8>,
    /// Where what was handed over last ended.
    line: Line,
}

/// A body for which its connection is read: up to its end when its length was announced, else piece by piece.
struct PacedBody {
    payload: Payload,
    pace: Rc<Pace>,
    announced_left: Option<usize>,
    is_over: bool,
}

impl Pace {
    /// That of a request; there is none without a connection.
    pub(super) fn of(request: &Request) -> Option<&Rc<Pace>> {
        request.conn_data::<Rc<Pace>>()
    }

    /// A request has begun.
    pub(super) fn begin(self: &Rc<Self>) -> Working {
        self.is_busy.set(true);
        self.allowed.set(Allowed::Nothing);
        Working(Rc::clone(self))
    }

    fn allow(&self, allowed: Allowed) {
        self.allowed.set(allowed);
        self.release();
    }

    fn hold(&self, context: &Context<'_>) {
        self.held.set(Some(context.waker().clone()));
    }

    fn release(&self) {
        if let Some(waker) = self.held.take() {
            waker.wake();
        }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.is_busy.set(false);
        self.0.release();
    }
}

impl Working {
    /// The request's body.
    pub(super) fn body(&self, request: &Request, payload: Payload) -> Payload {
        if matches!(payload, Payload::None) {
            return payload;
        }
        let headers = request.headers();
        let is_announced = headers.contains_key(CONTENT_LENGTH) && !headers.contains_key(TRANSFER_ENCODING);
        let announced_left = is_announced.then(|| body::announced(headers));
        let pace = Rc::clone(&self.0);
        let body: BoxedPayloadStream = Box::pin(PacedBody { payload, pace, announced_left, is_over: false });
        body.into()
    }
}

impl Stream for PacedBody {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None); // Of a broken body the web server would never say that it ends.
        }
        let polled = Pin::new(&mut self.payload).poll_next(context);
        match &polled {
            Poll::Pending => self.pace.allow(self.announced_left.map_or(Allowed::UntilEmptyLine, Allowed::Bytes)),
            Poll::Ready(Some(Ok(chunk))) => {
                self.announced_left = self.announced_left.map(|left| left.saturating_sub(chunk.len()));
            }
            Poll::Ready(Some(Err(_)) | None) => {
                self.is_over = true;
                self.pace.allow(Allowed::Nothing);
            }
        }
        polled
    }
}

impl<S> PacedSocket<S> {
    pub(crate) fn new(socket: S) -> PacedSocket<S> {
        PacedSocket {
            socket,
            pace: Rc::default(),
            is_new_turn: true,
            is_unfetched: false,
            ahead: Vec::new(),
            line: Line::None,
        }
    }

    pub(super) const fn pace(&self) -> &Rc<Pace> {
        &self.pace
    }
}

impl<S: OverTcp> OverTcp for PacedSocket<S> {
    fn tcp(&self) -> &TcpStream {
        self.socket.tcp()
    }
}

impl<S: AsyncRead + Unpin> PacedSocket<S> {
    /// Reads what may be handed over. Who is told to wait is woken: by the socket, by the request that is over, by the body
    /// that is asked for, by the answer that is fetched, or at once when the rest is the next turn's.
    fn poll_paced(&mut self, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let is_busy = self.pace.is_busy.get();
        if self.is_unfetched {
            self.pace.hold(context);
            return Poll::Pending;
        }
        if self.is_new_turn && !is_busy {
            self.pace.allowed.set(Allowed::UntilEmptyLine);
        }
        if self.ahead.is_empty() {
            if let Allowed::Bytes(left @ 1..) = self.pace.allowed.get() {
                let byte_count = ready!(poll_up_to(left, &mut self.socket, context, buffer))?;
                self.pace.allowed.set(Allowed::Bytes(left - byte_count));
                return Poll::Ready(Ok(()));
            }
            ready!(self.poll_ahead(context))?;
            if self.ahead.is_empty() {
                return Poll::Ready(Ok(())); // The other end has said that it is done.
            }
        }
        match self.allowed_of_ahead(buffer.remaining()) {
            0 if is_busy => self.pace.hold(context),
            0 => context.waker().wake_by_ref(),
            byte_count => {
                buffer.put_slice(&self.ahead[..byte_count]);
                self.ahead.drain(..byte_count);
                return Poll::Ready(Ok(()));
            }
        }
        Poll::Pending
    }

    fn poll_ahead(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut bytes = [0; AHEAD_BYTES];
        let mut read = ReadBuf::new(&mut bytes);
        ready!(Pin::new(&mut self.socket).poll_read(context, &mut read))?;
        self.ahead = read.filled().to_vec();
        Poll::Ready(Ok(()))
    }

    /// How many of the bytes that were read ahead may be handed over.
    fn allowed_of_ahead(&mut self, most: usize) -> usize {
        let ahead = &self.ahead[..self.ahead.len().min(most)];
        match self.pace.allowed.get() {
            Allowed::Nothing => 0,
            Allowed::Bytes(left) => {
                let byte_count = left.min(ahead.len());
                self.pace.allowed.set(Allowed::Bytes(left - byte_count));
                byte_count
            }
            Allowed::UntilEmptyLine => {
                let Some(end) = after_empty_line(ahead, &mut self.line) else { return ahead.len() };
                self.pace.allowed.set(Allowed::Nothing);
                let mut line = self.line;
                // Without another one, what follows is the body, and at most a part of the next head.
                if after_empty_line(&ahead[end..], &mut line).is_some() {
                    return end;
                }
                self.line = line;
                ahead.len()
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for PacedSocket<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = this.poll_paced(context, buffer);
        this.is_new_turn = polled.is_pending(); // The web server reads until it is told to wait, once in each turn.
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for PacedSocket<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.socket).poll_write(context, bytes);
        this.is_unfetched |= polled.is_pending();
        polled
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.socket).poll_flush(context);
        let was_unfetched = std::mem::replace(&mut this.is_unfetched, polled.is_pending());
        if was_unfetched && !this.is_unfetched {
            this.pace.release();
        }
        polled
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_shutdown(context)
    }
}

/// Reads `most` bytes at most, and gives how many they are.
fn poll_up_to(
    most: usize,
    socket: &mut (impl AsyncRead + Unpin),
    context: &mut Context<'_>,
    buffer: &mut ReadBuf<'_>,
) -> Poll<io::Result<usize>> {
    if most >= buffer.remaining() {
        let before = buffer.filled().len();
        ready!(Pin::new(socket).poll_read(context, buffer))?;
        return Poll::Ready(Ok(buffer.filled().len() - before));
    }
    let mut part = ReadBuf::new(buffer.initialize_unfilled_to(most));
    ready!(Pin::new(socket).poll_read(context, &mut part))?;
    let byte_count = part.filled().len();
    buffer.advance(byte_count);
    Poll::Ready(Ok(byte_count))
}

/// Behind the first empty line that follows one with text. A line ends with LF, and may have a CR before it.
fn after_empty_line(bytes: &[u8], line: &mut Line) -> Option<usize> {
    for (index, byte) in bytes.iter().enumerate() {
        *line = match (*line, byte) {
            (Line::Empty, b'\n') => {
                *line = Line::None;
                return Some(index + 1);
            }
            (Line::None, b'\r' | b'\n') => Line::None,
            (Line::Empty, b'\r') | (Line::Text, b'\n') => Line::Empty,
            (Line::None | Line::Text | Line::Empty, _) => Line::Text,
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_line_is_found_wherever_the_bytes_are_cut() {
        for (text, end) in [
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST", 27),
            ("a\n\nb", 3),
            ("\n\r\n\na\n\n", 7),
            ("a\r\n\nb", 4),
            ("0\r\n\r\n", 5),
        ] {
            for cut in 0..text.len() {
                let (first, second) = text.as_bytes().split_at(cut);
                let mut line = Line::None;
                let found = after_empty_line(first, &mut line)
                    .or_else(|| after_empty_line(second, &mut line).map(|end| cut + end));
                assert_eq!(found, Some(end), "{text:?} cut at {cut}");
            }
        }
        assert_eq!(after_empty_line(b"GET / HTTP/1.1\r\nHost: a\r\n \r\n", &mut Line::None), None);
    }
}
