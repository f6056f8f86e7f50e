//! The page of an action: the customer passes, fails or cancels.

use askama::Template;
use till_actors::acquirer::AcquirerUnavailable;
use till_protocol::api_error::{ApiError, CallEffect, Code, RETRY_AFTER_SECONDS};
use till_protocol::dispatch::{BrowserRequest, PageReply};
use till_sandbox::{ActResult, ActionId, ActionOutcome, ActionPage, ShownAction};

use crate::pages::amount::amount;
use crate::pages::style;
use crate::service::{AskedCustomer, Shared};

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

/// Shows the page, or does what its button says.
pub(super) async fn open(
    (service, page): (Shared, ActionPage),
    request: BrowserRequest,
) -> Result<PageReply, ApiError> {
    let id: ActionId = request.text(0).parse().map_err(|_| unknown())?;
    let found = service.sandbox.find_action(id).await.map_err(unavailable)?;
    let Some(action) = found.filter(|action| action.page == page) else { return moved(&service, page, id).await };
    let customer = service.asked_customer(&action).await?;
    request.log_subject(action.merchant);
    if !customer.is_open {
        return Ok(expired(&action, &customer));
    }
    let Some(form) = request.form() else { return Ok(shown(&action, &customer)) };
    let outcome = form.only(OUTCOME).and_then(|name| outcome_of(page, name)).ok_or_else(no_button)?;
    match service.sandbox.act(id, outcome).await.map_err(unavailable)? {
        ActResult::Recorded => Ok(acted(&action, &customer, outcome)),
        ActResult::Nothing => Ok(expired(&action, &customer)),
    }
}

/// Leads from the address that the log has of an action to its page, where a restored book gave it another id.
async fn moved(service: &Shared, page: ActionPage, id: ActionId) -> Result<PageReply, ApiError> {
    let action = service.sandbox.find_action_of_same_payment(id).await.map_err(unavailable)?.ok_or_else(unknown)?;
    let is_recorded = service.is_recorded_at(&action, &page.path(id)).await?;
    if is_recorded { Ok(PageReply::see_other(action.path())) } else { Err(unknown()) }
}

fn outcome_of(page: ActionPage, name: &str) -> Option<ActionOutcome> {
    buttons(page).iter().map(|button| button.outcome).find(|outcome| outcome.name() == name)
}

fn shown(action: &ShownAction, customer: &AskedCustomer) -> PageReply {
    let (heading, question) = words(action.page);
    let page = OpenPage {
        heading,
        question,
        merchant: &customer.merchant,
        amount: &amount(action.money),
        buttons: buttons(action.page),
    };
    let reply = PageReply::html(page.render().expect("a template into a text cannot fail"));
    reply.with_form_targets(customer.shop_origins.iter().cloned().collect())
}

/// The answer to a form. A phone with a wallet has no shop to go back to.
fn acted(action: &ShownAction, customer: &AskedCustomer, outcome: ActionOutcome) -> PageReply {
    if (action.page, outcome) != (ActionPage::Wallet, ActionOutcome::Succeed) {
        return PageReply::see_other(action.return_path.clone());
    }
    let page = SentPage { merchant: &customer.merchant, amount: &amount(action.money) };
    PageReply::html(page.render().expect("a template into a text cannot fail"))
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
fn expired(action: &ShownAction, customer: &AskedCustomer) -> PageReply {
    let page = ExpiredPage { merchant: &customer.merchant, way_back: &action.return_path };
    PageReply::html(page.render().expect("a template into a text cannot fail")).refused(Code::InvalidState)
}

fn no_button() -> ApiError {
    ApiError::new(Code::InvalidArguments, "The page has no such outcome.")
}

pub(super) fn unavailable(error: AcquirerUnavailable) -> ApiError {
    tracing::warn!(%error, "the sandbox did not answer a page");
    ApiError::unavailable(CallEffect::Unknown, RETRY_AFTER_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_buttons_that_the_sandbox_takes_and_no_others() {
        for page in ActionPage::ALL {
            for outcome in ActionOutcome::ALL {
                assert_eq!(outcome_of(page, outcome.name()).is_some(), page.offers(outcome), "{page:?} {outcome:?}");
            }
            assert!(outcome_of(page, "").is_none() && outcome_of(page, "SUCCEED").is_none());
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
