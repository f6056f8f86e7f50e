//! Reads one merchant's log in order: every record is checked, must follow the one before, and gives its mutation.

use std::vec;

use till_domain::event::Mutation;
use till_domain::ids::MerchantId;

use crate::shapes::{Personal, ShapeError, decode_mutation};

use super::{DecodedRecord, EncodedRecord, JournalError, RecordError, RecordHeader, StoredRecord, record};
use crate::positions::{CommitNumber, Head, Sequence};

/// Records that are asked for at once.
const RECORDS_PER_READ: usize = 1_024;

/// A checked record and its mutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRecord {
    /// The commit that wrote it.
    pub commit: CommitNumber,
    /// The header.
    pub header: RecordHeader,
    /// BLAKE3-256 of its bytes.
    pub hash: [u8; 32],
    /// The number of its bytes.
    pub byte_count: usize,
    /// The mutation.
    pub mutation: Mutation,
}

impl LogRecord {
    /// Reads a record. `check` decides whether it belongs in its place, before its mutation is decoded.
    ///
    /// # Errors
    /// The bytes are not a record, `check` fails, or the mutation cannot be decoded.
    pub fn read<E: From<RecordError> + From<ShapeError>>(
        stored: &StoredRecord,
        personal: &dyn Personal,
        check: impl FnOnce(&DecodedRecord<'_>) -> Result<(), E>,
    ) -> Result<LogRecord, E> {
        let record = record::decode(&stored.bytes)?;
        check(&record)?;
        let mutation = decode_mutation(record.body, personal)?;
        let (commit, byte_count) = (stored.commit, stored.bytes.len());
        Ok(LogRecord { commit, header: record.header, hash: record.hash, byte_count, mutation })
    }

    /// The same for a record that must follow `before` in the merchant's log.
    ///
    /// # Errors
    /// [`LogRecordError`].
    pub fn read_after(
        merchant_id: MerchantId,
        before: Head,
        stored: &StoredRecord,
        personal: &dyn Personal,
    ) -> Result<LogRecord, LogRecordError> {
        LogRecord::read(stored, personal, |record| Ok(record.follow(merchant_id, before).map(drop)?))
    }

    /// The head of the log that ends with it.
    #[must_use]
    pub const fn head(&self) -> Head {
        Head { sequence: self.header.sequence, hash: self.hash }
    }
}

/// The reason for which a record of a log cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogRecordError {
    /// It is damaged, or does not follow the one before it.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Its mutation cannot be decoded.
    #[error(transparent)]
    Shape(#[from] ShapeError),
}

/// The reason for which a log cannot be read on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A record cannot be used.
    #[error("record {sequence}: {source}")]
    Record {
        /// Its position.
        sequence: Sequence,
        /// The reason.
        source: LogRecordError,
    },
}

type ReadRecords<'a> = dyn Fn(MerchantId, Sequence, usize) -> Result<Vec<StoredRecord>, JournalError> + 'a;

/// Reads a log from a position on.
pub struct LogReader<'a> {
    merchant_id: MerchantId,
    at: Head,
    read: Box<ReadRecords<'a>>,
    page: vec::IntoIter<StoredRecord>,
}

impl<'a> LogReader<'a> {
    /// Begins after `head`. `read` is [`super::Journal::read`], or returns records in the same way.
    pub fn starting_after(
        head: Head,
        merchant_id: MerchantId,
        read: impl Fn(MerchantId, Sequence, usize) -> Result<Vec<StoredRecord>, JournalError> + 'a,
    ) -> LogReader<'a> {
        LogReader { merchant_id, at: head, read: Box::new(read), page: Vec::new().into_iter() }
    }

    /// The next record; none at the end of the log.
    ///
    /// # Errors
    /// [`LogError`]: nothing after it can be read.
    pub fn next(&mut self, personal: &dyn Personal) -> Result<Option<LogRecord>, LogError> {
        let sequence = self.at.sequence.next();
        if self.page.as_slice().is_empty() {
            self.page = (self.read)(self.merchant_id, sequence, RECORDS_PER_READ)?.into_iter();
        }
        let Some(stored) = self.page.next() else { return Ok(None) };
        let record = LogRecord::read_after(self.merchant_id, self.at, &stored, personal);
        let record = record.map_err(|source| LogError::Record { sequence, source })?;
        self.at = record.head();
        Ok(Some(record))
    }
}

/// Records as a log has them, each of which must follow the one before it, the first one `head`.
///
/// # Errors
/// [`JournalError::Record`] names the first that does not, or is damaged.
pub fn chained_records(
    merchant_id: MerchantId,
    head: Head,
    stored: impl Iterator<Item = Vec<u8>>,
) -> Result<Vec<EncodedRecord>, JournalError> {
    let (mut head, mut records) = (head, Vec::new());
    for bytes in stored {
        let next = record::decode(&bytes).and_then(|record| record.follow(merchant_id, head));
        let sequence = head.sequence.next();
        head = next.map_err(|source| JournalError::Record { merchant_id, sequence, source })?;
        records.push(EncodedRecord { sequence, hash: head.hash, bytes });
    }
    Ok(records)
}
