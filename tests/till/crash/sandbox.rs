//! The sandbox's own book against the ledger: it lists every call that reached the acquirer, so that a call that was
//! made twice shows in it whatever its result was.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use till_domain::ids::MerchantId;
use till_sandbox::book::{
    AuthorizationState, AuthorizeOutcome, Book, BookLine, BookOperation, PayoutOutcome, RocksBook, totals_by_merchant,
};

use crate::harness::Shop;

use super::inspection::assert_same;
use super::merchants::LoadedMerchant;
use super::object_kind::{ENTRY, PAYMENT, PAYOUT, REFUND};
use super::shown::{Shown, amount, text};
use super::truth::Truth;

/// A line of a book: the object that it is about, the step, and true when it was carried out. The step is the reference
/// without the object and without the number of the attempt; that of a refund includes the refund.
type LineSummary = (String, String, bool);

/// The part of a book that is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Every call that was ever made.
    Whole,
    /// The results of authorizations only: the book was reconciled with the logs after a restore.
    Authorizations,
}

/// Opens the book of a data directory, also while a server runs or after a kill.
pub(super) fn open(data: &Path) -> RocksBook {
    RocksBook::open_read_only(&data.join("sandbox")).expect("the book opens unchanged")
}

/// The payments that the acquirer was asked for.
pub(super) fn payments_of(book: &RocksBook) -> BTreeSet<String> {
    book.entries().filter_map(|line| line.expect("the book reads").payment).map(|id| id.to_string()).collect()
}

/// Checks the book, once all effects have settled.
pub(super) fn check(data: &Path, merchants: &[LoadedMerchant], truths: &[Truth], extent: Extent) {
    let book = open(data);
    if extent == Extent::Whole {
        totals_by_merchant(&book).expect("the book agrees with itself");
    }
    for (merchant, truth) in merchants.iter().zip(truths) {
        let lines = lines_of(&book, &merchant.shop);
        check_money(&lines, &truth.shown, extent);
        if extent == Extent::Whole {
            check_lines(&lines, truth);
        }
    }
}

/// The lines of a merchant.
pub(super) fn lines_of(book: &RocksBook, shop: &Shop) -> Vec<BookLine> {
    let merchant: MerchantId = shop.merchant_id.parse().expect("a merchant's id");
    book.entries().map(|line| line.expect("the book reads")).filter(|line| line.merchant == merchant).collect()
}

/// The approval of an authorization; None of any other line.
pub(super) fn approval(line: &BookLine) -> Option<AuthorizationState> {
    match &line.operation {
        BookOperation::Authorize { outcome: AuthorizeOutcome::Approved(state), .. } => Some(*state),
        _ => None,
    }
}

/// Each payment was authorized once, and the money that the acquirer took and gave back is the ledger's. Of a payment
/// that has ended, nothing is held or kept.
pub(super) fn check_money(lines: &[BookLine], shown: &Shown, extent: Extent) {
    let authorizations = lines.iter().filter(|line| matches!(line.operation, BookOperation::Authorize { .. }));
    let mut found: Vec<(String, Option<AuthorizationState>)> =
        authorizations.map(|line| (line.payment.expect("a payment").to_string(), approval(line))).collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    let mut authorized: Vec<&str> = shown.objects(&PAYMENT).map(|payment| text(payment, PAYMENT.id)).collect();
    authorized.reverse(); // They are listed newest first.
    let ids: Vec<&str> = found.iter().map(|(id, _)| id.as_str()).collect();
    assert_same("authorizations in the sandbox's book", &ids, &authorized);
    let posted = sum_entries(shown);
    let payments: BTreeMap<&str, &Value> =
        shown.objects(&PAYMENT).map(|payment| (text(payment, PAYMENT.id), payment)).collect();
    for (id, state) in &found {
        let (captured, refunded) = posted.get(id.as_str()).copied().unwrap_or_default();
        let Some(state) = state else {
            assert_eq!(captured, 0, "{id} was declined, and is in the ledger");
            continue;
        };
        let payment = payments[id.as_str()];
        let is_late = !payment["late_success"].is_null();
        let is_over = is_late || payment["status"] == "VOIDED" || payment["status"] == "FAILED";
        let held = if is_over && state.captured_minor == 0 { amount(payment, "amount") } else { 0 };
        assert_eq!(state.voided_minor, held, "voided by the book: {payment}");
        // A success that came too late is given back by the acquirer, and the ledger has nothing of it.
        let returned = if is_late { state.captured_minor } else { 0 };
        assert_eq!(state.captured_minor, captured + returned, "captured by the book: {payment}");
        let is_told = extent == Extent::Whole;
        assert!(!is_told || state.refunded_minor == refunded + returned, "refunded by the book {state:?}: {payment}");
    }
}

