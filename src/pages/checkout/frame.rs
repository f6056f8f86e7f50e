//! `/frame/{merchant_id}/{form}`: a checkout in a shop's own page, or the payment form of an installation: contract,
//! section 9.7. Only pages of the installation's own origin may hold it.

use askama::Template;
use serde_json::{Value, json};
use till_domain::failure::FailureCode;
use till_domain::ids::InstallationId;
use till_domain::merchant::Platform;
use till_protocol::api_error::ApiError;
use till_protocol::dispatch::{PageDeclaration, PageReply};

use super::choice::{Choice, ChoiceKind, OfferedPlan, choices, plans};
use super::failure::{ExplainedFailure, explanation};
use super::locale::{self, Locale};
use super::message::Message;
use super::words::Words;
use super::{assets, page, pay};
use crate::endpoints::pages::SHOW_FORM;
use crate::pages::answered::{AnsweredObject, Request, look_up};

/// `form` is an installation, or the last segment of a checkout's address.
pub(in crate::pages) static FRAME: PageDeclaration =
    PageDeclaration { pattern: "/frame/{merchant_id}/{form}", has_form: false };

#[derive(Template)]
#[template(path = "frame.html")]
struct FramePage<'a> {
    words: Words,
    merchant_id: &'a str,
    form: &'a Value,
    choices: Vec<Choice>,
    plans: Vec<OfferedPlan>,
    offers_saving: bool,
    failures: Vec<ExplainedFailure>,
}

/// Shows the checkout or form. An address that leads to none gets a page that says nothing, and that no page may hold.
pub(in crate::pages) async fn frame((): (), request: Request) -> Result<PageReply, ApiError> {
    let is_form = request.text(1).parse::<InstallationId>().is_ok();
    let found = if is_form { form(&request).await? } else { mounted(&request).await? };
    Ok(found.unwrap_or_else(|| PageReply::html(nothing()).shared()))
}

/// The form of an installation.
async fn form(request: &Request) -> Result<Option<PageReply>, ApiError> {
    let named = json!({ "merchant_id": request.text(0), "installation_id": request.text(1) });
    let Some(form) = look_up(request, &SHOW_FORM, &named).await? else { return Ok(None) };
    let locale = locale::choose(request.query("lang").as_deref(), None, request.accept_language());
    let html = html(request.text(0), &form, locale);
    Ok(Some(PageReply::html(html).framed_by(form.text("origin").to_owned())))
}

/// A checkout, which a page of its installation's web site may show, too.
async fn mounted(request: &Request) -> Result<Option<PageReply>, ApiError> {
    let Some(checkout) = pay::find_checkout(request).await? else { return Ok(None) };
    let is_of_web_site = checkout.text("platform") == Platform::Web.name();
    if !is_of_web_site || checkout.is("is_suspended") {
        return Ok(None);
    }
    let html = page::framed(request.text(0), &checkout, pay::language(request, &checkout))?;
    Ok(Some(PageReply::html(html).framed_by(checkout.text("origin").to_owned())))
}

/// The page with the form. It stays hidden until the shop's script has said what to show.
pub(super) fn html(merchant_id: &str, form: &Value, locale: Locale) -> String {
    let words = Words::of(locale);
    // The last one is for all that are a decline.
    let explained = FailureCode::ALL.into_iter().filter(|code| explanation(*code) != Message::FailedDeclined);
    let failures = explained.chain([FailureCode::CardDeclined]).map(|code| ExplainedFailure::of(code, words));
    let page = FramePage {
        words,
        merchant_id,
        form,
        choices: choices(words, form),
        plans: plans(words, form),
        offers_saving: false,
        failures: failures.collect(),
    };
    page.render().expect("a template into a text cannot fail")
}

/// The page of an installation that has no frame. It says nothing.
fn nothing() -> String {
    "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>Payment form</title>".to_owned()
}
