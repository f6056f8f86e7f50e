//! Appends and their verdicts.

use std::fmt;

use till_domain::ids::MerchantId;

use crate::family::Family;

use super::EncodedRecord;
use crate::positions::{BatchId, CommitNumber, Epoch, Head};
use crate::rows::RowWrites;

/// One merchant's batch: the records of one decision and everything derived from them, written together
/// or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// The merchant whose log it extends.
    pub merchant_id: MerchantId,
    /// The claim under which the batch was decided.
    pub epoch: Epoch,
    /// The head that it was decided on.
    pub expected_head: Head,
    /// The head after its last record; the expected one when it has none.
    pub new_head: Head,
    /// Drawn at random: after an uncertain write it tells if the batch was written.
    pub batch_id: BatchId,
    /// The records, each following the previous one. There may be none: row writes that no event causes.
    pub records: Vec<EncodedRecord>,
    /// The rows of the vault that change with them: what cannot be derived from the records.
    pub vault: RowWrites,
    /// The other rows that change with them, which are derived from the records.
    pub derived: RowWrites,
    /// A snapshot of the state, at `new_head` or before it.
    pub snapshot: Option<SnapshotWrite>,
    /// True when it may be written while the disk is down to its reserve.
    pub may_use_reserve: bool,
}

impl Append {
    /// A batch that writes nothing yet, under the claim of this epoch and decided on this head.
    #[must_use]
    pub fn nothing(merchant_id: MerchantId, epoch: Epoch, head: Head) -> Append {
        Append {
            merchant_id,
            epoch,
            expected_head: head,
            new_head: head,
            batch_id: BatchId::default(),
            records: Vec::new(),
            vault: RowWrites::default(),
            derived: RowWrites::default(),
            snapshot: None,
            may_use_reserve: false,
        }
    }

    /// About the number of bytes that the batch adds to the write: the limits of the queue and of a group count it.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        let records: usize = self.records.iter().map(|record| record.bytes.len()).sum();
        let snapshot = self.snapshot.as_ref().map_or(0, |snapshot| snapshot.bytes.len());
        size_of::<Append>() + records + self.vault.byte_count() + self.derived.byte_count() + snapshot
    }

    /// The defect by which the batch could never be written correctly, whatever the heads: a bug of its producer.
    pub(crate) fn defect(&self) -> Option<&'static str> {
        let mut head = self.expected_head;
        for record in &self.records {
            if !record.claims_to_follow(self.merchant_id, head) {
                return Some("its records do not follow one another");
            }
            head = record.head();
        }
        if head != self.new_head {
            return Some("its new head is not that of its last record");
        }
        if self.derived.iter().any(|row| !row.family.is_derived()) {
            return Some("it derives rows of a family that is not derived");
        }
        if self.vault.iter().any(|row| row.family != Family::Vault) {
            return Some("it writes a row into the vault that is none of the vault's");
        }
        let at = self.snapshot.as_ref().map(|snapshot| snapshot.at.sequence);
        (at > Some(self.new_head.sequence)).then_some("its snapshot is ahead of its new head")
    }
}

/// A snapshot to keep.
#[derive(Clone, PartialEq, Eq)]
pub struct SnapshotWrite {
    /// The log up to which the state was folded.
    pub at: Head,
    /// The state.
    pub bytes: Vec<u8>,
}

/// Shows no state: its content must not appear in a log.
impl fmt::Debug for SnapshotWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SnapshotWrite(at {:?}, {} bytes)", self.at, self.bytes.len())
    }
}

/// The result of an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppendVerdict {
    /// It is durable, under this number.
    Committed(CommitNumber),
    /// A later claim holds the log: the claim of this batch has ended. Nothing was written.
    Fenced,
    /// The log is ahead of the head that the batch was decided on, or has not reached it. Nothing was written.
    Stale {
        /// The head at its turn.
        durable: Head,
    },
    /// Nothing was written; a later append may succeed.
    Unavailable(String),
    /// It is unknown if it was written. The journal finds out before the merchant's log can be claimed again.
    Unknown(String),
    /// It is unknown if it was written, and only a restart can tell. No caller may be answered as if it were known.
    Ambiguous(String),
}
