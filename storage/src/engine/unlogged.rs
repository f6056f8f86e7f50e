//! A database that is being made: no other process has it, it takes no commits, and it has no value before it is
//! finished. So it is written without a log: its writes are durable once all of them are.

use std::path::Path;

use rocksdb::{DB, FlushOptions, WriteBatch, WriteOptions};

use crate::family::Family;
use crate::rows::{RowError, RowRange, RowReader, Visit};

use super::EngineOptions;
use super::read::{Live, handle};
use super::refusal::OpenError;
use super::settings::{self, Purpose};
use super::time_limit::run_within;

/// A key and its value, or its removal when there is no value.
pub type UnloggedWrite<'w> = (Family, &'w [u8], Option<&'w [u8]>);

/// An open database that is being made.
pub struct Unlogged {
    db: DB,
    unlogged: WriteOptions,
}

impl Unlogged {
    /// Opens the database of a directory that is being restored.
    pub fn restoring(options: &EngineOptions) -> Result<Unlogged, OpenError> {
        let database = settings::database(options, Purpose::Open);
        let db = DB::open_cf_descriptors(&database, options.directory.join("db"), settings::families(options));
        let db = db.map_err(|error| OpenError::Damaged { reason: error.into_string() })?;
        Ok(Unlogged::of(db))
    }

    /// Opens a copy of a database that is being repaired, and empties some families of it, whatever the state of their
    /// tables is.
    ///
    /// The result must be verified: a table that does not open makes RocksDB refuse the database, and the option that
    /// avoids this also makes RocksDB pass over damaged records of logs.
    pub fn repairing(options: &EngineOptions, db_dir: &Path, emptied: &[Family]) -> Result<Unlogged, OpenError> {
        let damaged = |reason| OpenError::Damaged { reason };
        let strict = open_without_compaction(options, db_dir, true);
        let lenient = |_| open_without_compaction(options, db_dir, false);
        let opened = if emptied.is_empty() { strict } else { strict.or_else(lenient) };
        let mut db = opened.map_err(damaged)?;
        for &family in emptied {
            let dropped = db.drop_cf(family.name());
            let made = dropped.and_then(|()| db.create_cf(family.name(), &settings::new_family(options)));
            made.map_err(|error| damaged(error.into_string()))?;
        }
        Ok(Unlogged::of(db))
    }

    fn of(db: DB) -> Unlogged {
        Unlogged { db, unlogged: settings::unlogged_write() }
    }

    /// Writes rows. They are durable once [`Unlogged::finish`] returns.
    pub fn write<'w>(&self, writes: impl Iterator<Item = UnloggedWrite<'w>>) -> Result<(), RowError> {
        let mut batch = WriteBatch::default();
        for (family, key, value) in writes {
            match value {
                Some(value) => batch.put_cf(handle(&self.db, family), key, value),
                None => batch.delete_cf(handle(&self.db, family), key),
            }
        }
        self.write_batch(batch)
    }

    /// Removes every row from the first key, inclusive, to the second, exclusive.
    pub fn clear(&self, family: Family, (lower, upper): &(Vec<u8>, Vec<u8>)) -> Result<(), RowError> {
        let mut batch = WriteBatch::default();
        batch.delete_range_cf(handle(&self.db, family), lower.as_slice(), upper.as_slice());
        self.write_batch(batch)
    }

    fn write_batch(&self, batch: WriteBatch) -> Result<(), RowError> {
        self.db.write_opt(batch, &self.unlogged).map_err(unwritten)
    }

    /// Flushes everything into tables, and closes the database.
    pub fn finish(self) -> Result<(), RowError> {
        let mut flush = FlushOptions::default();
        flush.set_wait(true);
        let families = Family::ALL.map(|family| handle(&self.db, family));
        self.db.flush_cfs_opt(&families, &flush).map_err(unwritten)?;
        self.db.cancel_all_background_work(true);
        Ok(())
    }
}

fn unwritten(error: rocksdb::Error) -> RowError {
    RowError::Unwritten { reason: error.into_string() }
}

/// Opens it without compaction, which would find damaged tables.
fn open_without_compaction(options: &EngineOptions, db_dir: &Path, is_strict: bool) -> Result<DB, String> {
    let (copy, db_dir) = (options.clone(), db_dir.to_owned());
    let open = move || {
        let mut database = settings::database(&copy, Purpose::Open);
        database.set_paranoid_checks(is_strict);
        let families = settings::families_without_compaction(&copy);
        DB::open_cf_descriptors(&database, db_dir, families).map_err(rocksdb::Error::into_string)
    };
    run_within(options.open_limit, open).unwrap_or_else(|_| Err("opening the copy did not end in time".to_owned()))
}

impl RowReader for Unlogged {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
        Live(&self.db).get(family, key)
    }

    fn visit(&self, range: RowRange<'_>, visit: &mut Visit<'_>) -> Result<(), RowError> {
        Live(&self.db).visit(range, visit)
    }
}
