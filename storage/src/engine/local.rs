//! The bytes of one data directory, in RocksDB: what is read and written here is local, and no other place is asked.
//! [`DiskStore`](crate::disk_store::DiskStore) has the order of a commit.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::{Mutex, MutexGuard};
use rocksdb::{BottommostLevelCompaction, CompactOptions, DB, FlushOptions, Options, WriteBatch, WriteOptions};
use till_domain::ids::MerchantId;

use crate::commit::Histogram;
use crate::family::Family;
use crate::journal::layout;
use crate::journal::{AppendVerdict, JournalError};
use crate::keys::{MetaKey, UnarchivedKey};
use crate::positions::{CommitNumber, Head};
use crate::rows::{ReadAtHand, RowError, RowRange, RowReader, RowWrites, Visit};
use crate::statistics::StatisticsSource;

use super::auxiliary::link_database;
use super::batch::{BatchSink, FamilyIds};
use super::disk::{DiskReserve, FIGURE_AGE_MAX};
use super::identity::StoreIdentity;
use super::mark_keeper::KeptMark;
use super::noting::{DamageReportingReader, note_damage};
use super::open::{self, Opened};
use super::read::{self, Live, SnapshotReader, handle};
use super::refusal::{CloseError, OpenError};
use super::{EngineOptions, manifest, settings, table_damage};

/// The open database of a data directory.
struct OpenDatabase {
    db: DB,
    /// Its options, through which its counters are read.
    options: Options,
    /// Options of its writes: each is on the disk when it returns, unless the store is a replica of a log elsewhere.
    write_options: WriteOptions,
    families: FamilyIds,
    directory: PathBuf,
}

/// The local bytes of one data directory.
///
/// Dropped in this order: the thread of the mark ends, the database is closed, and only then is the mark dropped, whose
/// file is the lock of the directory.
pub struct Engine {
    database: OpenDatabase,
    mark: KeptMark,
    identity: StoreIdentity,
    starts: u64,
    was_closed: bool,
    is_replica: bool,
    write_times: Histogram,
    /// Failed flushes and compactions whose reason was asked for.
    background_errors_asked: AtomicU64,
    disk_reserve_bytes: u64,
    /// Serializes the writes.
    writer: Mutex<DiskReserve>,
    /// The time at which the last group was refused for lack of space.
    refused_at: Mutex<Option<Instant>>,
    last_commit: AtomicU64,
    /// An error outside of an append: the mark could not be synced, or a write of rows has an unknown outcome. The next
    /// append reports it.
    failure: Arc<OnceLock<String>>,
    /// The reason why nothing is written any more.
    stopped: OnceLock<String>,
}

impl Engine {
    /// Opens the database of a data directory, or creates one. No acknowledged commit is missing from an open one,
    /// except those that the options give up.
    ///
    /// # Errors
    /// [`OpenError`], with the facts that an operator needs. Nothing was changed.
    pub fn open(options: &EngineOptions) -> Result<Engine, OpenError> {
        let opened = open::open(options)?;
        let Opened { db, options: counted, db_dir, high_water, last_commit, starts, identity, was_closed } = opened;
        let failure = Arc::new(OnceLock::new());
        let file = high_water.path().to_owned();
        let mark = KeptMark::keep(high_water, db_dir.clone(), Arc::clone(&failure));
        let mark = mark.map_err(|source| OpenError::Files { attempt: "start the thread for", path: file, source })?;
        let is_replica = options.replica_of.is_some();
        let database = OpenDatabase {
            families: FamilyIds::of(&db),
            db,
            options: counted,
            write_options: settings::logged_write(!is_replica),
            directory: options.directory.clone(),
        };
        Ok(Engine {
            mark,
            database,
            identity,
            starts,
            was_closed,
            is_replica,
            write_times: Histogram::default(),
            background_errors_asked: AtomicU64::new(0),
            disk_reserve_bytes: options.disk_reserve_bytes,
            writer: Mutex::new(DiskReserve::watch(&db_dir, options.disk_reserve_bytes)),
            refused_at: Mutex::default(),
            last_commit: AtomicU64::new(last_commit.0),
            failure,
            stopped: OnceLock::new(),
        })
    }

    /// Returns true when the previous process closed the store, or the store is new.
    pub(super) const fn was_closed(&self) -> bool {
        self.was_closed
    }

    /// True when the store was opened as a replica of a log elsewhere ([`EngineOptions::replica_of`]): its writes are
    /// not synced.
    pub(crate) const fn is_replica(&self) -> bool {
        self.is_replica
    }

