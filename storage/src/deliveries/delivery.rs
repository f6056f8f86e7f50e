//! Deliveries, and the progress of webhooks.

use till_domain::ids::{DeliveryId, WebhookEventId, WebhookId};
use till_domain::time::Millis;
use till_domain::webhook::WebhookEventKind;

/// The maximum number of bytes of an answer that are kept.
pub const EXCERPT_BYTES_MAX: usize = 512;

till_domain::word_enum! {
    /// The state of a delivery.
    pub enum DeliveryStatus: name {
        /// It is attempted, or waits for its next attempt.
        Pending => "PENDING",
        /// The endpoint accepted it.
        Successful => "SUCCESSFUL",
        /// It is not attempted any more.
        Failed => "FAILED",
    }
}

/// One event that is delivered to one webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its id. Ids of one merchant are in the order of time.
    pub id: DeliveryId,
    /// The webhook that it goes to.
    pub webhook_id: WebhookId,
    /// The event.
    pub event_id: WebhookEventId,
    /// The kind of the event; none for an event that only tests the webhook.
    pub kind: Option<WebhookEventKind>,
    /// Its state.
    pub status: DeliveryStatus,
    /// Attempts made so far.
    pub attempt: u32,
    /// The HTTP status of the last answer.
    pub response_status: Option<u16>,
    /// The beginning of the last answer's body, at most [`EXCERPT_BYTES_MAX`] bytes.
    pub response_excerpt: Option<String>,
    /// The reason why the last attempt had no answer, in a few words.
    pub failure: Option<String>,
    /// The duration of the last attempt, in milliseconds.
    pub latency_ms: Option<u64>,
    /// The instant at which the last attempt began.
    pub attempted_at: Option<Millis>,
    /// The instant at which the next attempt is due. A pending delivery without it is due at once.
    pub next_attempt_at: Option<Millis>,
    /// The time at which it was made.
    pub created_at: Millis,
}

impl Delivery {
    /// The instant at which it is due, while it is pending.
    #[must_use]
    pub fn due_at(&self) -> Option<Millis> {
        (self.status == DeliveryStatus::Pending).then(|| self.next_attempt_at.unwrap_or_default())
    }
}

/// The progress of a webhook in the events of its merchant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookProgress {
    /// Each event up to this one has a delivery or is not subscribed to.
    pub handled_up_to: WebhookEventId,
    /// The time for which it has failed since its last success, in milliseconds.
    pub failing_ms: u64,
    /// The instant up to which that time is counted: the last attempt, if it failed and its time counts.
    pub failed_at: Option<Millis>,
    /// The progress of its order to deliver events again.
    pub redelivered: Option<RedeliveryProgress>,
}

/// The progress of an order to deliver events to a webhook again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RedeliveryProgress {
    /// The order: the event after which it was given.
    pub ordered_after: WebhookEventId,
    /// Each of its events up to this one was delivered again or is passed over; none before the first.
    pub handled_up_to: Option<WebhookEventId>,
}
