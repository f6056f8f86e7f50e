//! Commands of the calling merchant's.

use till_domain::command::Command;

use crate::access::MerchantCaller;
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::Declaration;
use crate::protocol::dispatch::{Call, Reply};
use crate::service::Service;

/// Has a command of the calling merchant's carried out, and answers its id or whether it changed anything.
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
