//! Lines for the tests of this directory: one of every shape.

use till_domain::command::AuthenticationResult;
use till_domain::customer_action::{AuthenticationFlow, AuthenticationStatus};
use till_domain::failure::FailureCode;
use till_domain::ids::{MerchantId, PaymentId};
use till_domain::money::{AmountMinor, Money};
use till_domain::payment::CaptureMode;

use super::action::{ActionOutcome, ActionPage, BookAction, TakenAction};
use super::line::{
    AuthorizationState, AuthorizeOutcome, BookInstrument, BookLine, BookOperation, FollowUp, PayoutOutcome,
};

pub(crate) const REFERENCE: &str = "pay_1/authorize";

fn line(reference: &str, operation: BookOperation) -> BookLine {
    let amount = AmountMinor::new(10_000).expect("an amount");
    BookLine {
        reference: reference.to_owned(),
        merchant: MerchantId::from_bytes([0xaa; 16]),
        payment: Some(PaymentId::from_bytes([0xbb; 16])),
        money: Money { amount, currency: "THB".parse().expect("a currency") },
        asked_at_ms: 0x0102_0304_0506_0708,
        operation,
    }
}

pub(crate) fn card_line(reference: &str, capture: CaptureMode, outcome: AuthorizeOutcome) -> BookLine {
    let instrument = BookInstrument::Card { first_six: *b"424242", last_four: *b"4242" };
    line(reference, BookOperation::Authorize { instrument, capture, authentication: None, action: None, outcome })
}

pub(crate) fn follow_up_line(reference: &str, what: FollowUp, declined: Option<FailureCode>) -> BookLine {
    line(reference, BookOperation::FollowUp { what, authorization: REFERENCE.to_owned(), declined })
}

pub(crate) fn approved() -> BookLine {
    let state =
        AuthorizationState { settles_at_once: true, captured_minor: 9_000, voided_minor: 0, refunded_minor: 1_000 };
    card_line(REFERENCE, CaptureMode::Manual, AuthorizeOutcome::Approved(state))
}

pub(crate) fn every_shape() -> Vec<BookLine> {
    let mut lines = answered_at_once();
    lines.push(line("timed out", BookOperation::TimedOut));
    for (reference, fails_at_ms) in [("pending", None), ("pending and failing", Some(0x0102_0304_0506_0af0))] {
        let authorization = REFERENCE.to_owned();
        lines.push(line(reference, BookOperation::PendingRefund { authorization, fails_at_ms }));
    }
    lines.extend(of_actions());
    let outcomes = [PayoutOutcome::Pending, PayoutOutcome::Paid, PayoutOutcome::Declined(FailureCode::PayoutFailed)];
    lines.extend(outcomes.map(|outcome| payout_line(&format!("payout {outcome:?}"), outcome)));
    lines
}

/// An authorization that its customer was asked for on a page, with this outcome.
pub(crate) fn asked_line(reference: &str, page: ActionPage, outcome: AuthorizeOutcome) -> BookLine {
    let mut line = card_line(reference, CaptureMode::Automatic, outcome);
    let (payment, money) = (PaymentId::from_bytes([0xbb; 16]), line.money);
    if let BookOperation::Authorize { action, .. } = &mut line.operation {
        let asked = BookAction::asked(page, [0xdd; 16], payment, money, "/return".to_owned());
        *action = Some(Box::new(BookAction { given_at_ms: 0x0102_0304_0506_0708, ..asked }));
    }
    line
}

/// The lines that actions of customers leave.
fn of_actions() -> Vec<BookLine> {
    let waiting = |page: ActionPage| asked_line(&format!("waiting {page:?}"), page, AuthorizeOutcome::Waiting);
    let mut lines: Vec<BookLine> = ActionPage::ALL.into_iter().map(waiting).collect();
    lines.push(asked_line("canceled", ActionPage::Challenge, AuthorizeOutcome::Canceled));
    for taken in ActionOutcome::ALL {
        let approved = AuthorizeOutcome::Approved(AuthorizationState::default());
        let mut acted = asked_line(&format!("taken {taken:?}"), ActionPage::Challenge, approved);
        if let BookOperation::Authorize { instrument, authentication, action: Some(action), .. } = &mut acted.operation
        {
            *instrument =
                if taken == ActionOutcome::Fail { BookInstrument::PromptPay } else { BookInstrument::MobileBanking };
            let (flow, status) = (AuthenticationFlow::Challenge, AuthenticationStatus::Authenticated);
            *authentication = Some(AuthenticationResult { flow, status, eci: Some(5), version: None });
            action.declines = Some(FailureCode::InsufficientFunds);
            action.taken = Some(TakenAction { outcome: taken, at_ms: 1 });
            (action.succeeds_at_ms, action.canceled_at_ms) = (Some(2), Some(3));
        }
        lines.push(acted);
    }
    let authorization = || REFERENCE.to_owned();
    lines.push(line("bill/1", BookOperation::Bill { authorization: authorization() }));
    for flag in [false, true] {
        let canceled = BookOperation::CancelAction { authorization: authorization(), was_too_late: flag };
        lines.push(line(&format!("canceled {flag}"), canceled));
        let late = BookOperation::LateApproval { authorization: authorization(), is_given_back: flag };
        lines.push(line(&format!("late/{flag}"), late));
    }
    lines
}

pub(crate) fn payout_line(reference: &str, outcome: PayoutOutcome) -> BookLine {
    BookLine { payment: None, ..line(reference, BookOperation::Payout(outcome)) }
}

fn answered_at_once() -> Vec<BookLine> {
    let installment = BookOperation::Authorize {
        instrument: BookInstrument::Installment { plan: "sandbox_3_months".to_owned() },
        capture: CaptureMode::Automatic,
        authentication: None,
        action: None,
        outcome: AuthorizeOutcome::Approved(AuthorizationState {
            captured_minor: 10_000,
            ..AuthorizationState::default()
        }),
    };
    let mut lines = vec![approved(), line("installment", installment)];
    for code in FailureCode::ALL {
        let declined = AuthorizeOutcome::Declined(code);
        lines.push(card_line(&format!("declined {code:?}"), CaptureMode::Automatic, declined));
    }
    for what in [FollowUp::Capture, FollowUp::Void, FollowUp::Refund] {
        lines.push(follow_up_line(&format!("{what:?}"), what, None));
        let declined = Some(FailureCode::UnknownAuthorization);
        lines.push(follow_up_line(&format!("{what:?} declined"), what, declined));
    }
    lines
}

/// The bytes of each of [`every_shape`], from `golden_lines.txt`.
pub(crate) fn golden() -> Vec<(&'static str, Vec<u8>)> {
    let lines = include_str!("golden_lines.txt").lines().filter(|line| !line.starts_with('#'));
    let named = lines.filter_map(|line| line.split_once(' '));
    named.map(|(hex, reference)| (reference, bytes(hex))).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().filter_map(|character| character.to_digit(16)?.try_into().ok()).collect();
    digits.chunks(2).map(|pair| pair[0] * 16 + pair[1]).collect()
}
