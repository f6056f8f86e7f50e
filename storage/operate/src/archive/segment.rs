//! The bytes of a segment: a header, entries of commits, and an end once it is closed.
//!
//! Header (offsets in bytes):
//! ```text
//!  0 magic `TILLARCH` (8) | 8 format (1) | 9 zeros (7) | 16 store (16) | 32 number of the segment (8)
//! 40 commit after which it begins (8) | 48 checksum of the segment before, zeros for the first (32)
//! 80 time at which it was opened, milliseconds (8) | 88 CRC-32C of everything before (4)
//! ```
//! An entry is magic `TA` (2), kind (1), zero (1), length of the body (4), CRC-32C of these 8 bytes and the body (4),
//! body. Kind 1 is a commit; kind 2 the end: last commit (8), commits (8), BLAKE3-256 of all bytes of the file before
//! it (32).

use till_storage::archive_queue::{ByteCursor, length};
use till_storage::engine::StoreIdentity;
use till_storage::journal::CommitNumber;

use super::commit::ArchivedCommit;

/// The format of a segment.
pub const FORMAT: u8 = 1;

pub(super) const HEADER_LEN: usize = 92;
pub(super) const ENTRY_HEAD_LEN: usize = 12;
/// Bytes of the end of a closed segment.
pub(super) const END_LEN: usize = ENTRY_HEAD_LEN + END_BODY_LEN;

const END_BODY_LEN: usize = 8 + 8 + 32;
const MAGIC: &[u8; 8] = b"TILLARCH";
pub(super) const ENTRY_MAGIC: [u8; 2] = *b"TA";

/// Bytes of a body: a record is at most 8 MiB, and a batch of them some more.
pub(super) const BODY_LEN_MAX: usize = 256 * 1024 * 1024;

/// The header of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) store: StoreIdentity,
    pub(super) number: u64,
    /// The commit after which it begins. It is greater than the last commit of the segment before when the archive has
    /// a gap.
    pub(super) base: CommitNumber,
    /// The checksum in the end of the segment before.
    pub(super) before: [u8; 32],
    pub(super) opened_at_ms: u64,
}

/// The end of a closed segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    pub(super) last: CommitNumber,
    pub(super) commits: u64,
    /// BLAKE3-256 of everything before.
    pub(super) checksum: [u8; 32],
}

/// The reason that bytes are not a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderFault {
    Damaged,
    /// Of a newer format.
    Newer(u8),
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    Commit,
    End,
}

impl EntryKind {
    const fn byte(self) -> u8 {
        match self {
            EntryKind::Commit => 1,
            EntryKind::End => 2,
        }
    }

    pub(super) fn of_byte(byte: u8) -> Option<EntryKind> {
        match byte {
            1 => Some(EntryKind::Commit),
            2 => Some(EntryKind::End),
            _ => None,
        }
    }
}

impl Header {
    pub(super) fn encode(&self) -> [u8; HEADER_LEN] {
        let mut bytes = Vec::with_capacity(HEADER_LEN);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&[FORMAT, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend_from_slice(&self.store.0);
        bytes.extend_from_slice(&self.number.to_be_bytes());
        bytes.extend_from_slice(&self.base.0.to_be_bytes());
        bytes.extend_from_slice(&self.before);
        bytes.extend_from_slice(&self.opened_at_ms.to_be_bytes());
        bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_be_bytes());
        bytes.try_into().expect("the parts come to the length of a header")
    }

    pub(super) fn decode(bytes: &[u8; HEADER_LEN]) -> Result<Header, HeaderFault> {
        let (front, crc) = bytes.split_at(HEADER_LEN - 4);
        if !front.starts_with(MAGIC) || crc32c::crc32c(front).to_be_bytes() != crc {
            return Err(HeaderFault::Damaged);
        }
        if front[MAGIC.len()] != FORMAT {
            return Err(HeaderFault::Newer(front[MAGIC.len()]));
        }
        Header::fields(&front[16..]).ok_or(HeaderFault::Damaged)
    }

    fn fields(bytes: &[u8]) -> Option<Header> {
        let mut cursor = ByteCursor(bytes);
        Some(Header {
            store: StoreIdentity(*cursor.array()?),
            number: cursor.number()?,
            base: CommitNumber(cursor.number()?),
            before: *cursor.array()?,
            opened_at_ms: cursor.number()?,
        })
    }
}

impl End {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(END_BODY_LEN);
        body.extend_from_slice(&self.last.0.to_be_bytes());
        body.extend_from_slice(&self.commits.to_be_bytes());
        body.extend_from_slice(&self.checksum);
        let mut bytes = Vec::with_capacity(END_LEN);
        bytes.extend_from_slice(&entry_head(EntryKind::End, &body));
        bytes.extend_from_slice(&body);
        bytes
    }

    pub(super) fn decode(body: &[u8]) -> Option<End> {
        let mut cursor = ByteCursor(body);
        let end = End { last: CommitNumber(cursor.number()?), commits: cursor.number()?, checksum: *cursor.array()? };
        cursor.0.is_empty().then_some(end)
    }

    /// The end in these last bytes of a file.
    pub(super) fn at_end_of(bytes: &[u8; END_LEN]) -> Option<End> {
        match entry(bytes)? {
            (EntryKind::End, body, _) => End::decode(body),
            (EntryKind::Commit, _, _) => None,
        }
    }
}

