//! The sandbox's own book against the expected calls: it lists every call that reached the acquirer, so that a call
//! that was made twice shows in it whatever its result was.

use std::collections::BTreeSet;
use std::path::Path;

use till_domain::ids::MerchantId;
use till_domain::payment::CaptureMode;
use till_sandbox::book::{
    AuthorizeOutcome, Book, BookLine, BookOperation, PayoutOutcome, RocksBook, totals_by_merchant,
};

use super::cards::Fate;
use super::inspection::assert_same;
use super::merchants::LoadedMerchant;
use super::payment::KnownPayment;
use super::payout::Payout;
use super::truth::Truth;

/// A line of a book: payment, step, amount, and result. The step is the reference without the payment and without the
/// number of the attempt; that of a refund includes the refund.
type LineSummary = (String, String, u64, String);

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
pub(super) fn asked(book: &RocksBook) -> BTreeSet<String> {
    book.entries().filter_map(|line| line.expect("the book reads").payment).map(|id| id.to_string()).collect()
}

/// Checks the book, once all effects have settled.
pub(super) fn check(data: &Path, merchants: &[LoadedMerchant], truths: &[Truth], extent: Extent) {
    let book = open(data);
    if extent == Extent::Whole {
        totals_by_merchant(&book).expect("the book agrees with itself");
    }
    let is_known = |(_, step, _, _): &LineSummary| extent == Extent::Whole || step == "authorize";
    for (merchant, truth) in merchants.iter().zip(truths) {
        let id: MerchantId = merchant.shop.merchant_id.parse().expect("a merchant's id");
        let lines = book.entries().map(|line| line.expect("the book reads")).filter(|line| line.merchant == id);
        let lines =
            lines.filter(|line| extent == Extent::Whole || matches!(line.operation, BookOperation::Authorize { .. }));
        let (of_payments, payouts): (Vec<BookLine>, Vec<BookLine>) = lines.partition(|line| line.payment.is_some());
        check_payouts(&payouts, truth, extent);
        let mut found: Vec<LineSummary> = of_payments.iter().flat_map(lines_of).filter(is_known).collect();
        found.sort();
        let mut expected: Vec<LineSummary> = truth.payments.iter().flat_map(expected_lines).filter(is_known).collect();
        expected.sort();
        assert_same("calls in the sandbox's book", &found, &expected);
    }
}

/// Each payout reached the acquirer once, and ended as its amount says.
fn check_payouts(lines: &[BookLine], truth: &Truth, extent: Extent) {
    if extent == Extent::Authorizations {
        return;
    }
    let mut found: Vec<(String, u64, String)> =
        lines.iter().map(|line| (line.reference.clone(), line.money.amount.get(), end_of(line))).collect();
    found.sort();
    let end = |payout: &Payout| payout.failure().unwrap_or("done").to_owned();
    let expected = truth.payouts.iter().map(|(id, payout)| (format!("{id}/pay"), payout.minor, end(payout)));
    assert_same("payouts in the sandbox's book", &found, &expected.collect::<Vec<_>>());
}

/// The line itself; of an authorization also a line for each of its refunds.
fn lines_of(line: &BookLine) -> Vec<LineSummary> {
    let payment = line.payment.expect("it is about a payment").to_string();
    let step = line.reference.strip_prefix(&format!("{payment}/")).expect("a reference begins with its payment");
    let is_refund = step.starts_with("refund/");
    let step = if is_refund { step } else { step.split('/').next().unwrap_or_default() };
    let refunded =
        refunded_minor(&line.operation).map(|minor| (payment.clone(), "refunded".to_owned(), minor, String::new()));
    let own = (payment, step.to_owned(), line.money.amount.get(), end_of(line));
    std::iter::once(own).chain(refunded).collect()
}

fn refunded_minor(operation: &BookOperation) -> Option<u64> {
    match operation {
        BookOperation::Authorize { outcome: AuthorizeOutcome::Approved(standing), .. } => Some(standing.refunded_minor),
        BookOperation::Authorize { outcome: AuthorizeOutcome::Declined(_) | AuthorizeOutcome::Waiting, .. }
        | BookOperation::FollowUp { .. }
        | BookOperation::TimedOut
        | BookOperation::PendingRefund { .. }
        | BookOperation::Payout(_)
        | BookOperation::CancelAction { .. }
        | BookOperation::Bill { .. }
        | BookOperation::LateApproval { .. } => None,
    }
}

fn end_of(line: &BookLine) -> String {
    match &line.operation {
        BookOperation::Authorize { outcome: AuthorizeOutcome::Approved(standing), capture, .. } => {
            approved(*capture == CaptureMode::Automatic, standing.captured_minor, standing.voided_minor)
        }
        BookOperation::Authorize { outcome: AuthorizeOutcome::Declined(reason), .. } => reason.code().to_owned(),
        BookOperation::FollowUp { declined, .. } => declined.map_or("done", |reason| reason.code()).to_owned(),
        BookOperation::TimedOut => "timed out".to_owned(),
        BookOperation::PendingRefund { .. } | BookOperation::Payout(PayoutOutcome::Pending) => "pending".to_owned(),
        BookOperation::Authorize { outcome: AuthorizeOutcome::Waiting, .. } => "waiting".to_owned(),
        BookOperation::CancelAction { was_too_late, .. } => format!("too late: {was_too_late}"),
        BookOperation::Bill { .. } | BookOperation::LateApproval { .. } => "done".to_owned(),
        BookOperation::Payout(PayoutOutcome::Paid) => "done".to_owned(),
        BookOperation::Payout(PayoutOutcome::Declined(reason)) => reason.code().to_owned(),
    }
}

fn approved(is_automatic: bool, captured: u64, voided: u64) -> String {
    let mode = if is_automatic { "automatic" } else { "manual" };
    format!("approved, {mode}: {captured} captured, {voided} voided")
}

/// The calls that a payment leads to, each once.
fn expected_lines((id, payment): (&String, &KnownPayment)) -> Vec<LineSummary> {
    let line = |step: &str, minor: u64, end: &str| (id.clone(), step.to_owned(), minor, end.to_owned());
    let sale = &payment.sale;
    if let Fate::Declined(code) = sale.fate {
        return vec![line("authorize", sale.minor, code)];
    }
    let captured = payment.captured_minor();
    let voided = if payment.is_given_up() { sale.minor } else { 0 };
    let reversed = if payment.is_reversed() { captured } else { 0 };
    let authorized = line("authorize", sale.minor, &approved(sale.capture, captured, voided));
    let mut lines = vec![authorized, line("refunded", payment.refunded_minor() + reversed, "")];
    let capture_end = match sale.fate {
        Fate::CaptureRefused(code) => code,
        Fate::Approved | Fate::RefundsRefused(_) | Fate::Disputed | Fate::Declined(_) => "done",
    };
    let by_itself = payment.fails_by_its_capture().then_some(sale.minor);
    lines.extend(payment.captures.iter().copied().chain(by_itself).map(|minor| line("capture", minor, capture_end)));
    lines.extend((voided > 0).then(|| line("void", voided, "done")));
    lines.extend((reversed > 0).then(|| line("reverse", reversed, "done")));
    let refund_end = sale.fate.refund_failure().unwrap_or("done");
    lines.extend(payment.refunds.iter().map(|(refund_id, refund)| {
        let raw = refund_id.strip_prefix("rfn_").expect("the id of a refund");
        line(&format!("refund/{raw}"), refund.minor, refund_end)
    }));
    lines
}
