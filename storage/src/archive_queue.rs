//! The interface between the store and its archive: the rows of the archive queue.
//!
//! A row of the queue represents one commit that is not archived yet, and is written with the commit itself. It says
//! where the commit's records are and which rows of the vault it changed, so that the archive can fall behind for any
//! length of time, and catches up from the store.
//!
//! Value of a row (offsets in bytes):
//! ```text
//! 0 commit before it (8) | 8 merchant (16) | 24 sequence of its first record (8) | 32 records (4) | 36 rows of the
//! vault (4) 40 rows of the vault: length (1) and key, 1 and length (4) and value, or 0 when it was deleted
//! ```

use till_domain::ids::MerchantId;

use crate::journal::Append;
use crate::keys::UnarchivedKey;
use crate::positions::{CommitNumber, Sequence};
use crate::rows::RowWrite;

/// A row of the vault that a commit wrote, or deleted when it has no value.
#[derive(Clone, PartialEq, Eq)]
pub struct VaultChange {
    /// Its key.
    pub key: Vec<u8>,
    /// The sealed value.
    pub value: Option<Vec<u8>>,
}

/// Shows no value: it is secret even when sealed.
impl std::fmt::Debug for VaultChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "VaultChange(value of {:?} bytes)", self.value.as_ref().map(Vec::len))
    }
}

/// The rows of the vault that a batch changes.
#[must_use]
pub fn vault_of(append: &Append) -> Vec<VaultChange> {
    let change = |row: RowWrite<'_>| VaultChange { key: row.key.to_vec(), value: row.value.map(<[u8]>::to_vec) };
    append.vault.iter().map(change).collect()
}

/// The value of a batch's row in the queue.
pub(crate) fn queue_value(append: &Append, before: CommitNumber) -> Vec<u8> {
    let vault = vault_of(append);
    let mut value = Vec::with_capacity(40);
    value.extend_from_slice(&before.0.to_be_bytes());
    value.extend_from_slice(&append.merchant_id.to_bytes());
    value.extend_from_slice(&append.expected_head.sequence.next().0.to_be_bytes());
    value.extend_from_slice(&length(append.records.len()));
    value.extend_from_slice(&length(vault.len()));
    encode_vault(&vault, &mut value);
    value
}

/// A row of the queue.
#[derive(Debug)]
pub struct QueuedCommit {
    /// Its number.
    pub commit: CommitNumber,
    /// The commit before it. Numbers between the two were given up.
    pub before: CommitNumber,
    /// The merchant whose log has its records.
    pub merchant_id: MerchantId,
    /// The sequence of its first record.
    pub first: Sequence,
    /// The number of its records.
    pub records: u32,
    /// The rows of the vault that it changed.
    pub vault: Vec<VaultChange>,
}

/// Decodes a row of the queue. None when the bytes are damaged.
#[must_use]
pub fn decode_queued(key: &[u8], value: &[u8]) -> Option<QueuedCommit> {
    let UnarchivedKey(commit) = UnarchivedKey::decode(key)?;
    let mut cursor = ByteCursor(value);
    let before = CommitNumber(cursor.number()?);
    let merchant_id = MerchantId::from_bytes(*cursor.array()?);
    let first = Sequence(cursor.number()?);
    let (records, vault_count) = (cursor.short()?, cursor.short()?);
    let vault = decode_vault(&mut cursor, vault_count)?;
    cursor.0.is_empty().then_some(QueuedCommit { commit, before, merchant_id, first, records, vault })
}

/// The bytes of vault changes, as the archive and its queue store them.
pub fn encode_vault(vault: &[VaultChange], bytes: &mut Vec<u8>) {
    for change in vault {
        bytes.push(u8::try_from(change.key.len()).expect("a key of the vault has 33 bytes"));
        bytes.extend_from_slice(&change.key);
        match &change.value {
            Some(value) => {
                bytes.push(1);
                bytes.extend_from_slice(&length(value.len()));
                bytes.extend_from_slice(value);
            }
            None => bytes.push(0),
        }
    }
}

/// Decodes `count` changes from the front of these bytes. None when the bytes are damaged.
#[must_use]
pub fn decode_vault(cursor: &mut ByteCursor<'_>, count: u32) -> Option<Vec<VaultChange>> {
    let mut change = || {
        let key_length = cursor.byte()?;
        let key = cursor.take(usize::from(key_length))?.to_vec();
        let value = match cursor.byte()? {
            0 => None,
            1 => Some(cursor.sized()?.to_vec()),
            _ => return None,
        };
        Some(VaultChange { key, value })
    };
    (0..count).map(|_| change()).collect()
}

/// The bytes of a length. All lengths that are written are far below 4 GiB.
#[must_use]
pub fn length(length: usize) -> [u8; 4] {
    u32::try_from(length).expect("a batch is at most some megabytes").to_be_bytes()
}

/// Reads values from the front of bytes.
#[derive(Debug)]
pub struct ByteCursor<'a>(pub &'a [u8]);

impl<'a> ByteCursor<'a> {
    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next bytes, of the length of the array.
    pub fn array<const LEN: usize>(&mut self) -> Option<&'a [u8; LEN]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(taken)
    }

    /// The next byte.
    pub fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|bytes| bytes[0])
    }

    /// The next four bytes as a number, big-endian.
    pub fn short(&mut self) -> Option<u32> {
        self.array().map(|bytes| u32::from_be_bytes(*bytes))
    }

    /// The next eight bytes as a number, big-endian.
    pub fn number(&mut self) -> Option<u64> {
        self.array().map(|bytes| u64::from_be_bytes(*bytes))
    }

    /// The next length, and that number of bytes.
    pub fn sized(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.short()?).ok()?;
        self.take(length)
    }
}
