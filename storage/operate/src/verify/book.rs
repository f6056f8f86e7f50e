//! Compares the acquirer's book with the payments: the results of the acquirer with those in the logs.
//!
//! Line by line, the payment's recorded result must be the line's, unless a call for it is still open. Then each
//! merchant's captures and payouts must have the same sums: a missing line shows there. Several threads look payments
//! up at a time, one section of the book after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread;

use till_domain::effect::EffectId;
use till_domain::ids::{MerchantId, PaymentId, PayoutId};
use till_domain::payment::{Payment, PaymentStatus};
use till_domain::payout::PayoutStatus;
use till_domain::records::{AnyKey, Effects, Payments, Payouts, Rows, Unreadable};
use till_storage::rows::RowReader;
use till_storage::shapes::row_key;
use till_storage::vault::Keyring;

use crate::acquirer_book::{AcquirerBook, AcquirerBookError, AcquirerLine, AuthorizationLine, LineEnd, PayoutLine};

use super::fault::{BookSums, FaultLocation, Wrong};
use super::faults::Faults;
use super::job::Job;
use super::personal::ReplayPersonal;
use super::row_name::RowName;
use super::strays::Merchants;
use super::threads::threads;

/// The captures in the logs of the merchants whose rows are complete.
pub(super) type Captures = BTreeMap<MerchantId, BookSums>;

/// Lines whose payments are looked up together: some 20 MB.
const LINES_AT_ONCE: usize = 65_536;

/// Compares the book with the payments.
pub(super) fn check(
    book: &dyn AcquirerBook,
    rows: &(dyn RowReader + Sync),
    merchants: &Merchants,
    captures: &Captures,
    job: &mut Job<'_>,
) {
    let (mut tally, mut lines) = (BookTally::default(), Vec::new());
    for line in book.lines() {
        job.count_book_line();
        match line {
            Ok(line) => {
                // Nothing can be said of a merchant whose rows are incomplete, or not derived up to the head.
                if captures.contains_key(&line.merchant_id) || !merchants.contains_key(&line.merchant_id) {
                    lines.push(line);
                }
            }
            Err(error) => {
                tally.incomplete = true;
                let (location, wrong) = damage(error);
                job.faults.add(None, location, wrong);
            }
        }
        if lines.len() >= LINES_AT_ONCE {
            tally.add_lines(&lines, rows, job);
            lines.clear();
        }
    }
    tally.add_lines(&lines, rows, job);
    tally.check_sums(captures, job);
}

fn damage(error: AcquirerBookError) -> (FaultLocation, Wrong) {
    match error {
        AcquirerBookError::Line { reference, reason } => {
            (FaultLocation::BookLine { reference }, Wrong::Undecodable { reason })
        }
        AcquirerBookError::Unusable { reason } => (FaultLocation::Book, Wrong::Unreadable { reason }),
    }
}

/// The payments that have a line, if their result is recorded.
#[derive(Default)]
struct BookTally {
    sums: Captures,
    /// Merchants with a payment that could not be read.
    unclear: BTreeSet<MerchantId>,
    incomplete: bool,
}

impl BookTally {
    fn add_lines(&mut self, lines: &[AcquirerLine], rows: &(dyn RowReader + Sync), job: &mut Job<'_>) {
        let judged = Judge { rows, keyring: job.keyring, faults: &job.faults }.judge_all(lines);
        for (line, judged) in lines.iter().zip(judged) {
            if judged.is_unclear {
                self.unclear.insert(line.merchant_id);
            }
            self.add(line.merchant_id, judged.captured_minor);
            self.sums.entry(line.merchant_id).or_default().payouts += u64::from(judged.is_ended_payout);
            if let Some(wrong) = judged.wrong {
                job.fault(line.merchant_id, FaultLocation::BookLine { reference: line.reference.clone() }, wrong);
            }
        }
    }

    fn add(&mut self, merchant_id: MerchantId, captured_minor: Option<u64>) {
        let Some(captured_minor) = captured_minor else { return };
        let sums = self.sums.entry(merchant_id).or_default();
        sums.count += 1;
        sums.captured_minor += u128::from(captured_minor);
    }

    fn check_sums(&self, captures: &Captures, job: &mut Job<'_>) {
        if self.incomplete {
            return;
        }
        for (&merchant_id, &log) in captures.iter().filter(|(merchant_id, _)| !self.unclear.contains(merchant_id)) {
            let book = self.sums.get(&merchant_id).copied().unwrap_or_default();
            if book != log {
                job.fault(merchant_id, FaultLocation::Book, Wrong::OtherSums { book, log });
            }
        }
    }
}

/// The judgement of a line.
#[derive(Default)]
struct Judged {
    /// The captured amount of its payment, if it was captured.
    captured_minor: Option<u64>,
    /// True when it is of a payout that has ended in the log.
    is_ended_payout: bool,
    /// True when its payment could not be read, or is not as the log says: then the book is not at fault.
    is_unclear: bool,
    wrong: Option<Wrong>,
}

