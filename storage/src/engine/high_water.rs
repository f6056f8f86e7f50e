//! The high-water mark: the number of the last acknowledged commit, in a small file beside the database.
//!
//! RocksDB's recovery silently drops everything after a damaged record of its log. The mark detects that: a start
//! that finds an older last commit than the mark refuses. It is written after every sync of the log and
//! itself synced about once a second, so that after a kill it is exact and after a power cut at most a
//! second or so old.
//!
//! It also contains the length of the MANIFEST, because a MANIFEST that was cut off, or has a flipped bit in a
//! length in its last block, silently loses its end, too.
//!
//! Shape: two slots, at offsets 0 and 4096, so that they never share a sector. Each mark is written to both, one after
//! the other, before any of its commits is answered. So a write that a power cut tears leaves the previous mark in the
//! other slot, and damage to one slot, or its loss, hides nothing: the other has the last mark, too. Each slot
//! (integers big-endian, offsets in bytes):
//!
//! ```text
//!  0 magic "TH" (2) | 2 format (1) | 3 zeros (5)
//!  8 commit number (8)
//! 16 number of the MANIFEST (4) | 20 bytes of it known to be durable (8)
//! 28 CRC-32C of the 28 bytes before (4)
//! ```
//!
//! The mark is that of the valid slot that is greater by commit, then MANIFEST, then its bytes: all of them only grow.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use parking_lot::{Mutex, MutexGuard};

use crate::positions::CommitNumber;

use super::refusal::OpenError;

/// Bytes of a slot.
pub const SLOT_LEN: usize = 32;

const SLOTS_AT: [u64; 2] = [0, 4096];
const MAGIC_AND_FORMAT: [u8; 8] = [b'T', b'H', 1, 0, 0, 0, 0, 0];
const CRC_AT: usize = 28;

const _: () = assert!(SLOT_LEN == 32 && CRC_AT + 4 == SLOT_LEN, "on disk since format 1");

/// The part of the MANIFEST that is known to be durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ManifestPosition {
    /// The number of the MANIFEST.
    pub number: u32,
    /// The number of its durable bytes.
    pub byte_count: u64,
}

/// The last state that is known to have been acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Mark {
    /// The last acknowledged commit.
    pub commit: CommitNumber,
    /// The MANIFEST that recorded the table files.
    pub manifest: ManifestPosition,
}

impl Mark {
    /// The bytes of a slot.
    #[must_use]
    pub fn encode(self) -> [u8; SLOT_LEN] {
        let mut slot = [0; SLOT_LEN];
        slot[..8].copy_from_slice(&MAGIC_AND_FORMAT);
        slot[8..16].copy_from_slice(&self.commit.0.to_be_bytes());
        slot[16..20].copy_from_slice(&self.manifest.number.to_be_bytes());
        slot[20..28].copy_from_slice(&self.manifest.byte_count.to_be_bytes());
        let crc = crc32c::crc32c(&slot[..CRC_AT]);
        slot[CRC_AT..].copy_from_slice(&crc.to_be_bytes());
        slot
    }

    /// The mark in a slot; none when the slot is damaged.
    #[must_use]
    pub fn decode(slot: &[u8; SLOT_LEN]) -> Option<Mark> {
        let crc = u32::from_be_bytes(slot[CRC_AT..].try_into().ok()?);
        if slot[..8] != MAGIC_AND_FORMAT || crc32c::crc32c(&slot[..CRC_AT]) != crc {
            return None;
        }
        let number = u32::from_be_bytes(slot[16..20].try_into().ok()?);
        let byte_count = u64::from_be_bytes(slot[20..28].try_into().ok()?);
        let commit = CommitNumber(u64::from_be_bytes(slot[8..16].try_into().ok()?));
        Some(Mark { commit, manifest: ManifestPosition { number, byte_count } })
    }
}

/// The content of the file when it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundMark {
    /// There was no file, or an empty one.
    Missing,
    /// Both slots are damaged.
    Damaged,
    /// The greater valid slot.
    Mark(Mark),
}

#[derive(Debug)]
struct MarkState {
    mark: Mark,
    unsynced: bool,
}

/// The open file. While it is open, no other process can open the store: it is locked.
#[derive(Debug)]
pub struct HighWater {
    file: File,
    path: PathBuf,
    state: Mutex<MarkState>,
}

