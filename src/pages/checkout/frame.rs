//! The payment form in a frame of a shop's own page: contract, section 9.7.

use askama::Template;

use super::assets;
use super::choice::{Choice, ChoiceKind, choices};
use super::failure;
use super::frame_view::FrameView;
use super::locale::Locale;
use super::message::Message;
use super::view::OfferedPlan;
use super::words::Words;

#[derive(Template)]
#[template(path = "frame.html")]
struct FramePage<'a> {
    words: Words,
    view: &'a FrameView,
    choices: Vec<Choice>,
    plans: &'a [OfferedPlan],
    offers_saving: bool,
    failures: Vec<ExplainedFailure>,
}

/// The reason for which a payment failed, for the script.
struct ExplainedFailure {
    code: &'static str,
    words: String,
    is_customers_own: bool,
}

/// The page in the frame. It stays hidden until the shop's script has said what to show.
pub(super) fn page(view: &FrameView, locale: Locale) -> String {
    let words = Words::of(locale);
    let choices = choices(words, &view.methods, &[], None);
    let failures = failure::EXPLAINED.map(|code| ExplainedFailure {
        code,
        words: words.text(failure::explanation(code)),
        is_customers_own: failure::is_customers_own(code),
    });
    let page = FramePage { words, view, choices, plans: &view.plans, offers_saving: false, failures: failures.into() };
    page.render().expect("a template into a text cannot fail")
}

/// The page of an installation that has no frame. It says nothing.
pub(super) fn nothing() -> String {
    "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>Payment form</title>".to_owned()
}
