//! Signing in, as pages call it: contract, section 13. A session is a sealed text, which the browser keeps as a cookie.

mod members;
mod session;
mod links;
mod account;

pub(crate) use account::{CHANGE_PASSWORD, DRAFT_AUTHENTICATOR, END_SESSIONS, RENEW_RECOVERY_CODES, SET_AUTHENTICATOR};
pub(crate) use links::{CONFIRM_AUTHENTICATOR, DRAFT_CREDENTIALS, SET_CREDENTIALS, SHOW_LINK};
pub(super) use members::{TEXT, address};
pub(crate) use session::{FIND_MEMBER, SIGN_IN, USE_CODE};

use crate::access::MerchantCaller;
use crate::endpoints::endpoint::Endpoints;

pub(super) const ENDPOINTS: [Endpoints<MerchantCaller>; 3] = [session::ENDPOINTS, links::ENDPOINTS, account::ENDPOINTS];
