//! The rules for every store, tested with each of them.

mod first_in_memory;
mod fixtures;

#[path = "../shared/tests/journal/postgres.rs"]
mod postgres;

use std::sync::Arc;
use std::time::Duration;

use first_in_memory::{FirstFault, FirstInMemory};
use fixtures::{Chain, merchant};
use parking_lot::Mutex;
use postgres::Postgres;
use rocksdb::{DB, Options};
use tempfile::TempDir;
use till_domain::ids::MerchantId;
use till_shared::{JournalCopy, JournalSettings, SharedJournal, migrate};
use till_storage::disk_store::{Archiving, Deployment, DiskStore};
use till_storage::engine::{Engine, EngineOptions, ReplicatedLog};
use till_storage::family::Family;
use till_storage::journal::record::{self, BODY_LEN_MAX};
use till_storage::journal::{
    Append, AppendVerdict, CommitNumber, Head, Journal, READ_BYTES_MAX, Sequence, SnapshotWrite, read_record_time,
};
use till_storage::keys::{AppliedKey, JournalKey, SnapshotKey};
use till_storage::memory::{AppendFault, MemoryStore};
use till_storage::rows::{RowError, RowGate, RowRange, RowReader, RowStore, RowWrite, ScanDirection};

const SHOP: MerchantId = merchant(1);
const CAFE: MerchantId = merchant(2);

/// A store under test.
trait StoreUnderTest: Sized {
    type Store: Journal + RowStore;
    fn fresh() -> Self;
    fn store(&self) -> &Self::Store;
    fn reopened(self) -> Self;
    /// The store, closed, changed without its knowledge, and opened again.
    fn tampered(self, family: Family, key: &[u8], value: Option<&[u8]>) -> Self;
    /// The next append cannot be written.
    fn unwritable(self) -> Self;
    fn writable_again(self) -> Self;
}

/// A store under test that may be given a place to which commits are written first.
trait FirstPlaceUnderTest: StoreUnderTest {
    fn behind(place: &Arc<FirstInMemory>) -> Self;
}

struct Memory(MemoryStore);

impl StoreUnderTest for Memory {
    type Store = MemoryStore;

    fn fresh() -> Memory {
        Memory(MemoryStore::new())
    }

    fn store(&self) -> &MemoryStore {
        &self.0
    }

    fn reopened(self) -> Memory {
        Memory(self.0.reopened())
    }

    fn tampered(self, family: Family, key: &[u8], value: Option<&[u8]>) -> Memory {
        match value {
            Some(value) => self.0.damage(family, key, value),
            None => self.0.lose(family, key),
        }
        self.reopened()
    }

    fn unwritable(self) -> Memory {
        let next = self.reopened();
        next.0.fail_append(0, AppendFault::Unavailable);
        next
    }

    fn writable_again(self) -> Memory {
        self
    }
}

impl FirstPlaceUnderTest for Memory {
    fn behind(place: &Arc<FirstInMemory>) -> Memory {
        let memory = Memory::fresh();
        memory.0.commit_first_in(Arc::clone(place) as _);
        memory
    }
}

struct Disk {
    store: Option<DiskStore>,
    directory: TempDir,
}

impl Disk {
    fn open(directory: TempDir, disk_reserve_bytes: u64) -> Disk {
        Disk::over(directory, disk_reserve_bytes, None, |_| Deployment::Embedded(Archiving::Off))
    }

    fn over(
        directory: TempDir,
        disk_reserve_bytes: u64,
        replica_of: Option<ReplicatedLog>,
        deployment: impl FnOnce(&Arc<Engine>) -> Deployment,
    ) -> Disk {
        let options = EngineOptions { disk_reserve_bytes, replica_of, ..EngineOptions::new(directory.path()) };
        let engine = Arc::new(Engine::open(&options).expect("nothing is missing"));
        let deployment = deployment(&engine);
        Disk { store: Some(DiskStore::new(engine, deployment).expect("it is of its kind")), directory }
    }

    fn reopened_with(self, disk_reserve_bytes: u64) -> Disk {
        Disk::open(self.closed(), disk_reserve_bytes)
    }

    fn closed(mut self) -> TempDir {
        drop(self.store.take());
        self.directory
    }

    /// Changes a row of a closed store.
    fn tamper(directory: &TempDir, family: Family, key: &[u8], value: Option<&[u8]>) {
        let names = Family::ALL.map(Family::name);
        let db = DB::open_cf(&Options::default(), directory.path().join("db"), names).expect("it is closed");
        let handle = db.cf_handle(family.name()).expect("it was opened");
        match value {
            Some(value) => db.put_cf(handle, key, value).expect("writable"),
            None => db.delete_cf(handle, key).expect("writable"),
        }
    }
}

impl StoreUnderTest for Disk {
    type Store = DiskStore;

    fn fresh() -> Disk {
        Disk::open(tempfile::tempdir().expect("a temporary directory"), 0)
    }

    fn store(&self) -> &DiskStore {
        self.store.as_ref().expect("it is open")
    }

    fn reopened(self) -> Disk {
        self.reopened_with(0)
    }

