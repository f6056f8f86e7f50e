//! The totals of the book, for comparing it with the merchants' ledgers.

use std::collections::BTreeMap;

use till_domain::ids::MerchantId;
use till_domain::payment::CaptureMode;

use super::contract::{Book, BookError};
use super::line::{AuthorizationState, AuthorizeOutcome, BookLine, BookOperation, FollowUp, PayoutOutcome};

/// The results of one merchant's requests. Amounts are sums in minor units of the merchant's currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MerchantTotals {
    /// Number of approved authorizations.
    pub approved: u64,
    /// Number of declined authorizations.
    pub declined: u64,
    /// Number of authorizations whose customer has not acted, or whose result is to come.
    pub waiting: u64,
    /// Number of authorizations whose action was canceled, and which were not approved afterwards.
    pub canceled: u64,
    /// Number of approved authorizations whose action was canceled before. Their money is to be given back.
    pub approved_late: u64,
    /// Number of declined captures, voids and refunds.
    pub follow_ups_declined: u64,
    /// Sum of the approved authorizations.
    pub authorized_minor: u128,
    /// Captured, with the authorization or later.
    pub captured_minor: u128,
    /// Voided.
    pub voided_minor: u128,
    /// Refunded.
    pub refunded_minor: u128,
    /// Paid out.
    pub paid_out_minor: u128,
}

/// The totals of every merchant in the book.
///
/// # Errors
/// [`BookError`] when a line cannot be read, and [`BookError::Damaged`] also when the lines of captures, voids and
/// refunds do not have the same sums as the lines of their authorizations.
pub fn totals_by_merchant(book: &impl Book) -> Result<BTreeMap<MerchantId, MerchantTotals>, BookError> {
    let mut tallies: BTreeMap<MerchantId, MerchantSums> = BTreeMap::new();
    for line in book.entries() {
        let line = line?;
        tallies.entry(line.merchant).or_default().add(&line);
    }
    tallies.into_iter().map(|(merchant, tally)| Ok((merchant, tally.check(merchant)?))).collect()
}

/// One merchant's money counted twice: by the lines of authorizations, and by the lines of their changes.
#[derive(Default)]
struct MerchantSums {
    totals: MerchantTotals,
    captured_minor: u128,
    voided_minor: u128,
    refunded_minor: u128,
}

impl MerchantSums {
    fn add(&mut self, line: &BookLine) {
        let amount_minor = u128::from(line.money.amount.get());
        match &line.operation {
            BookOperation::Authorize { outcome: AuthorizeOutcome::Approved(state), capture, .. } => {
                self.add_approved(amount_minor, *state, *capture);
                let action = line.operation.action();
                let is_late = action.is_some_and(|action| action.canceled_at_ms.is_some());
                self.totals.approved_late += u64::from(is_late);
            }
            BookOperation::Authorize { outcome: AuthorizeOutcome::Canceled, .. } => {
                self.totals.canceled += 1;
            }
            BookOperation::Authorize { outcome: AuthorizeOutcome::Declined(_), .. } => self.totals.declined += 1,
            BookOperation::Authorize { outcome: AuthorizeOutcome::Waiting, .. } => self.totals.waiting += 1,
            BookOperation::Payout(PayoutOutcome::Paid) => self.totals.paid_out_minor += amount_minor,
            BookOperation::TimedOut
            | BookOperation::PendingRefund { .. }
            | BookOperation::CancelAction { .. }
            | BookOperation::Bill { .. }
            | BookOperation::LateApproval { .. }
            | BookOperation::Payout(PayoutOutcome::Pending | PayoutOutcome::Declined(_)) => {}
            BookOperation::FollowUp { declined: Some(_), .. } => self.totals.follow_ups_declined += 1,
            BookOperation::FollowUp { what: FollowUp::Capture, declined: None, .. } => {
                self.captured_minor += amount_minor
            }
            BookOperation::FollowUp { what: FollowUp::Void, declined: None, .. } => self.voided_minor += amount_minor,
            BookOperation::FollowUp { what: FollowUp::Refund, declined: None, .. } => {
                self.refunded_minor += amount_minor
            }
        }
    }

    fn add_approved(&mut self, amount_minor: u128, state: AuthorizationState, capture: CaptureMode) {
        self.totals.approved += 1;
        self.totals.authorized_minor += amount_minor;
        self.totals.captured_minor += u128::from(state.captured_minor);
        self.totals.voided_minor += u128::from(state.voided_minor);
        self.totals.refunded_minor += u128::from(state.refunded_minor);
        self.captured_minor += match capture {
            // The whole amount, or nothing with the card whose capture fails.
            CaptureMode::Automatic if state.captured_minor > 0 => amount_minor,
            CaptureMode::Automatic | CaptureMode::Manual => 0,
        };
    }

