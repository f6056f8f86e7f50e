//! The common refusals of calls about webhooks.

use crate::endpoints::prelude::*;

/// The refusal of an unknown webhook.
pub(in crate::endpoints::merchants) const WEBHOOK_NOT_FOUND: DeclaredError =
    DeclaredError::new(Code::NotFound, "No webhook of this merchant has this id.");

/// The refusal of a rotation that would leave a fourth replaced secret.
pub(super) const TOO_MANY_SECRETS: DeclaredError = DeclaredError::new(
    Code::Conflict,
    "Three replaced secrets still sign: details name the `limit`. `end_previous` ends them.",
)
.with(r#"{"limit": 3}"#);

pub(super) const TOO_MANY: DeclaredError =
    DeclaredError::new(Code::Conflict, "50 webhooks are connected: details name the `limit`.").with(r#"{"limit": 50}"#);
