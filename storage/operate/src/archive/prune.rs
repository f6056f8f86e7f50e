//! Removes segments that no kept checkpoint needs any more.

use std::fs;
use std::path::Path;

use till_storage::journal::CommitNumber;

use crate::durable;

use super::chain::SegmentInfo;
use super::{ArchiveError, SegmentChain};

/// Removes the closed segments whose commits are all in a checkpoint that ends at `last`, the oldest first, and returns
/// them. The open one stays, and the last closed one, which a server reads when it continues the archive.
///
/// # Errors
/// [`ArchiveError`]; segments that were removed by then stay removed.
pub fn prune(directory: &Path, last: CommitNumber) -> Result<Vec<SegmentInfo>, ArchiveError> {
    let chain = SegmentChain::read(directory)?;
    let mut closed: Vec<SegmentInfo> = chain.segments.into_iter().filter(|segment| segment.last().is_some()).collect();
    closed.pop();
    let unneeded = closed.into_iter().take_while(|segment| segment.last().is_some_and(|end| end <= last));
    let mut removed = Vec::new();
    for segment in unneeded {
        fs::remove_file(&segment.path).map_err(ArchiveError::files("remove", &segment.path))?;
        removed.push(segment);
    }
    durable::sync_directory(directory).map_err(ArchiveError::files("sync", directory))?;
    Ok(removed)
}
