//! The head of a store that no server uses, and a comparison of one with it.
//!
//! The last record of each merchant as of a commit is found by a binary search: the commits of a log only grow. A record's
//! hash covers the one before it, so that the hash over the ends of all logs covers every record of every merchant.

use till_domain::ids::MerchantId;
use till_storage::engine::{StoppedStore, StoreIdentity};
use till_storage::journal::{CommitNumber, Head, JournalError, RecordError, Sequence, layout, record};
use till_storage::rows::RowError;

use super::text::{HeadFault, StoreHead};

/// The reason that the head of a store cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// A program wrote it that gave no identities.
    #[error("the store has no identity yet: start a server on it once, and stop it")]
    NoIdentity,
    /// A log, or a row of the store, cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A record is damaged.
    #[error("record {sequence} of {merchant_id} cannot be used: {source}")]
    Record {
        /// The merchant.
        merchant_id: MerchantId,
        /// The record.
        sequence: Sequence,
        /// The fault.
        source: RecordError,
    },
    /// A record is not there.
    #[error("record {sequence} of {merchant_id} is missing")]
    Missing {
        /// The merchant.
        merchant_id: MerchantId,
        /// The record.
        sequence: Sequence,
    },
}

impl From<RowError> for HeadError {
    fn from(error: RowError) -> HeadError {
        HeadError::Journal(error.into())
    }
}

/// The stores that are taken for the one that a head is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Descent {
    /// The store of the head only.
    SameStore,
    /// Also a store that was restored from it: its history tells.
    OrRestored,
}

/// The head of a store: its last commit.
///
/// # Errors
/// [`HeadError`]: the store has no identity, or cannot be read.
pub fn head_of_store(store: &StoppedStore) -> Result<StoreHead, HeadError> {
    let identity = store.identity()?.ok_or(HeadError::NoIdentity)?;
    let commit = store.last_commit()?;
    let Hashes { record, logs } = hashes_at(store, commit)?;
    Ok(StoreHead { store: identity, commit, record, logs: Some(logs) })
}

/// Compares a store with a head that was taken before. None: it has the commit of the head with the same hash.
///
/// # Errors
/// [`HeadError`]: the store cannot be read.
pub fn check_store(store: &StoppedStore, head: &StoreHead, descent: Descent) -> Result<Option<HeadFault>, HeadError> {
    let (found, last) = (store.identity()?, store.last_commit()?);
    let fault = history_fault(store, head, last)?;
    let (expected, commit) = (head.store, head.commit);
    Ok(match (is_other(found, expected), descent, fault) {
        (false, _, fault) | (true, Descent::OrRestored, fault) => fault,
        (true, Descent::SameStore, None) => Some(HeadFault::Restored { found, expected, commit }),
        (true, Descent::SameStore, Some(_)) => Some(HeadFault::OtherStore { found, expected }),
    })
}

fn is_other(found: Option<StoreIdentity>, expected: StoreIdentity) -> bool {
    found != Some(expected)
}

fn history_fault(store: &StoppedStore, head: &StoreHead, last: CommitNumber) -> Result<Option<HeadFault>, HeadError> {
    let commit = head.commit;
    if last < commit {
        return Ok(Some(HeadFault::EndsBefore { last, commit }));
    }
    let Hashes { record, logs } = hashes_at(store, commit)?;
    let is_same = record == head.record && head.logs.is_none_or(|expected| expected == logs);
    Ok((!is_same).then_some(HeadFault::OtherHash { commit }))
}

/// The hashes as of a commit.
struct Hashes {
    /// Of the last record.
    record: [u8; 32],
    /// Over the ends of all logs.
    logs: [u8; 32],
}

fn hashes_at(store: &StoppedStore, commit: CommitNumber) -> Result<Hashes, HeadError> {
    let mut logs = blake3::Hasher::new();
    logs.update(&commit.0.to_be_bytes());
    let mut newest = LogEnd::NONE;
    layout::each_log(store, &mut |merchant_id, head| -> Result<(), HeadError> {
        let Some(end) = log_end_at(store, merchant_id, head.sequence, commit)? else { return Ok(()) };
        logs.update(&merchant_id.to_bytes()).update(&end.head.sequence.0.to_be_bytes()).update(&end.head.hash);
        newest = if end.commit > newest.commit { end } else { newest };
        Ok(())
    })?;
    Ok(Hashes { record: newest.head.hash, logs: *logs.finalize().as_bytes() })
}

/// The last record of a log as of a commit.
#[derive(Clone, Copy)]
struct LogEnd {
    commit: CommitNumber,
    head: Head,
}

impl LogEnd {
    const NONE: LogEnd = LogEnd { commit: CommitNumber(0), head: Head::EMPTY };
}

/// The last record up to a commit of a log that ends at `last`; none when the log begins later.
fn log_end_at(
    store: &StoppedStore,
    merchant_id: MerchantId,
    last: Sequence,
    commit: CommitNumber,
) -> Result<Option<LogEnd>, HeadError> {
    let end = read(store, merchant_id, last)?;
    if end.commit <= commit {
        return Ok(Some(end));
    }
    // Records up to `known` are of the commit or before it, and those from `later` on are after it.
    let (mut known, mut found, mut later) = (Sequence(0), None, last);
    while known.next() < later {
        let middle = Sequence(known.0.midpoint(later.0));
        let end = read(store, merchant_id, middle)?;
        if end.commit <= commit {
            (known, found) = (middle, Some(end));
        } else {
            later = middle;
        }
    }
    Ok(found)
}

fn read(store: &StoppedStore, merchant_id: MerchantId, sequence: Sequence) -> Result<LogEnd, HeadError> {
    let stored = layout::read_record(store, merchant_id, sequence)?;
    let stored = stored.ok_or(HeadError::Missing { merchant_id, sequence })?;
    let record = record::decode(&stored.bytes).map_err(|source| HeadError::Record { merchant_id, sequence, source })?;
    if record.header.sequence != sequence {
        return Err(HeadError::Missing { merchant_id, sequence });
    }
    Ok(LogEnd { commit: stored.commit, head: record.head() })
}
