//! The answers that callers get, as the lines of the book say them.

use std::sync::OnceLock;

use crate::book::{ActionPage, AuthorizeOutcome, BookAction, BookLine, BookOperation, PayoutOutcome};
use till_actors::acquirer::{Awaited, Completion, FoundCall, LateAnswer, LateAnswers};
use till_domain::command::{AuthorizationResult, Cancellation, RequiredAction};
use till_domain::customer_action::CustomerStep;
use till_domain::payment::CaptureMode;
use till_domain::text::{ActionAddress, QrText};

use super::judgement::TakenMoney;
use super::queue::Answered;

/// Prefix of our reference in the sandbox's own.
pub(super) const OWN_PREFIX: &str = "sandbox:";

/// The answer to an authorization, which is the same for every repetition of the call once it has ended.
pub(super) fn authorization(answered: &Answered) -> Option<AuthorizationResult> {
    authorization_of(answered.line.as_ref()?, answered.at_ms)
}

/// The answer to a cancellation.
pub(super) fn cancellation(answered: &Answered) -> Option<Cancellation> {
    let BookOperation::CancelAction { was_too_late, .. } = answered.line.as_ref()?.operation else { return None };
    if !was_too_late {
        return Some(Cancellation::Canceled);
    }
    authorization_of(answered.authorization.as_ref()?, answered.at_ms).map(Cancellation::TooLate)
}

/// The answer to a capture, a void, a refund or a payout.
pub(super) fn completion(answered: &Answered) -> Option<Completion> {
    let line = answered.line.as_ref()?;
    let declined = match &line.operation {
        BookOperation::FollowUp { declined, .. } => declined,
        BookOperation::PendingRefund { authorization: _, fails_at_ms: Some(_) } => {
            return Some(Completion::Pending(Awaited::Time));
        }
        BookOperation::PendingRefund { authorization: _, fails_at_ms: None }
        | BookOperation::Payout(PayoutOutcome::Pending) => {
            return Some(Completion::Pending(Awaited::Decision));
        }
        BookOperation::Payout(PayoutOutcome::Paid) => &None,
        BookOperation::Payout(PayoutOutcome::Declined(reason)) => &Some(*reason),
        BookOperation::Authorize { .. }
        | BookOperation::TimedOut
        | BookOperation::CancelAction { .. }
        | BookOperation::Bill { .. }
        | BookOperation::LateApproval { .. } => return None,
    };
    Some(match declined {
        None => {
            let taken = answered.authorization.as_ref().map_or(TakenMoney::default(), TakenMoney::of);
            let TakenMoney { settles_at_once, is_disputed } = taken;
            Completion::Done { acquirer_reference: own_reference(line), settles_at_once, is_disputed }
        }
        Some(reason) => Completion::Declined(reason.failure()),
    })
}

/// The answer to any call.
pub(super) fn found_call(answered: &Answered) -> Option<FoundCall> {
    let of_action = || cancellation(answered).map(FoundCall::Cancellation);
    let of_money = || completion(answered).map(FoundCall::Completion);
    authorization(answered).map(FoundCall::Authorization).or_else(of_action).or_else(of_money)
}

/// Sends an answer that no call waits for. If it cannot be sent, the caller asks again.
pub(super) fn send_late(late_answers: &OnceLock<LateAnswers>, answered: &Answered) {
    let (Some(late_answers), Some(line), Some(found)) = (late_answers.get(), &answered.line, found_call(answered))
    else {
        return;
    };
    let _asked_again =
        late_answers.try_send(LateAnswer { merchant: line.merchant, reference: line.reference.clone(), found });
}

fn authorization_of(line: &BookLine, at_ms: u64) -> Option<AuthorizationResult> {
    let BookOperation::Authorize { capture, authentication, action, outcome, .. } = &line.operation else {
        return None;
    };
    let authentication = *authentication;
    Some(match outcome {
        AuthorizeOutcome::Approved(state) => AuthorizationResult::Approved {
            acquirer_reference: own_reference(line),
            // A later capture must not change the first answer. An automatic capture that failed is never repeated.
            captured: *capture == CaptureMode::Automatic && state.captured_minor > 0,
            settles_at_once: state.settles_at_once,
            is_disputed: TakenMoney::of(line).is_disputed,
            authentication,
        },
        AuthorizeOutcome::Declined(reason) => {
            AuthorizationResult::Declined { failure: reason.failure(), authentication }
        }
        AuthorizeOutcome::Waiting => {
            let asks = action.as_ref().filter(|action| action.taken.is_none() && action.given_at_ms <= at_ms);
            asks.map_or(AuthorizationResult::Processing, |action| AuthorizationResult::NeedsAction(required(action)))
        }
    })
}

fn required(action: &BookAction) -> RequiredAction {
    let step = match &action.qr_text {
        Some(text) => CustomerStep::DisplayQr(QrText::new(text).expect("a bill's text is short")),
        None => CustomerStep::Redirect(ActionAddress::new(action.path()).expect("the path of a page is short")),
    };
    let (authenticates, lifetime_seconds) = (action.page == ActionPage::Challenge, action.page.lifetime_seconds());
    RequiredAction { step, authenticates, lifetime_seconds }
}

fn own_reference(line: &BookLine) -> String {
    [OWN_PREFIX, &line.reference].concat()
}
