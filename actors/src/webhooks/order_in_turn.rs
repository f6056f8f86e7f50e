//! The state of an order to deliver events to a webhook again during one turn of the webhook.

use std::collections::{BTreeMap, VecDeque};

use till_domain::ids::{DeliveryId, Id, WebhookEventId};
use till_domain::webhook::{Redelivery, WebhookEvent};
use till_storage::deliveries::{Delivery, RedeliveryProgress};

/// The order of a webhook during one turn.
#[derive(Debug, Default)]
pub(super) struct OrderInTurn {
    order: Option<Redelivery>,
    /// Its events up to this one were read; none before the first.
    read_up_to: Option<WebhookEventId>,
    /// Events that were read and wait for their attempt.
    read: VecDeque<WebhookEvent>,
    /// The deliveries whose attempts are under way: they and their events are in the order of time.
    under_way: BTreeMap<DeliveryId, Delivery>,
}

impl OrderInTurn {
    /// An order, which is continued if this is its progress.
    pub(super) fn of(order: Option<Redelivery>, progress: Option<RedeliveryProgress>) -> OrderInTurn {
        let progress = progress.filter(|kept| order.is_some_and(|order| order.ordered_after == kept.ordered_after));
        OrderInTurn { order, read_up_to: progress.and_then(|kept| kept.handled_up_to), ..OrderInTurn::default() }
    }

    /// Takes up the order that the webhook has now, unless it is the same.
    pub(super) fn take_up(&mut self, order: Option<Redelivery>) {
        if self.order != order {
            *self = OrderInTurn::of(order, None);
        }
    }

    /// The first and the last of the events that are to be read next; none while events wait that were read.
    pub(super) fn unread(&self) -> Option<(WebhookEventId, WebhookEventId)> {
        let order = self.order.filter(|_| self.read.is_empty())?;
        let from = match self.read_up_to {
            Some(id) => WebhookEventId::from_raw(id.to_raw().successor()?),
            None => order.first,
        };
        (from <= order.last).then_some((from, order.last))
    }

    /// Notes that the events up to this one were read, and that these of them are sent.
    pub(super) fn note_read(&mut self, read_up_to: WebhookEventId, sent: VecDeque<WebhookEvent>) {
        self.read_up_to = Some(read_up_to);
        self.read = sent;
    }

    /// The next event.
    pub(super) fn next(&self) -> Option<&WebhookEvent> {
        self.read.front()
    }

    /// Notes that the attempt for the next event is under way.
    pub(super) fn begin(&mut self, delivery: &Delivery) {
        if self.read.pop_front().is_some() {
            self.under_way.insert(delivery.id, delivery.clone());
        }
    }

    /// The deliveries whose attempts are under way.
    pub(super) fn into_under_way(self) -> impl Iterator<Item = Delivery> {
        self.under_way.into_values()
    }

    /// Notes that an attempt has ended. Returns true when it was one of the order's.
    pub(super) fn end(&mut self, delivery_id: DeliveryId) -> bool {
        self.under_way.remove(&delivery_id).is_some()
    }

    /// The number of attempts that are under way.
    pub(super) fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// The progress of the order, if there is one.
    pub(super) fn progress(&self) -> Option<RedeliveryProgress> {
        let waiting = self.read.front().map(|event| event.id);
        let first_open = self.under_way.values().map(|delivery| delivery.event_id).chain(waiting).min();
        let handled_up_to = match first_open {
            Some(id) => id.to_raw().predecessor().map(WebhookEventId::from_raw),
            None => self.read_up_to,
        };
        self.order.map(|order| RedeliveryProgress { ordered_after: order.ordered_after, handled_up_to })
    }

    /// The order, when all of it is done.
    pub(super) fn finished(&self) -> Option<Redelivery> {
        self.order.filter(|_| self.read.is_empty() && self.under_way.is_empty() && self.unread().is_none())
    }
}
