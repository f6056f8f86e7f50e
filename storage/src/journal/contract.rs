//! The journal as the actors see it. No code above may assume that it is local, or that this process is the
//! only one.

use std::fmt;

use till_domain::ids::MerchantId;

use super::{Append, AppendVerdict, RecordError, StoredSnapshot};
use crate::positions::{CommitNumber, Epoch, Head, Sequence};

/// The maximum number of bytes of records that one [`Journal::read`] returns, though always one record when there is
/// one: a reader of a long log repeats the call. Many merchants are loaded at once, and each load holds that much.
pub const READ_BYTES_MAX: usize = 1024 * 1024;

/// A claim on one merchant's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// Greater than that of every claim of this merchant before.
    pub epoch: Epoch,
    /// The durable head, at the moment of the claim.
    pub head: Head,
}

/// One record as the journal stores it, not yet checked: [`super::record::decode`] does that.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredRecord {
    /// The commit that wrote it.
    pub commit: CommitNumber,
    /// The record.
    pub bytes: Vec<u8>,
}

/// Shows no body: its content must not appear in a log.
impl fmt::Debug for StoredRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoredRecord(commit {}, {} bytes)", self.commit, self.bytes.len())
    }
}

/// The reason for which the journal could not be read or claimed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// The store could not read; a later read may succeed.
    #[error("the store failed to read: {reason}")]
    Unreadable {
        /// The message of the store.
        reason: String,
    },
    /// The value of a key is damaged.
    #[error("the {what} of {merchant_id} is damaged")]
    Damaged {
        /// The merchant.
        merchant_id: MerchantId,
        /// The damaged value.
        what: &'static str,
    },
    /// A record is damaged, or does not follow the one before it.
    #[error("record {sequence} of {merchant_id} cannot be used")]
    Record {
        /// The merchant.
        merchant_id: MerchantId,
        /// The position in the merchant's log.
        sequence: Sequence,
        /// The fault of the record.
        source: RecordError,
    },
    /// A write has an unknown outcome: nothing continues before a restart.
    #[error("the journal has stopped: {reason}")]
    Stopped {
        /// The message of that write.
        reason: String,
    },
}

/// Every merchant's log.
pub trait Journal: Send + Sync + 'static {
    /// Claims a merchant's log: batches of earlier claims are [`AppendVerdict::Fenced`] from now on. Waits
    /// for a batch of this merchant that is being written.
    ///
    /// # Errors
    /// Fails when the head cannot be read.
    fn claim(&self, merchant_id: MerchantId) -> Result<Claim, JournalError>;

    /// Releases a claim. Its batches are fenced from now on; a later claim is not affected.
    fn release(&self, merchant_id: MerchantId, epoch: Epoch);

    /// Writes those batches of the group that can be written, in one atomic step that is durable when this returns, and
    /// returns one verdict per batch in the same order.
    ///
    /// A batch whose expected head is not its merchant's head at its turn is dropped alone; a later batch
    /// of a merchant builds on the earlier ones of the group. After one [`AppendVerdict::Ambiguous`] every later
    /// append is refused until a restart; a write to this disk is never repeated.
    fn append(&self, group: Vec<Append>) -> Vec<AppendVerdict>;

    /// Returns true while batches without [`Append::may_use_reserve`] are refused for lack of disk space, as far as the
    /// last append of a few moments ago tells.
    fn is_short_of_space(&self) -> bool;

    /// The reason for which every batch would be refused now, if there is one. Does not wait.
    fn refusal(&self) -> Option<String> {
        None
    }

    /// The durable head of a merchant's log, [`Head::EMPTY`] when there is none.
    ///
    /// # Errors
    /// Fails when it cannot be read.
    fn head(&self, merchant_id: MerchantId) -> Result<Head, JournalError>;

    /// At most `max` records and [`READ_BYTES_MAX`] bytes of a merchant's log, from `from` on, in order.
    /// Fewer than `max` do not mean that the log has ended.
    ///
    /// # Errors
    /// Fails when they cannot be read.
    fn read(&self, merchant_id: MerchantId, from: Sequence, max: usize) -> Result<Vec<StoredRecord>, JournalError>;

    /// The merchant's valid snapshots, newest first; one with a wrong checksum is left out.
    ///
    /// # Errors
    /// Fails when they cannot be read.
    fn newest_snapshots(&self, merchant_id: MerchantId, max: usize) -> Result<Vec<StoredSnapshot>, JournalError>;

    /// At most `max` merchants that have a log, with their heads, in order of their ids, after `after`.
    ///
    /// # Errors
    /// Fails when they cannot be read.
    fn merchants(&self, after: Option<MerchantId>, max: usize) -> Result<Vec<(MerchantId, Head)>, JournalError>;

    /// The number of the last durable commit.
    fn last_commit(&self) -> CommitNumber;
}
