//! The store of the journal and the rows, in RocksDB.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::{Mutex, MutexGuard, RwLock};
use rocksdb::{BottommostLevelCompaction, CompactOptions, DB, FlushOptions, Options, WriteBatch, WriteOptions};
use till_domain::ids::MerchantId;

use crate::archive_queue::queue_value;
use crate::commit::Histogram;
use crate::family::Family;
use crate::journal::claims::{Claims, WriteOutcome, WritePlan};
use crate::journal::first_commit::{FirstCommit, RemoteLog};
use crate::journal::layout::{self, WriteSink};
use crate::journal::{Append, AppendVerdict, Claim, Journal, JournalError, LaggingRows, StoredRecord, StoredSnapshot};
use crate::keys::{MetaKey, UnarchivedKey};
use crate::positions::{CommitNumber, Epoch, Head, Sequence};
use crate::rows::{ReadAtHand, RowError, RowGate, RowRange, RowReader, RowStore, RowWrites, Visit};
use crate::statistics::StatisticsSource;

use super::auxiliary::link_database;
use super::batch::{BatchSink, FamilyIds};
use super::disk::{DiskReserve, FIGURE_AGE_MAX};
use super::high_water::HighWater;
use super::identity::StoreIdentity;
use super::mark_keeper::MarkKeeper;
use super::noting::{DamageReportingReader, note_damage};
use super::open::{self, Opened};
use super::read::{self, Live, SnapshotReader, handle};
use super::refusal::{CloseError, OpenError};
use super::{EngineOptions, manifest, settings, table_damage};

/// The maximum number of merchants that are remembered as caught up: some 30 MB. The check of
/// any further merchant reads two rows.
const CAUGHT_UP_MAX: usize = 1_000_000;

/// The upper half of an epoch counts starts, the lower half the claims of one process.
const EPOCHS_PER_START: u64 = 1 << 32;

/// The store of one data directory.
pub struct Engine {
    db: DB,
    /// The options of the database, through which its counters are read.
    options: Options,
    directory: PathBuf,
    db_dir: PathBuf,
    families: FamilyIds,
    identity: StoreIdentity,
    repeats: bool,
    was_closed: bool,
    queues_for_archive: bool,
    first_commit: Mutex<Option<Arc<dyn FirstCommit>>>,
    remote_log: OnceLock<Arc<dyn RemoteLog>>,
    /// Write options: each write is on the disk when it returns, unless the store repeats a log that is elsewhere.
    write_options: WriteOptions,
    write_times: Histogram,
    /// Failed flushes and compactions whose reason was asked for.
    background_errors_asked: AtomicU64,
    disk_reserve_bytes: u64,
    claims: Claims,
    lagging: LaggingRows,
    caught_up: RwLock<HashSet<MerchantId>>,
    /// Serializes the writes.
    writer: Mutex<DiskReserve>,
    /// The time at which the last group was refused for lack of space.
    refused_at: Mutex<Option<Instant>>,
    last_commit: AtomicU64,
    high_water: Arc<HighWater>,
    keeper: Mutex<Option<MarkKeeper>>,
    /// An error outside of an append: the mark could not be synced, or a write of rows has an unknown outcome. The next
    /// append reports it.
    failure: Arc<OnceLock<String>>,
    /// The reason why nothing is written any more.
    stopped: OnceLock<String>,
}

impl Engine {
    /// Opens the store of a data directory, or creates one. No acknowledged commit is missing from an open store,
    /// except those that the options give up.
    ///
    /// # Errors
    /// [`OpenError`], with the facts that an operator needs. Nothing was changed.
    pub fn open(options: &EngineOptions) -> Result<Engine, OpenError> {
        let opened = open::open(options)?;
        let Opened { db, options: database, db_dir, high_water, last_commit, starts, identity, .. } = opened;
        let high_water = Arc::new(high_water);
        let failure = Arc::new(OnceLock::new());
        let keeper = MarkKeeper::start(Arc::clone(&high_water), db_dir.clone(), Arc::clone(&failure));
        let keeper = keeper.map_err(|source| OpenError::Files {
            attempt: "start the thread for",
            path: high_water.path().to_owned(),
            source,
        })?;
        Ok(Engine {
            families: FamilyIds::of(&db),
            db,
            options: database,
            directory: options.directory.clone(),
            identity,
            repeats: options.repeats.is_some(),
            was_closed: opened.was_closed,
            queues_for_archive: options.queues_for_archive,
            first_commit: Mutex::default(),
            remote_log: OnceLock::new(),
            write_options: settings::logged_write(options.repeats.is_none()),
            write_times: Histogram::default(),
            background_errors_asked: AtomicU64::new(0),
            disk_reserve_bytes: options.disk_reserve_bytes,
            claims: Claims::new(Epoch(starts.saturating_mul(EPOCHS_PER_START))),
            lagging: LaggingRows::default(),
            caught_up: RwLock::default(),
            writer: Mutex::new(DiskReserve::watch(&db_dir, options.disk_reserve_bytes)),
            refused_at: Mutex::default(),
            last_commit: AtomicU64::new(last_commit.0),
            high_water,
            keeper: Mutex::new(Some(keeper)),
            failure,
            stopped: OnceLock::new(),
            db_dir,
        })
    }

