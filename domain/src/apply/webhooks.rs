//! The fold of webhooks and their events into rows and indexes.

use crate::event::Event;
use crate::ids::{MerchantId, WebhookEventId};
use crate::records::{Present, RowsMut, Unreadable, WebhookDirectory, WebhookEvents, WebhookEventsByPayment, Webhooks};
use crate::webhook::{Webhook, WebhookEvent, WebhookStatus};

/// Folds an event of webhooks in; any other changes nothing here.
pub(super) fn apply(event: &Event, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    if let Event::WebhookEventRecorded(event) = event {
        record(event, rows);
    } else if let Event::WebhookSaved { merchant_id, webhook } = event {
        save(*merchant_id, webhook, rows);
    } else if let Event::WebhookEventsSwept { event_ids } = event {
        event_ids.iter().try_for_each(|id| remove(*id, rows))?;
    }
    Ok(())
}

fn record(event: &WebhookEvent, rows: &mut impl RowsMut) {
    rows.put::<WebhookEvents>(event.id, *event);
    if let Some(payment_id) = event.payment_id {
        rows.put::<WebhookEventsByPayment>((payment_id, event.id), Present);
    }
}

fn remove(id: WebhookEventId, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    if let Some(event) = rows.take::<WebhookEvents>(id)? {
        if let Some(payment_id) = event.payment_id {
            rows.remove::<WebhookEventsByPayment>((payment_id, id));
        }
        rows.remove::<WebhookEvents>(id);
    }
    Ok(())
}

fn save(merchant_id: MerchantId, webhook: &Webhook, rows: &mut impl RowsMut) {
    rows.put::<Webhooks>(webhook.id, webhook.clone());
    if webhook.status == WebhookStatus::Connected {
        rows.put::<WebhookDirectory>((merchant_id, webhook.id), Present);
    } else {
        rows.remove::<WebhookDirectory>((merchant_id, webhook.id));
    }
}