/// Looks up the payments of lines.
struct Judge<'a> {
    rows: &'a (dyn RowReader + Sync),
    keyring: &'a Arc<Keyring>,
    /// The faults that were found before the book was checked.
    faults: &'a Faults,
}

impl Judge<'_> {
    /// Judges lines on a thread for each processor.
    fn judge_all(&self, lines: &[AcquirerLine]) -> Vec<Judged> {
        let share = lines.len().div_ceil(threads()).max(1);
        thread::scope(|scope| {
            let parts: Vec<_> = lines.chunks(share).map(|part| scope.spawn(move || self.judge_part(part))).collect();
            parts.into_iter().flat_map(|part| part.join().expect("looking a payment up does not panic")).collect()
        })
    }

    /// Judges lines on one thread. It keeps keys of persons in memory from line to line of a merchant.
    fn judge_part(&self, lines: &[AcquirerLine]) -> Vec<Judged> {
        let of_one_merchant = |left: &AcquirerLine, right: &AcquirerLine| left.merchant_id == right.merchant_id;
        let mut judged = Vec::with_capacity(lines.len());
        for lines in lines.chunk_by(of_one_merchant) {
            let personal = ReplayPersonal::new(lines[0].merchant_id, self.keyring, self.rows);
            judged.extend(lines.iter().map(|line| self.judge(line, &personal)));
        }
        judged
    }

    fn judge(&self, line: &AcquirerLine, personal: &ReplayPersonal<'_>) -> Judged {
        let Some(end) = line.end else { return Judged::default() };
        let (key, judged) = match end {
            LineEnd::Authorization(id, authorization) => {
                (AnyKey::Payments(id), judge_authorization(line, id, authorization, personal))
            }
            LineEnd::Payout(id, payout) => (AnyKey::Payouts(id), judge_payout(line, id, payout, personal)),
        };
        let is_known_faulty = self.is_known_faulty(line.merchant_id, &key, personal);
        // A row that cannot be read is reported where rows are walked.
        let judged = judged.ok().filter(|_| !is_known_faulty);
        judged.unwrap_or_else(|| Judged { is_unclear: true, ..Judged::default() })
    }

    /// True when the row that the line is about is not as the log says.
    fn is_known_faulty(&self, merchant_id: MerchantId, key: &AnyKey, personal: &ReplayPersonal<'_>) -> bool {
        if self.faults.first().is_none() {
            return false;
        }
        let (family, key) = row_key(merchant_id, key, personal);
        self.faults.knows(Some(merchant_id), &FaultLocation::Row(RowName::of(family, &key)))
    }
}

fn judge_authorization(
    line: &AcquirerLine,
    payment_id: PaymentId,
    authorization: AuthorizationLine,
    personal: &ReplayPersonal<'_>,
) -> Result<Judged, Unreadable> {
    let is_open = personal.get::<Effects>(EffectId::operation(payment_id))?.is_some();
    let Some(payment) = personal.get::<Payments>(payment_id)? else {
        return Ok(Judged { wrong: Some(Wrong::NoPayment), ..Judged::default() });
    };
    let captured_minor = payment.capture.map(|capture| capture.amount_minor);
    let wrong = difference(line, authorization, &payment).filter(|_| !is_open);
    Ok(Judged { captured_minor, wrong, ..Judged::default() })
}

/// Checks that a payout's result is recorded, unless the call for it is still open.
fn judge_payout(
    line: &AcquirerLine,
    payout_id: PayoutId,
    end: PayoutLine,
    personal: &ReplayPersonal<'_>,
) -> Result<Judged, Unreadable> {
    let Some(payout) = personal.get::<Payouts>(payout_id)? else {
        return Ok(Judged { wrong: Some(Wrong::NoPayout), ..Judged::default() });
    };
    let agrees = match payout.status {
        PayoutStatus::Pending => true,
        PayoutStatus::Successful => end == PayoutLine::Paid,
        PayoutStatus::Failed => end == PayoutLine::Declined,
    };
    let wrong = (!agrees || payout.money != line.money).then_some(Wrong::OtherResult);
    Ok(Judged { wrong, is_ended_payout: payout.status != PayoutStatus::Pending, ..Judged::default() })
}

fn difference(line: &AcquirerLine, authorization: AuthorizationLine, payment: &Payment) -> Option<Wrong> {
    let (approved, expired) = (payment.authorization.is_some(), payment.status == PaymentStatus::Expired);
    // A payment that was voided while its customer had to act has no approval, unless one came late.
    let ended_before = payment.late_success.is_some() || (payment.status == PaymentStatus::Voided && !approved);
    let is_over = expired || payment.failure.is_some() || ended_before;
    if !approved && !is_over {
        return Some(Wrong::NoResult);
    }
    let agrees = match authorization {
        // The captured amount of a payment that expired or failed is given back.
        AuthorizationLine::Approved { captured_minor } => {
            approved && (is_over || captured_minor == payment.captured_minor())
        }
        AuthorizationLine::Declined => is_over && !approved,
        // A call is open as long as the acquirer waits.
        AuthorizationLine::Waiting => false,
    };
    (!agrees || payment.money != line.money).then_some(Wrong::OtherResult)
}
