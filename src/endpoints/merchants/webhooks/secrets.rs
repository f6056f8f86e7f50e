//! `POST /merchants/connect-webhook`, `rotate-webhook-secret`: the calls that answer a secret

use till_actors::Secret;
use till_actors::webhooks::SigningSecret;
use till_domain::command::{Command, ConnectWebhook, RotateSecret, WebhookChange};
use till_domain::event::Answer;
use till_domain::ids::WebhookId;
use till_domain::records::{Rows, Webhooks};
use till_domain::text::HeaderName;
use till_domain::webhook::Webhook;
use till_storage::vault::{WEBHOOK_SECRET_LEN, WebhookSecretBytes, WebhookSecretOf};

use super::arguments::{
    API_VERSION, DESTINATION_URL, EVENTS_DOCS, SIGNATURE_HEADER, SIGNATURE_HEADER_DEFAULT, SIGNATURE_HEADER_DOCS,
    WEBHOOK_ARGUMENT, api_version, destination, signature_header, subscription, webhook_id,
};
use super::refusals::{TOO_MANY, TOO_MANY_SECRETS, WEBHOOK_NOT_FOUND};
use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::forms::NAME;
use crate::endpoints::shapes::webhook::EVENT_WORDS;
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::{Argument, Declaration, Flags, Package, Returns, ValueType, object};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::service::{Service, Shared};

object! {
    /// A new webhook with its secret.
    CONNECTED_WEBHOOK "connected_webhook" as ConnectedShape<'a> of (webhook: &'a Webhook, secret: &'a SigningSecret) {
        webhook_id: Id(WebhookId::PREFIX) = webhook.id, "The webhook's id (`whe_...`).";
        secret: STRING = secret.secret_text().as_str(),
            "The secret of its signatures (`whsec_...`), only this once.", such_as("whsec_EXAMPLE");
        public_key: STRING = secret.public_key_text(),
            "The public key of its Ed25519 signatures (`whpk_...`).", such_as("whpk_EXAMPLE");
    }
}

object! {
    /// A webhook with its new secret.
    ROTATED_SECRET "rotated_webhook_secret" as RotatedShape<'a> of (webhook: &'a Webhook, secret: &'a SigningSecret) {
        secret: STRING = secret.secret_text().as_str(),
            "The new secret (`whsec_...`), only this once.", such_as("whsec_EXAMPLE");
        public_key: STRING = secret.public_key_text(), "The new public key (`whpk_...`).", such_as("whpk_EXAMPLE");
        previous_expires_at: TIMESTAMP or null = webhook.previous_secrets.last().map(|secret| secret.until),
            "The time until which the replaced secret signs as well; null after `end_previous`.", such_as("1767312000");
    }
}

pub(in crate::endpoints::merchants) static CONNECT_WEBHOOK: Declaration = Declaration {
    name: "connect-webhook",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Creates a webhook, and sends it events from now on. Answers its secret, only this once.",
    docs: "Every delivery is signed by Standard Webhooks 1.0.0 (`webhook-id`, `webhook-timestamp`, `webhook-signature` with `v1` and `v1a`), and by a plain HMAC-SHA-256 of the body in the header that you name.",
    arguments: &[
        Argument::required("name", NAME, "The name, 1 to 255 characters.").such_as("\"web shop\""),
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

pub(in crate::endpoints::merchants) static ROTATE_WEBHOOK_SECRET: Declaration = Declaration {
    name: "rotate-webhook-secret",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Gives a webhook a new secret, and answers it, only this once.",
    docs: "Each replaced secret signs as well until its own 24 hours are over; at most three do. After a leak send `end_previous: true`, which ends all of them at once. The plain HMAC uses the new secret at once.",
    arguments: &[
        WEBHOOK_ARGUMENT,
        Argument::optional(
            "end_previous",
            ValueType::Boolean,
            "True to end all replaced secrets at once; false when left out.",
        ),
    ],
    returns: Returns::Object(&ROTATED_SECRET),
    errors: &[WEBHOOK_NOT_FOUND, TOO_MANY_SECRETS],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
};

/// `POST /merchants/connect-webhook`
pub(in crate::endpoints::merchants) async fn connect_webhook(
    service: Shared,
    call: Call<MerchantCaller>,
) -> Result<Reply, ApiError> {
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
    Ok(Reply::new(&ConnectedShape::new(&webhook, &secret)).replayed(replayed))
}

/// `POST /merchants/rotate-webhook-secret`
pub(in crate::endpoints::merchants) async fn rotate_webhook_secret(
    service: Shared,
    call: Call<MerchantCaller>,
) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let webhook_id = fields.required("webhook_id", webhook_id());
    let ends_previous = fields.optional("end_previous", field::boolean).unwrap_or_default();
    let rotation = fields.finish(|| Some(RotateSecret { webhook_id: webhook_id?, ends_previous }))?;
    let change = WebhookChange::RotateSecret(rotation);
    let (webhook, secret, replayed) = change_secret(&service, &ROTATE_WEBHOOK_SECRET, &call, change).await?;
    Ok(Reply::new(&RotatedShape::new(&webhook, &secret)).replayed(replayed))
}

/// Submits a change that brings a new secret. Returns the webhook, its secret, and true for a repeated call. A repeated
/// call drew a secret of its own, which is unused: the secret of the first call is in the vault.
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
    let newest = WebhookSecretOf { webhook_id: id, slot: webhook.secret_slot };
    let kept = reader.webhook_secret(newest)?.ok_or_else(ApiError::unhandled)?;
    Ok((webhook, SigningSecret::from_bytes(&kept), answered.replayed))
}

fn fresh_secret() -> WebhookSecretBytes {
    let mut secret = WebhookSecretBytes::new([0; WEBHOOK_SECRET_LEN]);
    getrandom::fill(secret.as_mut_slice()).expect("the operating system gives randomness once it is up");
    secret
}
