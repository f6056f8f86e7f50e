//! Opening: the store is opened for writing only after it is known that no acknowledged commit is missing.
//!
//! 1. Lock the high-water mark and read it.
//! 2. Check that CURRENT and the MANIFEST are not older than the mark says.
//! 3. With an operator's consent to a loss only: replace what RocksDB would read without end.
//! 4. Open read-only, in point-in-time mode, under a time limit, and read the last commit.
//! 5. Compare it with the mark. If commits are missing, refuse and name them.
//! 6. Open for writing, under the time limit, and compare again with the values that were read.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rocksdb::{DB, Options, WriteBatch};

use crate::family::Family;
use crate::journal::layout::read_meta_number;
use crate::keys::{GivenUpKey, MetaKey};
use crate::positions::CommitNumber;
use crate::rows::{RowError, RowReader};

use super::EngineOptions;
use super::copy::refuse_unfit;
use super::format::{FORMAT, ROW_FORMAT};
use super::high_water::{FoundMark, HighWater, Mark};
use super::identity::StoreIdentity;
use super::manifest;
use super::read::{Live, handle};
use super::record_headers::replace_recycled_types;
use super::refusal::OpenError;
use super::settings::{self, Purpose};
use super::table_damage;
use super::time_limit::{NoResult, run_within};

/// A database that is open for writing, with every acknowledged commit.
pub(super) struct Opened {
    pub(super) db: DB,
    /// Its options, through which its counters are read.
    pub(super) options: Options,
    pub(super) db_dir: PathBuf,
    pub(super) high_water: HighWater,
    pub(super) last_commit: CommitNumber,
    /// The number of times that the directory was opened for writing, including this time.
    pub(super) starts: u64,
    /// The identity of the store.
    pub(super) identity: StoreIdentity,
    /// True when the previous process closed it; true for a new store.
    pub(super) was_closed: bool,
}

/// Opens the database of a data directory, or creates one.
pub(super) fn open(options: &EngineOptions) -> Result<Opened, OpenError> {
    refuse_unfit(&options.directory)?;
    fs::create_dir_all(&options.directory).map_err(|source| OpenError::Files {
        attempt: "create",
        path: options.directory.clone(),
        source,
    })?;
    let db_dir = options.directory.join("db");
    let mark = options.directory.join("high-water");
    let needs_mark = options.accept_loss_up_to.is_none() && options.replica_of.is_none();
    if !mark.exists() && manifest::is_database(&db_dir) && needs_mark {
        return Err(OpenError::NoMark { file: mark, what: "is missing" }); // Before one is made.
    }
    let (high_water, found) = HighWater::open(&options.directory)?;
    let was_closed = !manifest::has_log_records(&db_dir);
    let opening = OpenAttempt { options, db_dir, high_water, was_closed };
    match opening.known_state(found)? {
        KnownState::Nothing => {
            opening.first_mark()?;
            opening.create()
        }
        KnownState::HalfMade => opening.create(),
        KnownState::Mark(mark) => opening.open_existing(mark),
    }
}

/// Returns true when a directory contains none of the files of a store.
#[must_use]
pub fn is_new(directory: &Path) -> bool {
    ["db", "high-water"].iter().all(|name| !directory.join(name).exists())
}

struct OpenAttempt<'a> {
    options: &'a EngineOptions,
    db_dir: PathBuf,
    high_water: HighWater,
    was_closed: bool,
}

/// The state of a data directory as its mark tells, before the database is read.
enum KnownState {
    /// It never held a database.
    Nothing,
    /// The creation of its database did not finish: the mark was written and never advanced.
    HalfMade,
    /// Everything up to this mark was acknowledged.
    Mark(Mark),
}

/// The values of the meta rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Survey {
    last_commit: Option<CommitNumber>,
    format: Option<u32>,
    row_format: Option<u32>,
    starts: u64,
    /// The identity of the log elsewhere that the store repeats.
    replica_of: Option<[u8; 16]>,
}

/// The files to look at when RocksDB's message names no table and no log.
const HINT: &str = "; the MANIFEST is damaged, or a table file (.sst) that it lists";

/// A database that is open for writing, with its options.
type Writable = (DB, Options);

/// The reason for which a database did not open.
#[derive(Debug)]
enum Closed {
    TimedOut,
    Said(String),
}

