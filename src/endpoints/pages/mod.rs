//! Calls that only pages of this server make: what they show besides what programs may know, such as the way back of a
//! customer. No path leads to them, and no document has them.

mod checkout;
mod form;
mod installations;
mod invitations;
mod operator;
mod returning;
mod sandbox;
mod seats;

pub(crate) use checkout::{RETRIEVE_QR_CODE, SHOW_CHECKOUT, ShownState};
pub(crate) use form::SHOW_FORM;
pub(crate) use operator::{FIND_OPERATOR, OPEN_SESSION, SHOW_QUEUES, operator_declared, operator_functions};
pub(crate) use returning::FIND_WAY_ON;
pub(crate) use sandbox::{ACT, FIND_BILL, SHOW_ACTION};
pub(crate) use seats::{
    CHANGE_PASSWORD, CONFIRM_AUTHENTICATOR, DRAFT_AUTHENTICATOR, DRAFT_CREDENTIALS, END_SESSIONS, FIND_MEMBER,
    RENEW_RECOVERY_CODES, SET_AUTHENTICATOR, SET_CREDENTIALS, SHOW_LINK, SIGN_IN, USE_CODE,
};

use std::sync::Arc;

use till_domain::role::Act;
use till_protocol::declaration::Declaration;
use till_protocol::dispatch::Function;

use super::endpoint::{self, Endpoints, MerchantEndpoint};
use super::merchants;
use crate::access::MerchantCaller;
use crate::service::Shared;

const ENDPOINTS: [Endpoints<MerchantCaller>; 7] = {
    let [sessions, links, accounts] = seats::ENDPOINTS;
    [checkout::ENDPOINTS, form::ENDPOINTS, returning::ENDPOINTS, sandbox::ENDPOINTS, sessions, links, accounts]
};

/// The functions for pages, with the service that they use.
#[must_use]
pub(crate) fn functions(service: &Shared) -> Vec<Arc<dyn Function<MerchantCaller>>> {
    let mut functions = endpoint::functions(&ENDPOINTS, service);
    functions.extend(endpoint::merchant_functions(&[installations::ENDPOINTS], service));
    functions
}

/// The declaration of the call of this name that a member makes, and what the member does by it.
pub(crate) fn declared(name: &str) -> Option<(&'static Declaration, Act)> {
    let endpoints = merchants::files().chain([installations::ENDPOINTS]).flatten();
    let mut named = endpoints.filter(|MerchantEndpoint(_, declaration, _)| declaration.name == name);
    named.next().map(|MerchantEndpoint(act, declaration, _)| (*declaration, *act))
}
