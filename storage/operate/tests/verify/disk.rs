//! Stores on disk: whole, killed, and with a flipped bit in a table file.

use crate::filled::{directory, flipped};
use crate::shop::{FilledMerchant, keyring};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use till_operate::verify::{FaultLocation, Report, VerifyOptions, Wrong, verify};
use till_sandbox::book::MemoryBook;
use till_storage::disk_store::{Archiving, Deployment, DiskStore};
use till_storage::engine::{Engine, EngineOptions, StoppedStore};
use till_storage::vault::Keyring;

#[test]
fn verifying_a_stopped_store_finds_no_fault_and_changes_no_file() {
    let filled = OnDisk::filled();
    let before = filled.files();
    let report = filled.report();
    assert!(report.is_clean() && report.records > 200, "{:?}", report.faults);
    assert!(filled.files() == before, "a file changed");
    Engine::open(&engine_options(filled.directory.path())).expect("a server starts on it as before");
}

#[test]
fn a_store_that_was_killed_is_verified_from_its_log() {
    let (keyring, _) = keyring();
    let (directory, mut book) = (directory(), MemoryBook::new());
    let engine = opened(&engine_options(directory.path()), Archiving::Off);
    FilledMerchant::open(&engine, &keyring, 1).trade(3, &mut book);
    let in_use = StoppedStore::open(&engine_options(directory.path())).err().expect("a server has it");
    assert!(in_use.to_string().contains("in use"), "{in_use}");
    drop(engine);
    let killed = OnDisk { directory, keyring, book };
    let before = killed.files();
    let report = killed.report();
    assert!(report.is_clean() && report.records > 50, "{:?}", report.faults);
    assert!(killed.files() == before, "a file changed");
}

#[test]
fn a_damaged_block_is_reported_by_its_neighbouring_rows() {
    let mut hit = 0;
    for share in [5, 35, 65] {
        let filled = OnDisk::filled();
        let tables = filled.files().into_iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "sst"));
        let largest: Vec<_> = tables.filter(|(_, bytes)| bytes.len() > 8_000).collect();
        for (path, bytes) in &largest {
            let at = bytes.len() * share / 100;
            fs::write(path, flipped(bytes.clone(), at)).expect("writable");
            let report = filled.report();
            assert!(!report.is_clean(), "{}: byte {at} of {}", path.display(), bytes.len());
            for fault in &report.faults {
                let named = matches!(
                    fault.location,
                    FaultLocation::Rows { .. } | FaultLocation::Records { .. } | FaultLocation::Applied
                );
                assert!(named && matches!(fault.wrong, Wrong::Unreadable { .. }), "{fault}");
            }
            assert!(report.rows > 300 && report.records > 100, "{}: the rest is verified: {report:?}", path.display());
            hit += 1;
            fs::write(path, bytes).expect("writable");
        }
    }
    assert!(hit >= 6, "{hit} table files");
}

/// A store on disk, filled and closed.
struct OnDisk {
    directory: TempDir,
    keyring: Arc<Keyring>,
    book: MemoryBook,
}

/// The store of a directory, archived in this way.
pub(crate) fn opened(options: &EngineOptions, archiving: Archiving) -> DiskStore {
    let engine = Engine::open(options).expect("nothing is missing");
    DiskStore::new(Arc::new(engine), Deployment::Embedded(archiving)).expect("it is its own")
}

fn engine_options(directory: &Path) -> EngineOptions {
    EngineOptions { disk_reserve_bytes: 0, ..EngineOptions::new(directory) }
}

impl OnDisk {
    fn filled() -> OnDisk {
        let (keyring, _) = keyring();
        let (directory, mut book) = (directory(), MemoryBook::new());
        let engine = opened(&engine_options(directory.path()), Archiving::Off);
        FilledMerchant::open(&engine, &keyring, 1).trade(10, &mut book);
        FilledMerchant::open(&engine, &keyring, 2).trade(2, &mut book);
        engine.close().expect("it closes");
        drop(engine);
        OnDisk { directory, keyring, book }
    }

    fn report(&self) -> Report {
        let store = StoppedStore::open(&engine_options(self.directory.path())).expect("it opens");
        let options = VerifyOptions {
            acknowledged: Some(store.acknowledged()),
            ..VerifyOptions::new(self.directory.path().join("scratch"))
        };
        verify(&store, &self.keyring, Some(&self.book), &options, &mut |_| {}).expect("in memory")
    }

    /// Every file below the directory with its content.
    fn files(&self) -> Vec<(std::path::PathBuf, Vec<u8>)> {
        let directories = [self.directory.path().to_owned(), self.directory.path().join("db")];
        let entries = directories.iter().flat_map(|directory| fs::read_dir(directory).expect("readable").flatten());
        let files = entries.filter(|entry| entry.file_type().expect("readable").is_file());
        let mut files: Vec<_> = files.map(|entry| (entry.path(), fs::read(entry.path()).expect("readable"))).collect();
        files.sort();
        files
    }
}
