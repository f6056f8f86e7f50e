//! `POST /admin/create-checkpoint`

use till_operate::checkpoint::{CheckpointError, TakenCheckpoint};
use till_protocol::api_error::{CallEffect, RETRY_AFTER_SECONDS};
use till_protocol::fault::Fault;
use till_protocol::field;

use crate::endpoints::prelude::*;
use crate::service::error_chain;

pub(super) const ENDPOINTS: Endpoints<Operator> = &[Endpoint(&CREATE_CHECKPOINT, &create_checkpoint)];

/// The form of a checkpoint's name, as the documents of the API show it. The checkpointer checks the name.
const CHECKPOINT_NAME: Field<String> = Field {
    value_type: ValueType::Text(Text::of(1, 64, "before-the-upgrade").matching("^[a-z0-9][a-z0-9-]*$")),
    parse: field::name,
};

object! {
    /// A checkpoint that was taken.
    CHECKPOINT "checkpoint" as CheckpointShape<'a> of (taken: &'a TakenCheckpoint) {
        name: STRING = name_of(taken), "The name of the checkpoint and of its directory.", such_as("first-day");
        taken_at: TIMESTAMP = taken.manifest.taken_at_ms / 1_000, "The time at which the checkpoint was started.";
        last_commit: INTEGER = taken.manifest.last_commit.0,
            "The number of the last commit in the checkpoint.", such_as("85");
        merchants: INTEGER = taken.manifest.merchants, "The number of merchants in the checkpoint.", such_as("2");
        bytes: INTEGER = taken.manifest.byte_count(),
            "The total length of the files of the checkpoint, in bytes.", such_as("120000");
    }
}

const NAME_ARGUMENT: Optional<String> = CHECKPOINT_NAME
    .optional(
        "The name: 1 to 64 characters of `a` to `z`, `0` to `9` and `-`, not beginning with `-`. The default is \
        the time.",
    )
    .with_name("name");

static CREATE_CHECKPOINT: Declaration = Declaration {
    name: "create-checkpoint",
    summary: "Takes a checkpoint: a copy of the whole data at one point in time, without the secrets.",
    docs: "Other calls continue in the meantime. The answer comes when the copy is durable. That takes as long as \
           reading the data that no earlier checkpoint has.",
    arguments: &[NAME_ARGUMENT.argument],
    returns: Returns::Object(&CHECKPOINT),
    errors: &[DeclaredError::new(
        Code::Conflict,
        "A checkpoint with this name exists, another checkpoint is being taken or removed, or a table of the store is \
            damaged.",
    )],
    flags: Flags { takes_idempotency_key: false, ..Flags::COMMAND },
    ..Declaration::command(Package::Admin, "checkpoints")
};

fn name_of(taken: &TakenCheckpoint) -> String {
    taken.directory.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// `POST /admin/create-checkpoint`
async fn create_checkpoint(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let name = call.fields().parse(&NAME_ARGUMENT)?;
    let checkpoints = service.checkpoints().cloned().ok_or_else(|| {
        not_now("this server takes no checkpoints: its log is in a database, which is backed up instead")
    })?;
    let now = service.now();
    // The blocking thread enters this span, so that its log lines have the id of the request.
    let span = tracing::Span::current();
    let take = move || span.in_scope(|| checkpoints.take(name.as_deref(), now));
    let taken = tokio::task::spawn_blocking(take).await;
    let taken = taken.map_err(|_| ApiError::unhandled())?.map_err(|error| refused(&error))?;
    Ok(Reply::new(&CheckpointShape::new(&taken)))
}

/// The error that the operator receives.
fn refused(error: &CheckpointError) -> ApiError {
    match error {
        CheckpointError::Name { .. } => ApiError::invalid_arguments(&[Fault::invalid("name", error.to_string())]),
        CheckpointError::NameTaken { .. }
        | CheckpointError::Busy { .. }
        | CheckpointError::Gone { .. }
        | CheckpointError::NoSpace { .. }
        | CheckpointError::TableDamaged { .. } => ApiError::new(Code::Conflict, error.to_string()),
        CheckpointError::Files { .. }
        | CheckpointError::Copy { .. }
        | CheckpointError::Open(_)
        | CheckpointError::Read { .. }
        | CheckpointError::Behind { .. }
        | CheckpointError::Unfinished { .. }
        | CheckpointError::NoManifest { .. }
        | CheckpointError::FormatTooNew { .. }
        | CheckpointError::ManifestDamaged { .. }
        | CheckpointError::Damaged { .. }
        | CheckpointError::NotEmpty { .. }
        | CheckpointError::InUse { .. }
        | CheckpointError::Stopped { .. } => not_now(error_chain(error)),
    }
}

fn not_now(cause: impl Into<String>) -> ApiError {
    ApiError::unavailable(CallEffect::NotDone, RETRY_AFTER_SECONDS).with_cause(cause)
}