    fn tampered(self, family: Family, key: &[u8], value: Option<&[u8]>) -> Disk {
        let directory = self.closed();
        Disk::tamper(&directory, family, key, value);
        Disk::open(directory, 0)
    }

    fn unwritable(self) -> Disk {
        self.reopened_with(u64::MAX)
    }

    fn writable_again(self) -> Disk {
        self.reopened_with(0)
    }
}

impl FirstPlaceUnderTest for Disk {
    fn behind(place: &Arc<FirstInMemory>) -> Disk {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let deployment = |_: &Arc<Engine>| Deployment::Embedded(Archiving::First(Arc::clone(place) as _));
        Disk::over(directory, 0, None, deployment)
    }
}

/// The server of the test that is running, and the number of logs that it has.
static POSTGRES: Mutex<Option<(Arc<Postgres>, u32)>> = Mutex::new(None);

/// The store on disk with its log in PostgreSQL.
struct Shared {
    disk: Disk,
    journal: Arc<SharedJournal>,
    settings: JournalSettings,
}

impl Shared {
    fn over(directory: TempDir, disk_reserve_bytes: u64, settings: JournalSettings) -> Shared {
        let found = JournalCopy::open(&settings).expect("there is a log");
        let mut claimed = None;
        let disk = Disk::over(directory, disk_reserve_bytes, Some(found.replicated_log()), |engine| {
            let journal = Arc::new(SharedJournal::open(&settings, Arc::new(|| {})).expect("there is a log"));
            journal.compare(&engine.note_of_log().expect("readable"), &**engine).expect("readable");
            Deployment::Journal(claimed.insert(journal).clone() as _)
        });
        let journal = claimed.expect("it was claimed");
        Shared { disk, journal, settings }
    }

    /// Both have the same records.
    fn check(&self) {
        for (merchant_id, _) in self.store().merchants(None, 100).expect("readable") {
            let records = self.journal.reader().records(merchant_id, Sequence(0), 10_000).expect("readable");
            assert!(bytes_of_log(self.store(), merchant_id) == records, "the logs of {merchant_id} differ");
        }
    }
}

impl StoreUnderTest for Shared {
    type Store = DiskStore;

    fn fresh() -> Shared {
        let mut running = POSTGRES.lock();
        let (server, logs) = running.as_mut().expect("the test has started a server");
        *logs += 1;
        let settings = JournalSettings::new(&server.address(), &format!("till{logs}"), Duration::from_secs(10));
        let settings = settings.expect("an address");
        migrate(&settings, None).expect("an empty schema");
        Shared::over(tempfile::tempdir().expect("a temporary directory"), 0, settings)
    }

    fn store(&self) -> &DiskStore {
        self.disk.store()
    }

    fn reopened(self) -> Shared {
        self.check();
        Shared::over(self.disk.closed(), 0, self.settings)
    }

    fn tampered(self, family: Family, key: &[u8], value: Option<&[u8]>) -> Shared {
        self.check();
        let directory = self.disk.closed();
        Disk::tamper(&directory, family, key, value);
        Shared::over(directory, 0, self.settings)
    }

    fn unwritable(self) -> Shared {
        self.check();
        Shared::over(self.disk.closed(), u64::MAX, self.settings)
    }

    fn writable_again(self) -> Shared {
        Shared::over(self.disk.closed(), 0, self.settings)
    }
}

