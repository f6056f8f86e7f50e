//! Opening and closing a store on disk.

mod fixtures;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fixtures::{Chain, merchant, open_store, store_over};
use rocksdb::{DB, Options};
use tempfile::TempDir;
use till_domain::ids::MerchantId;
use till_storage::disk_store::{Archiving, DiskStore};
use till_storage::engine::high_water::{FoundMark, HighWater};
use till_storage::engine::{Engine, EngineOptions, FORMAT, OpenError, ROW_FORMAT};
use till_storage::family::Family;
use till_storage::journal::{AppendVerdict, CommitNumber, Journal, Sequence};
use till_storage::keys::{GivenUpKey, MetaKey};
use till_storage::rows::{RowReader, RowStore, RowWrite};

const SHOP: MerchantId = merchant(1);

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn options(directory: &Path) -> EngineOptions {
    EngineOptions { disk_reserve_bytes: 0, ..EngineOptions::new(directory) }
}

fn open(directory: &Path) -> Result<DiskStore, OpenError> {
    open_store(&options(directory))
}

fn opened(directory: &Path) -> DiskStore {
    open(directory).unwrap_or_else(|error| panic!("{error}"))
}

fn new_store() -> (TempDir, DiskStore) {
    let directory = directory();
    let engine = opened(directory.path());
    (directory, engine)
}

fn refused(directory: &Path) -> OpenError {
    match open(directory) {
        Ok(_) => panic!("it opened"),
        Err(error) => error,
    }
}

fn append(engine: &DiskStore, batches: usize) {
    let mut shop = Chain::claim(engine, SHOP);
    for _ in 0..batches {
        let verdicts = engine.append(vec![shop.batch_with_row()]);
        assert!(matches!(verdicts[..], [AppendVerdict::Committed(_)]), "{verdicts:?}");
    }
}

fn logs(directory: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(directory.join("db")).expect("it is there").flatten().map(|entry| entry.path());
    let mut logs: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|name| name == "log")).collect();
    logs.sort();
    logs
}

/// The newest log, cut off after `commits` of the commits that `append` wrote into a new store.
fn cut_log(directory: &Path, kept_bytes: impl Fn(u64) -> u64) -> PathBuf {
    let log = logs(directory).pop().expect("a live store has a log");
    let length = fs::metadata(&log).expect("it is there").len();
    let file = fs::OpenOptions::new().write(true).open(&log).expect("writable");
    file.set_len(kept_bytes(length)).expect("cut off");
    log
}

fn meta(directory: &Path, key: &[u8], value: &[u8]) {
    let names = Family::ALL.map(Family::name);
    let db = DB::open_cf(&Options::default(), directory.join("db"), names).expect("it is closed");
    db.put_cf(db.cf_handle("meta").expect("it was opened"), key, value).expect("writable");
}

#[test]
fn a_clean_close_leaves_empty_logs_and_the_last_commits_mark() {
    let (directory, engine) = new_store();
    append(&engine, 3);
    assert!(logs(directory.path()).iter().any(|log| fs::metadata(log).is_ok_and(|log| log.len() > 0)));
    engine.close().expect("nothing fails");
    assert!(matches!(engine.append(vec![Chain::claim_closed(SHOP)])[..], [AppendVerdict::Unavailable(_)]));
    drop(engine);
    for log in logs(directory.path()) {
        assert_eq!(fs::metadata(&log).expect("it is there").len(), 0, "{}", log.display());
    }
    let (_, found) = HighWater::open(directory.path()).expect("nobody has it");
    let FoundMark::Mark(mark) = found else { panic!("{found:?}") };
    assert_eq!(mark.commit, CommitNumber(3));
    assert!(mark.manifest.byte_count > 0);
}

#[test]
fn a_killed_store_has_every_acknowledged_commit() {
    let (live, image) = (directory(), directory());
    let engine = opened(live.path());
    append(&engine, 5);
    fixtures::copy(live.path(), image.path());
    let copy = opened(image.path());
    assert_eq!(copy.last_commit(), CommitNumber(5));
    assert_eq!(copy.head(SHOP).map(|head| head.sequence), Ok(Sequence(5)));
}

