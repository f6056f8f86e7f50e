//! The head of an archive, and a comparison of one with it. An archive may begin later than its store, so that only the
//! record is compared, and not the ends of all logs.

use std::path::Path;

use till_storage::journal::CommitNumber;

use super::text::{HeadFault, StoreHead};
use crate::archive::{ArchiveError, SegmentChain, last_record};

/// The hash of the last record before anything was recorded.
const NO_RECORD: [u8; 32] = [0; 32];

/// The head of an archive: its last commit.
///
/// # Errors
/// [`ArchiveError`]: it is empty, damaged, or cannot be read.
pub fn head_of_archive(directory: &Path) -> Result<StoreHead, ArchiveError> {
    let chain = SegmentChain::read(directory)?;
    let store = chain.store()?;
    let found = last_record(&chain, CommitNumber(u64::MAX))?;
    match found.record {
        // Its last record would be one from before the archive.
        None if chain.base() > CommitNumber(0) => Err(ArchiveError::Empty { archive: directory.to_owned() }),
        record => Ok(StoreHead { store, commit: found.last, record: record.unwrap_or(NO_RECORD), logs: None }),
    }
}

/// Compares an archive with a head that was taken before. None: it has the commit of the head with the same hash.
///
/// # Errors
/// [`ArchiveError`]: it is empty, damaged, or cannot be read.
pub fn check_archive(directory: &Path, head: &StoreHead) -> Result<Option<HeadFault>, ArchiveError> {
    let chain = SegmentChain::read(directory)?;
    let (found, expected, commit) = (chain.store()?, head.store, head.commit);
    if found != expected {
        return Ok(Some(HeadFault::OtherStore { found: Some(found), expected }));
    }
    let base = chain.base();
    if commit <= base && commit > CommitNumber(0) {
        return Ok(Some(HeadFault::BeginsAfter { base, commit }));
    }
    let found = last_record(&chain, commit)?;
    if !found.reaches {
        return Ok(Some(HeadFault::EndsBefore { last: found.last, commit }));
    }
    if !found.has_limit {
        return Ok(Some(HeadFault::NotArchived { commit }));
    }
    match found.record {
        // The last record may be one from before the archive.
        None if base > CommitNumber(0) => Ok(Some(HeadFault::BeginsAfter { base, commit })),
        record => Ok((record.unwrap_or(NO_RECORD) != head.record).then_some(HeadFault::OtherHash { commit })),
    }
}
