//! The archive of a store that is written to: no commit is left out or added twice, and an unfinished write is told
//! from damage.

#[path = "../../../tests/fixtures/mod.rs"]
mod fixtures;

mod adding;
mod damage;
mod taking_up;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fixtures::{Chain, copy, merchant, store_over};
use tempfile::TempDir;
use till_operate::archive::{ArchiveError, ArchiveSettings, ArchivedCommit, Archiver, SegmentChain, each_commit};
use till_storage::disk_store::{Archiving, DiskStore};
use till_storage::engine::{Engine, EngineOptions};
use till_storage::family::Family;
use till_storage::journal::{AppendVerdict, CommitNumber, Journal};
use till_storage::keys::UnarchivedKey;
use till_storage::rows::{RowRange, RowReader, RowWrite};

/// Large enough that everything of a small test is in one segment.
const ONE_SEGMENT: u64 = 1 << 30;

struct ArchiveWorld(TempDir);

impl ArchiveWorld {
    fn new() -> ArchiveWorld {
        ArchiveWorld(tempfile::tempdir().expect("a temporary directory"))
    }

    /// A new store with an archiver without a thread. When it archives `first`, a commit is archived before it is
    /// written.
    fn archived(segment_bytes: u64, first: bool) -> (ArchiveWorld, Arc<DiskStore>, Archiver) {
        let world = ArchiveWorld::new();
        let engine = Arc::new(Engine::open(&options(&world.at("data"))).expect("it is new"));
        let settings = settings(&world.archive(), segment_bytes, first);
        let archiver = Archiver::open(Arc::clone(&engine), settings).expect("it is new");
        let store = store_over(engine, archiver.archiving());
        (world, Arc::new(store), archiver)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn archive(&self) -> PathBuf {
        self.at("archive")
    }

    fn engine(&self, data: &str) -> Arc<DiskStore> {
        let engine = Engine::open(&options(&self.at(data))).expect("nothing is missing");
        Arc::new(store_over(engine, Archiving::Queued))
    }

    /// An archiver without a thread.
    fn archiver(&self, engine: &Arc<DiskStore>, segment_bytes: u64) -> Archiver {
        self.try_archiver(engine, segment_bytes, false).unwrap_or_else(|error| panic!("{}", error.chain()))
    }

    fn try_archiver(&self, engine: &Arc<DiskStore>, segment_bytes: u64, first: bool) -> Result<Archiver, ArchiveError> {
        Archiver::open(Arc::clone(engine.engine()), settings(&self.archive(), segment_bytes, first))
    }

    /// The refusal of the archive by a store.
    fn refusal(&self, engine: &Arc<DiskStore>) -> ArchiveError {
        self.try_archiver(engine, ONE_SEGMENT, false).map(drop).expect_err("it is refused")
    }

    /// The store in a copy of its directory from before, whose lost commits up to this one are given up.
    fn given_up(&self, copy: &str, last: u64) -> Arc<DiskStore> {
        fs::copy(self.at("data/high-water"), self.at(copy).join("high-water")).expect("it can be copied");
        let accept_loss_up_to = Some(CommitNumber(last));
        let accepted = EngineOptions { accept_loss_up_to, ..options(&self.at(copy)) };
        Arc::new(store_over(Engine::open(&accepted).expect("they are given up"), Archiving::Queued))
    }

    fn commits(&self) -> Vec<ArchivedCommit> {
        let mut commits = Vec::new();
        each_commit(&self.archive(), &mut |commit| commits.push(commit)).unwrap_or_else(|error| panic!("{error}"));
        commits
    }

    fn numbers(&self) -> Vec<u64> {
        self.commits().iter().map(|commit| commit.commit.0).collect()
    }

    fn segments(&self) -> Vec<PathBuf> {
        SegmentChain::read(&self.archive()).expect("sound").segments.into_iter().map(|segment| segment.path).collect()
    }

    /// The names and bytes of the files with cut-off bytes, in the order of names.
    fn cut_off(&self) -> Vec<(String, Vec<u8>)> {
        let files = fs::read_dir(self.archive()).expect("readable").map(|file| file.expect("readable").path());
        let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
        let kept = files.filter(|path| name(path).contains(".cut-at-"));
        let mut kept: Vec<_> = kept.map(|path| (name(&path), fs::read(&path).expect("readable"))).collect();
        kept.sort();
        kept
    }

    fn engine_copy(&self, engine: &DiskStore, number: usize) -> Arc<DiskStore> {
        let data = format!("engine-copy-{number}");
        copy(engine.engine().directory(), &self.at(&data));
        self.engine(&data)
    }
}

fn options(directory: &Path) -> EngineOptions {
    EngineOptions { disk_reserve_bytes: 0, ..EngineOptions::new(directory) }
}

fn settings(directory: &Path, segment_bytes: u64, before_acknowledged: bool) -> ArchiveSettings {
    let (segment_age, every) = (Duration::from_secs(3_600), Duration::from_secs(3_600));
    ArchiveSettings { directory: directory.to_owned(), segment_bytes, segment_age, every, before_acknowledged }
}

/// Commits this number of batches of a merchant, one by one.
fn append(engine: &DiskStore, number: u8, batches: usize) {
    let mut chain = Chain::claim(engine, merchant(number));
    for _ in 0..batches {
        let verdicts = engine.append(vec![batch(&mut chain)]);
        assert!(matches!(verdicts[..], [AppendVerdict::Committed(_)]), "{verdicts:?}");
    }
}

/// Commits batches of the first merchant, and archives them.
fn archive(engine: &DiskStore, archiver: &Archiver, batches: usize) {
    append(engine, 1, batches);
    archiver.catch_up().expect("it can be written to");
}

/// Archives as many groups of batches of the first merchant.
fn archive_groups(engine: &DiskStore, archiver: Archiver, groups: usize, batches: usize) {
    (0..groups).for_each(|_| archive(engine, &archiver, batches));
}

/// A batch with a record, a row that can be derived, and one of the vault.
fn batch(chain: &mut Chain) -> till_storage::journal::Append {
    let mut append = chain.batch(&[b"body of a record"]);
    append.derived = chain.row(append.new_head.sequence.0, Some(b"row"));
    append.vault.push(RowWrite { family: Family::Vault, key: &[9; 33], value: Some(&[8; 20]) });
    append
}

fn queued(engine: &DiskStore) -> usize {
    queued_numbers(engine).len()
}

fn queued_numbers(engine: &DiskStore) -> Vec<u64> {
    let (lower, upper) = UnarchivedKey::range_after(CommitNumber(0));
    let rows = engine.scan(RowRange::forward(Family::Meta, &lower, &upper), usize::MAX).expect("readable");
    rows.iter().map(|(key, _)| UnarchivedKey::decode(key).expect("its key").0.0).collect()
}

fn is_damaged_at(error: &ArchiveError, wanted: &Path) -> bool {
    matches!(error, ArchiveError::Damaged { file, .. } if file == wanted)
}
