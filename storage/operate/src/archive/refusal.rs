//! Why an archive is not written to, not read or not restored from.

use std::io;
use std::path::{Path, PathBuf};

use till_storage::engine::OpenError;
use till_storage::engine::StoreIdentity;
use till_storage::journal::CommitNumber;

use crate::acquirer_book::AcquirerBookError;

use super::segment::FORMAT;

/// Why an archive is not written to, not read or not restored from.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
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
    /// What goes with the data directory is no help when it goes.
    #[error(
        "the archive {archive} is inside the data directory {data}: it would be lost with it",
        archive = archive.display(), data = data.display()
    )]
    Inside {
        /// The archive.
        archive: PathBuf,
        /// The data directory.
        data: PathBuf,
    },
    /// Two stores in one archive could not be told apart.
    #[error(
        "the archive {archive} belongs to the store {found}, this one is {store}: name an empty directory for this one",
        archive = archive.display()
    )]
    OtherStore {
        /// The archive.
        archive: PathBuf,
        /// Whose it is.
        found: StoreIdentity,
        /// Who asked.
        store: StoreIdentity,
    },
    /// Another server writes to it.
    #[error("the archive {archive} is in use by another process", archive = archive.display())]
    InUse {
        /// The archive.
        archive: PathBuf,
    },
    /// A newer program wrote it.
    #[error("{file} has format {found}, this program reads up to {FORMAT}: upgrade the program", file = file.display())]
    FormatTooNew {
        /// The segment.
        file: PathBuf,
        /// Its format.
        found: u8,
    },
    /// A segment is not what was written.
    #[error("{file} is damaged at offset {offset}: {what}", file = file.display())]
    Damaged {
        /// The segment.
        file: PathBuf,
        /// Where the first fault is.
        offset: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// A segment is not there.
    #[error("segment {number} of the archive {archive} is missing", archive = archive.display())]
    SegmentMissing {
        /// The archive.
        archive: PathBuf,
        /// Its number.
        number: u64,
    },
    /// It was there before: its disk is not mounted, or somebody emptied it.
    #[error(
        "the archive {archive} is empty, and was not before: mount its disk; to begin another one, name another directory",
        archive = archive.display()
    )]
    Gone {
        /// The archive.
        archive: PathBuf,
    },
    /// It was closed, as at a stop.
    #[error("the archive is closed")]
    Closed,
    /// There is nothing in it.
    #[error("{archive} is no archive: there is no segment in it", archive = archive.display())]
    Empty {
        /// The directory.
        archive: PathBuf,
    },
    /// The archive and the store have gone different ways.
    #[error(
        "commit {commit} of the archive {archive} is not the one of this store: they have gone different ways. To \
         go on with this store, name an empty directory and take a checkpoint; what only the archive has is restored to \
         another data directory",
        archive = archive.display()
    )]
    OtherHistory {
        /// The archive.
        archive: PathBuf,
        /// The commit that differs.
        commit: CommitNumber,
    },
    /// The archive has commits that the store has not.
    #[error(
        "the archive {archive} goes on to commit {archived}, and this store ends at {last}: what is missing here is \
         there. Restore from the archive, or name an empty directory and take a checkpoint",
        archive = archive.display()
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
    #[error(
        "commits {first} to {last} are not in the archive {archive}: use a checkpoint that has them",
        archive = archive.display()
    )]
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
        /// What was asked for.
        asked: CommitNumber,
        /// The earliest that can be.
        earliest: CommitNumber,
    },
    /// The moment is before that of the checkpoint.
    #[error("the checkpoint has commits of {earliest_ms} ms after the Unix epoch, later than {asked_ms}")]
    BeforeItsMoment {
        /// What was asked for.
        asked_ms: u64,
        /// The earliest that can be.
        earliest_ms: u64,
    },
    /// The commit is not in the archive yet.
    #[error("the archive ends at commit {end}, before {asked}")]
    BeyondEnd {
        /// What was asked for.
        asked: CommitNumber,
        /// The last one that there is.
        end: CommitNumber,
    },
    /// A commit cannot be applied to what was restored so far.
    #[error("commit {commit} of the archive cannot be applied: {reason}")]
    Unfit {
        /// The commit.
        commit: CommitNumber,
        /// Why not.
        reason: String,
    },
    /// The store failed.
    #[error("the store failed: {reason}")]
    Store {
        /// What it said.
        reason: String,
    },
    /// The acquirer's book failed.
    #[error("the sandbox's book failed")]
    Book(#[from] AcquirerBookError),
    /// The store does not open.
    #[error("the store cannot be opened")]
    Open(#[from] OpenError),
}

impl ArchiveError {
    /// Whether the archive may be there again later, as it was.
    pub(super) fn is_passing(&self) -> bool {
        matches!(self, ArchiveError::Files { .. } | ArchiveError::Gone { .. })
    }

    /// Says which attempt on which path failed.
    pub(super) fn files(attempt: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ArchiveError {
        let path = path.to_owned();
        move |source| ArchiveError::Files { attempt, path, source }
    }

    /// Says what the store said.
    pub(super) fn store(error: impl std::fmt::Display) -> ArchiveError {
        ArchiveError::Store { reason: error.to_string() }
    }

    /// The error with what it rests on, as one line.
    #[must_use]
    pub fn chain(&self) -> String {
        std::iter::successors(std::error::Error::source(self), |error| error.source())
            .fold(self.to_string(), |text, source| format!("{text}: {source}"))
    }
}
