//! The book on disk: a RocksDB of its own in the data directory's `sandbox`, one row per line.
//!
//! Its batches are synced before they count, and a torn end of its write-ahead log, which no answer rested on, is cut
//! at the next open. It keeps no high-water mark: it is a book of play money.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use rocksdb::{DB, Direction, IteratorMode, Options, WriteBatch, WriteOptions};

use till_operate::acquirer_book::{CopiedBook, LinkFiles};
use till_storage::engine::{
    AuxiliaryDatabase, DiskReserve, POSITION_KEY, RowReplica, auxiliary_database_options, link_database, run_within,
};
use till_storage::journal::first_commit::FirstRows;
use till_storage::rows::RowPair;

use super::contract::{Book, BookError, Entries};
use super::line::BookLine;
use super::line_shapes;

/// The part of the memtable's bytes that its bloom filter takes: ten bits for each line of it.
const MEMTABLE_BLOOM_RATIO: f64 = 0.01;

/// A book on disk. Clones are the same open book; the last one dropped closes it.
#[derive(Clone)]
pub struct RocksBook {
    db: Arc<AuxiliaryDatabase>,
    /// Locked while lines are written, and while none may be written.
    writing: Arc<Mutex<DiskReserve>>,
}

impl CopiedBook for RocksBook {
    fn hold(&self) -> LinkFiles<'_> {
        let no_writer = self.writing();
        Box::new(move |to| {
            let linked = link_database(&self.db, to);
            drop(no_writer);
            linked
        })
    }
}

impl RocksBook {
    /// Opens the book in a directory for writing, and creates it when there is none. One process at a time.
    ///
    /// # Errors
    /// [`BookError::Broken`] when RocksDB does not open it, for example because another process has it open.
    pub fn open(directory: &Path) -> Result<RocksBook, BookError> {
        RocksBook::open_with_reserve(directory, 0)
    }

    /// Like [`RocksBook::open`]; while less than `disk_reserve_bytes` are free on its disk, nothing is written.
    ///
    /// # Errors
    /// The errors of [`RocksBook::open`].
    pub fn open_with_reserve(directory: &Path, disk_reserve_bytes: u64) -> Result<RocksBook, BookError> {
        let mut options = options();
        options.create_if_missing(true);
        let db = DB::open(&options, directory).map_err(broken)?;
        Ok(RocksBook::of(db, disk_reserve_bytes))
    }

    fn of(db: DB, disk_reserve_bytes: u64) -> RocksBook {
        let reserve = DiskReserve::watch(db.path(), disk_reserve_bytes);
        RocksBook { db: Arc::new(AuxiliaryDatabase::new(db)), writing: Arc::new(Mutex::new(reserve)) }
    }

    /// Opens the book for writing under a time limit: RocksDB does not return from some damaged logs.
    ///
    /// # Errors
    /// The errors of [`RocksBook::open`]; [`BookError::TimedOut`] when it did not end in time.
    pub fn open_within(limit: Duration, directory: &Path) -> Result<RocksBook, BookError> {
        let directory: PathBuf = directory.to_owned();
        run_within(limit, move || RocksBook::open(&directory)).unwrap_or(Err(BookError::TimedOut))
    }

    fn writing(&self) -> MutexGuard<'_, DiskReserve> {
        self.writing.lock()
    }

    /// Opens the book in a directory for reading only, as of now, also while another process writes to it: for tools
    /// that compare it with the ledger.
    ///
    /// # Errors
    /// [`BookError::Broken`] when there is none or RocksDB does not open it.
    pub fn open_read_only(directory: &Path) -> Result<RocksBook, BookError> {
        let db = DB::open_for_read_only(&options(), directory, false).map_err(broken)?;
        Ok(RocksBook::of(db, 0))
    }

    /// Like [`RocksBook::open_read_only`] under a time limit: RocksDB does not return from some damaged logs.
    ///
    /// # Errors
    /// The errors of [`RocksBook::open_read_only`]; [`BookError::TimedOut`] when it did not end in time.
    pub fn open_read_only_within(limit: Duration, directory: &Path) -> Result<RocksBook, BookError> {
        let directory: PathBuf = directory.to_owned();
        let opened = run_within(limit, move || RocksBook::open_read_only(&directory));
        opened.unwrap_or(Err(BookError::TimedOut))
    }
}

