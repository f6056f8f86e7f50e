//! The last record of an archive up to a commit.

use till_storage::journal::CommitNumber;

use super::ArchiveError;
use super::chain::SegmentChain;
use super::reading::SegmentReader;

/// The last record up to a commit, the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LastRecord {
    /// The hash of it; none when there is no record up to the limit.
    pub(crate) record: Option<[u8; 32]>,
    /// The last commit that was read.
    pub(crate) last: CommitNumber,
    /// True when the archive goes on to the limit, or beyond it.
    pub(crate) reaches: bool,
    /// True when the limit is in a segment, and not between two of them.
    pub(crate) has_limit: bool,
}

/// Reads an archive up to a commit, and compares every checksum of what it reads.
///
/// # Errors
/// [`ArchiveError`], naming the first file and offset that is not what was written.
pub(crate) fn last_record(chain: &SegmentChain, limit: CommitNumber) -> Result<LastRecord, ArchiveError> {
    let base = chain.base();
    let mut found =
        LastRecord { record: None, last: base, reaches: base >= limit, has_limit: limit == CommitNumber(0) };
    for segment in &chain.segments {
        if segment.base >= limit {
            found.reaches = true;
            break;
        }
        let mut reader = SegmentReader::open(segment)?;
        reader.each(&mut |commit| {
            if let Some(record) = commit.records.last().filter(|_| commit.commit <= limit) {
                found.record = Some(*blake3::hash(record).as_bytes());
            }
        })?;
        found.last = reader.valid().last;
        found.has_limit |= found.last >= limit;
        found.reaches |= found.last >= limit;
    }
    Ok(found)
}
