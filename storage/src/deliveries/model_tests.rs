//! Both stores compared with a list of deliveries, by random writes and every query.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use till_domain::ids::{DeliveryId, MerchantId, WebhookEventId, WebhookId};
use till_domain::time::Millis;

use super::samples::{MERCHANT, OTHER_MERCHANT, id, pending};
use super::*;
use crate::rows::Beside;
use till_domain::cursor::Cursor;

/// Deliveries are made at the instants from 1 to this, in milliseconds.
const LAST_MADE: u64 = 30;

const MERCHANTS: [MerchantId; 2] = [MERCHANT, OTHER_MERCHANT];
const WEBHOOKS: [WebhookId; 3] =
    [WebhookId::from_bytes([1; 16]), WebhookId::from_bytes([2; 16]), WebhookId::from_bytes([0xff; 16])];
const EVENTS: [WebhookEventId; 3] =
    [WebhookEventId::from_bytes([1; 16]), WebhookEventId::from_bytes([2; 16]), WebhookEventId::from_bytes([0xff; 16])];

#[derive(Debug, Clone)]
enum StoreCall {
    Write(MerchantId, Vec<Delivery>),
    EndPending(MerchantId, WebhookId),
    Remove(MerchantId, Millis, usize),
}

/// The deliveries of one merchant, by their ids.
type OfMerchant = BTreeMap<DeliveryId, Delivery>;

#[derive(Default)]
struct Model(BTreeMap<MerchantId, OfMerchant>);

impl Model {
    fn of(&self, merchant: MerchantId) -> Vec<&Delivery> {
        self.0.get(&merchant).into_iter().flat_map(|of_merchant| of_merchant.values().rev()).collect()
    }

    fn take(&mut self, step: &StoreCall) -> usize {
        match step {
            StoreCall::Write(merchant, deliveries) => {
                let of_merchant = self.0.entry(*merchant).or_default();
                of_merchant.extend(deliveries.iter().map(|delivery| (delivery.id, delivery.clone())));
                0
            }
            StoreCall::EndPending(merchant, webhook) => {
                let all = self.0.entry(*merchant).or_default().values_mut();
                let ended = all.filter(|one| one.webhook_id == *webhook && one.status == DeliveryStatus::Pending);
                let end = |one: &mut Delivery| (one.status, one.next_attempt_at) = (DeliveryStatus::Failed, None);
                ended.map(end).count()
            }
            StoreCall::Remove(merchant, instant, limit) => {
                let of_merchant = self.0.entry(*merchant).or_default();
                let is_old = |one: &&Delivery| one.created_at < *instant;
                let old: Vec<_> = of_merchant.values().filter(is_old).map(|one| one.id).take(*limit).collect();
                old.iter().for_each(|id| drop(of_merchant.remove(id)));
                old.len()
            }
        }
    }

    fn due_deliveries(&self, merchant: MerchantId, webhook: WebhookId) -> Vec<&Delivery> {
        let is_pending = |one: &&Delivery| one.webhook_id == webhook && one.status == DeliveryStatus::Pending;
        let mut due: Vec<_> = self.of(merchant).into_iter().filter(is_pending).collect();
        due.sort_by_key(|one| (one.next_attempt_at.map_or(0, |at| at.0), one.id));
        due
    }
}

fn delivery() -> impl Strategy<Value = Delivery> {
    let status = proptest::sample::select(&DeliveryStatus::ALL[..]);
    let due = proptest::option::of(0..40_u64);
    let (webhook, event) = (proptest::sample::select(&WEBHOOKS[..]), proptest::sample::select(&EVENTS[..]));
    (1..=LAST_MADE, webhook, event, status, due).prop_map(|(made, webhook_id, event_id, status, due)| Delivery {
        webhook_id,
        event_id,
        status,
        next_attempt_at: due.map(Millis),
        ..pending(made)
    })
}

fn step() -> impl Strategy<Value = StoreCall> {
    let merchant = || proptest::sample::select(&MERCHANTS[..]);
    let webhook = proptest::sample::select(&WEBHOOKS[..]);
    prop_oneof![
        8 => (merchant(), vec(delivery(), 0..8)).prop_map(|(merchant, written)| StoreCall::Write(merchant, written)),
        1 => (merchant(), webhook).prop_map(|(merchant, webhook)| StoreCall::EndPending(merchant, webhook)),
        1 => (merchant(), 0..LAST_MADE, 1..9_usize)
            .prop_map(|(merchant, instant, limit)| StoreCall::Remove(merchant, Millis(instant), limit)),
    ]
}

fn take(store: &dyn Deliveries, step: &StoreCall) -> usize {
    let taken = match step {
        StoreCall::Write(merchant, deliveries) => {
            let batch = DeliveryBatch { deliveries: deliveries.clone(), progress: None };
            store.write(*merchant, &batch).map(|()| 0)
        }
        StoreCall::EndPending(merchant, webhook) => store.end_pending(*merchant, *webhook),
        StoreCall::Remove(merchant, instant, limit) => store.remove_created_before(*merchant, *instant, *limit),
    };
    taken.expect("the store works")
}

