//! The headers of records in RocksDB's logs and MANIFEST, for three faults that RocksDB does not report.
//!
//! - When the length of a record in the last block of a MANIFEST is damaged so that it reaches past the end of the
//!   file, RocksDB takes it for a torn write and drops it, with all that follows: it forgets tables, and does not miss
//!   logs.
//! - Some types occur in recycled logs only, and this store recycles none. When the type of a record becomes one of
//!   them, by one flipped bit, RocksDB's reader neither accepts nor skips the record, and reads it again for ever, in
//!   every recovery mode.
//! - A damaged record of a log ends what is read of it, as a torn write does, though synced writes follow.
//!
//! A file is a sequence of blocks. A record in it (integers little-endian, offsets in bytes):
//!
//! ```text
//! 0 masked CRC-32C of type and payload (4) | 4 length of the payload (2) | 6 type (1) | 7 payload
//! ```
//!
//! Source: RocksDB 11.8, `db/log_format.h`, `db/log_reader.cc` (`ReadPhysicalRecord`), `util/crc32c.h`.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const BLOCK_LEN: usize = 32 * 1024;
const HEADER_LEN: usize = 7;

/// The offset at which RocksDB drops the end of a MANIFEST, unless that end is a torn write. The first `known_bytes`
/// are known to have been durable.
pub(super) fn dropped_end(manifest: &[u8], known_bytes: u64) -> Option<usize> {
    let is_dropped = |rest: &[u8]| rest[6] == 0 || record_len(rest) > rest.len();
    let (at, rest) = records(manifest).into_iter().find(|(_, rest)| is_dropped(rest))?;
    ((at as u64) < known_bytes || is_whole_with_another_length(rest)).then_some(at)
}

/// The offset of the first damaged record of a log whose writes are synced one by one, unless it may be a torn write:
/// that one is the last. A damaged last write is not told from it.
pub(super) fn damage_before_the_last_write(log: &[u8]) -> Option<usize> {
    let (at, _) = records(log).into_iter().find(|(_, rest)| !is_whole(rest))?;
    let begins_write = |later: &usize| {
        let rest = &log[*later..log.len().min((later / BLOCK_LEN + 1) * BLOCK_LEN)];
        rest.len() > HEADER_LEN && FIRST_OF_WRITE.contains(&rest[6]) && is_whole(rest)
    };
    (at + 1..log.len()).find(begins_write).map(|_| at)
}

/// Replaces the types of recycled logs in a file by those of other logs: by the one that the record's checksum is of,
/// so that nothing of it is lost, or by any, so that RocksDB judges the record by its checksum.
///
/// # Errors
/// The error of the system.
pub(super) fn replace_recycled_types(path: &Path) -> io::Result<()> {
    let bytes = fs::read(path)?;
    let types: Vec<(usize, u8)> =
        records(&bytes).iter().filter_map(|(at, rest)| Some((at + 6, other_type(rest)?))).collect();
    if types.is_empty() {
        return Ok(());
    }
    let file = OpenOptions::new().write(true).open(path)?;
    for (at, other) in types {
        tracing::warn!(file = %path.display(), at, "a record had a type of recycled logs, which is replaced");
        file.write_all_at(&[other], at as u64)?;
    }
    file.sync_all()
}

/// The offset of each record, with the bytes from there to the end of its block. After a damaged length, bytes that are
/// no header may be taken for one, up to the end of the block, which RocksDB drops.
fn records(file: &[u8]) -> Vec<(usize, &[u8])> {
    let (mut records, mut at) = (Vec::new(), 0);
    while at < file.len() {
        let block_end = file.len().min((at / BLOCK_LEN + 1) * BLOCK_LEN);
        let rest = &file[at..block_end];
        let is_last = rest.len() < HEADER_LEN || rest[6] == 0; // Zeros end a block.
        if rest.len() >= HEADER_LEN {
            records.push((at, rest));
        }
        at = if is_last { block_end } else { block_end.min(at + record_len(rest)) };
    }
    records
}

fn record_len(rest: &[u8]) -> usize {
    HEADER_LEN + usize::from(u16::from_le_bytes([rest[4], rest[5]]))
}

fn stored_checksum(rest: &[u8]) -> u32 {
    u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]])
}

/// True when the checksum is that of the record.
fn is_whole(rest: &[u8]) -> bool {
    let checked = rest.get(HEADER_LEN - 1..record_len(rest));
    checked.is_some_and(|checked| masked(crc32c::crc32c(checked)) == stored_checksum(rest))
}

/// RocksDB stores checksums rotated and shifted.
const fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// True when the checksum is that of a record with another length than its header says.
fn is_whole_with_another_length(rest: &[u8]) -> bool {
    let stored = stored_checksum(rest);
    let mut crc = crc32c::crc32c(&rest[6..HEADER_LEN]);
    rest[HEADER_LEN..].iter().any(|byte| {
        crc = crc32c::crc32c_append(crc, &[*byte]);
        masked(crc) == stored
    })
}

