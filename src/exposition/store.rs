//! Metrics of the store.

use till_operate::scrub::TableInspector;
use till_storage::statistics::StatisticsSource;

use super::families::{Families, Unit};

/// Adds the store's metrics.
pub(crate) fn expose_store(store: &dyn StatisticsSource, families: &mut Families) {
    families.histogram(
        "till_store_write_seconds",
        "Time of one synced write: append to the log, sync of the log, insertion in memory.",
        store.write_micros(),
        Unit::Micros,
    );
    let statistics = store.statistics();
    let gauges = [
        ("till_store_memtable_bytes", "Bytes of rows in memory that are in no table yet.", statistics.memtable_bytes),
        ("till_store_table_bytes", "Bytes of all table files.", statistics.table_bytes),
        (
            "till_store_pending_compaction_bytes",
            "Bytes that compactions still have to rewrite, estimated.",
            statistics.pending_compaction_bytes,
        ),
        (
            "till_store_writes_stopped",
            "1 while RocksDB lets no write through, else 0.",
            u64::from(statistics.is_write_stopped),
        ),
        (
            "till_store_delayed_write_bytes_per_second",
            "To how many bytes a second RocksDB slows writes, 0 when it does not.",
            statistics.delayed_write_bytes_per_second,
        ),
        ("till_store_block_cache_bytes", "Bytes that the block cache holds.", statistics.block_cache_bytes),
        (
            "till_disk_free_bytes",
            "Bytes free on the disk of the data directory.",
            statistics.disk_free_bytes.unwrap_or(0),
        ),
        ("till_disk_reserve_bytes", "Free bytes below which writes are refused.", statistics.disk_reserve_bytes),
        (
            "till_store_closed_before_start",
            "1 when the process before this one was stopped, 0 when it was killed or ended itself.",
            u64::from(statistics.was_closed),
        ),
    ];
    for (name, help, value) in gauges {
        families.gauge(name, help, value);
    }
    let help = "1. The identity of the store: two servers with the same one are copies of each other.";
    families.labelled_one("till_store_info", help, "store", &store.store_identity());
    let counters = [
        ("till_store_background_errors_total", "Failed flushes and compactions.", statistics.background_errors),
        ("till_store_block_cache_hits_total", "Blocks found in the block cache.", statistics.block_cache_hits),
        ("till_store_block_cache_misses_total", "Blocks not found in it, and read.", statistics.block_cache_misses),
    ];
    for (name, help, value) in counters {
        families.counter(name, help, value);
    }
}

/// Adds the numbers of tables at rest.
pub(crate) fn expose_tables(tables: &TableInspector, families: &mut Families) {
    if tables.every().is_some() {
        let help =
            "Time since all tables at rest were read; one that was never read counts from when it was seen first.";
        families.gauge_seconds("till_scrub_age_seconds", help, tables.age());
    }
    let help = "Tables that are known to be damaged, or missing: met by the scrub, a checkpoint, a read or RocksDB.";
    families.gauge("till_scrub_damaged_tables", help, tables.damaged().len() as u64);
}
