//! Checkpoints of a store that is written to, and restores from them.

#[path = "../../tests/fixtures/mod.rs"]
mod fixtures;

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fixtures::{Chain, merchant, open_store};
use tempfile::TempDir;
use till_domain::ids::{MerchantId, PaymentId, WebhookEventId, WebhookId};
use till_domain::money::{AmountMinor, Money};
use till_operate::acquirer_book::CopiedBook;
use till_operate::checkpoint::manifest::ManifestEntry;
use till_operate::checkpoint::{
    BookBeside, CheckpointError, CheckpointRequest, CheckpointStage, CheckpointStatus, Checkpointer, FileWrong,
    KeptCheckpoint, MANIFEST_FILE, Manifest, Reading, Restoring, Shelf, TakenCheckpoint, check_files, compare_heads,
    read_manifest,
};
use till_operate::scrub::TableInspector;
use till_sandbox::book::{Book, BookLine, BookOperation, FollowUp, RocksBook};
use till_storage::deliveries::{Deliveries, DeliveryBatch, RocksDeliveries, WebhookProgress};
use till_storage::disk_store::DiskStore;
use till_storage::engine::{EngineOptions, OpenError, StoppedStore, table_damage};
use till_storage::family::Family;
use till_storage::journal::{Append, AppendVerdict, CommitNumber, Head, Journal, Sequence, StoredRecord, record};
use till_storage::rows::{RowReader, RowStore};

/// Asserts that a result is a refusal of this shape.
macro_rules! assert_refused {
    ($result:expr, $refusal:pat) => {
        let refused = $result;
        assert!(matches!(refused, Err($refusal)), "{refused:?}");
    };
}

/// Two merchants that write all the time, and two with records from before and after a line of the book.
const SHOPS: [MerchantId; 2] = [merchant(1), merchant(2)];
const ASKED: MerchantId = merchant(3);
const DONE: MerchantId = merchant(4);

/// Small enough that tables are written while a test runs.
const MEMTABLE_BYTES: usize = 64 * 1024;

fn options(directory: &Path) -> EngineOptions {
    EngineOptions { disk_reserve_bytes: 0, memtable_bytes: MEMTABLE_BYTES, ..EngineOptions::new(directory) }
}

/// A running store with a book, and a shelf beside it.
struct CheckpointWorld {
    directory: TempDir,
    engine: Arc<DiskStore>,
    book: RocksBook,
    deliveries: Arc<RocksDeliveries>,
    checkpointer: Checkpointer,
}

impl CheckpointWorld {
    fn new() -> CheckpointWorld {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let data = directory.path().join("data");
        let engine = Arc::new(open_store(&options(&data)).expect("nothing is missing"));
        let book = RocksBook::open(&data.join("sandbox")).expect("it is new");
        let deliveries = Arc::new(open_deliveries(&data.join("webhooks")));
        let books: [(&str, Box<dyn CopiedBook>); 2] =
            [("sandbox", Box::new(book.clone())), ("webhooks", Box::new(Arc::clone(&deliveries)))];
        let books = books.into_iter().map(|(directory, book)| BookBeside { directory, book }).collect();
        let shelf = Shelf::in_directory(directory.path().join("checkpoints"));
        let checkpointer = Checkpointer::new(Arc::clone(engine.engine()), books, shelf, inspector(&data));
        CheckpointWorld { directory, engine, book, deliveries, checkpointer }
    }

    /// A store that has written enough for tables and logs.
    fn filled() -> CheckpointWorld {
        let world = CheckpointWorld::new();
        append(&world.engine, SHOPS[0], 300);
        append(&world.engine, SHOPS[1], 20);
        world.book.clone().write(&[line("pay_1/capture")]).expect("it is open");
        world
    }

    fn take(&self, name: &str) -> TakenCheckpoint {
        self.try_take(name).unwrap_or_else(|error| panic!("{error}"))
    }

    fn try_take(&self, name: &str) -> Result<TakenCheckpoint, CheckpointError> {
        self.checkpointer.take(&wanted(name))
    }

    fn stop_after(&self, name: &str, last: CheckpointStage) {
        let stopped = self.checkpointer.take_until(&wanted(name), &mut |step| step != last);
        assert!(matches!(stopped, Err(CheckpointError::Stopped { step }) if step == last), "{last:?}: {stopped:?}");
    }