    /// Returns true when the previous process closed the store, or the store is new.
    pub(super) const fn was_closed(&self) -> bool {
        self.was_closed
    }

    /// The identity of the store.
    #[must_use]
    pub const fn identity(&self) -> StoreIdentity {
        self.identity
    }

    /// Sets the place to which commits are written, from now on, before the store writes them.
    pub fn commit_first_in(&self, place: Arc<dyn FirstCommit>) {
        *self.first_commit.lock() = Some(place);
    }

    /// Sets the log that this store repeats: it fetches what it lacks from there, and writes commits there first.
    /// Without [`EngineOptions::repeats`], or a second time, nothing is changed.
    ///
    /// # Errors
    /// It cannot be noted how much of the log the store has.
    pub fn replicate(&self, log: Arc<dyn RemoteLog>) -> Result<(), JournalError> {
        if self.repeats && self.remote_log.set(Arc::clone(&log)).is_ok() {
            self.begin_replicating(&log.position())?;
            self.commit_first_in(log);
        }
        Ok(())
    }

    pub(super) fn remote_log(&self) -> Option<&dyn RemoteLog> {
        self.remote_log.get().map(Arc::as_ref)
    }

    fn first_commit(&self) -> Option<Arc<dyn FirstCommit>> {
        self.first_commit.lock().clone()
    }

    /// Removes archived commits from the queue. This is not synced: after a crash they may be in the queue again, and
    /// an archiver that opens its archive removes those that the archive has.
    ///
    /// # Errors
    /// The message of RocksDB; all of them are still in the queue.
    pub fn unqueue(&self, commits: &[CommitNumber]) -> Result<(), String> {
        let mut batch = WriteBatch::default();
        let meta = handle(&self.db, Family::Meta);
        commits.iter().for_each(|commit| batch.delete_cf(meta, UnarchivedKey(*commit).encode()));
        self.db.write(batch).map_err(rocksdb::Error::into_string)
    }

    /// Returns true when commits write a row that is kept until they are archived.
    fn queues(&self) -> bool {
        self.queues_for_archive && self.first_commit().is_none()
    }

    /// Closes the store cleanly: refuses further writes, flushes, leaves an empty log, and syncs the mark. On a full
    /// disk, or with a damaged table, the log keeps what cannot be flushed. The directory can be opened again once the
    /// last handle is dropped.
    ///
    /// # Errors
    /// Fails when a step failed. All acknowledged commits are durable nevertheless.
    pub fn close(&self) -> Result<(), CloseError> {
        let _no_writer = self.writer();
        let first = self.stopped.set("the store is closed".to_owned()).is_ok();
        let keeper = self.keeper.lock().take();
        drop(keeper);
        if !first {
            return Ok(());
        }
        // A store that has been made one of its own has no note any more, and what is under way there is not here.
        let repeats = self.note_of_log().is_ok_and(|note| !note.is_empty()) && !self.claims.is_writing();
        if let Some(log) = self.remote_log().filter(|_| repeats) {
            let note = self.db.put_cf_opt(
                handle(&self.db, Family::Meta),
                MetaKey::RemoteLog.encode(),
                log.position(),
                &self.write_options,
            );
            note.unwrap_or_else(|error| tracing::warn!(%error, "the next start compares the log with this store"));
        }
        if let Err(error) = self.flush() {
            tracing::warn!(%error, "rows in memory were not written to tables: the next start reads them from the log");
        }
        self.db.cancel_all_background_work(true);
        let synced = manifest::position(&self.db_dir)
            .and_then(|position| self.high_water.advance_manifest(position))
            .and_then(|()| self.high_water.sync());
        synced.map_err(|error| CloseError { attempt: "sync the high-water mark", reason: error.to_string() })
    }

