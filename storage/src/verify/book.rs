//! The sandbox's book against the payments: what the sandbox did and what the logs say it did.
//!
//! Line by line, the payment's recorded result must be the line's, unless a call for it is still open. Then
//! each merchant's captures must come to the same: a line that is missing shows in the sums.

use std::collections::{BTreeMap, BTreeSet};

use till_domain::ids::MerchantId;
use till_domain::payment::Payment;
use till_domain::records::{AnyKey, Effects, Payments, Rows, Unreadable};

use crate::sandbox_book::{AuthorizeOutcome, Book, BookError, BookLine, Deed};
use crate::shapes::{StoredRows, TypedRows, row_key};

use super::job::Job;
use super::personal::ReplayPersonal;
use super::report::{BookSums, Place, Wrong};
use super::row_name::RowName;
use super::strays::Merchants;

/// What the logs of merchants come to: those whose rows are complete.
pub(super) type Captures = BTreeMap<MerchantId, BookSums>;

/// Holds the book against the payments.
pub(super) fn check(book: &dyn Book, merchants: &Merchants, captures: &Captures, job: &mut Job<'_>) {
    let mut tally = Tally::default();
    for line in book.entries() {
        job.count_book_line();
        match line {
            Ok(line) => {
                // Of a merchant whose rows are incomplete, or not derived up to the head, nothing can be said.
                if captures.contains_key(&line.merchant) || !merchants.contains_key(&line.merchant) {
                    tally.meet(&line, job);
                }
            }
            Err(error) => {
                tally.incomplete = true;
                let (place, wrong) = damage(error);
                job.faults.add(None, place, wrong);
            }
        }
    }
    tally.check_sums(captures, job);
}

fn damage(error: BookError) -> (Place, Wrong) {
    match error {
        BookError::Damaged { reference, what } => {
            (Place::BookLine(reference), Wrong::Undecodable { reason: what.to_owned() })
        }
        BookError::UnknownFormat { reference, found } => {
            let reason = format!("its format {found} is not known: upgrade the program");
            (Place::BookLine(reference), Wrong::Undecodable { reason })
        }
        BookError::NotWritten { reason } => (Place::Book, Wrong::Unreadable { reason }),
        BookError::TimedOut => (Place::Book, Wrong::Unreadable { reason: "it did not answer in time".to_owned() }),
        BookError::Broken(source) => (Place::Book, Wrong::Unreadable { reason: source.to_string() }),
    }
}

/// The payments that have a line, as far as their result is recorded.
#[derive(Default)]
struct Tally {
    sums: Captures,
    /// Merchants of whom a payment could not be read.
    unclear: BTreeSet<MerchantId>,
    incomplete: bool,
}

impl Tally {
    fn meet(&mut self, line: &BookLine, job: &mut Job<'_>) {
        let Deed::Authorize { instrument: _, capture: _, outcome } = &line.deed else { return };
        if is_known_faulty(line, job) {
            self.unclear.insert(line.merchant);
            return;
        }
        let wrong = match look_up(line, job) {
            Ok((Some(payment), is_open)) => {
                self.add(line.merchant, &payment);
                difference(line, outcome, &payment).filter(|_| !is_open)
            }
            Ok((None, _)) => Some(Wrong::NoPayment),
            Err(_) => {
                self.unclear.insert(line.merchant);
                None
            }
        };
        if let Some(wrong) = wrong {
            job.fault(line.merchant, Place::BookLine(line.reference.clone()), wrong);
        }
    }

    fn add(&mut self, merchant_id: MerchantId, payment: &Payment) {
        let Some(capture) = payment.capture else { return };
        let sums = self.sums.entry(merchant_id).or_default();
        sums.count += 1;
        sums.captured_minor += u128::from(capture.amount_minor);
    }

    fn check_sums(&self, captures: &Captures, job: &mut Job<'_>) {
        if self.incomplete {
            return;
        }
        for (&merchant_id, &log) in captures.iter().filter(|(merchant_id, _)| !self.unclear.contains(merchant_id)) {
            let book = self.sums.get(&merchant_id).copied().unwrap_or_default();
            if book != log {
                job.fault(merchant_id, Place::Book, Wrong::OtherSums { book, log });
            }
        }
    }
}

/// Whether the line's payment is not as the log says: then the book is not at fault.
fn is_known_faulty(line: &BookLine, job: &Job<'_>) -> bool {
    let personal = ReplayPersonal::new(line.merchant, job.keyring, job.rows);
    let (family, key) = row_key(line.merchant, &AnyKey::Payments(line.payment), &personal);
    job.faults.knows(Some(line.merchant), &Place::Row(RowName::of(family, &key)))
}

/// The line's payment, and whether a call for it is open.
fn look_up(line: &BookLine, job: &Job<'_>) -> Result<(Option<Payment>, bool), Unreadable> {
    let (stored, personal) = (StoredRows(job.rows), ReplayPersonal::new(line.merchant, job.keyring, job.rows));
    let rows = TypedRows::new(&stored, &personal).of_merchant(line.merchant);
    Ok((rows.get::<Payments>(line.payment)?, rows.get::<Effects>(line.payment)?.is_some()))
}

fn difference(line: &BookLine, outcome: &AuthorizeOutcome, payment: &Payment) -> Option<Wrong> {
    let (approved, failed) = (payment.authorization.is_some(), payment.failure.is_some());
    if !approved && !failed {
        return Some(Wrong::NoResult);
    }
    let captured_minor = payment.capture.map_or(0, |capture| capture.amount_minor);
    let agrees = match outcome {
        AuthorizeOutcome::Approved(standing) => approved && !failed && standing.captured_minor == captured_minor,
        AuthorizeOutcome::Declined(_) => failed && !approved,
    };
    (!agrees || payment.money != line.money).then_some(Wrong::OtherResult)
}
