//! `POST /admin/resume-effects`

use std::sync::Arc;

use till_operate::checkpoint::PAUSED_FILE;
use till_protocol::api_error::{CallEffect, RETRY_AFTER_SECONDS};

use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: Endpoints<Operator> = &[Endpoint(&RESUME_EFFECTS, &resume_effects)];

static RESUME_EFFECTS: Declaration = Declaration {
    name: "resume-effects",
    summary: "Has a restored server call acquirers and fire timers from now on; `false` when it does so already.",
    flags: Flags { takes_idempotency_key: false, ..Flags::COMMAND },
    ..Declaration::command(Package::Admin, "checkpoints")
};

/// `POST /admin/resume-effects`
async fn resume_effects(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    call.fields().finish(|| Some(()))?;
    // The note first: after a crash between the two, the operator's decision must not be lost.
    let notes = Arc::clone(service.notes());
    let removed = tokio::task::spawn_blocking(move || notes.keep(PAUSED_FILE, None)).await;
    if let Err(error) = removed.unwrap_or_else(|error| Err(error.into())) {
        tracing::error!(%error, "the note that effects are paused could not be removed");
        return Err(ApiError::unavailable(CallEffect::NotDone, RETRY_AFTER_SECONDS).with_cause(error.to_string()));
    }
    let was_paused = service.engine().resume();
    if was_paused {
        tracing::info!("effects and timers are resumed");
    }
    Ok(Reply::new(&was_paused))
}
