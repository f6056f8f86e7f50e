//! A database that is being restored, open for writing: nobody else has it, and what is written to it lasts once all of it
//! is.

use rocksdb::{DB, FlushOptions, WriteBatch, WriteOptions};

use crate::family::Family;
use crate::rows::{Direction, RowError, RowReader, Visit};

use super::EngineOptions;
use super::read::{Live, handle};
use super::refusal::OpenError;
use super::settings::{self, Purpose};

/// A row to write, or without a value, to remove.
pub(crate) type RebuildWrite<'w> = (Family, &'w [u8], Option<&'w [u8]>);

/// A database that is being restored.
pub(crate) struct Rebuild {
    db: DB,
}

impl Rebuild {
    /// Opens the copied database of a directory.
    pub(crate) fn open(options: &EngineOptions) -> Result<Rebuild, OpenError> {
        let database = settings::database(options, Purpose::Open);
        let db = DB::open_cf_descriptors(&database, options.directory.join("db"), settings::families(options));
        let db = db.map_err(|error| OpenError::Damaged { place: None, reason: error.into_string() })?;
        Ok(Rebuild { db })
    }

    /// Writes rows. They last once [`Rebuild::finish`] returns.
    pub(crate) fn write<'w>(&self, writes: impl Iterator<Item = RebuildWrite<'w>>) -> Result<(), String> {
        let mut batch = WriteBatch::default();
        for (family, key, value) in writes {
            match value {
                Some(value) => batch.put_cf(handle(&self.db, family), key, value),
                None => batch.delete_cf(handle(&self.db, family), key),
            }
        }
        let mut unlogged = WriteOptions::default();
        unlogged.disable_wal(true);
        self.db.write_opt(batch, &unlogged).map_err(rocksdb::Error::into_string)
    }

    /// Makes everything last, and closes the database.
    pub(crate) fn finish(self) -> Result<(), String> {
        let mut flush = FlushOptions::default();
        flush.set_wait(true);
        let flushed = self.db.flush_cfs_opt(&Family::ALL.map(|family| handle(&self.db, family)), &flush);
        flushed.map_err(rocksdb::Error::into_string)?;
        self.db.cancel_all_background_work(true);
        Ok(())
    }
}

impl RowReader for Rebuild {
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
