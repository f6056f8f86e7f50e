//! Auxiliary databases: small ones, of one family, for data that is kept apart from the log.

use std::fs;
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rocksdb::checkpoint::Checkpoint;
use rocksdb::{
    BlockBasedOptions, Cache, DB, DBCompressionType, DBIteratorWithThreadMode, DBRecoveryMode, Direction, Error,
    IteratorMode, Options,
};

use super::record_headers::damage_before_the_last_write;
use crate::journal::first_commit::FirstRows;
use crate::rows::RowPair;

/// Bytes of the memtable. At some 150 bytes a row, 16 MiB are written out every hundred thousand rows.
const WRITE_BUFFER_BYTES: usize = 16 << 20;
/// Bytes of cached blocks. Old rows are seldom read.
const BLOCK_CACHE_BYTES: usize = 8 << 20;
/// Bytes of write-ahead log before the memtable is written out: the log that a start reads at most.
const WAL_BYTES_MAX: u64 = 64 << 20;
/// Bits of the bloom filter for each key: one absent key in a hundred costs a read.
const BLOOM_BITS_PER_KEY: f64 = 10.0;
/// Open files, so that a large database does not use up the limit of the process.
const OPEN_FILES_MAX: i32 = 64;
/// RocksDB's own log files to keep.
const LOG_FILES_MAX: usize = 2;

/// Bytes of log from which a copy of the files would be preceded by a flush. This value means never.
const NEVER_FLUSH: u64 = u64::MAX;

/// The key of the note of an auxiliary database that repeats rows of another place. It is below all others.
pub const POSITION_KEY: &[u8] = &[0];

/// The lowest key that a row may have: [`POSITION_KEY`] is below it.
const FIRST_ROW: &[u8] = &[1];

/// A function that takes rows over.
pub type TakeRows<'t> = dyn FnMut(Vec<RowPair>) -> Result<(), String> + 't;

/// An open auxiliary database, which may repeat rows of another place.
pub struct AuxiliaryDatabase {
    db: DB,
    first: OnceLock<Arc<dyn FirstRows>>,
}

impl Deref for AuxiliaryDatabase {
    type Target = DB;

    fn deref(&self) -> &DB {
        &self.db
    }
}

impl AuxiliaryDatabase {
    /// A database that repeats nothing yet.
    #[must_use]
    pub const fn new(db: DB) -> AuxiliaryDatabase {
        AuxiliaryDatabase { db, first: OnceLock::new() }
    }

    /// The place that rows are written to first, if any.
    #[must_use]
    pub fn first(&self) -> Option<&dyn FirstRows> {
        self.first.get().map(|place| &**place)
    }

    /// The note that was kept with the last write; none when the database has repeated nothing.
    ///
    /// # Errors
    /// The message of the database.
    pub fn position(&self) -> Result<Option<Vec<u8>>, String> {
        self.db.get(POSITION_KEY).map_err(Error::into_string)
    }

    /// Keeps the note that everything up to now is in the other place.
    ///
    /// # Errors
    /// The message of the database.
    pub fn note_position(&self, position: &[u8]) -> Result<(), String> {
        self.db.put(POSITION_KEY, position).map_err(Error::into_string)
    }

    /// Keeps that note. From now on rows are written to the other place first. A second place is not taken.
    ///
    /// # Errors
    /// The message of the database.
    pub fn write_first_in(&self, place: Arc<dyn FirstRows>, position: &[u8]) -> Result<(), String> {
        self.note_position(position)?;
        drop(self.first.set(place));
        Ok(())
    }

    /// Every row in the order of its key.
    pub fn rows(&self) -> DBIteratorWithThreadMode<'_, DB> {
        self.db.iterator(IteratorMode::From(FIRST_ROW, Direction::Forward))
    }

    /// Passes the rows on that `is_sent` names, `max` at once.
    ///
    /// # Errors
    /// The message of the database, and the errors of `take`.
    pub fn each_page(
        &self,
        is_sent: impl Fn(&[u8]) -> bool,
        max: usize,
        take: &mut TakeRows<'_>,
    ) -> Result<(), String> {
        let mut page = Vec::new();
        for row in self.rows() {
            let (key, value) = row.map_err(Error::into_string)?;
            if is_sent(&key) {
                page.push((key.into_vec(), value.into_vec()));
            }
            if page.len() >= max {
                take(std::mem::take(&mut page))?;
            }
        }
        take(page)
    }
}

/// An auxiliary database that can repeat rows of another place.
pub trait RowReplica {
    /// The database.
    fn database(&self) -> &AuxiliaryDatabase;

    /// True for a row that is not derived from others, so that the other place has it, too.
    fn is_sent(&self, key: &[u8]) -> bool;

    /// Takes rows of the other place over, with what is derived from them.
    ///
    /// # Errors
    /// A row cannot be read, or the database fails.
    fn take_over(&self, rows: &[RowPair]) -> Result<(), String>;
}

/// The options of an auxiliary database. When it is opened, a torn end of its log is cut.
#[must_use]
pub fn auxiliary_database_options() -> Options {
    let mut blocks = BlockBasedOptions::default();
    blocks.set_bloom_filter(BLOOM_BITS_PER_KEY, false);
    blocks.set_block_cache(&Cache::new_lru_cache(BLOCK_CACHE_BYTES));
    let mut options = Options::default();
    options.set_block_based_table_factory(&blocks);
    options.set_paranoid_checks(true);
    options.set_wal_recovery_mode(DBRecoveryMode::PointInTime);
    options.set_track_and_verify_wals_in_manifest(true);
    options.set_max_total_wal_size(WAL_BYTES_MAX);
    options.set_write_buffer_size(WRITE_BUFFER_BYTES);
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_max_open_files(OPEN_FILES_MAX);
    options.set_keep_log_file_num(LOG_FILES_MAX);
    options
}

/// Checks the logs of an auxiliary database whose writes are synced one by one: RocksDB would drop what follows a
/// damaged one and say nothing.
///
/// # Errors
/// The damaged log, or the error of the system.
pub fn check_synced_logs(directory: &Path) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(directory) else { return Ok(()) }; // There is none yet.
    for entry in entries {
        let path = entry?.path();
        let is_log = path.extension().is_some_and(|extension| extension == "log");
        if let Some(at) =
            is_log.then(|| fs::read(&path)).transpose()?.and_then(|log| damage_before_the_last_write(&log))
        {
            return Err(io::Error::other(format!("{} is damaged at offset {at}", path.display())));
        }
    }
    Ok(())
}

/// Creates a directory on the same disk that holds a database as of one moment: links to its table files, copies of its
/// logs. Nothing is flushed.
///
/// # Errors
/// The message of RocksDB; the directory does not exist then.
pub fn link_database(db: &DB, to: &Path) -> Result<(), String> {
    let checkpoint = Checkpoint::new(db).map_err(rocksdb::Error::into_string)?;
    checkpoint.create_checkpoint_with_log_size(to, NEVER_FLUSH).map_err(rocksdb::Error::into_string)
}
