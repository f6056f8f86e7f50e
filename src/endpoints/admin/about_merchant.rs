//! Calls of the operator about one merchant.

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use till_actors::Answered;
use till_domain::command::{Caller, Command};
use till_domain::ids::MerchantId;
use till_domain::records::{MerchantDirectory, Rows};
use till_domain::refusal::Refusal;
use till_protocol::arguments::{ReadArguments, id};

use crate::endpoints::endpoint::Handler;
use crate::endpoints::prelude::*;
use crate::service::{refused, reply_of};

/// The argument that names the merchant.
pub(in crate::endpoints) const MERCHANT_ARGUMENT: Required<MerchantId> =
    id::<MerchantId>().required("The merchant (`mer_...`).").with_name("merchant_id");

/// The refusal of an unknown merchant.
pub(super) const MERCHANT_NOT_FOUND: DeclaredError = DeclaredError::new(Code::NotFound, "No merchant has this id.");

/// Submits the command that is made of the arguments, to the merchant that they name. Answers an id, or true when it
/// changed anything.
pub(super) struct ByOperator<A, T>(pub(super) A, pub(super) fn(T) -> Command);

impl<T: 'static, A> Handler<Operator> for ByOperator<A, T>
where
    A: ReadArguments<Value = (MerchantId, T)> + Send + Sync,
{
    fn handle(
        &'static self,
        service: Shared,
        call: Call<Operator>,
    ) -> LocalBoxFuture<'static, Result<Reply, ApiError>> {
        async move {
            let (merchant_id, arguments) = call.fields().parse(&self.0)?;
            Ok(reply_of(submit(&service, &call, merchant_id, (self.1)(arguments)).await?))
        }
        .boxed_local()
    }
}

/// Submits a command of the operator. For an unknown merchant no actor is started.
pub(super) async fn submit(
    service: &Service,
    call: &Call<Operator>,
    merchant_id: MerchantId,
    command: Command,
) -> Result<Answered, ApiError> {
    check_exists(service, merchant_id)?;
    call.log_subject(merchant_id, None);
    service.submit(call, merchant_id, Caller::Operator, command, None).await
}

/// Refuses an unknown merchant's id.
pub(in crate::endpoints) fn check_exists(service: &Service, merchant_id: MerchantId) -> Result<(), ApiError> {
    let found = service.directory().get::<MerchantDirectory>(merchant_id)?;
    let unknown = || refused(&Refusal::MerchantNotFound);
    found.map(|_| ()).ok_or_else(unknown)
}
