//! The store of a stopped server, opened for reading: nothing in the data directory changes.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::Arc;

use rocksdb::DB;

use crate::family::Family;
use crate::journal::layout::read_meta_number;
use crate::keys::MetaKey;
use crate::positions::CommitNumber;
use crate::rows::{RowError, RowRange, RowReader, Visit};

use super::EngineOptions;
use super::format::{FORMAT, ROW_FORMAT};
use super::high_water::{Mark, read_mark};
use super::identity::StoreIdentity;
use super::manifest;
use super::read::Live;
use super::refusal::OpenError;
use super::settings::{self, Purpose};
use super::time_limit::{NoResult, run_within};

/// The store of a stopped server. While it is open no server can start on it.
pub struct StoppedStore {
    db: DB,
    /// The families that were opened.
    families: Vec<Family>,
    mark: Mark,
    /// The lock of the directory, released with this value.
    _mark_file: Arc<File>,
}

/// A data directory on which no server can start while this value exists.
pub struct HeldDirectory {
    options: EngineOptions,
    mark: Mark,
    mark_file: Arc<File>,
}

impl HeldDirectory {
    /// Takes the lock that a server would take, and reads the mark.
    ///
    /// # Errors
    /// [`OpenError`]: a server has it open, or its mark cannot be read.
    pub fn hold(options: &EngineOptions) -> Result<HeldDirectory, OpenError> {
        let (file, mark) = lock(options)?;
        Ok(HeldDirectory { options: options.clone(), mark, mark_file: Arc::new(file) })
    }

    /// The options of stores that are opened in it.
    #[must_use]
    pub const fn options(&self) -> &EngineOptions {
        &self.options
    }

    /// The last commit that is known to have been acknowledged.
    #[must_use]
    pub const fn acknowledged(&self) -> CommitNumber {
        self.mark.commit
    }

    /// Opens some families of a database in it for reading, up to the end of the sound part of its log. The others
    /// cannot be read, and their tables are not opened.
    ///
    /// # Errors
    /// [`OpenError`]: a newer program wrote it, or nothing in it can be read.
    pub fn open(&self, db_dir: &Path, families: &[Family]) -> Result<StoppedStore, OpenError> {
        manifest::check(db_dir, self.mark.manifest)?;
        let db = self.open_read_only(db_dir, families)?;
        check_formats(&db)?;
        let mark_file = Arc::clone(&self.mark_file);
        Ok(StoppedStore { db, families: families.to_vec(), mark: self.mark, _mark_file: mark_file })
    }

    fn open_read_only(&self, db_dir: &Path, families: &[Family]) -> Result<DB, OpenError> {
        let (options, opened, limit) = (self.options.clone(), db_dir.to_owned(), self.options.open_limit);
        let wanted: Vec<&str> = families.iter().map(|family| family.name()).collect();
        let descriptors: Vec<_> =
            settings::families(&options).into_iter().filter(|family| wanted.contains(&family.name())).collect();
        let open = move || {
            let database = settings::database(&options, Purpose::Open);
            let db = DB::open_cf_descriptors_read_only(&database, opened, descriptors, false);
            db.map_err(rocksdb::Error::into_string)
        };
        match run_within(limit, open) {
            Ok(opened) => opened.map_err(|reason| OpenError::Damaged { reason }),
            Err(NoResult::TimedOut) => Err(OpenError::TimedOut { limit, acknowledged: self.mark.commit }),
            Err(NoResult::Died) => Err(OpenError::Damaged { reason: "the opening thread died".to_owned() }),
        }
    }
}

impl StoppedStore {
    /// Opens the store of a data directory for reading, up to the end of the sound part of its log.
    ///
    /// # Errors
    /// [`OpenError`]: a server has it open, a newer program wrote it, or nothing in it can be read.
    pub fn open(options: &EngineOptions) -> Result<StoppedStore, OpenError> {
        HeldDirectory::hold(options)?.open(&options.directory.join("db"), &Family::ALL)
    }

    fn check_opened(&self, family: Family) -> Result<(), RowError> {
        let reason = || "its tables were not opened".to_owned();
        if self.families.contains(&family) { Ok(()) } else { Err(RowError::Unreadable { family, reason: reason() }) }
    }

    /// The last commit that it holds.
    ///
    /// # Errors
    /// Fails when it cannot be read.
    pub fn last_commit(&self) -> Result<CommitNumber, RowError> {
        let last = read_meta_number(&Live(&self.db), MetaKey::LastCommit)?;
        Ok(CommitNumber(last.map_or(0, u64::from_be_bytes)))
    }

    /// The identity of the store; none for a store that was made by a program without identities.
    ///
    /// # Errors
    /// Fails when it cannot be read.
    pub fn identity(&self) -> Result<Option<StoreIdentity>, RowError> {
        Ok(read_meta_number(&Live(&self.db), MetaKey::Identity)?.map(StoreIdentity))
    }

    /// The last commit that is known to have been acknowledged.
    #[must_use]
    pub const fn acknowledged(&self) -> CommitNumber {
        self.mark.commit
    }
}

/// Takes the lock that a server would take, and reads the mark.
fn lock(options: &EngineOptions) -> Result<(File, Mark), OpenError> {
    let path = options.directory.join("high-water");
    let failed = |attempt, source| OpenError::Files { attempt, path: path.clone(), source };
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(OpenError::NoMark { file: path.clone(), what: "is missing" });
        }
        file => file.map_err(|source| failed("open", source))?,
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(OpenError::InUse { directory: options.directory.clone() }),
        Err(TryLockError::Error(source)) => return Err(failed("lock", source)),
    }
    match read_mark(&file).map_err(|source| failed("read", source))? {
        Some(mark) => Ok((file, mark)),
        None => Err(OpenError::NoMark { file: path.clone(), what: "is damaged" }),
    }
}

fn check_formats(db: &DB) -> Result<(), OpenError> {
    // A number that cannot be read is a fault that the verification reports.
    let number = |key| read_meta_number(&Live(db), key).ok().flatten().map(u32::from_be_bytes);
    match (number(MetaKey::Format), number(MetaKey::RowFormat)) {
        (Some(found), _) if found > FORMAT => Err(OpenError::FormatTooNew { found }),
        (Some(found), _) if found < FORMAT => Err(OpenError::FormatTooOld { found }),
        (_, Some(found)) if found > ROW_FORMAT => Err(OpenError::RowFormatTooNew { found }),
        (Some(_) | None, Some(_) | None) => Ok(()),
    }
}

impl RowReader for StoppedStore {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
        self.check_opened(family)?;
        Live(&self.db).get(family, key)
    }

    fn visit(&self, range: RowRange<'_>, visit: &mut Visit<'_>) -> Result<(), RowError> {
        let RowRange { family, lower, upper, .. } = range;
        if lower >= upper {
            return Ok(()); // No key is given, so no family needs to be open.
        }
        self.check_opened(family)?;
        Live(&self.db).visit(range, visit)
    }
}
