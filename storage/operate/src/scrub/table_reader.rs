//! Reads the rows of a family from its tables, past every cache, and has RocksDB compare the checksum of each block.
//!
//! The database is opened a second time, for reading only and without its logs: this takes no lock, writes nothing, and sees
//! the tables that the MANIFEST lists at that moment. A table that the server removes afterwards is missed while it is read;
//! then the database is opened anew.

use std::path::Path;
use std::time::Duration;

use rocksdb::{BlockBasedOptions, ColumnFamilyDescriptor, DB, Error, ErrorKind, Options, Range, ReadOptions};
use till_storage::turns::StopSignal;

/// Bytes of keys and values that are read with one opening.
const PART_BYTES: usize = 16 << 20;

/// Bytes of keys and values between two pauses.
const SLICE_BYTES: usize = 1 << 20;

/// The pause after each slice: at most some 50 MB a second are read.
const SLICE_PAUSE: Duration = Duration::from_millis(20);

/// Bytes that are read with one call to the system.
const READ_AHEAD_BYTES: usize = 256 << 10;

/// Tables that are open at once.
const OPEN_TABLES_MAX: i32 = 32;

/// A database, open for reading past every cache.
pub(super) struct TableReader {
    db: DB,
}

/// A part of a family that was read without a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// The last key of it; none when the family has no more.
    pub(super) last: Option<Vec<u8>>,
    /// About how many bytes of tables it takes.
    pub(super) byte_count: u64,
}

/// The end of reading at a block that could not be read.
#[derive(Debug)]
pub(super) struct Broken {
    /// The last key before it.
    pub(super) last: Option<Vec<u8>>,
    /// RocksDB's error.
    pub(super) error: Error,
}

/// The way to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// The system's cache is passed by: what is on the disk counts.
    Direct,
    /// Through the system's cache, where the file system offers nothing else.
    Cached,
}

impl TableReader {
    /// Opens the database in a directory. `without_logs` is a directory that holds no write-ahead logs.
    pub(super) fn open(directory: &Path, without_logs: &Path, access: Access) -> Result<TableReader, Error> {
        let options = settings(without_logs, access);
        let descriptor = |family: String| ColumnFamilyDescriptor::new(family, options.clone());
        let families = DB::list_cf(&options, directory)?.into_iter().map(descriptor);
        let db = DB::open_cf_descriptors_read_only(&options, directory, families, false)?;
        Ok(TableReader { db })
    }

    /// Reads the rows of a family after a key, or from the first one on, until it has read enough or is to stop. A family that
    /// is not there has no rows.
    pub(super) fn read(&self, family: &str, after: Option<&[u8]>, stop: &StopSignal) -> Result<Part, Broken> {
        let Some(handle) = self.db.cf_handle(family) else { return Ok(Part { last: None, byte_count: 0 }) };
        let mut options = ReadOptions::default();
        options.set_readahead_size(READ_AHEAD_BYTES);
        let mut rows = self.db.raw_iterator_cf_opt(handle, options);
        let from = after.map(successor).unwrap_or_default();
        rows.seek(&from);
        let (mut last, mut read, mut paused_at) = (None, 0, 0);
        while let Some((key, value)) = rows.item() {
            read += key.len() + value.len();
            last = Some(key.to_vec());
            if read >= PART_BYTES || (read >= paused_at + SLICE_BYTES && stop.wait(SLICE_PAUSE)) {
                break;
            }
            paused_at = if read >= paused_at + SLICE_BYTES { read } else { paused_at };
            rows.next();
        }
        if let Err(error) = rows.status() {
            return Err(Broken { last, error });
        }
        let last = if rows.valid() { last } else { None };
        Ok(Part { byte_count: self.bytes_between(family, &from, last.as_deref()), last })
    }

    /// The greatest key of a table, by its name; none when the database does not have it.
    pub(super) fn last_key_of(&self, table: &str) -> Option<Vec<u8>> {
        let tables = self.db.live_files().ok()?;
        tables.into_iter().find(|file| file.name.ends_with(table)).and_then(|file| file.end_key)
    }

    /// The families, in order.
    pub(super) fn families(directory: &Path, without_logs: &Path) -> Result<Vec<String>, Error> {
        let mut families = DB::list_cf(&settings(without_logs, Access::Cached), directory)?;
        families.sort();
        Ok(families)
    }

    fn bytes_between(&self, family: &str, from: &[u8], to: Option<&[u8]>) -> u64 {
        let Some(handle) = self.db.cf_handle(family) else { return 0 };
        let greatest = self.db.live_files().unwrap_or_default().into_iter().filter_map(|file| file.end_key).max();
        let to = to.map(<[u8]>::to_vec).or(greatest).map(|key| successor(&key)).unwrap_or_default();
        let sizes = self.db.get_approximate_sizes_cf(handle, &[Range::new(from, &to)]);
        sizes.first().copied().unwrap_or(0)
    }
}

/// The first key after one.
fn successor(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

/// A fault is one of the blocks, and not of this way to open the database.
pub(super) fn is_refusal_of_direct_access(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidArgument | ErrorKind::NotSupported)
        || error.as_ref().contains("Invalid argument")
}

/// The logs are not read: what is in them is in no table yet. Logs are tracked as by the server: RocksDB refuses to open while
/// the MANIFEST lists a log, which it does for the moment of a flush only. Without tracking it would change that list, which
/// no reader may do.
fn settings(without_logs: &Path, access: Access) -> Options {
    let mut tables = BlockBasedOptions::default();
    tables.disable_cache();
    let mut options = Options::default();
    options.set_block_based_table_factory(&tables);
    options.set_wal_dir(without_logs);
    options.set_track_and_verify_wals_in_manifest(true);
    options.set_max_open_files(OPEN_TABLES_MAX);
    options.set_paranoid_checks(true);
    options.set_use_direct_reads(access == Access::Direct);
    options
}
