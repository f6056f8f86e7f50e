//! The merchant's dashboard: contract, section 13.

mod account;
mod joining;
mod sign_in;
mod session;

use std::sync::Arc;

use till_protocol::dispatch::{BrowserPage, session_page};

use crate::access::MerchantCaller;

/// The pages of the dashboard.
pub(super) fn pages() -> Vec<Arc<dyn BrowserPage<MerchantCaller>>> {
    vec![
        session_page(&joining::INVITATION, "invitation", joining::open),
        session_page(&joining::CREDENTIALS, "credentials", joining::open),
        session_page(&session::FIRST, (), session::first),
        session_page(&account::ACCOUNT, (), account::open),
        session_page(&session::SIGN_OUT, (), session::sign_out),
    ]
}
