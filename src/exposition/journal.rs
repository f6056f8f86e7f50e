//! Metrics of a log in a database.

use std::time::Duration;

use till_shared::{SharedJournal, SharedJournalStats};

use super::families::{Families, Unit};

/// Adds the metrics of the log.
pub(crate) fn expose_journal(journal: &SharedJournal, families: &mut Families) {
    let help = "Time of one statement that appends to the log in the database, with its commit.";
    families.histogram("till_journal_round_trip_seconds", help, journal.round_trips(), Unit::Micros);
    let SharedJournalStats { fenced, uncertain, shards_held, shards_lost, losses, database } = journal.stats();
    let help = "Batches that were refused since another server has claimed their shard.";
    families.counter("till_journal_fenced_batches_total", help, fenced);
    let help = "Statements whose outcome was unknown at first.";
    families.counter("till_journal_uncertain_writes_total", help, uncertain);
    let help = "Shards of the log that this server has claimed.";
    families.gauge("till_journal_shards_held", help, shards_held as u64);
    let help = "Shards of which the database does not have exactly the commits that it acknowledged: they are stopped.";
    families.gauge("till_journal_shards_lost", help, shards_lost as u64);
    let help =
        "Losses after which the server goes on: of deliveries, the sandbox's book, or the newest records of logs.";
    families.counter("till_journal_losses_total", help, losses);
    let help = "1 when the database of the log answered the last look at it, else 0.";
    families.gauge("till_journal_reachable", help, u64::from(database.is_some()));
    let help = "Merchants of whose logs the data directory may lack a part.";
    families.gauge("till_journal_merchants_to_fetch", help, journal.lagging_merchants().len() as u64);
    let Some(database) = database else { return };
    if let Some(standbys) = database.synchronous_standbys.and_then(|count| u64::try_from(count).ok()) {
        let help = "Synchronous standbys of the database that are connected. Not there when the role may not see it.";
        families.gauge("till_journal_synchronous_standbys", help, standbys);
    }
    let help = "How long the oldest snapshot of the database is held: it keeps old versions of the rows of the fence.";
    let oldest = Duration::try_from_secs_f64(database.oldest_snapshot_seconds).unwrap_or_default();
    families.gauge_seconds("till_journal_oldest_snapshot_seconds", help, oldest);
}
