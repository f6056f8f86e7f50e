//! The functions of `/sdk`.

use std::sync::Arc;

use super::{
    check_status, discover_next_action, list_installment_plans, retrieve_installation_settings,
    retrieve_payment_session, select_payment_method, tokenize_card,
};
use crate::access::MerchantCaller;
use crate::protocol::dispatch::{Function, endpoint};
use crate::service::Shared;

/// The functions of `/sdk`, with the service that they use.
#[must_use]
pub fn functions(service: &Shared) -> Vec<Arc<dyn Function<MerchantCaller>>> {
    let of = |service: &Shared| Arc::clone(service);
    vec![
        endpoint(
            &retrieve_installation_settings::RETRIEVE_INSTALLATION_SETTINGS,
            of(service),
            retrieve_installation_settings::retrieve_installation_settings,
        ),
        endpoint(&tokenize_card::TOKENIZE_CARD, of(service), tokenize_card::tokenize_card),
        endpoint(
            &select_payment_method::SELECT_PAYMENT_METHOD,
            of(service),
            select_payment_method::select_payment_method,
        ),
        endpoint(
            &list_installment_plans::LIST_INSTALLMENT_PLANS,
            of(service),
            list_installment_plans::list_installment_plans,
        ),
        endpoint(&discover_next_action::DISCOVER_NEXT_ACTION, of(service), discover_next_action::discover_next_action),
        endpoint(&check_status::CHECK_STATUS, of(service), check_status::check_status),
        endpoint(
            &retrieve_payment_session::RETRIEVE_PAYMENT_SESSION,
            of(service),
            retrieve_payment_session::retrieve_payment_session,
        ),
    ]
}
