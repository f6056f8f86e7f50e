//! Webhooks: endpoints of a merchant that receive events, and the events that they receive.

use crate::checkout::CheckoutStatus;
use crate::dispute::DisputeStatus;
use crate::ids::{CheckoutId, DeliveryId, DisputeId, PaymentId, PayoutId, RefundId, WebhookEventId, WebhookId};
use crate::payment::PaymentStatus;
use crate::payout::PayoutStatus;
use crate::refund::RefundStatus;
use crate::text::{DestinationUrl, HeaderName, Name};
use crate::time::Millis;

/// The maximum number of webhooks of one merchant that events are sent to.
pub const WEBHOOKS_MAX: usize = 50;
/// The time for which an event is kept, in seconds of the wall clock: 30 days.
pub const EVENT_KEPT_SECONDS: u64 = 30 * 86_400;
/// The time for which a replaced secret continues to sign, in seconds: a day.
pub const PREVIOUS_SECRET_SECONDS: u64 = 86_400;
/// The maximum number of replaced secrets that sign beside the newest one.
pub const PREVIOUS_SECRETS_MAX: usize = SecretSlot::ALL.len() - 1;

word_enum! {
    /// A kind of event. Merchants subscribe to it by its name, which is delivered in lower case.
    pub enum WebhookEventKind: name {
        /// A payment with manual capture was authorized.
        PaymentAuthorized => "PAYMENT_AUTHORIZED",
        /// A payment was captured, or failed.
        PaymentCompleted => "PAYMENT_COMPLETED",
        /// The acquirer did not answer in time.
        PaymentExpired => "PAYMENT_EXPIRED",
        /// An authorization was voided, or lapsed.
        PaymentVoided => "PAYMENT_VOIDED",
        /// A payment was reversed.
        PaymentReversed => "PAYMENT_REVERSED",
        /// A refund was paid, or failed.
        RefundCompleted => "REFUND_COMPLETED",
        /// The acquirer refused a capture, a void or a reversal that the merchant asked for.
        PaymentOperationFailed => "PAYMENT_OPERATION_FAILED",
        /// A payout was paid, or failed.
        PayoutCompleted => "PAYOUT_COMPLETED",
        /// A dispute was opened about a payment.
        DisputeOpened => "DISPUTE_OPENED",
        /// A dispute was won, lost or conceded.
        DisputeClosed => "DISPUTE_CLOSED",
        /// The customer must act before a payment goes on.
        PaymentActionRequired => "PAYMENT_ACTION_REQUIRED",
        /// The money of an approval that came after a payment's end was given back.
        PaymentReturned => "PAYMENT_RETURNED",
        /// A checkout was paid.
        CheckoutCompleted => "CHECKOUT_COMPLETED",
        /// A checkout ended without a payment that succeeded.
        CheckoutExpired => "CHECKOUT_EXPIRED",
    }
}

/// The object that an event is about, with its status as of the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebhookObject {
    /// A payment.
    Payment(PaymentStatus),
    /// A refund of the payment.
    Refund(RefundId, RefundStatus),
    /// A payout.
    Payout(PayoutId, PayoutStatus),
    /// A dispute of the payment.
    Dispute(DisputeId, DisputeStatus),
    /// The checkout of the event.
    Checkout(CheckoutStatus),
}

impl WebhookObject {
    /// The name of the status in the API.
    #[must_use]
    pub const fn status(self) -> &'static str {
        match self {
            WebhookObject::Payment(status) => status.name(),
            WebhookObject::Refund(_, status) => status.name(),
            WebhookObject::Payout(_, status) => status.name(),
            WebhookObject::Dispute(_, status) => status.name(),
            WebhookObject::Checkout(status) => status.name(),
        }
    }

    /// The refund, when it is one.
    #[must_use]
    pub const fn refund_id(self) -> Option<RefundId> {
        match self {
            WebhookObject::Payment(_)
            | WebhookObject::Payout(_, _)
            | WebhookObject::Dispute(_, _)
            | WebhookObject::Checkout(_) => None,
            WebhookObject::Refund(refund_id, _) => Some(refund_id),
        }
    }

    /// The payout, when it is one.
    #[must_use]
    pub const fn payout_id(self) -> Option<PayoutId> {
        match self {
            WebhookObject::Payment(_)
            | WebhookObject::Refund(_, _)
            | WebhookObject::Dispute(_, _)
            | WebhookObject::Checkout(_) => None,
            WebhookObject::Payout(payout_id, _) => Some(payout_id),
        }
    }

    /// The dispute, when it is one.
    #[must_use]
    pub const fn dispute_id(self) -> Option<DisputeId> {
        match self {
            WebhookObject::Payment(_)
            | WebhookObject::Refund(_, _)
            | WebhookObject::Payout(_, _)
            | WebhookObject::Checkout(_) => None,
            WebhookObject::Dispute(dispute_id, _) => Some(dispute_id),
        }
    }
}