impl HighWater {
    /// Opens or creates the file, locks it, and reads the mark.
    ///
    /// # Errors
    /// [`OpenError::InUse`] when another process holds it; [`OpenError::Files`] when the system refuses.
    pub fn open(directory: &Path) -> Result<(HighWater, FoundMark), OpenError> {
        let path = directory.join("high-water");
        let failed = |attempt, source| OpenError::Files { attempt, path: path.clone(), source };
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(|source| failed("open", source))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::InUse { directory: directory.to_owned() }),
            Err(TryLockError::Error(source)) => return Err(failed("lock", source)),
        }
        let found = read_slots(&file).map_err(|source| failed("read", source))?;
        let mark = if let FoundMark::Mark(mark) = found { mark } else { Mark::default() };
        let state = Mutex::new(MarkState { mark, unsynced: false });
        Ok((HighWater { file, path, state }, found))
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The mark as last written.
    #[must_use]
    pub fn mark(&self) -> Mark {
        self.state().mark
    }

    /// Writes a higher commit number. Not synced.
    ///
    /// # Errors
    /// Fails when the system refuses; the mark on disk may then be the old or the new one.
    pub fn advance(&self, commit: CommitNumber) -> io::Result<()> {
        let mut state = self.state();
        let mark = Mark { commit: commit.max(state.mark.commit), ..state.mark };
        self.write(&mut state, mark)
    }

    /// Writes the durable position of the MANIFEST. Not synced.
    ///
    /// # Errors
    /// As [`HighWater::advance`].
    pub fn advance_manifest(&self, manifest: ManifestPosition) -> io::Result<()> {
        let mut state = self.state();
        let mark = Mark { manifest: manifest.max(state.mark.manifest), ..state.mark };
        if mark == state.mark { Ok(()) } else { self.write(&mut state, mark) }
    }

    /// Writes the mark again, unchanged, so that a new file has valid slots. Not synced.
    ///
    /// # Errors
    /// As [`HighWater::advance`].
    pub fn rewrite(&self) -> io::Result<()> {
        let mut state = self.state();
        let mark = state.mark;
        self.write(&mut state, mark)
    }

    /// Syncs the written mark. A failed sync must not be repeated: the system may have dropped the pages.
    ///
    /// # Errors
    /// Fails when the system refuses.
    pub fn sync(&self) -> io::Result<()> {
        // Cleared first, so that a write in the meantime is synced by the next call.
        if !std::mem::take(&mut self.state().unsynced) {
            return Ok(());
        }
        self.file.sync_data()
    }

    fn write(&self, state: &mut MarkState, mark: Mark) -> io::Result<()> {
        let slot = mark.encode();
        SLOTS_AT.iter().try_for_each(|at| self.file.write_all_at(&slot, *at))?;
        *state = MarkState { mark, unsynced: true };
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, MarkState> {
        self.state.lock()
    }
}

/// The mark of the file.
fn read_slots(file: &File) -> io::Result<FoundMark> {
    if file.metadata()?.len() == 0 {
        return Ok(FoundMark::Missing);
    }
    let slots = [read_slot(file, SLOTS_AT[0])?, read_slot(file, SLOTS_AT[1])?];
    if slots.contains(&None) && slots != [None, None] {
        tracing::warn!("a slot of the high-water mark is damaged: the other one has the mark, too");
    }
    let greater = slots.into_iter().flatten().max();
    Ok(greater.map_or(FoundMark::Damaged, FoundMark::Mark))
}

/// The mark in a file that is only read; none when both slots are damaged.
pub(super) fn read_mark(file: &File) -> io::Result<Option<Mark>> {
    let found = read_slots(file)?;
    Ok(if let FoundMark::Mark(mark) = found { Some(mark) } else { None })
}

