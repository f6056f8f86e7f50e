//! The JSON of a delivery of an event to a webhook: contract, section 11.

use serde::Serialize;
use till_actors::webhooks::name_of_delivered;
use till_domain::ids::{DeliveryId, WebhookEventId, WebhookId};
use till_storage::deliveries::{Delivery, DeliveryStatus};

use crate::protocol::declaration::{Attribute, ObjectType, ValueType, words_of};

pub(in crate::endpoints) static DELIVERY: ObjectType = ObjectType {
    name: "webhook_delivery",
    attributes: &[
        Attribute::always("delivery_id", ValueType::Id(DeliveryId::PREFIX), "The delivery's id (`dlv_...`)."),
        Attribute::always("webhook_id", ValueType::Id(WebhookId::PREFIX), "The webhook that it is sent to."),
        Attribute::always("event_id", ValueType::Id(WebhookEventId::PREFIX), "The event."),
        Attribute::always("event", ValueType::STRING, "The event's name as it is delivered.")
            .such_as("payment_completed"),
        Attribute::always("attempt", ValueType::INTEGER, "Attempts made so far.").such_as("1"),
        Attribute::always("status", words_of!(DeliveryStatus), "The status.").such_as("SUCCESSFUL"),
        Attribute::nullable("response_status", ValueType::INTEGER, "The HTTP status of the last answer.")
            .such_as("200"),
        Attribute::nullable("response_excerpt", ValueType::STRING, "The beginning of its body, up to 512 bytes.")
            .such_as("ok"),
        Attribute::nullable("failure_message", ValueType::STRING, "The reason why the last attempt got no answer."),
        Attribute::nullable("latency_ms", ValueType::INTEGER, "The duration of the last attempt, in milliseconds.")
            .such_as("20"),
        Attribute::nullable("attempted_at", ValueType::TIMESTAMP, "The time of the last attempt.")
            .such_as("1767225601"),
        Attribute::nullable("next_attempt_at", ValueType::TIMESTAMP, "The time at which the next attempt is due."),
    ],
};

#[derive(Serialize)]
pub(crate) struct DeliveryShape {
    delivery_id: String,
    webhook_id: String,
    event_id: String,
    event: String,
    attempt: u32,
    status: &'static str,
    response_status: Option<u16>,
    response_excerpt: Option<String>,
    failure_message: Option<String>,
    latency_ms: Option<u64>,
    attempted_at: Option<u64>,
    next_attempt_at: Option<u64>,
}

impl DeliveryShape {
    /// The object for a delivery.
    pub(crate) fn new(delivery: &Delivery) -> DeliveryShape {
        DeliveryShape {
            delivery_id: delivery.id.to_string(),
            webhook_id: delivery.webhook_id.to_string(),
            event_id: delivery.event_id.to_string(),
            event: name_of_delivered(delivery.kind),
            attempt: delivery.attempt,
            status: delivery.status.name(),
            response_status: delivery.response_status,
            response_excerpt: delivery.response_excerpt.clone(),
            failure_message: delivery.failure.clone(),
            latency_ms: delivery.latency_ms,
            attempted_at: delivery.attempted_at.map(|at| at.unix_seconds()),
            next_attempt_at: delivery.next_attempt_at.map(|at| at.unix_seconds()),
        }
    }
}
