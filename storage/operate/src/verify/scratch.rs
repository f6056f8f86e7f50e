//! A RocksDB of the verification's own, for replayed rows that outgrow memory. It is created when it is needed and
//! removed after its merchant. It needs about as much disk as the rows of the largest merchant; data that is sealed in
//! the store is sealed here as well.

use std::fs;
use std::path::{Path, PathBuf};

use rocksdb::{BlockBasedOptions, DB, DBCompressionType, IteratorMode, Options, ReadOptions, WriteBatch, WriteOptions};
use till_storage::rows::RowPair;

use crate::durable;

/// Bytes of a memtable.
const WRITE_BUFFER_BYTES: usize = 32 * 1024 * 1024;
/// Bits of the bloom filter for each key: most rows are written once, after a look-up that finds nothing.
const BLOOM_BITS_PER_KEY: f64 = 10.0;
/// Files open at once.
const OPEN_FILES_MAX: i32 = 128;

/// The scratch directory cannot be used: the rows that need it could not be compared.
#[derive(Debug, thiserror::Error)]
#[error("failed to use the scratch directory {}: {reason}", directory.display())]
pub struct ScratchError {
    /// The directory.
    pub directory: PathBuf,
    /// The message of the system.
    pub reason: String,
}

/// The open database. Dropping it removes it.
pub(super) struct Scratch {
    /// None only while it is dropped.
    db: Option<DB>,
    directory: PathBuf,
}

impl Scratch {
    /// An empty one. What an earlier verification left over is removed.
    pub(super) fn make(directory: &Path) -> Result<Scratch, ScratchError> {
        let failed = |reason: String| ScratchError { directory: directory.to_owned(), reason };
        durable::remove_directory(directory)
            .and_then(|_| fs::create_dir_all(directory))
            .map_err(|error| failed(error.to_string()))?;
        let db = DB::open(&options(), directory).map_err(|error| failed(error.into_string()))?;
        Ok(Scratch { db: Some(db), directory: directory.to_owned() })
    }

    fn db(&self) -> &DB {
        self.db.as_ref().expect("it is taken only when this is dropped")
    }

    fn failed(&self, error: rocksdb::Error) -> ScratchError {
        ScratchError { directory: self.directory.clone(), reason: error.into_string() }
    }

    /// Writes rows; one without value is removed.
    pub(super) fn write<'r>(
        &self,
        rows: impl Iterator<Item = (&'r Vec<u8>, &'r Option<Vec<u8>>)>,
    ) -> Result<(), ScratchError> {
        let mut batch = WriteBatch::default();
        for (key, value) in rows {
            match value {
                Some(value) => batch.put(key, value),
                None => batch.delete(key),
            }
        }
        let mut write = WriteOptions::default();
        write.disable_wal(true);
        self.db().write_opt(batch, &write).map_err(|error| self.failed(error))
    }

    /// The value under a key.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, ScratchError> {
        self.db().get(key).map_err(|error| self.failed(error))
    }

    /// The rows of a range, in order.
    pub(super) fn rows(&self, lower: Vec<u8>, upper: Vec<u8>) -> impl Iterator<Item = Result<RowPair, ScratchError>> {
        let mut read = ReadOptions::default();
        read.set_iterate_range(lower..upper);
        let rows = self.db().iterator_opt(IteratorMode::Start, read);
        rows.map(|row| row.map(|(key, value)| (key.into(), value.into())).map_err(|error| self.failed(error)))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(self.db.take());
        remove(&self.directory);
    }
}

/// Removes a scratch directory, if it is there.
pub(super) fn remove(directory: &Path) {
    if let Err(error) = durable::remove_directory(directory) {
        tracing::warn!(directory = %directory.display(), %error, "a directory is left over and can be removed");
    }
}

fn options() -> Options {
    let mut blocks = BlockBasedOptions::default();
    blocks.set_bloom_filter(BLOOM_BITS_PER_KEY, false);
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_block_based_table_factory(&blocks);
    options.set_write_buffer_size(WRITE_BUFFER_BYTES);
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_max_open_files(OPEN_FILES_MAX);
    options.set_keep_log_file_num(1);
    options
}