impl OpenAttempt<'_> {
    /// The state to compare the database with.
    fn known_state(&self, found: FoundMark) -> Result<KnownState, OpenError> {
        let what = match found {
            FoundMark::Mark(mark) if mark == Mark::default() => return Ok(KnownState::HalfMade),
            FoundMark::Missing if !manifest::is_database(&self.db_dir) => return Ok(KnownState::Nothing),
            _ if self.options.replica_of.is_some() => return Ok(KnownState::Mark(Mark::default())),
            FoundMark::Mark(mark) => return Ok(KnownState::Mark(mark)),
            FoundMark::Missing => "is missing",
            FoundMark::Damaged => "is damaged",
        };
        match self.options.accept_loss_up_to {
            Some(_) => Ok(KnownState::Mark(Mark::default())),
            None => Err(OpenError::NoMark { file: self.high_water.path().to_owned(), what }),
        }
    }

    /// Writes a mark before there is a database, so that a database without a mark is always a fault.
    fn first_mark(&self) -> Result<(), OpenError> {
        let directory = || File::open(&self.options.directory)?.sync_all();
        let written = self.high_water.rewrite().and_then(|()| self.high_water.sync()).and_then(|()| directory());
        written.map_err(|source| self.files("write", source))
    }

    /// Creates a database, or finishes a creation that a crash interrupted: the mark was never advanced.
    fn create(self) -> Result<Opened, OpenError> {
        let opened = self.open_for_writing(Purpose::Create)?;
        let survey = survey(&opened.0).map_err(|error| self.damaged(error.to_string()))?;
        if survey.last_commit.is_some_and(|last| last > CommitNumber(0)) {
            let file = self.high_water.path().to_owned();
            return Err(OpenError::NoMark { file, what: "was never moved" });
        }
        self.begin(opened, survey, CommitNumber(0))
    }

    fn open_existing(self, mark: Mark) -> Result<Opened, OpenError> {
        manifest::check(&self.db_dir, mark.manifest)?;
        if self.gives_up(mark.commit) {
            let path = self.db_dir.clone();
            self.make_readable().map_err(|source| OpenError::Files { attempt: "mend the logs of", path, source })?;
        }
        let before = self.survey_read_only(mark.commit)?;
        let purpose = if before.is_some() { Purpose::Open } else { Purpose::OpenDespiteLoss };
        let opened = self.open_for_writing(purpose)?;
        let now = survey(&opened.0).map_err(|error| self.damaged(error.to_string()))?;
        if before.is_some_and(|before| before != now) {
            return Err(self.damaged(format!("it read {before:?} at first and then {now:?}")));
        }
        check_formats(&now)?;
        self.begin(opened, now, mark.commit)
    }

    /// Replaces what RocksDB would read without end.
    fn make_readable(&self) -> io::Result<()> {
        replace_recycled_types(&manifest::current(&self.db_dir)?)?;
        manifest::readable_logs(&self.db_dir)?.iter().try_for_each(|log| replace_recycled_types(log))
    }

    /// The values of the meta rows, when nothing is missing. None when an operator gives up the content of a database
    /// that does not open read-only.
    fn survey_read_only(&self, marked: CommitNumber) -> Result<Option<Survey>, OpenError> {
        let (options, db_dir) = (self.options.clone(), self.db_dir.clone());
        let read = move || {
            let database = settings::database(&options, Purpose::Open);
            let db = DB::open_cf_descriptors_read_only(&database, db_dir, settings::families(&options), false);
            survey(&db.map_err(rocksdb::Error::into_string)?).map_err(|error| error.to_string())
        };
        let survey = match flatten(run_within(self.options.open_limit, read)) {
            Ok(survey) => survey,
            Err(Closed::Said(_)) if self.gives_up(marked) => return Ok(None),
            Err(closed) => return Err(self.closed(closed)),
        };
        check_formats(&survey)?;
        self.check_replica(survey.replica_of)?;
        let last = survey.last_commit.unwrap_or_default();
        if last < marked && !self.gives_up(marked) {
            return Err(OpenError::CommitsMissing { first: last.next(), last: marked });
        }
        Ok(Some(survey))
    }

    /// Compares the log that the store repeats with the one that it is to repeat.
    fn check_replica(&self, found: Option<[u8; 16]>) -> Result<(), OpenError> {
        let directory = self.options.directory.clone();
        match (found, self.options.replica_of.map(|log| log.identity)) {
            (found, asked) if found == asked => Ok(()),
            (Some(_), None) => Err(OpenError::IsReplica { directory }),
            (Some(_), Some(_)) => Err(OpenError::IsNoReplica { directory, what: "repeats another log" }),
            (None, _) => Err(OpenError::IsNoReplica { directory, what: "has a store with a log of its own" }),
        }
    }

    fn gives_up(&self, marked: CommitNumber) -> bool {
        self.options.accept_loss_up_to.is_some_and(|accepted| accepted >= marked)
    }

    fn open_for_writing(&self, purpose: Purpose) -> Result<Writable, OpenError> {
        if let Some(reason) = table_damage::of_store(&self.options.directory) {
            tracing::error!(
                reason,
                "a table is damaged: reads of that place fail, and tables are not compacted until the directory is \
                 replaced by a restored one. Run `till verify` on a copy to see what is affected."
            );
        }
        let (options, db_dir) = (self.options.clone(), self.db_dir.clone());
        let open = move || {
            let database = settings::database(&options, purpose);
            let db = DB::open_cf_descriptors(&database, db_dir, settings::families(&options));
            db.map(|db| (db, database)).map_err(rocksdb::Error::into_string)
        };
        flatten(run_within(self.options.open_limit, open)).map_err(|closed| self.closed(closed))
    }

    /// Records the start, and with it the commits that an operator gave up: their numbers are never used again.
    fn begin(self, (db, options): Writable, survey: Survey, marked: CommitNumber) -> Result<Opened, OpenError> {
        let found = survey.last_commit.unwrap_or_default();
        let last_commit = found.max(marked);
        let starts = survey.starts.saturating_add(1).max(self.options.replica_of.map_or(0, |log| log.claim));
        let meta = handle(&db, Family::Meta);
        let identity = match read_meta_number(&Live(&db), MetaKey::Identity) {
            Ok(Some(bytes)) => StoreIdentity(bytes),
            Ok(None) => StoreIdentity::draw().map_err(|reason| self.damaged(reason))?,
            Err(error) => return Err(self.damaged(error.to_string())),
        };
        let mut batch = WriteBatch::default();
        batch.put_cf(meta, MetaKey::Format.encode(), FORMAT.to_be_bytes());
        batch.put_cf(meta, MetaKey::RowFormat.encode(), ROW_FORMAT.to_be_bytes());
        batch.put_cf(meta, MetaKey::LastCommit.encode(), last_commit.0.to_be_bytes());
        batch.put_cf(meta, MetaKey::Starts.encode(), starts.to_be_bytes());
        batch.put_cf(meta, MetaKey::Identity.encode(), identity.0);
        if let Some(log) = self.options.replica_of.filter(|_| survey.replica_of.is_none()) {
            batch.put_cf(meta, MetaKey::RemoteLog.encode(), log.identity);
        }
        if found < marked {
            tracing::warn!(first = %found.next(), last = %marked, "acknowledged commits were given up");
            batch.put_cf(meta, GivenUpKey(found.next()).encode(), marked.0.to_be_bytes());
        }
        let written = db.write_opt(batch, &settings::logged_write(true));
        written.map_err(|error| self.refused_write(error.into_string()))?;
        self.mark_start(last_commit).map_err(|source| self.files("write", source))?;
        let OpenAttempt { db_dir, high_water, was_closed, options: _ } = self;
        Ok(Opened { db, options, db_dir, high_water, last_commit, starts, identity, was_closed })
    }

    /// Tables may be merged as soon as the database is open. A damaged one that this has met is noted, so that the next
    /// start leaves tables as they are.
    fn refused_write(&self, reason: String) -> OpenError {
        if table_damage::is_cause_of(&reason)
            && let Err(error) = table_damage::note_of_store(&self.options.directory, &reason)
        {
            tracing::error!(%error, "the note about a damaged table could not be written");
        }
        self.damaged(reason)
    }

    /// Advances the mark after opening, which RocksDB ends with a sync of the MANIFEST.
    fn mark_start(&self, last_commit: CommitNumber) -> io::Result<()> {
        self.high_water.advance(last_commit)?;
        self.high_water.advance_manifest(manifest::position(&self.db_dir)?)?;
        self.high_water.sync()
    }

    fn closed(&self, closed: Closed) -> OpenError {
        match closed {
            Closed::TimedOut => {
                let acknowledged = self.high_water.mark().commit;
                OpenError::TimedOut { limit: self.options.open_limit, acknowledged }
            }
            Closed::Said(reason) if reason.contains("/LOCK") && reason.contains("Is a directory") => OpenError::Files {
                attempt: "lock",
                path: self.db_dir.join("LOCK"),
                source: io::Error::from(io::ErrorKind::IsADirectory),
            },
            Closed::Said(reason) if reason.contains("/LOCK") && refused_by_the_disk(&reason).is_none() => {
                OpenError::InUse { directory: self.options.directory.clone() }
            }
            Closed::Said(reason) => self.damaged(reason),
        }
    }

    /// RocksDB's message about a damaged table does not always name it: sometimes it names the MANIFEST that lists it.
    fn damaged(&self, reason: String) -> OpenError {
        if let Some(kind) = refused_by_the_disk(&reason) {
            let (attempt, path) = ("write to", self.db_dir.clone());
            return OpenError::Files { attempt, path, source: io::Error::from(kind) };
        }
        let names_it = reason.contains(".sst") || reason.contains("WAL");
        let hint = if reason.starts_with("Corruption") && !names_it { HINT } else { "" };
        OpenError::Damaged { reason: format!("{reason}{hint}") }
    }

    fn files(&self, attempt: &'static str, source: io::Error) -> OpenError {
        OpenError::Files { attempt, path: self.high_water.path().to_owned(), source }
    }
}

