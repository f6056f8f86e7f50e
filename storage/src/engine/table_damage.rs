//! A damaged table must affect only the reads that touch it. But compaction reads whole tables: it
//! finds the damage sooner or later, and RocksDB then refuses every write until it is opened again.
//!
//! So when a write is refused for that reason, a note is left next to the database, and while the note exists
//! the database is opened without compaction: writes continue, and only reads of the damaged blocks fail. The
//! note names the damage. It is removed with the directory, when that is replaced by a restored one; an operator
//! who knows better may remove it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The note's name in the data directory.
pub const NOTE: &str = "table-damaged";

/// Returns true when a write was refused because of a damaged table.
pub(super) fn is_cause_of(reason: &str) -> bool {
    reason.starts_with("Corruption") && reason.contains(".sst")
}

/// Leaves the note, durable before the process stops.
///
/// # Errors
/// The error of the operating system. The next start then finds the damage again, and reports it again.
pub fn leave_note(directory: &Path, reason: &str) -> io::Result<()> {
    let mut file = File::create(note(directory))?;
    file.write_all(reason.as_bytes())?;
    file.sync_all()?;
    File::open(directory)?.sync_all()
}

/// The text of the note, if there is one.
#[must_use]
pub fn read_note(directory: &Path) -> Option<String> {
    fs::read_to_string(note(directory)).ok()
}

/// Names of table files in a text.
#[must_use]
pub fn tables_in(text: &str) -> Vec<&str> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '.';
    text.split(|character| !is_part(character)).filter(|word| word.ends_with(".sst")).collect()
}

fn note(directory: &Path) -> PathBuf {
    directory.join(NOTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_corruption_that_names_a_table_is_a_damaged_table() {
        assert!(is_cause_of("Corruption: block checksum mismatch: stored = 1 in /data/db/000021.sst offset 0 size 9"));
        assert!(!is_cause_of("Corruption: bad record in 000027.log"));
        assert!(!is_cause_of("IO error: No space left on device: /data/db/000021.sst"));
    }

    #[test]
    fn a_note_reads_back_and_there_is_none_before_it_is_left() {
        let directory = tempfile::tempdir().expect("a directory can be made");
        assert_eq!(read_note(directory.path()), None);
        leave_note(directory.path(), "Corruption: in 000021.sst").expect("it can be written");
        assert_eq!(read_note(directory.path()).as_deref(), Some("Corruption: in 000021.sst"));
    }

    #[test]
    fn the_tables_that_a_note_names_are_found() {
        let note = "Corruption: block checksum mismatch: stored = 1 in /data/db/000021.sst offset 0 size 9";
        assert_eq!(tables_in(note), ["000021.sst"]);
        assert!(tables_in("Corruption: nothing is named").is_empty());
    }
}
