//! Why a store is not opened, in words that tell an operator what and where.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::copy::BEFORE_DIRECTORY;
use crate::journal::CommitNumber;

use super::format::{FORMAT, ROW_FORMAT};
use super::log_scan::LogFault;

/// A place in a file of the database that is not what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The byte that the first bad record begins at.
    pub offset: u64,
    /// What is wrong there.
    pub fault: LogFault,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, offset {}: {}", self.file.display(), self.offset, self.fault)
    }
}

/// Why a store is not opened. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process, or another part of this one, has it open.
    #[error("the data directory {directory} is in use by another process", directory = directory.display())]
    InUse {
        /// The data directory.
        directory: PathBuf,
    },
    /// It is a checkpoint: what a server writes would spoil it.
    #[error("{directory} is a checkpoint: restore it, and start on the restored copy", directory = directory.display())]
    IsCheckpoint {
        /// The checkpoint.
        directory: PathBuf,
    },
    /// It is being restored, or restoring it did not come to its end.
    #[error(
        "{directory} is not restored yet: wait for till restore to end; if it was cut off, remove the directory and restore again",
        directory = directory.display()
    )]
    RestoreUnfinished {
        /// The directory.
        directory: PathBuf,
    },
    /// A repair was cut off while it put the repaired database in its place.
    #[error(
        "the repair of {directory} did not come to its end: run till repair rows again; the database as it was before \
         is in {before}",
        directory = directory.display(), before = directory.join(BEFORE_DIRECTORY).display()
    )]
    RepairUnfinished {
        /// The directory.
        directory: PathBuf,
    },
    /// The file system refused.
    #[error("could not {attempt} {path}", path = path.display())]
    Files {
        /// What was tried.
        attempt: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A newer program wrote it.
    #[error("the store has format {found}, this program reads up to {FORMAT}: upgrade the program")]
    FormatTooNew {
        /// The format of the store.
        found: u32,
    },
    /// A newer program derived its rows.
    #[error("the store has row format {found}, this program reads up to {ROW_FORMAT}: upgrade the program")]
    RowFormatTooNew {
        /// The row format of the store.
        found: u32,
    },
    /// RocksDB did not come back.
    #[error("opening the database did not end within {limit:?}: it is damaged, or the disk hangs{}", at(place))]
    TimedOut {
        /// The time that it had.
        limit: Duration,
        /// The first bad record, when one was found.
        place: Option<Place>,
    },
    /// A file without which nothing can be read is not what was written, or RocksDB refused for another reason, which
    /// it names. Restore a checkpoint when it is damage.
    #[error("the database cannot be opened: {reason}{}", at(place))]
    Damaged {
        /// The first bad record, when one was found.
        place: Option<Place>,
        /// What was noticed.
        reason: String,
    },
    /// Acknowledged commits are not there. To give them up is an operator's explicit command.
    #[error("acknowledged commits {first} to {last} are missing{}", at(&Some(place.clone())))]
    CommitsMissing {
        /// The first one missing.
        first: CommitNumber,
        /// The last one missing.
        last: CommitNumber,
        /// The first bad record, or the end of the newest log when every record of it is good.
        place: Place,
    },
    /// Whether something is missing cannot be told.
    #[error(
        "the high-water mark {file} {what}, so that nobody can tell whether acknowledged commits are missing",
        file = file.display()
    )]
    NoMark {
        /// The file of the mark.
        file: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
}

fn at(place: &Option<Place>) -> String {
    place.as_ref().map_or_else(String::new, |place| format!(" ({place})"))
}

/// Why a store was not closed cleanly. What was acknowledged is durable all the same.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("could not {attempt}: {reason}")]
pub struct CloseError {
    /// What was tried.
    pub attempt: &'static str,
    /// What the store said.
    pub reason: String,
}
