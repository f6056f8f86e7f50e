//! The member as the one who is signed in at the pages of the dashboard.

use till_protocol::api_error::ApiError;

use super::forms::{FORMS, below};
use super::lists::{LISTS, PARTS};
use super::session::{Member, fault_of_code};
use crate::access::MerchantCaller;
use crate::endpoints::pages::declared;
use crate::pages::answered::Request;
use crate::pages::parts::{self, Merchant, Seat, Site};

/// A member's request.
pub(super) type MemberVisit = parts::Visit<Member>;

pub(super) static DASHBOARD: Site = Site {
    base: below!(""),
    first: "Home",
    last: &[("Account", "/account")],
    lists: &LISTS,
    parts: &PARTS,
    forms: &FORMS,
    declared: |name| declared(name).map(|(declaration, _)| declaration),
};

impl Seat for Member {
    type Who = MerchantCaller;

    const SITE: &'static Site = &DASHBOARD;

    fn who(&self) -> MerchantCaller {
        self.caller
    }

    fn name(&self) -> &str {
        &self.merchant.name
    }

    fn signed_in_as(&self) -> (&str, &str) {
        (&self.email, self.role.name())
    }

    fn merchant(&self) -> &Merchant {
        &self.merchant
    }

    fn check(&self, call: &str) -> Result<(), ApiError> {
        let (_, act) = declared(call).ok_or_else(ApiError::unhandled)?;
        self.caller.check(act)
    }

    fn asks_for_code(&self, call: &str) -> bool {
        declared(call).is_some_and(|(_, act)| act.asks_for_code())
    }

    async fn fault_of_code(&self, request: &Request, code: &str) -> Result<Option<String>, ApiError> {
        fault_of_code(request, self, code).await
    }
}
