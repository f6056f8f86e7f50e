//! The reasons for which a store is not opened, in messages that tell an operator the fault and its location.

use std::path::PathBuf;
use std::time::Duration;

use crate::positions::CommitNumber;

use super::format::{FORMAT, ROW_FORMAT, number};

/// The reason for which a store is not opened. Nothing was changed, except types of records that RocksDB reads without
/// end, when the options accept a loss.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process, or another part of this one, has it open.
    #[error("the data directory {directory} is in use by another process: stop that one (fuser {directory}/db/LOCK \
        names it), or name another directory", directory = directory.display())]
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
        "{directory} is not restored yet: wait for till restore to end; if it was cut off, remove the directory and \
            restore again",
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
        directory = directory.display(), before = before.display()
    )]
    RepairUnfinished {
        /// The directory.
        directory: PathBuf,
        /// The database as it was before.
        before: PathBuf,
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
    #[error("the store has format {}, this program reads up to {}: upgrade the program", number(*found),
        number(FORMAT))]
    FormatTooNew {
        /// The format of the store.
        found: u32,
    },
    /// A development version before 0.1.0 wrote it.
    #[error(
        "the store was written by a development version of Till before 0.1.0 (its format {found}): begin a new store, \
            or run that version"
    )]
    FormatTooOld {
        /// The format of the store.
        found: u32,
    },
    /// It repeats a log in a database, and only a server that uses this log may write to it.
    #[error(
        "{directory} repeats a log in a database: start with --journal and the address of that database",
        directory = directory.display()
    )]
    IsReplica {
        /// The data directory.
        directory: PathBuf,
    },
    /// It does not repeat the log in the database.
    #[error(
        "{directory} {what}: name an empty directory with --data, or remove this one if nothing in it is needed",
        directory = directory.display()
    )]
    IsNoReplica {
        /// The data directory.
        directory: PathBuf,
        /// What it has instead.
        what: &'static str,
    },
    /// A newer program derived its rows.
    #[error("the store has row format {found}, this program reads up to {ROW_FORMAT}: upgrade the program")]
    RowFormatTooNew {
        /// The row format of the store.
        found: u32,
    },
    /// RocksDB did not return in time.
    #[error(
        "opening the database did not end within {limit:?}: the disk hangs, or is slow (open_seconds_max), or a record \
         is damaged so that reading it has no end: restore a checkpoint, with the archive if there is one, or start \
         once with accept_loss_up_to = {acknowledged} (docs/repair.md, \"Giving up commits\")"
    )]
    TimedOut {
        /// The time limit.
        limit: Duration,
        /// The last acknowledged commit.
        acknowledged: CommitNumber,
    },
    /// A file that is needed for every read is damaged, or RocksDB refused for another reason, which it names. Restore
    /// a checkpoint when it is damage.
    #[error("the database cannot be opened: {reason}")]
    Damaged {
        /// The reason, as it was found or as RocksDB gave it.
        reason: String,
    },
    /// Acknowledged commits are missing. Giving them up needs an operator's explicit command.
    #[error(
        "acknowledged commits {first} to {last} are missing: restore a checkpoint, with the archive if there is one{}",
        going_on_without(*first, *last)
    )]
    CommitsMissing {
        /// The first missing commit.
        first: CommitNumber,
        /// The last missing commit.
        last: CommitNumber,
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

/// How to go on without missing commits: not at all when nothing is left, not even the key ring that was written before
/// them.
fn going_on_without(first: CommitNumber, last: CommitNumber) -> String {
    if first == CommitNumber(1) {
        return ": nothing is left to go on with".to_owned();
    }
    format!(
        "; to go on without them, start once with accept_loss_up_to = {last} (docs/repair.md, \"Giving up commits\")"
    )
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
