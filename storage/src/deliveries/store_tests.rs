//! The promises of a store of deliveries, tested with both stores.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use till_domain::ids::WebhookEventId;
use till_domain::time::Millis;

use super::samples::{
    EVENT, MERCHANT, OTHER_MERCHANT, OTHER_WEBHOOK, WEBHOOK, answered_delivery, id, pending, progress,
};
use super::sorted::{Changes, SortedRows};
use super::store::DeliveryStore;
use super::*;
use crate::rows::{Beside, ScanDirection};
use till_domain::cursor::Cursor;

fn open(directory: &Path) -> RocksDeliveries {
    RocksDeliveries::open(directory, 0, Duration::from_secs(60)).unwrap_or_else(|error| panic!("{error}"))
}

fn on_both(test: impl Fn(&dyn Deliveries)) {
    test(&MemoryDeliveries::new());
    let directory = tempfile::tempdir().expect("a directory");
    test(&open(directory.path()));
}

fn put(store: &dyn Deliveries, deliveries: impl IntoIterator<Item = Delivery>) {
    let batch = DeliveryBatch { deliveries: deliveries.into_iter().collect(), progress: None };
    store.write(MERCHANT, &batch).expect("it is written");
}

fn due_ids(store: &dyn Deliveries, now: u64, limit: usize) -> Vec<u64> {
    let due = store.due_deliveries(MERCHANT, WEBHOOK, Millis(now), limit).expect("readable");
    due.iter().map(|delivery| delivery.created_at.0).collect()
}

/// A delivery that was made at one time and is due at another.
fn due_at(made: u64, due: u64) -> Delivery {
    Delivery { next_attempt_at: Some(Millis(due)), ..pending(made) }
}

/// All rows, of all merchants.
fn all_rows<R: SortedRows>(store: &DeliveryStore<R>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut found = Vec::new();
    let everything = (vec![0], vec![u8::MAX]);
    let visited = store.rows().view().visit(&everything, ScanDirection::Forward, &mut |key, value| {
        found.push((key.to_vec(), value.to_vec()));
        ControlFlow::Continue(())
    });
    visited.expect("readable");
    found
}

#[test]
fn a_batch_is_read_back_by_its_merchant_and_no_other() {
    on_both(|store| {
        let [(_, first), (_, failing), _] = progress();
        let batch = DeliveryBatch { deliveries: vec![pending(5)], progress: Some((WEBHOOK, first)) };
        store.write(MERCHANT, &batch).expect("it is written");
        assert_eq!(store.delivery(MERCHANT, pending(5).id), Ok(Some(pending(5))));
        assert_eq!(store.delivery(OTHER_MERCHANT, pending(5).id), Ok(None));
        assert_eq!(store.progress(MERCHANT, WEBHOOK), Ok(Some(first)));
        assert_eq!(store.progress(MERCHANT, OTHER_WEBHOOK), Ok(None));
        assert_eq!(store.progress(OTHER_MERCHANT, WEBHOOK), Ok(None));
        let batch = DeliveryBatch { deliveries: Vec::new(), progress: Some((WEBHOOK, failing)) };
        store.write(MERCHANT, &batch).expect("it is written");
        assert_eq!(store.progress(MERCHANT, WEBHOOK), Ok(Some(failing)));
    });
}

#[test]
fn due_deliveries_are_ordered_and_later_ones_left_out() {
    on_both(|store| {
        put(store, [due_at(1, 300), due_at(2, 100), due_at(4, 200), due_at(3, 200)]);
        let at_once = Delivery { next_attempt_at: None, ..pending(9) };
        put(store, [at_once, Delivery { webhook_id: OTHER_WEBHOOK, ..due_at(7, 1) }]);
        assert_eq!(due_ids(store, 0, 9), [9], "what has no next attempt is due at once");
        assert_eq!(due_ids(store, 200, 9), [9, 2, 3, 4]);
        assert_eq!(due_ids(store, 199, 9), [9, 2]);
        assert_eq!(due_ids(store, u64::MAX, 2), [9, 2]);
        assert_eq!(due_ids(store, u64::MAX, 0), [0; 0]);
        assert_eq!(store.next_due(MERCHANT, OTHER_WEBHOOK), Ok(Some(Millis(1))));
        assert_eq!(store.next_due(OTHER_MERCHANT, WEBHOOK), Ok(None));
    });
}

