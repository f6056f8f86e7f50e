//! The tables that a database has at a moment, by its MANIFEST.
//!
//! The database is opened a second time, for reading only and without its logs: this takes no lock, writes nothing, and
//! sees the tables that the MANIFEST lists.

use std::path::Path;

use rocksdb::{BlockBasedOptions, ColumnFamilyDescriptor, DB, Error, Options};

/// Tables that are open at once.
const OPEN_TABLES_MAX: i32 = 32;

/// The names of the tables, such as `000021.sst`. `without_logs` is a directory that holds no write-ahead logs.
pub(super) fn live_tables(directory: &Path, without_logs: &Path) -> Result<Vec<String>, Error> {
    let options = settings(without_logs);
    let descriptor = |family: String| ColumnFamilyDescriptor::new(family, options.clone());
    let families = DB::list_cf(&options, directory)?.into_iter().map(descriptor);
    let db = DB::open_cf_descriptors_read_only(&options, directory, families, false)?;
    let files = db.live_files()?;
    Ok(files.into_iter().map(|file| file.name.trim_start_matches('/').to_owned()).collect())
}

/// The logs are not read: what is in them is in no table yet. Logs are tracked as by the server: RocksDB refuses to
/// open while the MANIFEST lists a log, which it does for the moment of a flush only. Without tracking it would change
/// that list, which no reader may do.
fn settings(without_logs: &Path) -> Options {
    let mut tables = BlockBasedOptions::default();
    tables.disable_cache();
    let mut options = Options::default();
    options.set_block_based_table_factory(&tables);
    options.set_wal_dir(without_logs);
    options.set_track_and_verify_wals_in_manifest(true);
    options.set_max_open_files(OPEN_TABLES_MAX);
    options.set_paranoid_checks(true);
    options
}