/// The captured and the refunded amount of each payment that was captured, as the ledger has them. A reversal cancels
/// the capture.
fn sum_entries(shown: &Shown) -> BTreeMap<&str, (u64, u64)> {
    let mut posted: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for entry in shown.objects(&ENTRY).filter(|entry| entry["type"] == "PAYMENT" || entry["type"] == "REFUND") {
        let (captured, refunded) = posted.entry(text(entry, PAYMENT.id)).or_default();
        let (minor, is_canceled) = (amount(entry, "amount"), entry["status"] == "CANCELED");
        let is_capture = entry["type"] == "PAYMENT";
        *captured += if is_capture { minor } else { 0 };
        *refunded += if is_capture == is_canceled { minor } else { 0 };
    }
    posted
}

/// Each call that was done has reached the acquirer once, and no other.
fn check_lines(lines: &[BookLine], truth: &Truth) {
    let mut found: Vec<LineSummary> = lines.iter().map(summary).collect();
    found.sort();
    let mut expected: Vec<LineSummary> =
        truth.shown.objects(&PAYMENT).flat_map(|payment| expected_lines(payment, truth)).collect();
    for refund in truth.shown.objects(&REFUND) {
        let raw = text(refund, REFUND.id).strip_prefix("rfn_").expect("the id of a refund");
        let step = format!("refund/{raw}");
        expected.push((text(refund, PAYMENT.id).to_owned(), step, refund["status"] == "SUCCESSFUL"));
    }
    let paid =
        |payout: &Value| (text(payout, PAYOUT.id).to_owned(), "pay".to_owned(), payout["status"] == "SUCCESSFUL");
    expected.extend(truth.shown.objects(&PAYOUT).map(paid));
    expected.sort();
    assert_same("calls in the sandbox's book", &found, &expected);
}

/// The calls for a payment itself. A payment that fails after its authorization fails by its own capture, and is
/// voided.
fn expected_lines(payment: &Value, truth: &Truth) -> Vec<LineSummary> {
    let id = text(payment, PAYMENT.id);
    let is_authorized = !payment["authorized_at"].is_null();
    let is_captured = payment["amount_captured"] != 0;
    let fails_by_its_capture = usize::from(payment["status"] == "FAILED" && is_authorized);
    let captures = truth.times_done("/merchants/capture-payment", id) + fails_by_its_capture;
    let voids = truth.times_done("/merchants/void-payment", id) + fails_by_its_capture;
    let reversals = truth.times_done("/merchants/reverse-payment", id);
    let lines = |step: &str, times: usize, is_done: bool| vec![(id.to_owned(), step.to_owned(), is_done); times];
    let steps = [
        lines("authorize", 1, is_authorized),
        lines("capture", captures, is_captured),
        lines("void", voids, true),
        lines("reverse", reversals, true),
    ];
    steps.concat()
}

fn summary(line: &BookLine) -> LineSummary {
    let (object, step) = line.reference.split_once('/').expect("a reference begins with its object");
    let step = if step.starts_with("refund/") { step } else { step.split('/').next().unwrap_or_default() };
    let is_done = match &line.operation {
        BookOperation::FollowUp { declined, .. } => declined.is_none(),
        BookOperation::Payout(outcome) => *outcome == PayoutOutcome::Paid,
        _ => approval(line).is_some(),
    };
    (object.to_owned(), step.to_owned(), is_done)
}
