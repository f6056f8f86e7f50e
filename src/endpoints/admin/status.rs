//! `POST /admin/status`

use std::collections::BTreeMap;
use std::sync::Arc;

use till_actors::PaymentCounts;
use till_protocol::dispatch::{Function, endpoint};
use till_shared::SharedJournalStats;

use crate::endpoints::prelude::*;
use crate::process::VERSION;
use crate::server_status::{EngineObservation, ServerState, ServerStatus};
use crate::service::NewestCheckpoint;

object! {
    /// The status of the server.
    SERVER_STATUS "server_status" as StatusShape<'a> of (status: &'a ServerStatus) {
        state: words_of(ServerState) = status.state, "What the server does with calls.";
        store_id: STRING = status.store_id,
            "The identity of the store. A copy of it has the same.", such_as("0f8fad5bd9cb469fa16570867728950e");
        version: STRING = VERSION,
            "The version of the program, with its profile and its revision.", such_as("0.1.0 (release, 0a1b2c3d4e5f)");
        started_at: TIMESTAMP = status.started_at, "The time at which the process was started.";
        disk_free_bytes: INTEGER or null = status.disk_free_bytes,
            "Bytes free on the disk of the data directory.", such_as("100000000000");
        disk_reserve_bytes: INTEGER = status.disk_reserve_bytes,
            "Free bytes below which writes are refused.", such_as("1073741824");
        last_checkpoint: Object(&LAST_CHECKPOINT) or null = status.last_checkpoint.as_ref().map(NewestShape::new),
            "The newest checkpoint.";
        journal: Object(&STATUS_JOURNAL) or null = status.journal.as_ref().map(StatusJournalShape::new),
            "The log in PostgreSQL; null when the log is in the data directory.", such_as("null");
        archive_lag_seconds: INTEGER or null = status.archive_lag_seconds,
            "For how long there have been commits that are not archived; null without an archive.";
        damaged_tables: Array(&ValueType::STRING) = status.damaged_tables,
            "Tables that are known to be damaged.", such_as("[]");
        merchants_not_loaded: Array(&ValueType::STRING) = status.merchants_not_loaded,
            "Merchants whose newest load has failed: their calls are refused until one succeeds.", such_as("[]");
        calls_per_second: INTEGER = status.last_minute.calls_per_second,
            "Calls a second of the last minute, rounded up.", such_as("3");
        payments: Object(&MINUTE_PAYMENTS) = MinutePaymentsShape::new(&status.last_minute.payments),
            "What became of payments in the last minute.";
        conditions: Array(&ValueType::STRING) = status.conditions,
            "The names of alerts whose condition holds now, as far as the present state tells it.",
            such_as(r#"["TillCheckpointOld"]"#);
    }
}

object! {
    /// The newest checkpoint.
    LAST_CHECKPOINT "last_checkpoint" as NewestShape<'a> of (newest: &'a NewestCheckpoint) {
        path: STRING = newest.directory.display().to_string(),
            "Its directory.", such_as("/var/lib/till/checkpoints/20260301t000000000z");
        taken_at: TIMESTAMP = newest.taken_at, "The time at which it was started.";
        known_damage: BOOLEAN = newest.known_damage,
            "True when one of its tables is known to be damaged. Only till checkpoint verify reads each of them anew.";
    }
}

object! {
    /// The log in PostgreSQL.
    STATUS_JOURNAL "status_journal" as StatusJournalShape<'a> of (journal: &'a SharedJournalStats) {
        server: STRING or null = journal.database.as_ref().map(|database| database.server.as_str()),
            "The version of PostgreSQL; null when it did not answer the last look, some ten seconds ago.",
                such_as("15.18");
        synchronous_standbys: INTEGER or null =
            journal.database.as_ref().and_then(|database| database.synchronous_standbys),
            "Synchronous standbys that are connected; null when the database does not tell.", such_as("1");
        shards_held: INTEGER = journal.shards_held as u64, "Parts of the log that this server has claimed.",
            such_as("64");
        shards_lost: INTEGER = journal.shards_lost as u64, "Parts that are stopped, since the database lost commits.",
            such_as("0");
        losses: INTEGER = journal.losses, "Losses after which the server goes on: of deliveries, of the sandbox's \
            book, or of the newest records of logs.", such_as("0");
    }
}

object! {
    /// The outcomes of payments within a minute.
    MINUTE_PAYMENTS "minute_payments" as MinutePaymentsShape<'a> of (payments: &'a PaymentCounts) {
        successful: INTEGER = payments.successful, "Payments that were captured at once.", such_as("20");
        authorized: INTEGER = payments.authorized, "Payments that were authorized for a later capture.", such_as("2");
        failed: INTEGER = payments.failed.iter().sum::<u64>(), "Payments that failed.", such_as("1");
        expired: INTEGER = payments.expired, "Payments that the acquirer did not answer in time.", such_as("0");
        failure_codes: OBJECT = by_code(payments),
            "The number of failed payments, by failure code.", such_as(r#"{"card_declined": 1}"#);
    }
}

pub(in crate::endpoints) static STATUS: Declaration = Declaration {
    name: "status",
    summary: "Returns the state of the server on one screen: disk, checkpoint, archive, rates, payments, conditions \
        of alerts.",
    returns: Returns::Object(&SERVER_STATUS),
    ..Declaration::query(Package::Admin, "server")
};

/// The function of the status, which observes the whole server.
#[must_use]
pub(crate) fn status_function(server: Arc<EngineObservation>) -> Arc<dyn Function<Operator>> {
    endpoint(&STATUS, server, status)
}

/// `POST /admin/status`
async fn status(server: Arc<EngineObservation>, call: Call<Operator>) -> Result<Reply, ApiError> {
    call.fields().finish(|| Some(()))?;
    let span = tracing::Span::current(); // The log lines carry the id of the request.
    let read = move || span.in_scope(|| server.status()); // It reads directories.
    let status = tokio::task::spawn_blocking(read).await.map_err(|_| ApiError::unhandled())?;
    Ok(Reply::new(&StatusShape::new(&status)))
}

fn by_code(payments: &PaymentCounts) -> BTreeMap<&'static str, u64> {
    payments.failed_by_code().filter(|(_, count)| *count > 0).collect()
}
