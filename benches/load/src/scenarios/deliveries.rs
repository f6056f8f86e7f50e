//! A check that webhooks keep up: the number of the server's events is compared with that of received events.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::prepare::{Lines, check_accepted};
use super::stock::Stock;
use crate::webhooks::WebhookReceiver;

/// Calls at once.
const AT_ONCE: usize = 8;

/// The time for which missing events are waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// The pause between two checks; the receiver knows the time of the last event more precisely.
const PAUSE: Duration = Duration::from_millis(50);

/// The deliveries of the events of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Deliveries {
    /// Events of the run, with those of its warm-up.
    pub events: u64,
    /// Events that were delivered in the end.
    pub delivered: u64,
    /// Delivered events per second, from the beginning of the warm-up until the last of them.
    pub rate: f64,
    /// Microseconds from the last answer of the load until the receiver had all events; null when it did not get all.
    pub all_after_micros: Option<u64>,
    /// Deliveries of events that had been delivered before.
    pub repeated: u64,
}

/// Deliveries of a run that is under way.
pub(crate) struct Delivering<'a> {
    stock: &'a Stock,
    receiver: &'a WebhookReceiver,
    begun: Instant,
    events_before: u64,
    repeated_before: u64,
}

/// Connects a webhook for all events of each merchant.
pub(super) async fn connect(stock: &Stock, address: SocketAddr) -> anyhow::Result<()> {
    let webhook =
        json!({ "name": "Load test", "destination_url": format!("http://{address}/events"), "events": ["*"] });
    let connect = async |lines: &mut Lines, index: usize| {
        let request = stock.shops[index].head("connect-webhook").with(&webhook);
        check_accepted("connect a webhook", lines.public.call(&request).await).map(drop)
    };
    stock.ends.each(stock.shops.len(), AT_ONCE, connect).await.map(drop)
}

impl<'a> Delivering<'a> {
    /// Begins a run: waits until earlier events are delivered, so that they do not slow the run down.
    pub(crate) async fn begin(stock: &'a Stock, receiver: &'a WebhookReceiver) -> anyhow::Result<Delivering<'a>> {
        let (events_before, _) = wait(stock, receiver).await?;
        let repeated_before = receiver.received().repeated;
        Ok(Delivering { stock, receiver, begun: Instant::now(), events_before, repeated_before })
    }

    /// Waits until all events are delivered.
    pub(crate) async fn finish(self, last_answer: Instant) -> anyhow::Result<Deliveries> {
        let waited = wait(self.stock, self.receiver).await?;
        Ok(self.summarize(waited, last_answer))
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    fn summarize(&self, (events, missing): (u64, u64), last_answer: Instant) -> Deliveries {
        let received = self.receiver.received();
        let events = events - self.events_before;
        let delivered = events.saturating_sub(missing);
        let last_at = received.last_at.unwrap_or(self.begun);
        let span = last_at.saturating_duration_since(self.begun).max(Duration::from_millis(1));
        let after = last_at.saturating_duration_since(last_answer);
        Deliveries {
            events,
            delivered,
            rate: delivered as f64 / span.as_secs_f64(),
            all_after_micros: (missing == 0).then(|| u64::try_from(after.as_micros()).unwrap_or(u64::MAX)),
            repeated: received.repeated - self.repeated_before,
        }
    }
}

/// Waits until the receiver has all events, or the time for that is over. The events of all merchants since they were
/// made, and how many of them the receiver does not have.
async fn wait(stock: &Stock, receiver: &WebhookReceiver) -> anyhow::Result<(u64, u64)> {
    let until = Instant::now() + PATIENCE;
    loop {
        let events = numbered(stock).await?;
        let missing = events.saturating_sub(receiver.received().events);
        if missing == 0 || Instant::now() >= until {
            return Ok((events, missing));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The events of all merchants: their numbers begin with 1 and have no gap.
async fn numbered(stock: &Stock) -> anyhow::Result<u64> {
    let ask = async |lines: &mut Lines, index: usize| {
        let request = stock.shops[index].head("list-events").with(&json!({ "per_page": 1 }));
        let answer = check_accepted("list events", lines.public.call(&request).await)?.json();
        Ok(answer["page"][0]["sequence"].as_u64().unwrap_or_default())
    };
    Ok(stock.ends.each(stock.shops.len(), AT_ONCE, ask).await?.iter().sum())
}
