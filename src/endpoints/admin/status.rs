//! `POST /admin/status`

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::endpoints::prelude::*;
use crate::observation::EngineObservation;
use crate::protocol::declaration::{Attribute, ObjectType};
use crate::protocol::dispatch::{Function, endpoint};
use crate::server_status::{MinuteCounts, ServerState, ServerStatus};
use crate::service::NewestCheckpoint;

static SERVER_STATUS: ObjectType = ObjectType {
    name: "server_status",
    attributes: &[
        Attribute::always("state", words_of!(ServerState), "What the server does with calls."),
        Attribute::always("store_id", ValueType::STRING, "The identity of the store. A copy of it has the same.")
            .such_as("0f8fad5bd9cb469fa16570867728950e"),
        Attribute::always("version", ValueType::STRING, "The version of the program.").such_as("0.1.0"),
        Attribute::always("started_at", ValueType::TIMESTAMP, "The time at which the process was started."),
        Attribute::nullable("disk_free_bytes", ValueType::INTEGER, "Bytes free on the disk of the data directory.")
            .such_as("100000000000"),
        Attribute::always("disk_reserve_bytes", ValueType::INTEGER, "Free bytes below which writes are refused.")
            .such_as("1073741824"),
        Attribute::nullable("last_checkpoint", ValueType::Object(&LAST_CHECKPOINT), "The newest checkpoint."),
        Attribute::nullable(
            "archive_lag_seconds",
            ValueType::INTEGER,
            "For how long there have been commits that are not archived; null without an archive.",
        ),
        Attribute::always(
            "damaged_tables",
            ValueType::Array(&ValueType::STRING),
            "Tables that are known to be damaged.",
        )
        .such_as("[]"),
        Attribute::always("calls_per_second", ValueType::INTEGER, "Calls a second of the last minute, rounded up.")
            .such_as("3"),
        Attribute::always(
            "payments",
            ValueType::Object(&MINUTE_PAYMENTS),
            "What became of payments in the last minute.",
        ),
        Attribute::always(
            "conditions",
            ValueType::Array(&ValueType::STRING),
            "The names of alerts whose condition holds now, as far as the present state tells it.",
        )
        .such_as(r#"["TillCheckpointOld"]"#),
    ],
};

static LAST_CHECKPOINT: ObjectType = ObjectType {
    name: "last_checkpoint",
    attributes: &[
        Attribute::always("path", ValueType::STRING, "Its directory.")
            .such_as("/var/lib/till/checkpoints/20260301t000000000z"),
        Attribute::always("taken_at", ValueType::TIMESTAMP, "The time at which it was started."),
        Attribute::always(
            "verified",
            ValueType::BOOLEAN,
            "True when every table in it was read whole and is good, as far as is known now.",
        ),
    ],
};

static MINUTE_PAYMENTS: ObjectType = ObjectType {
    name: "minute_payments",
    attributes: &[
        Attribute::always("successful", ValueType::INTEGER, "Payments that were captured at once.").such_as("20"),
        Attribute::always("authorized", ValueType::INTEGER, "Payments that were authorized for a later capture.")
            .such_as("2"),
        Attribute::always("failed", ValueType::INTEGER, "Payments that failed.").such_as("1"),
        Attribute::always("expired", ValueType::INTEGER, "Payments that the acquirer did not answer in time.")
            .such_as("0"),
        Attribute::always("failure_codes", ValueType::OBJECT, "The number of failed payments, by failure code.")
            .such_as(r#"{"card_declined": 1}"#),
    ],
};

static STATUS: Declaration = Declaration {
    name: "status",
    summary: "Returns the state of the server on one screen: disk, checkpoint, archive, rates, payments, conditions of alerts.",
    returns: Returns::Object(&SERVER_STATUS),
    ..Declaration::query(Package::Admin, "server")
};

#[derive(Serialize)]
struct StatusShape {
    state: &'static str,
    store_id: String,
    version: &'static str,
    started_at: u64,
    disk_free_bytes: Option<u64>,
    disk_reserve_bytes: u64,
    last_checkpoint: Option<LastCheckpointShape>,
    archive_lag_seconds: Option<u64>,
    damaged_tables: Vec<String>,
    calls_per_second: u64,
    payments: MinutePaymentsShape,
    conditions: Vec<&'static str>,
}

#[derive(Serialize)]
struct LastCheckpointShape {
    path: String,
    taken_at: u64,
    verified: bool,
}

#[derive(Serialize)]
struct MinutePaymentsShape {
    successful: u64,
    authorized: u64,
    failed: u64,
    expired: u64,
    failure_codes: BTreeMap<&'static str, u64>,
}

/// The function of the status, which observes the whole server.
#[must_use]
pub fn status_function(server: Arc<EngineObservation>) -> Arc<dyn Function<Operator>> {
    endpoint(&STATUS, server, status)
}

/// `POST /admin/status`
async fn status(server: Arc<EngineObservation>, call: Call<Operator>) -> Result<Reply, ApiError> {
    call.fields().finish(|| Some(()))?;
    let span = tracing::Span::current(); // The log lines carry the id of the request.
    let read = move || span.in_scope(|| server.status()); // It reads directories.
    let status = tokio::task::spawn_blocking(read).await.map_err(|_| ApiError::unhandled())?;
    Ok(Reply::new(&StatusShape::new(status)))
}

impl StatusShape {
    fn new(status: ServerStatus) -> StatusShape {
        StatusShape {
            state: status.state.name(),
            store_id: status.store_id,
            version: env!("CARGO_PKG_VERSION"),
            started_at: status.started_at,
            disk_free_bytes: status.disk_free_bytes,
            disk_reserve_bytes: status.disk_reserve_bytes,
            last_checkpoint: status.last_checkpoint.map(LastCheckpointShape::new),
            archive_lag_seconds: status.archive_lag_seconds,
            damaged_tables: status.damaged_tables,
            calls_per_second: status.last_minute.calls_per_second,
            payments: MinutePaymentsShape::new(&status.last_minute),
            conditions: status.conditions,
        }
    }
}

impl LastCheckpointShape {
    fn new(NewestCheckpoint { directory, taken_at, verified }: NewestCheckpoint) -> LastCheckpointShape {
        LastCheckpointShape { path: directory.display().to_string(), taken_at, verified }
    }
}

impl MinutePaymentsShape {
    fn new(MinuteCounts { payments, calls_per_second: _ }: &MinuteCounts) -> MinutePaymentsShape {
        MinutePaymentsShape {
            successful: payments.successful,
            authorized: payments.authorized,
            failed: payments.failed.iter().sum(),
            expired: payments.expired,
            failure_codes: payments.failed_by_code().filter(|(_, count)| *count > 0).collect(),
        }
    }
}
