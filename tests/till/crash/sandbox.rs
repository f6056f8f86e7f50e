//! The sandbox's own book against what must be there: it enumerates every payment that reached the acquirer, so a
//! payment made twice shows in it whatever became of it.

use std::collections::BTreeSet;
use std::path::Path;

use till_domain::ids::MerchantId;
use till_sandbox::book::{AuthorizeOutcome, Book, Deed, MerchantTotals, RocksBook, totals_by_merchant};

use super::deed::{Fate, Sale};
use super::inspection::assert_same;
use super::merchants::Merchant;
use super::truth::Truth;

/// A payment in the book: id, amount, whether it was approved.
type Line = (String, u64, bool);

/// Opens the book of a data directory, also beside a server or behind a killed one.
pub(super) fn open(data: &Path) -> RocksBook {
    RocksBook::open_read_only(&data.join("sandbox")).expect("the book opens as it stands")
}

/// The payments that the acquirer was asked for.
pub(super) fn asked(book: &RocksBook) -> BTreeSet<String> {
    book.entries().map(|line| line.expect("the book reads").payment.to_string()).collect()
}

/// Checks the book of a server that is stopped, once all effects have settled.
pub(super) fn check(data: &Path, merchants: &[Merchant], truths: &[Truth]) {
    let book = open(data);
    let totals = totals_by_merchant(&book).expect("the book agrees with itself");
    for (merchant, truth) in merchants.iter().zip(truths) {
        let id: MerchantId = merchant.shop.merchant_id.parse().expect("a merchant's id");
        let mut expected: Vec<Line> = truth.payments.iter().map(line_of).collect();
        expected.sort();
        assert_same("payments in the sandbox's book", &lines(&book, id), &expected);
        let totals = totals.get(&id).copied().unwrap_or_default();
        assert_eq!(totals, expected_totals(truth), "of {id}");
    }
}

fn line_of((id, sale): (&String, &Sale)) -> Line {
    (id.clone(), sale.minor, sale.fate == Fate::Approved)
}

fn lines(book: &RocksBook, merchant: MerchantId) -> Vec<Line> {
    let lines = book.entries().map(|line| line.expect("the book reads")).filter(|line| line.merchant == merchant);
    let line = lines.map(|line| {
        let is_approved = match line.deed {
            Deed::Authorize { outcome: AuthorizeOutcome::Approved(_), .. } => true,
            Deed::Authorize { outcome: AuthorizeOutcome::Declined(_), .. } => false,
            Deed::FollowUp { .. } | Deed::TimedOut | Deed::PendingRefund { .. } => {
                panic!("nobody asked for {}", line.reference)
            }
        };
        (line.payment.to_string(), line.money.amount.get(), is_approved)
    });
    let mut lines: Vec<Line> = line.collect();
    lines.sort();
    lines
}

fn expected_totals(truth: &Truth) -> MerchantTotals {
    let mut totals = MerchantTotals::default();
    for sale in truth.payments.values() {
        match sale.fate {
            Fate::Declined(_) => totals.declined += 1,
            Fate::Approved => {
                totals.approved += 1;
                totals.authorized_minor += u128::from(sale.minor);
                totals.captured_minor += if sale.capture { u128::from(sale.minor) } else { 0 };
            }
        }
    }
    totals
}
