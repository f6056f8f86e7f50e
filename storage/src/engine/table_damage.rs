//! A damaged table must affect only the reads that touch it. But compaction reads whole tables: it
//! finds the damage sooner or later, and RocksDB then refuses every write until it is opened again.
//!
//! So damage that anything meets (a refused write, a compaction, a read, the scrub, a checkpoint) is noted in a file
//! next to the database, a line for each table. While the file names a table of the store, the store is opened without
//! compaction: writes continue, and only reads of the damaged blocks fail. While it names any table, no checkpoint is
//! taken. A repair removes the lines of tables that it made anew; a restored directory has no such file; an operator
//! who knows better may remove it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

/// The note's name in the data directory.
pub const NOTE: &str = "table-damaged";

/// The directory of the store's database, as the lines of its tables begin.
const STORE: &str = "db/";

/// The system's words for a file that is not there.
pub const NO_SUCH_FILE: &str = "No such file or directory";

/// Held while the note is changed: several threads may meet damage.
static CHANGING: Mutex<()> = Mutex::new(());

/// A damaged table of a data directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedTable {
    /// Its path below the data directory, such as `db/000021.sst`.
    pub table: String,
    /// RocksDB's message.
    pub reason: String,
}

impl DamagedTable {
    fn is_of_the_store(&self) -> bool {
        self.table.starts_with(STORE)
    }

    /// A database beside the store may be moved away, and a new one begun: its damage goes with its files.
    fn is_there(&self, directory: &Path) -> bool {
        self.is_of_the_store() || self.reason.contains(NO_SUCH_FILE) || directory.join(&self.table).exists()
    }
}

/// Returns true when an operation was refused because of a damaged table.
pub(super) fn is_cause_of(reason: &str) -> bool {
    reason.starts_with("Corruption") && reason.contains(".sst")
}

/// Notes the tables of the store that a message names, durably. Returns true when one of them was not noted before.
///
/// # Errors
/// The error of the operating system. The damage is then found again, and reported again.
pub(super) fn note_of_store(directory: &Path, reason: &str) -> io::Result<bool> {
    let mut is_new = false;
    for table in tables_in(reason) {
        is_new |= note(directory, &format!("{STORE}{table}"), reason)?;
    }
    Ok(is_new)
}

/// Notes a damaged table by its path below the data directory, durably. Returns true when it was not noted before.
///
/// # Errors
/// The error of the operating system. The damage is then found again, and reported again.
pub fn note(directory: &Path, table: &str, reason: &str) -> io::Result<bool> {
    let _one_at_a_time = CHANGING.lock();
    let mut lines = lines(directory);
    if lines.iter().any(|line| line.table == table) {
        return Ok(false);
    }
    lines.push(DamagedTable { table: table.to_owned(), reason: reason.replace('\n', " ") });
    write(directory, &lines)?;
    Ok(true)
}

/// Removes the lines of tables that are damaged no more.
///
/// # Errors
/// The error of the operating system; the note is unchanged.
pub fn forget(directory: &Path, is_mended: impl Fn(&str) -> bool) -> io::Result<()> {
    let _one_at_a_time = CHANGING.lock();
    let (before, mut lines) = (lines(directory), lines(directory));
    lines.retain(|line| !is_mended(&line.table));
    if lines == before { Ok(()) } else { write(directory, &lines) }
}

/// The damaged tables of a data directory.
#[must_use]
pub fn noted(directory: &Path) -> Vec<DamagedTable> {
    lines(directory).into_iter().filter(|line| line.is_there(directory)).collect()
}

/// The first reason for which tables of the store are not rewritten.
#[must_use]
pub fn of_store(directory: &Path) -> Option<String> {
    let found = lines(directory).into_iter().find(DamagedTable::is_of_the_store);
    found.map(|line| line.reason)
}

/// Names of table files in a text.
#[must_use]
pub fn tables_in(text: &str) -> Vec<&str> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '.';
    text.split(|character| !is_part(character)).filter(|word| word.ends_with(".sst")).collect()
}

fn lines(directory: &Path) -> Vec<DamagedTable> {
    let text = fs::read_to_string(path(directory)).unwrap_or_default();
    let line = |line: &str| {
        let (table, reason) = line.split_once(' ')?;
        Some(DamagedTable { table: table.to_owned(), reason: reason.to_owned() })
    };
    text.lines().filter_map(line).collect()
}

/// Replaces the note, durably; without lines there is none.
fn write(directory: &Path, lines: &[DamagedTable]) -> io::Result<()> {
    let (note, new) = (path(directory), directory.join("table-damaged.new"));
    if lines.is_empty() {
        fs::remove_file(note)?;
    } else {
        let mut file = File::create(&new)?;
        lines.iter().try_for_each(|line| writeln!(file, "{} {}", line.table, line.reason))?;
        file.sync_all()?;
        fs::rename(new, note)?;
    }
    File::open(directory)?.sync_all()
}

fn path(directory: &Path) -> PathBuf {
    directory.join(NOTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REASON: &str = "Corruption: block checksum mismatch: stored = 1 in /data/db/000021.sst offset 0 size 9";

    #[test]
    fn only_a_corruption_that_names_a_table_is_a_damaged_table() {
        assert!(is_cause_of(REASON));
        assert!(!is_cause_of("Corruption: bad record in 000027.log"));
        assert!(!is_cause_of("IO error: No space left on device: /data/db/000021.sst"));
    }

    #[test]
    fn each_table_is_noted_once_until_it_is_forgotten() {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let data = directory.path();
        assert_eq!((noted(data), of_store(data)), (Vec::new(), None));
        for is_new in [true, false] {
            assert_eq!(note_of_store(data, REASON).expect("it can be written"), is_new);
        }
        assert_eq!(of_store(data).as_deref(), Some(REASON));
        assert!(note(data, "db/000022.sst", "two\nlines").expect("it can be written"));
        let table = |table: &str, reason: &str| DamagedTable { table: table.to_owned(), reason: reason.to_owned() };
        assert_eq!(noted(data), [table("db/000021.sst", REASON), table("db/000022.sst", "two lines")]);
        forget(data, |table| table == "db/000021.sst").expect("it can be written");
        assert_eq!(noted(data), [table("db/000022.sst", "two lines")]);
        forget(data, |_| true).expect("it can be removed");
        assert!(!data.join(NOTE).exists());
    }

    #[test]
    fn damage_beside_the_store_goes_with_its_file() {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let data = directory.path();
        fs::create_dir(data.join("sandbox")).expect("writable");
        fs::write(data.join("sandbox/000007.sst"), "").expect("writable");
        note(data, "sandbox/000007.sst", "Corruption: a block").expect("it can be written");
        note(data, "sandbox/000008.sst", &format!("{NO_SUCH_FILE}: a table")).expect("it can be written");
        assert_eq!((noted(data).len(), of_store(data)), (2, None), "the store's own tables are rewritten");
        fs::remove_file(data.join("sandbox/000007.sst")).expect("it is there");
        assert_eq!(noted(data).len(), 1);
    }

    #[test]
    fn the_tables_that_a_note_names_are_found() {
        assert_eq!(tables_in(REASON), ["000021.sst"]);
        assert!(tables_in("Corruption: nothing is named").is_empty());
    }
}
