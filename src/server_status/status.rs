//! The status of the server.

use till_shared::SharedJournalStats;

use super::last_minute::MinuteCounts;
use crate::service::NewestCheckpoint;

till_domain::word_enum! {
    /// The way in which the server treats calls.
    pub enum ServerState: name {
        /// It carries out everything.
        Ready => "READY",
        /// It takes calls, but calls no acquirer and fires no timer before it is resumed.
        Paused => "PAUSED",
        /// It does not take calls yet.
        Starting => "STARTING",
        /// It refuses to write or waits for it: for want of space, since the newest write failed or does not end, since
        /// the database of the log does not answer or has no synchronous standby, or since the server stops.
        RefusingWrites => "REFUSING_WRITES",
    }
}

/// The state of the server, and what an operator has to know beside it.
#[derive(Debug)]
pub(crate) struct ServerStatus {
    pub state: ServerState,
    /// The identity of the store, which a copy has, too.
    pub store_id: String,
    /// The start of the process, in Unix seconds.
    pub started_at: u64,
    /// None when the system does not say it.
    pub disk_free_bytes: Option<u64>,
    pub disk_reserve_bytes: u64,
    pub last_checkpoint: Option<NewestCheckpoint>,
    /// The log in a database; none when it is in the data directory.
    pub journal: Option<SharedJournalStats>,
    /// For how long there have been commits that are not archived; none without an archive.
    pub archive_lag_seconds: Option<u64>,
    /// The damaged tables that are known of, by their paths below the data directory.
    pub damaged_tables: Vec<String>,
    /// The merchants whose newest load has failed.
    pub merchants_not_loaded: Vec<String>,
    pub last_minute: MinuteCounts,
    /// The names of alerts whose condition holds.
    pub conditions: Vec<&'static str>,
}