    /// The identity of the store.
    #[must_use]
    pub const fn identity(&self) -> StoreIdentity {
        self.identity
    }

    /// The number of times that the directory was opened for writing, or the number of the claim of the log elsewhere
    /// when that is greater.
    #[must_use]
    pub const fn starts(&self) -> u64 {
        self.starts
    }

    /// The number of the last commit that is written here.
    #[must_use]
    pub fn last_commit(&self) -> CommitNumber {
        CommitNumber(self.last_commit.load(Ordering::Acquire))
    }

    /// Removes archived commits from the queue. This is not synced: after a crash they may be in the queue again, and
    /// an archiver that opens its archive removes those that the archive has.
    ///
    /// # Errors
    /// The message of RocksDB; all of them are still in the queue.
    pub fn unqueue(&self, commits: &[CommitNumber]) -> Result<(), String> {
        let mut batch = WriteBatch::default();
        let meta = handle(self.database(), Family::Meta);
        commits.iter().for_each(|commit| batch.delete_cf(meta, UnarchivedKey(*commit).encode()));
        self.database().write(batch).map_err(rocksdb::Error::into_string)
    }

    /// Closes the store cleanly: refuses further writes, flushes, leaves an empty log, and syncs the mark. On a full
    /// disk, or with a damaged table, the log keeps what cannot be flushed. The directory can be opened again once the
    /// last handle is dropped.
    ///
    /// # Errors
    /// Fails when a step failed. All acknowledged commits are durable nevertheless.
    pub fn close(&self) -> Result<(), CloseError> {
        self.close_with_note(|| None)
    }

    /// As [`Engine::close`]. `last_note` is called when nothing else is written any more, and answers the note of the
    /// log elsewhere to close with.
    pub(crate) fn close_with_note(&self, last_note: impl FnOnce() -> Option<Vec<u8>>) -> Result<(), CloseError> {
        let _no_writer = self.writer();
        let first = self.stopped.set("the store is closed".to_owned()).is_ok();
        self.mark.end();
        if !first {
            return Ok(());
        }
        if let Some(note) = last_note() {
            let meta = handle(self.database(), Family::Meta);
            let (key, options) = (MetaKey::RemoteLog.encode(), &self.database.write_options);
            let noted = self.database().put_cf_opt(meta, key, note, options);
            noted.unwrap_or_else(|error| tracing::warn!(%error, "the next start compares the log with this store"));
        }
        if let Err(error) = self.flush() {
            tracing::warn!(%error, "rows in memory were not written to tables: the next start reads them from the log");
        }
        self.database().cancel_all_background_work(true);
        let synced = self.mark.sync_at_end();
        synced.map_err(|error| CloseError { attempt: "sync the high-water mark", reason: error.to_string() })
    }

