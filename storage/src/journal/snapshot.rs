//! A stored snapshot: one merchant's bounded state at a position of its log.
//!
//! Shape (integers big-endian, offsets in bytes):
//!
//! ```text
//!  0 magic "TS" (2) | 2 format (1) | 3 zero (1) | 4 CRC-32C (4)
//!  8 hash of the record at the position (32)
//! 40 state
//! ```
//!
//! The CRC covers the snapshot's key (merchant, sequence), the bytes before the CRC and those after it, so
//! that a snapshot under another merchant's key is invalid.

use std::fmt;

use crate::keys::SnapshotKey;

use crate::positions::Head;

const MAGIC_AND_FORMAT: [u8; 4] = [b'T', b'S', 1, 0];

/// Bytes before the state.
pub const HEADER_LEN: usize = 40;

const _: () = assert!(HEADER_LEN == 40, "on disk since format 1");

/// The number of snapshots that are kept of each merchant: the newest, and another in case the newest cannot be read.
pub const SNAPSHOTS_KEPT: usize = 2;

/// A snapshot whose checksum is right.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredSnapshot {
    /// The log up to which the state was folded.
    pub at: Head,
    /// The state, as it was given.
    pub bytes: Vec<u8>,
}

/// Shows no state: its content must not appear in a log.
impl fmt::Debug for StoredSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoredSnapshot(at {:?}, {} bytes)", self.at, self.bytes.len())
    }
}

/// The value to store under `key`.
pub fn encode(key: SnapshotKey, hash: &[u8; 32], state: &[u8]) -> Vec<u8> {
    let mut value = Vec::with_capacity(HEADER_LEN + state.len());
    value.extend_from_slice(&MAGIC_AND_FORMAT);
    value.extend_from_slice(&[0; 4]);
    value.extend_from_slice(hash);
    value.extend_from_slice(state);
    let crc = checksum(key, &value);
    value[4..8].copy_from_slice(&crc.to_be_bytes());
    value
}

/// The snapshot under `key`; none when it is damaged, since an older snapshot, or the whole log,
/// serves as well.
pub fn decode(key: SnapshotKey, value: &[u8]) -> Option<StoredSnapshot> {
    let (header, state) = value.split_first_chunk::<HEADER_LEN>()?;
    let crc = u32::from_be_bytes(header[4..8].try_into().ok()?);
    if header[..4] != MAGIC_AND_FORMAT || checksum(key, value) != crc {
        return None;
    }
    let at = Head { sequence: key.sequence, hash: header[8..].try_into().ok()? };
    Some(StoredSnapshot { at, bytes: state.to_vec() })
}

fn checksum(key: SnapshotKey, value: &[u8]) -> u32 {
    let crc = crc32c::crc32c_append(crc32c::crc32c(&key.encode()), &value[..4]);
    crc32c::crc32c_append(crc, &value[8..])
}

#[cfg(test)]
mod tests {
    use till_domain::ids::MerchantId;

    use super::*;
    use crate::positions::Sequence;

    const KEY: SnapshotKey = SnapshotKey { merchant_id: MerchantId::from_bytes([1; 16]), sequence: Sequence(7) };

    #[test]
    fn a_snapshot_reads_back_with_the_head_it_was_taken_at() {
        let snapshot = decode(KEY, &encode(KEY, &[5; 32], b"state")).expect("it was just encoded");
        assert_eq!(snapshot.at, Head { sequence: Sequence(7), hash: [5; 32] });
        assert_eq!(snapshot.bytes, b"state");
    }

    #[test]
    fn a_snapshot_with_a_flipped_bit_or_another_key_is_invalid() {
        let value = encode(KEY, &[5; 32], b"state");
        for bit in 0..value.len() * 8 {
            let mut flipped = value.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(KEY, &flipped), None, "bit {bit}");
        }
        assert_eq!(decode(SnapshotKey { sequence: Sequence(8), ..KEY }, &value), None);
        for length in 0..value.len() {
            assert_eq!(decode(KEY, &value[..length]), None, "{length} bytes");
        }
    }
}