#[test]
fn an_open_directory_is_refused_until_it_is_closed() {
    let (directory, engine) = new_store();
    assert!(matches!(refused(directory.path()), OpenError::InUse { .. }));
    drop(engine);
    opened(directory.path());
}

#[test]
fn a_database_that_another_program_has_open_is_in_use() {
    let directory = directory();
    drop(opened(directory.path()));
    let names = Family::ALL.map(Family::name);
    let other = DB::open_cf(&Options::default(), directory.path().join("db"), names).expect("it is closed");
    let error = refused(directory.path());
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    drop(other);
}

#[test]
fn a_newer_format_is_refused_with_an_upgrade_in_the_message() {
    for (key, newer) in [(MetaKey::Format, FORMAT + 1), (MetaKey::RowFormat, ROW_FORMAT + 1)] {
        let directory = directory();
        drop(opened(directory.path()));
        meta(directory.path(), &key.encode(), &newer.to_be_bytes());
        let error = refused(directory.path()).to_string();
        assert!(error.contains("upgrade the program"), "{error}");
        assert!(error.contains(&format!("ormat {}", newer & 0xffff)), "{error}");
    }
}

#[test]
fn a_store_of_a_development_version_is_refused() {
    let directory = directory();
    drop(opened(directory.path()));
    for found in 1_u32..=2 {
        meta(directory.path(), &MetaKey::Format.encode(), &found.to_be_bytes());
        let error = refused(directory.path());
        assert!(matches!(error, OpenError::FormatTooOld { found: named } if named == found), "{error}");
        assert!(error.to_string().contains("a development version of Till before 0.1.0"), "{error}");
    }
}

#[test]
fn a_store_of_an_older_row_format_is_raised_when_opened() {
    let directory = directory();
    drop(opened(directory.path()));
    meta(directory.path(), &MetaKey::RowFormat.encode(), &(ROW_FORMAT - 1).to_be_bytes());
    let format = opened(directory.path()).get(Family::Meta, &MetaKey::RowFormat.encode());
    assert_eq!(format, Ok(Some(ROW_FORMAT.to_be_bytes().to_vec())));
    meta(directory.path(), &MetaKey::RowFormat.encode(), &(ROW_FORMAT + 1).to_be_bytes());
    assert!(matches!(refused(directory.path()), OpenError::RowFormatTooNew { .. }));
}

/// Returns true when a file below a directory contains these bytes.
fn is_in_a_file(directory: &Path, bytes: &[u8]) -> bool {
    fs::read_dir(directory).expect("readable").flatten().any(|entry| match entry.path() {
        path if path.is_dir() => is_in_a_file(&path, bytes),
        path => fs::read(path).is_ok_and(|file| file.windows(bytes.len()).any(|window| window == bytes)),
    })
}

#[test]
fn a_deleted_row_leaves_the_files_when_it_is_purged() {
    let directory = directory();
    let queued =
        || store_over(Engine::open(&options(directory.path())).expect("nothing is missing"), Archiving::Queued);
    let value: Vec<u8> = (0..73_u8).map(|byte| byte.wrapping_mul(197) ^ 0x5a).collect();
    let key = [9; 33];
    let write = |engine: &DiskStore, value: Option<&[u8]>| {
        let mut append = Chain::claim(engine, SHOP).batch(&[b"body"]);
        append.vault.push(RowWrite { family: Family::Vault, key: &key, value });
        assert!(matches!(engine.append(vec![append])[..], [AppendVerdict::Committed(_)]));
    };
    let engine = queued();
    write(&engine, Some(&value));
    engine.close().expect("it closes");
    drop(engine);
    let engine = queued();
    write(&engine, None);
    engine.engine().unqueue(&[CommitNumber(1), CommitNumber(2)]).expect("archived");
    assert!(is_in_a_file(directory.path(), &value), "the deletion alone leaves it where it is");
    engine.purge(Family::Vault, &[key.to_vec()]).expect("nothing is damaged");
    assert!(!is_in_a_file(directory.path(), &value));
    assert_eq!(engine.head(SHOP).map(|head| head.sequence), Ok(Sequence(2)));
}

