//! Webhooks: connecting, changing and stopping them.

use super::context::{Context, Decision};
use crate::command::{ConnectWebhook, UpdateWebhook, WebhookChange};
use crate::event::{Answer, Event, VaultWrite};
use crate::ids::{MerchantId, WebhookId};
use crate::records::{Records, Webhooks};
use crate::refusal::{DecisionError, Refusal};
use crate::webhook::{PREVIOUS_SECRET_SECONDS, WEBHOOKS_MAX, Webhook, WebhookStatus};
use std::sync::Arc;

pub(super) fn change(
    records: &impl Records,
    merchant_id: MerchantId,
    change: &WebhookChange,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let saved = |webhook: Webhook| Event::WebhookSaved { merchant_id, webhook };
    match change {
        WebhookChange::Connect(command) => {
            let webhook = connected(records, command, context)?;
            let (id, keep) = (webhook.id, VaultWrite::KeepWebhookSecret(webhook.id));
            Ok((Decision::one(saved(webhook)).with_vault(keep), Answer::Webhook(id)))
        }
        WebhookChange::RotateSecret(id) => {
            let webhook = found(records, *id)?;
            let until = context.wall().plus_seconds(PREVIOUS_SECRET_SECONDS);
            let rotated = Webhook { previous_secret_until: Some(until), ..Webhook::clone(&webhook) };
            let decision = Decision::one(saved(rotated)).with_vault(VaultWrite::ReplaceWebhookSecret(*id));
            Ok((decision, Answer::Webhook(*id)))
        }
        WebhookChange::Update(command) => {
            let before = found(records, command.webhook_id)?;
            Ok(changed(&before, updated(&before, command), saved))
        }
        WebhookChange::Disconnect(id) => {
            let before = found(records, *id)?;
            let after = Webhook { status: WebhookStatus::Disconnected, disabled_at: None, ..Webhook::clone(&before) };
            Ok(changed(&before, after, saved))
        }
        WebhookChange::Reconnect(id) => {
            let before = found(records, *id)?;
            let after = reconnected(records, &before, context)?;
            Ok(changed(&before, after, saved))
        }
        WebhookChange::Disable(id) => {
            let before = found(records, *id)?;
            let after = disabled(&before, context);
            Ok(changed(&before, after, saved))
        }
    }
}

fn found(records: &impl Records, id: WebhookId) -> Result<Arc<Webhook>, DecisionError> {
    Ok(records.shared::<Webhooks>(id)?.ok_or(Refusal::WebhookNotFound)?)
}

fn changed(before: &Webhook, after: Webhook, saved: impl FnOnce(Webhook) -> Event) -> (Decision, Answer) {
    if after == *before {
        return (Decision::nothing(), Answer::Changed(false));
    }
    (Decision::one(saved(after)), Answer::Changed(true))
}

fn check_room(records: &impl Records) -> Result<(), Refusal> {
    let is_full = records.state().connected_webhooks.len() >= WEBHOOKS_MAX;
    if is_full { Err(Refusal::TooMany { kind: "webhooks", limit: WEBHOOKS_MAX }) } else { Ok(()) }
}

fn connected(records: &impl Records, command: &ConnectWebhook, context: &mut Context<'_>) -> Result<Webhook, Refusal> {
    check_room(records)?;
    Ok(Webhook {
        id: context.mint(),
        name: command.name.clone(),
        destination_url: command.destination_url.clone(),
        subscription: command.subscription.clone(),
        api_version: command.api_version.clone(),
        signature_header: command.signature_header.clone(),
        status: WebhookStatus::Connected,
        connected_after: context.mint(),
        created_at: context.now,
        disabled_at: None,
        previous_secret_until: None,
    })
}

fn updated(before: &Webhook, command: &UpdateWebhook) -> Webhook {
    let UpdateWebhook { webhook_id: _, name, destination_url, subscription, signature_header } = command;
    Webhook {
        name: name.clone().unwrap_or_else(|| before.name.clone()),
        destination_url: destination_url.clone().unwrap_or_else(|| before.destination_url.clone()),
        subscription: subscription.clone().unwrap_or_else(|| before.subscription.clone()),
        signature_header: signature_header.clone().unwrap_or_else(|| before.signature_header.clone()),
        ..before.clone()
    }
}

/// It receives the events from now on.
fn reconnected(records: &impl Records, before: &Webhook, context: &mut Context<'_>) -> Result<Webhook, Refusal> {
    if before.status == WebhookStatus::Connected {
        return Ok(before.clone());
    }
    check_room(records)?;
    let status = WebhookStatus::Connected;
    Ok(Webhook { status, disabled_at: None, connected_after: context.mint(), ..before.clone() })
}

/// A webhook that the merchant has stopped meanwhile stays as it is.
fn disabled(before: &Webhook, context: &Context<'_>) -> Webhook {
    if before.status != WebhookStatus::Connected {
        return before.clone();
    }
    Webhook { status: WebhookStatus::Disabled, disabled_at: Some(context.now), ..before.clone() }
}