    /// The data directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The length of the log that is currently written to; 0 when the system does not report it.
    pub fn log_bytes(&self) -> u64 {
        let newest = manifest::logs(&self.db_dir).pop();
        newest.and_then(|log| fs::metadata(log).ok()).map_or(0, |log| log.len())
    }

    /// Creates a directory on the same disk that holds the database as of one moment: links to its table files, and
    /// copies of its logs up to that moment. Nothing is flushed, and writes continue.
    ///
    /// # Errors
    /// The message of RocksDB; the directory does not exist then.
    pub fn link_files(&self, to: &Path) -> Result<(), String> {
        link_database(&self.db, to)
    }

    pub(super) const fn database(&self) -> &DB {
        &self.db
    }

    pub(super) const fn counters(&self) -> &Options {
        &self.options
    }

    pub(super) const fn write_times(&self) -> &Histogram {
        &self.write_times
    }

    /// Bytes of the disk that no write may use.
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

    pub(super) fn database_directory(&self) -> &Path {
        &self.db_dir
    }

    pub(super) fn high_water_file(&self) -> &Path {
        self.high_water.path()
    }

    /// Reads of the present state.
    fn live(&self) -> DamageReportingReader<'_, Live<'_>> {
        DamageReportingReader { reader: Live(&self.db), directory: &self.directory }
    }

    /// Notes the damage that a flush or compaction in the background has met. RocksDB then refuses every write, and
    /// says why: an empty one changes nothing. It is asked once for each error.
    pub fn note_background_damage(&self) {
        let errors = self.statistics().background_errors;
        if self.stopped.get().is_none() && self.background_errors_asked.swap(errors, Ordering::AcqRel) < errors {
            let refused = self.db.write_opt(WriteBatch::default(), &self.write_options);
            refused.unwrap_or_else(|error| note_damage(&self.directory, error.as_ref()));
        }
    }

    fn flush(&self) -> Result<(), rocksdb::Error> {
        let mut flush = FlushOptions::default();
        flush.set_wait(true);
        self.db.flush_cfs_opt(&Family::ALL.map(|family| handle(&self.db, family)), &flush)
    }