/// Runs each function as a test of every store, and those over PostgreSQL in one test with one server.
macro_rules! conformance {
    ($($name:ident)+) => {
        mod memory {
            $(#[test] fn $name() { super::$name::<super::Memory>(); })+
        }
        mod disk {
            $(#[test] fn $name() { super::$name::<super::Disk>(); })+
        }
        mod shared {
            #[test]
            fn every_rule_holds_with_the_log_in_postgresql() {
                let server = std::sync::Arc::new(super::Postgres::start());
                *super::POSTGRES.lock() = Some((std::sync::Arc::clone(&server), 0));
                $(
                    eprintln!(stringify!($name));
                    super::$name::<super::Shared>();
                )+
                *super::POSTGRES.lock() = None;
            }
        }
    };
}

/// Runs each function as a test of every store that may be given a place that comes first.
macro_rules! first_place {
    ($($name:ident)+) => {
        mod memory_after_another_place {
            $(#[test] fn $name() { super::$name::<super::Memory>(); })+
        }
        mod disk_after_another_place {
            $(#[test] fn $name() { super::$name::<super::Disk>(); })+
        }
    };
}

conformance! {
    a_log_begins_empty_and_grows_by_what_is_appended
    a_group_of_one_merchant_chains_on_itself
    a_stale_batch_is_dropped_alone_and_with_it_what_chains_on_it
    a_batch_of_a_dead_incarnation_is_fenced
    a_merchant_that_nobody_claimed_is_fenced
    epochs_grow_across_restarts
    commit_numbers_grow_in_order_across_groups_and_restarts
    a_batch_that_could_never_be_right_is_refused
    rows_are_written_and_deleted_with_their_batch
    the_last_of_a_groups_writes_of_one_key_counts
    a_batch_without_records_writes_its_rows_and_leaves_the_head
    a_failed_write_changes_nothing_and_the_next_one_works
    scans_walk_a_range_both_ways_within_their_limit
    a_view_sees_one_moment
    the_gate_is_shut_until_rows_that_lag_are_caught_up
    rows_move_only_forward_and_never_past_the_log
    the_two_newest_snapshots_are_kept_newest_first
    a_damaged_snapshot_is_left_out
    merchants_are_listed_page_by_page
    a_damaged_commit_number_is_found
    the_time_of_a_record_is_read_by_its_header_alone
    a_read_is_bounded_in_records_and_bytes
    appended_records_are_present_after_a_restart
}

first_place! {
    what_is_refused_elsewhere_is_dropped_alone
    an_unknown_outcome_elsewhere_is_reported_and_writes_nothing
    a_batch_without_a_verdict_elsewhere_has_an_unknown_outcome
    a_claim_waits_for_a_slow_place_that_comes_first
}

/// A store whose commits go to a place in memory first, and that place.
fn with_first_place<S: FirstPlaceUnderTest>() -> (S, Arc<FirstInMemory>) {
    let place = Arc::new(FirstInMemory::default());
    (S::behind(&place), place)
}

fn bytes_of_log(journal: &impl Journal, merchant_id: MerchantId) -> Vec<Vec<u8>> {
    let records = journal.read(merchant_id, Sequence(0), 1_000).expect("readable");
    records.into_iter().map(|record| record.bytes).collect()
}

fn append_one(journal: &impl Journal, append: Append) -> AppendVerdict {
    let mut verdicts = journal.append(vec![append]);
    assert_eq!(verdicts.len(), 1);
    verdicts.remove(0)
}

fn committed(verdicts: &[AppendVerdict]) -> Vec<u64> {
    let number = |verdict: &AppendVerdict| match verdict {
        AppendVerdict::Committed(CommitNumber(number)) => *number,
        other => panic!("{other:?}"),
    };
    verdicts.iter().map(number).collect()
}

fn sequences(journal: &impl Journal, merchant_id: MerchantId) -> Vec<u64> {
    let mut head = Head::EMPTY;
    let records = journal.read(merchant_id, Sequence(0), 1_000).expect("readable");
    for stored in &records {
        let record = record::decode(&stored.bytes).expect("sound");
        head = record.follow(merchant_id, head).expect("chained");
    }
    assert_eq!(journal.head(merchant_id), Ok(head));
    (1..=head.sequence.0).collect()
}

fn a_log_begins_empty_and_grows_by_what_is_appended<S: StoreUnderTest>() {
    let subject = S::fresh();
    let store = subject.store();
    let mut shop = Chain::claim(store, SHOP);
    assert_eq!(shop.head, Head::EMPTY);
    assert_eq!(store.last_commit(), CommitNumber(0));
    let append = shop.batch(&[b"one", b"two"]);
    let bytes: Vec<Vec<u8>> = append.records.iter().map(|record| record.bytes.clone()).collect();
    assert_eq!(append_one(store, append), AppendVerdict::Committed(CommitNumber(1)));
    let stored = store.read(SHOP, Sequence(1), 10).expect("readable");
    assert_eq!(stored.iter().map(|record| record.bytes.clone()).collect::<Vec<_>>(), bytes);
    assert!(stored.iter().all(|record| record.commit == CommitNumber(1)));
    assert_eq!(store.head(SHOP), Ok(shop.head));
    assert_eq!(store.read(SHOP, Sequence(2), 10).expect("readable").len(), 1);
    assert_eq!(store.read(CAFE, Sequence(1), 10), Ok(Vec::new()));
    assert_eq!(store.head(CAFE), Ok(Head::EMPTY));
}

fn a_group_of_one_merchant_chains_on_itself<S: StoreUnderTest>() {
    let subject = S::fresh();
    let store = subject.store();
    let (mut shop, mut cafe) = (Chain::claim(store, SHOP), Chain::claim(store, CAFE));
    let group = vec![shop.batch(&[b"1"]), cafe.batch(&[b"1"]), shop.batch(&[b"2", b"3"]), shop.batch(&[b"4"])];
    assert_eq!(committed(&store.append(group)), [1, 2, 3, 4]);
    assert_eq!(committed(&store.append(vec![shop.batch(&[b"5"])])), [5]);
    assert_eq!(sequences(store, SHOP), [1, 2, 3, 4, 5]);
    assert_eq!(sequences(store, CAFE), [1]);
}

fn a_stale_batch_is_dropped_alone_and_with_it_what_chains_on_it<S: StoreUnderTest>() {
    let subject = S::fresh();
    let store = subject.store();
    let (mut shop, mut cafe) = (Chain::claim(store, SHOP), Chain::claim(store, CAFE));
    let lost = shop.batch_with_row();
    let group = vec![shop.batch_with_row(), cafe.batch_with_row(), shop.batch_with_row(), cafe.batch_with_row()];
    let stale = AppendVerdict::Stale { durable: Head::EMPTY };
    let verdicts = store.append(group);
    assert_eq!(verdicts[0], stale);
    assert_eq!(verdicts[2], stale);
    assert_eq!(committed(&[verdicts[1].clone(), verdicts[3].clone()]), [1, 2]);
    assert_eq!(sequences(store, SHOP), [0_u64; 0]);
    assert_eq!(sequences(store, CAFE), [1, 2]);
    assert_eq!(store.get(Family::Rows, &shop.row_key(2)), Ok(None));
    assert!(matches!(append_one(store, lost), AppendVerdict::Committed(_)), "the one that was left out fits");
}

fn a_batch_of_a_dead_incarnation_is_fenced<S: StoreUnderTest>() {
    let subject = S::fresh();
    let store = subject.store();
    let mut dead = Chain::claim(store, SHOP);
    let mut live = Chain::claim(store, SHOP);
    assert!(live.epoch > dead.epoch);
    let verdicts = store.append(vec![dead.batch_with_row(), live.batch(&[b"live"])]);
    assert_eq!(verdicts, [AppendVerdict::Fenced, AppendVerdict::Committed(CommitNumber(1))]);
    assert_eq!(append_one(store, dead.batch(&[b"dead"])), AppendVerdict::Fenced);
    assert_eq!(store.get(Family::Rows, &dead.row_key(1)), Ok(None));
    store.release(SHOP, dead.epoch);
    assert!(matches!(append_one(store, live.batch(&[b"live"])), AppendVerdict::Committed(_)), "another's release");
}

fn a_merchant_that_nobody_claimed_is_fenced<S: StoreUnderTest>() {
    let subject = S::fresh();
    let store = subject.store();
    let mut shop = Chain::claim(store, SHOP);
    store.release(SHOP, shop.epoch);
    assert_eq!(append_one(store, shop.batch(&[b"late"])), AppendVerdict::Fenced);
    let again = Chain::claim(store, SHOP);
    assert!(again.epoch > shop.epoch);
    assert_eq!(again.head, Head::EMPTY);
}

fn epochs_grow_across_restarts<S: StoreUnderTest>() {
    let subject = S::fresh();
    let before = Chain::claim(subject.store(), SHOP);
    let subject = subject.reopened();
    assert!(Chain::claim(subject.store(), SHOP).epoch > before.epoch);
}

fn commit_numbers_grow_in_order_across_groups_and_restarts<S: StoreUnderTest>() {
    let subject = S::fresh();
    let mut shop = Chain::claim(subject.store(), SHOP);
    assert_eq!(committed(&subject.store().append(vec![shop.batch(&[b"1"]), shop.batch(&[b"2"])])), [1, 2]);
    let subject = subject.reopened();
    assert_eq!(subject.store().last_commit(), CommitNumber(2));
    let mut shop = Chain::claim(subject.store(), SHOP);
    assert_eq!(committed(&subject.store().append(vec![shop.batch(&[b"3"])])), [3]);
    assert_eq!(subject.store().last_commit(), CommitNumber(3));
}

fn a_batch_that_could_never_be_right_is_refused<S: StoreUnderTest>() {
    let subject = S::fresh();
    let store = subject.store();
    let shop = Chain::claim(store, SHOP);
    let good = || shop.clone().batch(&[b"one", b"two"]);
    let [foreign, of_vault, derived] =
        [Family::Meta, Family::Vault, Family::Rows].map(|family| RowWrite { family, key: b"C", value: None });
    let ahead = SnapshotWrite { at: Head { sequence: Sequence(3), hash: [0; 32] }, bytes: Vec::new() };
    let wrong = [
        Append { new_head: Head::EMPTY, ..good() },
        Append { records: good().records.into_iter().rev().collect(), ..good() },
        Append { records: good().records[1..].to_vec(), ..good() },
        Append { derived: [foreign].into_iter().collect(), ..good() },
        Append { derived: [of_vault].into_iter().collect(), ..good() },
        Append { vault: [derived].into_iter().collect(), ..good() },
        Append { snapshot: Some(ahead), ..good() },
    ];
    for append in wrong {
        let verdict = append_one(store, append.clone());
        assert!(matches!(verdict, AppendVerdict::Unavailable(_)), "{append:?}: {verdict:?}");
    }
    assert_eq!(store.head(SHOP), Ok(Head::EMPTY));
    assert_eq!(append_one(store, good()), AppendVerdict::Committed(CommitNumber(1)));
}

fn rows_are_written_and_deleted_with_their_batch<S: StoreUnderTest>() {
    let subject = S::fresh();
    let store = subject.store();
    let mut shop = Chain::claim(store, SHOP);
    let derived = Family::ALL.into_iter().filter(|family| family.is_derived());
    let row = |family, value| RowWrite { family, key: b"key", value };
    let mut first = shop.batch(&[b"1"]);
    first.derived = derived.clone().map(|family| row(family, Some(family.name().as_bytes()))).collect();
    first.vault = [row(Family::Vault, Some(b"vault"))].into_iter().collect();
    store.append(vec![first]);
    for family in derived.chain([Family::Vault]) {
        assert_eq!(store.get(family, b"key"), Ok(Some(family.name().as_bytes().to_vec())));
    }
    let mut second = shop.batch(&[b"2"]);
    second.derived = [row(Family::Rows, None)].into_iter().collect();
    second.vault = [row(Family::Vault, None), row(Family::Vault, Some(b"again"))].into_iter().collect();
    store.append(vec![second]);
    assert_eq!(store.get(Family::Rows, b"key"), Ok(None));
    assert_eq!(store.get(Family::Vault, b"key"), Ok(Some(b"again".to_vec())), "writes keep their order");
    let keys = [b"key".to_vec(), b"none".to_vec()];
    assert_eq!(store.get_many(Family::Timers, &keys), Ok(vec![Some(b"timers".to_vec()), None]));
}

fn the_last_of_a_groups_writes_of_one_key_counts<S: StoreUnderTest>() {
    let subject = S::fresh();
    let store = subject.store();
    let (mut shop, mut cafe) = (Chain::claim(store, SHOP), Chain::claim(store, CAFE));
    let dropped = shop.clone().batch(&[b"never the head"]);
    let mut group = Vec::new();
    for value in [Some(b"1".as_slice()), None, Some(b"3"), Some(b"4")] {
        let mut append = shop.batch(&[b"body"]);
        append.derived = shop.rows(&[(1, value), (2, Some(b"same")), (2, value)]);
        group.push(append);
        group.push(cafe.batch_with_row());
    }
    group.push(Append { derived: shop.row(1, Some(b"dropped")), ..dropped });
    let verdicts = store.append(group);
    assert!(matches!(verdicts.last(), Some(AppendVerdict::Stale { .. })));
    assert_eq!(store.get(Family::Rows, &shop.row_key(1)), Ok(Some(b"4".to_vec())));
    assert_eq!(store.get(Family::Rows, &shop.row_key(2)), Ok(Some(b"4".to_vec())));
    let mut deleting = shop.batch(&[b"body"]);
    deleting.derived = shop.rows(&[(1, Some(b"5")), (1, None)]);
    store.append(vec![deleting]);
    assert_eq!(store.get(Family::Rows, &shop.row_key(1)), Ok(None));
    assert_eq!((sequences(store, SHOP).len(), sequences(store, CAFE).len()), (5, 4));
}

fn a_batch_without_records_writes_its_rows_and_leaves_the_head<S: StoreUnderTest>() {
    let subject = S::fresh();
    let store = subject.store();
    let mut shop = Chain::claim(store, SHOP);
    store.append(vec![shop.batch(&[b"1"])]);
    let mut rows_only = shop.batch(&[]);
    rows_only.derived = shop.row(9, Some(b"used"));
    assert_eq!(append_one(store, rows_only), AppendVerdict::Committed(CommitNumber(2)));
    assert_eq!(store.get(Family::Rows, &shop.row_key(9)), Ok(Some(b"used".to_vec())));
    assert_eq!(store.head(SHOP), Ok(shop.head));
    assert_eq!(sequences(store, SHOP), [1]);
}

fn a_failed_write_changes_nothing_and_the_next_one_works<S: StoreUnderTest>() {
    let subject = S::fresh();
    let mut shop = Chain::claim(subject.store(), SHOP);
    subject.store().append(vec![shop.batch_with_row()]);
    let before = shop.head;
    let subject = subject.unwritable();
    let mut failing = Chain::claim(subject.store(), SHOP);
    let verdicts = subject.store().append(vec![failing.batch_with_row(), failing.batch_with_row()]);
    assert!(verdicts.iter().all(|verdict| matches!(verdict, AppendVerdict::Unavailable(_))), "{verdicts:?}");
    assert_eq!(subject.store().head(SHOP), Ok(before));
    assert_eq!(subject.store().get(Family::Rows, &shop.row_key(2)), Ok(None));
    assert_eq!(subject.store().last_commit(), CommitNumber(1));
    let subject = subject.writable_again();
    let mut shop = Chain::claim(subject.store(), SHOP);
    assert_eq!(committed(&subject.store().append(vec![shop.batch_with_row()])), [2]);
    assert_eq!(sequences(subject.store(), SHOP), [1, 2]);
}

fn scans_walk_a_range_both_ways_within_their_limit<S: StoreUnderTest>() {
    let subject = S::fresh();
    let store = subject.store();
    let mut shop = Chain::claim(store, SHOP);
    for _ in 0..5 {
        store.append(vec![shop.batch_with_row()]);
    }
    let scan = |lower: u64, upper: u64, direction, limit| {
        let (lower, upper) = (shop.row_key(lower), shop.row_key(upper));
        let range = RowRange { family: Family::Rows, lower: &lower, upper: &upper, direction };
        let pairs = store.scan(range, limit);
        let number = |key: &[u8]| u64::from(*key.last().expect("not empty"));
        pairs.expect("readable").iter().map(|(key, _)| number(key)).collect::<Vec<_>>()
    };
    let nothing: [u64; 0] = [];
    assert_eq!(scan(2, 5, ScanDirection::Forward, 10), [2, 3, 4]);
    assert_eq!(scan(2, 5, ScanDirection::Backward, 10), [4, 3, 2]);
    assert_eq!(scan(0, 9, ScanDirection::Forward, 2), [1, 2]);
    assert_eq!(scan(0, 9, ScanDirection::Backward, 2), [5, 4]);
    for direction in [ScanDirection::Forward, ScanDirection::Backward] {
        assert_eq!(scan(3, 3, direction, 10), nothing);
        assert_eq!(scan(4, 2, direction, 10), nothing);
        assert_eq!(scan(6, 9, direction, 10), nothing);
        assert_eq!(scan(0, 9, direction, 0), nothing);
    }
}

fn a_view_sees_one_moment<S: StoreUnderTest>() {
    let subject = S::fresh();
    let store = subject.store();
    let mut shop = Chain::claim(store, SHOP);
    store.append(vec![shop.batch_with_row()]);
    let view = store.view();
    let mut next = shop.batch(&[b"body"]);
    next.derived = shop.rows(&[(2, Some(b"value")), (1, None)]);
    store.append(vec![next]);
    let keys = [shop.row_key(1), shop.row_key(2)];
    assert_eq!(view.get_many(Family::Rows, &keys), Ok(vec![Some(b"value".to_vec()), None]));
    assert_eq!(store.get_many(Family::Rows, &keys), Ok(vec![None, Some(b"value".to_vec())]));
    let scan = |reader: &dyn RowReader| {
        let pairs = reader.scan(RowRange::backward(Family::Rows, &shop.row_key(0), &shop.row_key(9)), 9);
        pairs.expect("readable").into_iter().map(|(key, _)| key).collect::<Vec<_>>()
    };
    assert_eq!(scan(&*view), [shop.row_key(1)]);
    assert_eq!(scan(&*store.view()), [shop.row_key(2)]);
    assert_eq!(view.get(Family::Rows, &shop.row_key(2)), Ok(None));
}

fn the_gate_is_shut_until_rows_that_lag_are_caught_up<S: StoreUnderTest>() {
    let subject = S::fresh();
    let mut shop = Chain::claim(subject.store(), SHOP);
    subject.store().append(vec![shop.batch(&[b"1", b"2"])]);
    assert_eq!(subject.store().gate(SHOP), Ok(RowGate::Open));
    assert_eq!(subject.store().gate(CAFE), Ok(RowGate::Open), "a merchant without a log has nothing to catch up");
    assert_eq!(subject.store().applied(SHOP), Ok(shop.head));
    let subject = subject.tampered(Family::Rows, &AppliedKey(SHOP).encode(), None);
    let store = subject.store();
    let behind = RowGate::Behind { applied: Head::EMPTY, head: shop.head };
    assert_eq!(store.gate(SHOP), Ok(behind));
    let mut late = Chain::claim(store, SHOP);
    let refused = append_one(store, late.clone().batch(&[b"3"]));
    assert!(matches!(refused, AppendVerdict::Unavailable(_)), "rows would be said to be ahead of what they are");
    assert_eq!(store.gate(SHOP), Ok(behind));
    let row = late.row(1, Some(b"caught up"));
    assert_eq!(store.append_rows(SHOP, &row, shop.head), Ok(()));
    assert_eq!(store.gate(SHOP), Ok(RowGate::Open));
    assert_eq!(store.get(Family::Rows, &late.row_key(1)), Ok(Some(b"caught up".to_vec())));
    assert!(matches!(append_one(store, late.batch(&[b"3"])), AppendVerdict::Committed(_)));
    assert_eq!(store.gate(SHOP), Ok(RowGate::Open));
}

fn rows_move_only_forward_and_never_past_the_log<S: StoreUnderTest>() {
    let subject = S::fresh();
    let store = subject.store();
    let mut shop = Chain::claim(store, SHOP);
    store.append(vec![shop.batch(&[b"1"])]);
    let one = shop.head;
    store.append(vec![shop.batch(&[b"2"])]);
    let ahead = Head { sequence: Sequence(3), hash: [3; 32] };
    for asked in [Head::EMPTY, one, shop.head, ahead] {
        let row = shop.row(1, Some(b"wrong"));
        let refused = store.append_rows(SHOP, &row, asked);
        let here = shop.head.sequence;
        assert_eq!(refused, Err(RowError::OutOfOrder { applied: here, asked: asked.sequence, head: here }));
    }
    assert_eq!(store.get(Family::Rows, &shop.row_key(1)), Ok(None));
}

fn the_two_newest_snapshots_are_kept_newest_first<S: StoreUnderTest>() {
    let subject = S::fresh();
    let mut shop = Chain::claim(subject.store(), SHOP);
    assert_eq!(subject.store().newest_snapshots(SHOP, 9), Ok(Vec::new()));
    let mut heads = Vec::new();
    for state in [b"one", b"two", b"six"] {
        subject.store().append(vec![shop.batch_with_snapshot(state), shop.batch(&[b"more"])]);
        heads.push(shop.head.sequence.0 - 1);
    }
    let subject = subject.reopened();
    let store = subject.store();
    let kept = |max| {
        let snapshots = store.newest_snapshots(SHOP, max).expect("readable");
        snapshots.into_iter().map(|snapshot| (snapshot.at.sequence.0, snapshot.bytes)).collect::<Vec<_>>()
    };
    assert_eq!(kept(9), [(heads[2], b"six".to_vec()), (heads[1], b"two".to_vec())]);
    assert_eq!(kept(1), [(heads[2], b"six".to_vec())]);
    let mut shop = Chain::claim(store, SHOP);
    store.append(vec![shop.batch_with_snapshot(b"ten"), shop.batch_with_snapshot(b"old")]);
    assert_eq!(kept(9), [(8, b"old".to_vec()), (7, b"ten".to_vec())]);
    assert_eq!(store.newest_snapshots(CAFE, 9), Ok(Vec::new()));
}

fn a_damaged_snapshot_is_left_out<S: StoreUnderTest>() {
    let subject = S::fresh();
    let mut shop = Chain::claim(subject.store(), SHOP);
    subject.store().append(vec![shop.batch_with_snapshot(b"one"), shop.batch_with_snapshot(b"two")]);
    let newest = SnapshotKey { merchant_id: SHOP, sequence: Sequence(2) }.encode();
    let subject = subject.tampered(Family::Snapshots, &newest, Some(b"not what was written"));
    let snapshots = subject.store().newest_snapshots(SHOP, 2).expect("readable");
    assert_eq!(snapshots.len(), 1);
    assert_eq!((snapshots[0].at.sequence, snapshots[0].bytes.as_slice()), (Sequence(1), b"one".as_slice()));
}

fn merchants_are_listed_page_by_page<S: StoreUnderTest>() {
    let subject = S::fresh();
    let store = subject.store();
    for number in [9, 3, 255, 5] {
        store.append(vec![Chain::claim(store, merchant(number)).batch(&[b"1"])]);
    }
    Chain::claim(store, merchant(4));
    let page = |after, max| {
        let page = store.merchants(after, max).expect("readable");
        page.into_iter().map(|(merchant_id, head)| (merchant_id.to_bytes()[0], head.sequence.0)).collect::<Vec<_>>()
    };
    assert_eq!(page(None, 3), [(3, 1), (5, 1), (9, 1)]);
    assert_eq!(page(Some(merchant(9)), 3), [(255, 1)]);
    assert_eq!(page(Some(merchant(255)), 3), []);
}

fn a_damaged_commit_number_is_found<S: StoreUnderTest>() {
    let subject = S::fresh();
    let mut shop = Chain::claim(subject.store(), SHOP);
    subject.store().append(vec![shop.batch(&[b"1"])]);
    let key = till_storage::keys::JournalKey { merchant_id: SHOP, sequence: Sequence(1) }.encode();
    let mut value = subject.store().get(Family::Journal, &key).expect("readable").expect("it was appended");
    value[7] ^= 1;
    let subject = subject.tampered(Family::Journal, &key, Some(&value));
    assert!(subject.store().read(SHOP, Sequence(1), 9).is_err());
}

fn the_time_of_a_record_is_read_by_its_header_alone<S: StoreUnderTest>() {
    let subject = S::fresh();
    let mut chain = Chain::claim(subject.store(), SHOP);
    append_one(subject.store(), chain.batch(&[b"first", b"second"]));
    let time = |store: &S::Store, merchant_id, sequence| read_record_time(store, merchant_id, Sequence(sequence));
    for (merchant_id, sequence, at_ms) in
        [(SHOP, 1, Some(1_743_500_000_000)), (SHOP, 2, Some(1_743_500_000_000)), (SHOP, 3, None), (CAFE, 1, None)]
    {
        assert_eq!(time(subject.store(), merchant_id, sequence), Ok(at_ms), "record {sequence} of {merchant_id}");
    }
    let key = JournalKey { merchant_id: SHOP, sequence: Sequence(2) }.encode();
    let mut value = subject.store().get(Family::Journal, &key).expect("readable").expect("it is there");
    value[12 + 24 + 7] ^= 1; // The last byte of the record's sequence.
    let subject = subject.tampered(Family::Journal, &key, Some(&value));
    assert!(time(subject.store(), SHOP, 2).is_err());
}

fn a_read_is_bounded_in_records_and_bytes<S: StoreUnderTest>() {
    let subject = S::fresh();
    let store = subject.store();
    let (mut shop, mut cafe) = (Chain::claim(store, SHOP), Chain::claim(store, CAFE));
    let small: Vec<&[u8]> = vec![b"small"; 600];
    let (large, huge) = (vec![7; READ_BYTES_MAX - 1_000], vec![7; BODY_LEN_MAX]);
    store.append(vec![shop.batch(&small), cafe.batch(&[&large, &large, b"small", &huge, &huge])]);
    let read = |merchant_id, from, max| store.read(merchant_id, Sequence(from), max).expect("readable").len();
    assert_eq!((read(SHOP, 1, 0), read(SHOP, 1, 599), read(SHOP, 1, 9_999), read(SHOP, 600, 9)), (0, 599, 600, 1));
    assert_eq!((read(CAFE, 1, 9), read(CAFE, 2, 9)), (1, 2), "two large ones are above {READ_BYTES_MAX} bytes");
    assert_eq!(read(CAFE, 4, 9), 1, "one that is above it by itself");
}

fn appended_records_are_present_after_a_restart<S: StoreUnderTest>() {
    let subject = S::fresh();
    let mut shop = Chain::claim(subject.store(), SHOP);
    for _ in 0..3 {
        subject.store().append(vec![shop.batch_with_row()]);
    }
    let subject = subject.reopened();
    let store = subject.store();
    assert_eq!(Chain::claim(store, SHOP).head, shop.head);
    assert_eq!(sequences(store, SHOP), [1, 2, 3]);
    assert_eq!(store.get(Family::Rows, &shop.row_key(3)), Ok(Some(b"value".to_vec())));
    assert_eq!(store.gate(SHOP), Ok(RowGate::Open));
}

fn what_is_refused_elsewhere_is_dropped_alone<S: FirstPlaceUnderTest>() {
    let (subject, place) = with_first_place::<S>();
    let store = subject.store();
    let (mut shop, mut cafe) = (Chain::claim(store, SHOP), Chain::claim(store, CAFE));
    assert_eq!(committed(&store.append(vec![shop.batch_with_row(), cafe.batch_with_row()])), [1, 2]);
    let unavailable = AppendVerdict::Unavailable("planned".to_owned());
    for (fault, verdict, number) in
        [(FirstFault::Fenced, AppendVerdict::Fenced, 3), (FirstFault::Unavailable, unavailable, 5)]
    {
        place.fail(0, SHOP, fault);
        let before = shop.clone();
        let group = vec![shop.batch_with_row(), cafe.batch_with_row(), shop.batch_with_row(), cafe.batch_with_row()];
        let verdicts = store.append(group);
        assert_eq!([&verdicts[0], &verdicts[2]], [&verdict, &verdict]);
        assert_eq!(committed(&[verdicts[1].clone(), verdicts[3].clone()]), [number, number + 1], "{fault:?}");
        assert_eq!(store.head(SHOP), Ok(before.head));
        assert_eq!(store.get(Family::Rows, &shop.row_key(shop.head.sequence.0)), Ok(None));
        shop = before;
    }
    assert_eq!(committed(&store.append(vec![shop.batch_with_row()])), [7]);
    assert_eq!(place.confirmed(), CommitNumber(7));
    for merchant_id in [SHOP, CAFE] {
        assert_eq!(place.records(merchant_id), bytes_of_log(store, merchant_id));
    }
    assert_eq!((sequences(store, SHOP), sequences(store, CAFE)), (vec![1, 2], vec![1, 2, 3, 4, 5]));
}

fn an_unknown_outcome_elsewhere_is_reported_and_writes_nothing<S: FirstPlaceUnderTest>() {
    for fault in [FirstFault::UnknownWritten, FirstFault::UnknownLost] {
        let (subject, place) = with_first_place::<S>();
        let store = subject.store();
        let (mut shop, mut cafe) = (Chain::claim(store, SHOP), Chain::claim(store, CAFE));
        place.fail(0, SHOP, fault);
        let verdicts = store.append(vec![shop.batch_with_row(), cafe.batch_with_row()]);
        assert_eq!(verdicts[0], AppendVerdict::Unknown("planned".to_owned()));
        assert_eq!(committed(&verdicts[1..]), [1]);
        assert_eq!((store.head(SHOP), store.last_commit()), (Ok(Head::EMPTY), CommitNumber(1)));
        assert_eq!(append_one(store, cafe.batch_with_row()), AppendVerdict::Committed(CommitNumber(2)));
    }
}

fn a_batch_without_a_verdict_elsewhere_has_an_unknown_outcome<S: FirstPlaceUnderTest>() {
    let (subject, place) = with_first_place::<S>();
    let store = subject.store();
    let (mut shop, mut cafe) = (Chain::claim(store, SHOP), Chain::claim(store, CAFE));
    place.fail(0, SHOP, FirstFault::NoVerdict);
    let verdicts = store.append(vec![shop.batch_with_row(), cafe.batch_with_row()]);
    assert!(verdicts.iter().all(|verdict| matches!(verdict, AppendVerdict::Unknown(_))), "{verdicts:?}");
    assert_eq!((store.head(SHOP), store.head(CAFE)), (Ok(Head::EMPTY), Ok(Head::EMPTY)));
    assert_eq!(store.last_commit(), CommitNumber(0));
}

fn a_claim_waits_for_a_slow_place_that_comes_first<S: FirstPlaceUnderTest>() {
    let (subject, place) = with_first_place::<S>();
    let store = subject.store();
    let mut shop = Chain::claim(store, SHOP);
    place.delay(Duration::from_millis(100));
    let append = shop.batch(&[b"slow"]);
    std::thread::scope(|scope| {
        let written = scope.spawn(|| append_one(store, append));
        while place.has_not_begun() {
            std::thread::yield_now();
        }
        assert_eq!(Chain::claim(store, SHOP).head, shop.head, "the claim knows the batch");
        assert_eq!(written.join().expect("no panic"), AppendVerdict::Committed(CommitNumber(1)));
    });
}
