//! Stores restored from a checkpoint and an archive have no fault, whichever moment they are restored to.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::disk::opened;
use crate::filled::directory;
use crate::shop::{FilledMerchant, keyring};
use tempfile::TempDir;
use till_domain::ids::MerchantId;
use till_operate::archive::{
    ArchiveError, ArchiveSettings, Archiver, Restored, Until, begin_anew, check_reach, each_commit, earliest_moment,
    restore_to,
};
use till_operate::checkpoint::{BookBeside, CheckpointRequest, Checkpointer, Restoring, Shelf, TakenCheckpoint};
use till_operate::scrub::TableInspector;
use till_operate::verify::{Report, VerifyOptions, verify};
use till_sandbox::book::{Book, MemoryBook, RocksBook};
use till_storage::disk_store::{Archiving, DiskStore};
use till_storage::engine::{EngineOptions, StoppedStore};
use till_storage::family::Family;
use till_storage::journal::{Append, AppendVerdict, BatchId, CommitNumber, Journal, Sequence, layout, record};
use till_storage::rows::{RowRange, RowReader, RowWrite, RowWrites};
use till_storage::vault::Keyring;

/// Offset of the kind in the key of a row of the vault, and the kind of a customer's subject key.
const KIND_AT: usize = 16;
const CUSTOMER: u8 = 3;

/// A store with an archive, and a checkpoint of an earlier moment.
struct RestoreWorld {
    root: TempDir,
    keyring: Arc<Keyring>,
    engine: Arc<DiskStore>,
    archiver: Archiver,
    checkpoint: Option<TakenCheckpoint>,
}

fn options(directory: &Path) -> EngineOptions {
    EngineOptions { disk_reserve_bytes: 0, ..EngineOptions::new(directory) }
}

/// Settings of an archive without a thread.
fn archive_settings(directory: PathBuf) -> ArchiveSettings {
    let hour = Duration::from_secs(3_600);
    ArchiveSettings { directory, segment_bytes: 20_000, segment_age: hour, every: hour, before_acknowledged: false }
}

/// The copy of a checkpoint.
fn copied(TakenCheckpoint { directory, manifest }: &TakenCheckpoint, to: &Path) {
    let restoring = Restoring::copy(directory, manifest, to, &mut |_| {}).expect("it is whole");
    restoring.finish().expect("its marker is there");
}

impl RestoreWorld {
    fn new() -> (RestoreWorld, Arc<DiskStore>, Arc<Keyring>, MemoryBook) {
        let (root, (keyring, _)) = (directory(), keyring());
        let engine = Arc::new(opened(&options(&root.path().join("data")), Archiving::Queued));
        let settings = archive_settings(root.path().join("archive"));
        let archiver = Archiver::open(Arc::clone(engine.engine()), settings).expect("a new archive");
        let world = RestoreWorld { root, keyring, engine, archiver, checkpoint: None };
        let (engine, keyring) = (Arc::clone(&world.engine), Arc::clone(&world.keyring));
        (world, engine, keyring, MemoryBook::new())
    }