fn read_slot(file: &File, at: u64) -> io::Result<Option<Mark>> {
    let mut slot = [0; SLOT_LEN];
    match file.read_exact_at(&mut slot, at) {
        Ok(()) => Ok(Mark::decode(&slot)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(directory: &Path) -> (HighWater, FoundMark) {
        HighWater::open(directory).expect("nobody else has it")
    }

    fn mark(commit: u64, number: u32, byte_count: u64) -> Mark {
        Mark { commit: CommitNumber(commit), manifest: ManifestPosition { number, byte_count } }
    }

    #[test]
    fn the_mark_is_the_highest_that_was_written() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (high_water, found) = open(directory.path());
        assert_eq!(found, FoundMark::Missing);
        for commit in [1, 2, 3, 2, 70_000] {
            high_water.advance(CommitNumber(commit)).expect("writable");
        }
        high_water.advance_manifest(ManifestPosition { number: 5, byte_count: 900 }).expect("writable");
        high_water.advance_manifest(ManifestPosition { number: 4, byte_count: 1_000 }).expect("writable");
        high_water.sync().expect("synced");
        drop(high_water);
        assert_eq!(open(directory.path()).1, FoundMark::Mark(mark(70_000, 5, 900)));
    }

    #[test]
    fn a_slot_that_was_torn_leaves_the_mark_before_it() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (high_water, _) = open(directory.path());
        high_water.advance(CommitNumber(1)).expect("writable");
        // The power failed while the first slot was written.
        let torn = [&mark(2, 0, 0).encode()[..16], &mark(1, 0, 0).encode()[16..]].concat();
        high_water.file.write_all_at(&torn, SLOTS_AT[0]).expect("writable");
        drop(high_water);
        let (high_water, found) = open(directory.path());
        assert_eq!(found, FoundMark::Mark(mark(1, 0, 0)));
        high_water.advance(CommitNumber(3)).expect("writable");
        drop(high_water);
        assert_eq!(open(directory.path()).1, FoundMark::Mark(mark(3, 0, 0)));
    }

    #[test]
    fn a_slot_with_an_older_mark_loses_against_the_other() {
        for at in SLOTS_AT {
            let directory = tempfile::tempdir().expect("a temporary directory");
            let (high_water, _) = open(directory.path());
            high_water.advance(CommitNumber(2)).expect("writable");
            high_water.file.write_all_at(&mark(1, 9, 9).encode(), at).expect("writable");
            drop(high_water);
            assert_eq!(open(directory.path()).1, FoundMark::Mark(mark(2, 0, 0)));
        }
    }

    #[test]
    fn no_flipped_bit_and_no_cut_hides_the_last_mark() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (high_water, _) = open(directory.path());
        for commit in 1..=3 {
            high_water.advance(CommitNumber(commit)).expect("writable");
            let sound = std::fs::read(high_water.path()).expect("readable");
            let read = |bytes: &[u8]| {
                let file = tempfile::NamedTempFile::new().expect("a temporary file");
                std::fs::write(file.path(), bytes).expect("writable");
                read_slots(file.as_file()).expect("readable")
            };
            for at in (0..SLOT_LEN).chain(4096..4096 + SLOT_LEN) {
                let mut flipped = sound.clone();
                flipped[at] ^= 1 << (at % 8);
                assert_eq!(read(&flipped), FoundMark::Mark(mark(commit, 0, 0)), "byte {at} of commit {commit}");
            }
            for length in [SLOT_LEN, SLOT_LEN + 1, 4096, sound.len() - 1] {
                assert_eq!(read(&sound[..length]), FoundMark::Mark(mark(commit, 0, 0)), "cut to {length}");
            }
        }
    }

    #[test]
    fn a_file_without_a_valid_slot_is_damaged_and_not_missing() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (high_water, _) = open(directory.path());
        high_water.advance(CommitNumber(1)).expect("writable");
        SLOTS_AT.iter().for_each(|at| high_water.file.write_all_at(&[0xff; 7], at + 9).expect("writable"));
        drop(high_water);
        assert_eq!(open(directory.path()).1, FoundMark::Damaged);
    }

    #[test]
    fn a_slot_has_the_bytes_of_format_1_and_flipped_bits_are_found() {
        let slot = mark(0x0102, 3, 0x0405).encode();
        assert_eq!(
            slot[..28],
            [b'T', b'H', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 4, 5]
        );
        assert_eq!(Mark::decode(&slot), Some(mark(0x0102, 3, 0x0405)));
        for bit in 0..SLOT_LEN * 8 {
            let mut flipped = slot;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Mark::decode(&flipped), None, "bit {bit}");
        }
    }

    #[test]
    fn a_second_holder_is_refused_while_the_first_lives() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let first = open(directory.path());
        assert!(matches!(HighWater::open(directory.path()), Err(OpenError::InUse { .. })));
        drop(first);
        open(directory.path());
    }
}
