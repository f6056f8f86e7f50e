//! Calls that only pages of this server make: what they show besides what programs may know, such as the way back of a
//! customer. No path leads to them, and no document has them.

mod checkout;
mod form;
mod returning;
mod sandbox;

pub(crate) use checkout::{RETRIEVE_QR_CODE, SHOW_CHECKOUT, ShownState};
pub(crate) use form::SHOW_FORM;
pub(crate) use returning::FIND_WAY_ON;
pub(crate) use sandbox::{ACT, FIND_BILL, SHOW_ACTION};

use std::sync::Arc;

use till_protocol::dispatch::Function;

use super::endpoint::{self, Endpoints};
use crate::access::MerchantCaller;
use crate::service::Shared;

const ENDPOINTS: [Endpoints<MerchantCaller>; 4] =
    [checkout::ENDPOINTS, form::ENDPOINTS, returning::ENDPOINTS, sandbox::ENDPOINTS];

/// The functions for pages, with the service that they use.
#[must_use]
pub(crate) fn functions(service: &Shared) -> Vec<Arc<dyn Function<MerchantCaller>>> {
    endpoint::functions(&ENDPOINTS, service)
}
