//! `/admin/...`: what the operator calls with the admin token.

mod balances;
mod checkpoints;
mod installations;
mod keys;
mod merchants;
mod payment_methods;
mod resume_effects;

use std::sync::Arc;

use till_domain::command::{Caller, Command};
use till_domain::ids::MerchantId;

pub(crate) use merchants::fresh_merchant_id;

use crate::access::Operator;
use crate::endpoints::arguments;
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{Argument, Declaration, DeclaredError, ValueType};
use crate::protocol::dispatch::{Call, Function, endpoint};
use crate::protocol::fields::Fields;
use crate::service::{Answered, Service, Shared};
use merchants::check_exists;

/// The argument that names the merchant.
const MERCHANT_ARGUMENT: Argument = Argument::required("merchant_id", ValueType::STRING, "The merchant (`mer_...`).");

/// What a call about a merchant may answer.
const MERCHANT_NOT_FOUND: DeclaredError = DeclaredError::when(Code::NotFound, "No merchant has this id.");

/// The functions of this interface.
#[must_use]
pub fn functions(service: &Shared) -> Vec<Arc<dyn Function<Operator>>> {
    let of = |service: &Shared| Arc::clone(service);
    vec![
        endpoint(&merchants::CREATE_MERCHANT, of(service), merchants::create_merchant),
        endpoint(&merchants::FIND_MERCHANT, of(service), merchants::find_merchant),
        endpoint(&merchants::LIST_MERCHANTS, of(service), merchants::list_merchants),
        endpoint(&merchants::SUSPEND_MERCHANT, of(service), merchants::suspend_merchant),
        endpoint(&merchants::RESUME_MERCHANT, of(service), merchants::resume_merchant),
        endpoint(&keys::GENERATE_KEY, of(service), keys::generate_key),
        endpoint(&keys::REVOKE_KEY, of(service), keys::revoke_key),
        endpoint(&installations::ADD_INSTALLATION, of(service), installations::add_installation),
        endpoint(&payment_methods::CONFIGURE_PAYMENT_METHOD, of(service), payment_methods::configure_payment_method),
        endpoint(&balances::OPEN_BALANCE, of(service), balances::open_balance),
        endpoint(&balances::ADD_TOPUP, of(service), balances::add_topup),
        endpoint(&checkpoints::CREATE_CHECKPOINT, of(service), checkpoints::create_checkpoint),
        endpoint(&resume_effects::RESUME_EFFECTS, of(service), resume_effects::resume_effects),
    ]
}

fn merchant_argument(fields: &mut Fields<'_>) -> Option<MerchantId> {
    fields.required("merchant_id", arguments::id("a merchant id (mer_...)"))
}

/// Has a command of the operator's carried out. No actor is started for a merchant that there is not.
async fn submit(
    service: &Service,
    declaration: &'static Declaration,
    call: &Call<Operator>,
    merchant_id: MerchantId,
    command: Command,
    secret: Option<till_actors::Secret>,
) -> Result<Answered, ApiError> {
    check_exists(service, merchant_id)?;
    service.submit(declaration, call, merchant_id, Caller::Operator, command, secret).await
}
