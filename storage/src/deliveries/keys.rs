//! The keys. Integers are big-endian, so that the order of bytes is the order of time.
//!
//! | kind | layout after the kind (1) and the merchant (16) | bytes | value |
//! |---|---|---|---|
//! | 0 | (nothing follows) | 1 | of which place's rows these are a repetition, and how many of its commits they have |
//! | 1 | delivery (16) | 33 | the delivery |
//! | 2 | webhook (16) | 33 | its progress |
//! | 3 | webhook (16), due at, milliseconds (8), delivery (16) | 57 | none: the delivery is pending |
//! | 4 | event (16), delivery (16) | 49 | none |
//! | 5 | status (1), delivery (16) | 34 | none |
//! | 6 | webhook (16), status (1), delivery (16) | 50 | none |
//!
//! A status is 0 pending, 1 successful, 2 failed.

use till_domain::ids::{DeliveryId, MerchantId, WebhookEventId, WebhookId};
use till_domain::time::Millis;

use super::delivery::{Delivery, DeliveryStatus};
use crate::keys::KeyRange;
use till_domain::cursor::Cursor;

const DELIVERY: u8 = 1;
const PROGRESS: u8 = 2;
const DUE: u8 = 3;
const OF_EVENT: u8 = 4;
const OF_STATUS: u8 = 5;
const OF_WEBHOOK: u8 = 6;

const MERCHANT_LEN: usize = 1 + 16;
const DUE_LEN: usize = MERCHANT_LEN + 16 + 8 + 16;

const _: () = assert!(DUE_LEN == 57, "on disk since format 1: a change needs a new kind");

const fn status_byte(status: DeliveryStatus) -> u8 {
    match status {
        DeliveryStatus::Pending => 0,
        DeliveryStatus::Successful => 1,
        DeliveryStatus::Failed => 2,
    }
}

fn key(kind: u8, merchant_id: MerchantId, parts: &[&[u8]]) -> Vec<u8> {
    let mut key = Vec::with_capacity(DUE_LEN);
    key.push(kind);
    key.extend(merchant_id.to_bytes());
    parts.iter().for_each(|part| key.extend_from_slice(part));
    key
}

/// The kinds of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    Delivery,
    Progress,
    /// The key is in a list, and has no value.
    Nothing,
}

/// The kind of a key's value; none when no row has such a key.
pub(super) fn value_kind(key: &[u8]) -> Option<ValueKind> {
    let (kind, rest_len) = match *key.first()? {
        DELIVERY => (ValueKind::Delivery, 16),
        PROGRESS => (ValueKind::Progress, 16),
        DUE => (ValueKind::Nothing, 16 + 8 + 16),
        OF_EVENT => (ValueKind::Nothing, 16 + 16),
        OF_STATUS => (ValueKind::Nothing, 1 + 16),
        OF_WEBHOOK => (ValueKind::Nothing, 16 + 1 + 16),
        _ => return None,
    };
    (key.len() == MERCHANT_LEN + rest_len).then_some(kind)
}

/// Every key, of all merchants. Kind 0 is a note of the database: [`crate::engine::POSITION_KEY`].
pub(super) fn every_key() -> KeyRange {
    (vec![DELIVERY], vec![u8::MAX])
}

/// The key of a webhook's progress.
pub(super) fn progress(merchant_id: MerchantId, webhook_id: WebhookId) -> Vec<u8> {
    key(PROGRESS, merchant_id, &[&webhook_id.to_bytes()])
}

/// Deliveries of one merchant in the order of their ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeliveryList {
    /// All of them, with their values.
    All,
    /// Those of an event.
    OfEvent(WebhookEventId),
    /// Those with a status.
    OfStatus(DeliveryStatus),
    /// Those to a webhook with a status.
    OfWebhook(WebhookId, DeliveryStatus),
}

impl DeliveryList {
    fn prefix(self, merchant_id: MerchantId) -> Vec<u8> {
        match self {
            DeliveryList::All => key(DELIVERY, merchant_id, &[]),
            DeliveryList::OfEvent(event_id) => key(OF_EVENT, merchant_id, &[&event_id.to_bytes()]),
            DeliveryList::OfStatus(status) => key(OF_STATUS, merchant_id, &[&[status_byte(status)]]),
            DeliveryList::OfWebhook(webhook_id, status) => {
                key(OF_WEBHOOK, merchant_id, &[&webhook_id.to_bytes(), &[status_byte(status)]])
            }
        }
    }

