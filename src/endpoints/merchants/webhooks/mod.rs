//! Webhooks: connected, changed and looked up.

mod arguments;
mod changes;
mod delivered;
mod look_up;
mod refusals;
mod secrets;

pub(super) use arguments::WEBHOOK_ARGUMENT;
pub(super) use delivered::DELIVERED_EVENT;
pub(super) use refusals::WEBHOOK_NOT_FOUND;

use crate::endpoints::prelude::*;

/// The endpoints of these files.
pub(super) const ENDPOINTS: [MerchantEndpoints; 3] = [changes::ENDPOINTS, look_up::ENDPOINTS, secrets::ENDPOINTS];