#[test]
fn missing_commits_are_named_and_given_up_only_explicitly() {
    let (directory, engine) = new_store();
    append(&engine, 5);
    let log = logs(directory.path()).pop().expect("a live store has a log");
    let kept = fs::metadata(&log).expect("it is there").len();
    append(&engine, 5);
    drop(engine);
    cut_log(directory.path(), |_| kept);
    let error = refused(directory.path());
    let message = error.to_string();
    assert!(message.contains("restore a checkpoint") && message.contains("accept_loss_up_to = 10"), "{message}");
    let OpenError::CommitsMissing { first, last } = error else { panic!("{error}") };
    assert_eq!((first, last), (CommitNumber(6), CommitNumber(10)));

    let accepting =
        |commit| EngineOptions { accept_loss_up_to: Some(CommitNumber(commit)), ..options(directory.path()) };
    assert!(matches!(open_store(&accepting(9)), Err(OpenError::CommitsMissing { .. })), "10 was not given up");
    let engine = open_store(&accepting(10)).expect("given up");
    assert_eq!(engine.head(SHOP).map(|head| head.sequence), Ok(Sequence(5)));
    assert_eq!(engine.last_commit(), CommitNumber(10), "their numbers are never used again");
    let given_up = engine.get(Family::Meta, &GivenUpKey(CommitNumber(6)).encode());
    assert_eq!(given_up, Ok(Some(10_u64.to_be_bytes().to_vec())));
    append(&engine, 1);
    drop(engine);
    assert_eq!(opened(directory.path()).last_commit(), CommitNumber(11), "nothing is missing any more");
}

#[test]
fn a_store_that_lost_everything_is_not_to_be_gone_on_with() {
    let (directory, engine) = new_store();
    append(&engine, 5);
    drop(engine);
    cut_log(directory.path(), |_| 0);
    let error = refused(directory.path());
    assert!(matches!(error, OpenError::CommitsMissing { first: CommitNumber(1), last: CommitNumber(5) }), "{error}");
    let message = error.to_string();
    assert!(message.ends_with("with the archive if there is one: nothing is left to go on with"), "{message}");
}

#[test]
fn a_log_damaged_after_the_last_acknowledged_commit_opens() {
    let (directory, engine) = new_store();
    append(&engine, 5);
    drop(engine);
    let log = logs(directory.path()).pop().expect("a live store has a log");
    let sound = fs::read(&log).expect("readable");
    // None of them was acknowledged: torn writes of a batch, as a power cut leaves them.
    let zeros_between = [&[0; 9], &sound[..300]].concat();
    for tail in [sound[..50].to_vec(), vec![0; 40_000], vec![0xff; 40_000], zeros_between] {
        fs::write(&log, [sound.as_slice(), &tail].concat()).expect("writable");
        let image = self::directory();
        fixtures::copy(directory.path(), image.path());
        assert_eq!(opened(image.path()).last_commit(), CommitNumber(5), "{} bytes", tail.len());
    }
}

#[test]
fn an_unending_record_times_out_and_is_read_once_loss_is_accepted() {
    let (directory, engine) = new_store();
    append(&engine, 1);
    let log = logs(directory.path()).pop().expect("a live store has a log");
    let second = usize::try_from(fs::metadata(&log).expect("it is there").len()).expect("small");
    append(&engine, 2);
    drop(engine);
    let sound = fs::read(&log).expect("readable");
    let with_type = |kind: u8, payload_bit: u8| {
        let mut bytes = sound.clone();
        bytes[second + 6] = kind;
        bytes[second + 20] ^= payload_bit;
        fs::write(&log, bytes).expect("writable");
    };
    // The type occurs in recycled logs only. With another fault in the record, what is before it is all that is left.
    for (payload_bit, kept) in [(0, 3), (4, 1)] {
        let image = self::directory();
        with_type(5, payload_bit);
        fixtures::copy(directory.path(), image.path());
        let limited = EngineOptions { open_limit: Duration::from_secs(2), ..options(image.path()) };
        let error = open_store(&limited).err().expect("it is read without end");
        assert!(matches!(error, OpenError::TimedOut { acknowledged: CommitNumber(3), .. }), "{error}");
        assert!(error.to_string().contains("accept_loss_up_to = 3"), "{error}");
        let accepting = EngineOptions { accept_loss_up_to: Some(CommitNumber(3)), ..options(image.path()) };
        let engine = open_store(&accepting).expect("it has an end now");
        assert_eq!(engine.head(SHOP).map(|head| head.sequence), Ok(Sequence(kept)));
    }
}

