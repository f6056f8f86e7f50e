//! The decisions of the sandbox, as lines of its book. No waiting, no clock, no disk.

use crate::book::{
    AuthorizationState, AuthorizeOutcome, BookAction, BookInstrument, BookLine, BookOperation, FollowUp, PayoutOutcome,
};
use till_domain::command::EvidenceResult;
use till_domain::failure::FailureCode;
use till_domain::ids::{MerchantId, PaymentId};
use till_domain::money::Money;
use till_domain::payment::CaptureMode;

use super::acts;
use super::cards::{AuthorizationPlan, Behaviour, Handling, is_disputed};

/// Text that references of refunds contain. Those of reversals, which are refunds to an acquirer, do not: no call of
/// the operator's names one, so a reversal is never pending.
const REFUND_STEP: &str = "/refund/";

/// The time between the call for a refund and its late failure.
const REFUND_FAILS_AFTER_MS: u64 = 1_000;

/// The end of a pending refund or payout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingEnd {
    /// The money is given back or paid out.
    Completed,
    /// It fails.
    Failed,
}

/// A request, without anything secret.
#[derive(Debug, Clone)]
pub(super) struct BookRequest {
    pub(super) reference: String,
    pub(super) merchant: MerchantId,
    pub(super) payment: Option<PaymentId>,
    pub(super) money: Money,
    pub(super) what: BookRequestKind,
}

/// The kinds of requests.
#[derive(Debug, Clone)]
pub(super) enum BookRequestKind {
    /// To authorize; the action is the one that the plan asks for.
    Authorize {
        instrument: BookInstrument,
        capture: CaptureMode,
        plan: AuthorizationPlan,
        action: Option<Box<BookAction>>,
    },
    /// Change the authorization under a reference.
    FollowUp { what: FollowUp, authorization: String },
    /// To pay a payout.
    Payout,
    /// To cancel the action that the authorization under a reference waits for.
    CancelAction { authorization: String, deadline_passed: bool },
}

impl BookRequest {
    /// The reference of another line that judging reads.
    pub(super) fn authorization(&self) -> Option<&str> {
        match &self.what {
            BookRequestKind::Authorize { .. } | BookRequestKind::Payout => None,
            BookRequestKind::FollowUp { authorization, .. } | BookRequestKind::CancelAction { authorization, .. } => {
                Some(authorization)
            }
        }
    }

    /// True when a line records this very request.
    pub(super) fn is_recorded_by(&self, line: &BookLine) -> bool {
        let is_same_operation = match &self.what {
            BookRequestKind::Authorize { instrument, capture, .. } => matches!(
                &line.operation,
                BookOperation::Authorize { instrument: recorded, capture: mode, .. }
                    if (instrument, capture) == (recorded, mode)
            ),
            BookRequestKind::FollowUp { what, authorization } => match &line.operation {
                BookOperation::FollowUp { what: recorded, authorization: of, .. } => {
                    (what, authorization) == (recorded, of)
                }
                BookOperation::PendingRefund { authorization: of, .. } => {
                    (*what, authorization) == (FollowUp::Refund, of)
                }
                BookOperation::Authorize { .. }
                | BookOperation::Payout(_)
                | BookOperation::TimedOut
                | BookOperation::CancelAction { .. }
                | BookOperation::Bill { .. }
                | BookOperation::LateApproval { .. } => false,
            },
            BookRequestKind::Payout => matches!(line.operation, BookOperation::Payout(_)),
            BookRequestKind::CancelAction { authorization, deadline_passed: _ } => {
                matches!(&line.operation, BookOperation::CancelAction { authorization: of, .. } if of == authorization)
            }
        };
        is_same_operation
            && (&self.reference, self.merchant, self.payment, self.money)
                == (&line.reference, line.merchant, line.payment, line.money)
    }

    /// The treatment of this call. `authorization` is the line under [`BookRequest::authorization`].
    pub(super) fn handling(&self, authorization: Option<&BookLine>) -> Handling {
        match (&self.what, authorization.map(|line| &line.operation)) {
            (BookRequestKind::Authorize { instrument, .. }, _)
            | (BookRequestKind::FollowUp { .. }, Some(BookOperation::Authorize { instrument, .. })) => {
                Handling::of(instrument)
            }
            (BookRequestKind::FollowUp { .. } | BookRequestKind::Payout | BookRequestKind::CancelAction { .. }, _) => {
                Handling::AtOnce
            }
        }
    }

