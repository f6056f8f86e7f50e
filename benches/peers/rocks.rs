//! RocksDB alone: the batches of real payments, one thread, a sync for each group. This is the rate of Till's engine if
//! everything above it cost nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use rocksdb::{
    BlockBasedOptions, Cache, ColumnFamily, ColumnFamilyDescriptor, DB, DBCompressionType, Options, WriteBatch,
    WriteOptions,
};
use serde_json::json;
use till_storage::engine::EngineOptions;
use till_storage::family::Family;

use super::harvest;
use super::write_ahead::{KeyLocation, Writes, of_pass};

/// Measures every size of groups, each in a database of its own, and prints a line for each.
pub(super) fn measure(from: &Path, directory: &Path, groups: &[usize], seconds: u64) -> anyhow::Result<()> {
    let log = harvest::read(from)?;
    let records: usize = log.iter().map(Writes::records).sum();
    let initiations = log.iter().filter(|writes| writes.initiates()).count();
    for &group in groups {
        let path = directory.join(format!("rocksdb-{group}"));
        let (written, took) = Target::open(&path)?.write(&log, group, Duration::from_secs(seconds))?;
        std::fs::remove_dir_all(&path)?;
        let per_second = |count: usize| count as u128 * 1_000_000 / took.as_micros().max(1);
        let report = json!({
            "group": group, "commits": written, "commits_per_second": per_second(written),
            "payments_per_second": per_second(written * initiations / records),
        });
        println!("{report}");
    }
    Ok(())
}

struct Target {
    db: DB,
    synced: WriteOptions,
}

impl Target {
    /// A new database with the options of Till's, in `storage/src/engine/settings.rs`.
    fn open(path: &Path) -> anyhow::Result<Target> {
        let options = EngineOptions::new(path);
        let mut database = Options::default();
        database.create_if_missing(true);
        database.create_missing_column_families(true);
        database.set_atomic_flush(true);
        database.set_max_total_wal_size(options.wal_bytes_max);
        database.set_db_write_buffer_size(options.memtable_bytes);
        database.set_max_open_files(i32::from(options.open_files_max));
        database.set_max_background_jobs(2);
        database.set_bytes_per_sync(1024 * 1024);
        database.set_stats_dump_period_sec(0);
        database.set_stats_persist_period_sec(0);
        let db = DB::open_cf_descriptors(&database, path, families(&options)).context("failed to make a database")?;
        let mut synced = WriteOptions::default();
        synced.set_sync(true);
        synced.set_memtable_insert_hint_per_batch(true);
        Ok(Target { db, synced })
    }

    /// Writes the log again and again in groups of this number of commits, and returns the number of commits and their
    /// time. Only RocksDB's own time is counted.
    fn write(&self, log: &[Writes], group: usize, span: Duration) -> anyhow::Result<(usize, Duration)> {
        let (mut written, mut took) = (0, Duration::ZERO);
        for pass in 0..=u8::MAX {
            for commits in log.chunks(group) {
                let batch = self.batch(commits, pass);
                let start = Instant::now();
                self.db.write_opt(batch, &self.synced)?;
                took += start.elapsed();
                written += commits.iter().map(Writes::records).sum::<usize>();
                if took >= span {
                    return Ok((written, took));
                }
            }
        }
        Ok((written, took))
    }

    /// One batch of several commits: in the order of keys, each key once, as Till's journal makes them.
    fn batch(&self, commits: &[Writes], pass: u8) -> WriteBatch {
        let mut last: BTreeMap<KeyLocation, Option<&[u8]>> = BTreeMap::new();
        for (place, value) in commits.iter().flat_map(|writes| &writes.writes) {
            last.insert(of_pass(place, pass), value.as_deref());
        }
        let mut batch = WriteBatch::default();
        for ((family, key), value) in last {
            match value {
                Some(value) => batch.put_cf(self.handle(family), key, value),
                None => batch.delete_cf(self.handle(family), key),
            }
        }
        batch
    }

    fn handle(&self, family: Family) -> &ColumnFamily {
        self.db.cf_handle(family.name()).expect("it was made at opening")
    }
}

fn families(options: &EngineOptions) -> Vec<ColumnFamilyDescriptor> {
    let cache = Cache::new_lru_cache(options.block_cache_bytes);
    let mut tables = BlockBasedOptions::default();
    tables.set_block_cache(&cache);
    tables.set_bloom_filter(10.0, false);
    tables.set_cache_index_and_filter_blocks(true);
    tables.set_cache_index_and_filter_blocks_with_high_priority(true);
    tables.set_pin_l0_filter_and_index_blocks_in_cache(true);
    let descriptor = |family: Family| {
        let mut settings = Options::default();
        settings.set_block_based_table_factory(&tables);
        settings.set_write_buffer_size(options.memtable_bytes / 2);
        settings.set_compression_type(DBCompressionType::Lz4);
        settings.set_bottommost_compression_type(DBCompressionType::Zstd);
        settings.set_level_compaction_dynamic_level_bytes(true);
        ColumnFamilyDescriptor::new(family.name(), settings)
    };
    Family::ALL.into_iter().map(descriptor).collect()
}