/// The checkout of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventCheckout {
    /// The checkout.
    pub id: CheckoutId,
    /// True when the payment of the event, or the checkout itself, had the checkout's reference as of the event: that
    /// of a payment passes on to a newer one.
    pub has_external_id: bool,
}

/// An event of a merchant, as webhooks deliver it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookEvent {
    /// Its id. Later events have greater ones.
    pub id: WebhookEventId,
    /// Its number among the merchant's events, from 1 and without a gap.
    pub sequence: u64,
    /// The kind.
    pub kind: WebhookEventKind,
    /// The payment that it is about; none for a payout.
    pub payment_id: Option<PaymentId>,
    /// The checkout that it is about, or whose payment.
    pub checkout: Option<EventCheckout>,
    /// The object that it is about.
    pub object: WebhookObject,
    /// The amount of that object, in minor units.
    pub amount_minor: u64,
    /// The time at which it happened.
    pub created_at: Millis,
    /// The time by which the merchant was ahead of the wall clock then, in milliseconds.
    pub clock_ahead_ms: u64,
}

impl WebhookEvent {
    /// Returns true when it is no longer kept at a time of the wall clock.
    #[must_use]
    pub fn is_forgotten(&self, wall_clock: Millis) -> bool {
        let kept_until = self.created_at.plus_seconds(EVENT_KEPT_SECONDS);
        kept_until.0.saturating_sub(self.clock_ahead_ms) <= wall_clock.0
    }
}

/// The kinds of events that a webhook is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subscription {
    /// All of them, also those of later versions.
    All,
    /// These, each once, in the order of the documents.
    Only(Vec<WebhookEventKind>),
}

impl Subscription {
    /// Returns true when events of this kind are sent.
    #[must_use]
    pub fn includes(&self, kind: WebhookEventKind) -> bool {
        match self {
            Subscription::All => true,
            Subscription::Only(kinds) => kinds.contains(&kind),
        }
    }
}

word_enum! {
    /// The states of a webhook: only a connected one is sent events.
    pub enum WebhookStatus: name {
        /// Events are sent to it.
        Connected => "CONNECTED",
        /// The merchant stopped it.
        Disconnected => "DISCONNECTED",
        /// Till stopped it: the endpoint answered that it is gone, or has not accepted a single event for days.
        Disabled => "DISABLED",
    }

    /// A slot of the vault for a secret of a webhook: one for the newest secret, and the others for those that it
    /// replaced.
    pub enum SecretSlot {
        /// The slot of the secret that the webhook is connected with.
        First,
        /// The second.
        Second,
        /// The third.
        Third,
        /// The fourth.
        Fourth,
    }
}

/// A secret that was replaced and still signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreviousSecret {
    /// Its slot.
    pub slot: SecretSlot,
    /// The instant of the wall clock until which it signs.
    pub until: Millis,
}

/// An order to deliver events to a webhook again. Its progress is kept beside the deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redelivery {
    /// The id of the last event before the order was given. It distinguishes one order from the next.
    pub ordered_after: WebhookEventId,
    /// The first event that it covers.
    pub first: WebhookEventId,
    /// The last event that it covers.
    pub last: WebhookEventId,
}

/// An endpoint of a merchant that events are delivered to. Its secrets are in the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Its id.
    pub id: WebhookId,
    /// A name for people.
    pub name: Name,
    /// The address that events are posted to.
    pub destination_url: DestinationUrl,
    /// The events that it is sent.
    pub subscription: Subscription,
    /// The API version that bodies are written in.
    pub api_version: String,
    /// The header that carries the plain HMAC of a body.
    pub signature_header: HeaderName,
    /// Its state: only a connected one is sent events.
    pub status: WebhookStatus,
    /// The id of the last event before it was connected, or connected again: it is sent events with greater ids.
    pub connected_after: WebhookEventId,
    /// The time at which it was made.
    pub created_at: Millis,
    /// The instant at which Till stopped sending, while it is stopped.
    pub disabled_at: Option<Millis>,
    /// The slot of the newest secret.
    pub secret_slot: SecretSlot,
    /// The secrets that it replaced and that may still sign, the oldest first, at most [`PREVIOUS_SECRETS_MAX`].
    pub previous_secrets: Vec<PreviousSecret>,
    /// The order to deliver events again that is under way. Only a connected webhook has one.
    pub redelivery: Option<Redelivery>,
}

/// The result of the attempt that tested a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookTest {
    /// The delivery.
    pub delivery_id: DeliveryId,
    /// True when the endpoint accepted it.
    pub is_successful: bool,
    /// The HTTP status of the answer; none without an answer.
    pub response_status: Option<u16>,
    /// The duration of the attempt in milliseconds.
    pub latency_ms: Option<u64>,
}
