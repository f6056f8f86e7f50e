//! `/sdk/...`: calls of a customer's client on behalf of an installation, without a key.

mod check_status;
mod checkout;
mod customer_action;
mod discover_next_action;
mod list_installment_plans;
mod retrieve_installation_settings;
mod retrieve_payment_session;
mod select_payment_method;
mod session;
mod tokenize_card;

#[cfg(feature = "pages")]
pub(crate) use checkout::PAY_CHECKOUT;
#[cfg(feature = "pages")]
pub(in crate::endpoints) use checkout::{REFERENCE, no_such_checkout};
#[cfg(feature = "pages")]
pub(crate) use customer_action::CANCEL_PAYMENT_SESSION;
#[cfg(feature = "pages")]
pub(in crate::endpoints) use list_installment_plans::{INSTALLMENT_PLAN, PlanShape};
pub use tokenize_card::card_facts;

use std::sync::Arc;

use till_protocol::dispatch::Function;

use super::endpoint::{self, Endpoints};
use crate::access::MerchantCaller;
use crate::service::Shared;

/// The endpoints of `/sdk`, by their files.
const ENDPOINTS: [Endpoints<MerchantCaller>; 9] = [
    retrieve_installation_settings::ENDPOINTS,
    tokenize_card::ENDPOINTS,
    select_payment_method::ENDPOINTS,
    list_installment_plans::ENDPOINTS,
    discover_next_action::ENDPOINTS,
    check_status::ENDPOINTS,
    customer_action::ENDPOINTS,
    retrieve_payment_session::ENDPOINTS,
    checkout::ENDPOINTS,
];

/// The functions of `/sdk`, with the service that they use.
#[must_use]
pub fn functions(service: &Shared) -> Vec<Arc<dyn Function<MerchantCaller>>> {
    endpoint::functions(&ENDPOINTS, service)
}
