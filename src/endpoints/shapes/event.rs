//! An event in the form in which webhooks deliver it: contract, section 11. The dispatcher of webhooks makes the
//! object.

use till_domain::ids::{DisputeId, PaymentId, PayoutId, RefundId, WebhookEventId};

use crate::protocol::declaration::{Attribute, ObjectType, ValueType};

pub(in crate::endpoints) static EVENT: ObjectType = ObjectType {
    name: "event",
    attributes: &[
        Attribute::always("event_id", ValueType::Id(WebhookEventId::PREFIX), "The event's id (`evt_...`)."),
        Attribute::always("event", EVENT_NAMES, "The kind of event.").such_as("payment_completed"),
        Attribute::nullable("sequence", ValueType::INTEGER, "Its number among the merchant's events, without gaps.")
            .such_as("68"),
        Attribute::nullable("payment_id", ValueType::Id(PaymentId::PREFIX), "The payment that it is about.").shown(),
        Attribute::nullable(
            "external_id",
            ValueType::STRING,
            "The merchant's own identifier of the payment or payout.",
        )
        .such_as("order-1001"),
        Attribute::nullable(
            "status",
            ValueType::STRING,
            "The status of the payment, refund, dispute or payout, as of the event.",
        )
        .such_as("SUCCESSFUL"),
        Attribute::nullable("refund_id", ValueType::Id(RefundId::PREFIX), "The refund that it is about."),
        Attribute::nullable("dispute_id", ValueType::Id(DisputeId::PREFIX), "The dispute that it is about."),
        Attribute::nullable("payout_id", ValueType::Id(PayoutId::PREFIX), "The payout that it is about."),
        Attribute::nullable("amount", ValueType::INTEGER, "The amount of the object that it is about, in minor units.")
            .such_as("10000"),
        Attribute::nullable("currency", ValueType::STRING, "The ISO 4217 code.").such_as("THB"),
        Attribute::always("created_at", ValueType::TIMESTAMP, "The time at which it happened."),
        Attribute::nullable(
            "delivered_at",
            ValueType::TIMESTAMP,
            "The time at which it was sent; null in answers of the API.",
        ),
    ],
};

/// The names of delivered events.
const EVENT_NAMES: ValueType = ValueType::words(&[
    "payment_authorized",
    "payment_completed",
    "payment_expired",
    "payment_voided",
    "payment_reversed",
    "refund_completed",
    "payment_operation_failed",
    "payout_completed",
    "dispute_opened",
    "dispute_closed",
    "test",
]);

#[cfg(test)]
mod tests {
    use super::*;
    use till_actors::webhooks::name_of_delivered;
    use till_domain::webhook::WebhookEventKind;

    #[test]
    fn the_names_are_those_of_all_kinds_and_of_the_test() {
        let kinds = WebhookEventKind::ALL.into_iter().map(Some).chain([None]);
        let names: Vec<String> = kinds.map(name_of_delivered).collect();
        assert_eq!(EVENT_NAMES.choices(), names);
    }
}