    /// The line of a call that is not carried out and gets no answer.
    pub(super) fn timed_out(self, now_ms: u64) -> BookLine {
        self.recorded(BookOperation::TimedOut, now_ms)
    }

    /// Carries out a request that is the first one under its reference: returns the line that records it, and the
    /// authorization's own line when it changed. `authorization` is the line under [`BookRequest::authorization`].
    pub(super) fn judge(self, authorization: Option<&BookLine>, now_ms: u64) -> (BookLine, Option<BookLine>) {
        let handling = self.handling(authorization);
        let (operation, changed) = match &self.what {
            BookRequestKind::Authorize { instrument, capture, plan, action } => {
                let captures = *capture == CaptureMode::Automatic && handling != Handling::CaptureFails;
                let given =
                    |action: &BookAction| acts::action_for_customer(action.clone(), plan.behaviour, self.money, now_ms);
                let action = action.as_deref().map(given).map(Box::new);
                let outcome = match action {
                    None => authorize(self.money, captures, plan.behaviour),
                    Some(_) => AuthorizeOutcome::Waiting,
                };
                let (instrument, capture, authentication) = (instrument.clone(), *capture, plan.authentication);
                (BookOperation::Authorize { instrument, capture, authentication, action, outcome }, None)
            }
            BookRequestKind::CancelAction { authorization: reference, deadline_passed } => {
                let own = authorization.filter(|line| (line.merchant, line.payment) == (self.merchant, self.payment));
                let (was_too_late, changed) = acts::cancel(own, *deadline_passed, now_ms);
                (BookOperation::CancelAction { authorization: reference.clone(), was_too_late }, changed)
            }
            BookRequestKind::Payout => (BookOperation::Payout(pay_out(self.money)), None),
            BookRequestKind::FollowUp { what, authorization: reference } => {
                let own = authorization.filter(|line| (line.merchant, line.payment) == (self.merchant, self.payment));
                let done = match follow_up(*what, self.money, own) {
                    Ok(_) if *what == FollowUp::Capture && handling == Handling::CaptureFails => {
                        Err(FailureCode::CaptureFailed)
                    }
                    done => done,
                };
                match self.pending_refund(*what, handling, now_ms).filter(|_| done.is_ok()) {
                    Some(pending) => (pending, None),
                    None => end_follow_up(*what, reference, done),
                }
            }
        };
        (self.recorded(operation, now_ms), changed)
    }

    /// The line of a refund that does not end at once.
    fn pending_refund(&self, what: FollowUp, handling: Handling, now_ms: u64) -> Option<BookOperation> {
        let fails_at_ms = match handling {
            Handling::RefundWaitsForOperator => None,
            Handling::RefundFailsLater => Some(now_ms.saturating_add(REFUND_FAILS_AFTER_MS)),
            Handling::AtOnce
            | Handling::CaptureFails
            | Handling::FirstCallTimesOutDone
            | Handling::FirstCallTimesOutUndone
            | Handling::AnswersLate
            | Handling::AnswersTwice => return None,
        };
        let authorization = self.authorization()?.to_owned();
        let may_wait = what == FollowUp::Refund && self.reference.contains(REFUND_STEP);
        may_wait.then_some(BookOperation::PendingRefund { authorization, fails_at_ms })
    }

    fn recorded(self, operation: BookOperation, now_ms: u64) -> BookLine {
        let BookRequest { reference, merchant, payment, money, what: _ } = self;
        BookLine { reference, merchant, payment, money, asked_at_ms: now_ms, operation }
    }
}

/// The outcome of a payout, by the last two digits of its amount.
const fn pay_out(money: Money) -> PayoutOutcome {
    match money.amount.get() % 100 {
        99 => PayoutOutcome::Declined(FailureCode::PayoutFailed),
        98 => PayoutOutcome::Pending,
        _ => PayoutOutcome::Paid,
    }
}

/// The line of a pending payout after its end.
pub(super) fn ended_payout(line: &BookLine, end: PendingEnd) -> BookLine {
    let outcome = match end {
        PendingEnd::Completed => PayoutOutcome::Paid,
        PendingEnd::Failed => PayoutOutcome::Declined(FailureCode::PayoutFailed),
    };
    BookLine { operation: BookOperation::Payout(outcome), ..line.clone() }
}

/// The properties of money that is captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct TakenMoney {
    /// True when it is available at once.
    pub(super) settles_at_once: bool,
    /// True when the customer disputes it as soon as it is captured.
    pub(super) is_disputed: bool,
}

