//! Loads a merchant: claims its log, folds its state from the newest valid snapshot, and catches its rows up.

use std::sync::Arc;
use std::thread;
use till_domain::apply::apply_state;
use till_domain::ids::MerchantId;
use till_domain::records::MerchantState;
use till_storage::journal::{Claim, Head, LogReader, LogRecord, SnapshotSchedule};
use till_storage::rows::RowWrites;
use till_storage::shapes::{self, Personal, open_calls};

use super::rows_at_hand::RowsAtHand;
use super::staged::StagedRecords;
use crate::outbox::Pending;
use crate::store::Store;

/// Snapshots that are tried before the whole log is replayed.
const SNAPSHOTS_TRIED: usize = 2;

/// Records after which a load gives way to threads that wait for its processor, such as those of other merchants'
/// calls. Eight take far less than a millisecond; without it the other threads would wait for up to some
/// 3 ms, until the kernel interrupts the load.
const RECORDS_PER_TURN: u64 = 8;

/// The bytes of a record after which it does so, too.
const BYTES_PER_TURN: usize = 64 << 10;

/// Bytes of derived rows that are written together: those of some hundred records, in some milliseconds.
const BYTES_PER_WRITE: usize = 512 << 10;

/// A merchant could not be loaded. Its changes are refused until a later attempt to load it succeeds.
#[derive(Debug, thiserror::Error)]
#[error("failed to load {merchant_id}: {reason}")]
pub(crate) struct LoadError {
    merchant_id: MerchantId,
    reason: String,
}

/// A load under way: two folds, each with its own position. It may go on on another thread.
pub(crate) struct Load<P> {
    pub(super) merchant_id: MerchantId,
    pub(super) store: Arc<dyn Store>,
    pub(super) rows: Arc<RowsAtHand>,
    pub(super) claim: Claim,
    pub(super) records: StagedRecords<P>,
    /// The outbox entries of the records whose rows lagged behind; they were never sent.
    pub(super) pending: Pending,
    pub(super) schedule: SnapshotSchedule,
    /// Position up to which the state is folded.
    head: Head,
    /// Position up to which the rows are folded.
    applied: Head,
    /// True when rows lagged behind.
    derived_some: bool,
    /// The rows of records that are derived and not written yet; none when there is no such record.
    unwritten: Option<RowWrites>,
    bytes_read: usize,
}

/// The progress of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replayed {
    /// The load has ended.
    All,
    /// There is more to read than the load might.
    Part,
}

impl<P: Personal> Load<P> {
    /// Claims the log, so that no batch of an earlier session is written any more, and reads the newest snapshot.
    pub(crate) fn begin(
        merchant_id: MerchantId,
        store: &Arc<dyn Store>,
        rows: &Arc<RowsAtHand>,
        personal: P,
    ) -> Result<Load<P>, LoadError> {
        let failed = |reason: String| LoadError { merchant_id, reason };
        let claim = store.claim(merchant_id).map_err(|error| failed(error.to_string()))?;
        let snapshot = || {
            let applied = store.applied(merchant_id).map_err(|error| error.to_string())?;
            newest_snapshot(merchant_id, store.as_ref(), claim.head).map(|snapshot| (applied, snapshot))
        };
        let (applied, Snapshot { at, state, bytes }) = snapshot().map_err(|reason| {
            store.release(merchant_id, claim.epoch);
            failed(reason)
        })?;
        let records = StagedRecords::new(merchant_id, Arc::clone(rows), personal, state);
        let (store, rows, schedule) = (Arc::clone(store), Arc::clone(rows), SnapshotSchedule::for_state(bytes));
        let (head, bytes_read, pending, derived_some) = (at, bytes, Pending::default(), false);
        Ok(Load {
            merchant_id,
            store,
            rows,
            claim,
            records,
            pending,
            schedule,
            head,
            applied,
            derived_some,
            unwritten: None,
            bytes_read,
        })
    }

    /// Replays until the end of the log, or until the load has read more than `bytes_max` bytes in all. After an error
    /// it has released the log.
    pub(crate) fn replay(&mut self, bytes_max: usize) -> Result<Replayed, LoadError> {
        self.replay_claimed(bytes_max).map_err(|reason| {
            self.store.release(self.merchant_id, self.claim.epoch);
            LoadError { merchant_id: self.merchant_id, reason }
        })
    }

