//! Deliveries for the tests of this directory.

use till_domain::ids::{DeliveryId, MerchantId, WebhookEventId, WebhookId};
use till_domain::time::Millis;
use till_domain::webhook::WebhookEventKind;

use super::delivery::{Delivery, DeliveryStatus, RedeliveryProgress, WebhookProgress};

pub(super) const MERCHANT: MerchantId = MerchantId::from_bytes([0xaa; 16]);
pub(super) const OTHER_MERCHANT: MerchantId = MerchantId::from_bytes([0xab; 16]);
pub(super) const WEBHOOK: WebhookId = WebhookId::from_bytes([0xbb; 16]);
pub(super) const OTHER_WEBHOOK: WebhookId = WebhookId::from_bytes([0xbc; 16]);
pub(super) const EVENT: WebhookEventId = WebhookEventId::from_bytes([0xcc; 16]);

/// An id that was made at `at_ms`, with this byte after the time.
pub(super) fn id(at_ms: u64, byte: u8) -> DeliveryId {
    let mut bytes = [byte; 16];
    bytes[..6].copy_from_slice(&at_ms.to_be_bytes()[2..]);
    DeliveryId::from_bytes(bytes)
}

/// A delivery that was made at `at_ms` and was never attempted.
pub(super) fn pending(at_ms: u64) -> Delivery {
    Delivery {
        id: id(at_ms, 0xdd),
        webhook_id: WEBHOOK,
        event_id: EVENT,
        kind: Some(WebhookEventKind::PaymentCompleted),
        status: DeliveryStatus::Pending,
        attempt: 0,
        response_status: None,
        response_excerpt: None,
        failure: None,
        latency_ms: None,
        attempted_at: None,
        next_attempt_at: Some(Millis(at_ms)),
        created_at: Millis(at_ms),
    }
}

pub(super) fn answered_delivery(at_ms: u64, status: DeliveryStatus) -> Delivery {
    Delivery {
        status,
        attempt: 300,
        response_status: Some(503),
        response_excerpt: Some("busy".to_owned()),
        latency_ms: Some(15_000),
        attempted_at: Some(Millis(at_ms + 1)),
        next_attempt_at: None,
        ..pending(at_ms)
    }
}

/// A delivery of every kind and status, with its name in the golden bytes.
pub(super) fn deliveries() -> Vec<(String, Delivery)> {
    const AT_MS: u64 = 0x0102_0304_0506;
    let kinds = [None].into_iter().chain(WebhookEventKind::ALL.map(Some));
    let of_kind = |kind: Option<WebhookEventKind>| {
        let name = kind.map_or_else(|| "TEST".to_owned(), |kind| kind.name().to_owned());
        (format!("delivery.{name}"), Delivery { kind, ..pending(AT_MS) })
    };
    let of_status = |status: DeliveryStatus| (format!("delivery.{}", status.name()), answered_delivery(AT_MS, status));
    let failure = Some("the connection was refused".to_owned());
    let unanswered = Delivery { failure, attempt: 1, attempted_at: Some(Millis(AT_MS)), ..pending(AT_MS) };
    let mut all: Vec<_> = kinds.map(of_kind).chain(DeliveryStatus::ALL.map(of_status)).collect();
    all.push(("delivery.unanswered".to_owned(), unanswered));
    all
}

pub(super) fn progress() -> [(&'static str, WebhookProgress); 3] {
    let progress = WebhookProgress { handled_up_to: EVENT, failing_ms: 0, failed_at: None, redelivered: None };
    let failing = WebhookProgress { failing_ms: 300, failed_at: Some(Millis(0x0102_0304_0506)), ..progress };
    let ordered_after = WebhookEventId::from_bytes([0xee; 16]);
    let order = RedeliveryProgress { ordered_after, handled_up_to: Some(EVENT) };
    let redelivering = WebhookProgress { redelivered: Some(order), ..progress };
    [("progress", progress), ("progress.failing", failing), ("progress.redelivering", redelivering)]
}
