//! The checkout page in each of its states.

use std::borrow::Cow;
use std::sync::Arc;

use askama::Template;
use serde_json::Value;
use till_domain::failure::FailureCode;
use till_domain::money::Currency;
use till_protocol::api_error::ApiError;

use super::amount::{amount, amount_of_several};
use super::assets;
use super::choice::{Choice, ChoiceKind, OfferedPlan, choices, plans};
use super::color;
use super::failure::ExplainedFailure;
use super::locale::Locale;
use super::message::Message;
use super::qr::QrDrawing;
use super::words::{Phrase, Words};
use crate::endpoints::pages::ShownState;
use crate::pages::answered::AnsweredObject;

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
    merchant_id: &'a str,
    checkout: &'a Value,
    state: ShownState,
    title: Phrase,
    merchant: &'a [(&'a str, &'a str)],
    amount_size: &'static str,
    amount: String,
    lines: Vec<ShownLine<'a>>,
    choices: Vec<Choice>,
    plans: Vec<OfferedPlan>,
    offers_saving: bool,
    pay: Phrase,
    return_to: Phrase,
    scan: Option<ShownScan>,
    style: Cow<'static, str>,
    refresh: Option<String>,
    is_in_progress: bool,
    session_id: &'a str,
    shop: &'a str,
    goes_on: bool,
    failed: Option<ExplainedFailure>,
    frame: Option<Frame<'a>>,
}

/// The frame of a shop's own page in which a checkout is shown.
struct Frame<'a> {
    /// The only origin whose page may hold the frame.
    origin: &'a str,
    /// The session of the payment that is in progress, or of the last one.
    last_session_id: Option<&'a str>,
    /// The failure of the last payment, for the shop's script.
    failure: Option<ExplainedFailure>,
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
///
/// # Errors
/// `UNHANDLED_ERROR` when the call answered no checkout.
pub(super) fn page(merchant_id: &str, checkout: &Value, locale: Locale) -> Result<String, ApiError> {
    rendered(merchant_id, checkout, locale, None)
}

/// The same in a frame. It stays hidden until the shop's script has said what to show, and goes nowhere by itself.
///
/// # Errors
/// As [`page`].
pub(super) fn framed(merchant_id: &str, checkout: &Value, locale: Locale) -> Result<String, ApiError> {
    let frame = Frame {
        origin: checkout.text("origin"),
        last_session_id: checkout.optional_text("payment_session_id"),
        failure: failure(checkout, locale),
    };
    rendered(merchant_id, checkout, locale, Some(frame))
}

fn rendered(merchant_id: &str, checkout: &Value, locale: Locale, frame: Option<Frame<'_>>) -> Result<String, ApiError> {
    let words = Words::of(locale);
    let state = checkout.word("state", &ShownState::ALL, ShownState::name).ok_or_else(ApiError::unhandled)?;
    let money = checkout.money("amount", checkout.text("currency")).ok_or_else(ApiError::unhandled)?;
    let amount = amount(money, locale);
    let merchant = [("merchant", checkout.text("merchant_name"))];
    let shop = checkout.text("shop");
    let goes_on = state == ShownState::Successful && checkout.is("was_just_paid");
    let page = CheckoutPage {
        words,
        merchant_id,
        checkout,
        state,
        title: words.with(if frame.is_some() { Message::PaymentForm } else { Message::PayMerchant }, &merchant),
        merchant: &merchant,
        lines: checkout.items("lines").iter().map(|line| ShownLine::of(line, money.currency, locale)).collect(),
        choices: if state == ShownState::Choosing { choices(words, checkout) } else { Vec::new() },
        plans: plans(words, checkout),
        offers_saving: checkout.is("offers_saving"),
        pay: words.with(Message::PayAmount, &[("amount", &amount)]),
        amount_size: size_of(&amount),
        amount,
        return_to: words.with(Message::ReturnTo, &merchant),
        scan: (state == ShownState::Scan).then(|| ShownScan::of(checkout)),
        style: style(checkout.optional_text("color")),
        refresh: refresh(state, goes_on, shop).filter(|_| frame.is_none()),
        is_in_progress: is_in_progress(state),
        session_id: checkout.text("payment_session_id"),
        shop,
        goes_on: goes_on && frame.is_none(),
        failed: failure(checkout, locale).filter(|_| matches!(state, ShownState::Choosing | ShownState::Expired)),
        frame,
    };
    Ok(page.render().expect("a template into a text cannot fail"))
}

/// The page of an address at which there is no checkout. It names no shop.
pub(super) fn unknown(locale: Locale) -> String {
    UnknownPage { words: Words::of(locale) }.render().expect("a template into a text cannot fail")
}

impl ShownLine<'_> {
    fn of(line: &Value, currency: Currency, locale: Locale) -> ShownLine<'_> {
        let (amount_minor, quantity) = (line["amount"].as_i64().unwrap_or_default(), line.count("quantity"));
        let price = amount_of_several(amount_minor, quantity, currency, locale);
        ShownLine { name: line.text("name"), quantity, price }
    }
}

impl ShownScan {
    fn of(checkout: &Value) -> ShownScan {
        let (left, whole) = (checkout.count("seconds_left"), checkout.count("seconds_whole"));
        let time_left = format!("{}:{:02}", left / 60, left % 60);
        ShownScan { drawing: QrDrawing::of(checkout.text("qr_text")), shows_time: left <= whole / LAST_PART, time_left }
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

/// The value of `refresh`, by which a browser without script goes on by itself.
fn refresh(state: ShownState, goes_on: bool, shop: &str) -> Option<String> {
    if goes_on {
        return Some(format!("{GO_ON_SECONDS};url={shop}"));
    }
    is_in_progress(state).then(|| RELOAD_SECONDS.to_string())
}

/// True while a payment of the checkout has no outcome.
const fn is_in_progress(state: ShownState) -> bool {
    match state {
        ShownState::Processing | ShownState::Confirm | ShownState::Scan => true,
        ShownState::Choosing | ShownState::Successful | ShownState::Expired | ShownState::Suspended => false,
    }
}

/// The failure of the last payment.
fn failure(checkout: &Value, locale: Locale) -> Option<ExplainedFailure> {
    let code = checkout.word("failure_code", &FailureCode::ALL, FailureCode::name)?;
    Some(ExplainedFailure::of(code, Words::of(locale)))
}
