//! Auxiliary databases: small ones, of one family, for data that is kept apart from the log.

use std::path::Path;

use rocksdb::checkpoint::Checkpoint;
use rocksdb::{BlockBasedOptions, Cache, DB, DBCompressionType, DBRecoveryMode, Options};

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

/// Creates a directory on the same disk that holds a database as of one moment: links to its table files, copies of its
/// logs. Nothing is flushed.
///
/// # Errors
/// The message of RocksDB; the directory does not exist then.
pub fn link_database(db: &DB, to: &Path) -> Result<(), String> {
    let checkpoint = Checkpoint::new(db).map_err(rocksdb::Error::into_string)?;
    checkpoint.create_checkpoint_with_log_size(to, NEVER_FLUSH).map_err(rocksdb::Error::into_string)
}
