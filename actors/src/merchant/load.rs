//! Loads a merchant: claims its log, folds its state from the newest valid snapshot, and catches its rows up.

use std::sync::Arc;
use std::thread;
use till_domain::apply::apply_state;
use till_domain::ids::MerchantId;
use till_domain::records::MerchantState;
use till_storage::journal::{Claim, Head, LogReader, LogRecord};
use till_storage::shapes::{self, Personal, open_calls};

use super::rows_at_hand::RowsAtHand;
use super::staged::StagedRecords;
use crate::outbox::Pending;
use crate::store::Store;

/// Snapshots that are tried before the whole log is replayed.
const SNAPSHOTS_TRIED: usize = 2;

/// Records after which a load gives way to threads that wait for its processor, such as those of other merchants' calls. Eight
/// take far less than a millisecond; the kernel alone has the others wait for up to some 3 ms.
const RECORDS_PER_TURN: u64 = 8;

/// A merchant could not be loaded. Its changes are refused until a later attempt to load it succeeds.
#[derive(Debug, thiserror::Error)]
#[error("failed to load {merchant_id}: {reason}")]
pub(crate) struct LoadError {
    merchant_id: MerchantId,
    reason: String,
}

/// A loaded merchant.
pub(crate) struct Loaded<P> {
    pub(crate) claim: Claim,
    pub(crate) records: StagedRecords<P>,
    /// The outbox entries of the records whose rows lagged behind; they were never sent.
    pub(crate) pending: Pending,
}

/// Claims the log, so that no batch of an earlier session is written any more, and loads its state.
pub(crate) fn load<P: Personal>(
    merchant_id: MerchantId,
    store: &Arc<dyn Store>,
    rows: &Arc<RowsAtHand>,
    personal: P,
) -> Result<Loaded<P>, LoadError> {
    let failed = |reason: String| LoadError { merchant_id, reason };
    let claim = store.claim(merchant_id).map_err(|error| failed(error.to_string()))?;
    let folded = fold(merchant_id, store, rows, personal, claim);
    if folded.is_err() {
        store.release(merchant_id, claim.epoch);
    }
    folded.map_err(failed)
}

fn fold<P: Personal>(
    merchant_id: MerchantId,
    store: &Arc<dyn Store>,
    rows: &Arc<RowsAtHand>,
    personal: P,
    claim: Claim,
) -> Result<Loaded<P>, String> {
    let applied = store.applied(merchant_id).map_err(|error| error.to_string())?;
    let (head, state) = newest_snapshot(merchant_id, store.as_ref(), claim.head)?;
    let records = StagedRecords::new(merchant_id, Arc::clone(rows), personal, state);
    let mut replay =
        LoadReplay { merchant_id, store, head, applied, records, pending: Pending::default(), derived_some: false };
    replay.run(claim.head)?;
    Ok(Loaded { claim, records: replay.records, pending: replay.pending })
}

/// The newest snapshot that decodes and is not ahead of the log; else the empty state.
fn newest_snapshot(merchant_id: MerchantId, store: &dyn Store, log: Head) -> Result<(Head, MerchantState), String> {
    let snapshots = store.newest_snapshots(merchant_id, SNAPSHOTS_TRIED).map_err(|error| error.to_string())?;
    for snapshot in snapshots.into_iter().filter(|snapshot| snapshot.at.sequence <= log.sequence) {
        match shapes::decode_state(&snapshot.bytes) {
            Ok(state) => return Ok((snapshot.at, state)),
            Err(error) => {
                tracing::warn!(%merchant_id, at = snapshot.at.sequence.0, %error, "a snapshot was skipped")
            }
        }
    }
    Ok((Head::EMPTY, MerchantState::default()))
}

/// The two folds, each with its own position.
struct LoadReplay<'a, P> {
    merchant_id: MerchantId,
    store: &'a Arc<dyn Store>,
    /// Position up to which the state is folded.
    head: Head,
    /// Position up to which the rows are folded.
    applied: Head,
    records: StagedRecords<P>,
    pending: Pending,
    /// True when rows lagged behind.
    derived_some: bool,
}

impl<P: Personal> LoadReplay<'_, P> {
    fn run(&mut self, until: Head) -> Result<(), String> {
        self.catch_rows_up()?;
        let mut log = self.log_after(self.head);
        while self.head.sequence < until.sequence {
            let record = self.next_of(&mut log, self.head)?;
            apply_state(&record.mutation, &mut self.records.state);
            if record.header.sequence > self.applied.sequence {
                self.apply_rows(&record)?;
            }
            self.head = record.head();
        }
        if self.head != until {
            return Err(format!("the log ends at {:?}, not at {until:?}", self.head));
        }
        // Rows that were derived from another log, or from more records than this one has, cannot be used.
        if self.applied != until {
            return Err(format!("the rows are derived up to {:?}, the log ends at {until:?}", self.applied));
        }
        if self.derived_some {
            let open = open_calls(self.store, Some(self.merchant_id)).map(|open| open.map(|(_, call)| call));
            self.pending.replace_calls(open.collect::<Result<_, _>>().map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    /// Derives the rows up to the snapshot first, when they lag behind it.
    fn catch_rows_up(&mut self) -> Result<(), String> {
        let mut log = self.log_after(self.applied);
        while self.applied.sequence < self.head.sequence {
            let record = self.next_of(&mut log, self.applied)?;
            self.apply_rows(&record)?;
        }
        Ok(())
    }

    fn log_after(&self, head: Head) -> LogReader<'static> {
        let store = Arc::clone(self.store);
        LogReader::after(head, self.merchant_id, move |merchant_id, from, max| store.read(merchant_id, from, max))
    }

    /// The record after `head`, which must exist.
    fn next_of(&self, log: &mut LogReader<'_>, head: Head) -> Result<LogRecord, String> {
        if head.sequence.0.is_multiple_of(RECORDS_PER_TURN) {
            thread::yield_now();
        }
        let record = log.next(&self.records.personal).map_err(|error| error.to_string())?;
        record.ok_or_else(|| format!("record {} of the log is missing", head.sequence.next()))
    }

    /// Writes the rows of one record in one write, so that readers never see a part of them.
    fn apply_rows(&mut self, record: &LogRecord) -> Result<(), String> {
        let changes = self.records.changes(&record.mutation).map_err(|error| error.to_string())?;
        let writes = self.records.encode(&changes).map_err(|error| error.to_string())?;
        self.store.append_rows(self.merchant_id, &writes, record.head()).map_err(|error| error.to_string())?;
        self.records.forget_held(&changes);
        self.pending.add(self.merchant_id, &changes);
        self.pending.replace_calls(Vec::new());
        self.derived_some = true;
        self.applied = record.head();
        Ok(())
    }
}
