//! Orders to deliver events to a webhook again, which the dispatcher works off in the webhook's turns.
//!
//! Nothing is written for the events of an order in advance: they are read from the log in their turn, after what is
//! due and what is new, and the webhook's progress says which of them are done. The order itself is in the webhook's
//! row.

use std::collections::{BTreeSet, VecDeque};

use till_domain::command::{Command, WebhookChange};
use till_domain::ids::WebhookEventId;
use till_domain::records::WebhookEvents;
use till_domain::time::Millis;
use till_domain::webhook::Webhook;
use till_storage::deliveries::Delivery;
use till_storage::rows::ScanDirection;

use super::dispatcher::{Dispatcher, EVENTS_READ_AT_ONCE, PENDING_DELIVERIES_MAX, Turn};
use super::order_in_turn::OrderInTurn;
use crate::background::WorkError;
use crate::merchant::Admission;
use crate::outbox::WebhookEndpoint;

impl Dispatcher {
    /// Reads the next events of the webhook's order, once those that were read before are taken. Returns true when it
    /// has read some and all of them are passed over.
    pub(super) fn read_ordered(&self, turn: &mut Turn, webhook: &Webhook) -> Result<bool, WorkError> {
        turn.order.take_up(webhook.redelivery);
        let Some((from, last)) = turn.order.unread() else { return Ok(false) };
        let rows = self.library.reader(turn.endpoint.merchant_id);
        let found = rows.scan::<WebhookEvents>(from..=last, ScanDirection::Forward, EVENTS_READ_AT_ONCE)?;
        let newest = found.last().filter(|_| found.len() == EVENTS_READ_AT_ONCE).map(|(id, _)| *id);
        let events = found.into_iter().map(|(_, event)| event);
        let mut sent: VecDeque<_> = events.filter(|event| webhook.subscription.includes(event.kind)).collect();
        if !sent.is_empty() {
            let waiting = self.waiting_events(turn.endpoint)?;
            sent.retain(|event| !waiting.contains(&event.id));
        }
        turn.order.note_read(newest.unwrap_or(last), sent);
        Ok(turn.order.next().is_none())
    }

    /// The events that wait for another attempt at an endpoint.
    fn waiting_events(&self, endpoint: WebhookEndpoint) -> Result<BTreeSet<WebhookEventId>, WorkError> {
        let WebhookEndpoint { merchant_id, webhook_id } = endpoint;
        let pending =
            self.deliveries().due_deliveries(merchant_id, webhook_id, Millis(u64::MAX), PENDING_DELIVERIES_MAX)?;
        Ok(pending.iter().map(|delivery| delivery.event_id).collect())
    }

    /// The next delivery of the order. It rests while the merchant is suspended, and goes on when that ends.
    pub(super) fn next_ordered(&self, turn: &mut Turn, webhook: &Webhook) -> Result<Option<Delivery>, WorkError> {
        let Some(event) = turn.order.next() else { return Ok(None) };
        if self.library.is_suspended(turn.endpoint.merchant_id)? {
            return Ok(None);
        }
        let delivery = self.fresh(webhook, (event.id, Some(event)));
        turn.order.begin(&delivery);
        Ok(Some(delivery))
    }

    /// Ends the order once all of it is done, so that another can be given.
    pub(super) async fn end_finished_order(&self, turn: &mut Turn) -> Result<(), WorkError> {
        let Some(order) = turn.order.finished() else { return Ok(()) };
        let WebhookEndpoint { merchant_id, webhook_id } = turn.endpoint;
        let end = WebhookChange::EndRedelivery(webhook_id, order.ordered_after);
        self.registry.carry_out(merchant_id, Command::ChangeWebhook(merchant_id, end), Admission::Always).await?;
        turn.order = OrderInTurn::default();
        Ok(())
    }
}
