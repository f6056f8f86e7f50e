//! The operator as the one who is signed in at pages.

use jiff::tz::TimeZone;
use serde_json::Value;
use till_protocol::api_error::ApiError;
use till_protocol::dispatch::BrowserRequest;

use super::tables::{FIRST, FORMS, LISTS, PARTS, SANDBOX};
use crate::access::Operator;
use crate::endpoints::pages::operator_declared as declared;
use crate::pages::answered::AnsweredObject;
use crate::pages::parts::{self, Merchant, Seat, Site};

/// The operator, at a page about a merchant or about none.
pub(super) struct OperatorSeat {
    merchant: Merchant,
}

/// The operator's request.
pub(super) type OperatorVisit = parts::Visit<OperatorSeat>;

pub(super) static OPERATOR: Site =
    Site { base: FIRST, first: "Overview", last: &[], lists: &LISTS, parts: &PARTS, forms: &FORMS, declared };

impl OperatorSeat {
    /// The seat at a page of this pattern, about this merchant. Without one, no currency is known, and times are UTC.
    pub(super) fn new(pattern: &str, merchant: &Value) -> OperatorSeat {
        let no_currency = || "XXX".parse().expect("an ISO code");
        OperatorSeat {
            merchant: Merchant {
                base: FIRST.to_owned(),
                pages: if pattern.starts_with(SANDBOX) { &[("mer", "sandbox")] } else { &[("mer", "merchants")] },
                name: merchant.text("name").to_owned(),
                currency: merchant.text("currency").parse().unwrap_or_else(|_| no_currency()),
                zone: TimeZone::get(merchant.text("time_zone")).unwrap_or(TimeZone::UTC),
            },
        }
    }
}

impl OperatorVisit {
    /// A visit of the page of this pattern, and of the merchant whose id its address has.
    pub(super) async fn begin(
        request: BrowserRequest<Operator>,
        pattern: &'static str,
    ) -> Result<OperatorVisit, ApiError> {
        let visit = OperatorVisit { request, seat: OperatorSeat::new(pattern, &Value::Null), pattern };
        if visit.named_text("merchant_id").is_empty() {
            return Ok(visit);
        }
        let merchant = visit.find("find-merchant", "merchant_id").await?;
        Ok(OperatorVisit { seat: OperatorSeat::new(pattern, &merchant), ..visit })
    }
}

impl Seat for OperatorSeat {
    type Who = Operator;

    const SITE: &'static Site = &OPERATOR;

    fn who(&self) -> Operator {
        Operator
    }

    fn name(&self) -> &str {
        "Till"
    }

    fn signed_in_as(&self) -> (&str, &str) {
        ("Operator", "admin token")
    }

    fn merchant(&self) -> &Merchant {
        &self.merchant
    }

    fn check(&self, call: &str) -> Result<(), ApiError> {
        declared(call).map(|_| ()).ok_or_else(ApiError::unhandled)
    }
}