/// Appends a commit's entry.
pub(super) fn encode_commit(commit: &ArchivedCommit, body: &mut Vec<u8>, bytes: &mut Vec<u8>) {
    body.clear();
    commit.encode_onto(body);
    bytes.extend_from_slice(&entry_head(EntryKind::Commit, body));
    bytes.extend_from_slice(body);
}

fn entry_head(kind: EntryKind, body: &[u8]) -> [u8; ENTRY_HEAD_LEN] {
    let mut head = [0; ENTRY_HEAD_LEN];
    head[..2].copy_from_slice(&ENTRY_MAGIC);
    head[2] = kind.byte();
    head[4..8].copy_from_slice(&length(body.len()));
    let crc = crc32c::crc32c_append(crc32c::crc32c(&head[..8]), body);
    head[8..].copy_from_slice(&crc.to_be_bytes());
    head
}

/// The length of the body in an entry's head; none when the head is not valid.
pub(super) fn body_len(head: &[u8; ENTRY_HEAD_LEN]) -> Option<usize> {
    let length = u32::from_be_bytes([head[4], head[5], head[6], head[7]]);
    let length = usize::try_from(length).ok().filter(|length| *length <= BODY_LEN_MAX)?;
    (head[..2] == ENTRY_MAGIC && head[3] == 0 && EntryKind::of_byte(head[2]).is_some()).then_some(length)
}

/// The kind of an entry; none when its checksum is wrong.
pub(super) fn kind_of(head: &[u8; ENTRY_HEAD_LEN], body: &[u8]) -> Option<EntryKind> {
    let crc = crc32c::crc32c_append(crc32c::crc32c(&head[..8]), body);
    (crc.to_be_bytes() == head[8..]).then(|| EntryKind::of_byte(head[2])).flatten()
}

/// The entry at the beginning of these bytes: its kind, its body and its length.
pub(super) fn entry(bytes: &[u8]) -> Option<(EntryKind, &[u8], usize)> {
    let (head, rest) = bytes.split_first_chunk::<ENTRY_HEAD_LEN>()?;
    let length = body_len(head)?;
    let body = rest.get(..length)?;
    Some((kind_of(head, body)?, body, ENTRY_HEAD_LEN + length))
}

#[cfg(test)]
mod tests {
    use super::super::commit::tests::sample;
    use super::*;

    fn header() -> Header {
        Header {
            store: StoreIdentity([0x55; 16]),
            number: 3,
            base: CommitNumber(0x0708),
            before: [0x66; 32],
            opened_at_ms: 1_743_500_000_123,
        }
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn a_header_and_an_end_are_the_bytes_that_format_1_wrote() {
        let bytes = header().encode();
        let golden = [
            "54494c4c41524348",
            "0100000000000000",
            "55555555555555555555555555555555",
            "0000000000000003",
            "0000000000000708",
            "6666666666666666666666666666666666666666666666666666666666666666",
            "00000195f0b2bb7b",
        ];
        assert_eq!(hex(&bytes[..HEADER_LEN - 4]), golden.concat());
        assert_eq!(hex(&bytes[HEADER_LEN - 4..]), hex(&crc32c::crc32c(&bytes[..HEADER_LEN - 4]).to_be_bytes()));
        assert_eq!(Header::decode(&bytes), Ok(header()));
        let end = End { last: CommitNumber(9), commits: 2, checksum: [0x77; 32] };
        let bytes = end.encode();
        assert_eq!(hex(&bytes[..8]), "5441020000000030");
        assert_eq!(hex(&bytes[12..]), format!("{:016x}{:016x}{}", 9, 2, "77".repeat(32)));
        let bytes: [u8; END_LEN] = bytes.try_into().expect("the length of an end");
        assert_eq!(End::at_end_of(&bytes), Some(end));
    }

    #[test]
    fn every_flipped_bit_of_a_header_and_an_entry_is_found() {
        let bytes = header().encode();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::decode(&flipped), Err(HeaderFault::Damaged), "bit {bit}");
        }
        let mut bytes = Vec::new();
        encode_commit(&sample(4), &mut Vec::new(), &mut bytes);
        assert!(entry(&bytes).is_some_and(|(kind, _, length)| kind == EntryKind::Commit && length == bytes.len()));
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(entry(&flipped), None, "bit {bit}");
        }
    }

    #[test]
    fn a_sound_header_of_a_newer_format_asks_for_an_upgrade() {
        let mut bytes = header().encode();
        bytes[8] = 2;
        let crc = crc32c::crc32c(&bytes[..HEADER_LEN - 4]);
        bytes[HEADER_LEN - 4..].copy_from_slice(&crc.to_be_bytes());
        assert_eq!(Header::decode(&bytes), Err(HeaderFault::Newer(2)));
    }
}
