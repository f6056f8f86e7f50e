//! The places of flipped bits in segments of the archive. Their bytes: `docs/storage-format.md`, "The archive".

use crate::harness::TestDice;

/// Bytes of a segment's header.
const HEADER_LEN: usize = 92;

/// Bytes of an entry's head: magic (2), kind (1), zero (1), length of the body (4), checksum (4).
const ENTRY_HEAD_LEN: usize = 12;

/// Bytes at the end that count as its last block.
const BLOCK_LEN: usize = 4_096;

/// The offsets of the entries of a segment.
fn entry_starts(bytes: &[u8]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = HEADER_LEN;
    while let Some(head) = bytes.get(at..at + ENTRY_HEAD_LEN) {
        starts.push(at);
        let length = u32::from_be_bytes([head[4], head[5], head[6], head[7]]);
        at += ENTRY_HEAD_LEN + usize::try_from(length).expect("a body fits");
    }
    starts
}

/// A byte of a segment: most often of the head of an entry, of the last entry, or of the segment's own header.
pub(super) fn place(dice: &mut TestDice, bytes: &[u8]) -> usize {
    let starts = entry_starts(bytes);
    let Some(&last) = starts.last() else { return dice.index(bytes.len()) };
    let place = match dice.between(0, 10) {
        0..3 => dice.pick(&starts) + dice.index(ENTRY_HEAD_LEN),
        3..4 => last + dice.index(ENTRY_HEAD_LEN),
        4..6 => last + dice.index(bytes.len() - last),
        6..7 => dice.index(HEADER_LEN),
        7..9 => bytes.len() - 1 - dice.index(bytes.len().min(BLOCK_LEN)),
        _ => dice.index(bytes.len()),
    };
    place.min(bytes.len() - 1)
}
