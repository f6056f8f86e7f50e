//! The common arguments of calls about webhooks.

use std::collections::BTreeSet;

use till_actors::webhooks::AddressPolicy;
use till_domain::ids::WebhookId;
use till_domain::text::{DestinationUrl, HEADER_NAME_MAX, HeaderName, RETURN_URL_MAX_BYTES};
use till_domain::webhook::{Subscription, WebhookEventKind};
use till_protocol::arguments::{FieldIn, id};
use till_protocol::declaration::TextKind;
use till_protocol::json::Json;
use till_protocol::version::ApiVersion;

use crate::endpoints::forms::{checked, own_text};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::webhook::{ALL_EVENTS, EVENT_WORDS, kind_named};

/// The default header of the plain HMAC.
pub(super) const SIGNATURE_HEADER_DEFAULT: &str = "X-Webhook-Signature";

/// Headers that HTTP, its proxies and browsers, or Standard Webhooks use themselves, in lower case. Those of HTTP are
/// the registered fields that a request can have.
const HEADERS_IN_USE: [&str; 42] = [
    "alt-used",
    "authorization",
    "cache-control",
    "connection",
    "cookie",
    "cookie2",
    "date",
    "depth",
    "destination",
    "dnt",
    "early-data",
    "expect",
    "forwarded",
    "from",
    "host",
    "http2-settings",
    "idempotency-key",
    "keep-alive",
    "last-event-id",
    "link",
    "max-forwards",
    "origin",
    "overwrite",
    "pragma",
    "prefer",
    "priority",
    "range",
    "referer",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "upgrade-insecure-requests",
    "user-agent",
    "via",
    "warning",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
    "x-http-method-override",
    "x-real-ip",
];

/// Prefixes of more such headers.
const HEADERS_IN_USE_BEGIN: [&str; 7] =
    ["accept", "access-control-", "content-", "if-", "proxy-", "sec-", "x-forwarded-"];

/// The address that events are posted to.
pub(super) const DESTINATION_URL: FieldIn<DestinationUrl, AddressPolicy> = FieldIn {
    value_type: ValueType::Text(Text {
        kind: TextKind::Url,
        length: Some((1, RETURN_URL_MAX_BYTES)),
        example: Some("https://shop.example/events"),
        ..Text::PLAIN
    }),
    parse: |value, addresses| {
        let text = own_text(value)?;
        addresses.check_url(&text).map_err(|refused| refused.to_string())?;
        checked(DestinationUrl::new(text))
    },
};

/// The header that carries the plain HMAC of the body.
pub(super) const SIGNATURE_HEADER: Field<HeaderName> = Field {
    value_type: ValueType::Text(Text {
        length: Some((1, HEADER_NAME_MAX)),
        pattern: Some("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"),
        example: Some("X-Shop-Signature"),
        ..Text::PLAIN
    }),
    parse: signature_header,
};

/// The version that bodies are written in.
pub(super) const API_VERSION: Field<ApiVersion> = Field {
    value_type: ValueType::words(&["2025-04-01"]),
    parse: |value| {
        let text = own_text(value)?;
        ApiVersion::from_name(&text).ok_or_else(|| format!("must be one of: {}", ApiVersion::names().join(", ")))
    },
};

/// The events that a webhook is sent.
pub(super) const SUBSCRIPTION: Field<Subscription> =
    Field { value_type: ValueType::Array(&EVENT_WORDS), parse: subscription };

pub(super) const EVENTS_DOCS: &str = "The events that it is sent, such as `PAYMENT_COMPLETED`, or as events write it, \
    `payment_completed`; `[\"*\"]` for all.";
pub(super) const SIGNATURE_HEADER_DOCS: &str =
    "The header that carries the plain HMAC of the body; `X-Webhook-Signature` when left out of `connect-webhook`.";

/// The argument that names a webhook.
pub(in crate::endpoints::merchants) const WEBHOOK_ARGUMENT: Required<WebhookId> =
    id::<WebhookId>().required("The webhook (`whe_...`).").with_name("webhook_id");

fn signature_header(value: &Json) -> Result<HeaderName, String> {
    let name: HeaderName = checked(HeaderName::new(own_text(value)?))?;
    let folded = name.as_str().to_ascii_lowercase();
    let is_in_use = HEADERS_IN_USE.contains(&folded.as_str())
        || HEADERS_IN_USE_BEGIN.iter().any(|beginning| folded.starts_with(beginning));
    if is_in_use {
        Err("is a header that HTTP or Standard Webhooks uses itself; name another".to_owned())
    } else {
        Ok(name)
    }
}

/// `["*"]`, or names of events, each once.
fn subscription(value: &Json) -> Result<Subscription, String> {
    let rule = || format!("must be [\"*\"], or an array of some of: {}, each once", names().join(", "));
    let Json::Array(words) = value else { return Err(rule()) };
    let words: Option<Vec<&str>> = words.iter().map(Json::as_str).collect();
    let words = words.ok_or_else(rule)?;
    if words == [ALL_EVENTS] {
        return Ok(Subscription::All);
    }
    let kinds: Option<BTreeSet<WebhookEventKind>> = words.iter().map(|word| kind_named(word)).collect();
    let kinds = kinds.filter(|kinds| !words.is_empty() && kinds.len() == words.len()).ok_or_else(rule)?;
    Ok(Subscription::Only(kinds.into_iter().collect()))
}

fn names() -> [&'static str; WebhookEventKind::ALL.len()] {
    WebhookEventKind::ALL.map(WebhookEventKind::name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_in_use_are_refused_in_any_letter_case() {
        let read = |name: &str| signature_header(&Json::String(name.to_owned()));
        for name in [
            "Accept",
            "accept-language",
            "Authorization",
            "Connection",
            "Content-MD5",
            "Forwarded",
            "If-Match",
            "Origin",
            "RANGE",
            "Via",
            "X-Forwarded-For",
            "x-forwarded-host",
            "CONTENT-TYPE",
            "Cookie",
            "HOST",
            "Proxy-Connection",
            "Set-Cookie",
            "Transfer-Encoding",
            "User-Agent",
            "Webhook-Id",
            "webhook-timestamp",
            "WEBHOOK-SIGNATURE",
        ] {
            let refused = read(name).err().unwrap_or_default();
            assert!(refused.starts_with("is a header that HTTP or Standard Webhooks uses"), "{name}: {refused}");
        }
        for name in ["", "X Signature", "X-Signature:", "\u{c4}", &"x".repeat(65)] {
            assert!(read(name).is_err(), "{name}");
        }
        for name in ["X-Webhook-Signature", "x-shop-hmac", "Webhook-Hmac", &"x".repeat(64)] {
            assert_eq!(read(name).map(|name| name.as_str().to_owned()), Ok(name.to_owned()));
        }
    }
}
