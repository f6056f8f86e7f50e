//! Shapes of webhooks and of the events that are delivered to them.

use till_domain::webhook::{
    EventCheckout, PreviousSecret, Redelivery, Subscription, Webhook, WebhookEvent, WebhookObject, WebhookTest,
};

use super::declared::{shape_enum, shape_struct};
use super::tag::Tag;

shape_enum! {
    /// The object that an event is about, with its status.
    WebhookObjectV1 of WebhookObject {
        Payment(status: Tag),
        Refund(refund_id: [u8; 16], status: Tag),
        Payout(payout_id: [u8; 16], status: Tag),
        Dispute(dispute_id: [u8; 16], status: Tag),
        Checkout(status: Tag),
    }
}

shape_struct! {
    /// The checkout of an event.
    EventCheckoutV1 of EventCheckout {
        id: [u8; 16],
        has_external_id: bool,
    }
}

shape_struct! {
    /// An event. The id of the payment is zeros when the event is not about a payment.
    WebhookEventV1 of WebhookEvent {
        id: [u8; 16],
        sequence: u64,
        kind: Tag,
        payment_id: [u8; 16],
        checkout: Option<EventCheckoutV1>,
        object: WebhookObjectV1,
        amount_minor: u64,
        created_at: u64,
        clock_ahead_ms: u64,
    }
}

shape_enum! {
    /// The kinds of events that a webhook is sent.
    SubscriptionV1 of Subscription {
        All,
        Only(kinds: Vec<Tag>),
    }
}

shape_struct! {
    /// A secret that was replaced and still signs.
    PreviousSecretV1 of PreviousSecret {
        slot: Tag,
        until: u64,
    }
}

shape_struct! {
    /// An order to deliver events to a webhook again.
    RedeliveryV1 of Redelivery {
        ordered_after: [u8; 16],
        first: [u8; 16],
        last: [u8; 16],
    }
}

shape_struct! {
    /// The result of the attempt that tested a webhook.
    WebhookTestV1 of WebhookTest {
        delivery_id: [u8; 16],
        is_successful: bool,
        response_status: Option<u16>,
        latency_ms: Option<u64>,
    }
}

shape_struct! {
    /// A webhook.
    WebhookV1 of Webhook {
        id: [u8; 16],
        name: String,
        destination_url: String,
        subscription: SubscriptionV1,
        api_version: String,
        signature_header: String,
        status: Tag,
        connected_after: [u8; 16],
        created_at: u64,
        disabled_at: Option<u64>,
        secret_slot: Tag,
        previous_secrets: Vec<PreviousSecretV1>,
        redelivery: Option<RedeliveryV1>,
    }
}
