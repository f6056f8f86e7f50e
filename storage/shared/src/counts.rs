//! Counts of what the log did.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use till_storage::commit::Histogram;

/// Counts of what the log did.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    round_trips: Histogram,
    fenced: AtomicU64,
    uncertain: AtomicU64,
    shards_held: AtomicUsize,
    shards_lost: AtomicUsize,
    database: Mutex<DatabaseState>,
}

/// The state of the database, as of the last look at it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DatabaseState {
    /// False when it did not answer.
    pub is_reachable: bool,
    /// Synchronous standbys that are connected. None when the role may not see it.
    pub synchronous_standbys: Option<i64>,
    /// Seconds for which the oldest snapshot is held.
    pub oldest_snapshot_seconds: f64,
}

impl Counts {
    pub(crate) fn note_database(&self, state: DatabaseState) {
        *self.database.lock() = state;
    }

    pub(crate) fn note_shards(&self, held: usize, lost: usize) {
        self.shards_held.store(held, Ordering::Relaxed);
        self.shards_lost.store(lost, Ordering::Relaxed);
    }

    pub(crate) fn note_round_trip(&self, time: Duration) {
        self.round_trips.record_micros(time);
    }

    pub(crate) fn note_fenced(&self, batches: usize) {
        self.fenced.fetch_add(u64::try_from(batches).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(crate) fn note_uncertain(&self) {
        self.uncertain.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) const fn round_trips(&self) -> &Histogram {
        &self.round_trips
    }

    pub(crate) fn figures(&self) -> SharedJournalStats {
        SharedJournalStats {
            fenced: self.fenced.load(Ordering::Relaxed),
            uncertain: self.uncertain.load(Ordering::Relaxed),
            shards_held: self.shards_held.load(Ordering::Relaxed),
            shards_lost: self.shards_lost.load(Ordering::Relaxed),
            database: *self.database.lock(),
        }
    }
}

/// Figures of a log for metrics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SharedJournalStats {
    /// Batches that another process's claim has fenced.
    pub fenced: u64,
    /// Statements whose outcome was unknown at first.
    pub uncertain: u64,
    /// Shards that this process holds.
    pub shards_held: usize,
    /// Shards of which the database has lost commits.
    pub shards_lost: usize,
    /// The state of the database.
    pub database: DatabaseState,
}
