//! Directories that look like data directories and are none: a checkpoint, and those that are being made.

use std::path::Path;

use crate::checkpoint::{MANIFEST_FILE, RESTORING_FILE};
use crate::journal::CommitNumber;
use crate::repair::is_unfinished;

use super::filling::refuse_unfilled;
use super::high_water::HighWater;
use super::manifest;
use super::refusal::OpenError;

/// Refuses a directory that no server may write to.
///
/// # Errors
/// [`OpenError::IsCheckpoint`], [`OpenError::RestoreUnfinished`], [`OpenError::RepairUnfinished`],
/// [`OpenError::GenerateUnfinished`].
pub fn refuse_unfit(directory: &Path) -> Result<(), OpenError> {
    refuse_unfilled(directory)?;
    let directory = directory.to_owned();
    if directory.join(RESTORING_FILE).exists() {
        Err(OpenError::RestoreUnfinished { directory })
    } else if directory.join(MANIFEST_FILE).exists() {
        Err(OpenError::IsCheckpoint { directory })
    } else if is_unfinished(&directory) {
        Err(OpenError::RepairUnfinished { directory })
    } else {
        Ok(())
    }
}

/// Gives a copied database a high-water mark, or moves the one that it has: up to this commit nothing is missing,
/// and all of its MANIFEST is durable.
pub(crate) fn mark_copy(directory: &Path, commit: CommitNumber) -> Result<(), OpenError> {
    let (high_water, _) = HighWater::open(directory)?;
    let marked = manifest::position(&directory.join("db"))
        .and_then(|position| high_water.advance_manifest(position))
        .and_then(|()| high_water.advance(commit))
        .and_then(|()| high_water.sync());
    let path = high_water.path();
    marked.map_err(|source| OpenError::Files { attempt: "write", path: path.to_owned(), source })
}