impl TakenMoney {
    /// The treatment for the authorization with this line.
    pub(super) fn of(authorization: &BookLine) -> TakenMoney {
        let BookOperation::Authorize { outcome: AuthorizeOutcome::Approved(state), instrument, .. } =
            &authorization.operation
        else {
            return TakenMoney::default();
        };
        TakenMoney { settles_at_once: state.settles_at_once, is_disputed: is_disputed(instrument) }
    }
}

/// The decision of the provider about the evidence of a merchant.
pub(super) fn by_evidence(evidence: &str) -> EvidenceResult {
    match evidence {
        "winning_evidence" => EvidenceResult::Won,
        "losing_evidence" => EvidenceResult::Lost,
        _ => EvidenceResult::Taken,
    }
}

/// True for the line of a refund whose time to fail has come.
pub(super) fn has_failed_by(line: &BookLine, now_ms: u64) -> bool {
    matches!(line.operation, BookOperation::PendingRefund { fails_at_ms: Some(fails_at_ms),
        .. } if fails_at_ms <= now_ms)
}

/// Ends the pending refund of an authorization: returns its line, and the authorization's own line when it changed. A
/// refund is declined for its amount when other refunds took the money meanwhile.
pub(super) fn end_refund(
    line: &BookLine,
    reference: &str,
    authorization: Option<&BookLine>,
    end: PendingEnd,
) -> (BookLine, Option<BookLine>) {
    let done = match end {
        PendingEnd::Completed => follow_up(FollowUp::Refund, line.money, authorization),
        PendingEnd::Failed => Err(FailureCode::RefundFailed),
    };
    let (operation, changed) = end_follow_up(FollowUp::Refund, reference, done);
    (BookLine { operation, ..line.clone() }, changed)
}

fn end_follow_up(
    what: FollowUp,
    reference: &str,
    done: Result<BookLine, FailureCode>,
) -> (BookOperation, Option<BookLine>) {
    let (declined, changed) = match done {
        Ok(changed) => (None, Some(changed)),
        Err(reason) => (Some(reason), None),
    };
    (BookOperation::FollowUp { what, authorization: reference.to_owned(), declined }, changed)
}

fn authorize(money: Money, captures: bool, behaviour: Behaviour) -> AuthorizeOutcome {
    let settles_at_once = match behaviour {
        Behaviour::Approve => false,
        Behaviour::ApproveAndSettleAtOnce => true,
        Behaviour::Decline(reason) => return AuthorizeOutcome::Declined(reason),
    };
    let captured_minor = if captures { money.amount.get() } else { 0 };
    AuthorizeOutcome::Approved(AuthorizationState { settles_at_once, captured_minor, ..AuthorizationState::default() })
}

/// The authorization's line after this change, or the reason why it is declined.
fn follow_up(what: FollowUp, money: Money, line: Option<&BookLine>) -> Result<BookLine, FailureCode> {
    let line = line.ok_or(FailureCode::UnknownAuthorization)?;
    let mut changed = line.clone();
    let BookOperation::Authorize { outcome: AuthorizeOutcome::Approved(state), .. } = &mut changed.operation else {
        return Err(FailureCode::UnknownAuthorization);
    };
    if state.voided_minor > 0 {
        return Err(FailureCode::AlreadyVoided);
    }
    if money.currency != line.money.currency {
        return Err(FailureCode::WrongAmount);
    }
    *state = change(what, money.amount.get(), line.money.amount.get(), *state)?;
    Ok(changed)
}

fn change(
    what: FollowUp,
    asked: u64,
    authorized: u64,
    state: AuthorizationState,
) -> Result<AuthorizationState, FailureCode> {
    let is_captured = state.captured_minor > 0;
    match what {
        FollowUp::Capture | FollowUp::Void if is_captured => Err(FailureCode::AlreadyCaptured),
        FollowUp::Refund if !is_captured => Err(FailureCode::NotCaptured),
        FollowUp::Capture if asked <= authorized => Ok(AuthorizationState { captured_minor: asked, ..state }),
        FollowUp::Void if asked == authorized => Ok(AuthorizationState { voided_minor: asked, ..state }),
        FollowUp::Refund if asked <= state.captured_minor.saturating_sub(state.refunded_minor) => {
            Ok(AuthorizationState { refunded_minor: state.refunded_minor.saturating_add(asked), ..state })
        }
        FollowUp::Capture | FollowUp::Void | FollowUp::Refund => Err(FailureCode::WrongAmount),
    }
}