    fn replay_claimed(&mut self, bytes_max: usize) -> Result<Replayed, String> {
        // Rows that lag behind the snapshot are derived up to it first.
        let mut log = self.log_after(self.applied);
        while self.applied.sequence < self.head.sequence {
            if self.bytes_read > bytes_max {
                return Ok(Replayed::Part);
            }
            let record = self.next_of(&mut log, self.applied)?;
            self.apply_rows(&record)?;
        }
        let (mut log, until) = (self.log_after(self.head), self.claim.head);
        while self.head.sequence < until.sequence {
            if self.bytes_read > bytes_max {
                return Ok(Replayed::Part);
            }
            let record = self.next_of(&mut log, self.head)?;
            self.schedule.count(record.byte_count);
            apply_state(&record.mutation, &mut self.records.state);
            if record.header.sequence > self.applied.sequence {
                self.apply_rows(&record)?;
            }
            self.head = record.head();
        }
        self.check_end(until)?;
        if self.derived_some {
            self.write_rows()?;
            let open = open_calls(&self.store, Some(self.merchant_id)).map(|open| open.map(|(_, call)| call));
            self.pending.replace_calls(open.collect::<Result<_, _>>().map_err(|error| error.to_string())?);
        }
        Ok(Replayed::All)
    }

    fn check_end(&self, until: Head) -> Result<(), String> {
        if self.head != until {
            return Err(format!("the log ends at {:?}, not at {until:?}", self.head));
        }
        // Rows that were derived from another log, or from more records than this one has, cannot be used.
        if self.applied != until {
            return Err(format!("the rows are derived up to {:?}, the log ends at {until:?}", self.applied));
        }
        Ok(())
    }

    fn log_after(&self, head: Head) -> LogReader<'static> {
        let store = Arc::clone(&self.store);
        LogReader::starting_after(head, self.merchant_id, move |merchant_id, from, max| {
            store.read(merchant_id, from, max)
        })
    }

    /// The record after `head`, which must exist.
    fn next_of(&mut self, log: &mut LogReader<'_>, head: Head) -> Result<LogRecord, String> {
        if head.sequence.0.is_multiple_of(RECORDS_PER_TURN) {
            thread::yield_now();
        }
        let record = log.next(&self.records.personal).map_err(|error| error.to_string())?;
        let record = record.ok_or_else(|| format!("record {} of the log is missing", head.sequence.next()))?;
        self.bytes_read = self.bytes_read.saturating_add(record.byte_count);
        if record.byte_count > BYTES_PER_TURN {
            thread::yield_now();
        }
        Ok(record)
    }

    /// Derives the rows of one record, and writes them with those of the records before when there are enough.
    fn apply_rows(&mut self, record: &LogRecord) -> Result<(), String> {
        let changes = self.records.changes(&record.mutation).map_err(|error| error.to_string())?;
        let unwritten = self.unwritten.get_or_insert_default();
        self.records.encode_into(&changes, unwritten).map_err(|error| error.to_string())?;
        let is_enough = unwritten.byte_count() >= BYTES_PER_WRITE;
        self.pending.add(self.merchant_id, &changes);
        self.pending.replace_calls(Vec::new());
        self.records.hold(changes, record.header.sequence);
        self.derived_some = true;
        self.applied = record.head();
        if is_enough { self.write_rows() } else { Ok(()) }
    }

    /// Writes the rows of whole records in one write, so that readers never see a part of one.
    fn write_rows(&mut self) -> Result<(), String> {
        let Some(writes) = self.unwritten.take() else { return Ok(()) };
        let written = self.store.append_rows(self.merchant_id, &writes, self.applied);
        written.map_err(|error| error.to_string())?;
        self.records.prune(self.applied.sequence);
        Ok(())
    }
}

/// A state to begin with.
struct Snapshot {
    at: Head,
    state: MerchantState,
    /// Its size on disk.
    bytes: usize,
}

/// The newest snapshot that decodes and is not ahead of the log; else the empty state.
fn newest_snapshot(merchant_id: MerchantId, store: &dyn Store, log: Head) -> Result<Snapshot, String> {
    let snapshots = store.newest_snapshots(merchant_id, SNAPSHOTS_TRIED).map_err(|error| error.to_string())?;
    for snapshot in snapshots.into_iter().filter(|snapshot| snapshot.at.sequence <= log.sequence) {
        match shapes::decode_state(&snapshot.bytes) {
            Ok(state) => return Ok(Snapshot { at: snapshot.at, state, bytes: snapshot.bytes.len() }),
            Err(error) => {
                tracing::warn!(%merchant_id, at = snapshot.at.sequence.0, %error, "a snapshot was skipped")
            }
        }
    }
    Ok(Snapshot { at: Head::EMPTY, state: MerchantState::default(), bytes: 0 })
}
