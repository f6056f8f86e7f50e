//! Errors of writing, reading and restoring from an archive.

use std::io;
use std::path::{Path, PathBuf};

use till_storage::engine::{OpenError, StoreIdentity};
use till_storage::journal::{CommitNumber, JournalError};
use till_storage::rows::RowError;

use crate::acquirer_book::AcquirerBookError;

use super::segment::FORMAT;

/// The reason that an archive is not written to, not read or not restored from.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
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
    /// An archive inside the data directory is lost together with it.
    #[error("the archive {archive} is inside the data directory {data}: it would be lost with it")]
    Inside {
        /// The archive.
        archive: PathBuf,
        /// The data directory.
        data: PathBuf,
    },
    /// A disk that is not mounted would leave the archive on the disk of the data.
    #[error(
        "the archive {archive} cannot be made: the directory above it does not exist. Mount its disk, or make that \
            directory"
    )]
    NoParent {
        /// The archive.
        archive: PathBuf,
    },
    /// Two stores in one archive could not be told apart.
    #[error(
        "the archive {archive} belongs to the store {found}, this one is {store}: name an empty directory for this one"
    )]
    OtherStore {
        /// The archive.
        archive: PathBuf,
        /// The store that the archive belongs to.
        found: StoreIdentity,
        /// The store that asked.
        store: StoreIdentity,
    },
    /// Another server writes to it.
    #[error("the archive {archive} is in use by another process")]
    InUse {
        /// The archive.
        archive: PathBuf,
    },
    /// A newer program wrote it.
    #[error("{file} has format {found}, this program reads up to {FORMAT}: upgrade the program")]
    FormatTooNew {
        /// The segment.
        file: PathBuf,
        /// Its format.
        found: u8,
    },
    /// A segment is not what was written.
    #[error("{file} is damaged at offset {offset}: {what}")]
    Damaged {
        /// The segment.
        file: PathBuf,
        /// The offset of the first fault.
        offset: u64,
        /// The fault.
        what: &'static str,
    },
    /// A segment is not there.
    #[error("segment {number} of the archive {archive} is missing")]
    SegmentMissing {
        /// The archive.
        archive: PathBuf,
        /// Its number.
        number: u64,
    },
    /// There was an archive before: its disk is not mounted, or somebody emptied it.
    #[error(
        "the archive {archive} is empty, and was not before: mount its disk; to begin another one, name another \
            directory"
    )]
    Gone {
        /// The archive.
        archive: PathBuf,
    },
    /// Later writes to the file are archived nowhere.
    #[error(
        "{file} was moved away, deleted or replaced while it was written to: put the archive's directory back, or name \
            an empty one and take a checkpoint"
    )]
    Replaced {
        /// The open segment.
        file: PathBuf,
    },
    /// The archive was closed, for example by a stop.
    #[error("the archive is closed")]
    Closed,
    /// The directory has no segment.
    #[error("{archive} is not an archive: it has no segment")]
    Empty {
        /// The directory.
        archive: PathBuf,
    },
    /// The archive and the store have different histories.
    #[error(
        "commit {commit} of the archive {archive} is not the one of this store: they have gone different ways. To go \
         on with this store, name an empty directory and take a checkpoint; what only the archive has is restored to \
         another data directory"
    )]
    OtherHistory {
        /// The archive.
        archive: PathBuf,
        /// The commit that differs.
        commit: CommitNumber,
    },
    /// The archive has commits that the store lacks.
    #[error(
        "the archive {archive} goes on to commit {archived}, and this store ends at {last}: what is missing here is \
         there. Restore from the archive, or name an empty directory and take a checkpoint"
    )]
    Ahead {
        /// The archive.
        archive: PathBuf,
        /// The last commit in it.
        archived: CommitNumber,
        /// The last commit of the store.
        last: CommitNumber,
    },
    /// The store was made by a program that gave stores no identity.
    #[error("the checkpoint was taken before its store had an archive: take a new one")]
    NoIdentity,
    /// Commits are not in the archive.
    #[error("commits {first} to {last} are not in the archive {archive}: use a checkpoint that has them")]
    Gap {
        /// The archive.
        archive: PathBuf,
        /// The first one that is not there.
        first: CommitNumber,
        /// The last one that is not there.
        last: CommitNumber,
    },
    /// The commit is before that of the checkpoint.
    #[error(
        "the checkpoint is later than commit {asked}: the earliest that it can be restored to is commit {earliest}"
    )]
    BeforeCheckpoint {
        /// The commit that was asked for.
        asked: CommitNumber,
        /// The earliest possible commit.
        earliest: CommitNumber,
    },
    /// The moment is before that of the checkpoint.
    #[error("the checkpoint has commits of {earliest_ms} ms after the Unix epoch, later than {asked_ms}")]
    BeforeItsMoment {
        /// The moment that was asked for.
        asked_ms: u64,
        /// The earliest possible moment.
        earliest_ms: u64,
    },
    /// The commit is not in the archive yet.
    #[error("the archive ends at commit {end}, before {asked}")]
    BeyondEnd {
        /// The commit that was asked for.
        asked: CommitNumber,
        /// The last commit in the archive.
        end: CommitNumber,
    },
    /// A commit cannot be applied to what was restored so far.
    #[error("commit {commit} of the archive cannot be applied: {reason}")]
    Unfit {
        /// The commit.
        commit: CommitNumber,
        /// The reason.
        reason: String,
    },
    /// The store failed.
    #[error("the store failed: {reason}")]
    Store {
        /// The message of the store.
        reason: String,
    },
    /// The acquirer's book failed.
    #[error("the sandbox's book failed")]
    Book(#[from] AcquirerBookError),
    /// The store does not open.
    #[error("the store cannot be opened")]
    Open(#[from] OpenError),
}

impl From<RowError> for ArchiveError {
    fn from(error: RowError) -> ArchiveError {
        ArchiveError::store(error)
    }
}

impl From<JournalError> for ArchiveError {
    fn from(error: JournalError) -> ArchiveError {
        ArchiveError::store(error)
    }
}

impl ArchiveError {
    /// True when the archive may be reachable again later, unchanged.
    pub(super) fn is_passing(&self) -> bool {
        matches!(self, ArchiveError::Files { .. } | ArchiveError::Gone { .. } | ArchiveError::Replaced { .. })
    }

    /// Names the attempt and the path that failed.
    pub(super) fn files(attempt: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ArchiveError {
        let path = path.to_owned();
        move |source| ArchiveError::Files { attempt, path, source }
    }

    /// Wraps an error of the store.
    pub(super) fn store(error: impl std::fmt::Display) -> ArchiveError {
        ArchiveError::Store { reason: error.to_string() }
    }

    /// The error with its sources, as one line.
    #[must_use]
    pub fn chain(&self) -> String {
        std::iter::successors(std::error::Error::source(self), |error| error.source())
            .fold(self.to_string(), |text, source| format!("{text}: {source}"))
    }
}
