//! `POST /merchants/connect-webhook`, `update-webhook`, `disconnect-webhook`, `reconnect-webhook`,
//! `rotate-webhook-secret`, `find-webhook`, `list-webhooks`

use serde::Serialize;
use till_actors::Secret;
use till_actors::webhooks::{AddressPolicy, SigningSecret};
use till_domain::command::{Command, ConnectWebhook, UpdateWebhook, WebhookChange};
use till_domain::event::Answer;
use till_domain::ids::WebhookId;
use till_domain::records::{Rows, Webhooks};
use till_domain::text::{DestinationUrl, HEADER_NAME_MAX, HeaderName, RETURN_URL_MAX_BYTES};
use till_domain::webhook::{Subscription, Webhook, WebhookEventKind};
use till_storage::vault::{WEBHOOK_SECRET_LEN, WebhookSecretBytes, WebhookSecretOf};

use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::forms::NAME;
use crate::endpoints::merchants::by_merchant;
use crate::endpoints::shapes::webhook::{ALL_EVENTS, EVENT_WORDS, WEBHOOK, WebhookShape};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{
    Argument, Attribute, Declaration, DeclaredError, Flags, ObjectType, Package, Returns, Text, TextKind, ValueType,
    page_arguments,
};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::protocol::json::Json;
use crate::protocol::version::ApiVersion;
use crate::service::{Reader, Service, Shared, read_page};

const PAGE: [Argument; 3] = page_arguments(WebhookId::PREFIX);

/// The header of the plain HMAC, unless the merchant names another.
const SIGNATURE_HEADER_DEFAULT: &str = "X-Webhook-Signature";

/// Headers that HTTP or Standard Webhooks uses itself, in lower case.
const HEADERS_IN_USE: [&str; 17] = [
    "authorization",
    "connection",
    "cookie",
    "date",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
];

/// The beginnings of more such headers.
const HEADERS_IN_USE_BEGIN: [&str; 3] = ["accept", "content-", "proxy-"];

const DESTINATION_URL: ValueType = ValueType::Text(Text {
    kind: TextKind::Url,
    length: Some((1, RETURN_URL_MAX_BYTES)),
    example: Some("https://shop.example/events"),
    ..Text::PLAIN
});

const SIGNATURE_HEADER: ValueType = ValueType::Text(Text {
    length: Some((1, HEADER_NAME_MAX)),
    pattern: Some("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"),
    example: Some("X-Shop-Signature"),
    ..Text::PLAIN
});

const API_VERSION: ValueType = ValueType::words(&["2025-04-01"]);

const EVENTS_DOCS: &str = "The events that it is sent, such as `PAYMENT_COMPLETED`; `[\"*\"]` for all.";
const SIGNATURE_HEADER_DOCS: &str =
    "The header that carries the plain HMAC of the body; `X-Webhook-Signature` when left out of `connect-webhook`.";

/// The webhook that a call is about.
pub(super) const WEBHOOK_ARGUMENT: Argument =
    Argument::required("webhook_id", ValueType::Id(WebhookId::PREFIX), "The webhook (`whe_...`).");

/// The answers of calls about webhooks.
pub(super) const WEBHOOK_NOT_FOUND: DeclaredError =
    DeclaredError::when(Code::NotFound, "No webhook of this merchant has this id.");

const TOO_MANY: DeclaredError =
    DeclaredError::when(Code::Conflict, "50 webhooks are connected: details name the `limit`.");

static CONNECTED_WEBHOOK: ObjectType = ObjectType {
    name: "connected_webhook",
    attributes: &[
        Attribute::always("webhook_id", ValueType::STRING, "The webhook's id (`whe_...`)."),
        Attribute::always("secret", ValueType::STRING, "The secret of its signatures (`whsec_...`), this once."),
        Attribute::always("public_key", ValueType::STRING, "The public key of its Ed25519 signatures (`whpk_...`)."),
    ],
};

