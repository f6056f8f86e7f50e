//! The interface of a durable place to which commits are written before the store writes and acknowledges them: an
//! archive, or a database elsewhere.

use till_domain::ids::MerchantId;

use crate::family::Family;
use crate::journal::{Append, AppendVerdict, EncodedRecord, JournalError};
use crate::keys::KeyRange;
use crate::positions::{CommitNumber, Head};
use crate::rows::RowPair;

/// A place to which commits are written first, or a check that comes before the write. Called by one thread.
pub trait FirstCommit: Send + Sync {
    /// Writes batches, which follow the commit `stored`, and returns when they are durable, with one verdict for each
    /// in their order. The store writes those with [`FirstVerdict::Written`], and no others. All batches of one
    /// merchant get the same verdict, since later ones build on earlier ones.
    fn commit(&self, batches: &[(CommitNumber, &Append)], stored: CommitNumber) -> Vec<FirstVerdict>;

    /// The reason for which batches would be refused now, if there is one. Does not wait.
    fn refusal(&self) -> Option<String> {
        None
    }

    /// Notes that the store has written the commits up to `last`. A place that need not know does nothing.
    fn confirm(&self, _last: CommitNumber) {}
}

/// A place to which the rows of an auxiliary database are written first.
pub trait FirstRows: Send + Sync {
    /// Writes rows and removes others, all or nothing, and returns when that is durable, with a note that the database
    /// keeps with them. No key is named twice.
    ///
    /// # Errors
    /// The reason, in words for an operator. Nothing was written.
    fn write(&self, put: &[RowPair], removed: &[Vec<u8>]) -> Result<Vec<u8>, String>;
}

/// The outcome of a batch at the place that comes first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FirstVerdict {
    /// It is durable there.
    Written,
    /// Somebody else holds the merchant's log. Nothing was written.
    Fenced,
    /// Nothing was written; a later batch may be. The reason is in words for an operator.
    Unavailable(String),
    /// It is unknown if it was written. That is found out before the merchant's log can be claimed again.
    Unknown(String),
}

impl FirstVerdict {
    /// The verdict of the store on a batch that it does not write.
    pub(crate) fn refusal(self) -> Option<AppendVerdict> {
        match self {
            FirstVerdict::Written => None,
            FirstVerdict::Fenced => Some(AppendVerdict::Fenced),
            FirstVerdict::Unavailable(reason) => Some(AppendVerdict::Unavailable(reason)),
            FirstVerdict::Unknown(reason) => Some(AppendVerdict::Unknown(reason)),
        }
    }
}

/// A place that has the logs themselves, so that the store only repeats it: what is written there first may be missing
/// here, and is fetched before a log is claimed.
pub trait RemoteLog: FirstCommit {
    /// True when the place may have something of a merchant that the store does not have. Does not wait.
    fn may_be_ahead(&self, merchant_id: MerchantId) -> bool;

    /// True when the place may have told callers something about a merchant that the store does not have. The
    /// merchant's rows in the store must not be used for answers then. Does not wait.
    fn may_have_told_more(&self, merchant_id: MerchantId) -> bool;

    /// Some of the records after `head`, in their order; none when there are none. Waits for the place.
    ///
    /// # Errors
    /// Fails when the place cannot be read, has lost commits, or does not have `head`: then the two logs have parted.
    fn records_after(&self, merchant_id: MerchantId, head: Head) -> Result<Vec<EncodedRecord>, JournalError>;

    /// Reads a merchant's rows that are not derived from the log, and passes them to `write`. The store's own rows of
    /// these kinds may differ.
    ///
    /// # Errors
    /// Fails when the place cannot be read, and with the errors of `write`.
    fn read_underived_rows(&self, merchant_id: MerchantId, write: &mut WriteRows<'_>) -> Result<(), JournalError>;

    /// Notes that the store has everything that the place had of a merchant before it was asked for it.
    fn note_caught_up(&self, merchant_id: MerchantId);

    /// The note of how much of the place the store has, once it has written what the place confirmed last. The store
    /// keeps it with what it writes.
    fn position(&self) -> Vec<u8>;
}

/// A function that writes rows to the store.
pub type WriteRows<'w> = dyn FnMut(RemoteRows) -> Result<(), JournalError> + 'w;

/// Every row of a family in a range of keys.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteRows {
    /// The family.
    pub family: Family,
    /// The range.
    pub range: KeyRange,
    /// The rows; the store has no others in the range afterwards.
    pub rows: Vec<RowPair>,
}
