//! Errors of taking, reading and restoring checkpoints.

use std::io;
use std::path::{Path, PathBuf};

use till_storage::engine::OpenError;
use till_storage::journal::{CommitNumber, JournalError};

use super::checksum::FileFault;
use super::manifest::FORMAT;
use super::stage::CheckpointStage;

/// The reason that a checkpoint was not taken, is not valid, or is not restored.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The name is not valid.
    #[error(
        "{name:?} is not a name of a checkpoint: it has 1 to 64 of a-z, 0-9 and -, and begins with a letter or digit"
    )]
    Name {
        /// The name that was given.
        name: String,
    },
    /// There is a checkpoint of this name.
    #[error("there is a checkpoint {name} already")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// Another one is being taken or removed in the same place.
    #[error("another checkpoint is being taken or removed in {directory}")]
    Busy {
        /// The directory that checkpoints are kept in.
        directory: PathBuf,
    },
    /// The directory outside the data directory in which checkpoints were kept is empty or missing.
    #[error(
        "no checkpoint is in {directory}, where there were some: mount its disk; to begin anew there, remove {note}"
    )]
    Gone {
        /// The directory that checkpoints are kept in.
        directory: PathBuf,
        /// The file that notes that there were some.
        note: PathBuf,
    },
    /// The disk that it is copied to has too little space.
    #[error("{free} bytes are free on the disk of {directory}, and a checkpoint and the reserve need {needed}")]
    NoSpace {
        /// The directory that checkpoints are kept in.
        directory: PathBuf,
        /// Bytes that are free.
        free: u64,
        /// Bytes that are needed.
        needed: u64,
    },
    /// A copy of a damaged table is of no use, and taking it would push older, good ones out.
    #[error(
        "the table {tables} is damaged, and a checkpoint would have the damage too. Keep the older ones. Stop the \
            server and run `till verify`; when rows are affected, run `till repair rows`, or restore the directory \
            (docs/repair.md, \"A damaged table\")"
    )]
    TableDamaged {
        /// The paths of the damaged tables below the data directory.
        tables: String,
    },
    /// The file system refused.
    #[error("could not {attempt} {path}")]
    Files {
        /// The attempt.
        attempt: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// RocksDB refused.
    #[error("could not copy {what}: {reason}")]
    Copy {
        /// The database, or the directory of a book.
        what: &'static str,
        /// The message of RocksDB.
        reason: String,
    },
    /// The copy does not open.
    #[error("the copy cannot be opened")]
    Open(#[from] OpenError),
    /// The copy opens and cannot be read.
    #[error("the copy cannot be read: {reason}")]
    Read {
        /// The message of the store.
        reason: String,
    },
    /// The copy is older than what was acknowledged before it was begun.
    #[error("the copy ends at commit {found}, and {acknowledged} was acknowledged before it was begun")]
    Behind {
        /// The last commit of the copy.
        found: CommitNumber,
        /// The last one acknowledged.
        acknowledged: CommitNumber,
    },
    /// The directory was left by a checkpoint that was not finished.
    #[error("{directory} is a checkpoint that was not finished")]
    Unfinished {
        /// The directory.
        directory: PathBuf,
    },
    /// The directory is not a checkpoint.
    #[error("{directory} is not a checkpoint: it has no checkpoint-manifest")]
    NoManifest {
        /// The directory.
        directory: PathBuf,
    },
    /// A newer program made it.
    #[error("the checkpoint has format {found}, this program reads up to {FORMAT}: upgrade the program")]
    FormatTooNew {
        /// Its format.
        found: u32,
    },
    /// The manifest is not what was written.
    #[error("{file} is damaged: {what}")]
    ManifestDamaged {
        /// The manifest.
        file: PathBuf,
        /// The fault.
        what: &'static str,
    },
    /// Files are not what was written.
    #[error("the checkpoint {directory} is damaged:{}", lines(faults))]
    Damaged {
        /// The checkpoint.
        directory: PathBuf,
        /// Each fault.
        faults: Vec<FileFault>,
    },
    /// The directory to restore to holds something.
    #[error("{directory} is not empty: name one that is missing or empty")]
    NotEmpty {
        /// The directory.
        directory: PathBuf,
    },
    /// A server or a verification has the directory to restore to open.
    #[error("{directory} is in use by another process")]
    InUse {
        /// The directory.
        directory: PathBuf,
    },
    /// The caller asked to stop: files are left as a crash at this point would leave them.
    #[error("it was stopped after {step:?}")]
    Stopped {
        /// The last completed stage.
        step: CheckpointStage,
    },
}

impl From<JournalError> for CheckpointError {
    fn from(error: JournalError) -> CheckpointError {
        CheckpointError::Read { reason: error.to_string() }
    }
}

impl CheckpointError {
    /// Names the attempt and the path that failed.
    pub(super) fn files(attempt: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CheckpointError {
        let path = path.to_owned();
        move |source| CheckpointError::Files { attempt, path, source }
    }
}

fn lines(faults: &[FileFault]) -> String {
    faults.iter().map(|fault| format!("\n  {fault}")).collect()
}