static ROTATED_SECRET: ObjectType = ObjectType {
    name: "rotated_webhook_secret",
    attributes: &[
        Attribute::always("secret", ValueType::STRING, "The new secret (`whsec_...`), this once."),
        Attribute::always("public_key", ValueType::STRING, "The new public key (`whpk_...`)."),
        Attribute::always("previous_expires_at", ValueType::TIMESTAMP, "Until when the secret before signs, too."),
    ],
};

/// The declaration.
pub(super) static CONNECT_WEBHOOK: Declaration = Declaration {
    name: "connect-webhook",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Makes a webhook, and sends it events from now on. Answers its secret, this once.",
    docs: "Every delivery is signed by Standard Webhooks 1.0.0 (`webhook-id`, `webhook-timestamp`, `webhook-signature` with `v1` and `v1a`), and by a plain HMAC-SHA-256 of the body in the header that you name.",
    arguments: &[
        Argument::required("name", NAME, "What to call it, 1 to 255 characters.").such_as("\"web shop\""),
        Argument::required("destination_url", DESTINATION_URL, "The https address that events are posted to."),
        Argument::required("events", ValueType::Array(&EVENT_WORDS), EVENTS_DOCS).such_as("[\"*\"]"),
        Argument::optional(
            "api_version",
            API_VERSION,
            "The API version that bodies are written in; the call's when left out.",
        ),
        Argument::optional("signature_header", SIGNATURE_HEADER, SIGNATURE_HEADER_DOCS),
    ],
    returns: Returns::Object(&CONNECTED_WEBHOOK),
    errors: &[TOO_MANY],
    flags: Flags::COMMAND,
};

/// The declaration.
pub(super) static UPDATE_WEBHOOK: Declaration = Declaration {
    name: "update-webhook",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Changes a webhook; `false` when it is like that already.",
    docs: "",
    arguments: &[
        WEBHOOK_ARGUMENT,
        Argument::optional("name", NAME, "What to call it, 1 to 255 characters.").such_as("\"new shop\""),
        Argument::optional("destination_url", DESTINATION_URL, "The https address that events are posted to."),
        Argument::optional("events", ValueType::Array(&EVENT_WORDS), EVENTS_DOCS).such_as("[\"*\"]"),
        Argument::optional("signature_header", SIGNATURE_HEADER, SIGNATURE_HEADER_DOCS),
    ],
    returns: Returns::Boolean,
    errors: &[WEBHOOK_NOT_FOUND],
    flags: Flags::COMMAND,
};

/// The declaration.
pub(super) static DISCONNECT_WEBHOOK: Declaration = Declaration {
    name: "disconnect-webhook",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Sends a webhook no events from now on; `false` when it is disconnected already.",
    docs: "Deliveries that wait for another attempt end as FAILED.",
    arguments: &[WEBHOOK_ARGUMENT],
    returns: Returns::Boolean,
    errors: &[WEBHOOK_NOT_FOUND],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
};

/// The declaration.
pub(super) static RECONNECT_WEBHOOK: Declaration = Declaration {
    name: "reconnect-webhook",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Sends a webhook what happens from now on; `false` when it is connected already.",
    docs: "For what happened meanwhile, call `redeliver-webhook`.",
    arguments: &[WEBHOOK_ARGUMENT],
    returns: Returns::Boolean,
    errors: &[WEBHOOK_NOT_FOUND, TOO_MANY],
    flags: Flags::COMMAND,
};

/// The declaration.
pub(super) static ROTATE_WEBHOOK_SECRET: Declaration = Declaration {
    name: "rotate-webhook-secret",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Gives a webhook another secret, and answers it, this once.",
    docs: "For 24 hours the secret before signs beside it. The plain HMAC is made with the new one at once.",
    arguments: &[WEBHOOK_ARGUMENT],
    returns: Returns::Object(&ROTATED_SECRET),
    errors: &[WEBHOOK_NOT_FOUND],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
};

/// The declaration.
pub(super) static FIND_WEBHOOK: Declaration = Declaration {
    name: "find-webhook",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Answers a webhook.",
    docs: "",
    arguments: &[WEBHOOK_ARGUMENT],
    returns: Returns::Object(&WEBHOOK),
    errors: &[WEBHOOK_NOT_FOUND],
    flags: Flags::QUERY,
};

