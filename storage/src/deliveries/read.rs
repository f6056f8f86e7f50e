//! Reads of one merchant's deliveries at one moment.

use std::ops::ControlFlow;

use till_domain::ids::{DeliveryId, IdPosition, MerchantId, RawId, WebhookId};
use till_domain::time::Millis;

use super::contract::{DeliveriesError, DeliveryFilter, DeliveryPage};
use super::delivery::{Delivery, DeliveryStatus, WebhookProgress};
use super::keys::{self, DeliveryList, DueKey};
use super::shapes;
use super::sorted::SortedView;
use crate::keys::KeyRange;
use crate::rows::{Beside, ScanDirection};
use till_domain::cursor::Cursor;

pub(super) struct DeliveryReader<'a> {
    pub(super) merchant_id: MerchantId,
    pub(super) view: Box<dyn SortedView + 'a>,
}

impl DeliveryReader<'_> {
    pub(super) fn delivery(&self, id: DeliveryId) -> Result<Option<Delivery>, DeliveriesError> {
        let value = self.view.get(&DeliveryList::All.key(self.merchant_id, id))?;
        value.map(|value| decode(id, &value)).transpose()
    }

    pub(super) fn progress(&self, webhook_id: WebhookId) -> Result<Option<WebhookProgress>, DeliveriesError> {
        let value = self.view.get(&keys::progress(self.merchant_id, webhook_id))?;
        value.map(|value| shapes::decode_progress(&value)).transpose()
    }

    /// At most `limit` pending deliveries to a webhook, the earliest first. With an instant, only those that are due at
    /// it.
    pub(super) fn pending(
        &self,
        webhook_id: WebhookId,
        now: Option<Millis>,
        limit: usize,
    ) -> Result<Vec<Delivery>, DeliveriesError> {
        let range = keys::due_range(self.merchant_id, webhook_id, now);
        self.collect(&range, ScanDirection::Forward, limit, |key, _| self.due_delivery(key).map(Some))
    }

    /// The number of pending deliveries to a webhook, counted up to `limit`.
    pub(super) fn pending_count(&self, webhook_id: WebhookId, limit: usize) -> Result<usize, DeliveriesError> {
        let range = keys::due_range(self.merchant_id, webhook_id, None);
        Ok(self.collect(&range, ScanDirection::Forward, limit, |_, _| Ok(Some(())))?.len())
    }

    fn due_delivery(&self, key: &[u8]) -> Result<Delivery, DeliveriesError> {
        let due = due_key(key)?;
        let delivery = self.delivery(due.delivery_id)?.ok_or_else(|| missing(due.delivery_id))?;
        if delivery.due_at() == Some(due.due) && delivery.webhook_id == due.webhook_id {
            Ok(delivery)
        } else {
            Err(damaged(format!("{} is not due when its key says", due.delivery_id)))
        }
    }

    pub(super) fn next_due(&self, webhook_id: WebhookId) -> Result<Option<Millis>, DeliveriesError> {
        let first = first_key(self.view.as_ref(), &keys::due_range(self.merchant_id, webhook_id, None))?;
        first.map(|key| due_key(&key).map(|key| key.due)).transpose()
    }

    /// At most `limit` deliveries that were made before an instant, the oldest first.
    pub(super) fn created_before(&self, instant: Millis, limit: usize) -> Result<Vec<Delivery>, DeliveriesError> {
        let ids = DeliveryList::All.range(self.merchant_id, Some(Cursor::After(first_id_of(instant))));
        let is_old = |delivery: &Delivery| delivery.created_at < instant;
        self.collect(
            &ids,
            ScanDirection::Forward,
            limit,
            |key, value| Ok(Some(self.listed(key, value)?).filter(is_old)),
        )
    }

    pub(super) fn page(
        &self,
        filter: &DeliveryFilter,
        size: usize,
        cursor: Option<Cursor<DeliveryId>>,
    ) -> Result<DeliveryPage, DeliveriesError> {
        // One delivery more than the page has tells if the list continues.
        let mut page = self.deliveries_beyond(filter, cursor, size.saturating_add(1))?;
        let goes_on = page.len() > size;
        page.truncate(size);
        let beside = match cursor {
            None => Beside { newer: false, older: goes_on },
            Some(cursor @ Cursor::After(_)) => {
                let newest = page.first().map_or(cursor.vacancy(), |delivery| delivery.id);
                Beside { newer: self.has_any(filter, Cursor::Before(newest))?, older: goes_on }
            }
            Some(cursor @ Cursor::Before(_)) => {
                page.reverse();
                let oldest = page.last().map_or(cursor.vacancy(), |delivery| delivery.id);
                Beside { newer: goes_on, older: self.has_any(filter, Cursor::After(oldest))? }
            }
        };
        Ok((page, beside))
    }

    fn has_any(&self, filter: &DeliveryFilter, cursor: Cursor<DeliveryId>) -> Result<bool, DeliveriesError> {
        Ok(!self.deliveries_beyond(filter, Some(cursor), 1)?.is_empty())
    }

    /// At most `limit` deliveries of a list on the side of a cursor, the nearest first.
    pub(super) fn deliveries_beyond(
        &self,
        filter: &DeliveryFilter,
        cursor: Option<Cursor<DeliveryId>>,
        limit: usize,
    ) -> Result<Vec<Delivery>, DeliveriesError> {
        let direction = match cursor {
            None | Some(Cursor::After(_)) => ScanDirection::Backward,
            Some(Cursor::Before(_)) => ScanDirection::Forward,
        };
        let mut found = Vec::new();
        for list in lists(filter) {
            let range = list.range(self.merchant_id, cursor);
            let admitted = |key: &[u8], value: &[u8]| {
                Ok(Some(self.listed(key, value)?).filter(|delivery| filter.admits(delivery)))
            };
            found.extend(self.collect(&range, direction, limit, admitted)?);
        }
        found.sort_unstable_by_key(|delivery| delivery.id);
        if direction == ScanDirection::Backward {
            found.reverse();
        }
        found.truncate(limit);
        Ok(found)
    }

    /// The delivery of a key of a list. Only the list of all has values.
    fn listed(&self, key: &[u8], value: &[u8]) -> Result<Delivery, DeliveriesError> {
        let id = keys::listed(key).ok_or_else(|| damaged("a key of a list is too short".to_owned()))?;
        match value {
            [] => self.delivery(id)?.ok_or_else(|| missing(id)),
            value => decode(id, value),
        }
    }

    /// At most `limit` results of `form` for the pairs of a range.
    fn collect<T>(
        &self,
        range: &KeyRange,
        direction: ScanDirection,
        limit: usize,
        form: impl Fn(&[u8], &[u8]) -> Result<Option<T>, DeliveriesError>,
    ) -> Result<Vec<T>, DeliveriesError> {
        let (mut found, mut failed) = (Vec::new(), None);
        if limit == 0 {
            return Ok(found);
        }
        self.view.visit(range, direction, &mut |key, value| {
            match form(key, value) {
                Ok(formed) => found.extend(formed),
                Err(error) => failed = Some(error),
            }
            if failed.is_none() && found.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        failed.map_or(Ok(found), Err)
    }
}

/// The lists in which the deliveries of a filter are found, each delivery in one of them. Deliveries of an event are
/// few, so their other conditions are checked on each.
fn lists(filter: &DeliveryFilter) -> Vec<DeliveryList> {
    match *filter {
        DeliveryFilter { event_id: Some(event_id), .. } => vec![DeliveryList::OfEvent(event_id)],
        DeliveryFilter { webhook_id: Some(webhook_id), status: Some(status), .. } => {
            vec![DeliveryList::OfWebhook(webhook_id, status)]
        }
        DeliveryFilter { webhook_id: Some(webhook_id), .. } => {
            DeliveryStatus::ALL.map(|status| DeliveryList::OfWebhook(webhook_id, status)).to_vec()
        }
        DeliveryFilter { status: Some(status), .. } => vec![DeliveryList::OfStatus(status)],
        DeliveryFilter { .. } => vec![DeliveryList::All],
    }
}

/// The first of a range's keys.
pub(super) fn first_key(view: &dyn SortedView, range: &KeyRange) -> Result<Option<Vec<u8>>, DeliveriesError> {
    let mut first = None;
    view.visit(range, ScanDirection::Forward, &mut |key, _| {
        first = Some(key.to_vec());
        ControlFlow::Break(())
    })?;
    Ok(first)
}

pub(super) fn due_key(key: &[u8]) -> Result<DueKey, DeliveriesError> {
    DueKey::decode(key).ok_or_else(|| damaged("a key of a pending delivery has another length".to_owned()))
}

pub(super) fn decode(id: DeliveryId, value: &[u8]) -> Result<Delivery, DeliveriesError> {
    let delivery = shapes::decode_delivery(value)?;
    if delivery.id == id { Ok(delivery) } else { Err(damaged(format!("{id} has the row of {}", delivery.id))) }
}

/// The first id that can be made at an instant.
fn first_id_of(instant: Millis) -> DeliveryId {
    let position = IdPosition { millis: instant.0, counter: 0 };
    DeliveryId::from_raw(RawId::new(position, 0))
}

fn missing(id: DeliveryId) -> DeliveriesError {
    damaged(format!("{id} is in a list and has no row"))
}

pub(super) fn damaged(reason: String) -> DeliveriesError {
    DeliveriesError::Damaged { reason }
}