#[test]
fn a_database_without_a_mark_is_refused_until_loss_is_accepted() {
    let (directory, engine) = new_store();
    append(&engine, 2);
    drop(engine);
    for contents in [None, Some(vec![9; 64])] {
        let mark = directory.path().join("high-water");
        match contents {
            None => fs::remove_file(&mark).expect("it is there"),
            Some(bytes) => fs::write(&mark, bytes).expect("writable"),
        }
        for _ in 0..2 {
            let error = refused(directory.path());
            assert!(matches!(error, OpenError::NoMark { .. }), "{error}");
        }
        let accepting = EngineOptions { accept_loss_up_to: Some(CommitNumber(0)), ..options(directory.path()) };
        let engine = open_store(&accepting).expect("given up");
        assert_eq!(engine.last_commit(), CommitNumber(2));
        drop(engine);
        opened(directory.path());
    }
}

#[test]
fn a_mark_without_its_database_is_refused() {
    let (directory, engine) = new_store();
    append(&engine, 2);
    drop(engine);
    fs::remove_dir_all(directory.path().join("db")).expect("it is there");
    let error = refused(directory.path());
    assert!(error.to_string().contains("CURRENT"), "{error}");
    assert!(!directory.path().join("db").join("CURRENT").exists(), "nothing was made in its place");
}

#[test]
fn a_creation_that_a_crash_interrupted_is_finished() {
    let (directory, engine) = new_store();
    drop(engine);
    fs::remove_file(directory.path().join("high-water")).expect("it is there");
    let (high_water, _) = HighWater::open(directory.path()).expect("nobody has it");
    high_water.rewrite().expect("writable");
    drop(high_water);
    append(&opened(directory.path()), 1);
    assert_eq!(opened(directory.path()).last_commit(), CommitNumber(1));
}

#[test]
fn an_opening_past_its_time_limit_is_an_error_and_not_a_hang() {
    let directory = directory();
    append(&opened(directory.path()), 1);
    let impatient = EngineOptions { open_limit: Duration::ZERO, ..options(directory.path()) };
    assert!(matches!(open_store(&impatient), Err(OpenError::TimedOut { .. })));
    wait_for_threads("rocksdb:open"); // The process must not end while the thread is working.
}

/// Waits until no thread of this process has the name. A thread that was just started gets a moment to take it.
fn wait_for_threads(name: &str) {
    std::thread::sleep(Duration::from_millis(300));
    let until = Instant::now() + Duration::from_secs(60);
    let is_named = |thread: fs::DirEntry| {
        fs::read_to_string(thread.path().join("comm")).is_ok_and(|found| found.trim_end() == name)
    };
    while fs::read_dir("/proc/self/task").expect("threads are listed").flatten().any(is_named) {
        assert!(Instant::now() < until, "a thread called {name} does not end");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn the_mark_is_synced_and_knows_the_manifest_within_seconds() {
    let (directory, engine) = new_store();
    append(&engine, 1);
    let known = fixtures::read_mark(directory.path()).manifest.byte_count;
    let manifest = fs::read_dir(directory.path().join("db")).expect("it is there").flatten();
    let manifest =
        manifest.filter(|entry| entry.file_name().to_string_lossy().starts_with("MANIFEST")).map(|entry| entry.path());
    let lengths: Vec<u64> = manifest.map(|path| fs::metadata(path).expect("it is there").len()).collect();
    assert!(lengths.contains(&known), "{known} of {lengths:?}");
    assert_eq!(fixtures::read_mark(directory.path()).commit, CommitNumber(1), "written with the verdict");
}
