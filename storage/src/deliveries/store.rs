//! Deliveries over sorted rows: the same on disk and in memory.

use std::collections::BTreeMap;

use parking_lot::{Mutex, MutexGuard};
use till_domain::ids::{DeliveryId, MerchantId, WebhookEventId, WebhookId};
use till_domain::time::Millis;

use super::contract::{Deliveries, DeliveriesError, DeliveryBatch, DeliveryFilter, DeliveryPage};
use super::delivery::{Delivery, DeliveryStatus, WebhookProgress};
use super::keys::ValueKind;
use super::read::{DeliveryReader, damaged, decode, due_key, first_key};
use super::sorted::{Changes, SortedRows};
use super::{keys, shapes};
use crate::rows::RowPair;
use till_domain::cursor::Cursor;

/// The number of deliveries that are ended in one write.
const ENDED_AT_ONCE: usize = 1_000;

/// Deliveries in sorted rows.
#[derive(Debug)]
pub struct DeliveryStore<R> {
    rows: R,
    /// Held from reading the previous state of a delivery until the new state is written, and while writes are
    /// prevented.
    writing: Mutex<()>,
}

impl<R> DeliveryStore<R> {
    pub(super) const fn of(rows: R) -> DeliveryStore<R> {
        DeliveryStore { rows, writing: Mutex::new(()) }
    }

    pub(super) const fn rows(&self) -> &R {
        &self.rows
    }

    /// Prevents all other threads from writing.
    pub(super) fn lock(&self) -> MutexGuard<'_, ()> {
        self.writing.lock()
    }
}

#[expect(private_bounds, reason = "what deliveries are kept in is known to this module alone")]
impl<R: SortedRows> DeliveryStore<R> {
    fn reader(&self, merchant_id: MerchantId) -> DeliveryReader<'_> {
        DeliveryReader { merchant_id, view: self.rows.view() }
    }

    /// The changes that replace a delivery by its new state.
    fn replace(&self, merchant_id: MerchantId, now: &Delivery, changes: &mut Changes) -> Result<(), DeliveriesError> {
        let before = self.reader(merchant_id).delivery(now.id)?;
        changes.removed.extend(before.iter().flat_map(|before| keys::of_delivery(merchant_id, before)));
        let mut value = shapes::encode_delivery(now)?;
        // The first key is that of the row, the others have no value.
        let keys = keys::of_delivery(merchant_id, now).into_iter();
        changes.put.extend(keys.map(|key| (key, std::mem::take(&mut value))));
        Ok(())
    }

    /// Adds rows with values to a store that does not have them, with the lists that they are in.
    pub(super) fn add_with_lists(&self, rows: &[RowPair]) -> Result<(), DeliveriesError> {
        let _only_writer = self.lock();
        let mut changes = Changes::default();
        for (key, value) in rows {
            changes.put.push((key.clone(), value.clone()));
            if keys::value_kind(key) == Some(ValueKind::Delivery)
                && let (Some(merchant_id), Some(id)) = (keys::merchant(key), keys::listed(key))
            {
                let lists = keys::of_delivery(merchant_id, &decode(id, value)?);
                // The first key is that of the row.
                changes.put.extend(lists.into_iter().skip(1).map(|key| (key, Vec::new())));
            }
        }
        self.rows.write(changes)
    }

    /// Ends some pending deliveries, and returns their number.
    fn end_some(&self, merchant_id: MerchantId, webhook_id: WebhookId) -> Result<usize, DeliveriesError> {
        let _only_writer = self.lock();
        let pending = self.reader(merchant_id).pending(webhook_id, None, ENDED_AT_ONCE)?;
        let mut changes = Changes::default();
        for delivery in &pending {
            let ended = Delivery { status: DeliveryStatus::Failed, next_attempt_at: None, ..delivery.clone() };
            self.replace(merchant_id, &ended, &mut changes)?;
        }
        self.rows.write(changes)?;
        Ok(pending.len())
    }
}