/// The declaration.
pub(super) static LIST_WEBHOOKS: Declaration = Declaration {
    name: "list-webhooks",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Lists the merchant's webhooks, connected or not, newest first.",
    docs: "",
    arguments: &PAGE,
    returns: Returns::Page(&WEBHOOK),
    errors: &[],
    flags: Flags::QUERY,
};

#[derive(Serialize)]
struct Connected<'a> {
    webhook_id: String,
    secret: &'a str,
    public_key: String,
}

#[derive(Serialize)]
struct Rotated<'a> {
    secret: &'a str,
    public_key: String,
    previous_expires_at: u64,
}

/// `POST /merchants/connect-webhook`
pub(super) async fn connect_webhook(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let name = fields.required("name", arguments::name);
    let destination_url = fields.required("destination_url", |value| destination(value, &service.webhook_addresses));
    let subscription = fields.required("events", subscription);
    let api_version = fields.optional("api_version", api_version);
    let signature_header = fields.optional("signature_header", signature_header);
    let command = fields.finish(|| {
        Some(ConnectWebhook {
            name: name?,
            destination_url: destination_url?,
            subscription: subscription?,
            api_version: api_version.unwrap_or_else(|| call.version()).name().to_owned(),
            signature_header: signature_header
                .unwrap_or_else(|| HeaderName::from_stored(SIGNATURE_HEADER_DEFAULT.to_owned())),
        })
    })?;
    let change = WebhookChange::Connect(command);
    let (webhook, secret, replayed) = change_secret(&service, &CONNECT_WEBHOOK, &call, change).await?;
    let (text, public_key) = (secret.secret_text(), secret.public_key_text());
    let connected = Connected { webhook_id: webhook.id.to_string(), secret: &text, public_key };
    Ok(Reply::new(&connected).replayed(replayed))
}

/// `POST /merchants/update-webhook`
pub(super) async fn update_webhook(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let webhook_id = fields.required("webhook_id", webhook_id());
    let name = fields.optional("name", arguments::name);
    let destination_url = fields.optional("destination_url", |value| destination(value, &service.webhook_addresses));
    let subscription = fields.optional("events", subscription);
    let signature_header = fields.optional("signature_header", signature_header);
    let update = fields.finish(|| {
        Some(UpdateWebhook { webhook_id: webhook_id?, name, destination_url, subscription, signature_header })
    })?;
    change(&service, &UPDATE_WEBHOOK, &call, WebhookChange::Update(update)).await
}

/// `POST /merchants/disconnect-webhook`
pub(super) async fn disconnect_webhook(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let id = named(&call)?;
    change(&service, &DISCONNECT_WEBHOOK, &call, WebhookChange::Disconnect(id)).await
}

/// `POST /merchants/reconnect-webhook`
pub(super) async fn reconnect_webhook(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let id = named(&call)?;
    change(&service, &RECONNECT_WEBHOOK, &call, WebhookChange::Reconnect(id)).await
}

/// `POST /merchants/rotate-webhook-secret`
pub(super) async fn rotate_webhook_secret(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let change = WebhookChange::RotateSecret(named(&call)?);
    let (webhook, secret, replayed) = change_secret(&service, &ROTATE_WEBHOOK_SECRET, &call, change).await?;
    let (text, public_key) = (secret.secret_text(), secret.public_key_text());
    let until = webhook.previous_secret_until.ok_or_else(ApiError::unhandled)?;
    let rotated = Rotated { secret: &text, public_key, previous_expires_at: until.unix_seconds() };
    Ok(Reply::new(&rotated).replayed(replayed))
}

/// `POST /merchants/find-webhook`
pub(super) async fn find_webhook(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let id = named(&call)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    Ok(Reply::new(&WebhookShape::new(&found(&reader, id)?)))
}

/// `POST /merchants/list-webhooks`
pub(super) async fn list_webhooks(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let page = field::page(&mut fields, webhook_id());
    let request = fields.finish(|| page)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    Reply::page(&read_page::<Webhooks>(&reader, request)?.map(WebhookShape::new))
}

