//! `POST /sdk/check-status`

use super::session::{self, INSTALLATION_ERRORS, SESSION};
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> = &[Endpoint(&CHECK_STATUS, &check_status)];

static CHECK_STATUS: Declaration = Declaration {
    name: "check-status",
    summary: "Returns the status of a session's payment.",
    docs: "`PENDING` before the merchant initiates it, `INITIATED` while the acquirer processes it, `SUCCESSFUL` once \
        authorized or captured, also after a refund or in a dispute, `FAILED` when it was declined, voided or \
        reversed, or the session expired unused.",
    arguments: SESSION.declared,
    returns: Returns::Words(&["PENDING", "INITIATED", "SUCCESSFUL", "FAILED"]),
    errors: &INSTALLATION_ERRORS,
    flags: Flags::OPEN_QUERY,
    ..Declaration::query(Package::Sdk, "sessions")
};

/// `POST /sdk/check-status`
async fn check_status(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let found = session::find(&service, &call).await?;
    Ok(Reply::new(found.progress().name()))
}