#[test]
fn pending_deliveries_are_counted_up_to_a_limit() {
    on_both(|store| {
        put(store, [due_at(1, 300), due_at(2, 100), answered_delivery(3, DeliveryStatus::Failed)]);
        put(store, [Delivery { webhook_id: OTHER_WEBHOOK, ..pending(4) }]);
        assert_eq!(store.pending(MERCHANT, WEBHOOK, 9), Ok(2));
        assert_eq!(store.pending(MERCHANT, WEBHOOK, 1), Ok(1));
        assert_eq!(store.pending(OTHER_MERCHANT, WEBHOOK, 9), Ok(0));
    });
}

#[test]
fn nothing_is_written_below_the_reserve_of_the_disk() {
    let directory = tempfile::tempdir().expect("a directory");
    let limit = Duration::from_secs(60);
    let store = RocksDeliveries::open(directory.path(), u64::MAX, limit).unwrap_or_else(|error| panic!("{error}"));
    let refused = |result| assert!(matches!(result, Err(DeliveriesError::NotWritten { .. })), "{result:?}");
    refused(store.check_room());
    refused(store.write(MERCHANT, &DeliveryBatch { deliveries: vec![pending(1)], progress: None }));
    assert_eq!(store.delivery(MERCHANT, pending(1).id), Ok(None));
    drop(store);
    assert_eq!(open(directory.path()).check_room(), Ok(()));
}

#[test]
fn a_rewritten_delivery_is_due_at_its_new_time_or_never() {
    on_both(|store| {
        put(store, [due_at(1, 100)]);
        put(store, [due_at(1, 500)]);
        assert_eq!(due_ids(store, 499, 9), [0; 0]);
        assert_eq!(store.next_due(MERCHANT, WEBHOOK), Ok(Some(Millis(500))));
        put(store, [Delivery { webhook_id: OTHER_WEBHOOK, ..due_at(1, 500) }]);
        assert_eq!(store.next_due(MERCHANT, WEBHOOK), Ok(None));
        put(store, [Delivery { webhook_id: OTHER_WEBHOOK, ..answered_delivery(1, DeliveryStatus::Successful) }]);
        assert_eq!(store.next_due(MERCHANT, OTHER_WEBHOOK), Ok(None));
        assert_eq!(store.pending_webhooks(), Ok(vec![]));
    });
}

#[test]
fn of_two_deliveries_with_one_id_in_a_batch_the_later_counts() {
    on_both(|store| {
        put(store, [due_at(1, 100), due_at(1, 200)]);
        assert_eq!(due_ids(store, 100, 9), [0; 0]);
        assert_eq!(due_ids(store, 200, 9), [1]);
    });
}

#[test]
fn pages_lead_from_the_newest_delivery_to_the_oldest_and_back() {
    on_both(|store| {
        // The deliveries to one webhook are in one list per status.
        let statuses = DeliveryStatus::ALL.into_iter().cycle();
        put(store, (1..=5).zip(statuses).map(|(made, status)| answered_delivery(made, status)));
        put(store, [Delivery { webhook_id: OTHER_WEBHOOK, ..pending(9) }]);
        let filter = DeliveryFilter { webhook_id: Some(WEBHOOK), ..DeliveryFilter::default() };
        let page = |cursor| {
            let (page, Beside { newer, older }) = store.page(MERCHANT, &filter, 2, cursor).expect("readable");
            (page.iter().map(|delivery| delivery.created_at.0).collect::<Vec<u64>>(), newer, older)
        };
        let (after, before) = (|made| Some(Cursor::After(id(made, 0xdd))), |made| Some(Cursor::Before(id(made, 0xdd))));
        assert_eq!(page(None), (vec![5, 4], false, true));
        assert_eq!(page(after(4)), (vec![3, 2], true, true));
        assert_eq!(page(after(2)), (vec![1], true, false));
        assert_eq!(page(before(1)), (vec![3, 2], true, true));
        assert_eq!(page(before(3)), (vec![5, 4], false, true));
        assert_eq!(page(after(1)), (vec![], true, false), "the cursor's own delivery is newer than its place");
        assert_eq!(page(before(5)), (vec![], false, true), "the cursor's own delivery is older than its place");
    });
}

#[test]
fn deliveries_of_an_event_are_found_newest_first() {
    on_both(|store| {
        let other = WebhookEventId::from_bytes([0xcd; 16]);
        let elsewhere = Delivery { webhook_id: OTHER_WEBHOOK, ..pending(2) };
        put(store, [pending(1), elsewhere.clone(), Delivery { event_id: other, ..pending(3) }]);
        assert_eq!(store.of_event(MERCHANT, EVENT), Ok(vec![elsewhere, pending(1)]));
        assert_eq!(store.of_event(OTHER_MERCHANT, EVENT), Ok(vec![]));
    });
}

