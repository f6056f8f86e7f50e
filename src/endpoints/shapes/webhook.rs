//! The JSON of a webhook: contract, section 11.

use serde::Serialize;
use till_domain::ids::WebhookId;
use till_domain::webhook::{Subscription, Webhook, WebhookEventKind, WebhookStatus};

use crate::protocol::declaration::{Attribute, ObjectType, ValueType, words_of};

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
    ALL_EVENTS,
]);

pub(in crate::endpoints) static WEBHOOK: ObjectType = ObjectType {
    name: "webhook",
    attributes: &[
        Attribute::always("webhook_id", ValueType::Id(WebhookId::PREFIX), "The webhook's id (`whe_...`)."),
        Attribute::always("name", ValueType::STRING, "The name.").such_as("Shop"),
        Attribute::always("destination_url", ValueType::STRING, "The address that events are posted to.")
            .such_as("https://shop.example/events"),
        Attribute::always("events", ValueType::Array(&EVENT_WORDS), "The events that it is sent; `*` for all.")
            .such_as(r#"["*"]"#),
        Attribute::always("api_version", ValueType::STRING, "The API version that bodies are written in.")
            .such_as("2025-04-01"),
        Attribute::always("signature_header", ValueType::STRING, "The header that carries the plain HMAC.")
            .such_as("X-Webhook-Signature"),
        Attribute::always(
            "status",
            words_of!(WebhookStatus),
            "The status: events are sent to it while it is connected.",
        )
        .such_as("CONNECTED"),
        Attribute::always("created_at", ValueType::TIMESTAMP, "The time at which it was created."),
        Attribute::nullable("disabled_at", ValueType::TIMESTAMP, "The time at which it was disabled."),
    ],
};

#[derive(Serialize)]
pub(crate) struct WebhookShape {
    webhook_id: String,
    name: String,
    destination_url: String,
    events: Vec<&'static str>,
    api_version: String,
    signature_header: String,
    status: &'static str,
    created_at: u64,
    disabled_at: Option<u64>,
}

impl WebhookShape {
    /// The object for a webhook.
    pub(crate) fn new(webhook: &Webhook) -> WebhookShape {
        let events = match &webhook.subscription {
            Subscription::All => vec![ALL_EVENTS],
            Subscription::Only(kinds) => kinds.iter().copied().map(WebhookEventKind::name).collect(),
        };
        WebhookShape {
            webhook_id: webhook.id.to_string(),
            name: webhook.name.as_str().to_owned(),
            destination_url: webhook.destination_url.as_str().to_owned(),
            events,
            api_version: webhook.api_version.clone(),
            signature_header: webhook.signature_header.as_str().to_owned(),
            status: webhook.status.name(),
            created_at: webhook.created_at.unix_seconds(),
            disabled_at: webhook.disabled_at.map(|at| at.unix_seconds()),
        }
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
