//! The row store, for look-ups and lists. It holds committed rows only.

use std::ops::{ControlFlow, Deref};

use till_domain::ids::MerchantId;
use till_domain::records::Unreadable;

use crate::family::Family;
use crate::positions::{Head, Sequence};
use crate::rows::RowWrites;

/// A key and its value.
pub type RowPair = (Vec<u8>, Vec<u8>);

/// A function that is called with each pair of a range, and tells if it wants another.
pub type Visit<'v> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'v;

/// The direction in which a scan reads its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanDirection {
    /// From the lower end to the upper.
    Forward,
    /// From the upper end to the lower.
    Backward,
}

/// A range of the keys of one family.
#[derive(Debug, Clone, Copy)]
pub struct RowRange<'k> {
    /// The family.
    pub family: Family,
    /// The first key, inclusive.
    pub lower: &'k [u8],
    /// The end, exclusive. A range whose end is not above its first key is empty.
    pub upper: &'k [u8],
    /// The direction in which it is read.
    pub direction: ScanDirection,
}

impl<'k> RowRange<'k> {
    /// A range that is read from its lower end.
    #[must_use]
    pub const fn forward(family: Family, lower: &'k [u8], upper: &'k [u8]) -> RowRange<'k> {
        RowRange { family, lower, upper, direction: ScanDirection::Forward }
    }

    /// A range that is read from its upper end.
    #[must_use]
    pub const fn backward(family: Family, lower: &'k [u8], upper: &'k [u8]) -> RowRange<'k> {
        RowRange { family, lower, upper, direction: ScanDirection::Backward }
    }
}

/// The result of the check that a merchant's rows may be read for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowGate {
    /// They are derived from the whole log.
    Open,
    /// They are not: the code that loads the merchant applies the missing records first.
    Behind {
        /// The head up to which they were derived.
        applied: Head,
        /// The durable head.
        head: Head,
    },
}

/// The reason for which rows could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// The store could not read.
    #[error("the store failed to read {family}: {reason}")]
    Unreadable {
        /// The family.
        family: Family,
        /// The message of the store.
        reason: String,
    },
    /// The bytes of one of the store's own rows are damaged.
    #[error("the {what} of {merchant_id} is damaged")]
    Damaged {
        /// The merchant.
        merchant_id: MerchantId,
        /// The damaged row.
        what: &'static str,
    },
    /// The position of rows may only advance, and not past the log.
    #[error("rows derived up to record {applied} cannot be moved to {asked} with the log at {head}")]
    OutOfOrder {
        /// The position up to which they are derived.
        applied: Sequence,
        /// The requested position.
        asked: Sequence,
        /// The end of the log.
        head: Sequence,
    },
    /// The write failed with an unknown outcome, and nothing continues before a restart.
    #[error("the store failed to write rows: {reason}")]
    Unwritten {
        /// The message of the store.
        reason: String,
    },
}

impl From<RowError> for Unreadable {
    fn from(error: RowError) -> Unreadable {
        Unreadable { reason: error.to_string() }
    }
}

/// Reads of the store, of the present or of one moment.
pub trait RowReader {
    /// The value under a key.
    ///
    /// # Errors
    /// [`RowError::Unreadable`]: a damaged block or a failing disk, never an absent key.
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError>;

    /// The values under several keys, in their order.
    ///
    /// # Errors
    /// As [`RowReader::get`].
    fn get_many(&self, family: Family, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, RowError> {
        keys.iter().map(|key| self.get(family, key)).collect()
    }

    /// Visits the pairs of a range one after the other, until `visit` breaks off: then nothing more is read, not even
    /// the next pair.
    ///
    /// # Errors
    /// As [`RowReader::get`].
    fn visit(&self, range: RowRange<'_>, visit: &mut Visit<'_>) -> Result<(), RowError>;

    /// At most `limit` pairs of a range.
    ///
    /// # Errors
    /// As [`RowReader::get`].
    fn scan(&self, range: RowRange<'_>, limit: usize) -> Result<Vec<RowPair>, RowError> {
        let mut pairs = Vec::new();
        if limit == 0 {
            return Ok(pairs);
        }
        self.visit(range, &mut |key, value| {
            pairs.push((key.to_vec(), value.to_vec()));
            if pairs.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(pairs)
    }
}

/// A reference or a pointer reads as the reader that it points to.
impl<P: Deref<Target: RowReader>> RowReader for P {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
        (**self).get(family, key)
    }

    fn get_many(&self, family: Family, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, RowError> {
        (**self).get_many(family, keys)
    }

    fn visit(&self, range: RowRange<'_>, visit: &mut Visit<'_>) -> Result<(), RowError> {
        (**self).visit(range, visit)
    }
}

/// The result of a read that does not wait for the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadAtHand {
    /// The value under the key, if there is one.
    Value(Option<Vec<u8>>),
    /// Only a read that may wait for the disk can tell.
    WouldWait,
}

/// The rows of all merchants.
pub trait RowStore: RowReader + Send + Sync + 'static {
    /// The value under a key, if memory tells it without a wait for the disk. A read that fails is answered like one
    /// that would wait; the caller's next read, which may wait, returns the error.
    fn get_at_hand(&self, family: Family, key: &[u8]) -> ReadAtHand;

    /// Reads that all see the same moment: for a page that reads an index and then rows.
    fn view(&self) -> Box<dyn RowReader + '_>;

    /// The position of the log up to which a merchant's rows are derived.
    ///
    /// # Errors
    /// Fails when it cannot be read.
    fn applied(&self, merchant_id: MerchantId) -> Result<Head, RowError>;

    /// Checks that this position is the durable head. It must be called before rows of a merchant are read for an
    /// answer without its actor.
    ///
    /// # Errors
    /// Fails when it cannot be read.
    fn gate(&self, merchant_id: MerchantId) -> Result<RowGate, RowError>;

    /// Writes rows derived from records that are durable already, and advances the position to `applied`.
    ///
    /// # Errors
    /// [`RowError::OutOfOrder`] when `applied` is not ahead of the position or is ahead of the log;
    /// [`RowError::Unwritten`] when the write failed.
    fn append_rows(&self, merchant_id: MerchantId, rows: &RowWrites, applied: Head) -> Result<(), RowError>;

    /// Removes the bytes of deleted rows from the store's files, in which they otherwise remain until the files are
    /// rewritten. Takes as long as writing everything that is in memory, and rewriting the tables that contain the
    /// keys.
    ///
    /// # Errors
    /// [`RowError::Unwritten`]: the rows are deleted nevertheless, and their bytes are removed later.
    fn purge(&self, family: Family, keys: &[Vec<u8>]) -> Result<(), RowError>;
}
