//! Statistics of a store on a disk, for export as metrics.

use crate::commit::Histogram;

/// Statistics of a running store. All are cheap to read: only the free space needs a system call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreStatistics {
    /// Bytes of rows that are in memory, and in the log, but not in tables yet.
    pub memtable_bytes: u64,
    /// Bytes of all table files, including those that wait to be removed.
    pub table_bytes: u64,
    /// Bytes that compactions still have to rewrite, by RocksDB's estimate.
    pub pending_compaction_bytes: u64,
    /// True when RocksDB accepts no write at the moment.
    pub is_write_stopped: bool,
    /// The rate in bytes per second to which RocksDB slows writes at the moment; 0 when it does not.
    pub delayed_write_bytes_per_second: u64,
    /// Failures of flushes and compactions since the start.
    pub background_errors: u64,
    /// Bytes that the block cache holds.
    pub block_cache_bytes: u64,
    /// Blocks that were found in the cache since the start.
    pub block_cache_hits: u64,
    /// Blocks that were not in the cache and were read.
    pub block_cache_misses: u64,
    /// Bytes that are free on the disk, if the system reports them.
    pub disk_free_bytes: Option<u64>,
    /// Free bytes below which writes are refused.
    pub disk_reserve_bytes: u64,
    /// True when the previous process closed the store instead of ending without that, as after a crash.
    pub was_closed: bool,
}

/// A store that reports statistics.
pub trait StatisticsSource: Send + Sync {
    /// The present statistics.
    fn statistics(&self) -> StoreStatistics;

    /// Microseconds of each synced write of a group: the append to the log, its sync, and the insertion into the
    /// tables in memory.
    fn write_micros(&self) -> &Histogram;

    /// The identity of the store, as text. A copy of a directory has the same.
    fn store_identity(&self) -> String;
}