#[cfg(test)]
mod tests {
    use till_domain::money::{AmountMinor, Currency};

    use super::*;

    const MERCHANT: MerchantId = MerchantId::from_bytes([1; 16]);
    const PAYMENT: PaymentId = PaymentId::from_bytes([2; 16]);

    fn thb(minor: u64) -> Money {
        Money { amount: AmountMinor::new(minor).expect("an amount"), currency: Currency::from_bytes(*b"THB") }
    }

    fn request(reference: &str, money: Money, what: BookRequestKind) -> BookRequest {
        BookRequest { reference: reference.to_owned(), merchant: MERCHANT, payment: Some(PAYMENT), money, what }
    }

    fn card(capture: CaptureMode, behaviour: Behaviour) -> BookRequestKind {
        let instrument = BookInstrument::Card { first_six: *b"424242", last_four: *b"4242" };
        BookRequestKind::Authorize {
            instrument,
            capture,
            plan: AuthorizationPlan::unauthenticated(behaviour),
            action: None,
        }
    }

    fn authorized(capture: CaptureMode) -> BookLine {
        request("authorize", thb(100), card(capture, Behaviour::Approve)).judge(None, 5).0
    }

    fn follow_up_request(what: FollowUp, money: Money) -> BookRequest {
        request("follow", money, BookRequestKind::FollowUp { what, authorization: "authorize".to_owned() })
    }

    fn state(line: &BookLine) -> AuthorizationState {
        match &line.operation {
            BookOperation::Authorize { outcome: AuthorizeOutcome::Approved(state), .. } => *state,
            other => panic!("{other:?} is no approved authorization"),
        }
    }

    /// The authorization after a chain of steps that all succeed.
    fn line_after(capture: CaptureMode, steps: &[(FollowUp, u64)]) -> BookLine {
        steps.iter().fold(authorized(capture), |line, (what, amount)| {
            follow_up_request(*what, thb(*amount)).judge(Some(&line), 6).1.expect("the step succeeds")
        })
    }

    fn declined(what: FollowUp, money: Money, line: Option<&BookLine>) -> Option<FailureCode> {
        let (own, changed) = follow_up_request(what, money).judge(line, 6);
        match own.operation {
            BookOperation::FollowUp { declined, .. } => {
                assert_eq!(declined.is_some(), changed.is_none(), "what is declined changes nothing");
                declined
            }
            other => panic!("a follow-up is recorded as one, not as {other:?}"),
        }
    }

    #[test]
    fn an_authorization_is_captured_at_once_only_when_asked_to() {
        assert_eq!(state(&authorized(CaptureMode::Manual)).captured_minor, 0);
        assert_eq!(state(&authorized(CaptureMode::Automatic)).captured_minor, 100);
        assert_eq!(authorized(CaptureMode::Manual).asked_at_ms, 5);
    }

    #[test]
    fn capturing_a_part_releases_the_rest() {
        let line = line_after(CaptureMode::Manual, &[(FollowUp::Capture, 60)]);
        assert_eq!(state(&line).captured_minor, 60);
        assert_eq!(declined(FollowUp::Capture, thb(40), Some(&line)), Some(FailureCode::AlreadyCaptured));
        assert_eq!(declined(FollowUp::Void, thb(100), Some(&line)), Some(FailureCode::AlreadyCaptured));
    }

    #[test]
    fn captured_money_can_be_refunded_in_parts_and_no_further() {
        let line = line_after(CaptureMode::Automatic, &[(FollowUp::Refund, 30), (FollowUp::Refund, 69)]);
        assert_eq!(state(&line).refunded_minor, 99);
        assert_eq!(declined(FollowUp::Refund, thb(2), Some(&line)), Some(FailureCode::WrongAmount));
        assert_eq!(declined(FollowUp::Refund, thb(1), Some(&line)), None);
    }

    #[test]
    fn a_voided_authorization_cannot_be_changed() {
        let line = line_after(CaptureMode::Manual, &[(FollowUp::Void, 100)]);
        assert_eq!(state(&line).voided_minor, 100);
        for what in [FollowUp::Capture, FollowUp::Void, FollowUp::Refund] {
            assert_eq!(declined(what, thb(100), Some(&line)), Some(FailureCode::AlreadyVoided), "{what:?}");
        }
    }

