//! Commands of the calling merchant.

use till_domain::command::Command;

use crate::access::MerchantCaller;
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::Declaration;
use crate::protocol::dispatch::{Call, Reply};
use crate::service::Service;

/// Submits a command of the calling merchant. Answers an id, or true when it changed anything.
pub(super) async fn submit(
    service: &Service,
    declaration: &'static Declaration,
    call: &Call<MerchantCaller>,
    command: Command,
) -> Result<Reply, ApiError> {
    let caller = call.caller();
    let answered = service.submit(declaration, call, caller.merchant_id, caller.as_domain(), command, None).await?;
    Ok(answered.into())
}