    fn writer(&self) -> MutexGuard<'_, DiskReserve> {
        self.writer.lock()
    }

    /// The verdict for every batch of a group, if the store writes no more.
    fn end_of_writes(&self) -> Option<AppendVerdict> {
        if let Some(reason) = self.stopped.get() {
            return Some(AppendVerdict::Unavailable(reason.clone()));
        }
        // The process must end: without the mark a later start could not detect missing commits, and only a start
        // can find the outcome of the rows.
        self.failure.get().map(|reason| self.stop(reason))
    }

    /// Writes those batches of a group that may use the reserve of the disk, while the others are refused.
    fn append_below_reserve(
        &self,
        mut disk: MutexGuard<'_, DiskReserve>,
        group: Vec<Append>,
        reason: &str,
    ) -> Vec<AppendVerdict> {
        let refused = || AppendVerdict::Unavailable(reason.to_owned());
        let are_admitted: Vec<bool> = group.iter().map(|append| append.may_use_reserve).collect();
        let admitted: Vec<Append> = group.into_iter().filter(|append| append.may_use_reserve).collect();
        let verdicts = match disk.admit_below_reserve(bytes_of(&admitted), Instant::now()) {
            Ok(()) => self.append_admitted(disk, &admitted),
            Err(reason) => vec![AppendVerdict::Unavailable(reason); admitted.len()],
        };
        let mut verdicts = verdicts.into_iter();
        let verdict = |is_admitted| if is_admitted { verdicts.next() } else { None };
        are_admitted.into_iter().map(verdict).map(|verdict| verdict.unwrap_or_else(refused)).collect()
    }

    /// Writes a group for which there is space. A log elsewhere is waited for while others may write here: merchants
    /// that are fetched do not stand behind the commits of others.
    fn append_admitted(&self, mut disk: MutexGuard<'_, DiskReserve>, group: &[Append]) -> Vec<AppendVerdict> {
        let mut plan = self.claims.plan(group, self.last_commit());
        let first = self.first_commit();
        let places = self.lagging.judge().into_iter().chain(first.as_deref().map(|place| place as _));
        let commit_first = || self.claims.commit_first(&mut plan, places, group, self.last_commit());
        if self.repeats {
            MutexGuard::unlocked(&mut disk, commit_first);
            plan.number_after(self.last_commit());
        } else {
            commit_first();
        }
        let Some(last) = plan.last_commit else { return plan.committed() };
        if let Some(reason) = self.stopped.get() {
            // It is in the log elsewhere, from where the next start fetches it.
            self.claims.settle(&plan.after, WriteOutcome::NotWritten);
            return plan.failed(&AppendVerdict::Unknown(reason.clone()));
        }
        match self.write(group, &plan, last) {
            Ok(()) => {
                self.last_commit.store(last.0, Ordering::Release);
                if let Some(place) = first {
                    place.confirm(last);
                }
                self.claims.settle(&plan.after, WriteOutcome::Written);
                plan.committed()
            }
            Err(reason) => {
                let verdict = self.stop(&reason);
                self.claims.settle(&plan.after, WriteOutcome::NotWritten);
                plan.failed(&verdict)
            }
        }
    }

    fn stop(&self, reason: &str) -> AppendVerdict {
        note_damage(&self.directory, reason);
        tracing::error!(reason, "the journal stops: the outcome of a write is unknown");
        // The first reason is kept.
        drop(self.stopped.set(format!("the outcome of a write is unknown: {reason}")));
        AppendVerdict::Ambiguous(reason.to_owned())
    }

    /// Records that a write of rows has an unknown outcome: nothing is written any more, and the next append says why.
    fn unwritten_rows(&self, reason: String) -> RowError {
        drop(self.failure.set(reason.clone())); // The first reason is kept.
        RowError::Unwritten { reason }
    }

    /// Writes a plan, and advances the mark.
    fn write(&self, group: &[Append], plan: &WritePlan, last: CommitNumber) -> Result<(), String> {
        let byte_count = group.iter().map(Append::byte_count).sum();
        let mut sink = BatchSink::new(&self.families, byte_count);
        layout::write_plan(group, plan, &mut sink);
        if self.queues() {
            let mut before = self.last_commit();
            for (commit, append) in plan.writes(group) {
                sink.put(Family::Meta, &UnarchivedKey(commit).encode(), &queue_value(append, before));
                before = commit;
            }
        }
        if let Some(log) = self.remote_log() {
            sink.put(Family::Meta, &MetaKey::RemoteLog.encode(), &log.position());
        }
        let started = Instant::now();
        self.db.write_opt(sink.finish(), &self.write_options).map_err(rocksdb::Error::into_string)?;
        self.write_times.record_micros(started.elapsed());
        if self.repeats {
            return Ok(());
        }
        let marked = self.high_water.advance(last);
        marked.map_err(|error| format!("the high-water mark could not be written: {error}"))
    }

    /// Writes outside of a group, and under a number of its own when `compose` returns one.
    pub(super) fn write_apart(
        &self,
        compose: impl FnOnce(&Engine, &mut BatchSink<'_>) -> Result<Option<CommitNumber>, JournalError>,
    ) -> Result<(), JournalError> {
        let mut disk = self.writer();
        if let Some(reason) = self.stopped.get().or_else(|| self.failure.get()) {
            return Err(JournalError::Stopped { reason: reason.clone() });
        }
        let mut sink = BatchSink::new(&self.families, 0);
        let commit = compose(self, &mut sink)?;
        let batch = sink.finish();
        let byte_count = u64::try_from(batch.size_in_bytes()).unwrap_or(u64::MAX);
        let admitted = disk.admit(byte_count, Instant::now());
        // A server needs little to go on with, which is fetched also to a full disk.
        let admitted = admitted.or_else(|reason| {
            disk.admit_below_reserve(byte_count, Instant::now()).map_err(|_| JournalError::Unreadable { reason })
        });
        admitted?;
        let written = self.db.write_opt(batch, &self.write_options).map_err(rocksdb::Error::into_string);
        written.map_err(|reason| {
            drop(self.failure.set(reason.clone())); // The first reason is kept.
            JournalError::Stopped { reason }
        })?;
        if let Some(commit) = commit {
            self.last_commit.store(commit.0, Ordering::Release);
        }
        Ok(())
    }

    /// Moves the mark to the last commit, durably.
    pub(super) fn mark_last_commit(&self) -> std::io::Result<()> {
        self.high_water.advance(self.last_commit())?;
        self.high_water.sync()
    }

    pub(super) const fn claims(&self) -> &Claims {
        &self.claims
    }

    pub(super) fn forget_caught_up(&self, merchant_id: MerchantId) {
        self.caught_up.write().remove(&merchant_id);
    }

    /// Claims a merchant's log once what the log elsewhere has of it is here.
    fn claim_fetched(&self, merchant_id: MerchantId) -> Result<Claim, JournalError> {
        self.fetch_missing(merchant_id)?;
        self.claims.claim(merchant_id, || layout::read_durable(&self.live(), merchant_id))
    }

    fn remember_caught_up(&self, merchant_id: MerchantId) {
        let mut caught_up = self.caught_up.write();
        if caught_up.len() < CAUGHT_UP_MAX {
            caught_up.insert(merchant_id);
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // The thread must end before the database is dropped.
        drop(self.keeper.lock().take());
    }
}

fn bytes_of(group: &[Append]) -> u64 {
    u64::try_from(group.iter().map(Append::byte_count).sum::<usize>()).unwrap_or(u64::MAX)
}

impl Journal for Engine {
    fn claim(&self, merchant_id: MerchantId) -> Result<Claim, JournalError> {
        let mut claim = self.claim_fetched(merchant_id)?;
        while self.remote_log().is_some_and(|log| log.may_be_ahead(merchant_id)) {
            // The claim has waited for a batch that was written there and not here.
            self.release(merchant_id, claim.epoch);
            claim = self.claim_fetched(merchant_id)?;
        }
        let applied = self.applied(merchant_id).inspect_err(|_| self.release(merchant_id, claim.epoch))?;
        self.lagging.note(merchant_id, applied, claim.head);
        match self.stopped.get() {
            Some(reason) => Err(JournalError::Stopped { reason: reason.clone() }),
            None => Ok(claim),
        }
    }

    fn release(&self, merchant_id: MerchantId, epoch: Epoch) {
        self.claims.release(merchant_id, epoch);
    }

    fn append(&self, group: Vec<Append>) -> Vec<AppendVerdict> {
        let mut disk = self.writer();
        if let Some(verdict) = self.end_of_writes() {
            return vec![verdict; group.len()];
        }
        match disk.admit(bytes_of(&group), Instant::now()) {
            Ok(()) => self.append_admitted(disk, &group),
            Err(reason) => {
                *self.refused_at.lock() = Some(Instant::now());
                self.append_below_reserve(disk, group, &reason)
            }
        }
    }

    fn refusal(&self) -> Option<String> {
        self.remote_log().and_then(|log| log.refusal())
    }

    fn is_short_of_space(&self) -> bool {
        self.refused_at.lock().is_some_and(|refused_at| refused_at.elapsed() < FIGURE_AGE_MAX)
    }

    fn head(&self, merchant_id: MerchantId) -> Result<Head, JournalError> {
        match self.claims.head(merchant_id) {
            Some(head) => Ok(head),
            None => Ok(layout::read_head(&self.live(), merchant_id)?),
        }
    }

    fn read(&self, merchant_id: MerchantId, from: Sequence, max: usize) -> Result<Vec<StoredRecord>, JournalError> {
        layout::read_records(&self.live(), merchant_id, from, max)
    }

    fn newest_snapshots(&self, merchant_id: MerchantId, max: usize) -> Result<Vec<StoredSnapshot>, JournalError> {
        layout::read_snapshots(&self.live(), merchant_id, max)
    }

    fn merchants(&self, after: Option<MerchantId>, max: usize) -> Result<Vec<(MerchantId, Head)>, JournalError> {
        layout::read_merchants(&self.live(), after, max)
    }

    fn last_commit(&self) -> CommitNumber {
        CommitNumber(self.last_commit.load(Ordering::Acquire))
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

impl RowStore for Engine {
    fn get_at_hand(&self, family: Family, key: &[u8]) -> ReadAtHand {
        read::get_at_hand(&self.db, family, key)
    }

    fn view(&self) -> Box<dyn RowReader + '_> {
        Box::new(DamageReportingReader { reader: SnapshotReader::now(&self.db), directory: &self.directory })
    }

    fn applied(&self, merchant_id: MerchantId) -> Result<Head, RowError> {
        layout::read_applied(&self.live(), merchant_id)
    }

    fn gate(&self, merchant_id: MerchantId) -> Result<RowGate, RowError> {
        let is_ahead = self.remote_log().is_some_and(|log| log.may_have_told_more(merchant_id));
        // Once caught up, always caught up: every append writes head and position together.
        if !is_ahead && self.caught_up.read().contains(&merchant_id) {
            return Ok(RowGate::Open);
        }
        let moment = DamageReportingReader { reader: SnapshotReader::now(&self.db), directory: &self.directory };
        let applied = layout::read_applied(&moment, merchant_id)?;
        let head = layout::read_head(&moment, merchant_id)?;
        if is_ahead || applied != head {
            return Ok(RowGate::Behind { applied, head });
        }
        self.remember_caught_up(merchant_id);
        Ok(RowGate::Open)
    }

    fn append_rows(&self, merchant_id: MerchantId, rows: &RowWrites, applied: Head) -> Result<(), RowError> {
        let mut disk = self.writer();
        if let Some(reason) = self.stopped.get().or_else(|| self.failure.get()) {
            return Err(RowError::Unwritten { reason: reason.clone() });
        }
        let byte_count = u64::try_from(rows.byte_count()).unwrap_or(u64::MAX);
        disk.admit(byte_count, Instant::now()).map_err(|reason| RowError::Unwritten { reason })?;
        let before = self.applied(merchant_id)?;
        let head = layout::read_head(&self.live(), merchant_id)?;
        if applied.sequence <= before.sequence || applied.sequence > head.sequence {
            let (applied, asked, head) = (before.sequence, applied.sequence, head.sequence);
            return Err(RowError::OutOfOrder { applied, asked, head });
        }
        let mut sink = BatchSink::new(&self.families, 0);
        layout::write_rows(rows.iter(), &mut sink);
        layout::write_applied(merchant_id, applied, &mut sink);
        let written = self.db.write_opt(sink.finish(), &self.write_options).map_err(rocksdb::Error::into_string);
        written.map_err(|reason| self.unwritten_rows(reason))?;
        self.lagging.note(merchant_id, applied, head);
        Ok(())
    }

    fn purge(&self, family: Family, keys: &[Vec<u8>]) -> Result<(), RowError> {
        if table_damage::of_store(&self.directory).is_some() {
            return Err(RowError::Unwritten { reason: "a table is damaged, so tables are not rewritten".to_owned() });
        }
        self.flush().map_err(|error| RowError::Unwritten { reason: error.into_string() })?;
        let mut options = CompactOptions::default();
        options.set_exclusive_manual_compaction(false);
        options.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
        let in_family = handle(&self.db, family);
        for key in keys {
            let end = [key.as_slice(), &[0]].concat();
            self.db.compact_range_cf_opt(in_family, Some(key), Some(end), &options);
        }
        if self.queues_for_archive {
            // The queue for the archive contained these rows.
            let meta = handle(&self.db, Family::Meta);
            self.db.compact_range_cf_opt(meta, None::<&[u8]>, None::<&[u8]>, &options);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_of_rows_with_unknown_outcome_stops_later_appends() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let engine = Engine::open(&EngineOptions::new(directory.path())).expect("it is empty");
        let unwritten = engine.unwritten_rows("an unknown outcome".to_owned());
        assert_eq!(unwritten, RowError::Unwritten { reason: "an unknown outcome".to_owned() });
        let shop = MerchantId::from_bytes([1; 16]);
        let rows = engine.append_rows(shop, &RowWrites::default(), Head::EMPTY);
        assert_eq!(rows, Err(unwritten), "the outcome of the first write is unknown");
        let claim = engine.claim(shop).expect("nobody else has it");
        let append = Append::nothing(shop, claim.epoch, claim.head);
        assert_eq!(engine.append(vec![append.clone()]), [AppendVerdict::Ambiguous("an unknown outcome".to_owned())]);
        assert!(matches!(engine.append(vec![append])[..], [AppendVerdict::Unavailable(_)]));
    }
}
