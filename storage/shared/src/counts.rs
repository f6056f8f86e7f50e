//! Counts of what the log did.

use parking_lot::Mutex;
use till_storage::commit::Histogram;

use crate::status::JournalStatus;

/// Counts of what the log did.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) round_trips: Histogram,
    pub(crate) stats: Mutex<SharedJournalStats>,
}

/// Figures of a log for metrics.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SharedJournalStats {
    /// Batches that another process's claim has fenced.
    pub fenced: u64,
    /// Statements whose outcome was unknown at first.
    pub uncertain: u64,
    /// Shards that this process holds.
    pub shards_held: usize,
    /// Shards of which the database has lost commits.
    pub shards_lost: usize,
    /// Losses after which the server goes on: of deliveries, of the sandbox's book, and of the newest records of logs.
    pub losses: u64,
    /// The state of the database, as of the last look at it; none when it did not answer.
    pub database: Option<JournalStatus>,
}

impl SharedJournalStats {
    /// False when the database did not answer the last look at it, or waits for a standby of which none is connected:
    /// changes are refused or wait then.
    #[must_use]
    pub fn can_write(&self) -> bool {
        let waits_in_vain =
            |database: &JournalStatus| database.waits_for_standby && database.synchronous_standbys == Some(0);
        self.database.as_ref().is_some_and(|database| !waits_in_vain(database))
    }
}
