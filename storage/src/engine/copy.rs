//! Directories that look like data directories but that no server may write to: checkpoints, unfinished restores and
//! unfinished repairs.

use std::path::Path;

use crate::positions::CommitNumber;

use super::high_water::HighWater;
use super::manifest;
use super::refusal::OpenError;

/// The list of the files in a checkpoint, which is written last. A directory with this file is a checkpoint, not a data
/// directory.
pub const MANIFEST_FILE: &str = "checkpoint-manifest";

/// The file that marks a data directory while it is being restored.
pub const RESTORING_FILE: &str = "restore-in-progress";

/// The directory of the repaired database, until it is renamed to `db`.
pub const REPAIRED_DIRECTORY: &str = "db-repaired";

/// The directory of the database as it was before the last repair. It is in the data directory and may be removed.
pub const BEFORE_DIRECTORY: &str = "db-before-repair";

/// Returns true when a repair was interrupted while it replaced the database, so that `db` does not exist.
#[must_use]
pub fn is_repair_unfinished(directory: &Path) -> bool {
    directory.join(REPAIRED_DIRECTORY).exists() && !directory.join("db").exists()
}

/// Refuses a directory that no server may write to.
///
/// # Errors
/// [`OpenError::IsCheckpoint`], [`OpenError::RestoreUnfinished`], [`OpenError::RepairUnfinished`].
pub fn refuse_unfit(directory: &Path) -> Result<(), OpenError> {
    let directory = directory.to_owned();
    if directory.join(RESTORING_FILE).exists() {
        Err(OpenError::RestoreUnfinished { directory })
    } else if directory.join(MANIFEST_FILE).exists() {
        Err(OpenError::IsCheckpoint { directory })
    } else if is_repair_unfinished(&directory) {
        Err(OpenError::RepairUnfinished { before: directory.join(BEFORE_DIRECTORY), directory })
    } else {
        Ok(())
    }
}

/// Writes a high-water mark for a copied database, or advances the existing mark. The mark states that no commit up to
/// this one is missing, and that the whole MANIFEST is durable.
pub fn mark_copy(directory: &Path, commit: CommitNumber) -> Result<(), OpenError> {
    let (high_water, _) = HighWater::open(directory)?;
    let marked = manifest::position(&directory.join("db"))
        .and_then(|position| high_water.advance_manifest(position))
        .and_then(|()| high_water.advance(commit))
        .and_then(|()| high_water.sync());
    let path = high_water.path();
    marked.map_err(|source| OpenError::Files { attempt: "write", path: path.to_owned(), source })
}
