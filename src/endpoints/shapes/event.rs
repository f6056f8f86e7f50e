//! An event in the form in which webhooks deliver it: contract, section 11. The dispatcher of webhooks makes the
//! object.

use till_domain::ids::{CheckoutId, DisputeId, PaymentId, PayoutId, RefundId, WebhookEventId};
use till_protocol::declaration::ValueType;

use super::object::object;

object! {
    pub(in crate::endpoints) EVENT "event" {
        event_id: Id(WebhookEventId::PREFIX), "The event's id (`evt_...`).";
        event: type(EVENT_NAMES), "The kind of event.", such_as("payment_completed");
        sequence: INTEGER or null,
            "Its number among the merchant's events, without gaps. Deliveries may overtake each other: it tells the \
                order.", such_as("68");
        payment_id: Id(PaymentId::PREFIX) or null, "The payment that it is about.", in_examples;
        external_id: STRING or null, "The merchant's own identifier of the payment, payout or checkout, as of the \
            event.", such_as("order-1001");
        status: STRING or null,
            "The status of the payment, refund, dispute, payout or checkout, as of the event.", such_as("SUCCESSFUL");
        refund_id: Id(RefundId::PREFIX) or null, "The refund that it is about.";
        dispute_id: Id(DisputeId::PREFIX) or null, "The dispute that it is about.";
        payout_id: Id(PayoutId::PREFIX) or null, "The payout that it is about.";
        checkout_id: Id(CheckoutId::PREFIX) or null, "The checkout that it is about, or that the payment belongs to.";
        amount: MINOR_UNITS or null, "The amount of the object that it is about, in minor units.", such_as("10000");
        currency: STRING or null, "The ISO 4217 code.", such_as("THB");
        created_at: TIMESTAMP, "The time at which it happened.";
        delivered_at: TIMESTAMP or null, "The time at which it was sent; null in answers of the API.";
    }
}

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
    "payment_action_required",
    "payment_returned",
    "checkout_completed",
    "checkout_expired",
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
