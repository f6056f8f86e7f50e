//! Options of a verification.

use std::path::PathBuf;

use till_storage::journal::CommitNumber;

/// Limit of the replayed rows of one merchant in memory: some hundred thousand payments. Beyond it they go to the
/// scratch directory, so that memory is bounded for any number of payments. One merchant is checked on each processor
/// at a time.
const MEMORY_BYTES: usize = 256 * 1024 * 1024;

/// Limit of the faults that are kept in full: more of them say nothing new.
const FAULTS_KEPT: usize = 1_000;

/// Options of a verification.
#[derive(Debug, Clone)]
pub struct VerifyOptions {
    /// A directory that does not exist, on a disk with room for the rows of the largest merchant for each processor. It
    /// is made when rows outgrow memory, and removed.
    pub scratch: PathBuf,
    /// Limit of the replayed rows of one merchant in memory.
    pub memory_bytes_max: usize,
    /// Limit of the faults that are kept in full.
    pub faults_kept: usize,
    /// True when derived rows are compared; otherwise only the data that they are derived from is checked.
    pub compares_rows: bool,
    /// The last commit that was acknowledged, if it is known.
    pub acknowledged: Option<CommitNumber>,
}

impl VerifyOptions {
    /// The defaults.
    #[must_use]
    pub fn new(scratch: impl Into<PathBuf>) -> VerifyOptions {
        VerifyOptions {
            scratch: scratch.into(),
            memory_bytes_max: MEMORY_BYTES,
            faults_kept: FAULTS_KEPT,
            compares_rows: true,
            acknowledged: None,
        }
    }

    /// The options for one of several threads, which has a part of the scratch directory.
    pub(super) fn of_thread(&self, number: usize) -> VerifyOptions {
        VerifyOptions { scratch: self.scratch.join(number.to_string()), ..self.clone() }
    }
}
