//! Why a checkpoint was not taken, is not one, or is not restored.

use std::io;
use std::path::{Path, PathBuf};

use till_storage::engine::OpenError;
use till_storage::journal::CommitNumber;

use super::checksum::FileFault;
use super::create::Step;
use super::manifest::FORMAT;

/// Why a checkpoint was not taken, is not one, or is not restored.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The name cannot be one.
    #[error("{name:?} is no name of a checkpoint: it is 1 to 64 of a-z, 0-9 and -, and begins with a letter or digit")]
    Name {
        /// What was given.
        name: String,
    },
    /// There is one of this name.
    #[error("there is a checkpoint {name} already")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// Another one is being taken or removed in the same place.
    #[error("another checkpoint is being taken or removed in {directory}", directory = directory.display())]
    Busy {
        /// Where checkpoints are kept.
        directory: PathBuf,
    },
    /// The directory outside the data directory in which checkpoints were kept is empty or missing.
    #[error(
        "no checkpoint is in {directory}, where there were some: mount its disk; to begin anew there, remove {note}",
        directory = directory.display(), note = note.display()
    )]
    Gone {
        /// Where checkpoints are kept.
        directory: PathBuf,
        /// What says that there were some.
        note: PathBuf,
    },
    /// The disk that it is copied to has too little space.
    #[error(
        "{free} bytes are free on the disk of {directory}, and a checkpoint and the reserve need {needed}",
        directory = directory.display()
    )]
    NoSpace {
        /// Where checkpoints are kept.
        directory: PathBuf,
        /// Bytes that are free.
        free: u64,
        /// Bytes that are needed.
        needed: u64,
    },
    /// A copy of damage is no use, and taking it would push older, good ones out.
    #[error("the store has a damaged table, and a checkpoint would have it too; keep the older ones")]
    TableDamaged,
    /// The file system refused.
    #[error("could not {attempt} {path}", path = path.display())]
    Files {
        /// What was tried.
        attempt: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// RocksDB refused.
    #[error("could not copy {what}: {reason}")]
    Copy {
        /// The database, or the directory of a book.
        what: &'static str,
        /// What it said.
        reason: String,
    },
    /// The copy does not open.
    #[error("the copy cannot be opened")]
    Open(#[from] OpenError),
    /// The copy opens and cannot be read.
    #[error("the copy cannot be read: {reason}")]
    Read {
        /// What it said.
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
    /// The directory was left by a checkpoint that did not come to its end.
    #[error("{directory} is a checkpoint that was not finished", directory = directory.display())]
    Unfinished {
        /// The directory.
        directory: PathBuf,
    },
    /// The directory is no checkpoint.
    #[error("{directory} is no checkpoint: it has no checkpoint-manifest", directory = directory.display())]
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
    #[error("{file} is damaged: {what}", file = file.display())]
    ManifestDamaged {
        /// The manifest.
        file: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// Files are not what was written.
    #[error("the checkpoint {directory} is damaged:{}", lines(faults), directory = directory.display())]
    Damaged {
        /// The checkpoint.
        directory: PathBuf,
        /// Each fault.
        faults: Vec<FileFault>,
    },
    /// The directory to restore to holds something.
    #[error("{directory} is not empty: name one that is missing or empty", directory = directory.display())]
    NotEmpty {
        /// The directory.
        directory: PathBuf,
    },
    /// A server or a verification has the directory to restore to open.
    #[error("{directory} is in use by another process", directory = directory.display())]
    InUse {
        /// The directory.
        directory: PathBuf,
    },
    /// Whoever watches asked to stop: what a crash at this point leaves is left.
    #[error("it was stopped behind {step:?}")]
    Stopped {
        /// The last step that was done.
        step: Step,
    },
}

impl CheckpointError {
    /// Says which attempt on which path failed.
    pub(super) fn files(attempt: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CheckpointError {
        let path = path.to_owned();
        move |source| CheckpointError::Files { attempt, path, source }
    }
}

fn lines(faults: &[FileFault]) -> String {
    faults.iter().map(|fault| format!("\n  {fault}")).collect()
}
