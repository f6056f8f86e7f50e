//! The one place that knows RocksDB's options.

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

/// Shards of the block cache, as a power of two: enough that threads seldom wait for one another, and few enough
/// that each has room for hundreds of blocks.
const CACHE_SHARD_BITS: i32 = 4;

/// What the keys of one table of one merchant begin with: the merchant and the table's byte, see [`crate::keys`].
/// Ids grow, so that a row of such a table mostly belongs right behind the one before it: the memtable then
/// starts looking there instead of from its top. There is no function for this option in the library.
const INSERT_BESIDE_THE_LAST_OF_A_TABLE: &str = "memtable_insert_with_hint_prefix_extractor=fixed:17";

/// The part of a memtable's bytes that its bloom filter takes, of the family in which absent keys are looked
/// up: whether a reference of the merchant's is taken. A third of a mebibyte, ten bits for each of the keys of
/// a hundred thousand payments.
const MEMTABLE_BLOOM_RATIO: f64 = 0.005;

/// Tables of the newest level at which they are merged into the next, of each family. Every one of them has rows of all
/// merchants, so that a merge rewrites what is below whether it brings four of them or eight.
const NEWEST_TABLES: i32 = 8;

/// Bytes of the level below, of each family: what a merge of the newest rewrites at most.
const BASE_LEVEL_BYTES: u64 = 512 * 1024 * 1024;

/// The age at which a table of the vault is merged into the one below: a day. Keys of removed persons leave the files by it
/// when a crash kept them from leaving at once. The family `meta` has them as long as commits wait to be archived.
const VAULT_TABLES_TTL_SECONDS: u64 = 86_400;

/// RocksDB's own log of what it does: bytes per file, and files. Bounded, and of no use to recovery.
const INFO_LOG_BYTES_MAX: usize = 4 * 1024 * 1024;
const INFO_LOG_FILES_MAX: usize = 4;

/// A MANIFEST that has grown to this is started anew.
const MANIFEST_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What the database is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To make a new one.
    Create,
    /// To read or write what is there.
    Open,
    /// To write although RocksDB finds logs missing, at an operator's word.
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
    // All families are flushed together, so that whatever is cut off the log, all of them end at one commit.
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
    quiet(&mut database);
    count(&mut database);
    database
}

/// Counts what the cache finds. Nothing is timed: that would cost two looks at the clock in each read.
fn count(database: &mut Options) {
    database.enable_statistics();
    database.set_statistics_level(StatsLevel::ExceptHistogramOrTimers);
}

/// Bounds what RocksDB writes about itself.
fn quiet(database: &mut Options) {
    database.set_log_level(LogLevel::Warn);
    database.set_max_log_file_size(INFO_LOG_BYTES_MAX);
    database.set_keep_log_file_num(INFO_LOG_FILES_MAX);
    database.set_stats_dump_period_sec(0);
    database.set_stats_persist_period_sec(0);
}

/// Every family, with its options; they share one block cache.
pub(super) fn families(options: &EngineOptions) -> Vec<ColumnFamilyDescriptor> {
    let compacts = table_damage::read_note(&options.directory).is_none();
    all_families(options, compacts)
}

/// The same; their tables are left as they are.
pub(super) fn families_without_compaction(options: &EngineOptions) -> Vec<ColumnFamilyDescriptor> {
    all_families(options, false)
}

/// The options of one family that is made anew, with a block cache of its own.
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
        if matches!(family, Family::Vault | Family::Meta) {
            settings.set_ttl(VAULT_TABLES_TTL_SECONDS);
        }
        settings.set_disable_auto_compactions(!compacts);
        ColumnFamilyDescriptor::new(family.name(), settings)
    };
    Family::ALL.into_iter().map(descriptor).collect()
}

/// Blocks of all families, the most recently used.
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
    // In the cache, so that memory stays bounded; and in parts: the whole filter and index of a table are megabytes,
    // which the cache would throw out and a look-up read and decompress again, each time.
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

/// Every write is on the disk when it returns; RocksDB's default is that it is not.
pub(super) fn synced_write() -> WriteOptions {
    let mut write = WriteOptions::default();
    write.set_sync(true);
    write
}

/// A write is in the memtables when it returns, and on the disk once they are flushed.
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
    fn every_familys_memtable_looks_beside_the_last_row_of_a_table() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let _open = Engine::open(&EngineOptions::new(directory.path())).expect("opens");
        // RocksDB leaves what it was told in a file.
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
