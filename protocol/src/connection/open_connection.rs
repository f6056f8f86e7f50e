//! The state of a connection that its socket and its requests share: the bytes that may be read now, and the time since
//! which it is idle.
//!
//! The web server decodes everything that it is given, and keeps some 7 KB for a request of 24 bytes. So it is given
//! one request at a time: a piece in each poll of the task between requests, and nothing while a request is in
//! progress, except for its body on demand.

use std::cell::Cell;
use std::net::IpAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_LENGTH, HeaderMap, TRANSFER_ENCODING, UPGRADE};
use actix_web::web::Bytes;
use futures_util::Stream;

use super::connection_table::{ConnectionTable, Eviction, EvictionPosition};
use super::share::ShareOf;
use crate::count::Count;

/// The bytes that the web server may be given.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ReadAllowance {
    /// A piece in each poll of the task: of a head, or of a body in chunks.
    Piece,
    /// Nothing until a request has ended or its body is read.
    Nothing,
    /// The remaining bytes of a body whose length was announced.
    Body(usize),
    /// Nothing ever again: the web server ends the connection after an answer that did not wait for the whole body.
    Discard,
}

/// A connection in the table, until dropped.
pub(crate) struct OpenConnection {
    table: Arc<ConnectionTable>,
    number: u64,
    /// Absent when connections from it are not counted.
    address: Option<IpAddr>,
    pub(crate) eviction: Arc<Eviction>,
    /// Its position among those that may be evicted.
    position: Cell<Option<EvictionPosition>>,
    idle_since: Cell<Instant>,
    is_busy: Cell<bool>,
    /// The owner of the valid key that a request showed last.
    owner: Cell<Option<ShareOf>>,
    allowance: Cell<ReadAllowance>,
    has_unread_body: Cell<bool>,
    /// The task that got nothing to read.
    waiting: Cell<Option<Waker>>,
}

/// A request in progress, until dropped.
pub(crate) struct RequestInWork {
    connection: Rc<OpenConnection>,
    is_useful: Cell<bool>,
}

/// A body whose reads allow the connection to be read: up to its end when its length was announced, else piece by
/// piece.
struct PacedBody {
    payload: Payload,
    connection: Rc<OpenConnection>,
    announced_left: Option<usize>,
    is_over: bool,
}

impl OpenConnection {
    /// A connection from `peer` that has just been accepted; None when the table refuses it.
    pub(crate) fn admit(table: &Arc<ConnectionTable>, peer: IpAddr) -> Option<OpenConnection> {
        let (number, address) = table.admit(peer)?;
        let connection = OpenConnection {
            table: Arc::clone(table),
            number,
            address,
            eviction: Arc::default(),
            position: Cell::default(),
            idle_since: Cell::new(Instant::now()),
            is_busy: Cell::default(),
            owner: Cell::default(),
            allowance: Cell::new(ReadAllowance::Piece),
            has_unread_body: Cell::default(),
            waiting: Cell::default(),
        };
        connection.permit_eviction();
        Some(connection)
    }

    /// The connection of a request; None for a request without a socket.
    pub(crate) fn of(request: &HttpRequest) -> Option<&Rc<OpenConnection>> {
        request.conn_data::<Rc<OpenConnection>>()
    }

    /// Marks the beginning of a request.
    pub(crate) fn begin(self: &Rc<Self>) -> RequestInWork {
        self.is_busy.set(true);
        self.allowance.set(ReadAllowance::Nothing);
        RequestInWork { connection: Rc::clone(self), is_useful: Cell::new(false) }
    }

    /// A request has shown a valid key of `owner`: from now on the connection gives way only while its owner has many,
    /// and every answer renews its idle time.
    pub(crate) fn show_key(&self, owner: ShareOf) {
        let before = self.owner.replace(Some(owner));
        if before != Some(owner) {
            self.table.set_owner(self.number, &self.eviction, before, owner);
        }
        self.forbid_eviction();
    }

    /// The time at which the connection will have been idle for too long, when no request is in progress from `now` on.
    pub(crate) fn idle_until(&self, now: Instant) -> Instant {
        let since = if self.is_busy.get() { now } else { self.idle_since.get() };
        since + self.table.limits.idle_max
    }

    pub(crate) const fn allowance(&self) -> ReadAllowance {
        self.allowance.get()
    }

