//! What webhooks are sent: contract, section 11.

use till_domain::ids::WebhookEventId;
use till_protocol::declaration::{Argument, DeliveryDeclaration};

use super::arguments::SIGNATURE_HEADER_DEFAULT;
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::event::EVENT;

const TIMESTAMP: ValueType = ValueType::Text(Text::of(10, 10, "1767225601").matching("^[0-9]+$"));
const SIGNATURES: ValueType = ValueType::Text(Text::PLAIN.matching("^v1a?,"));
const PLAIN_HMAC: ValueType = ValueType::Text(Text::PLAIN.matching("^hmac_sha256=[0-9a-f]{64}$"));

/// An event that is posted to a webhook.
pub(in crate::endpoints::merchants) static DELIVERED_EVENT: DeliveryDeclaration = DeliveryDeclaration {
    name: "event",
    group: "webhooks",
    summary: "An event, posted to the destination_url of each connected webhook that is sent its kind.",
    docs: "Answer with a 2xx status within 15 seconds. Anything else is repeated, after 5 seconds first and for some \
        three days, so an event can come more than once, and not in the order of `sequence`: `event_id` is the same \
        each time. Verify the body's bytes by [Standard Webhooks](https://www.standardwebhooks.com) before you parse \
        them.",
    headers: &[
        Argument::required(
            "webhook-id",
            ValueType::Id(WebhookEventId::PREFIX),
            "The event's id, which its body has \
            too.",
        ),
        Argument::required("webhook-timestamp", TIMESTAMP, "The time of the attempt, in Unix seconds."),
        Argument::required(
            "webhook-signature",
            SIGNATURES,
            "The signatures over id, timestamp and body, separated by spaces: `v1,` with the Base64 of an \
                HMAC-SHA-256 by the `secret`, and `v1a,` with that of an Ed25519 signature for the `public_key`. For \
                a day after a rotation the replaced secret signs as well.",
        )
        .such_as(r#""v1,uRhYpwUqYmaUFdDAE7SFcCZ4v0aTx4nZW7hyXy4PNVI=""#),
        Argument::optional(
            SIGNATURE_HEADER_DEFAULT,
            PLAIN_HMAC,
            "The HMAC-SHA-256 of the body alone. `signature_header` of the webhook can give the header another name.",
        )
        .such_as(r#""hmac_sha256=7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069""#),
    ],
    body: &EVENT,
    delivered_members: &[("delivered_at", "1767225601")],
};