    fn shelf(&self) -> &Shelf {
        self.checkpointer.shelf()
    }

    fn prune(&self, keep: usize, prefix: &str, newest: Option<&str>) -> Vec<String> {
        self.shelf().prune(keep, prefix, newest).expect("no other process uses the shelf")
    }

    fn take_at(&self, name: &str, taken_at_ms: u64) {
        let wanted = CheckpointRequest { taken_at_ms, ..wanted(name) };
        self.checkpointer.take(&wanted).unwrap_or_else(|error| panic!("{error}"));
    }

    /// The refusal to take a checkpoint because of these damaged tables.
    #[track_caller]
    fn refuses_damage(&self, name: &str, damaged: &str) {
        let refused = self.try_take(name);
        assert!(matches!(&refused, Err(CheckpointError::TableDamaged { tables }) if tables == damaged), "{refused:?}");
    }

    fn complete(&self) -> Vec<String> {
        let complete = |kept: KeptCheckpoint| matches!(kept.status, CheckpointStatus::Complete(_)).then_some(kept.name);
        self.shelf().list().expect("readable").into_iter().filter_map(complete).collect()
    }

    fn below(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The checkpoint restored to a directory of this name.
    fn restore(&self, taken: &TakenCheckpoint, name: &str) -> PathBuf {
        let to = self.below(name);
        restored(&taken.directory, &taken.manifest, &to);
        to
    }
}

/// Reads tables once.
fn inspector(data: &Path) -> Arc<TableInspector> {
    Arc::new(TableInspector::open(data, vec!["db", "sandbox", "webhooks"], None).expect("writable"))
}

#[track_caller]
fn check_sound(taken: &TakenCheckpoint) {
    check_files(&taken.directory, &taken.manifest, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
}

fn open_deliveries(directory: &Path) -> RocksDeliveries {
    RocksDeliveries::open(directory, 0, Duration::from_secs(60)).unwrap_or_else(|error| panic!("{error}"))
}

fn wanted(name: &str) -> CheckpointRequest<'_> {
    CheckpointRequest { name, taken_at_ms: 1_750_000_000_000, program: "0.1.0" }
}

fn restored(from: &Path, manifest: &Manifest, to: &Path) {
    let restoring = Restoring::copy(from, manifest, to, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    restoring.finish().expect("its marker is there");
}

fn append(engine: &DiskStore, merchant_id: MerchantId, batches: usize) {
    let mut chain = Chain::claim(engine, merchant_id);
    for _ in 0..batches {
        append_to(engine, &mut chain);
    }
}

fn append_to(engine: &DiskStore, chain: &mut Chain) {
    let mut append = chain.batch(&[&[7; 300]]);
    append.derived = chain.row(append.new_head.sequence.0, Some(&[3; 100]));
    commit(engine, append);
}

fn commit(engine: &DiskStore, append: Append) {
    let verdicts = engine.append(vec![append]);
    assert!(matches!(verdicts[..], [AppendVerdict::Committed(_)]), "{verdicts:?}");
}

fn line(reference: &str) -> BookLine {
    let amount = AmountMinor::new(100).expect("an amount");
    BookLine {
        reference: reference.to_owned(),
        merchant: ASKED,
        payment: Some(PaymentId::from_bytes([5; 16])),
        money: Money { amount, currency: "THB".parse().expect("a currency") },
        asked_at_ms: 1,
        operation: BookOperation::FollowUp {
            what: FollowUp::Capture,
            authorization: "pay_1/authorize".to_owned(),
            declined: None,
        },
    }
}

fn records(engine: &DiskStore, merchant_id: MerchantId) -> Vec<StoredRecord> {
    let (mut all, mut next) = (Vec::new(), Sequence(1));
    loop {
        let page = engine.read(merchant_id, next, usize::MAX).expect("readable");
        if page.is_empty() {
            return all;
        }
        all.extend(page);
        next = Sequence(u64::try_from(all.len()).expect("few") + 1);
    }
}

/// The records of a merchant, each of which follows the one before, up to its head and the position of its rows.
fn checked_records(engine: &DiskStore, merchant_id: MerchantId) -> Vec<StoredRecord> {
    let records = records(engine, merchant_id);
    let mut head = Head::EMPTY;
    for stored in &records {
        let record = record::decode(&stored.bytes).expect("it is whole");
        head = record.follow(merchant_id, head).expect("it follows");
        let chain = Chain { merchant_id, epoch: record.header.epoch, head };
        let row = engine.get(Family::Rows, &chain.row_key(head.sequence.0)).expect("readable");
        assert!(row.is_some(), "the row of {head:?} is missing");
    }
    assert_eq!((engine.head(merchant_id), engine.applied(merchant_id)), (Ok(head), Ok(head)));
    records
}

/// A thread that does something again and again until it is told to stop.
struct Busy {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<u64>,
}

impl Busy {
    fn with(mut act: impl FnMut(u64) + Send + 'static) -> Busy {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let run = move || {
            let mut times = 0;
            while !told.load(Ordering::Acquire) {
                act(times);
                times += 1;
            }
            times
        };
        Busy { stop, thread: thread::spawn(run) }
    }

    fn end(self) -> u64 {
        self.stop.store(true, Ordering::Release);
        self.thread.join().expect("it does not panic")
    }
}

#[test]
fn a_checkpoint_of_a_busy_store_has_a_prefix_of_every_log() {
    let world = CheckpointWorld::filled();
    let engine = Arc::clone(&world.engine);
    let mut chains = SHOPS.map(|shop| Chain::claim(engine.as_ref(), shop));
    let busy = Busy::with(move |_| chains.iter_mut().for_each(|chain| append_to(&engine, chain)));
    let mut takes = Vec::new();
    for name in ["first", "second", "third"] {
        let before = world.engine.last_commit();
        let taken = world.take(name);
        takes.push((before, taken));
    }
    assert!(busy.end() > 0, "it was written to meanwhile");
    for (number, (before, taken)) in takes.iter().enumerate() {
        check_sound(taken);
        let store = StoppedStore::open(&options(&taken.directory)).expect("it is as a stopped server leaves it");
        assert_eq!(compare_heads(&taken.directory, &store).expect("readable"), None);
        assert_eq!(store.acknowledged(), taken.manifest.last_commit, "a start on it would miss what goes missing");
        drop(store);
        let copy = open_store(&options(&world.restore(taken, &format!("copy-{number}")))).expect("sound");
        assert_eq!(copy.last_commit(), taken.manifest.last_commit);
        assert!(copy.last_commit() >= *before, "what was acknowledged before is in it");
        let mut last_record = CommitNumber(0);
        for shop in SHOPS {
            let (had, has) = (checked_records(&copy, shop), records(&world.engine, shop));
            assert_eq!(had, has[..had.len()], "the same bytes under the same numbers");
            let next = has.get(had.len()).map(|record| record.commit);
            assert!(next.is_none_or(|next| next > copy.last_commit()), "none is left out");
            last_record = last_record.max(had.last().map_or(last_record, |record| record.commit));
        }
        assert_eq!(last_record, copy.last_commit());
    }
}

/// The length of the newest log of a database.
fn newest_log_bytes(database: &Path) -> u64 {
    let files = fs::read_dir(database).expect("it is there").flatten().map(|file| file.path());
    let newest = files.filter(|file| file.extension().is_some_and(|extension| extension == "log")).max();
    fs::metadata(newest.expect("there is always one")).map_or(0, |log| log.len())
}

#[test]
fn a_checkpoint_of_a_busy_store_waits_for_a_short_log() {
    const MIB: usize = 1024 * 1024;
    const LONG_BYTES: u64 = 20 * 1024 * 1024;
    let directory = tempfile::tempdir().expect("a temporary directory");
    let data = directory.path().join("data");
    let options = EngineOptions { memtable_bytes: 64 * MIB, ..options(&data) };
    let engine = Arc::new(open_store(&options).expect("nothing is missing"));
    let (busy_engine, mut chain) = (Arc::clone(&engine), Chain::claim(engine.as_ref(), SHOPS[0]));
    let mut append = move || {
        let append = chain.batch(&[&[7; MIB / 4]]);
        commit(&busy_engine, append);
    };
    (0..200).take_while(|_| newest_log_bytes(&data.join("db")) < LONG_BYTES).for_each(|_| append());
    assert!(newest_log_bytes(&data.join("db")) >= LONG_BYTES);
    let busy = Busy::with(move |_| append());
    let shelf = Shelf::in_directory(directory.path().join("checkpoints"));
    let checkpointer = Checkpointer::new(Arc::clone(engine.engine()), Vec::new(), shelf, inspector(&data));
    let taken = checkpointer.take(&wanted("short")).unwrap_or_else(|error| panic!("{error}"));
    busy.end();
    let copied = newest_log_bytes(&taken.directory.join("db"));
    assert!(copied < LONG_BYTES, "{copied} bytes");
    check_sound(&taken);
}

#[test]
fn log_and_book_of_a_checkpoint_agree() {
    let world = CheckpointWorld::new();
    let (engine, mut book) = (Arc::clone(&world.engine), world.book.clone());
    let (mut asked, mut done) = (Chain::claim(engine.as_ref(), ASKED), Chain::claim(engine.as_ref(), DONE));
    let busy = Busy::with(move |number| {
        append_to(&engine, &mut asked);
        book.write(&[line(&format!("pay_{number}/capture"))]).expect("it is open");
        append_to(&engine, &mut done);
    });
    let takes: Vec<TakenCheckpoint> = (0..5).map(|number| world.take(&format!("c-{number}"))).collect();
    busy.end();
    for (number, taken) in takes.iter().enumerate() {
        let directory = world.restore(taken, &format!("copy-{number}"));
        let copy = open_store(&options(&directory)).expect("sound");
        let lines = RocksBook::open_read_only(&directory.join("sandbox")).expect("sound").entries().count();
        let (asked, done) = (checked_records(&copy, ASKED).len(), checked_records(&copy, DONE).len());
        assert!(done <= lines && lines <= asked, "{done} done, {lines} in the book, {asked} asked for");
    }
}

#[test]
fn webhook_deliveries_are_checkpointed_and_restored() {
    let world = CheckpointWorld::filled();
    let webhook_id = WebhookId::from_bytes([7; 16]);
    let write = |number| {
        let handled_up_to = WebhookEventId::from_bytes([number; 16]);
        let progress = WebhookProgress { handled_up_to, failing_ms: 0, failed_at: None, redelivered: None };
        let batch = DeliveryBatch { progress: Some((webhook_id, progress)), ..DeliveryBatch::default() };
        world.deliveries.write(SHOPS[0], &batch).expect("it is open");
        progress
    };
    let before = write(1);
    let taken = world.take("with-deliveries");
    write(2);
    let copy = open_deliveries(&world.restore(&taken, "copy").join("webhooks"));
    assert_eq!(copy.progress(SHOPS[0], webhook_id), Ok(Some(before)));
}

#[test]
fn deliveries_are_not_written_while_a_checkpoint_holds_them() {
    let world = CheckpointWorld::new();
    let (held, deliveries) = (CopiedBook::hold(&world.deliveries), Arc::clone(&world.deliveries));
    let (sender, written) = mpsc::channel();
    let writer = thread::spawn(move || sender.send(deliveries.write(SHOPS[0], &DeliveryBatch::default())));
    assert!(written.recv_timeout(Duration::from_millis(100)).is_err(), "it waits");
    held(&world.below("data").join("linked")).expect("its files can be linked");
    assert_eq!(written.recv_timeout(Duration::from_secs(60)), Ok(Ok(())));
    writer.join().expect("the writer does not panic").expect("the receiver still exists");
}

#[test]
fn a_crash_after_any_stage_leaves_no_complete_checkpoint() {
    let world = CheckpointWorld::filled();
    for last in CheckpointStage::ALL {
        world.stop_after("cut-off", last);
        let named = last == CheckpointStage::Named;
        assert_eq!(world.complete().contains(&"cut-off".to_owned()), named, "{last:?}");
        assert_eq!(world.shelf().directory().join("cut-off").exists(), named, "{last:?}");
        append(&world.engine, SHOPS[1], 1);
        if !named {
            let left = world.shelf().directory().join("cut-off.in-progress");
            assert!(matches!(read_manifest(&left), Err(CheckpointError::Unfinished { .. })), "{last:?}");
            world.checkpointer.clear().expect("no other process uses the shelf");
            assert!(!left.exists() && !world.below("data").join("checkpoint-staging").exists(), "{last:?}");
            world.stop_after("cut-off", last);
        }
        let name = format!("after-{last:?}").to_lowercase();
        let taken = world.take(&name);
        check_sound(&taken);
        assert!(!world.below("data").join("checkpoint-staging").exists(), "{last:?}");
    }
    let unfinished = |kept: &KeptCheckpoint| !matches!(kept.status, CheckpointStatus::Complete(_));
    assert!(!world.shelf().list().expect("readable").iter().any(unfinished));
}

#[test]
fn a_flipped_byte_in_any_file_is_found_by_check_and_restore() {
    let world = CheckpointWorld::filled();
    let taken = world.take("flipped");
    let kinds = ["db/CURRENT", "db/MANIFEST-", "db/OPTIONS-", ".log", ".sst", "sandbox/CURRENT", "heads", "high-water"];
    let files: Vec<String> = taken.manifest.files.iter().map(|file| file.path.display().to_string()).collect();
    for kind in kinds {
        assert!(files.iter().any(|file| file.contains(kind)), "{kind} is not among {files:?}");
    }
    for entry in taken.manifest.files.iter().filter(|file| file.bytes > 0) {
        flip(&taken.directory.join(&entry.path), entry.bytes / 2);
        let error = check_files(&taken.directory, &taken.manifest, &mut |_| {}).expect_err("it is damaged");
        let CheckpointError::Damaged { faults, .. } = &error else { panic!("{error}") };
        let [fault] = &faults[..] else { panic!("{error}") };
        assert_eq!((&fault.path, &fault.wrong), (&entry.path, &FileWrong::Checksum));
        assert!(error.to_string().contains(&entry.path.display().to_string()), "{error}");
        if entry.path != Path::new("heads") {
            let to = tempfile::tempdir().expect("a temporary directory");
            let error = Restoring::copy(&taken.directory, &taken.manifest, to.path(), &mut |_| {});
            let error = error.expect_err("it is damaged").to_string();
            assert!(error.contains(&entry.path.display().to_string()), "{error}");
            assert_refused!(open_store(&options(to.path())).map(drop), OpenError::RestoreUnfinished { .. });
        }
        flip(&taken.directory.join(&entry.path), entry.bytes / 2);
    }
    flip(&taken.directory.join(MANIFEST_FILE), 30);
    let error = read_manifest(&taken.directory).expect_err("it is damaged").to_string();
    assert!(error.contains(MANIFEST_FILE), "{error}");
}

fn flip(file: &Path, at: u64) {
    let open = OpenOptions::new().read(true).write(true).open(file).unwrap_or_else(|error| panic!("{error}"));
    let mut byte = [0];
    open.read_exact_at(&mut byte, at).expect("it is that long");
    open.write_all_at(&[byte[0] ^ 0x10], at).expect("writable");
}

#[test]
fn a_missing_shortened_or_unlisted_file_is_reported() {
    let world = CheckpointWorld::filled();
    let taken = world.take("cut");
    let current = taken.directory.join("db/CURRENT");
    let sound = fs::read(&current).expect("readable");
    let faults = || -> Vec<(PathBuf, FileWrong)> {
        match check_files(&taken.directory, &taken.manifest, &mut |_| {}) {
            Err(CheckpointError::Damaged { faults, .. }) => {
                faults.into_iter().map(|fault| (fault.path, fault.wrong)).collect()
            }
            other => panic!("{other:?}"),
        }
    };
    fs::write(&current, &sound[1..]).expect("writable");
    let expected = u64::try_from(sound.len()).expect("small");
    let length = FileWrong::Length { expected, found: expected - 1 };
    assert_eq!(faults(), vec![(PathBuf::from("db/CURRENT"), length)]);
    fs::remove_file(&current).expect("it is there");
    fs::write(taken.directory.join("db/000999.sst"), b"").expect("writable");
    let expected: Vec<(PathBuf, FileWrong)> =
        vec![("db/CURRENT".into(), FileWrong::Missing), ("db/000999.sst".into(), FileWrong::Unlisted)];
    assert_eq!(faults(), expected);
}

/// A table file that a checkpoint has.
fn first_table(taken: &TakenCheckpoint) -> &ManifestEntry {
    let is_table = |file: &&ManifestEntry| file.path.extension().is_some_and(|extension| extension == "sst");
    taken.manifest.files.iter().find(is_table).expect("tables were written")
}

#[test]
fn a_table_damaged_between_two_checkpoints_is_found_later() {
    let world = CheckpointWorld::filled();
    let first = world.take("first");
    let table = &first_table(&first).path;
    flip(&first.directory.join(table), 10);
    let second = world.take("second");
    let linked = |taken: &TakenCheckpoint| fs::metadata(taken.directory.join(table)).expect("it is there").ino();
    assert_eq!(linked(&first), linked(&second), "no table was rewritten meanwhile");
    let error = check_files(&second.directory, &second.manifest, &mut |_| {}).expect_err("it is damaged");
    assert!(error.to_string().contains(&table.display().to_string()), "{error}");
}

#[test]
fn a_table_is_read_before_the_first_checkpoint_takes_it() {
    let world = CheckpointWorld::filled();
    let data = world.below("data");
    let first = world.take("first");
    let known: Vec<&Path> = first.manifest.files.iter().map(|file| file.path.as_path()).collect();
    append(&world.engine, SHOPS[0], 300);
    let is_new = |table: &PathBuf| {
        table.extension().is_some_and(|end| end == "sst") && !known.contains(&table.strip_prefix(&data).expect("below"))
    };
    let new_tables = || -> BTreeSet<PathBuf> {
        let files = fs::read_dir(data.join("db")).expect("readable").map(|entry| entry.expect("it lists").path());
        files.filter(is_new).collect()
    };
    // A table that RocksDB is about to merge would be gone before the checkpoint.
    let mut tables = new_tables();
    loop {
        thread::sleep(Duration::from_millis(300));
        let later = new_tables();
        if std::mem::replace(&mut tables, later.clone()) == later {
            break;
        }
    }
    let table = tables.pop_first().expect("the memtable is small");
    flip(&table, 10);
    let name = table.strip_prefix(&data).expect("it is below").display().to_string();
    world.refuses_damage("second", &name);
    assert_eq!(world.complete(), ["first"]);
    assert!(
        !data.join("checkpoint-staging").exists() && !world.shelf().directory().join("second.in-progress").exists()
    );
    world.refuses_damage("third", &name);
    flip(&table, 10);
    table_damage::forget(&data, |_| true).expect("writable");
    let third = world.take("third");
    assert!(third.manifest.tables_read_at_ms >= first.manifest.tables_read_at_ms);
}

#[test]
fn a_table_of_another_length_is_found_in_the_later_checkpoint() {
    for grows in [true, false] {
        let world = CheckpointWorld::filled();
        let first = world.take("first");
        let table = first_table(&first);
        let file = OpenOptions::new().write(true).open(first.directory.join(&table.path)).expect("it is there");
        file.set_len(if grows { table.bytes + 1 } else { table.bytes - 1 }).expect("writable");
        let error = match world.try_take("second") {
            Ok(second) => check_files(&second.directory, &second.manifest, &mut |_| {}).expect_err("it is damaged"),
            Err(refused) => refused, // A table of heads, which are read.
        };
        assert!(error.to_string().contains(&table.path.display().to_string()), "{error}");
    }
}

#[test]
fn a_checkpoint_shares_only_tables_and_a_restore_shares_nothing() {
    let world = CheckpointWorld::filled();
    let taken = world.take("shared");
    let copy = world.restore(&taken, "copy");
    for entry in &taken.manifest.files {
        let links = fs::metadata(taken.directory.join(&entry.path)).expect("it is there").nlink();
        let is_table = entry.path.extension().is_some_and(|extension| extension == "sst");
        assert!(links == 1 || is_table, "{} has {links} names", entry.path.display());
        assert!(
            fs::metadata(copy.join(&entry.path)).is_ok_and(|file| file.nlink() == 1)
                || entry.path == Path::new("heads")
        );
    }
    let engine = open_store(&options(&copy)).expect("sound");
    append(&engine, SHOPS[0], 300);
    engine.close().expect("nothing fails");
    check_sound(&taken);
}

#[test]
fn a_directory_that_is_in_use_or_not_empty_is_not_restored_to() {
    let world = CheckpointWorld::filled();
    let taken = world.take("refused");
    let copy = |to: &Path| Restoring::copy(&taken.directory, &taken.manifest, to, &mut |_| {}).map(drop);
    assert_refused!(copy(&world.below("data")), CheckpointError::InUse { .. });
    let full = world.below("full");
    fs::create_dir(&full).expect("writable");
    fs::write(full.join("a"), b"a").expect("writable");
    assert_refused!(copy(&full), CheckpointError::NotEmpty { .. });
    assert_eq!(fs::read_dir(&full).expect("readable").count(), 1, "a refusal changes nothing");
    let empty = world.below("empty");
    fs::create_dir(&empty).expect("writable");
    restored(&taken.directory, &taken.manifest, &empty);
    let missing = world.below("a/b/missing");
    restored(&taken.directory, &taken.manifest, &missing);
    for directory in [empty, missing] {
        assert_eq!(open_store(&options(&directory)).expect("sound").last_commit(), taken.manifest.last_commit);
    }
}

#[test]
fn a_directory_that_is_not_a_checkpoint_is_refused() {
    let world = CheckpointWorld::filled();
    let none = world.directory.path();
    assert!(matches!(read_manifest(none), Err(CheckpointError::NoManifest { .. })));
    world.stop_after("cut-off", CheckpointStage::Listed);
    let unfinished = world.shelf().directory().join("cut-off.in-progress");
    assert!(matches!(read_manifest(&unfinished), Err(CheckpointError::Unfinished { .. })), "though all of it is there");
    let taken = world.take("newer");
    let body = "till-checkpoint 7\nwhatever it is\n";
    let text = format!("{body}end {}\n", blake3::hash(body.as_bytes()));
    fs::write(taken.directory.join(MANIFEST_FILE), text).expect("writable");
    let error = read_manifest(&taken.directory).expect_err("it is newer").to_string();
    assert!(error.contains('7') && error.contains("upgrade the program"), "{error}");
}

#[test]
fn no_server_starts_on_a_checkpoint_or_an_unfinished_restore() {
    let world = CheckpointWorld::filled();
    let taken = world.take("started");
    assert_refused!(open_store(&options(&taken.directory)).map(drop), OpenError::IsCheckpoint { .. });
    check_sound(&taken);
    let to = world.below("copy");
    let restoring = Restoring::copy(&taken.directory, &taken.manifest, &to, &mut |_| {}).expect("sound");
    assert_refused!(open_store(&options(&to)).map(drop), OpenError::RestoreUnfinished { .. });
    restoring.finish().expect("its marker is there");
    open_store(&options(&to)).expect("it was said to be sound");
}

#[test]
fn a_name_is_taken_once_and_made_of_few_characters() {
    let world = CheckpointWorld::filled();
    for name in ["", "A", "a.b", "../a", "-a", "a/b", &"a".repeat(65)] {
        let refused = world.try_take(name);
        assert!(matches!(refused, Err(CheckpointError::Name { .. })), "{name}: {refused:?}");
    }
    world.take(&"a".repeat(64));
    assert_refused!(world.try_take(&"a".repeat(64)), CheckpointError::NameTaken { .. });
}

#[test]
fn one_checkpoint_is_taken_or_removed_at_a_time() {
    let world = CheckpointWorld::filled();
    let mut refusals = Vec::new();
    let taken = world.checkpointer.take_until(&wanted("first"), &mut |step| {
        if step == CheckpointStage::Moved {
            refusals.push(world.try_take("second").map(drop));
            refusals.push(world.shelf().prune(0, "", None).map(drop));
        }
        true
    });
    assert!(taken.is_ok() && refusals.len() == 2, "{taken:?}");
    for refusal in refusals {
        assert!(matches!(refusal, Err(CheckpointError::Busy { .. })), "{refusal:?}");
    }
}

#[test]
fn a_store_with_a_damaged_table_gives_no_checkpoint() {
    let world = CheckpointWorld::filled();
    table_damage::note(&world.below("data"), "db/000009.sst", "Corruption: a block").expect("writable");
    world.refuses_damage("damaged", "db/000009.sst");
    assert!(!world.shelf().directory().exists());
}

#[test]
fn pruning_keeps_the_newest_and_removes_unfinished_checkpoints() {
    let world = CheckpointWorld::filled();
    for (name, taken_at_ms) in [("a-3", 3), ("a-1", 1), ("a-2", 2), ("b-1", 1)] {
        world.take_at(name, taken_at_ms);
    }
    world.stop_after("cut-off", CheckpointStage::Moved);
    assert_eq!(world.complete(), ["a-1", "b-1", "a-2", "a-3"], "the oldest first");
    assert_eq!(world.prune(2, "a-", None), ["cut-off.in-progress", "a-1"]);
    assert_eq!(world.complete(), ["b-1", "a-2", "a-3"]);
    assert_eq!(world.prune(1, "", None), ["b-1", "a-2"]);
    assert_eq!(world.complete(), ["a-3"]);
    assert!(world.prune(9, "", None).is_empty());
}

#[test]
fn a_checkpoint_that_is_being_read_is_not_pruned() {
    let world = CheckpointWorld::filled();
    let _taken = ["a-1", "a-2"].map(|name| world.take(name));
    let directory = world.shelf().directory().join("a-1");
    let readers = [(); 2].map(|()| Reading::begin(&directory));
    assert!(world.prune(0, "", None).is_empty());
    assert_eq!(world.complete(), ["a-1", "a-2"], "one is read, and the other is the newest");
    drop(readers);
    assert_eq!(world.prune(0, "", None), ["a-1"]);
}

#[test]
fn a_checkpoint_taken_after_a_clock_step_is_the_newest() {
    let world = CheckpointWorld::filled();
    let take = |name, taken_at_ms| {
        append(&world.engine, SHOPS[0], 1);
        world.take_at(name, taken_at_ms);
    };
    take("ahead-1", 9_000);
    take("ahead-2", 9_001);
    take("true-1", 2_000);
    assert_eq!(world.prune(2, "", None), ["ahead-1"]);
    assert_eq!(world.complete(), ["ahead-2", "true-1"]);
}

#[test]
fn pruning_keeps_the_checkpoint_that_was_just_taken() {
    let (further, world) = (CheckpointWorld::filled(), CheckpointWorld::new());
    append(&world.engine, SHOPS[0], 1);
    fs::rename(further.take("further").directory, {
        world.take("mine");
        world.shelf().directory().join("further")
    })
    .expect("on one file system");
    assert_eq!(world.complete(), ["mine", "further"]);
    assert_eq!(world.prune(1, "", Some("mine")), ["further"]);
    assert_eq!(world.complete(), ["mine"]);
}

#[test]
fn a_shelf_that_was_moved_to_another_disk_can_be_used() {
    let world = CheckpointWorld::filled();
    world.take("first");
    fs::remove_file(world.shelf().directory().join("shelf.lock")).expect("it was taken under it");
    world.take("second");
    assert_eq!(world.complete(), ["first", "second"]);
}

#[test]
fn a_shelf_whose_disk_is_not_mounted_gets_no_checkpoint() {
    let world = CheckpointWorld::filled();
    world.take("first");
    let (shelf, unmounted) = (world.shelf().directory().to_owned(), world.below("unmounted"));
    fs::rename(&shelf, &unmounted).expect("on one file system");
    for is_there in [false, true] {
        if is_there {
            fs::create_dir(&shelf).expect("it was moved away");
        }
        world.checkpointer.clear().expect("there is nothing to do");
        assert!(world.prune(0, "", None).is_empty());
        assert_refused!(world.try_take("second"), CheckpointError::Gone { .. });
        assert_eq!(fs::read_dir(&shelf).map(Iterator::count).unwrap_or_default(), 0, "nothing is made there");
    }
    fs::remove_dir(&shelf).expect("it is empty");
    fs::rename(&unmounted, &shelf).expect("on one file system");
    world.take("second");
    assert_eq!(world.complete(), ["first", "second"]);
    fs::remove_dir_all(&shelf).expect("it is there");
    fs::remove_file(world.below("data").join("checkpoints-known")).expect("it was noted");
    world.take("anew");
}
