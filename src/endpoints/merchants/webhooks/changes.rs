//! `POST /merchants/update-webhook`, `disconnect-webhook`, `reconnect-webhook`

use till_domain::command::{Command, UpdateWebhook, WebhookChange};

use super::arguments::{
    DESTINATION_URL, EVENTS_DOCS, SIGNATURE_HEADER, SIGNATURE_HEADER_DOCS, WEBHOOK_ARGUMENT, destination, named,
    signature_header, subscription, webhook_id,
};
use super::refusals::{TOO_MANY, WEBHOOK_NOT_FOUND};
use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::forms::NAME;
use crate::endpoints::merchants::by_merchant;
use crate::endpoints::shapes::webhook::EVENT_WORDS;
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::{Argument, Declaration, Flags, Package, Returns, ValueType};
use crate::protocol::dispatch::{Call, Reply};
use crate::service::{Service, Shared};

pub(in crate::endpoints::merchants) static UPDATE_WEBHOOK: Declaration = Declaration {
    name: "update-webhook",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Changes a webhook; `false` when nothing changed.",
    docs: "",
    arguments: &[
        WEBHOOK_ARGUMENT,
        Argument::optional("name", NAME, "The name, 1 to 255 characters.").such_as("\"new shop\""),
        Argument::optional("destination_url", DESTINATION_URL, "The https address that events are posted to."),
        Argument::optional("events", ValueType::Array(&EVENT_WORDS), EVENTS_DOCS).such_as("[\"*\"]"),
        Argument::optional("signature_header", SIGNATURE_HEADER, SIGNATURE_HEADER_DOCS),
    ],
    returns: Returns::Boolean,
    errors: &[WEBHOOK_NOT_FOUND],
    flags: Flags::COMMAND,
};

pub(in crate::endpoints::merchants) static DISCONNECT_WEBHOOK: Declaration = Declaration {
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

pub(in crate::endpoints::merchants) static RECONNECT_WEBHOOK: Declaration = Declaration {
    name: "reconnect-webhook",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Sends a webhook events from now on; `false` when it is connected already.",
    docs: "For the events in the meantime, call `redeliver-webhook`.",
    arguments: &[WEBHOOK_ARGUMENT],
    returns: Returns::Boolean,
    errors: &[WEBHOOK_NOT_FOUND, TOO_MANY],
    flags: Flags::COMMAND,
};

/// `POST /merchants/update-webhook`
pub(in crate::endpoints::merchants) async fn update_webhook(
    service: Shared,
    call: Call<MerchantCaller>,
) -> Result<Reply, ApiError> {
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
pub(in crate::endpoints::merchants) async fn disconnect_webhook(
    service: Shared,
    call: Call<MerchantCaller>,
) -> Result<Reply, ApiError> {
    let id = named(&call)?;
    change(&service, &DISCONNECT_WEBHOOK, &call, WebhookChange::Disconnect(id)).await
}

/// `POST /merchants/reconnect-webhook`
pub(in crate::endpoints::merchants) async fn reconnect_webhook(
    service: Shared,
    call: Call<MerchantCaller>,
) -> Result<Reply, ApiError> {
    let id = named(&call)?;
    change(&service, &RECONNECT_WEBHOOK, &call, WebhookChange::Reconnect(id)).await
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