    #[test]
    fn amounts_that_do_not_fit_are_declined() {
        let line = authorized(CaptureMode::Manual);
        assert_eq!(declined(FollowUp::Capture, thb(101), Some(&line)), Some(FailureCode::WrongAmount));
        assert_eq!(declined(FollowUp::Void, thb(99), Some(&line)), Some(FailureCode::WrongAmount));
        assert_eq!(declined(FollowUp::Refund, thb(1), Some(&line)), Some(FailureCode::NotCaptured));
        let usd = Money { currency: Currency::from_bytes(*b"USD"), ..thb(100) };
        assert_eq!(declined(FollowUp::Capture, usd, Some(&line)), Some(FailureCode::WrongAmount));
        assert_eq!(declined(FollowUp::Capture, thb(100), Some(&line)), None);
    }

    #[test]
    fn a_missing_declined_or_foreign_authorization_is_unknown() {
        let refused =
            request("authorize", thb(100), card(CaptureMode::Manual, Behaviour::Decline(FailureCode::ExpiredCard)));
        let refused = refused.judge(None, 5).0;
        let mut other_merchants = authorized(CaptureMode::Manual);
        other_merchants.merchant = MerchantId::from_bytes([9; 16]);
        let mut other_payments = authorized(CaptureMode::Manual);
        other_payments.payment = Some(PaymentId::from_bytes([9; 16]));
        let no_authorization = follow_up_request(FollowUp::Void, thb(100)).judge(None, 5).0;
        for line in [None, Some(&refused), Some(&other_merchants), Some(&other_payments), Some(&no_authorization)] {
            let unknown = Some(FailureCode::UnknownAuthorization);
            assert_eq!(declined(FollowUp::Capture, thb(100), line), unknown, "{line:?}");
        }
    }

    #[test]
    fn a_reversal_is_never_pending_as_a_refund_is() {
        let instrument = BookInstrument::Card { first_six: *b"400000", last_four: *b"7726" };
        let (capture, plan) = (CaptureMode::Automatic, AuthorizationPlan::unauthenticated(Behaviour::Approve));
        let what = BookRequestKind::Authorize { instrument, capture, plan, action: None };
        let authorized = request("authorize", thb(100), what).judge(None, 5).0;
        let refund = |reference: &str| BookRequest {
            reference: reference.to_owned(),
            ..follow_up_request(FollowUp::Refund, thb(100))
        };
        let (refunded, unchanged) = refund("payment/refund/1").judge(Some(&authorized), 6);
        let pending = BookOperation::PendingRefund { authorization: "authorize".to_owned(), fails_at_ms: None };
        assert_eq!((refunded.operation, unchanged), (pending, None));
        let (_, changed) = refund("payment/reverse").judge(Some(&authorized), 6);
        assert_eq!(changed.map(|line| state(&line).refunded_minor), Some(100));
    }

    #[test]
    fn a_payout_ends_by_the_last_two_digits_of_its_amount() {
        for (minor, outcome) in [
            (1, PayoutOutcome::Paid),
            (98, PayoutOutcome::Pending),
            (99, PayoutOutcome::Declined(FailureCode::PayoutFailed)),
            (9_800, PayoutOutcome::Paid),
            (12_398, PayoutOutcome::Pending),
            (12_399, PayoutOutcome::Declined(FailureCode::PayoutFailed)),
        ] {
            let (line, unchanged) = request("payout", thb(minor), BookRequestKind::Payout).judge(None, 5);
            assert_eq!((line.operation, unchanged), (BookOperation::Payout(outcome), None), "{minor}");
        }
    }

    #[test]
    fn a_line_records_exactly_the_request_it_was_judged_from() {
        let first = request("r", thb(100), card(CaptureMode::Manual, Behaviour::Approve));
        let line = first.clone().judge(None, 5).0;
        assert!(first.is_recorded_by(&line));
        let others = [
            BookRequest { money: thb(99), ..first.clone() },
            BookRequest { merchant: MerchantId::from_bytes([9; 16]), ..first.clone() },
            BookRequest { payment: Some(PaymentId::from_bytes([9; 16])), ..first.clone() },
            BookRequest { what: card(CaptureMode::Automatic, Behaviour::Approve), ..first.clone() },
            BookRequest { what: follow_up_request(FollowUp::Void, thb(100)).what, ..first },
        ];
        for other in others {
            assert!(!other.is_recorded_by(&line), "{other:?}");
        }
        let capture = follow_up_request(FollowUp::Capture, thb(100));
        let line = capture.clone().judge(None, 5).0;
        assert!(capture.is_recorded_by(&line));
        assert!(!follow_up_request(FollowUp::Refund, thb(100)).is_recorded_by(&line));
    }
}
