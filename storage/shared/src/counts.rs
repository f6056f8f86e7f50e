//! Counts of what the log did.

use parking_lot::Mutex;
use till_storage::commit::Histogram;

/// Counts of what the log did.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) round_trips: Histogram,
    pub(crate) stats: Mutex<SharedJournalStats>,
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

/// Figures of a log for metrics.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
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