impl std::fmt::Debug for RocksBook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("RocksBook").field(&self.db.path()).finish()
    }
}

impl Book for RocksBook {
    fn line(&self, reference: &str) -> Result<Option<BookLine>, BookError> {
        let value = self.db.get_pinned(reference).map_err(broken)?;
        value.map(|value| line_shapes::decode(reference.as_bytes(), &value)).transpose()
    }

    fn write(&mut self, lines: &[BookLine]) -> Result<(), BookError> {
        let mut batch = WriteBatch::default();
        for line in lines {
            batch.put(&line.reference, line_shapes::encode(line));
        }
        // Not while the book is held.
        let mut disk = self.writing();
        let byte_count = u64::try_from(batch.size_in_bytes()).unwrap_or(u64::MAX);
        disk.admit(byte_count, Instant::now()).map_err(|reason| BookError::NotWritten { reason })?;
        let Some(first) = self.db.first() else { return self.db.write_opt(batch, &synced()).map_err(broken) };
        let position = write_first(first, lines).map_err(|reason| BookError::NotWritten { reason })?;
        batch.put(POSITION_KEY, position);
        self.db.write(batch).map_err(broken)
    }

    fn entries(&self) -> Entries<'_> {
        Box::new(self.db.rows().map(|row| {
            let (key, value) = row.map_err(broken)?;
            line_shapes::decode(&key, &value)
        }))
    }

    fn entries_under(&self, prefix: &str) -> Entries<'_> {
        let rows = self.db.iterator(IteratorMode::From(prefix.as_bytes(), Direction::Forward));
        let prefix = prefix.as_bytes().to_owned();
        let under = rows.take_while(move |row| !row.as_ref().is_ok_and(|(key, _)| !key.starts_with(&prefix)));
        Box::new(under.map(|row| {
            let (key, value) = row.map_err(broken)?;
            line_shapes::decode(&key, &value)
        }))
    }
}

/// Writes lines to the place that comes first. Of several with one reference the last counts.
fn write_first(first: &dyn FirstRows, lines: &[BookLine]) -> Result<Vec<u8>, String> {
    let rows: BTreeMap<&str, Vec<u8>> =
        lines.iter().map(|line| (line.reference.as_str(), line_shapes::encode(line))).collect();
    let rows: Vec<RowPair> = rows.into_iter().map(|(key, value)| (key.as_bytes().to_vec(), value)).collect();
    first.write(&rows, &[])
}

impl RowReplica for RocksBook {
    fn database(&self) -> &AuxiliaryDatabase {
        &self.db
    }

    fn is_sent(&self, _: &[u8]) -> bool {
        true
    }

    fn take_over(&self, rows: &[RowPair]) -> Result<(), String> {
        let mut batch = WriteBatch::default();
        for (key, value) in rows {
            line_shapes::decode(key, value).map_err(|error| error.to_string())?;
            batch.put(key, value);
        }
        self.db.write(batch).map_err(rocksdb::Error::into_string)
    }
}

fn options() -> Options {
    let mut options = auxiliary_database_options();
    // Nearly every line that is looked up does not exist yet.
    options.set_memtable_whole_key_filtering(true);
    options.set_memtable_prefix_bloom_ratio(MEMTABLE_BLOOM_RATIO);
    options
}

fn synced() -> WriteOptions {
    let mut write = WriteOptions::default();
    write.set_sync(true);
    write
}

