//! The reasons for which a store is not opened, in messages that tell an operator the fault and its location.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::copy::BEFORE_DIRECTORY;
use crate::journal::CommitNumber;

use super::format::{FORMAT, ROW_FORMAT, number};
use super::log_scan::LogFault;

/// The location of a fault in a file of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFault {
    /// The file.
    pub file: PathBuf,
    /// The byte at which the first bad record begins.
    pub offset: u64,
    /// The kind of the fault.
    pub fault: LogFault,
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, offset {}: {}", self.file.display(), self.offset, self.fault)
    }
}

/// The reason for which a store is not opened. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process, or another part of this one, has it open.
    #[error("the data directory {directory} is in use by another process: stop that one (fuser {directory}/db/LOCK names it), or name another directory", directory = directory.display())]
    InUse {
        /// The data directory.
        directory: PathBuf,
    },
    /// It is a checkpoint, which the writes of a server would spoil.
    #[error("{directory} is a checkpoint: restore it, and start on the restored copy", directory = directory.display())]
    IsCheckpoint {
        /// The checkpoint.
        directory: PathBuf,
    },
    /// It is being restored, or a restore of it did not finish.
    #[error(
        "{directory} is not restored yet: wait for till restore to end; if it was cut off, remove the directory and restore again",
        directory = directory.display()
    )]
    RestoreUnfinished {
        /// The directory.
        directory: PathBuf,
    },
    /// A repair was interrupted while it moved the repaired database to its final path.
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
        /// The action that failed.
        attempt: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A newer program wrote it.
    #[error("the store has format {}, this program reads up to {}: upgrade the program", number(*found), number(FORMAT))]
    FormatTooNew {
        /// The format of the store.
        found: u32,
    },
    /// A development version before 0.1.0 wrote it.
    #[error(
        "the store was written by a development version of Till before 0.1.0 (its format {found}): begin a new store, or run that version"
    )]
    FormatTooOld {
        /// The format of the store.
        found: u32,
    },
    /// A newer program derived its rows.
    #[error("the store has row format {found}, this program reads up to {ROW_FORMAT}: upgrade the program")]
    RowFormatTooNew {
        /// The row format of the store.
        found: u32,
    },
    /// RocksDB did not return in time.
    #[error("opening the database did not end within {limit:?}: it is damaged, or the disk hangs{}", at(place))]
    TimedOut {
        /// The time limit.
        limit: Duration,
        /// The first bad record, when one was found.
        place: Option<FileFault>,
    },
    /// A file that is needed for every read is damaged, or RocksDB refused for another reason, which it names. Restore
    /// a checkpoint when it is damage.
    #[error("the database cannot be opened: {reason}{}", at(place))]
    Damaged {
        /// The first bad record, when one was found.
        place: Option<FileFault>,
        /// The reason, as it was found or as RocksDB gave it.
        reason: String,
    },
    /// Acknowledged commits are missing. Giving them up needs an operator's explicit command.
    #[error("acknowledged commits {first} to {last} are missing{}", at(&Some(place.clone())))]
    CommitsMissing {
        /// The first missing commit.
        first: CommitNumber,
        /// The last missing commit.
        last: CommitNumber,
        /// The first bad record, or the end of the newest log when all of its records are valid.
        place: FileFault,
    },
    /// It is unknown if acknowledged commits are missing.
    #[error(
        "the high-water mark {file} {what}, so that nobody can tell whether acknowledged commits are missing",
        file = file.display()
    )]
    NoMark {
        /// The file of the mark.
        file: PathBuf,
        /// The fault of the file.
        what: &'static str,
    },
}

fn at(place: &Option<FileFault>) -> String {
    place.as_ref().map_or_else(String::new, |place| format!(" ({place})"))
}

/// The reason for which a store was not closed cleanly. All acknowledged commits are durable nevertheless.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("could not {attempt}: {reason}")]
pub struct CloseError {
    /// The action that failed.
    pub attempt: &'static str,
    /// The message of the store.
    pub reason: String,
}
