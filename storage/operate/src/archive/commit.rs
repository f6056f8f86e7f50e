//! One commit as an archive stores it: the data that cannot be derived.
//!
//! Body of its entry (offsets in bytes):
//! ```text
//!  0 commit (8) | 8 commit before it in the chain (8) | 16 last commit that the store had for sure (8)
//! 24 group (8) | 32 index in the group (4) | 36 size of the group (4)
//! 40 merchant (16) | 56 records (4) | 60 rows of the vault (4)
//! 64 records: length (4), record | rows: length (1) and key, 1 and length (4) and value, or 0 when it was deleted
//! ```
//! A group is the commits that were written with one sync: only the last group of a segment can be torn.

use till_domain::ids::MerchantId;
use till_storage::archive_queue::{ByteCursor, VaultChange, decode_vault, encode_vault, length};
use till_storage::journal::CommitNumber;

const FIXED_LEN: usize = 64;

/// The position of a commit among those that were written with one sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct GroupPosition {
    /// The number of the group in the segment, from 1.
    pub(super) group: u64,
    /// The index of the commit in the group, from 0.
    pub(super) index: u32,
    /// The number of commits in the group.
    pub(super) size: u32,
}

/// A commit in an archive.
#[derive(Clone, PartialEq, Eq)]
pub struct ArchivedCommit {
    /// Its number.
    pub commit: CommitNumber,
    /// The commit before it in the chain. The numbers in between were given up.
    pub before: CommitNumber,
    /// The last commit that the store had for sure when this one was archived. When it is lower than this commit, this
    /// one was archived before it was written, and counts only if the store has it.
    pub stored: CommitNumber,
    pub(super) position: GroupPosition,
    /// The merchant that it belongs to.
    pub merchant_id: MerchantId,
    /// Its records, complete.
    pub records: Vec<Vec<u8>>,
    /// Its changes to rows of the vault.
    pub vault: Vec<VaultChange>,
}

/// Shows sizes only.
impl std::fmt::Debug for ArchivedCommit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ArchivedCommit { commit, merchant_id, records, vault, .. } = self;
        write!(f, "ArchivedCommit({commit} of {merchant_id}, {} records, {} vault rows)", records.len(), vault.len())
    }
}

impl ArchivedCommit {
    /// Its approximate size in bytes.
    pub(super) fn byte_count(&self) -> usize {
        let records: usize = self.records.iter().map(|record| 4 + record.len()).sum();
        let vault = |change: &VaultChange| 6 + change.key.len() + change.value.as_ref().map_or(0, Vec::len);
        FIXED_LEN + records + self.vault.iter().map(vault).sum::<usize>()
    }

    /// Appends its bytes to `bytes`.
    pub(super) fn encode_onto(&self, bytes: &mut Vec<u8>) {
        for number in [self.commit.0, self.before.0, self.stored.0, self.position.group] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(&self.position.index.to_be_bytes());
        bytes.extend_from_slice(&self.position.size.to_be_bytes());
        bytes.extend_from_slice(&self.merchant_id.to_bytes());
        bytes.extend_from_slice(&length(self.records.len()));
        bytes.extend_from_slice(&length(self.vault.len()));
        for record in &self.records {
            bytes.extend_from_slice(&length(record.len()));
            bytes.extend_from_slice(record);
        }
        encode_vault(&self.vault, bytes);
    }

    /// Decodes bytes that hold one commit and nothing else.
    pub(super) fn decode(bytes: &[u8]) -> Option<ArchivedCommit> {
        let mut cursor = ByteCursor(bytes);
        let (commit, before, stored) = (cursor.number()?, cursor.number()?, cursor.number()?);
        let position = GroupPosition { group: cursor.number()?, index: cursor.short()?, size: cursor.short()? };
        let merchant_id = MerchantId::from_bytes(*cursor.array()?);
        let (record_count, vault_count) = (cursor.short()?, cursor.short()?);
        let records = (0..record_count).map(|_| cursor.sized().map(<[u8]>::to_vec)).collect::<Option<_>>()?;
        let vault = decode_vault(&mut cursor, vault_count)?;
        let (commit, before, stored) = (CommitNumber(commit), CommitNumber(before), CommitNumber(stored));
        cursor.0.is_empty().then_some(ArchivedCommit { commit, before, stored, position, merchant_id, records, vault })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::archive) fn sample(commit: u64) -> ArchivedCommit {
        ArchivedCommit {
            commit: CommitNumber(commit),
            before: CommitNumber(commit - 1),
            stored: CommitNumber(commit),
            position: GroupPosition { group: 1, index: 0, size: 1 },
            merchant_id: MerchantId::from_bytes([0x11; 16]),
            records: vec![b"record".to_vec()],
            vault: vec![
                VaultChange { key: vec![0x22; 3], value: Some(vec![0x33; 2]) },
                VaultChange { key: vec![0x44], value: None },
            ],
        }
    }

    #[test]
    fn a_commit_is_the_bytes_that_format_1_wrote() {
        let mut bytes = Vec::new();
        sample(0x0102).encode_onto(&mut bytes);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let golden = [
            "0000000000000102",
            "0000000000000101",
            "0000000000000102",
            "0000000000000001",
            "00000000",
            "00000001",
            "11111111111111111111111111111111",
            "00000001",
            "00000002",
            "000000067265636f7264",
            "0322222201000000023333",
            "014400",
        ];
        assert_eq!(hex, golden.concat());
        assert_eq!(ArchivedCommit::decode(&bytes), Some(sample(0x0102)));
        assert!(sample(0x0102).byte_count() >= bytes.len());
    }

    #[test]
    fn bytes_that_are_cut_off_or_followed_by_more_are_no_commit() {
        let mut bytes = Vec::new();
        sample(7).encode_onto(&mut bytes);
        for length in 0..bytes.len() {
            assert_eq!(ArchivedCommit::decode(&bytes[..length]), None, "{length} bytes");
        }
        bytes.push(0);
        assert_eq!(ArchivedCommit::decode(&bytes), None);
    }
}