/// Every combination of the fields of a filter.
fn filters() -> Vec<DeliveryFilter> {
    let some = |webhook_id, event_id, status| DeliveryFilter { webhook_id, event_id, status };
    let webhooks = || [None].into_iter().chain(WEBHOOKS.map(Some));
    let events = || [None].into_iter().chain(EVENTS.map(Some));
    let statuses = || [None].into_iter().chain(DeliveryStatus::ALL.map(Some));
    let of_webhook =
        move |webhook| events().flat_map(move |event| statuses().map(move |one| some(webhook, event, one)));
    webhooks().flat_map(of_webhook).collect()
}

fn check_pages(store: &dyn Deliveries, model: &Model, merchant: MerchantId, size: usize, at: DeliveryId) {
    for filter in filters() {
        let all: Vec<_> = model.of(merchant).into_iter().filter(|one| filter.admits(one)).cloned().collect();
        let newer: Vec<_> = all.iter().filter(|one| one.id > at).cloned().collect();
        let older: Vec<_> = all.iter().filter(|one| one.id < at).cloned().collect();
        let head = |list: &[Delivery]| list.iter().take(size).cloned().collect::<Vec<_>>();
        let tail = |list: &[Delivery]| list.iter().skip(list.len().saturating_sub(size)).cloned().collect::<Vec<_>>();
        let is_at = all.len() > newer.len() + older.len();
        let expected = [
            (None, head(&all), Beside { newer: false, older: all.len() > size }),
            (
                Some(Cursor::After(at)),
                head(&older),
                Beside { newer: is_at || !newer.is_empty(), older: older.len() > size },
            ),
            (
                Some(Cursor::Before(at)),
                tail(&newer),
                Beside { newer: newer.len() > size, older: is_at || !older.is_empty() },
            ),
        ];
        for (cursor, page, beside) in expected {
            assert_eq!(store.page(merchant, &filter, size, cursor), Ok((page, beside)), "{filter:?} {cursor:?}");
        }
    }
}

fn check_the_rest(store: &dyn Deliveries, model: &Model, merchant: MerchantId, now: Millis, limit: usize) {
    for webhook in WEBHOOKS {
        let pending = model.due_deliveries(merchant, webhook);
        let when = |one: &&Delivery| one.next_attempt_at.unwrap_or_default();
        assert_eq!(store.next_due(merchant, webhook), Ok(pending.first().map(when)));
        let due: Vec<_> = pending.into_iter().filter(|one| when(one) <= now).take(limit).cloned().collect();
        assert_eq!(store.due_deliveries(merchant, webhook, now, limit), Ok(due));
    }
    for event in EVENTS {
        let of_event: Vec<_> = model.of(merchant).into_iter().filter(|one| one.event_id == event).cloned().collect();
        assert_eq!(store.of_event(merchant, event), Ok(of_event));
    }
    for made in 0..=LAST_MADE {
        let found = store.delivery(merchant, id(made, 0xdd)).expect("readable");
        assert_eq!(found.as_ref(), model.of(merchant).into_iter().find(|one| one.id == id(made, 0xdd)));
    }
}

fn check_all_merchants(store: &dyn Deliveries, model: &Model) {
    let with_any = |merchant: &MerchantId| !model.of(*merchant).is_empty();
    let next = |after: Option<MerchantId>| store.next_merchant(after).expect("readable");
    let merchants: Vec<_> = std::iter::successors(next(None), |after| next(Some(*after))).collect();
    assert_eq!(merchants, MERCHANTS.into_iter().filter(with_any).collect::<Vec<_>>());
    let of_merchant = |merchant| WEBHOOKS.into_iter().map(move |webhook| (merchant, webhook));
    let waits = |(merchant, webhook): &(MerchantId, WebhookId)| !model.due_deliveries(*merchant, *webhook).is_empty();
    let pending: BTreeSet<_> = MERCHANTS.into_iter().flat_map(of_merchant).filter(waits).collect();
    assert_eq!(store.pending_webhooks(), Ok(pending.into_iter().collect()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_answer_is_that_of_a_plain_list(
        steps in vec(step(), 1..25), at in 0..=LAST_MADE, size in 1..6_usize, now in 0..40_u64,
    ) {
        let directory = tempfile::tempdir().expect("a directory");
        let on_disk = RocksDeliveries::open(directory.path(), 0, Duration::from_secs(60)).expect("opens");
        let stores: [&dyn Deliveries; 2] = [&MemoryDeliveries::new(), &on_disk];
        let mut model = Model::default();
        for step in &steps {
            let expected = model.take(step);
            for store in stores {
                prop_assert_eq!(take(store, step), expected);
            }
        }
        for store in stores {
            for merchant in MERCHANTS {
                check_pages(store, &model, merchant, size, id(at, 0xdd));
                check_the_rest(store, &model, merchant, Millis(now), size);
            }
            check_all_merchants(store, &model);
        }
    }
}
