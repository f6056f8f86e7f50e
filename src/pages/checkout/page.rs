//! The checkout page in each of its states.

use std::borrow::Cow;
use std::sync::Arc;

use askama::Template;
use till_domain::money::Currency;

use super::amount::{amount, amount_of_several};
use super::assets;
use super::choice::{Choice, ChoiceKind, choices};
use super::color;
use super::failure;
use super::locale::Locale;
use super::message::Message;
use super::qr::QrDrawing;
use super::view::{CheckoutView, Line, OfferedPlan, State};
use super::words::{Phrase, Words};

/// The number of lines up to which the order is unfolded.
const LINES_SHOWN_MAX: usize = 3;

/// The seconds after which the page loads itself again, without script, while a payment is in progress.
const RELOAD_SECONDS: u32 = 5;

/// The seconds after which the page goes to the shop, without script. The script takes as long.
const GO_ON_SECONDS: u32 = 2;

/// The time that is left is shown in the last quarter of the whole.
const LAST_PART: u64 = 4;

#[derive(Template)]
#[template(path = "checkout.html")]
struct CheckoutPage<'a> {
    words: Words,
    view: &'a CheckoutView,
    title: Phrase,
    merchant: &'a [(&'a str, &'a str)],
    amount_size: &'static str,
    amount: String,
    lines: Vec<ShownLine<'a>>,
    choices: Vec<Choice>,
    plans: &'a [OfferedPlan],
    offers_saving: bool,
    pay: Phrase,
    return_to: Phrase,
    scan: Option<ShownScan>,
    style: Cow<'static, str>,
    refresh: Option<String>,
    state_word: &'static str,
    session_id: Option<&'a str>,
    has_shop_in_footer: bool,
    goes_on: bool,
    failed: Option<&'a str>,
    frame: Option<Frame<'a>>,
}

/// The frame of a shop's own page in which a checkout is shown.
pub(super) struct Frame<'a> {
    /// The only origin whose page may hold the frame.
    pub(super) origin: &'a str,
    /// The session of the payment that is in progress, or of the last one.
    pub(super) last_session_id: Option<String>,
    /// The failure code of the last payment, for the shop's script.
    pub(super) failure_code: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "checkout_unknown.html")]
struct UnknownPage {
    words: Words,
}

/// The code of a payment by QR code, and the time that is left to scan it.
struct ShownScan {
    drawing: Option<Arc<QrDrawing>>,
    shows_time: bool,
    /// Minutes and seconds, such as `3:05`.
    time_left: String,
}

struct ShownLine<'a> {
    name: &'a str,
    quantity: u64,
    price: String,
}

/// The page of a checkout.
pub(super) fn page(view: &CheckoutView, locale: Locale) -> String {
    shown(view, locale, None)
}

/// The same in a frame. It stays hidden until the shop's script has said what to show, and goes nowhere by itself.
pub(super) fn framed(view: &CheckoutView, locale: Locale, frame: Frame<'_>) -> String {
    shown(view, locale, Some(frame))
}

fn shown(view: &CheckoutView, locale: Locale, frame: Option<Frame<'_>>) -> String {
    let words = Words::of(locale);
    let amount = amount(view.money, locale);
    let merchant = [("merchant", view.merchant.as_str())];
    let page = CheckoutPage {
        words,
        view,
        title: words.with(if frame.is_some() { Message::PaymentForm } else { Message::PayMerchant }, &merchant),
        merchant: &merchant,
        lines: view.lines.iter().map(|line| ShownLine::of(line, view.money.currency, locale)).collect(),
        choices: offered(words, view),
        plans: &view.plans,
        offers_saving: view.offers_saving,
        pay: words.with(Message::PayAmount, &[("amount", &amount)]),
        amount_size: size_of(&amount),
        amount,
        return_to: words.with(Message::ReturnTo, &merchant),
        scan: ShownScan::of(&view.state),
        style: style(view.color.as_deref()),
        refresh: refresh(&view.state).filter(|_| frame.is_none()),
        state_word: state_word(&view.state),
        session_id: session_id(&view.state),
        has_shop_in_footer: has_shop_in_footer(&view.state),
        goes_on: frame.is_none() && matches!(view.state, State::Successful { just_now: true, .. }),
        failed: failure_code(&view.state),
        frame,
    };
    page.render().expect("a template into a text cannot fail")
}

