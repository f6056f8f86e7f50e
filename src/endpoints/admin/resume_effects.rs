//! `POST /admin/resume-effects`

use crate::access::Operator;
use crate::endpoints::endpoint::Endpoint;
use crate::protocol::api_error::{ApiError, CallEffect};
use crate::protocol::declaration::{Declaration, Flags, Package, Returns};
use crate::protocol::dispatch::{Call, Reply};
use crate::service::{RETRY_AFTER_SECONDS, Shared};

pub(super) const ENDPOINTS: &[Endpoint<Operator>] = &[Endpoint(&RESUME_EFFECTS, &resume_effects)];

static RESUME_EFFECTS: Declaration = Declaration {
    name: "resume-effects",
    package: Package::Admin,
    group: "checkpoints",
    summary: "Has a restored server call acquirers and fire timers from now on; `false` when it does so already.",
    docs: "",
    arguments: &[],
    returns: Returns::Boolean,
    errors: &[],
    flags: Flags { takes_idempotency_key: false, ..Flags::COMMAND },
};

/// `POST /admin/resume-effects`
pub(super) async fn resume_effects(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    call.fields().finish(|| Some(()))?;
    // The file first: after a crash between the two, the operator's decision must not be lost.
    if let Err(error) = service.pause_note.remove() {
        tracing::error!(%error, "the note that effects are paused could not be removed");
        return Err(ApiError::unavailable(CallEffect::NotDone, RETRY_AFTER_SECONDS).because(error.to_string()));
    }
    let was_paused = service.engine.resume();
    if was_paused {
        tracing::info!("effects and timers are resumed");
    }
    Ok(Reply::new(&was_paused))
}
