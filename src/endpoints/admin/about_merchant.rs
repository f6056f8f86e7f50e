//! Calls of the operator about one merchant.

use till_actors::Answered;
use till_domain::command::{Caller, Command};
use till_domain::ids::MerchantId;

use super::merchants::check_exists;
use crate::access::Operator;
use crate::endpoints::arguments;
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{Argument, Declaration, DeclaredError, ValueType};
use crate::protocol::dispatch::Call;
use crate::protocol::fields::Fields;
use crate::service::Service;

/// The argument that names the merchant.
pub(super) const MERCHANT_ARGUMENT: Argument =
    Argument::required("merchant_id", ValueType::Id(MerchantId::PREFIX), "The merchant (`mer_...`).");

/// The refusal of an unknown merchant.
pub(super) const MERCHANT_NOT_FOUND: DeclaredError = DeclaredError::when(Code::NotFound, "No merchant has this id.");

/// The id of the merchant that the call names; None when it is faulty.
pub(super) fn merchant_argument(fields: &mut Fields<'_>) -> Option<MerchantId> {
    fields.required("merchant_id", arguments::id("a merchant id (mer_...)"))
}

/// Submits a command of the operator. For an unknown merchant no actor is started.
pub(super) async fn submit(
    service: &Service,
    declaration: &'static Declaration,
    call: &Call<Operator>,
    merchant_id: MerchantId,
    command: Command,
    secret: Option<till_actors::Secret>,
) -> Result<Answered, ApiError> {
    check_exists(service, merchant_id)?;
    call.log_subject(merchant_id, None);
    service.submit(declaration, call, merchant_id, Caller::Operator, command, secret).await
}
