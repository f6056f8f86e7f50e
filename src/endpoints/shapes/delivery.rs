//! The JSON of a delivery of an event to a webhook: contract, section 11.

use till_actors::webhooks::name_of_delivered;
use till_domain::ids::{DeliveryId, WebhookEventId, WebhookId};
use till_storage::deliveries::{Delivery, DeliveryStatus};

use super::object::object;

object! {
    /// A delivery.
    pub(in crate::endpoints) DELIVERY "webhook_delivery" as DeliveryShape<'a> of (delivery: &'a Delivery) {
        delivery_id: Id(DeliveryId::PREFIX) = delivery.id, "The delivery's id (`dlv_...`).";
        webhook_id: Id(WebhookId::PREFIX) = delivery.webhook_id, "The webhook that it is sent to.";
        event_id: Id(WebhookEventId::PREFIX) = delivery.event_id, "The event.";
        event: STRING = name_of_delivered(delivery.kind),
            "The event's name as it is delivered.", such_as("payment_completed");
        attempt: INTEGER = delivery.attempt, "Attempts made so far.", such_as("1");
        status: words_of(DeliveryStatus) = delivery.status, "The status.", such_as("SUCCESSFUL");
        response_status: INTEGER or null = delivery.response_status,
            "The HTTP status of the last answer.", such_as("200");
        response_excerpt: STRING or null = delivery.response_excerpt,
            "The beginning of its body, up to 512 bytes.", such_as("ok");
        failure_message: STRING or null = delivery.failure, "The reason why the last attempt got no answer.";
        latency_ms: INTEGER or null = delivery.latency_ms,
            "The duration of the last attempt, in milliseconds.", such_as("20");
        attempted_at: TIMESTAMP or null = delivery.attempted_at, "The time of the last attempt.", such_as("1767225601");
        next_attempt_at: TIMESTAMP or null = delivery.next_attempt_at, "The time at which the next attempt is due.";
    }
}
