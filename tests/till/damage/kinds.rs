//! The kinds of files in which the damage tests flip bits. To add a kind of file, add a line to [`KINDS`].

use std::fs;
use std::path::{Path, PathBuf};

use super::tables::is_of;
use super::{logs, segments};
use crate::harness::TestDice;

/// The directory tree to which a file belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Home {
    /// The data directory of a server that was killed.
    Killed,
    /// The data directory of a server that was stopped.
    Stopped,
    /// A checkpoint, which is restored after the damage.
    Checkpoint,
    /// The archive of a data directory.
    Archive,
}

/// A kind of file.
pub(super) struct FileKind {
    pub(super) name: &'static str,
    pub(super) home: Home,
    /// The directory of these files, relative to the root of the directory tree.
    directory: &'static str,
    /// Returns true for a file of this kind.
    is_one: fn(&Path) -> bool,
    /// Chooses the byte in which a bit is flipped.
    place: fn(&mut TestDice, &[u8]) -> usize,
}

/// A flipped bit.
pub(super) struct Damage {
    pub(super) file: PathBuf,
    /// A description of the flipped bit.
    pub(super) what: String,
}

/// All kinds of files. The most important kinds are listed more than once, so that they are damaged more often.
pub(super) const KINDS: [FileKind; 30] = [
    kind("write-ahead log", Home::Killed, "db", is_log, logs::place),
    kind("table of journal", Home::Stopped, "db", |file| is_table_of(file, "journal"), place_in_table),
    kind("table of rows", Home::Stopped, "db", |file| is_table_of(file, "rows"), place_in_table),
    kind("MANIFEST", Home::Killed, "db", is_manifest, logs::place),
    kind("high-water", Home::Killed, "", |file| is_called(file, "high-water"), place_in_slots),
    kind("checkpoint: table", Home::Checkpoint, "db", is_table, place_in_table),
    kind("archive: closed segment", Home::Archive, "", is_closed_segment, segments::place),
    kind("archive: open segment", Home::Archive, "", is_open_segment, segments::place),
    kind("write-ahead log", Home::Killed, "db", is_log, logs::place),
    kind("table of indexes", Home::Stopped, "db", |file| is_table_of(file, "indexes"), place_in_table),
    kind("table of timers, snapshots, directory", Home::Stopped, "db", is_small_derived, place_in_table),
    kind("MANIFEST", Home::Stopped, "db", is_manifest, logs::place),
    kind("CURRENT", Home::Stopped, "db", |file| is_called(file, "CURRENT"), anywhere),
    kind("checkpoint: write-ahead log", Home::Checkpoint, "db", is_log, logs::place),
    kind("checkpoint: checkpoint-manifest", Home::Checkpoint, "", is_checkpoint_manifest, anywhere),
    kind("write-ahead log", Home::Killed, "db", is_log, logs::place),
    kind("archive: closed segment", Home::Archive, "", is_closed_segment, segments::place),
    kind("archive: open segment", Home::Archive, "", is_open_segment, segments::place),
    kind("table of vault", Home::Stopped, "db", |file| is_table_of(file, "vault"), place_in_table),
    kind("table of meta", Home::Stopped, "db", |file| is_table_of(file, "meta"), place_in_table),
    kind("OPTIONS", Home::Stopped, "db", is_options, anywhere),
    kind("table of journal", Home::Killed, "db", |file| is_table_of(file, "journal"), place_in_table),
    kind("table of rows", Home::Killed, "db", |file| is_table_of(file, "rows"), place_in_table),
    kind("sandbox: write-ahead log", Home::Killed, "sandbox", is_log, logs::place),
    kind("sandbox: table", Home::Stopped, "sandbox", is_table, place_in_table),
    kind("sandbox: MANIFEST", Home::Stopped, "sandbox", is_manifest, logs::place),
    kind("checkpoint: heads", Home::Checkpoint, "", |file| is_called(file, "heads"), anywhere),
    kind("checkpoint: high-water", Home::Checkpoint, "", |file| is_called(file, "high-water"), anywhere),
    kind("checkpoint: MANIFEST, CURRENT, OPTIONS", Home::Checkpoint, "db", is_small_of_database, anywhere),
    kind("checkpoint: sandbox", Home::Checkpoint, "sandbox", |_| true, anywhere),
];