/// The webhook with an id.
pub(super) fn found(reader: &Reader<'_>, id: WebhookId) -> Result<Webhook, ApiError> {
    let unknown = || {
        let message = "No webhook of this merchant has this webhook_id. list-webhooks shows those that there are.";
        ApiError::not_found("webhook_id", message)
    };
    reader.get::<Webhooks>(id)?.ok_or_else(unknown)
}

/// Reads the id of a webhook.
pub(super) fn webhook_id() -> impl Fn(&Json) -> Result<WebhookId, String> {
    arguments::id("a webhook id (whe_...)")
}

/// The webhook that a call names, whose only argument it is.
fn named(call: &Call<MerchantCaller>) -> Result<WebhookId, ApiError> {
    let mut fields = call.fields();
    let id = fields.required("webhook_id", webhook_id());
    fields.finish(|| id)
}

async fn change(
    service: &Service,
    declaration: &'static Declaration,
    call: &Call<MerchantCaller>,
    change: WebhookChange,
) -> Result<Reply, ApiError> {
    let command = Command::ChangeWebhook(call.caller().merchant_id, change);
    by_merchant::submit(service, declaration, call, command).await
}

/// Has a change carried out that brings a new secret; gives the webhook, its secret, and whether this was asked before. A
/// repeated call drew a secret of its own, which is nobody's: the first one's is in the vault.
async fn change_secret(
    service: &Service,
    declaration: &'static Declaration,
    call: &Call<MerchantCaller>,
    change: WebhookChange,
) -> Result<(Webhook, SigningSecret, bool), ApiError> {
    let caller = call.caller();
    let command = Command::ChangeWebhook(caller.merchant_id, change);
    let secret = Some(Secret::WebhookSecret(fresh_secret()));
    let answered = service.submit(declaration, call, caller.merchant_id, caller.as_domain(), command, secret).await?;
    let Answer::Webhook(id) = answered.answer else { return Err(ApiError::unhandled()) };
    let reader = service.reader(caller.merchant_id).await?;
    let webhook = reader.get::<Webhooks>(id)?.ok_or_else(ApiError::unhandled)?;
    let kept = reader.webhook_secret(WebhookSecretOf::Current(id))?.ok_or_else(ApiError::unhandled)?;
    Ok((webhook, SigningSecret::from_bytes(&kept), answered.replayed))
}

fn fresh_secret() -> WebhookSecretBytes {
    let mut secret = WebhookSecretBytes::new([0; WEBHOOK_SECRET_LEN]);
    getrandom::fill(secret.as_mut_slice()).expect("the operating system gives randomness once it is up");
    secret
}

fn destination(value: &Json, addresses: &AddressPolicy) -> Result<DestinationUrl, String> {
    let text = arguments::own_text(value)?;
    addresses.check_url(&text).map_err(|refused| refused.to_string())?;
    arguments::checked(DestinationUrl::new(text))
}

fn api_version(value: &Json) -> Result<ApiVersion, String> {
    let text = arguments::own_text(value)?;
    ApiVersion::from_name(&text).ok_or_else(|| format!("must be one of: {}", ApiVersion::names().join(", ")))
}

fn signature_header(value: &Json) -> Result<HeaderName, String> {
    let name: HeaderName = arguments::checked(HeaderName::new(arguments::own_text(value)?))?;
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
    let kinds = WebhookEventKind::ALL.into_iter().filter(|kind| words.contains(&kind.name()));
    let kinds: Vec<WebhookEventKind> = kinds.collect();
    // Each word is one of the kinds, and none stands twice.
    let is_exact = !words.is_empty() && kinds.len() == words.len();
    if is_exact { Ok(Subscription::Only(kinds)) } else { Err(rule()) }
}

fn names() -> [&'static str; WebhookEventKind::ALL.len()] {
    WebhookEventKind::ALL.map(WebhookEventKind::name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_http_or_standard_webhooks_uses_are_refused_in_any_case() {
        let read = |name: &str| signature_header(&Json::String(name.to_owned()));
        for name in [
            "Accept",
            "accept-language",
            "Authorization",
            "Connection",
            "Content-MD5",
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