#[test]
fn ending_all_pending_deliveries_leaves_other_webhooks_alone() {
    on_both(|store| {
        put(store, (1..=2_001).map(pending));
        put(
            store,
            [
                Delivery { webhook_id: OTHER_WEBHOOK, ..pending(3_000) },
                answered_delivery(4_000, DeliveryStatus::Failed),
            ],
        );
        assert_eq!(store.end_pending(MERCHANT, WEBHOOK), Ok(2_001));
        let ended = Delivery { status: DeliveryStatus::Failed, next_attempt_at: None, ..pending(1) };
        assert_eq!(store.delivery(MERCHANT, ended.id), Ok(Some(ended)));
        assert_eq!(store.next_due(MERCHANT, WEBHOOK), Ok(None));
        assert_eq!(store.pending_webhooks(), Ok(vec![(MERCHANT, OTHER_WEBHOOK)]));
        assert_eq!(store.end_pending(MERCHANT, WEBHOOK), Ok(0));
    });
}

#[test]
fn old_deliveries_are_removed_oldest_first_pending_ones_too() {
    let store = MemoryDeliveries::new();
    put(
        &store,
        [pending(1), answered_delivery(2, DeliveryStatus::Failed), answered_delivery(4, DeliveryStatus::Successful)],
    );
    assert_eq!(store.remove_created_before(MERCHANT, Millis(1), 9), Ok(0), "made at the instant is not before it");
    assert_eq!(store.remove_created_before(OTHER_MERCHANT, Millis(9), 9), Ok(0));
    assert_eq!(store.remove_created_before(MERCHANT, Millis(4), 1), Ok(1));
    assert_eq!(store.next_due(MERCHANT, WEBHOOK), Ok(None));
    assert_eq!(store.remove_created_before(MERCHANT, Millis(4), 9), Ok(1));
    assert_eq!(store.delivery(MERCHANT, id(4, 0xdd)), Ok(Some(answered_delivery(4, DeliveryStatus::Successful))));
    assert_eq!(store.remove_created_before(MERCHANT, Millis(u64::MAX >> 16), 9), Ok(1));
    assert!(all_rows(&store).is_empty());
}

#[test]
fn merchants_and_webhooks_with_deliveries_are_found() {
    on_both(|store| {
        assert_eq!(store.next_merchant(None), Ok(None));
        assert_eq!(store.pending_webhooks(), Ok(vec![]));
        put(store, [pending(1), pending(2), answered_delivery(3, DeliveryStatus::Failed)]);
        put(store, [Delivery { webhook_id: OTHER_WEBHOOK, ..pending(4) }]);
        let batch = DeliveryBatch { deliveries: vec![answered_delivery(1, DeliveryStatus::Failed)], progress: None };
        store.write(OTHER_MERCHANT, &batch).expect("it is written");
        assert_eq!(store.next_merchant(None), Ok(Some(MERCHANT)));
        assert_eq!(store.next_merchant(Some(MERCHANT)), Ok(Some(OTHER_MERCHANT)));
        assert_eq!(store.next_merchant(Some(OTHER_MERCHANT)), Ok(None));
        assert_eq!(store.pending_webhooks(), Ok(vec![(MERCHANT, WEBHOOK), (MERCHANT, OTHER_WEBHOOK)]));
    });
}

#[test]
fn written_data_is_present_after_closing_and_opening_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = open(directory.path());
    put(&store, [pending(1), answered_delivery(2, DeliveryStatus::Successful)]);
    let rows = all_rows(&store);
    drop(store);
    let store = open(directory.path());
    assert_eq!(all_rows(&store), rows);
    assert_eq!(store.delivery(MERCHANT, pending(1).id), Ok(Some(pending(1))));
}

#[test]
fn a_store_that_does_not_open_says_how_to_go_on_without_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let place = directory.path().display();
    let _store = open(directory.path());
    let second = RocksDeliveries::open(directory.path(), 0, Duration::from_secs(60));
    let error = second.expect_err("it is in use").to_string();
    assert!(error.contains(&format!("mv {place} {place}.damaged")), "{error}");
    assert!(error.contains("delivers the events of the last 30 days again"), "{error}");
}