/// The types of a write in one record, and of the first of several.
const FIRST_OF_WRITE: [u8; 2] = [1, 2];

/// The types in logs that are not recycled.
const TYPES: [u8; 6] = [1, 2, 3, 4, 10, 130];

/// The type to put in the place of a type of recycled logs.
fn other_type(rest: &[u8]) -> Option<u8> {
    let counterpart = match rest[6] {
        recycled @ 5..=8 => recycled - 4,
        recycled @ (11 | 131) => recycled - 1,
        _ => return None,
    };
    let payload = rest.get(HEADER_LEN..record_len(rest));
    let is_checked = |kind: &u8| {
        let crc = |payload| crc32c::crc32c_append(crc32c::crc32c(&[*kind]), payload);
        payload.is_some_and(|payload| masked(crc(payload)) == stored_checksum(rest))
    };
    Some(TYPES.into_iter().find(is_checked).unwrap_or(counterpart))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(payload: &[u8]) -> Vec<u8> {
        record_of_type(1, payload)
    }

    fn record_of_type(kind: u8, payload: &[u8]) -> Vec<u8> {
        let checked = [&[kind], payload].concat();
        let length = u16::try_from(payload.len()).expect("short");
        [masked(crc32c::crc32c(&checked)).to_le_bytes().as_slice(), &length.to_le_bytes(), &checked].concat()
    }

    #[test]
    fn a_damaged_length_is_told_from_a_torn_write() {
        let (first, second) = (record(b"first"), record(b"second"));
        let sound = [first.as_slice(), &second].concat();
        assert_eq!(dropped_end(&sound, sound.len() as u64), None);
        for length_byte in [4, 5] {
            let mut damaged = sound.clone();
            damaged[first.len() + length_byte] |= 0x40;
            assert_eq!(dropped_end(&damaged, 0), Some(first.len()), "the last record is whole");
        }
        let torn = &sound[..sound.len() - 1];
        assert_eq!(dropped_end(torn, first.len() as u64), None);
        assert_eq!(dropped_end(torn, torn.len() as u64), Some(first.len()), "more was durable");
        let zeros = [first.as_slice(), &[0; 20]].concat();
        assert_eq!(dropped_end(&zeros, first.len() as u64), None);
        assert_eq!(dropped_end(&zeros, zeros.len() as u64), Some(first.len()));
    }

    #[test]
    fn damage_before_the_last_write_is_told_from_a_torn_one() {
        let block = record(&[7; BLOCK_LEN - HEADER_LEN]);
        let writes =
            [record(b"first"), record(b"second"), [record_of_type(2, b"third"), record_of_type(4, b"end")].concat()];
        for sound in [writes.concat(), [block, writes.concat()].concat()] {
            let last = sound.len() - writes[2].len();
            assert_eq!(damage_before_the_last_write(&sound), None);
            for at in (0..last).step_by(sound.len() / 100 + 1) {
                let mut damaged = sound.clone();
                damaged[at] ^= 4;
                assert!(damage_before_the_last_write(&damaged).is_some_and(|found| found <= at), "{at}");
            }
            for length in last + 1..sound.len() {
                assert_eq!(damage_before_the_last_write(&sound[..length]), None, "torn at {length}");
                let zeros = [&sound[..length], &[0; 40]].concat();
                assert_eq!(damage_before_the_last_write(&zeros), None, "zeros from {length}");
            }
        }
    }

    #[test]
    fn types_of_recycled_logs_are_replaced_in_every_block() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let block = record(&[7; BLOCK_LEN - 2 * HEADER_LEN - 4]);
        let sound = [block.as_slice(), &record(b"end"), &[0; 1], &block].concat();
        let mut damaged = sound.clone();
        [6, block.len() + 6, BLOCK_LEN + 6].iter().for_each(|at| damaged[*at] = 5);
        std::fs::write(file.path(), damaged).expect("writable");
        replace_recycled_types(file.path()).expect("writable");
        assert!(std::fs::read(file.path()).expect("readable") == sound);
    }

    #[test]
    fn a_replaced_type_is_the_one_that_the_checksum_is_of() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        for (sound, recycled) in TYPES.iter().flat_map(|sound| [5, 6, 7, 8, 11, 131].map(|recycled| (*sound, recycled)))
        {
            let mut bytes = record_of_type(sound, b"payload");
            bytes[6] = recycled;
            std::fs::write(file.path(), &bytes).expect("writable");
            replace_recycled_types(file.path()).expect("writable");
            assert_eq!(std::fs::read(file.path()).expect("readable")[6], sound, "of {recycled}");
            bytes[9] ^= 1;
            std::fs::write(file.path(), &bytes).expect("writable");
            replace_recycled_types(file.path()).expect("writable");
            assert!(TYPES.contains(&std::fs::read(file.path()).expect("readable")[6]), "{recycled} with another fault");
        }
    }
}