impl<R: SortedRows> Deliveries for DeliveryStore<R> {
    fn write(&self, merchant_id: MerchantId, batch: &DeliveryBatch) -> Result<(), DeliveriesError> {
        let latest: BTreeMap<DeliveryId, &Delivery> =
            batch.deliveries.iter().map(|delivery| (delivery.id, delivery)).collect();
        let _only_writer = self.lock();
        let mut changes = Changes::default();
        for delivery in latest.into_values() {
            self.replace(merchant_id, delivery, &mut changes)?;
        }
        if let Some((webhook_id, progress)) = &batch.progress {
            changes.put.push((keys::progress(merchant_id, *webhook_id), shapes::encode_progress(progress)?));
        }
        self.rows.write(changes)
    }

    fn check_room(&self) -> Result<(), DeliveriesError> {
        self.rows.check_room()
    }

    fn progress(
        &self,
        merchant_id: MerchantId,
        webhook_id: WebhookId,
    ) -> Result<Option<WebhookProgress>, DeliveriesError> {
        self.reader(merchant_id).progress(webhook_id)
    }

    fn due_deliveries(
        &self,
        merchant_id: MerchantId,
        webhook_id: WebhookId,
        now: Millis,
        limit: usize,
    ) -> Result<Vec<Delivery>, DeliveriesError> {
        self.reader(merchant_id).pending(webhook_id, Some(now), limit)
    }

    fn pending(&self, merchant_id: MerchantId, webhook_id: WebhookId, limit: usize) -> Result<usize, DeliveriesError> {
        self.reader(merchant_id).pending_count(webhook_id, limit)
    }

    fn next_due(&self, merchant_id: MerchantId, webhook_id: WebhookId) -> Result<Option<Millis>, DeliveriesError> {
        self.reader(merchant_id).next_due(webhook_id)
    }

    fn delivery(&self, merchant_id: MerchantId, delivery_id: DeliveryId) -> Result<Option<Delivery>, DeliveriesError> {
        self.reader(merchant_id).delivery(delivery_id)
    }

    fn of_event(&self, merchant_id: MerchantId, event_id: WebhookEventId) -> Result<Vec<Delivery>, DeliveriesError> {
        let filter = DeliveryFilter { event_id: Some(event_id), ..DeliveryFilter::default() };
        self.reader(merchant_id).deliveries_beyond(&filter, None, usize::MAX)
    }

    fn page(
        &self,
        merchant_id: MerchantId,
        filter: &DeliveryFilter,
        size: usize,
        cursor: Option<Cursor<DeliveryId>>,
    ) -> Result<DeliveryPage, DeliveriesError> {
        self.reader(merchant_id).page(filter, size, cursor)
    }

    fn end_pending(&self, merchant_id: MerchantId, webhook_id: WebhookId) -> Result<usize, DeliveriesError> {
        let mut ended = 0;
        loop {
            match self.end_some(merchant_id, webhook_id)? {
                0 => return Ok(ended),
                some => ended += some,
            }
        }
    }

    fn remove_created_before(
        &self,
        merchant_id: MerchantId,
        instant: Millis,
        limit: usize,
    ) -> Result<usize, DeliveriesError> {
        let _only_writer = self.lock();
        let old = self.reader(merchant_id).created_before(instant, limit)?;
        let removed = old.iter().flat_map(|delivery| keys::of_delivery(merchant_id, delivery)).collect();
        self.rows.write(Changes { removed, put: Vec::new() })?;
        Ok(old.len())
    }

    fn next_merchant(&self, after: Option<MerchantId>) -> Result<Option<MerchantId>, DeliveriesError> {
        let first = first_key(self.rows.view().as_ref(), &keys::deliveries_range(after))?;
        let merchant = |key: Vec<u8>| keys::merchant(&key).ok_or_else(|| damaged("a key names no merchant".to_owned()));
        first.map(merchant).transpose()
    }

    fn pending_webhooks(&self) -> Result<Vec<(MerchantId, WebhookId)>, DeliveriesError> {
        let view = self.rows.view();
        let mut found = Vec::new();
        while let Some(key) = first_key(view.as_ref(), &keys::all_due_range(found.last().copied()))? {
            let key = due_key(&key)?;
            found.push((key.merchant_id, key.webhook_id));
        }
        Ok(found)
    }
}
