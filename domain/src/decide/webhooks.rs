//! Webhooks: connecting, changing and stopping them.

use super::context::{Context, Decision};
use crate::command::{ConnectWebhook, RedeliverWebhook, RedeliveredEvents, RotateSecret, UpdateWebhook, WebhookChange};
use crate::event::{Answer, Event, VaultWrite};
use crate::ids::{MerchantId, WebhookEventId, WebhookId};
use crate::records::{Records, Webhooks};
use crate::refusal::{DecisionError, Refusal};
use crate::time::Millis;
use crate::webhook::{
    PREVIOUS_SECRET_SECONDS, PREVIOUS_SECRETS_MAX, PreviousSecret, Redelivery, SecretSlot, WEBHOOKS_MAX, Webhook,
    WebhookEvent, WebhookStatus,
};
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
            let (id, keep) = (webhook.id, VaultWrite::KeepWebhookSecret(webhook.id, webhook.secret_slot));
            Ok((Decision::one(saved(webhook)).with_vault(keep), Answer::Webhook(id)))
        }
        WebhookChange::RotateSecret(command) => {
            let before = find_webhook(records, command.webhook_id)?;
            let after = rotated(&before, *command, context.wall())?;
            let vault = vault_of_rotation(&before, &after);
            Ok((Decision { vault, ..Decision::one(saved(after)) }, Answer::Webhook(command.webhook_id)))
        }
        WebhookChange::Update(command) => {
            let before = find_webhook(records, command.webhook_id)?;
            Ok(changed(&before, updated(&before, command), saved))
        }
        WebhookChange::Disconnect(id) => {
            let before = find_webhook(records, *id)?;
            let after = Webhook {
                status: WebhookStatus::Disconnected,
                disabled_at: None,
                redelivery: None,
                ..Webhook::clone(&before)
            };
            Ok(changed(&before, after, saved))
        }
        WebhookChange::Reconnect(id) => {
            let before = find_webhook(records, *id)?;
            let after = reconnected(records, &before, context)?;
            Ok(changed(&before, after, saved))
        }
        WebhookChange::Disable(id) => {
            let before = find_webhook(records, *id)?;
            let after = disabled(&before, context);
            Ok(changed(&before, after, saved))
        }
        WebhookChange::Redeliver(command) => {
            let before = find_webhook(records, command.webhook_id)?;
            let Some((first, last)) = ordered(&before, command)? else {
                return Ok((Decision::nothing(), Answer::Redelivery { events: 0 }));
            };
            let redelivery = Redelivery { ordered_after: context.mint(), first: first.id, last: last.id };
            let after = Webhook { redelivery: Some(redelivery), ..Webhook::clone(&before) };
            let events = last.sequence.saturating_sub(first.sequence).saturating_add(1);
            Ok((Decision::one(saved(after)), Answer::Redelivery { events }))
        }
        WebhookChange::EndRedelivery(id, ordered_after) => {
            let before = find_webhook(records, *id)?;
            let after = redelivered(&before, *ordered_after);
            Ok(changed(&before, after, saved))
        }
        WebhookChange::JudgeTest(id) => {
            find_webhook(records, *id)?;
            Ok((Decision::nothing(), Answer::Changed(false)))
        }
        WebhookChange::RecordTest(result) => Ok((Decision::nothing(), Answer::WebhookTested(*result))),
    }
}

/// The webhook with another slot for its newest secret.
fn rotated(before: &Webhook, command: RotateSecret, now: Millis) -> Result<Webhook, Refusal> {
    let replaced = PreviousSecret { slot: before.secret_slot, until: now.plus_seconds(PREVIOUS_SECRET_SECONDS) };
    let all = before.previous_secrets.iter().copied().chain([replaced]);
    let sign = |secret: &PreviousSecret| now < secret.until && !command.ends_previous;
    let previous_secrets: Vec<PreviousSecret> = all.filter(sign).collect();
    let is_used = |slot| slot == before.secret_slot || previous_secrets.iter().any(|secret| secret.slot == slot);
    let free = SecretSlot::ALL.into_iter().find(|slot| !is_used(*slot));
    let secret_slot = free.ok_or(Refusal::TooManySecrets { limit: PREVIOUS_SECRETS_MAX })?;
    Ok(Webhook { secret_slot, previous_secrets, ..before.clone() })
}

/// Keeps the new secret, and forgets those that sign no longer.
fn vault_of_rotation(before: &Webhook, after: &Webhook) -> Vec<VaultWrite> {
    let slots = |webhook: &Webhook| -> Vec<SecretSlot> {
        let previous = webhook.previous_secrets.iter().map(|secret| secret.slot);
        previous.chain([webhook.secret_slot]).collect()
    };
    let kept = slots(after);
    let ended = slots(before).into_iter().filter(|slot| !kept.contains(slot));
    let forget = ended.map(|slot| VaultWrite::ForgetWebhookSecret(after.id, slot));
    [VaultWrite::KeepWebhookSecret(after.id, after.secret_slot)].into_iter().chain(forget).collect()
}

/// The first and the last event of an order; none when the webhook is sent none of them.
fn ordered(webhook: &Webhook, command: &RedeliverWebhook) -> Result<Option<(WebhookEvent, WebhookEvent)>, Refusal> {
    let events = match command.events {
        RedeliveredEvents::One(event) => {
            let event = event.ok_or(Refusal::WebhookEventNotFound)?;
            webhook.subscription.includes(event.kind).then_some((event, event))
        }
        RedeliveredEvents::Range(events) => events,
    };
    if webhook.status != WebhookStatus::Connected {
        return Err(Refusal::WebhookNotConnected { status: webhook.status });
    }
    if webhook.redelivery.is_some() { Err(Refusal::RedeliveryUnderWay) } else { Ok(events) }
}

/// A later order stays.
fn redelivered(before: &Webhook, ordered_after: WebhookEventId) -> Webhook {
    let redelivery = before.redelivery.filter(|order| order.ordered_after != ordered_after);
    Webhook { redelivery, ..before.clone() }
}

fn find_webhook(records: &impl Records, id: WebhookId) -> Result<Arc<Webhook>, DecisionError> {
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
        secret_slot: SecretSlot::First,
        previous_secrets: Vec::new(),
        redelivery: None,
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
    let status = WebhookStatus::Disabled;
    Webhook { status, disabled_at: Some(context.now), redelivery: None, ..before.clone() }
}