    /// Opens a merchant with this number of rounds of payments, and takes the checkpoint.
    fn begin<'e>(
        &mut self,
        engine: &'e DiskStore,
        keyring: &Arc<Keyring>,
        rounds: u64,
        book: &mut MemoryBook,
    ) -> FilledMerchant<'e, DiskStore> {
        let mut shop = FilledMerchant::open(engine, keyring, 1);
        shop.trade(rounds, book);
        self.take(book);
        shop
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Takes the checkpoint, with a book of these lines.
    fn take(&mut self, lines: &MemoryBook) {
        let mut book = RocksBook::open(&self.engine.engine().directory().join("sandbox")).expect("it is new");
        let lines: Vec<_> = lines.entries().map(|line| line.expect("sound")).collect();
        book.write(&lines).expect("it is open");
        let shelf = Shelf::in_directory(self.at("checkpoints"));
        let checkpointer = Checkpointer::new(
            Arc::clone(self.engine.engine()),
            vec![BookBeside { directory: "sandbox", book: Box::new(book) }],
            shelf,
            Arc::new(
                TableInspector::open(self.engine.engine().directory(), vec!["db", "sandbox"], None).expect("writable"),
            ),
        );
        let wanted = CheckpointRequest { name: "one", taken_at_ms: 1, program: "0.1.0" };
        self.checkpoint = Some(checkpointer.take(&wanted).unwrap_or_else(|error| panic!("{error}")));
        self.archiver.catch_up().expect("it can be written to");
    }

    fn taken(&self) -> &TakenCheckpoint {
        self.checkpoint.as_ref().expect("it was taken")
    }

    fn reach(&self, until: Until) -> Result<u64, ArchiveError> {
        let store = StoppedStore::open(&options(&self.taken().directory)).expect("it opens");
        check_reach(&store, &self.at("archive"), until)
    }

    /// Restores to a moment, and verifies the result.
    fn restore(&self, until: Until) -> (Restored, BTreeMap<MerchantId, Sequence>, PathBuf) {
        let to = self.at("restored");
        if to.exists() {
            fs::remove_dir_all(&to).expect("it can be removed");
        }
        copied(self.taken(), &to);
        let mut book = RocksBook::open(&to.join("sandbox")).expect("it opens");
        let restored = restore_to(&options(&to), &self.at("archive"), until, &self.keyring, &mut book, &mut |_| {});
        drop(book);
        let restored = restored.unwrap_or_else(|error| panic!("{until:?}: {}", error.chain()));
        let (report, heads) = self.look_at(&to);
        assert!(report.is_clean(), "{until:?}: {:?}", report.faults);
        (restored, heads, to)
    }

    fn look_at(&self, directory: &Path) -> (Report, BTreeMap<MerchantId, Sequence>) {
        let store = StoppedStore::open(&options(directory)).expect("it opens");
        let book = RocksBook::open_read_only(&directory.join("sandbox")).expect("it opens");
        let scratch = directory.join("scratch");
        let options = VerifyOptions { acknowledged: Some(store.acknowledged()), ..VerifyOptions::new(scratch) };
        let report = verify(&store, &self.keyring, Some(&book), &options, &mut |_| {}).expect("in memory");
        let heads = layout::read_merchants(&store, None, 100).expect("readable").into_iter();
        (report, heads.map(|(merchant, head)| (merchant, head.sequence)).collect())
    }

    /// The ends of all logs, counting the wanted commits of the archive.
    fn expected(&self, wanted: impl Fn(CommitNumber, u64) -> bool) -> BTreeMap<MerchantId, Sequence> {
        let mut ends = BTreeMap::new();
        let show = &mut |commit: till_operate::archive::ArchivedCommit| {
            for bytes in &commit.records {
                let header = record::decode(bytes).expect("sound").header;
                if wanted(commit.commit, header.at_ms) {
                    ends.insert(header.merchant_id, header.sequence);
                }
            }
        };
        each_commit(&self.at("archive"), show).expect("sound");
        ends
    }
}

#[test]
fn a_store_restored_to_any_commit_is_complete_and_has_no_fault() {
    let (mut world, engine, keyring, mut book) = RestoreWorld::new();
    let mut shop = world.begin(&engine, &keyring, 2, &mut book);
    shop.trade(3, &mut book);
    let mut other = FilledMerchant::open(engine.as_ref(), &keyring, 2);
    other.trade(1, &mut book);
    shop.wait_seconds(30 * 86_400);
    shop.sweep();
    world.archiver.catch_up().expect("it can be written to");
    let (first, last) = (world.taken().manifest.last_commit.0, engine.last_commit().0);
    assert!(last > first + 60, "{first} to {last}");
    for commit in (first..=last).step_by(7).chain([last]).map(CommitNumber) {
        world.reach(Until::Commit(commit)).unwrap_or_else(|error| panic!("{error}"));
        let (restored, heads, _) = world.restore(Until::Commit(commit));
        assert_eq!((restored.last, restored.applied), (commit, commit.0 - first));
        assert_eq!(heads, world.expected(|number, _| number <= commit), "commit {commit}");
    }
    let before = world.reach(Until::Commit(CommitNumber(first - 1)));
    assert!(
        matches!(before, Err(ArchiveError::BeforeCheckpoint { earliest, .. }) if earliest.0 == first),
        "{before:?}"
    );
    let beyond = world.reach(Until::Commit(CommitNumber(last + 1)));
    assert!(matches!(beyond, Err(ArchiveError::BeyondEnd { end, .. }) if end.0 == last), "{beyond:?}");
}

#[test]
fn a_restore_to_a_time_cuts_each_log_at_it_despite_clock_steps() {
    let (mut world, engine, keyring, mut book) = RestoreWorld::new();
    let mut shop = world.begin(&engine, &keyring, 1, &mut book);
    shop.trade(3, &mut book);
    // Its clock begins at the same time as the other one's: its commits are later, and their times earlier.
    FilledMerchant::open(engine.as_ref(), &keyring, 2).trade(4, &mut book);
    world.archiver.catch_up().expect("it can be written to");
    let store = StoppedStore::open(&options(&world.taken().directory)).expect("it opens");
    let earliest = earliest_moment(&store).expect("readable");
    drop(store);
    for moment in (0..5).map(|part| earliest + part * 5_000_000) {
        world.reach(Until::Moment(moment)).unwrap_or_else(|error| panic!("{error}"));
        let (restored, heads, _) = world.restore(Until::Moment(moment));
        assert_eq!(heads, world.expected(|_, at| at <= moment), "{moment}");
        assert!(restored.last_at_ms.is_none_or(|at| at <= moment), "{restored:?}");
    }
    let before = world.reach(Until::Moment(earliest - 1));
    assert!(matches!(before, Err(ArchiveError::BeforeItsMoment { earliest_ms, .. }) if earliest_ms == earliest));
}

