//! A receiver of webhooks: it answers every delivery with 204 and counts the events by their ids.

use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

/// Bytes of the longest request that is read: far above an event with its headers.
const REQUEST_BYTES_MAX: usize = 64 * 1024;

/// Bytes that are read at once.
const READ_BYTES: usize = 4 * 1024;

/// Headers of a request; the server sends about ten.
const HEADERS_MAX: usize = 32;

/// The pause after a connection that could not be accepted.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(10);

/// The answer of every delivery. The server opens a connection for each attempt.
const NO_CONTENT: &[u8] = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";

/// A receiver that runs until it is dropped.
pub(crate) struct WebhookReceiver {
    address: SocketAddr,
    counter: Arc<Mutex<EventCounter>>,
    _runtime: Runtime,
}

/// The counts of a receiver.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReceiverCounts {
    /// Different events.
    pub(crate) events: u64,
    /// Deliveries of events that had been delivered before.
    pub(crate) repeated: u64,
    /// The time of the last event that had not been delivered before.
    pub(crate) last_at: Option<Instant>,
}

/// The events of which the counts are made.
#[derive(Debug, Default)]
struct EventCounter {
    event_ids: HashSet<String>,
    received: ReceiverCounts,
}

impl WebhookReceiver {
    /// Listens on a free port of this machine, in a thread of its own.
    pub(crate) fn start() -> anyhow::Result<WebhookReceiver> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("till-bench-webhooks")
            .enable_all()
            .build()
            .context("failed to start the receiver of webhooks")?;
        let listener =
            runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).context("failed to listen for webhooks")?;
        let address = listener.local_addr().context("failed to read the port of the receiver of webhooks")?;
        let counter = Arc::new(Mutex::new(EventCounter::default()));
        runtime.spawn(accept(listener, Arc::clone(&counter)));
        Ok(WebhookReceiver { address, counter, _runtime: runtime })
    }

    /// The address on which it listens.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The current counts.
    pub(crate) fn received(&self) -> ReceiverCounts {
        lock(&self.counter).received
    }
}

impl EventCounter {
    fn add(&mut self, event_id: String) {
        if self.event_ids.insert(event_id) {
            self.received.events += 1;
            self.received.last_at = Some(Instant::now());
        } else {
            self.received.repeated += 1;
        }
    }
}

/// Adding to the counter does not panic, so that a lock is never left in the middle of it.
fn lock(counter: &Mutex<EventCounter>) -> MutexGuard<'_, EventCounter> {
    counter.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn accept(listener: TcpListener, counter: Arc<Mutex<EventCounter>>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(take(stream, Arc::clone(&counter)))),
            // The reason may be too many open files, which become fewer when connections end.
            Err(_) => tokio::time::sleep(ACCEPT_AGAIN_AFTER).await,
        }
    }
}

/// Receives one delivery. A delivery that breaks off is not answered, and the server attempts it again.
async fn take(mut stream: TcpStream, counter: Arc<Mutex<EventCounter>>) {
    let Some(event_id) = read_event_id(&mut stream).await else { return };
    lock(&counter).add(event_id);
    // An answer that does not arrive makes the server deliver the event again, which is counted.
    _ = stream.write_all(NO_CONTENT).await;
    _ = stream.shutdown().await;
}

/// Reads a whole request.
async fn read_event_id(stream: &mut TcpStream) -> Option<String> {
    let (mut request, mut read) = (Vec::new(), [0; READ_BYTES]);
    while request.len() < REQUEST_BYTES_MAX {
        let count = stream.read(&mut read).await.ok().filter(|count| *count > 0)?;
        request.extend_from_slice(&read[..count]);
        match parse(&request)? {
            Parsed::Complete { event_id } => return Some(event_id),
            Parsed::Partial => {}
        }
    }
    None
}

/// The part of a request that has arrived.
#[derive(Debug, PartialEq, Eq)]
enum Parsed {
    Complete { event_id: String },
    Partial,
}

/// Finds the event's id in a request; None when it is no delivery.
fn parse(bytes: &[u8]) -> Option<Parsed> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(head_bytes) = request.parse(bytes).ok()? else { return Some(Parsed::Partial) };
    let value = |name: &str| {
        let header = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(header.value).ok()
    };
    let body_bytes: usize = value("content-length")?.parse().ok()?;
    let event_id = value("webhook-id")?.to_owned();
    let is_whole = bytes.len() - head_bytes >= body_bytes;
    Some(if is_whole { Parsed::Complete { event_id } } else { Parsed::Partial })
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;

    const DELIVERY: &str = "POST /a HTTP/1.1\r\nwebhook-id: evt_1\r\ncontent-length: 4\r\n\r\ntrue";

    fn deliver(receiver: &WebhookReceiver, request: &str) -> String {
        let mut stream = TcpStream::connect(receiver.address()).unwrap_or_else(|error| panic!("{error}"));
        let mut answer = String::new();
        let asked = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_string(&mut answer));
        asked.map_or_else(|error| panic!("{error}"), |_| answer)
    }

    #[test]
    fn every_delivery_is_accepted_and_repetitions_are_counted() {
        let receiver = WebhookReceiver::start().unwrap_or_else(|error| panic!("{error}"));
        for request in [DELIVERY, DELIVERY, &DELIVERY.replace("evt_1", "evt_2")] {
            assert!(deliver(&receiver, request).starts_with("HTTP/1.1 204 "));
        }
        let ReceiverCounts { events, repeated, last_at } = receiver.received();
        assert_eq!((events, repeated, last_at.is_some()), (2, 1, true));
    }

    #[test]
    fn a_request_counts_once_it_is_whole_and_has_an_event_id() {
        let whole = Parsed::Complete { event_id: "evt_1".to_owned() };
        assert_eq!(parse(DELIVERY.as_bytes()), Some(whole));
        assert_eq!(parse(&DELIVERY.as_bytes()[..DELIVERY.len() - 1]), Some(Parsed::Partial));
        assert_eq!(parse(&DELIVERY.as_bytes()[..20]), Some(Parsed::Partial));
        assert_eq!(parse(DELIVERY.replace("webhook-id", "other").as_bytes()), None);
    }
}
