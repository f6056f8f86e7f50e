//! The JSON of a webhook: contract, section 11.

use till_domain::ids::WebhookId;
use till_domain::webhook::{Subscription, Webhook, WebhookEventKind, WebhookStatus};
use till_protocol::declaration::ValueType;

use super::object::object;

/// The word for all events.
pub(in crate::endpoints) const ALL_EVENTS: &str = "*";

/// The events that a subscription may name, and the word for all of them.
pub(in crate::endpoints) const EVENT_WORDS: ValueType = ValueType::words(&[
    "PAYMENT_AUTHORIZED",
    "PAYMENT_COMPLETED",
    "PAYMENT_EXPIRED",
    "PAYMENT_VOIDED",
    "PAYMENT_REVERSED",
    "REFUND_COMPLETED",
    "PAYMENT_OPERATION_FAILED",
    "PAYOUT_COMPLETED",
    "DISPUTE_OPENED",
    "DISPUTE_CLOSED",
    "PAYMENT_ACTION_REQUIRED",
    "PAYMENT_RETURNED",
    "CHECKOUT_COMPLETED",
    "CHECKOUT_EXPIRED",
    ALL_EVENTS,
]);

object! {
    /// A webhook.
    pub(in crate::endpoints) WEBHOOK "webhook" as WebhookShape<'a> of (webhook: &'a Webhook) {
        webhook_id: Id(WebhookId::PREFIX) = webhook.id, "The webhook's id (`whe_...`).";
        name: STRING = webhook.name, "The name.", such_as("Shop");
        destination_url: STRING = webhook.destination_url,
            "The address that events are posted to.", such_as("https://shop.example/events");
        events: Array(&EVENT_WORDS) = event_words(&webhook.subscription),
            "The events that it is sent; `*` for all.", such_as(r#"["*"]"#);
        api_version: STRING = webhook.api_version, "The API version that bodies are written in.", such_as("2025-04-01");
        signature_header: STRING = webhook.signature_header,
            "The header that carries the plain HMAC.", such_as("X-Webhook-Signature");
        status: words_of(WebhookStatus) = webhook.status,
            "The status: events are sent to it while it is connected.", such_as("CONNECTED");
        created_at: TIMESTAMP = webhook.created_at, "The time at which it was created.";
        disabled_at: TIMESTAMP or null = webhook.disabled_at, "The time at which it was disabled.";
    }
}

/// The kind of event that a word names: as subscriptions are told, or as events write it.
pub(in crate::endpoints) fn kind_named(word: &str) -> Option<WebhookEventKind> {
    WebhookEventKind::ALL.into_iter().find(|kind| kind.name() == word || kind.name().to_ascii_lowercase() == word)
}

fn event_words(subscription: &Subscription) -> Vec<&'static str> {
    match subscription {
        Subscription::All => vec![ALL_EVENTS],
        Subscription::Only(kinds) => kinds.iter().copied().map(WebhookEventKind::name).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_those_of_all_kinds_and_the_one_for_all() {
        let mut words: Vec<&str> = WebhookEventKind::ALL.map(WebhookEventKind::name).to_vec();
        words.push(ALL_EVENTS);
        assert_eq!(EVENT_WORDS.choices(), words);
    }
}
