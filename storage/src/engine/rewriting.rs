//! A copy of a database that is open to have its derived rows written anew. It is no store: it has no mark and takes no
//! commits, and it counts for nothing before it is put in the database's place.

use std::path::Path;

use rocksdb::{DB, FlushOptions, WriteBatch, WriteOptions};

use crate::family::Family;
use crate::journal::RowWrite;
use crate::rows::{Direction, RowError, RowReader, Visit};

use super::read::{Live, handle};
use super::refusal::OpenError;
use super::settings::{self, Purpose};
use super::time_limit::within;
use super::{EngineOptions, manifest};

/// An open copy.
pub(crate) struct Rewriting {
    db: DB,
    unlogged: WriteOptions,
}

impl Rewriting {
    /// Opens a copy and empties some families of it, whatever state their tables are in.
    ///
    /// Every record of its logs must have been found good: a table that does not open makes RocksDB refuse the
    /// database, and the way around that makes it lenient with logs, too.
    pub(crate) fn open(options: &EngineOptions, db_dir: &Path, emptied: &[Family]) -> Result<Rewriting, OpenError> {
        let damaged = |reason: String| OpenError::Damaged { place: manifest::first_fault(db_dir), reason };
        let strict = open(options, db_dir, true);
        let opened = if emptied.is_empty() { strict } else { strict.or_else(|_| open(options, db_dir, false)) };
        let mut db = opened.map_err(damaged)?;
        for &family in emptied {
            let dropped = db.drop_cf(family.name());
            let made = dropped.and_then(|()| db.create_cf(family.name(), &settings::new_family(options)));
            made.map_err(|error| damaged(error.into_string()))?;
        }
        Ok(Rewriting { db, unlogged: settings::unlogged_write() })
    }

    /// Writes rows. They are durable when this is finished.
    pub(crate) fn write(&self, rows: &[RowWrite]) -> Result<(), RowError> {
        let mut batch = WriteBatch::default();
        for RowWrite { family, key, value } in rows {
            match value {
                Some(value) => batch.put_cf(handle(&self.db, *family), key, value),
                None => batch.delete_cf(handle(&self.db, *family), key),
            }
        }
        self.write_batch(batch)
    }

    /// Removes every row from the first key, inclusive, to the second, exclusive.
    pub(crate) fn clear(&self, family: Family, (lower, upper): &(Vec<u8>, Vec<u8>)) -> Result<(), RowError> {
        let mut batch = WriteBatch::default();
        batch.delete_range_cf(handle(&self.db, family), lower.as_slice(), upper.as_slice());
        self.write_batch(batch)
    }

    fn write_batch(&self, batch: WriteBatch) -> Result<(), RowError> {
        let written = self.db.write_opt(batch, &self.unlogged);
        written.map_err(|error| RowError::Unwritten { reason: error.into_string() })
    }

    /// Puts everything into tables, and closes.
    pub(crate) fn finish(self) -> Result<(), RowError> {
        let mut flush = FlushOptions::default();
        flush.set_wait(true);
        let flushed = self.db.flush_cfs_opt(&Family::ALL.map(|family| handle(&self.db, family)), &flush);
        flushed.map_err(|error| RowError::Unwritten { reason: error.into_string() })
    }
}

/// Opens without compaction, which would meet damaged tables.
fn open(options: &EngineOptions, db_dir: &Path, is_strict: bool) -> Result<DB, String> {
    let (copy, db_dir) = (options.clone(), db_dir.to_owned());
    let open = move || {
        let mut database = settings::database(&copy, Purpose::Open);
        database.set_paranoid_checks(is_strict);
        let families = settings::families_without_compaction(&copy);
        DB::open_cf_descriptors(&database, db_dir, families).map_err(rocksdb::Error::into_string)
    };
    within(options.open_limit, open).unwrap_or_else(|_| Err("opening the copy did not end in time".to_owned()))
}

impl RowReader for Rewriting {
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
