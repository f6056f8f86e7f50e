//! The health of the store, from RocksDB's own counters.

use rocksdb::statistics::Ticker;
use rocksdb::{CStrLike, DB, properties};

use crate::commit::Histogram;
use crate::family::Family;
use crate::statistics::{StatisticsSource, StoreStatistics};

use super::disk::free_bytes;
use super::local::Engine;
use super::read::handle;

impl StatisticsSource for Engine {
    fn statistics(&self) -> StoreStatistics {
        let (db, counters) = (self.database(), self.counters());
        StoreStatistics {
            memtable_bytes: sum(db, properties::CUR_SIZE_ALL_MEM_TABLES),
            table_bytes: sum(db, properties::TOTAL_SST_FILES_SIZE),
            pending_compaction_bytes: sum(db, properties::ESTIMATE_PENDING_COMPACTION_BYTES),
            // These are properties of the whole database or of the shared cache, so any family returns them.
            is_write_stopped: of_database(db, properties::IS_WRITE_STOPPED) > 0,
            delayed_write_bytes_per_second: of_database(db, properties::ACTUAL_DELAYED_WRITE_RATE),
            background_errors: of_database(db, properties::BACKGROUND_ERRORS),
            block_cache_bytes: of_database(db, properties::BLOCK_CACHE_USAGE),
            block_cache_hits: counters.get_ticker_count(Ticker::BlockCacheHit),
            block_cache_misses: counters.get_ticker_count(Ticker::BlockCacheMiss),
            disk_free_bytes: free_bytes(self.directory()).ok(),
            disk_reserve_bytes: self.disk_reserve_bytes(),
            was_closed: self.was_closed(),
        }
    }

    fn write_micros(&self) -> &Histogram {
        self.write_times()
    }

    fn store_identity(&self) -> String {
        self.identity().to_string()
    }
}

fn sum(db: &DB, property: impl CStrLike + Copy) -> u64 {
    let of = |family| db.property_int_value_cf(handle(db, family), property).ok().flatten().unwrap_or(0);
    Family::ALL.into_iter().map(of).sum()
}

fn of_database(db: &DB, property: impl CStrLike) -> u64 {
    db.property_int_value(property).ok().flatten().unwrap_or(0)
}
