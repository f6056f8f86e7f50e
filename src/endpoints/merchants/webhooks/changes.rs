//! `POST /merchants/update-webhook`, `disconnect-webhook`, `reconnect-webhook`

use till_actors::webhooks::AddressPolicy;
use till_domain::command::{Command, UpdateWebhook, WebhookChange};

use super::arguments::{
    DESTINATION_URL, EVENTS_DOCS, SIGNATURE_HEADER, SIGNATURE_HEADER_DOCS, SUBSCRIPTION, WEBHOOK_ARGUMENT,
};
use super::refusals::{TOO_MANY, WEBHOOK_NOT_FOUND};
use crate::endpoints::forms::NAME;
use crate::endpoints::merchants::by_merchant::{self, ByMerchant};
use crate::endpoints::prelude::*;

pub(in crate::endpoints::merchants) const ENDPOINTS: MerchantEndpoints = &[
    MerchantEndpoint(Act::RunWebhooks, &UPDATE_WEBHOOK, &update_webhook),
    MerchantEndpoint(
        Act::RunWebhooks,
        &DISCONNECT_WEBHOOK,
        &ByMerchant(WEBHOOK_ARGUMENT, |merchant_id, id| {
            Command::ChangeWebhook(merchant_id, WebhookChange::Disconnect(id))
        }),
    ),
    MerchantEndpoint(
        Act::RunWebhooks,
        &RECONNECT_WEBHOOK,
        &ByMerchant(WEBHOOK_ARGUMENT, |merchant_id, id| {
            Command::ChangeWebhook(merchant_id, WebhookChange::Reconnect(id))
        }),
    ),
];

const UPDATED: ArgumentSet<UpdateWebhook, AddressPolicy> = arguments!(UpdateWebhook {
    webhook_id: WEBHOOK_ARGUMENT,
    name: NAME.optional("The name, 1 to 255 characters.").such_as("\"new shop\""),
    destination_url: DESTINATION_URL.optional("The https address that events are posted to."),
    subscription: SUBSCRIPTION.optional(EVENTS_DOCS).such_as("[\"*\"]").with_name("events"),
    signature_header: SIGNATURE_HEADER.optional(SIGNATURE_HEADER_DOCS),
});

static UPDATE_WEBHOOK: Declaration = Declaration {
    name: "update-webhook",
    summary: "Changes a webhook; `false` when nothing changed.",
    arguments: UPDATED.declared,
    errors: &[WEBHOOK_NOT_FOUND],
    ..Declaration::command(Package::Merchants, "webhooks")
};

static DISCONNECT_WEBHOOK: Declaration = Declaration {
    name: "disconnect-webhook",
    summary: "Sends a webhook no events from now on; `false` when it is disconnected already.",
    docs: "Deliveries that wait for another attempt end as FAILED.",
    arguments: &[WEBHOOK_ARGUMENT.argument],
    errors: &[WEBHOOK_NOT_FOUND],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
    ..Declaration::command(Package::Merchants, "webhooks")
};

static RECONNECT_WEBHOOK: Declaration = Declaration {
    name: "reconnect-webhook",
    summary: "Sends a webhook events from now on; `false` when it is connected already.",
    docs: "For the events in the meantime, call `redeliver-webhook`.",
    arguments: &[WEBHOOK_ARGUMENT.argument],
    errors: &[WEBHOOK_NOT_FOUND, TOO_MANY],
    ..Declaration::command(Package::Merchants, "webhooks")
};

/// `POST /merchants/update-webhook`
async fn update_webhook(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let update = call.fields().parse_in(&UPDATED, service.webhook_addresses())?;
    let command = Command::ChangeWebhook(call.caller().merchant_id, WebhookChange::Update(update));
    by_merchant::submit(&service, &call, command).await
}