    /// The key of a delivery in the list.
    pub(super) fn key(self, merchant_id: MerchantId, delivery_id: DeliveryId) -> Vec<u8> {
        let mut key = self.prefix(merchant_id);
        key.extend(delivery_id.to_bytes());
        key
    }

    /// The keys on the side of a cursor that the cursor asks for; all keys without a cursor.
    pub(super) fn range(self, merchant_id: MerchantId, cursor: Option<Cursor<DeliveryId>>) -> KeyRange {
        let [first, last] = [u8::MIN, u8::MAX].map(|byte| self.key(merchant_id, DeliveryId::from_bytes([byte; 16])));
        match cursor {
            None => (first, key_above(last)),
            Some(Cursor::After(id)) => (first, self.key(merchant_id, id)),
            Some(Cursor::Before(id)) => (key_above(self.key(merchant_id, id)), key_above(last)),
        }
    }
}

/// The smallest greater key.
fn key_above(mut key: Vec<u8>) -> Vec<u8> {
    key.push(0);
    key
}

/// The delivery that a key of a list ends in.
pub(super) fn listed(key: &[u8]) -> Option<DeliveryId> {
    key.last_chunk().copied().map(DeliveryId::from_bytes)
}

/// Keys of the pending deliveries to a webhook that are due at an instant; of all without one.
pub(super) fn due_range(merchant_id: MerchantId, webhook_id: WebhookId, now: Option<Millis>) -> KeyRange {
    let webhook = webhook_id.to_bytes();
    let last = now.unwrap_or(Millis(u64::MAX)).0.to_be_bytes();
    let upper = key(DUE, merchant_id, &[&webhook, &last, &[u8::MAX; 16]]);
    (key(DUE, merchant_id, &[&webhook]), key_above(upper))
}

/// Keys of the pending deliveries of all merchants, after those of one webhook.
pub(super) fn all_due_range(after: Option<(MerchantId, WebhookId)>) -> KeyRange {
    let lower = after.map_or_else(|| vec![DUE], |(merchant_id, webhook_id)| due_range(merchant_id, webhook_id, None).1);
    (lower, vec![DUE + 1])
}

/// Keys of the deliveries of all merchants after one.
pub(super) fn deliveries_range(after: Option<MerchantId>) -> KeyRange {
    let lower = after.map_or_else(|| vec![DELIVERY], |merchant_id| DeliveryList::All.range(merchant_id, None).1);
    (lower, vec![DELIVERY + 1])
}

/// The merchant of a key.
pub(super) fn merchant(key: &[u8]) -> Option<MerchantId> {
    key.get(1..)?.first_chunk().copied().map(MerchantId::from_bytes)
}

/// The parts of a key of a pending delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DueKey {
    pub(super) merchant_id: MerchantId,
    pub(super) webhook_id: WebhookId,
    pub(super) due: Millis,
    pub(super) delivery_id: DeliveryId,
}

impl DueKey {
    fn encode(self) -> Vec<u8> {
        let (webhook, delivery) = (self.webhook_id.to_bytes(), self.delivery_id.to_bytes());
        key(DUE, self.merchant_id, &[&webhook, &self.due.0.to_be_bytes(), &delivery])
    }

    pub(super) fn decode(key: &[u8]) -> Option<DueKey> {
        let rest = key.get(MERCHANT_LEN..)?;
        let (webhook, rest) = rest.split_first_chunk()?;
        let (due, delivery) = rest.split_first_chunk()?;
        Some(DueKey {
            merchant_id: merchant(key)?,
            webhook_id: WebhookId::from_bytes(*webhook),
            due: Millis(u64::from_be_bytes(*due)),
            delivery_id: DeliveryId::from_bytes(delivery.try_into().ok()?),
        })
    }
}

/// Every key of a delivery, first that of its row.
pub(super) fn of_delivery(merchant_id: MerchantId, delivery: &Delivery) -> Vec<Vec<u8>> {
    let Delivery { id, webhook_id, event_id, status, .. } = *delivery;
    let lists = [
        DeliveryList::All,
        DeliveryList::OfEvent(event_id),
        DeliveryList::OfStatus(status),
        DeliveryList::OfWebhook(webhook_id, status),
    ];
    let due = delivery.due_at().map(|due| DueKey { merchant_id, webhook_id, due, delivery_id: id }.encode());
    lists.into_iter().map(|list| list.key(merchant_id, id)).chain(due).collect()
}
