//! `POST /sdk/discover-next-action`

use super::session::{self, INSTALLATION_ERRORS, PaymentProgress, SESSION};
use crate::access::MerchantCaller;
use crate::endpoints::endpoint::Endpoint;
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::{Declaration, Flags, Package, Returns};
use crate::protocol::dispatch::{Call, Reply};
use crate::service::Shared;

pub(super) const ENDPOINTS: &[Endpoint<MerchantCaller>] = &[Endpoint(&DISCOVER_NEXT_ACTION, &discover_next_action)];

static DISCOVER_NEXT_ACTION: Declaration = Declaration {
    name: "discover-next-action",
    package: Package::Sdk,
    group: "sessions",
    summary: "Returns the client's next action for a session.",
    docs: "`WAIT` while the client can only ask again, `CHECK_STATUS` once the outcome is known.",
    arguments: SESSION.declared,
    returns: Returns::Words(&["WAIT", "CHECK_STATUS"]),
    errors: &INSTALLATION_ERRORS,
    flags: Flags::OPEN_QUERY,
};

/// `POST /sdk/discover-next-action`
pub(super) async fn discover_next_action(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let found = session::find(&service, &call).await?;
    Ok(Reply::new(match found.progress() {
        PaymentProgress::Selected | PaymentProgress::Initiated => "WAIT",
        PaymentProgress::Successful | PaymentProgress::Failed => "CHECK_STATUS",
    }))
}