/// The page of an address at which there is no checkout. It names no shop.
pub(super) fn unknown(locale: Locale) -> String {
    UnknownPage { words: Words::of(locale) }.render().expect("a template into a text cannot fail")
}

impl ShownLine<'_> {
    fn of(line: &Line, currency: Currency, locale: Locale) -> ShownLine<'_> {
        let price = amount_of_several(line.amount_minor, line.quantity, currency, locale);
        ShownLine { name: &line.name, quantity: line.quantity, price }
    }
}

impl ShownScan {
    fn of(state: &State) -> Option<ShownScan> {
        let State::Scan { text, seconds_left, seconds_whole, .. } = state else { return None };
        let shows_time = *seconds_left <= seconds_whole / LAST_PART;
        let time_left = format!("{}:{:02}", seconds_left / 60, seconds_left % 60);
        Some(ShownScan { drawing: QrDrawing::of(text), shows_time, time_left })
    }
}

/// The style of the page, with the merchant's colour where it is legible.
fn style(color: Option<&str>) -> Cow<'static, str> {
    color.and_then(color::path).map_or(Cow::Borrowed(assets::style_path()), Cow::Owned)
}

/// The class of an amount that needs smaller letters, since it is never broken.
fn size_of(amount: &str) -> &'static str {
    match amount.chars().count() {
        ..=14 => "",
        15..=20 => "long",
        21.. => "longest",
    }
}

fn offered(words: Words, view: &CheckoutView) -> Vec<Choice> {
    match view.state {
        State::Choosing { chosen, .. } => choices(words, &view.methods, &view.saved_cards, chosen),
        State::Processing { .. }
        | State::Confirm { .. }
        | State::Scan { .. }
        | State::Successful { .. }
        | State::Expired { .. }
        | State::Suspended => Vec::new(),
    }
}

/// The value of `refresh`, by which a browser without script goes on by itself.
fn refresh(state: &State) -> Option<String> {
    match state {
        State::Processing { .. } | State::Confirm { .. } | State::Scan { .. } => Some(RELOAD_SECONDS.to_string()),
        State::Successful { shop, just_now: true } => Some(format!("{GO_ON_SECONDS};url={shop}")),
        State::Successful { just_now: false, .. }
        | State::Choosing { .. }
        | State::Expired { .. }
        | State::Suspended => None,
    }
}

/// The word by which the script knows the state.
const fn state_word(state: &State) -> &'static str {
    match state {
        State::Choosing { .. } => "choosing",
        State::Processing { .. } => "processing",
        State::Confirm { .. } => "confirm",
        State::Scan { .. } => "scan",
        State::Successful { .. } => "successful",
        State::Expired { .. } => "expired",
        State::Suspended => "suspended",
    }
}

fn failure_code(state: &State) -> Option<&str> {
    match state {
        State::Choosing { failed, .. } | State::Expired { failed } => failed.as_deref(),
        State::Processing { .. }
        | State::Confirm { .. }
        | State::Scan { .. }
        | State::Successful { .. }
        | State::Suspended => None,
    }
}

fn session_id(state: &State) -> Option<&str> {
    match state {
        State::Processing { session_id } | State::Confirm { session_id, .. } | State::Scan { session_id, .. } => {
            Some(session_id)
        }
        State::Choosing { .. } | State::Successful { .. } | State::Expired { .. } | State::Suspended => None,
    }
}

/// False where the link to the shop is the page's main one.
const fn has_shop_in_footer(state: &State) -> bool {
    match state {
        State::Choosing { .. } | State::Processing { .. } | State::Confirm { .. } | State::Scan { .. } => true,
        State::Successful { .. } | State::Expired { .. } | State::Suspended => false,
    }
}
