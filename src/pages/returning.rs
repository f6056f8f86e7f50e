//! `GET /return/{merchant_id}/{payment_session_id}.{secret}`: customers come back from the acquirer, and go on to the
//! shop. Contract, sections 9.4 and 9.6.

use askama::Template;
use serde_json::{Value, json};
use till_protocol::api_error::{ApiError, Code};
use till_protocol::dispatch::{PageDeclaration, PageReply};

use super::answered::{AnsweredObject, Request, look_up};
use crate::endpoints::pages::FIND_WAY_ON;
use crate::pages::style;

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
    way_on: &'a Value,
    reload_seconds: u32,
    waited_next: u32,
    shows_shop: bool,
}

/// Sends the customer on, or shows the page that waits.
pub(super) async fn open((): (), request: Request) -> Result<PageReply, ApiError> {
    let unknown = || ApiError::new(Code::NotFound, "No payment was made at this address.");
    let named = json!({ "merchant_id": request.text(0), "way_back": request.text(1) });
    let way_on = look_up(&request, &FIND_WAY_ON, &named).await?.ok_or_else(unknown)?;
    if way_on.is("has_outcome") {
        return Ok(PageReply::see_other(way_on.text("shop").to_owned()));
    }
    Ok(PageReply::html(waiting(&way_on, waited(&request))))
}

fn waited(request: &Request) -> u32 {
    request.query(WAITED).and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn waiting(way_on: &Value, waited: u32) -> String {
    let page = WaitingPage {
        way_on,
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
        let way_on = json!({
            "merchant_name": "<b>A & B</b>",
            "shop": "https://shop.example/?a=\"1\"&b='2'<",
            "acts_at": null,
        });
        let early = waiting(&way_on, 27);
        assert!(early.contains("content=\"3;url=?waited=30\"") && !early.contains("shop.example"), "{early}");
        let late = waiting(&way_on, u32::MAX);
        assert!(late.contains("content=\"3;url=?waited=33\"") && late.contains("shop.example"), "{late}");
        assert!(!late.contains("<b>") && !late.contains("\"1\"") && !late.contains("'2'"), "{late}");
    }
}
