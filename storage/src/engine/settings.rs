//! RocksDB's options, which only this module knows.

use rocksdb::statistics::StatsLevel;
use rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, Cache, ColumnFamilyDescriptor, DBCompressionType, DBRecoveryMode, LogLevel,
    LruCacheOptions, Options, WriteOptions,
};

use crate::family::Family;

use super::{EngineOptions, table_damage};

/// Bits of the bloom filter per key: ten make one look-up of an absent key in a hundred read a block.
const BLOOM_BITS_PER_KEY: f64 = 10.0;

/// Bytes of one part of a table's filter or index.
const METADATA_BLOCK_BYTES: usize = 4 * 1024;

/// Shards of the block cache, as a power of two: enough that threads seldom wait for each other, and few enough
/// that each has room for hundreds of blocks.
const CACHE_SHARD_BITS: i32 = 4;

/// The common prefix of the keys of one table of one merchant: the merchant and the table's byte, see [`crate::keys`].
/// Ids grow, so a row of such a table usually belongs directly after the previous one: with this option the memtable
/// starts its search there instead of at its top. The library has no function for the option.
const INSERT_BESIDE_THE_LAST_OF_A_TABLE: &str = "memtable_insert_with_hint_prefix_extractor=fixed:17";

/// Bytes of the memtable of effects: 4 MiB. Nearly every row of the family is deleted within a second, and a list of
/// the open effects passes over each deletion that is still in the memtable.
const EFFECTS_MEMTABLE_BYTES: usize = 4 * 1024 * 1024;
/// A table of effects is compacted soon when so many of [`DELETIONS_WINDOW`] rows in sequence are deletions, or this
/// share of all.
const DELETIONS_MAX: usize = 512;
const DELETIONS_WINDOW: usize = 1_024;
const DELETIONS_SHARE: f64 = 0.5;

/// The share of a memtable's bytes for its bloom filter, in the family in which absent keys are looked up, to check
/// that a merchant's reference is free. It is a third of a mebibyte, ten bits for each of the keys of a hundred
/// thousand payments.
const MEMTABLE_BLOOM_RATIO: f64 = 0.005;

/// The number of tables in the newest level, of each family, at which they are merged into the next one. Every table
/// has rows of all merchants, so a merge of four tables rewrites as much of the next level as a merge of eight.
const NEWEST_TABLES: i32 = 8;

/// Bytes of the next level, of each family: the maximum that a merge of the newest level rewrites.
const BASE_LEVEL_BYTES: u64 = 512 * 1024 * 1024;

/// The age at which a table of the vault is merged into the next level: a day. It removes keys of removed persons from
/// the files when a crash prevented their removal at once. The family `meta` keeps them while commits wait to be
/// archived.
const VAULT_TABLES_TTL_SECONDS: u64 = 86_400;

/// Bytes per file of RocksDB's own information log. It is bounded, and recovery does not need it.
const INFO_LOG_BYTES_MAX: usize = 4 * 1024 * 1024;
const INFO_LOG_FILES_MAX: usize = 4;

/// The size at which RocksDB replaces the MANIFEST by a new one.
const MANIFEST_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The purpose for which the database is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To create a new database.
    Create,
    /// To read or write an existing one.
    Open,
    /// To write although RocksDB finds logs missing, with an operator's consent.
    OpenDespiteLoss,
}

/// Options of the database as a whole.
pub(super) fn database(options: &EngineOptions, purpose: Purpose) -> Options {
    let mut database = Options::default();
    database.create_if_missing(purpose == Purpose::Create);
    database.create_missing_column_families(purpose == Purpose::Create);
    database.set_paranoid_checks(true);
    database.set_wal_recovery_mode(DBRecoveryMode::PointInTime);
    database.set_track_and_verify_wals_in_manifest(purpose != Purpose::OpenDespiteLoss);
    // All families are flushed together, so that all of them end at the same commit, whatever part of the log is cut
    // off.
    database.set_atomic_flush(true);
    database.set_unordered_write(false);
    database.set_enable_pipelined_write(false);
    database.set_recycle_log_file_num(0);
    database.set_max_total_wal_size(options.wal_bytes_max);
    database.set_db_write_buffer_size(options.memtable_bytes);
    database.set_max_open_files(i32::from(options.open_files_max));
    database.set_max_manifest_file_size(MANIFEST_BYTES_MAX);
    database.set_max_background_jobs(background_jobs());
    database.set_bytes_per_sync(1024 * 1024);
    limit_info_log(&mut database);
    count(&mut database);
    database
}

/// Counts the hits and misses of the cache. Nothing is timed: that would read the clock twice in each read.
fn count(database: &mut Options) {
    database.enable_statistics();
    database.set_statistics_level(StatsLevel::ExceptHistogramOrTimers);
}

/// Limits RocksDB's own information log.
fn limit_info_log(database: &mut Options) {
    database.set_log_level(LogLevel::Warn);
    database.set_max_log_file_size(INFO_LOG_BYTES_MAX);
    database.set_keep_log_file_num(INFO_LOG_FILES_MAX);
    database.set_stats_dump_period_sec(0);
    database.set_stats_persist_period_sec(0);
}

