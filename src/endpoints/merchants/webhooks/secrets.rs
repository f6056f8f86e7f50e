//! `POST /merchants/connect-webhook`, `rotate-webhook-secret`: the calls that answer a secret

use till_actors::Secret;
use till_actors::webhooks::{AddressPolicy, SigningSecret};
use till_domain::command::{Command, ConnectWebhook, RotateSecret, WebhookChange};
use till_domain::event::Answer;
use till_domain::ids::WebhookId;
use till_domain::records::{Rows, Webhooks};
use till_domain::text::{DestinationUrl, HeaderName, Name};
use till_domain::webhook::{Subscription, Webhook};
use till_protocol::version::ApiVersion;
use till_storage::vault::{WEBHOOK_SECRET_LEN, WebhookSecretBytes, WebhookSecretOf};

use super::arguments::{
    API_VERSION, DESTINATION_URL, EVENTS_DOCS, SIGNATURE_HEADER, SIGNATURE_HEADER_DEFAULT, SIGNATURE_HEADER_DOCS,
    SUBSCRIPTION, WEBHOOK_ARGUMENT,
};
use super::refusals::{TOO_MANY, TOO_MANY_SECRETS, WEBHOOK_NOT_FOUND};
use crate::endpoints::forms::{BOOLEAN, NAME};
use crate::endpoints::prelude::*;

pub(in crate::endpoints::merchants) const ENDPOINTS: MerchantEndpoints = &[
    MerchantEndpoint(Act::RunWebhooks, &CONNECT_WEBHOOK, &connect_webhook),
    MerchantEndpoint(Act::RunWebhooks, &ROTATE_WEBHOOK_SECRET, &rotate_webhook_secret),
];

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

/// The arguments of a webhook to connect.
type GivenWebhook = (Name, DestinationUrl, Subscription, Option<ApiVersion>, Option<HeaderName>);

const CONNECTED: ArgumentSet<GivenWebhook, AddressPolicy> = arguments!({
    name: NAME.required("The name, 1 to 255 characters.").such_as("\"web shop\""),
    destination_url: DESTINATION_URL.required("The https address that events are posted to."),
    subscription: SUBSCRIPTION.required(EVENTS_DOCS).such_as("[\"*\"]").with_name("events"),
    api_version: API_VERSION.optional("The API version that bodies are written in; the call's when left out."),
    signature_header: SIGNATURE_HEADER.optional(SIGNATURE_HEADER_DOCS),
} => (name, destination_url, subscription, api_version, signature_header));

static CONNECT_WEBHOOK: Declaration = Declaration {
    name: "connect-webhook",
    summary: "Creates a webhook, and sends it events from now on. Answers its secret, only this once.",
    docs: "Every delivery is signed by Standard Webhooks 1.0.0 (`webhook-id`, `webhook-timestamp`, \
        `webhook-signature` with `v1` and `v1a`), and by a plain HMAC-SHA-256 of the body in the header that you name.",
    arguments: CONNECTED.declared,
    returns: Returns::Object(&CONNECTED_WEBHOOK),
    errors: &[TOO_MANY],
    ..Declaration::command(Package::Merchants, "webhooks")
};

const ROTATION: ArgumentSet<RotateSecret> = arguments!({
    webhook_id: WEBHOOK_ARGUMENT,
    end_previous: BOOLEAN.optional("True to end all replaced secrets at once; false when left out."),
} => RotateSecret { webhook_id, ends_previous: end_previous.unwrap_or_default() });

static ROTATE_WEBHOOK_SECRET: Declaration = Declaration {
    name: "rotate-webhook-secret",
    summary: "Gives a webhook a new secret, and answers it, only this once.",
    docs: "Each replaced secret signs as well until its own 24 hours are over; at most three do. After a leak send \
        `end_previous: true`, which ends all of them at once. The plain HMAC uses the new secret at once.",
    arguments: ROTATION.declared,
    returns: Returns::Object(&ROTATED_SECRET),
    errors: &[WEBHOOK_NOT_FOUND, TOO_MANY_SECRETS],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
    ..Declaration::command(Package::Merchants, "webhooks")
};

/// `POST /merchants/connect-webhook`
async fn connect_webhook(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let given = call.fields().parse_in(&CONNECTED, service.webhook_addresses())?;
    let (name, destination_url, subscription, api_version, header) = given;
    let api_version = api_version.unwrap_or_else(|| call.version()).name().to_owned();
    let signature_header = header.unwrap_or_else(|| HeaderName::from_stored(SIGNATURE_HEADER_DEFAULT.to_owned()));
    let command = ConnectWebhook { name, destination_url, subscription, api_version, signature_header };
    let change = WebhookChange::Connect(command);
    let (webhook, secret, replayed) = change_secret(&service, &call, change).await?;
    Ok(Reply::new(&ConnectedShape::new(&webhook, &secret)).replayed(replayed))
}

/// `POST /merchants/rotate-webhook-secret`
async fn rotate_webhook_secret(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let rotation = call.fields().parse(&ROTATION)?;
    let change = WebhookChange::RotateSecret(rotation);
    let (webhook, secret, replayed) = change_secret(&service, &call, change).await?;
    Ok(Reply::new(&RotatedShape::new(&webhook, &secret)).replayed(replayed))
}

/// Submits a change that brings a new secret. Returns the webhook, its secret, and true for a repeated call. A repeated
/// call drew a secret of its own, which is unused: the secret of the first call is in the vault.
async fn change_secret(
    service: &Service,
    call: &Call<MerchantCaller>,
    change: WebhookChange,
) -> Result<(Webhook, SigningSecret, bool), ApiError> {
    let caller = call.caller();
    let command = Command::ChangeWebhook(caller.merchant_id, change);
    let secret = Some(Secret::WebhookSecret(fresh_secret()));
    let answered = service.submit(call, caller.merchant_id, caller.as_domain(), command, secret).await?;
    let Answer::Webhook(id) = answered.answer else { return Err(ApiError::unhandled()) };
    let reader = caller.reader(service).await?;
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