const fn kind(
    name: &'static str,
    home: Home,
    directory: &'static str,
    is_one: fn(&Path) -> bool,
    place: fn(&mut TestDice, &[u8]) -> usize,
) -> FileKind {
    FileKind { name, home, directory, is_one, place }
}

impl FileKind {
    /// Flips a random bit in a random file of this kind. Returns None when every such file is empty or there is none.
    pub(super) fn flip(&self, home: &Path, dice: &mut TestDice) -> Option<Damage> {
        let entries = fs::read_dir(home.join(self.directory)).expect("readable");
        let files = entries.map(|entry| entry.expect("it lists").path()).filter(|file| file.is_file());
        let is_wanted = |file: &PathBuf| (self.is_one)(file) && fs::metadata(file).is_ok_and(|found| found.len() > 0);
        let mut files: Vec<PathBuf> = files.filter(is_wanted).collect();
        files.sort();
        if files.is_empty() {
            return None;
        }
        let file = files.swap_remove(dice.index(files.len()));
        let bytes = fs::read(&file).expect("readable");
        let (place, bit) = ((self.place)(dice, &bytes), dice.index(8));
        let what = format!("{}: {}", self.name, super::image::flip(&file, place, bit));
        Some(Damage { file, what })
    }
}

fn name_of(file: &Path) -> String {
    super::image::name_of(file)
}

fn is_called(file: &Path, name: &str) -> bool {
    name_of(file) == name
}

fn is_log(file: &Path) -> bool {
    name_of(file).ends_with(".log")
}

fn is_manifest(file: &Path) -> bool {
    name_of(file).starts_with("MANIFEST-")
}

fn is_options(file: &Path) -> bool {
    name_of(file).starts_with("OPTIONS-")
}

fn is_table(file: &Path) -> bool {
    name_of(file).ends_with(".sst")
}

fn is_table_of(file: &Path, family: &str) -> bool {
    is_table(file) && is_of(file, family)
}

fn is_small_derived(file: &Path) -> bool {
    ["timers", "snapshots", "directory", "effects"].iter().any(|family| is_table_of(file, family))
}

fn is_checkpoint_manifest(file: &Path) -> bool {
    is_called(file, "checkpoint-manifest")
}

fn is_closed_segment(file: &Path) -> bool {
    name_of(file).starts_with("segment-") && !is_open_segment(file)
}

fn is_open_segment(file: &Path) -> bool {
    name_of(file).ends_with(".open")
}

fn is_small_of_database(file: &Path) -> bool {
    is_manifest(file) || is_options(file) || is_called(file, "CURRENT")
}

fn anywhere(dice: &mut TestDice, bytes: &[u8]) -> usize {
    dice.index(bytes.len())
}

/// Chooses a byte of a table: often one of its last 53 or its last 4096 bytes, otherwise any byte. The metadata at the
/// end of the table is therefore damaged more often than its size alone would cause.
fn place_in_table(dice: &mut TestDice, bytes: &[u8]) -> usize {
    match dice.between(0, 10) {
        0..3 => bytes.len() - 1 - dice.index(bytes.len().min(53)),
        3..5 => bytes.len() - 1 - dice.index(bytes.len().min(4_096)),
        _ => dice.index(bytes.len()),
    }
}

/// Chooses a byte in one of the two slots of the high-water mark.
fn place_in_slots(dice: &mut TestDice, bytes: &[u8]) -> usize {
    let slot = dice.pick(&[0, 4_096]);
    (slot + dice.index(32)).min(bytes.len() - 1)
}
