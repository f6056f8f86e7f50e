//! `POST /admin/reload`

use till_protocol::api_error::{CallEffect, RETRY_AFTER_SECONDS};

use crate::endpoints::prelude::*;
use crate::service::Reloaded;

pub(super) const ENDPOINTS: Endpoints<Operator> = &[Endpoint(&RELOAD_FILES, &reload)];

/// The files that can be read again.
const RELOADABLE: ValueType = ValueType::words(&["admin_token", "tls", "admin_tls"]);

object! {
    /// The outcome of a reload.
    RELOAD "reload" as ReloadShape<'a> of (reloaded: &'a [Reloaded]) {
        read: Array(&RELOADABLE) = read(reloaded), "The files that were read again: `admin_token`, `tls`, `admin_tls`.";
        kept: Array(&ValueType::STRING) = texts_of_kept(reloaded),
            "The files that could not be read, each with the reason; their previous content remains in use.",
            such_as("[]");
    }
}

static RELOAD_FILES: Declaration = Declaration {
    name: "reload",
    summary: "Reads the admin token and the certificates again, as the signal SIGHUP does.",
    docs: "Existing connections continue with the previous certificates.",
    returns: Returns::Object(&RELOAD),
    flags: Flags { takes_idempotency_key: false, ..Flags::COMMAND },
    ..Declaration::command(Package::Admin, "secrets")
};

/// `POST /admin/reload`
async fn reload(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    call.fields().finish(|| Some(()))?;
    let not_now = || ApiError::unavailable(CallEffect::NotDone, RETRY_AFTER_SECONDS);
    let reloads = service.operations().map(|operations| operations.reloads.clone()).ok_or_else(not_now)?;
    let span = tracing::Span::current(); // The log lines carry the id of the request.
    let reload = move || span.in_scope(|| reloads.carry_out());
    let reloaded = tokio::task::spawn_blocking(reload).await.map_err(|_| ApiError::unhandled())?;
    Ok(Reply::new(&ReloadShape::new(&reloaded)))
}

fn read(reloaded: &[Reloaded]) -> Vec<&'static str> {
    reloaded.iter().filter(|file| file.outcome.is_ok()).map(|file| file.what).collect()
}

fn texts_of_kept(reloaded: &[Reloaded]) -> Vec<String> {
    let kept = reloaded.iter().filter_map(|file| Some((file.what, file.outcome.as_ref().err()?)));
    kept.map(|(what, reason)| format!("{what}: {reason}")).collect()
}
