//! The sandbox's own book against the payments of customers who were asked to act: money was taken once for each
//! success, and given back once when the success came too late.

use std::collections::BTreeMap;
use std::path::Path;

use till_domain::ids::MerchantId;
use till_sandbox::book::{AuthorizeOutcome, Book, BookLine, BookOperation, FollowUp, totals_by_merchant};

use crate::harness::Shop;

use super::customer_story::Story;
use super::inspection::assert_same;
use super::sandbox;

/// The statement of the book about a payment.
#[derive(Debug, Default, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Told {
    payment: String,
    authorizations: usize,
    is_approved: bool,
    captured_minor: u64,
    voided_minor: u64,
    refunded_minor: u64,
    /// Voids and refunds that were carried out.
    given_back: usize,
}

/// Checks the book, once no call is open.
pub(super) fn check<'a>(data: &Path, customers: impl Iterator<Item = (&'a Shop, &'a [Story])>) {
    let book = sandbox::open(data);
    totals_by_merchant(&book).expect("the book agrees with itself");
    for (shop, stories) in customers {
        let merchant: MerchantId = shop.merchant_id.parse().expect("a merchant's id");
        let lines = book.entries().map(|line| line.expect("the book reads")).filter(|line| line.merchant == merchant);
        let mut expected: Vec<Told> = stories.iter().map(expected).collect();
        expected.sort();
        assert_same("payments in the sandbox's book", &told(lines), &expected);
    }
}

/// The statements of the lines of a merchant, by payment.
fn told(lines: impl Iterator<Item = BookLine>) -> Vec<Told> {
    let mut told: BTreeMap<String, Told> = BTreeMap::new();
    for line in lines {
        let payment = line.payment.map(|id| id.to_string()).unwrap_or_default();
        add(told.entry(payment.clone()).or_insert_with(|| Told { payment, ..Told::default() }), &line.operation);
    }
    told.into_values().collect()
}

fn add(told: &mut Told, operation: &BookOperation) {
    match operation {
        BookOperation::Authorize { outcome, .. } => {
            told.authorizations += 1;
            assert_ne!(*outcome, AuthorizeOutcome::Waiting, "{} waits in the book", told.payment);
            if let AuthorizeOutcome::Approved(state) = outcome {
                told.is_approved = true;
                told.captured_minor += state.captured_minor;
                told.voided_minor += state.voided_minor;
                told.refunded_minor += state.refunded_minor;
            }
        }
        BookOperation::FollowUp { what: FollowUp::Void | FollowUp::Refund, declined: None, .. } => {
            told.given_back += 1;
        }
        BookOperation::LateApproval { is_given_back, .. } => {
            assert!(is_given_back, "{} is still reported as approved", told.payment);
        }
        BookOperation::CancelAction { .. } | BookOperation::Bill { .. } => {}
        other => panic!("{}: {other:?}", told.payment),
    }
}

fn expected(story: &Story) -> Told {
    let end = story.end.as_ref().expect("it was checked");
    let is_approved = end.is_late || end.was_authorized;
    let is_released = end.is_late || end.is_voided_authorization();
    let minor = if is_approved { story.minor } else { 0 };
    let (captured_minor, held_minor) = if story.is_manual() { (0, minor) } else { (minor, 0) };
    Told {
        payment: story.id().to_owned(),
        authorizations: 1,
        is_approved,
        captured_minor,
        voided_minor: if is_released { held_minor } else { 0 },
        refunded_minor: if is_released { captured_minor } else { 0 },
        given_back: usize::from(is_released),
    }
}