/// Every family, with its options; they share one block cache.
pub(super) fn families(options: &EngineOptions) -> Vec<ColumnFamilyDescriptor> {
    let compacts = table_damage::of_store(&options.directory).is_none();
    all_families(options, compacts)
}

/// The same, without compaction of their tables.
pub(super) fn families_without_compaction(options: &EngineOptions) -> Vec<ColumnFamilyDescriptor> {
    all_families(options, false)
}

/// The options of one family that is created again, with a block cache of its own.
pub(super) fn new_family(options: &EngineOptions) -> Options {
    let mut settings = family_options(options, &block_cache(options.block_cache_bytes));
    settings.set_disable_auto_compactions(true);
    settings
}

fn all_families(options: &EngineOptions, compacts: bool) -> Vec<ColumnFamilyDescriptor> {
    let cache = block_cache(options.block_cache_bytes);
    let descriptor = |family: Family| {
        let mut settings = family_options(options, &cache);
        if family == Family::Indexes {
            settings.set_memtable_whole_key_filtering(true);
            settings.set_memtable_prefix_bloom_ratio(MEMTABLE_BLOOM_RATIO);
        }
        if family == Family::Effects {
            settings.set_write_buffer_size(EFFECTS_MEMTABLE_BYTES.min(options.memtable_bytes / 2));
            settings.add_compact_on_deletion_collector_factory(DELETIONS_WINDOW, DELETIONS_MAX, DELETIONS_SHARE);
        }
        if matches!(family, Family::Vault | Family::Meta) {
            settings.set_ttl(VAULT_TABLES_TTL_SECONDS);
        }
        settings.set_disable_auto_compactions(!compacts);
        ColumnFamilyDescriptor::new(family.name(), settings)
    };
    Family::ALL.into_iter().map(descriptor).collect()
}

/// The cache of the most recently used blocks of all families.
fn block_cache(byte_count: usize) -> Cache {
    let mut options = LruCacheOptions::default();
    options.set_capacity(byte_count);
    options.set_num_shard_bits(CACHE_SHARD_BITS);
    Cache::new_lru_cache_opts(&options)
}

fn family_options(options: &EngineOptions, cache: &Cache) -> Options {
    let mut tables = BlockBasedOptions::default();
    tables.set_block_cache(cache);
    // A look-up of an absent key reads no data.
    tables.set_bloom_filter(BLOOM_BITS_PER_KEY, false);
    tables.set_whole_key_filtering(true);
    // Filters and indexes are in the cache, so that memory stays bounded; and they are partitioned: whole ones are
    // megabytes per table, which the cache would evict and a look-up would read and decompress again, each time.
    tables.set_index_type(BlockBasedIndexType::TwoLevelIndexSearch);
    tables.set_partition_filters(true);
    tables.set_metadata_block_size(METADATA_BLOCK_BYTES);
    tables.set_pin_top_level_index_and_filter(true);
    tables.set_cache_index_and_filter_blocks(true);
    tables.set_cache_index_and_filter_blocks_with_high_priority(true);
    tables.set_pin_l0_filter_and_index_blocks_in_cache(true);
    let parsed = Options::default().get_options_from_string(INSERT_BESIDE_THE_LAST_OF_A_TABLE);
    let mut family = parsed.expect("RocksDB knows the option since version 5");
    family.set_block_based_table_factory(&tables);
    family.set_write_buffer_size(options.memtable_bytes / 2);
    family.set_compression_type(DBCompressionType::Lz4);
    family.set_bottommost_compression_type(DBCompressionType::Zstd);
    family.set_level_compaction_dynamic_level_bytes(true);
    family.set_level_zero_file_num_compaction_trigger(NEWEST_TABLES);
    family.set_max_bytes_for_level_base(BASE_LEVEL_BYTES);
    family
}

fn background_jobs() -> i32 {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    i32::try_from(cores.clamp(2, 4)).unwrap_or(2)
}

/// The write is on the disk when it returns if it is synced, else in the log: safe from the end of the process, but not
/// from a power cut.
pub(super) fn logged_write(is_synced: bool) -> WriteOptions {
    let mut write = WriteOptions::default();
    write.set_sync(is_synced);
    write
}

/// The write is in the memtables when it returns, and on the disk once they are flushed.
pub(super) fn unlogged_write() -> WriteOptions {
    let mut write = WriteOptions::default();
    write.disable_wal(true);
    write
}

#[cfg(test)]
mod tests {
    use super::super::Engine;
    use super::*;

    #[test]
    fn every_memtable_inserts_next_to_the_last_row_of_a_table() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let _open = Engine::open(&EngineOptions::new(directory.path())).expect("opens");
        // RocksDB writes its options to a file.
        let files = std::fs::read_dir(directory.path().join("db")).expect("a directory of files");
        let names = files.map(|file| file.expect("a file").path());
        let told =
            names.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("OPTIONS-")));
        let told = std::fs::read_to_string(told.max().expect("a file of options")).expect("text");
        let hinted =
            told.matches("memtable_insert_with_hint_prefix_extractor={id=rocksdb.FixedPrefix;length=17;}").count()
                + told.matches("memtable_insert_with_hint_prefix_extractor=rocksdb.FixedPrefix.17").count();
        assert_eq!(hinted, Family::ALL.len(), "{told}");
    }
}