fn broken(error: rocksdb::Error) -> BookError {
    BookError::Broken(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    fn lines(book: &RocksBook) -> Vec<BookLine> {
        book.entries().map(|line| line.expect("reads")).collect()
    }

    /// A copy of a directory as the end of the process would leave it.
    fn copied(directory: &Path) -> tempfile::TempDir {
        let copy = tempfile::tempdir().expect("a directory");
        for file in std::fs::read_dir(directory).expect("lists") {
            let file = file.expect("lists");
            std::fs::copy(file.path(), copy.path().join(file.file_name())).expect("copies");
        }
        copy
    }

    fn sorted_samples() -> Vec<BookLine> {
        sorted(samples::every_shape())
    }

    fn sorted(mut lines: Vec<BookLine>) -> Vec<BookLine> {
        lines.sort_by(|one, other| one.reference.cmp(&other.reference));
        lines
    }

    #[test]
    fn written_lines_are_there_after_opening_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut book = RocksBook::open(directory.path()).expect("opens");
        book.write(&samples::every_shape()).expect("writes");
        drop(book);
        let book = RocksBook::open(directory.path()).expect("opens again");
        assert_eq!(lines(&book), sorted_samples());
        assert_eq!(book.line(samples::REFERENCE).expect("reads"), Some(samples::approved()));
        assert_eq!(book.line("absent").expect("reads"), None);
    }

    #[test]
    fn written_lines_survive_a_process_that_does_not_close() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut book = RocksBook::open(directory.path()).expect("opens");
        book.write(&samples::every_shape()).expect("writes");
        let copy = copied(directory.path());
        assert_eq!(lines(&RocksBook::open(copy.path()).expect("opens the copy")), sorted_samples());
    }

    #[test]
    fn nothing_is_written_while_the_disk_is_down_to_its_reserve() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut book = RocksBook::open_with_reserve(directory.path(), u64::MAX).expect("opens");
        assert!(matches!(book.write(&[samples::approved()]), Err(BookError::NotWritten { .. })));
        assert_eq!(lines(&book), []);
        *book.writing() = DiskReserve::watch(directory.path(), 0);
        book.write(&[samples::approved()]).expect("writes");
        assert_eq!(lines(&book), [samples::approved()]);
    }

    #[test]
    fn a_line_written_again_replaces_the_first() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut book = RocksBook::open(directory.path()).expect("opens");
        book.write(&[samples::approved()]).expect("writes");
        let mut changed = samples::approved();
        changed.asked_at_ms = 1;
        book.write(&[changed.clone()]).expect("writes");
        assert_eq!(lines(&book), [changed]);
    }

    #[test]
    fn a_book_has_one_writer_and_readers_beside_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut book = RocksBook::open(directory.path()).expect("opens");
        book.write(&samples::every_shape()).expect("writes");
        let reader = RocksBook::open_read_only(directory.path()).expect("opens for reading");
        assert_eq!(lines(&reader), sorted_samples());
        assert!(matches!(reader.clone().write(&[samples::approved()]), Err(BookError::Broken(_))));
        assert!(matches!(RocksBook::open(directory.path()), Err(BookError::Broken(_))));
    }

    #[test]
    fn reading_where_no_book_is_fails() {
        let directory = tempfile::tempdir().expect("a directory");
        assert!(matches!(RocksBook::open_read_only(&directory.path().join("none")), Err(BookError::Broken(_))));
    }

    #[test]
    fn an_unknown_row_is_reported_as_damaged() {
        let directory = tempfile::tempdir().expect("a directory");
        let book = RocksBook::open(directory.path()).expect("opens");
        book.db.put("pay_1/authorize", [1, 1, 1]).expect("writes");
        let error = book.line("pay_1/authorize").expect_err("damaged");
        assert!(error.to_string().contains("the line pay_1/authorize of the sandbox's book is damaged"), "{error}");
        assert!(book.entries().next().expect("one row").is_err());
    }
}
