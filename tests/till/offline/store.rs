//! The store of a stopped server from outside: commands on it, and its rows as bytes.

use std::fs;
use std::path::Path;

use rocksdb::{DB, IteratorMode, Options, WriteOptions};
use till_storage::family::Family;

use crate::harness::{Server, run_command};

/// Runs a command of a server's: exit code, standard output, standard error.
pub(super) fn run(server: &Server, arguments: &[&str]) -> (Option<i32>, String, String) {
    run_command(server.command(), arguments)
}

/// The output of a command that must end with this code.
#[track_caller]
pub(super) fn ends(server: &Server, arguments: &[&str], code: i32) -> String {
    let (found, output, errors) = run(server, arguments);
    assert_eq!(found, Some(code), "{arguments:?}: {output}{errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    output + &errors
}

/// The database of a stopped server, open to be tampered with.
pub(super) struct Tampering(DB);

impl Tampering {
    pub(super) fn with(data: &Path) -> Tampering {
        let mut options = Options::default();
        options.set_atomic_flush(true);
        let families = Family::ALL.map(Family::name);
        Tampering(DB::open_cf(&options, data.join("db"), families).expect("it is sound"))
    }

    /// The rows of a family whose keys begin with this prefix.
    pub(super) fn rows(&self, family: Family, prefix: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let handle = self.0.cf_handle(family.name()).expect("it was opened");
        let all = self.0.iterator_cf(handle, IteratorMode::Start).map(|pair| pair.expect("readable"));
        let pairs = all.map(|(key, value)| (key.into_vec(), value.into_vec()));
        pairs.filter(|(key, _)| key.starts_with(prefix)).collect()
    }

    pub(super) fn put(&self, family: Family, key: &[u8], value: &[u8]) {
        let handle = self.0.cf_handle(family.name()).expect("it was opened");
        self.0.put_cf_opt(handle, key, value, &synced()).expect("writable");
    }

    pub(super) fn delete(&self, family: Family, key: &[u8]) {
        let handle = self.0.cf_handle(family.name()).expect("it was opened");
        self.0.delete_cf_opt(handle, key, &synced()).expect("writable");
    }
}

fn synced() -> WriteOptions {
    let mut synced = WriteOptions::default();
    synced.set_sync(true);
    synced
}

/// Every file below a directory with its bytes, except RocksDB's information logs.
pub(super) fn contents(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("readable") {
        let path = entry.expect("it lists").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(contents(&path).into_iter().map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
        } else if !name.starts_with("LOG") {
            found.push((name, fs::read(&path).expect("readable")));
        }
    }
    found.sort();
    found
}