#[test]
fn nothing_is_written_while_the_disk_is_down_to_its_reserve() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = RocksDeliveries::open(directory.path(), u64::MAX, Duration::from_secs(60)).expect("opens");
    let batch = DeliveryBatch { deliveries: vec![pending(1)], progress: None };
    assert!(matches!(store.write(MERCHANT, &batch), Err(DeliveriesError::NotWritten { .. })));
    assert_eq!(store.delivery(MERCHANT, pending(1).id), Ok(None));
}

#[test]
fn a_key_without_its_row_or_a_row_under_another_key_is_damage() {
    let store = MemoryDeliveries::new();
    put(&store, [pending(1)]);
    let row = keys::DeliveryList::All.key(MERCHANT, pending(1).id);
    let put_row = |value: Vec<u8>| {
        store.rows().write(Changes { removed: Vec::new(), put: vec![(row.clone(), value)] }).expect("it is written");
    };
    put_row(shapes::encode_delivery(&pending(2)).expect("small"));
    assert!(matches!(store.delivery(MERCHANT, pending(1).id), Err(DeliveriesError::Damaged { .. })));
    put_row(shapes::encode_delivery(&answered_delivery(1, DeliveryStatus::Failed)).expect("small"));
    assert!(matches!(store.end_pending(MERCHANT, WEBHOOK), Err(DeliveriesError::Damaged { .. })));
    store.rows().write(Changes { removed: vec![row.clone()], put: Vec::new() }).expect("it is written");
    assert!(matches!(store.due_deliveries(MERCHANT, WEBHOOK, Millis(9), 9), Err(DeliveriesError::Damaged { .. })));
    assert!(matches!(store.of_event(MERCHANT, EVENT), Err(DeliveriesError::Damaged { .. })));
}

#[test]
fn a_check_reads_every_row_and_finds_damaged_ones() {
    let (store, [_, (_, failing), _]) = (MemoryDeliveries::new(), progress());
    let deliveries = vec![pending(1), answered_delivery(2, DeliveryStatus::Failed)];
    let batch = DeliveryBatch { deliveries, progress: Some((WEBHOOK, failing)) };
    store.write(MERCHANT, &batch).expect("it is written");
    let rows = store.check();
    assert_eq!(rows, Ok(5 + 4 + 1));
    let row = keys::DeliveryList::All.key(MERCHANT, pending(1).id);
    let progress = keys::progress(MERCHANT, WEBHOOK);
    let list = keys::DeliveryList::OfEvent(EVENT).key(MERCHANT, pending(1).id);
    let unknown = [[9].as_slice(), &MERCHANT.to_bytes()].concat();
    for (key, value) in
        [(row.clone(), vec![1, 2]), (progress, vec![]), (list, vec![1]), (row[1..].to_vec(), vec![]), (unknown, vec![])]
    {
        let before = store.rows().view().get(&key).expect("readable");
        store.rows().write(Changes { removed: Vec::new(), put: vec![(key.clone(), value)] }).expect("it is written");
        assert!(matches!(store.check(), Err(DeliveriesError::Damaged { .. })), "{key:?}");
        let put = before.map(|value| (key.clone(), value)).into_iter().collect();
        store.rows().write(Changes { removed: vec![key], put }).expect("it is written");
    }
    assert_eq!(store.check(), rows);
}

/// The newest table in a directory.
fn newest_table(directory: &Path) -> PathBuf {
    let files = fs::read_dir(directory).expect("readable").map(|entry| entry.expect("it lists").path());
    files.filter(|file| file.extension().is_some_and(|end| end == "sst")).max().expect("there is a table")
}

#[test]
fn a_flipped_bit_is_found_by_a_check_and_the_remedy_named() {
    let directory = tempfile::tempdir().expect("a directory");
    put(&open(directory.path()), (1..=2_000).map(pending));
    drop(open(directory.path())); // Its log becomes a table.
    let check = || RocksDeliveries::open_read_only(directory.path(), Duration::from_secs(60))?.check();
    assert_eq!(check(), Ok(2_000 * 5));
    let table = File::options().read(true).write(true).open(newest_table(directory.path())).expect("it is there");
    let mut byte = [0];
    table.read_exact_at(&mut byte, 3_000).expect("it is long enough");
    table.write_all_at(&[byte[0] ^ 1], 3_000).expect("writable");
    let error = check().expect_err("the block is damaged");
    let place = directory.path().display();
    assert!(error.advice(directory.path()).contains(&format!("mv {place} {place}.damaged")), "{error}");
}
