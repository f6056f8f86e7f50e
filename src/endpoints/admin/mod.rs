//! `/admin/...`: calls of the operator, with the admin token.

mod about_merchant;
mod acquirers;
mod balances;
mod identifier;
mod checkpoints;
mod complete_action;
mod credentials;
mod disputes;
mod installations;
mod keys;
mod merchants;
mod payment_methods;
mod payments;
mod payouts;
mod pending_objects;
mod reconciliation;
mod refunds;
mod reload;
mod resume_effects;
mod rotate_vault_key;
mod status;
mod team;
mod test_clock;
mod waiting;

#[cfg(feature = "pages")]
pub(super) use about_merchant::{MERCHANT_ARGUMENT, check_exists};
pub use merchants::fresh_merchant_id;
#[cfg(feature = "pages")]
pub(super) use status::STATUS;
pub(crate) use status::status_function;

use std::sync::Arc;

use till_protocol::declaration::Declaration;
use till_protocol::dispatch::Function;

use super::endpoint::{self, Endpoints};
use crate::access::Operator;
use crate::service::Shared;

/// The endpoints of `/admin` that use the service, by their files.
const ENDPOINTS: [Endpoints<Operator>; 19] = [
    merchants::ENDPOINTS,
    test_clock::ENDPOINTS,
    keys::ENDPOINTS,
    team::ENDPOINTS,
    credentials::ENDPOINTS,
    payments::ENDPOINTS,
    installations::ENDPOINTS,
    payment_methods::ENDPOINTS,
    acquirers::ENDPOINTS,
    reconciliation::ENDPOINTS,
    balances::ENDPOINTS,
    payouts::ENDPOINTS,
    refunds::ENDPOINTS,
    disputes::ENDPOINTS,
    complete_action::ENDPOINTS,
    checkpoints::ENDPOINTS,
    resume_effects::ENDPOINTS,
    reload::ENDPOINTS,
    rotate_vault_key::ENDPOINTS,
];

/// The functions of `/admin`, with the service that they use.
#[must_use]
pub fn functions(service: &Shared) -> Vec<Arc<dyn Function<Operator>>> {
    endpoint::functions(&ENDPOINTS, service)
}

/// The declarations of these endpoints.
pub(crate) fn declarations() -> impl Iterator<Item = &'static Declaration> {
    ENDPOINTS.into_iter().flatten().map(|endpoint| endpoint.0)
}