    pub(crate) fn allow(&self, allowance: ReadAllowance) {
        self.allowance.set(allowance);
        let may_read = matches!(allowance, ReadAllowance::Piece | ReadAllowance::Body(1..) | ReadAllowance::Discard);
        if may_read && let Some(waker) = self.waiting.take() {
            waker.wake();
        }
    }

    /// Wakes the task when something may be read again.
    pub(crate) fn wait(&self, context: &Context<'_>) {
        self.waiting.set(Some(context.waker().clone()));
    }

    /// The counters of its listener.
    pub(crate) fn counters(&self) -> &dyn Count {
        self.table.counters()
    }

    /// Permits the eviction of the connection while it waits for the other end.
    pub(crate) fn permit_eviction(&self) {
        let position = (self.idle_since.get(), self.number);
        if self.owner.get().is_some() {
            self.table.set_idle(&self.eviction, Some(self.idle_since.get()));
        } else if self.position.replace(Some(position)).is_none() {
            self.table.permit_eviction(position, &self.eviction);
        }
    }

    fn forbid_eviction(&self) {
        if let Some(position) = self.position.take() {
            self.table.forbid_eviction(position);
        }
        if self.owner.get().is_some() {
            self.table.set_idle(&self.eviction, None);
        }
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.forbid_eviction();
        self.table.remove(self.number, self.address, self.owner.get(), &self.eviction);
    }
}

impl RequestInWork {
    /// The request's body, which is read on demand. A body that was announced but ends with the connection, as after an
    /// upgrade, is read piece by piece.
    pub(crate) fn body(&self, request: &HttpRequest, payload: Payload) -> Payload {
        if matches!(payload, Payload::None) {
            self.connection.forbid_eviction();
            return payload;
        }
        let has = |name| request.headers().contains_key(name);
        let is_announced = has(CONTENT_LENGTH) && !has(TRANSFER_ENCODING) && !has(UPGRADE);
        let announced_left = is_announced.then(|| announced_length(request.headers()));
        let connection = Rc::clone(&self.connection);
        Payload::Stream { payload: Box::pin(PacedBody { payload, connection, announced_left, is_over: false }) }
    }

    /// The request was answered with this status. A refusal does not renew the idle time.
    pub(crate) fn note_answer(&self, status: StatusCode) {
        self.is_useful.set(!status.is_client_error() && !status.is_server_error());
    }
}

impl Drop for RequestInWork {
    fn drop(&mut self) {
        let connection = &self.connection;
        connection.is_busy.set(false);
        if self.is_useful.get() || connection.owner.get().is_some() {
            connection.forbid_eviction();
            connection.idle_since.set(Instant::now());
        }
        connection.permit_eviction();
        let is_last = connection.has_unread_body.get();
        connection.allow(if is_last { ReadAllowance::Discard } else { ReadAllowance::Piece });
    }
}

impl PacedBody {
    /// The next piece of the body. The web server polls a call in the task that feeds its body, each time after it has
    /// fed some. So a body wakes nobody: the task would only be polled once more, without anything to do.
    fn poll_payload(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, PayloadError>>> {
        let mut nobody = Context::from_waker(Waker::noop());
        let context = if matches!(self.payload, Payload::H1 { .. }) { &mut nobody } else { context };
        Pin::new(&mut self.payload).poll_next(context)
    }
}

impl Drop for PacedBody {
    fn drop(&mut self) {
        self.connection.has_unread_body.set(!self.is_over);
    }
}

impl Stream for PacedBody {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None); // The web server would never report the end of a broken body.
        }
        let polled = self.poll_payload(context);
        if polled.is_pending() {
            self.connection.permit_eviction();
            self.connection.allow(self.announced_left.map_or(ReadAllowance::Piece, ReadAllowance::Body));
            return polled;
        }
        self.connection.forbid_eviction();
        self.connection.allow(ReadAllowance::Nothing);
        match &polled {
            Poll::Ready(Some(Ok(chunk))) => {
                self.announced_left = self.announced_left.map(|left| left.saturating_sub(chunk.len()));
            }
            _ => self.is_over = true,
        }
        polled
    }
}

/// The announced length; 0 when there is none.
pub(crate) fn announced_length(headers: &HeaderMap) -> usize {
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok()).unwrap_or(0);
    usize::try_from(announced).unwrap_or(usize::MAX)
}
