//! `/pay/{merchant_id}/{checkout_id}.{secret}`: the page at which a customer pays a checkout. Its form posts there, and
//! is answered by a redirect to the page itself, always, so that neither a reload nor the way back ever pays.

use till_domain::command::CheckoutChoice;
use till_domain::customer::CardRef;
use till_domain::customer_action::{CustomerAction, CustomerStep};
use till_domain::ids::MerchantId;
use till_domain::merchant::{AcquirerName, PaymentMethod};
use till_domain::session::InstallmentPlan;
use till_protocol::api_error::{ApiError, Code};
use till_protocol::dispatch::{BrowserRequest, PageDeclaration, PageReply};

use super::form::PostedAct;
use super::locale;
use super::{page, shown};
use crate::service::{CheckoutReference, Shared, ShownCheckout};

pub(in crate::pages) static PAYING: PageDeclaration =
    PageDeclaration { pattern: "/pay/{merchant_id}/{checkout_id}", has_form: true };

/// Shows the page, or does what its form says.
pub(in crate::pages) async fn open(service: Shared, request: BrowserRequest) -> Result<PageReply, ApiError> {
    let Some((merchant_id, reference)) = named(&request) else { return Ok(unknown(&request)) };
    let Some(checkout) = service.shown_checkout(merchant_id, reference).await? else { return Ok(unknown(&request)) };
    request.log_subject(merchant_id);
    if let Some(form) = request.form() {
        let act = PostedAct::read(|name| form.only(name));
        carry_out(&service, merchant_id, &checkout, act).await?;
        return Ok(PageReply::see_other(own_address(&checkout.path, request.whole_query())));
    }
    let wallet = wallet(&service, &checkout).await;
    let view = shown::view(merchant_id, &checkout, wallet);
    let of_checkout = checkout.offered.checkout.locale;
    let locale = locale::choose(request.query("lang").as_deref(), of_checkout, request.accept_language());
    Ok(PageReply::html(page::page(&view, locale)))
}

fn named(request: &BrowserRequest) -> Option<(MerchantId, CheckoutReference)> {
    Some((request.text(0).parse().ok()?, request.text(1).parse().ok()?))
}

/// The page of an address at which there is no checkout. It names no shop.
fn unknown(request: &BrowserRequest) -> PageReply {
    let locale = locale::choose(request.query("lang").as_deref(), None, request.accept_language());
    PageReply::html(page::unknown(locale)).refused(Code::NotFound)
}

/// The address of the page, in the language that the customer chose.
fn own_address(path: &str, query: &str) -> String {
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// Does what a form says. What the rules refuse changes nothing, and the page shows the state that there is.
async fn carry_out(
    service: &Shared,
    merchant_id: MerchantId,
    checkout: &ShownCheckout,
    act: Option<PostedAct>,
) -> Result<(), ApiError> {
    let done = match act {
        None => return Ok(()),
        Some(PostedAct::AnotherWay { replaces }) => match replaces.parse() {
            Ok(session_id) => service.give_up_shown(merchant_id, checkout, session_id).await,
            Err(_) => return Ok(()),
        },
        Some(PostedAct::Pay { method, card_id, plan_id, replaces }) => {
            let Some(choice) = choice(method, card_id, plan_id) else { return Ok(()) };
            let replaces = replaces.and_then(|text| text.parse().ok());
            service.pay_shown(merchant_id, checkout, choice, replaces).await
        }
    };
    match done {
        Err(error) if error.code() == Code::Unavailable => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The choice of a form. A new card is chosen by script only, since its number is in no form.
fn choice(method: PaymentMethod, card_id: Option<String>, plan_id: Option<String>) -> Option<CheckoutChoice> {
    match method {
        PaymentMethod::Card => Some(CheckoutChoice::SavedCard(CardRef::Own(card_id?.parse().ok()?))),
        PaymentMethod::Installment => {
            let plan_id = plan_id?;
            let plan = InstallmentPlan::ALL.into_iter().find(|plan| plan.id() == plan_id);
            plan.map(CheckoutChoice::Installment)
        }
        PaymentMethod::PromptPay => Some(CheckoutChoice::PromptPay),
        PaymentMethod::MobileBanking => Some(CheckoutChoice::MobileBanking),
    }
}

/// The page of the sandbox's wallet on which the QR code is paid. Without it the customer scans the code.
pub(super) async fn wallet(service: &Shared, checkout: &ShownCheckout) -> Option<String> {
    let Some(CustomerAction { step: CustomerStep::DisplayQr(text), .. }) = &checkout.action else { return None };
    match checkout.offered.payment.as_ref()?.acquirer {
        AcquirerName::Sandbox => {
            let action = service.sandbox.find_bill(text.as_str()).await.ok()??;
            Some(action.page.path(action.id))
        }
    }
}
