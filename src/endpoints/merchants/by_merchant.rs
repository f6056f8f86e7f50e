//! Commands of the calling merchant.

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use till_domain::command::Command;
use till_domain::ids::MerchantId;
use till_protocol::arguments::ReadArguments;

use crate::endpoints::endpoint::Handler;
use crate::endpoints::prelude::*;
use crate::service::reply_of;

/// Submits the command that is made of the arguments. Answers an id, or true when it changed anything.
pub(super) struct ByMerchant<A: ReadArguments>(pub(super) A, pub(super) fn(MerchantId, A::Value) -> Command);

impl<A: ReadArguments + Send + Sync> Handler<MerchantCaller> for ByMerchant<A> {
    fn handle(
        &'static self,
        service: Shared,
        call: Call<MerchantCaller>,
    ) -> LocalBoxFuture<'static, Result<Reply, ApiError>> {
        async move {
            let arguments = call.fields().parse(&self.0)?;
            submit(&service, &call, (self.1)(call.caller().merchant_id, arguments)).await
        }
        .boxed_local()
    }
}

/// Submits a command of the calling merchant. Answers an id, or true when it changed anything.
pub(super) async fn submit(
    service: &Service,
    call: &Call<MerchantCaller>,
    command: Command,
) -> Result<Reply, ApiError> {
    let caller = call.caller();
    Ok(reply_of(service.submit(call, caller.merchant_id, caller.as_domain(), command, None).await?))
}
