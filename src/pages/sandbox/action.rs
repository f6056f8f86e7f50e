//! The page of an action: the customer passes, fails or cancels.

use askama::Template;
use serde_json::{Value, json};
use till_protocol::api_error::{ApiError, Code};
use till_protocol::dispatch::PageReply;
use till_sandbox::{ActionOutcome, ActionPage};

use crate::endpoints::pages::{ACT, SHOW_ACTION};
use crate::pages::amount::amount;
use crate::pages::answered::{AnsweredObject, Request, look_up};
use crate::pages::style;

/// The field of the form whose value is the button's.
const OUTCOME: &str = "outcome";

/// A button of a page.
struct Button {
    words: &'static str,
    outcome: ActionOutcome,
}

#[derive(Template)]
#[template(path = "sandbox_action.html")]
struct OpenPage<'a> {
    heading: &'a str,
    question: &'a str,
    merchant: &'a str,
    amount: &'a str,
    buttons: &'a [Button],
}

#[derive(Template)]
#[template(path = "sandbox_sent.html")]
struct SentPage<'a> {
    merchant: &'a str,
    amount: &'a str,
}

#[derive(Template)]
#[template(path = "sandbox_expired.html")]
struct ExpiredPage<'a> {
    merchant: &'a str,
    way_back: &'a str,
}

/// Shows the page, or does what its button says. The address of an action may have moved, where a restored book gave it
/// another id.
pub(super) async fn open(page: ActionPage, request: Request) -> Result<PageReply, ApiError> {
    let path = format!("/sandbox/{}/{}", page.name(), request.text(0));
    let mut arguments = json!({ "page": page.name(), "action_id": request.text(0) });
    let action = look_up(&request, &SHOW_ACTION, &arguments).await?.ok_or_else(unknown)?;
    if action.text("path") != path {
        return Ok(PageReply::see_other(action.text("path").to_owned()));
    }
    if !action.is("is_open") {
        return Ok(expired(&action));
    }
    let Some(form) = request.form() else { return show_action(page, &action) };
    arguments["outcome"] = form.single(OUTCOME).into();
    let has_acted = request.call(&ACT, None, &arguments).await? == Value::Bool(true);
    if !has_acted {
        return Ok(expired(&action));
    }
    acted(page, &action, arguments["outcome"] == ActionOutcome::Succeed.name())
}

fn show_action(page: ActionPage, action: &Value) -> Result<PageReply, ApiError> {
    let (heading, question) = words(page);
    let open = OpenPage {
        heading,
        question,
        merchant: action.text("merchant_name"),
        amount: &amount_of(action)?,
        buttons: buttons(page),
    };
    let reply = PageReply::html(open.render().expect("a template into a text cannot fail"));
    let origins = action.items("shop_origins").iter().filter_map(Value::as_str).map(str::to_owned);
    Ok(reply.with_form_targets(origins.collect()))
}

/// The answer to a form. A phone with a wallet has no shop to go back to.
fn acted(page: ActionPage, action: &Value, has_paid: bool) -> Result<PageReply, ApiError> {
    if page != ActionPage::Wallet || !has_paid {
        return Ok(PageReply::see_other(action.text("return_path").to_owned()));
    }
    let sent = SentPage { merchant: action.text("merchant_name"), amount: &amount_of(action)? };
    Ok(PageReply::html(sent.render().expect("a template into a text cannot fail")))
}

fn amount_of(action: &Value) -> Result<String, ApiError> {
    action.money("amount", action.text("currency")).map(amount).ok_or_else(ApiError::unhandled)
}

fn words(page: ActionPage) -> (&'static str, &'static str) {
    match page {
        ActionPage::Challenge => ("Sandbox issuer", "Is it you who pays with this card?"),
        ActionPage::Bank => ("Sandbox bank", "Do you approve this payment?"),
        ActionPage::Wallet => ("Sandbox wallet", "Do you pay this bill?"),
    }
}

fn buttons(page: ActionPage) -> &'static [Button] {
    const fn button(words: &'static str, outcome: ActionOutcome) -> Button {
        Button { words, outcome }
    }
    const CHALLENGE: [Button; 3] = [
        button("Authenticate", ActionOutcome::Succeed),
        button("Fail authentication", ActionOutcome::Fail),
        button("Cancel", ActionOutcome::Cancel),
    ];
    const BANK: [Button; 3] = [
        button("Approve payment", ActionOutcome::Succeed),
        button("Decline payment", ActionOutcome::Fail),
        button("Cancel", ActionOutcome::Cancel),
    ];
    const WALLET: [Button; 2] = [button("Pay", ActionOutcome::Succeed), button("Decline", ActionOutcome::Fail)];
    match page {
        ActionPage::Challenge => &CHALLENGE,
        ActionPage::Bank => &BANK,
        ActionPage::Wallet => &WALLET,
    }
}

fn unknown() -> ApiError {
    ApiError::new(Code::NotFound, "There is no such action.")
}

/// The page once the customer has acted, or the time is over. It leads back, as acting would have.
fn expired(action: &Value) -> PageReply {
    let page = ExpiredPage { merchant: action.text("merchant_name"), way_back: action.text("return_path") };
    PageReply::html(page.render().expect("a template into a text cannot fail")).with_refusal(Code::InvalidState)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_buttons_that_the_sandbox_takes_and_no_others() {
        for page in ActionPage::ALL {
            for outcome in ActionOutcome::ALL {
                let has_button = buttons(page).iter().any(|button| button.outcome == outcome);
                assert_eq!(has_button, page.offers(outcome), "{page:?} {outcome:?}");
            }
        }
    }

    #[test]
    fn nothing_stands_unescaped_on_a_page() {
        let merchant = "</dd><script>alert('1')</script>\"&";
        let page = OpenPage {
            heading: "Sandbox bank",
            question: "?",
            merchant,
            amount: "THB\u{a0}1.00",
            buttons: buttons(ActionPage::Bank),
        };
        let sent = SentPage { merchant, amount: "THB\u{a0}1.00" };
        let expired = ExpiredPage { merchant, way_back: "/return/x/y" };
        for text in [page.render(), sent.render(), expired.render()].map(|text| text.expect("a text")) {
            assert!(!text.contains("<script") && !text.contains("'1'") && text.contains("&#60;script"), "{text}");
        }
    }
}