#[test]
fn a_restore_snapshots_long_logs_and_refuses_the_old_archive() {
    let (mut world, engine, keyring, mut book) = RestoreWorld::new();
    let mut shop = world.begin(&engine, &keyring, 1, &mut book);
    shop.trade(80, &mut book);
    world.archiver.catch_up().expect("it can be written to");
    let (_, heads, to) = world.restore(Until::End);
    let restored = Arc::new(opened(&options(&to), Archiving::Queued));
    let newest = restored.newest_snapshots(shop.merchant_id, 1).expect("readable").remove(0);
    assert_eq!(newest.at.sequence, heads[&shop.merchant_id]);
    assert_ne!(restored.engine().identity(), engine.engine().identity());
    let epoch = |store: &DiskStore| store.claim(shop.merchant_id).expect("readable").epoch;
    assert!(epoch(&restored) > epoch(&engine), "claims of the restored store shut out all that were");
    let settings = archive_settings(world.at("archive"));
    drop(world.archiver);
    let refused = Archiver::open(Arc::clone(restored.engine()), settings).map(drop);
    assert!(matches!(refused, Err(ArchiveError::OtherStore { .. })), "{refused:?}");
}

#[test]
fn a_copy_of_a_checkpoint_becomes_another_store_without_a_queue() {
    let (mut world, engine, keyring, mut book) = RestoreWorld::new();
    world.begin(&engine, &keyring, 1, &mut book);
    let to = world.at("plain");
    copied(world.taken(), &to);
    begin_anew(&options(&to)).expect("it can be opened");
    assert!(world.look_at(&to).0.is_clean());
    let store = StoppedStore::open(&options(&to)).expect("it opens");
    assert_ne!(store.identity().expect("readable"), Some(engine.engine().identity()));
    let queued = store.scan(RowRange::forward(Family::Meta, b"U", b"V"), 10).expect("readable");
    assert!(queued.is_empty(), "what the other had to archive is not this one's");
}

#[test]
fn a_restore_forgets_persons_who_were_forgotten_later() {
    let (mut world, engine, keyring, mut book) = RestoreWorld::new();
    let mut shop = world.begin(&engine, &keyring, 1, &mut book);
    shop.trade(1, &mut book);
    let before = engine.last_commit();
    let merchant_id = shop.merchant_id;
    let key = customer_key(engine.as_ref(), merchant_id).expect("there is one");
    forget(&engine, merchant_id, &key);
    world.archiver.catch_up().expect("it can be written to");
    let (restored, _, to) = world.restore(Until::Commit(before));
    assert_eq!((restored.forgotten, restored.left_out, restored.last), (1, 1, before));
    let store = StoppedStore::open(&options(&to)).expect("it opens");
    assert_eq!(store.get(Family::Vault, &key).expect("readable"), None);
}

/// The key of a customer's row in the vault.
fn customer_key(store: &DiskStore, merchant_id: MerchantId) -> Option<Vec<u8>> {
    let lower = [merchant_id.to_bytes().as_slice(), &[CUSTOMER]].concat();
    let upper = [merchant_id.to_bytes().as_slice(), &[CUSTOMER + 1]].concat();
    let rows = store.scan(RowRange::forward(Family::Vault, &lower, &upper), 1).expect("readable");
    rows.into_iter().next().map(|(key, _)| key).filter(|key| key[KIND_AT] == CUSTOMER)
}

/// Removes a row of the vault, as a commit without a record.
fn forget(engine: &DiskStore, merchant_id: MerchantId, key: &[u8]) {
    let claim = engine.claim(merchant_id).expect("readable");
    let append = Append {
        merchant_id,
        epoch: claim.epoch,
        expected_head: claim.head,
        new_head: claim.head,
        batch_id: BatchId([1; 16]),
        records: Vec::new(),
        vault: [RowWrite { family: Family::Vault, key, value: None }].into_iter().collect(),
        derived: RowWrites::default(),
        snapshot: None,
        may_use_reserve: false,
    };
    let verdicts = engine.append(vec![append]);
    assert!(matches!(verdicts[..], [AppendVerdict::Committed(_)]), "{verdicts:?}");
}
