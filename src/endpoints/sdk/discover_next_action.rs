//! `POST /sdk/discover-next-action`

use super::session::{self, INSTALLATION_ERRORS, SESSION};
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> = &[Endpoint(&DISCOVER_NEXT_ACTION, &discover_next_action)];

static DISCOVER_NEXT_ACTION: Declaration = Declaration {
    name: "discover-next-action",
    summary: "Returns the client's next action for a session.",
    docs: "`WAIT` while the client can only ask again, `REDIRECT` while the customer must go to the address that \
        `get-redirect-url` answers, `DISPLAY_QR` while the customer must scan the code of `retrieve-qr-data`, \
        `CHECK_STATUS` once the outcome is known.",
    arguments: SESSION.declared,
    returns: Returns::Words(&["WAIT", "REDIRECT", "DISPLAY_QR", "CHECK_STATUS"]),
    errors: &INSTALLATION_ERRORS,
    flags: Flags::OPEN_QUERY,
    ..Declaration::query(Package::Sdk, "sessions")
};

/// `POST /sdk/discover-next-action`
async fn discover_next_action(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let found = session::find(&service, &call).await?;
    Ok(Reply::new(found.next_action().name()))
}
