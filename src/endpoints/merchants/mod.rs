//! `/merchants/...`: calls of a merchant's program, with an API key.

mod balance_history;
mod by_merchant;
mod cards;
mod checkouts;
mod contacts;
mod credentials;
mod deliveries;
mod events;
mod find_payment;
mod get_balance;
mod initiate_payment_flow;
mod keys;
mod list_activity_logs;
mod list_payments;
mod metadata;
mod operations;
mod payouts;
mod disputes;
mod plans;
mod refunds;
mod statement_document;
mod statements;
mod team;
mod topups;
mod webhooks;

pub(super) use checkouts::ADDRESS;
pub(super) use credentials::{RESET_DOCS, RESET_USER};
#[cfg(test)]
pub(crate) use initiate_payment_flow::INITIATE_PAYMENT_FLOW;

use std::sync::Arc;

use till_protocol::declaration::DeliveryDeclaration;
use till_protocol::dispatch::Function;

use super::endpoint::{self, MerchantEndpoints};
use crate::access::MerchantCaller;
use crate::service::Shared;

/// The endpoints of `/merchants`, by their files.
const ENDPOINTS: [MerchantEndpoints; 21] = [
    initiate_payment_flow::ENDPOINTS,
    find_payment::ENDPOINTS,
    checkouts::ENDPOINTS,
    operations::ENDPOINTS,
    refunds::ENDPOINTS,
    disputes::ENDPOINTS,
    contacts::ENDPOINTS,
    cards::ENDPOINTS,
    list_activity_logs::ENDPOINTS,
    balance_history::ENDPOINTS,
    get_balance::ENDPOINTS,
    payouts::ENDPOINTS,
    topups::ENDPOINTS,
    statements::ENDPOINTS,
    deliveries::ENDPOINTS,
    events::ENDPOINTS,
    keys::ENDPOINTS,
    team::ENDPOINTS,
    credentials::ENDPOINTS,
    plans::ENDPOINTS,
    list_payments::ENDPOINTS,
];

/// The requests that the server sends to merchants.
pub(crate) static DELIVERED: [&DeliveryDeclaration; 1] = [&webhooks::DELIVERED_EVENT];

/// The files of the endpoints of `/merchants`.
pub(super) fn files() -> impl Iterator<Item = MerchantEndpoints> {
    ENDPOINTS.into_iter().chain(webhooks::ENDPOINTS).chain(metadata::ENDPOINTS)
}

/// The functions of `/merchants`, with the service that they use.
#[must_use]
pub fn functions(service: &Shared) -> Vec<Arc<dyn Function<MerchantCaller>>> {
    endpoint::merchant_functions(&files().collect::<Vec<_>>(), service)
}
