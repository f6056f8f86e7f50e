//! Has RocksDB read table files whole, from the disk, and compare the checksum of each block.
//!
//! RocksDB reads single tables only as a part of a database. So the tables are linked into a directory of their own,
//! for which it makes a new MANIFEST: it does so by reading every entry of each, and moves those away that it cannot
//! read. Its own log says why.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rocksdb::{BlockBasedOptions, DB, Options};
use rustix::fs::{Advice, fadvise};

use crate::durable;

/// The file of RocksDB's messages.
const LOG: &str = "LOG";

/// The fault of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFault {
    /// A block of it is not what was written, or the disk cannot read it.
    Damaged,
    /// It is not there.
    Missing,
    /// It cannot be read now.
    Unavailable,
}

/// Nothing when each block of a table is what was written; otherwise its fault, and the message of RocksDB or of the
/// system.
pub(super) type TableVerdict = Option<(TableFault, String)>;

/// Reads these tables of a directory, and says for each what was found. `scratch` is a directory on the same disk that
/// does not exist, and does not exist afterwards.
pub(super) fn check_tables(directory: &Path, names: &[String], scratch: &Path) -> io::Result<Vec<TableVerdict>> {
    durable::remove_directory(scratch)?;
    fs::create_dir(scratch)?;
    let linked: Vec<io::Result<()>> =
        names.iter().map(|name| link(&directory.join(name), &scratch.join(name))).collect();
    let repaired = DB::repair(&settings(), scratch);
    let said = fs::read_to_string(scratch.join(LOG)).unwrap_or_default();
    let verdict = |(name, linked): (&String, io::Result<()>)| match (linked, &repaired) {
        (Err(error), _) if error.kind() == io::ErrorKind::NotFound => Some((TableFault::Missing, error.to_string())),
        (Err(error), _) => Some((TableFault::Unavailable, error.to_string())),
        (Ok(()), Ok(())) => (!scratch.join(name).exists()).then(|| refusal(&said, name)),
        (Ok(()), Err(error)) => Some((TableFault::Unavailable, error.to_string())),
    };
    let verdicts = names.iter().zip(linked).map(verdict).collect();
    durable::remove_directory(scratch)?;
    Ok(verdicts)
}

/// Links a table, and has the system forget what it has of it in memory: the bytes on the disk count.
fn link(table: &Path, to: &PathBuf) -> io::Result<()> {
    fs::hard_link(table, to)?;
    fadvise(File::open(to)?, 0, None, Advice::DontNeed)?;
    Ok(())
}

/// The reason for which RocksDB moved a table away.
fn refusal(log: &str, name: &str) -> (TableFault, String) {
    let number = name.trim_end_matches(".sst").trim_start_matches('0');
    let mark = format!("Table #{number}: ignoring ");
    let reason =
        log.lines().find_map(|line| line.split_once(&mark)).map_or("RocksDB gives no reason", |(_, reason)| reason);
    let is_damage = reason.starts_with("Corruption") || reason.contains("Input/output error");
    (if is_damage { TableFault::Damaged } else { TableFault::Unavailable }, reason.to_owned())
}

fn settings() -> Options {
    let mut tables = BlockBasedOptions::default();
    tables.disable_cache();
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_block_based_table_factory(&tables);
    options.set_paranoid_checks(true);
    options
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    /// A database with tables of this many rows each, and their names.
    fn database(directory: &Path, tables: u32, rows: u32) -> Vec<String> {
        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_disable_auto_compactions(true);
        let db = DB::open(&options, directory).expect("it is new");
        for table in 0..tables {
            for row in 0..rows {
                db.put([table, row].map(u32::to_be_bytes).concat(), row.to_be_bytes().repeat(100)).expect("writable");
            }
            db.flush().expect("writable");
        }
        let files = db.live_files().expect("it lists");
        let mut names: Vec<String> = files.iter().map(|file| file.name.trim_start_matches('/').to_owned()).collect();
        names.sort();
        names
    }

    fn flip(table: &Path, at: u64) {
        let file = File::options().read(true).write(true).open(table).expect("it is there");
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).expect("it is that long");
        file.write_all_at(&[byte[0] ^ 1], at).expect("writable");
    }

    #[test]
    fn a_flipped_bit_anywhere_among_the_rows_is_found() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let (directory, scratch) = (place.path().join("db"), place.path().join("scratch"));
        let names = database(&directory, 3, 1_000);
        let check = |names: &[String]| check_tables(&directory, names, &scratch).expect("it is on one disk");
        assert_eq!(check(&names), [None, None, None]);
        let table = directory.join(&names[1]);
        let length = fs::metadata(&table).expect("it is there").len();
        for at in [0, length / 3, length / 2] {
            flip(&table, at);
            let found = check(&names);
            assert_eq!((&found[0], &found[2]), (&None, &None));
            let Some((TableFault::Damaged, reason)) = &found[1] else { panic!("at {at}: {found:?}") };
            assert!(reason.starts_with("Corruption") && reason.contains(&names[1]), "{reason}");
            flip(&table, at);
        }
        assert_eq!(check(&names[1..2]), [None]);
        assert!(!scratch.exists() && fs::metadata(&table).is_ok_and(|table| table.len() == length));
    }

    #[test]
    fn a_table_that_is_missing_or_cut_short_is_no_good_one() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let (directory, scratch) = (place.path().join("db"), place.path().join("scratch"));
        let names = database(&directory, 2, 100);
        let cut = File::options().write(true).open(directory.join(&names[0])).expect("it is there");
        cut.set_len(500).expect("writable");
        fs::remove_file(directory.join(&names[1])).expect("it is there");
        let found = check_tables(&directory, &names, &scratch).expect("it is on one disk");
        assert!(matches!(found[..], [Some((TableFault::Damaged, _)), Some((TableFault::Missing, _))]), "{found:?}");
    }
}
