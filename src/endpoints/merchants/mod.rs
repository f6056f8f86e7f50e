//! `/merchants/...`: what a merchant's program calls with its key.

mod balance_history;
mod find_contact;
mod find_payment;
mod get_balance;
mod initiate_payment_flow;
mod list_activity_logs;
mod metadata;

use std::sync::Arc;

pub use initiate_payment_flow::INITIATE_PAYMENT_FLOW;

use crate::access::MerchantCaller;
use crate::protocol::dispatch::{Function, endpoint};
use crate::service::Shared;

/// The functions of this interface.
#[must_use]
pub fn functions(service: &Shared) -> Vec<Arc<dyn Function<MerchantCaller>>> {
    let of = |service: &Shared| Arc::clone(service);
    vec![
        endpoint(&INITIATE_PAYMENT_FLOW, of(service), initiate_payment_flow::initiate_payment_flow),
        endpoint(&find_payment::FIND_PAYMENT, of(service), find_payment::find_payment),
        endpoint(&find_contact::FIND_CONTACT, of(service), find_contact::find_contact),
        endpoint(&list_activity_logs::LIST_ACTIVITY_LOGS, of(service), list_activity_logs::list_activity_logs),
        endpoint(&balance_history::BALANCE_HISTORY, of(service), balance_history::balance_history),
        endpoint(&get_balance::GET_BALANCE, of(service), get_balance::get_balance),
    ]
    .into_iter()
    .chain(metadata::functions(service))
    .collect()
}
