//! The store of a stopped server, opened to be looked at: nothing in the data directory changes.

use std::fs::{File, TryLockError};

use rocksdb::DB;
use till_domain::ids::MerchantId;

use crate::family::Family;
use crate::journal::layout::{self, read_meta_number};
use crate::journal::{CommitNumber, Head, JournalError};
use crate::keys::MetaKey;
use crate::rows::{Direction, RowError, RowReader, Visit};

use super::EngineOptions;
use super::format::{FORMAT, ROW_FORMAT};
use super::high_water::{Mark, read_mark};
use super::read::Live;
use super::refusal::OpenError;
use super::settings::{self, Purpose};
use super::time_limit::{NoResult, within};
use super::{endless, manifest};

/// The store of a stopped server. While it is open no server can start on it.
pub struct StoppedStore {
    db: DB,
    mark: Mark,
    /// Its lock goes with it.
    _mark_file: File,
}

impl StoppedStore {
    /// Opens the store of a data directory for reading, as far as its log is good.
    ///
    /// # Errors
    /// [`OpenError`]: a server has it open, a newer program wrote it, or nothing can be read of it.
    pub fn open(options: &EngineOptions) -> Result<StoppedStore, OpenError> {
        let db_dir = options.directory.join("db");
        let (mark_file, mark) = lock(options)?;
        manifest::check(&db_dir, mark.manifest)?;
        if let Some(endless) = endless::find(&db_dir) {
            let reason = "RocksDB would not come back from a record of a log".to_owned();
            return Err(OpenError::Damaged { place: Some(endless.place()), reason });
        }
        let copy = options.clone();
        let (opened, limit) = (db_dir.clone(), options.open_limit);
        let open = move || {
            let database = settings::database(&copy, Purpose::Open);
            let db = DB::open_cf_descriptors_read_only(&database, opened, settings::families(&copy), false);
            db.map_err(rocksdb::Error::into_string)
        };
        let place = || manifest::first_fault(&db_dir);
        let db = match within(limit, open) {
            Ok(Ok(db)) => db,
            Ok(Err(reason)) => return Err(OpenError::Damaged { place: place(), reason }),
            Err(NoResult::TimedOut) => return Err(OpenError::TimedOut { limit, place: place() }),
            Err(NoResult::Died) => {
                let reason = "the opening thread died".to_owned();
                return Err(OpenError::Damaged { place: place(), reason });
            }
        };
        check_formats(&db)?;
        Ok(StoppedStore { db, mark, _mark_file: mark_file })
    }

    /// The last commit that it holds.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn last_commit(&self) -> Result<CommitNumber, RowError> {
        let last = read_meta_number(&Live(&self.db), MetaKey::LastCommit)?;
        Ok(CommitNumber(last.map_or(0, u64::from_be_bytes)))
    }

    /// The heads of at most `max` merchants' logs behind one of them, in the order of merchants.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn heads(&self, after: Option<MerchantId>, max: usize) -> Result<Vec<(MerchantId, Head)>, JournalError> {
        layout::read_merchants(&Live(&self.db), after, max)
    }

    /// The last commit that is known to have been acknowledged.
    #[must_use]
    pub const fn acknowledged(&self) -> CommitNumber {
        self.mark.commit
    }
}

/// Takes the lock that a server would hold, and reads the mark.
fn lock(options: &EngineOptions) -> Result<(File, Mark), OpenError> {
    let path = options.directory.join("high-water");
    let failed = |attempt, source| OpenError::Files { attempt, path: path.clone(), source };
    let file = File::open(&path).map_err(|source| failed("open", source))?;
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
    // One that cannot be read is a fault that the verification names.
    let number = |key| read_meta_number(&Live(db), key).ok().flatten().map(u32::from_be_bytes);
    match (number(MetaKey::Format), number(MetaKey::RowFormat)) {
        (Some(found), _) if found > FORMAT => Err(OpenError::FormatTooNew { found }),
        (_, Some(found)) if found > ROW_FORMAT => Err(OpenError::RowFormatTooNew { found }),
        (Some(_) | None, Some(_) | None) => Ok(()),
    }
}

impl RowReader for StoppedStore {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
        Live(&self.db).get(family, key)
    }

    fn visit(
        &self,
        family: Family,
        lower: &[u8],
        upper: &[u8],
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<(), RowError> {
        Live(&self.db).visit(family, lower, upper, direction, visit)
    }
}
