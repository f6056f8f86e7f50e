//! The options of the store.

use std::path::PathBuf;
use std::time::Duration;

use crate::positions::CommitNumber;

/// The options of the store. [`EngineOptions::new`] has defaults for a small machine.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// The data directory: the database goes to `db/` in it, the mark to `high-water`.
    pub directory: PathBuf,
    /// Bytes of blocks, indexes and filters in memory.
    pub block_cache_bytes: usize,
    /// Bytes of rows that are not yet in table files, over all families. At this size all families are flushed.
    pub memtable_bytes: usize,
    /// The maximum bytes of write-ahead log: a start after a crash reads it twice.
    pub wal_bytes_max: u64,
    /// The maximum number of open table files.
    pub open_files_max: u16,
    /// The time that opening may take before the start fails.
    pub open_limit: Duration,
    /// Bytes of free space below which writes are refused, so that RocksDB never gets the error of a full disk.
    pub disk_reserve_bytes: u64,
    /// An operator's explicit consent that acknowledged commits up to this one may be missing.
    pub accept_loss_up_to: Option<CommitNumber>,
    /// The log elsewhere that the store repeats. Its writes are not synced then, and its mark does not count: what a
    /// crash takes is fetched again.
    pub replica_of: Option<ReplicatedLog>,
}

/// A log elsewhere that a store repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplicatedLog {
    /// Its identity.
    pub identity: [u8; 16],
    /// The number of the claim that follows, above those of all claims before: epochs begin with it, or with the number
    /// of starts of the store when that is higher.
    pub claim: u64,
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
            accept_loss_up_to: None,
            replica_of: None,
        }
    }
}
