//! How to open the store.

use std::path::PathBuf;
use std::time::Duration;

use crate::journal::CommitNumber;

/// How to open the store. [`EngineOptions::new`] has what suits a small machine.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// The data directory: the database goes to `db/` in it, the mark to `high-water`.
    pub directory: PathBuf,
    /// Blocks, indexes and filters kept in memory.
    pub block_cache_bytes: usize,
    /// Rows not yet in table files, over all families. When they reach this, all families are flushed.
    pub memtable_bytes: usize,
    /// Write-ahead log that is kept at most: what a start after a crash reads, twice.
    pub wal_bytes_max: u64,
    /// Table files held open.
    pub open_files_max: u16,
    /// Time that opening may take before the start is given up.
    pub open_limit: Duration,
    /// Free space below which writes are refused, so that RocksDB never meets a full disk.
    pub disk_reserve_bytes: u64,
    /// Whether each commit leaves a row for the archive, until it is archived.
    pub queues_for_archive: bool,
    /// An operator's explicit word that acknowledged commits up to this one may be missing.
    pub accept_loss_up_to: Option<CommitNumber>,
}

impl EngineOptions {
    /// The defaults for a data directory.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> EngineOptions {
        const MIB: u64 = 1024 * 1024;
        EngineOptions {
            directory: directory.into(),
            block_cache_bytes: 64 * 1024 * 1024,
            memtable_bytes: 128 * 1024 * 1024,
            wal_bytes_max: 64 * MIB,
            open_files_max: 1_024,
            open_limit: Duration::from_secs(60),
            disk_reserve_bytes: 512 * MIB,
            queues_for_archive: false,
            accept_loss_up_to: None,
        }
    }
}