    fn check(self, merchant: MerchantId) -> Result<MerchantTotals, BookError> {
        let totals = self.totals;
        let state = (totals.captured_minor, totals.voided_minor, totals.refunded_minor);
        if state == (self.captured_minor, self.voided_minor, self.refunded_minor) {
            return Ok(totals);
        }
        let what = "the sums of authorizations differ from those of captures, voids and refunds".to_owned();
        Err(BookError::Damaged { reference: format!("of a payment of {merchant}"), what })
    }
}

#[cfg(test)]
mod tests {
    use till_domain::failure::FailureCode;

    use super::super::action::ActionPage;
    use super::super::memory::MemoryBook;
    use super::super::samples::{asked_line, card_line, follow_up_line, payout_line};
    use super::*;

    const MERCHANT: MerchantId = MerchantId::from_bytes([0xaa; 16]);

    fn approved(reference: &str, capture: CaptureMode, state: AuthorizationState) -> BookLine {
        card_line(reference, capture, AuthorizeOutcome::Approved(state))
    }

    fn canceled(reference: &str, outcome: AuthorizeOutcome) -> BookLine {
        let mut line = asked_line(reference, ActionPage::Bank, outcome);
        if let BookOperation::Authorize { action: Some(action), .. } = &mut line.operation {
            action.canceled_at_ms = Some(1);
        }
        line
    }

    fn totals(lines: &[BookLine]) -> Result<BTreeMap<MerchantId, MerchantTotals>, BookError> {
        let mut book = MemoryBook::new();
        book.write(lines).expect("succeeds");
        totals_by_merchant(&book)
    }

    #[test]
    fn totals_count_each_merchants_money_and_declines() {
        let refunded =
            AuthorizationState { captured_minor: 10_000, refunded_minor: 10_000, ..AuthorizationState::default() };
        let voided = AuthorizationState { voided_minor: 10_000, ..AuthorizationState::default() };
        let mut elsewhere = approved("f", CaptureMode::Manual, AuthorizationState::default());
        elsewhere.merchant = MerchantId::from_bytes([0xcc; 16]);
        let found = totals(&[
            approved("a", CaptureMode::Automatic, refunded),
            follow_up_line("a refund", FollowUp::Refund, None),
            follow_up_line("a refund again", FollowUp::Refund, Some(FailureCode::WrongAmount)),
            approved("b", CaptureMode::Manual, voided),
            follow_up_line("b void", FollowUp::Void, None),
            approved(
                "c",
                CaptureMode::Manual,
                AuthorizationState { captured_minor: 10_000, ..AuthorizationState::default() },
            ),
            follow_up_line("c capture", FollowUp::Capture, None),
            card_line("d", CaptureMode::Manual, AuthorizeOutcome::Declined(FailureCode::CardDeclined)),
            asked_line("g", ActionPage::Bank, AuthorizeOutcome::Waiting),
            canceled("h", AuthorizeOutcome::Canceled),
            canceled(
                "i",
                AuthorizeOutcome::Approved(AuthorizationState {
                    captured_minor: 10_000,
                    ..AuthorizationState::default()
                }),
            ),
            payout_line("out", PayoutOutcome::Paid),
            payout_line("out later", PayoutOutcome::Pending),
            payout_line("out never", PayoutOutcome::Declined(FailureCode::PayoutFailed)),
            elsewhere.clone(),
        ])
        .expect("the sums agree");
        let expected = MerchantTotals {
            approved: 4,
            declined: 1,
            waiting: 1,
            canceled: 1,
            approved_late: 1,
            follow_ups_declined: 1,
            authorized_minor: 40_000,
            captured_minor: 30_000,
            voided_minor: 10_000,
            refunded_minor: 10_000,
            paid_out_minor: 10_000,
        };
        let idle = MerchantTotals { approved: 1, authorized_minor: 10_000, ..MerchantTotals::default() };
        assert_eq!(found, BTreeMap::from([(MERCHANT, expected), (elsewhere.merchant, idle)]));
    }

    #[test]
    fn an_empty_book_has_no_totals() {
        assert_eq!(totals(&[]).expect("the sums agree"), BTreeMap::new());
    }

    #[test]
    fn a_follow_up_that_its_authorization_lacks_is_damage() {
        for what in [FollowUp::Capture, FollowUp::Void, FollowUp::Refund] {
            let lines =
                [approved("a", CaptureMode::Manual, AuthorizationState::default()), follow_up_line("b", what, None)];
            assert!(matches!(totals(&lines), Err(BookError::Damaged { .. })), "{what:?}");
        }
        let partly_captured = AuthorizationState { captured_minor: 9_999, ..AuthorizationState::default() };
        let partly_captured = approved("a", CaptureMode::Automatic, partly_captured);
        assert!(matches!(totals(&[partly_captured]), Err(BookError::Damaged { .. })));
    }
}
