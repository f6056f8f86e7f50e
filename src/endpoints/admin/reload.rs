//! `POST /admin/reload`

use serde::Serialize;

use crate::endpoints::prelude::*;
use crate::protocol::api_error::CallEffect;
use crate::protocol::declaration::{Attribute, ObjectType};
use crate::service::{RETRY_AFTER_SECONDS, Reloaded};

pub(super) const ENDPOINTS: Endpoints<Operator> = &[Endpoint(&RELOAD_FILES, &reload)];

/// The files that can be read again.
const RELOADABLE: ValueType = ValueType::words(&["admin_token", "tls", "admin_tls"]);

static RELOAD: ObjectType = ObjectType {
    name: "reload",
    attributes: &[
        Attribute::always(
            "read",
            ValueType::Array(&RELOADABLE),
            "The files that were read again: `admin_token`, `tls`, `admin_tls`.",
        ),
        Attribute::always(
            "kept",
            ValueType::Array(&ValueType::STRING),
            "The files that could not be read, each with the reason; their previous content remains in use.",
        )
        .such_as("[]"),
    ],
};

static RELOAD_FILES: Declaration = Declaration {
    name: "reload",
    summary: "Reads the admin token and the certificates again, as the signal SIGHUP does.",
    docs: "Existing connections continue with the previous certificates.",
    returns: Returns::Object(&RELOAD),
    flags: Flags { takes_idempotency_key: false, ..Flags::COMMAND },
    ..Declaration::command(Package::Admin, "secrets")
};

#[derive(Serialize, Default)]
struct ReloadShape {
    read: Vec<&'static str>,
    kept: Vec<String>,
}

impl ReloadShape {
    fn with(mut self, reloaded: Reloaded) -> ReloadShape {
        let Reloaded { what, outcome } = reloaded;
        match outcome {
            Ok(_) => self.read.push(what),
            Err(reason) => self.kept.push(format!("{what}: {reason}")),
        }
        self
    }
}

/// `POST /admin/reload`
async fn reload(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    call.fields().finish(|| Some(()))?;
    let not_now = || ApiError::unavailable(CallEffect::NotDone, RETRY_AFTER_SECONDS);
    let reloads = service.operations.as_ref().map(|operations| operations.reloads.clone()).ok_or_else(not_now)?;
    let span = tracing::Span::current(); // The log lines carry the id of the request.
    let reload = move || span.in_scope(|| reloads.carry_out());
    let reloaded = tokio::task::spawn_blocking(reload).await.map_err(|_| ApiError::unhandled())?;
    Ok(Reply::new(&reloaded.into_iter().fold(ReloadShape::default(), ReloadShape::with)))
}