/// The error of the disk, when RocksDB got one: a full or read-only disk, or files of another user. That is not damage.
fn refused_by_the_disk(reason: &str) -> Option<io::ErrorKind> {
    let says = |text: &str| reason.starts_with("IO error") && reason.contains(text);
    if says("No space left on device") {
        return Some(io::ErrorKind::StorageFull);
    }
    if says("Permission denied") {
        return Some(io::ErrorKind::PermissionDenied);
    }
    says("Read-only file system").then_some(io::ErrorKind::ReadOnlyFilesystem)
}

fn flatten<T>(result: Result<Result<T, String>, NoResult>) -> Result<T, Closed> {
    match result {
        Ok(result) => result.map_err(Closed::Said),
        Err(NoResult::TimedOut) => Err(Closed::TimedOut),
        Err(NoResult::Died) => Err(Closed::Said("the opening thread died".to_owned())),
    }
}

fn survey(db: &DB) -> Result<Survey, RowError> {
    let reader = Live(db);
    Ok(Survey {
        last_commit: read_meta_number(&reader, MetaKey::LastCommit)?.map(u64::from_be_bytes).map(CommitNumber),
        format: read_meta_number(&reader, MetaKey::Format)?.map(u32::from_be_bytes),
        row_format: read_meta_number(&reader, MetaKey::RowFormat)?.map(u32::from_be_bytes),
        starts: read_meta_number(&reader, MetaKey::Starts)?.map_or(0, u64::from_be_bytes),
        replica_of: reader
            .get(Family::Meta, &MetaKey::RemoteLog.encode())?
            .and_then(|note| note.first_chunk().copied()),
    })
}

fn check_formats(survey: &Survey) -> Result<(), OpenError> {
    match (survey.format, survey.row_format) {
        (Some(found), _) if found > FORMAT => Err(OpenError::FormatTooNew { found }),
        (Some(found), _) if found < FORMAT => Err(OpenError::FormatTooOld { found }),
        (_, Some(found)) if found > ROW_FORMAT => Err(OpenError::RowFormatTooNew { found }),
        (Some(_) | None, Some(_) | None) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_no_damage() {
        let said =
            "IO error: No space left on device: While appending to file: /data/db/000009.log: No space left on device";
        assert_eq!(refused_by_the_disk(said), Some(io::ErrorKind::StorageFull));
        let said = "IO error: While open a file for appending: /data/db/000009.log: Read-only file system";
        assert_eq!(refused_by_the_disk(said), Some(io::ErrorKind::ReadOnlyFilesystem));
        let said = "IO error: While lock file: /data/db/LOCK: Permission denied";
        assert_eq!(refused_by_the_disk(said), Some(io::ErrorKind::PermissionDenied));
        assert_eq!(refused_by_the_disk("IO error: lock hold by current process: /data/db/LOCK"), None);
        assert_eq!(refused_by_the_disk("Corruption: No space left on device"), None);
    }
}