    /// The data directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.database.directory
    }

    /// The length of the log that is currently written to; 0 when the system does not report it.
    pub fn log_bytes(&self) -> u64 {
        let newest = manifest::logs(self.mark.database_directory()).pop();
        newest.and_then(|log| fs::metadata(log).ok()).map_or(0, |log| log.len())
    }

    /// Creates a directory on the same disk that holds the database as of one moment: links to its table files, and
    /// copies of its logs up to that moment. Nothing is flushed, and writes continue.
    ///
    /// # Errors
    /// The message of RocksDB; the directory does not exist then.
    pub fn link_files(&self, to: &Path) -> Result<(), String> {
        link_database(self.database(), to)
    }

    pub(super) const fn database(&self) -> &DB {
        &self.database.db
    }

    pub(super) const fn counters(&self) -> &Options {
        &self.database.options
    }

    pub(super) const fn write_times(&self) -> &Histogram {
        &self.write_times
    }

    pub(super) const fn mark(&self) -> &KeptMark {
        &self.mark
    }

    /// Bytes of free space below which only urgent changes are written.
    #[must_use]
    pub const fn disk_reserve_bytes(&self) -> u64 {
        self.disk_reserve_bytes
    }

    /// Refuses a write that would take the free space of the disk below its reserve.
    ///
    /// # Errors
    /// The reason, in words for an operator.
    pub fn admit(&self, byte_count: u64) -> Result<(), String> {
        self.writer().admit(byte_count, Instant::now())
    }

    /// Writes all rows in memory to tables, whether or not the store still takes writes.
    ///
    /// # Errors
    /// The message of RocksDB.
    pub(super) fn write_out(&self) -> Result<(), String> {
        self.flush().map_err(rocksdb::Error::into_string)
    }

    /// Reads of the present state.
    fn live(&self) -> DamageReportingReader<'_, Live<'_>> {
        DamageReportingReader { reader: Live(self.database()), directory: self.directory() }
    }

    /// Reads that all see the same moment.
    pub(crate) fn snapshot(&self) -> impl RowReader {
        DamageReportingReader { reader: SnapshotReader::now(self.database()), directory: self.directory() }
    }

    /// The value under a key, as far as memory tells.
    pub(crate) fn get_at_hand(&self, family: Family, key: &[u8]) -> ReadAtHand {
        read::get_at_hand(self.database(), family, key)
    }

    /// Notes the damage that a flush or compaction in the background has met. RocksDB then refuses every write, and
    /// says why: an empty one changes nothing. It is asked once for each error.
    pub fn note_background_damage(&self) {
        let errors = self.statistics().background_errors;
        if self.stopped.get().is_none() && self.background_errors_asked.swap(errors, Ordering::AcqRel) < errors {
            let refused = self.database().write_opt(WriteBatch::default(), &self.database.write_options);
            refused.unwrap_or_else(|error| note_damage(self.directory(), error.as_ref()));
        }
    }

    fn flush(&self) -> Result<(), rocksdb::Error> {
        let mut flush = FlushOptions::default();
        flush.set_wait(true);
        self.database().flush_cfs_opt(&Family::ALL.map(|family| handle(self.database(), family)), &flush)
    }

    /// The lock of all writes, with the space that is left for them.
    pub(crate) fn writer(&self) -> MutexGuard<'_, DiskReserve> {
        self.writer.lock()
    }

    /// An empty batch with room for about this number of bytes.
    pub(crate) fn batch(&self, byte_count: usize) -> BatchSink<'_> {
        BatchSink::new(&self.database.families, byte_count)
    }

    /// The reason for which nothing is written any more.
    pub(crate) fn reason_of_stop(&self) -> Option<&String> {
        self.stopped.get()
    }

    /// Notes that a group was refused just now for lack of space.
    pub(crate) fn note_lack_of_space(&self) {
        *self.refused_at.lock() = Some(Instant::now());
    }

    /// True while groups are refused for lack of space, as far as the last one of a few moments ago tells.
    pub(crate) fn is_short_of_space(&self) -> bool {
        self.refused_at.lock().is_some_and(|refused_at| refused_at.elapsed() < FIGURE_AGE_MAX)
    }

    /// The verdict for every batch of a group, if the store writes no more.
    pub(crate) fn end_of_writes(&self) -> Option<AppendVerdict> {
        if let Some(reason) = self.stopped.get() {
            return Some(AppendVerdict::Unavailable(reason.clone()));
        }
        // The process must end: without the mark a later start could not detect missing commits, and only a start
        // can find the outcome of the rows.
        self.failure.get().map(|reason| self.stop(reason))
    }

    /// Writes nothing any more, since the outcome of a write is unknown.
    pub(crate) fn stop(&self, reason: &str) -> AppendVerdict {
        note_damage(self.directory(), reason);
        tracing::error!(reason, "the journal stops: the outcome of a write is unknown");
        // The first reason is kept.
        drop(self.stopped.set(format!("the outcome of a write is unknown: {reason}")));
        AppendVerdict::Ambiguous(reason.to_owned())
    }

    /// Writes commits up to `last`, and advances the mark unless the store is a replica. The caller has the lock of
    /// writes.
    ///
    /// # Errors
    /// The reason; the outcome is unknown then.
    pub(crate) fn write_commits(&self, batch: BatchSink<'_>, last: CommitNumber) -> Result<(), String> {
        let started = Instant::now();
        self.write(batch.finish())?;
        self.write_times.record_micros(started.elapsed());
        if !self.is_replica {
            let marked = self.mark.advance(last);
            marked.map_err(|error| format!("the high-water mark could not be written: {error}"))?;
        }
        self.last_commit.store(last.0, Ordering::Release);
        Ok(())
    }

    fn write(&self, batch: WriteBatch) -> Result<(), String> {
        self.database().write_opt(batch, &self.database.write_options).map_err(rocksdb::Error::into_string)
    }

    /// Writes outside of a group, and under a number of its own when `compose` returns one: only a replica fetches
    /// commits so, and it has no mark.
    pub(crate) fn write_apart(
        &self,
        compose: impl FnOnce(&mut BatchSink<'_>) -> Result<Option<CommitNumber>, JournalError>,
    ) -> Result<(), JournalError> {
        let mut disk = self.writer();
        if let Some(reason) = self.stopped.get().or_else(|| self.failure.get()) {
            return Err(JournalError::Stopped { reason: reason.clone() });
        }
        let mut sink = self.batch(0);
        let commit = compose(&mut sink)?;
        let batch = sink.finish();
        let byte_count = u64::try_from(batch.size_in_bytes()).unwrap_or(u64::MAX);
        let admitted = disk.admit(byte_count, Instant::now());
        // Fetched commits are small, and let the server go on: they may use the reserve.
        let admitted = admitted.or_else(|reason| {
            disk.admit_below_reserve(byte_count, Instant::now()).map_err(|_| JournalError::Unreadable { reason })
        });
        admitted?;
        self.write(batch).map_err(|reason| JournalError::Stopped { reason: self.fail(reason) })?;
        if let Some(commit) = commit {
            self.last_commit.store(commit.0, Ordering::Release);
        }
        Ok(())
    }

    /// Writes rows of records that are here already, and advances their position to `applied`. Calls `note` with the
    /// head of the merchant's log before anything else is written.
    ///
    /// # Errors
    /// As [`RowStore::append_rows`](crate::rows::RowStore::append_rows).
    pub(crate) fn append_rows(
        &self,
        merchant_id: MerchantId,
        rows: &RowWrites,
        applied: Head,
        note: impl FnOnce(Head),
    ) -> Result<(), RowError> {
        let mut disk = self.writer();
        if let Some(reason) = self.stopped.get().or_else(|| self.failure.get()) {
            return Err(RowError::Unwritten { reason: reason.clone() });
        }
        let byte_count = u64::try_from(rows.byte_count()).unwrap_or(u64::MAX);
        disk.admit(byte_count, Instant::now()).map_err(|reason| RowError::Unwritten { reason })?;
        let before = layout::read_applied(self, merchant_id)?;
        let head = layout::read_head(self, merchant_id)?;
        if applied.sequence <= before.sequence || applied.sequence > head.sequence {
            let (applied, asked, head) = (before.sequence, applied.sequence, head.sequence);
            return Err(RowError::OutOfOrder { applied, asked, head });
        }
        let mut sink = self.batch(0);
        layout::write_rows(rows.iter(), &mut sink);
        layout::write_applied(merchant_id, applied, &mut sink);
        self.write(sink.finish()).map_err(|reason| RowError::Unwritten { reason: self.fail(reason) })?;
        note(head);
        Ok(())
    }

    /// Records that a write outside of a group has an unknown outcome: nothing is written any more, and the next append
    /// says why.
    pub(crate) fn fail(&self, reason: String) -> String {
        drop(self.failure.set(reason.clone())); // The first reason is kept.
        reason
    }

    /// Removes the bytes of deleted rows from the files of a family, and of the queue for the archive, which contained
    /// them, where it is `queued`.
    ///
    /// # Errors
    /// [`RowError::Unwritten`].
    pub(crate) fn purge(&self, family: Family, keys: &[Vec<u8>], queued: bool) -> Result<(), RowError> {
        if table_damage::of_store(self.directory()).is_some() {
            return Err(RowError::Unwritten { reason: "a table is damaged, so tables are not rewritten".to_owned() });
        }
        self.flush().map_err(|error| RowError::Unwritten { reason: error.into_string() })?;
        let mut options = CompactOptions::default();
        options.set_exclusive_manual_compaction(false);
        options.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
        let in_family = handle(self.database(), family);
        for key in keys {
            let end = [key.as_slice(), &[0]].concat();
            self.database().compact_range_cf_opt(in_family, Some(key), Some(end), &options);
        }
        if queued {
            let meta = handle(self.database(), Family::Meta);
            self.database().compact_range_cf_opt(meta, None::<&[u8]>, None::<&[u8]>, &options);
        }
        Ok(())
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.mark.end();
    }
}

impl RowReader for Engine {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
        self.live().get(family, key)
    }

    fn get_many(&self, family: Family, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, RowError> {
        self.live().get_many(family, keys)
    }

    fn visit(&self, range: RowRange<'_>, visit: &mut Visit<'_>) -> Result<(), RowError> {
        self.live().visit(range, visit)
    }
}
