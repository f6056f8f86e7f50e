//! `GET /return/{merchant_id}/{payment_session_id}.{secret}`: customers come back from the acquirer, and go on to the
//! shop. Contract, sections 9.4 and 9.6.

use askama::Template;
use till_domain::ids::MerchantId;
use till_protocol::api_error::{ApiError, Code};
use till_protocol::dispatch::{BrowserRequest, PageDeclaration, PageReply};

use crate::pages::style;
use crate::service::{Returning, Shared, WaitingCustomer};

pub(super) static RETURNING: PageDeclaration =
    PageDeclaration { pattern: "/return/{merchant_id}/{payment_session_id}", has_form: false };

/// The seconds after which the waiting page loads itself again.
const RELOAD_SECONDS: u32 = 3;

/// The seconds after which the waiting page has a link to the shop.
const SHOP_LINK_SECONDS: u32 = 30;

/// The name in the query of the seconds that the customer has waited. It only decides about the link.
const WAITED: &str = "waited";

#[derive(Template)]
#[template(path = "returning.html")]
struct WaitingPage<'a> {
    customer: &'a WaitingCustomer,
    reload_seconds: u32,
    waited_next: u32,
    shows_shop: bool,
}

/// Sends the customer on, or shows the page that waits.
pub(super) async fn open(service: Shared, request: BrowserRequest) -> Result<PageReply, ApiError> {
    let unknown = || ApiError::new(Code::NotFound, "No payment was made at this address.");
    let merchant_id: MerchantId = request.text(0).parse().map_err(|_| unknown())?;
    let returning = service.returning(merchant_id, request.text(1)).await?;
    request.log_subject(merchant_id);
    match returning {
        Returning::ToShop(address) => Ok(PageReply::see_other(address)),
        Returning::Waiting(customer) => Ok(PageReply::html(waiting(&customer, waited(&request)))),
    }
}

fn waited(request: &BrowserRequest) -> u32 {
    request.query(WAITED).and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn waiting(customer: &WaitingCustomer, waited: u32) -> String {
    let page = WaitingPage {
        customer,
        reload_seconds: RELOAD_SECONDS,
        waited_next: waited.min(SHOP_LINK_SECONDS).saturating_add(RELOAD_SECONDS),
        shows_shop: waited >= SHOP_LINK_SECONDS,
    };
    page.render().expect("a template into a text cannot fail")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waiting_page_has_a_link_to_the_shop_after_30_seconds() {
        let customer = WaitingCustomer {
            merchant: "<b>A & B</b>".to_owned(),
            shop: "https://shop.example/?a=\"1\"&b='2'<".to_owned(),
            acts_at: None,
        };
        let early = waiting(&customer, 27);
        assert!(early.contains("content=\"3;url=?waited=30\"") && !early.contains("shop.example"), "{early}");
        let late = waiting(&customer, u32::MAX);
        assert!(late.contains("content=\"3;url=?waited=33\"") && late.contains("shop.example"), "{late}");
        assert!(!late.contains("<b>") && !late.contains("\"1\"") && !late.contains("'2'"), "{late}");
    }
}
