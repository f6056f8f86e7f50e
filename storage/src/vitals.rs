//! How a store on a disk is doing, in numbers, for whoever exports them.

use crate::commit::Histogram;

/// What is read of a running store, all of it cheap: nothing waits for a disk but the look at its free space.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreVitals {
    /// Bytes of rows that are in memory, and in the log, but not in tables yet.
    pub memtable_bytes: u64,
    /// Bytes of all table files, those included that are only waiting to be removed.
    pub table_bytes: u64,
    /// Bytes that compactions still have to rewrite, by RocksDB's estimate.
    pub pending_compaction_bytes: u64,
    /// Whether RocksDB lets no write through at the moment.
    pub is_write_stopped: bool,
    /// To how many bytes a second RocksDB slows writes at the moment; 0 when it does not.
    pub delayed_write_bytes_per_second: u64,
    /// Failures of flushes and compactions since the start.
    pub background_errors: u64,
    /// Bytes that the block cache holds.
    pub block_cache_bytes: u64,
    /// Blocks that were found in the cache since the start.
    pub block_cache_hits: u64,
    /// Blocks that were not, and were read.
    pub block_cache_misses: u64,
    /// Bytes that are free on the disk, if that can be told.
    pub disk_free_bytes: Option<u64>,
    /// Free bytes below which writes are refused.
    pub disk_reserve_bytes: u64,
    /// Whether the process that had the store open before this one stopped, instead of ending itself or being killed.
    pub was_closed: bool,
}

/// A store that says how it is doing.
pub trait Vitals: Send + Sync {
    /// How it is doing now.
    fn vitals(&self) -> StoreVitals;

    /// Microseconds of each synced write of a group: the append to the log, its sync, and the insertion into the
    /// tables in memory.
    fn write_micros(&self) -> &Histogram;
}
