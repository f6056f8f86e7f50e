//! The answers that callers get, as the lines of the book say them.

use std::sync::OnceLock;

use crate::book::{ActionPage, AuthorizeOutcome, BookAction, BookLine, BookOperation, PayoutOutcome};
use till_actors::acquirer::{
    ApprovedAuthorization, Awaited, CallAnswer, CallDone, LateAnswer, LateAnswers, MovedMoney,
};
use till_domain::command::RequiredAction;
use till_domain::customer_action::CustomerStep;
use till_domain::failure::FailureCode;
use till_domain::payment::CaptureMode;
use till_domain::text::{ActionAddress, QrText};

use super::judgement::TakenMoney;
use super::queue::Answered;

/// Prefix of our reference in the sandbox's own.
pub(super) const OWN_PREFIX: &str = "sandbox:";

/// The answer to a call, as of now; none when the line records no call. It stays the same once the call has ended.
pub(super) fn call_answer(answered: &Answered) -> Option<CallAnswer> {
    let line = answered.line.as_ref()?;
    Some(match &line.operation {
        BookOperation::Authorize { .. } => return authorization(line, answered.at_ms),
        BookOperation::CancelAction { was_too_late: true, .. } => {
            return authorization(answered.authorization.as_ref()?, answered.at_ms);
        }
        BookOperation::CancelAction { was_too_late: false, .. } => CallAnswer::Done(CallDone::Canceled),
        BookOperation::PendingRefund { authorization: _, fails_at_ms: Some(_) } => CallAnswer::Pending(Awaited::Time),
        BookOperation::PendingRefund { authorization: _, fails_at_ms: None }
        | BookOperation::Payout(PayoutOutcome::Pending) => CallAnswer::Pending(Awaited::Decision),
        BookOperation::FollowUp { declined: Some(code), .. } | BookOperation::Payout(PayoutOutcome::Declined(code)) => {
            CallAnswer::Declined { failure: (*code).into(), authentication: None }
        }
        BookOperation::FollowUp { declined: None, .. } | BookOperation::Payout(PayoutOutcome::Paid) => {
            let taken = answered.authorization.as_ref().map_or(TakenMoney::default(), TakenMoney::of);
            let TakenMoney { settles_at_once, is_disputed } = taken;
            let acquirer_reference = own_reference(line);
            CallAnswer::Done(CallDone::Moved(MovedMoney { acquirer_reference, settles_at_once, is_disputed }))
        }
        BookOperation::TimedOut | BookOperation::Bill { .. } | BookOperation::LateApproval { .. } => return None,
    })
}

/// Sends an answer that no call waits for. If it cannot be sent, the caller asks again.
pub(super) fn send_late(late_answers: &OnceLock<LateAnswers>, answered: &Answered) {
    let (Some(late_answers), Some(line), Some(answer)) = (late_answers.get(), &answered.line, call_answer(answered))
    else {
        return;
    };
    let _asked_again =
        late_answers.try_send(LateAnswer { merchant: line.merchant, reference: line.reference.clone(), answer });
}

fn authorization(line: &BookLine, at_ms: u64) -> Option<CallAnswer> {
    let BookOperation::Authorize { capture, authentication, action, outcome, .. } = &line.operation else {
        return None;
    };
    let authentication = *authentication;
    Some(match outcome {
        AuthorizeOutcome::Approved(state) => CallAnswer::Done(CallDone::Approved(ApprovedAuthorization {
            acquirer_reference: own_reference(line),
            // A later capture must not change the first answer. An automatic capture that failed is never repeated.
            captured: *capture == CaptureMode::Automatic && state.captured_minor > 0,
            settles_at_once: state.settles_at_once,
            is_disputed: TakenMoney::of(line).is_disputed,
            authentication,
            capture_before: None,
            card: None,
        })),
        AuthorizeOutcome::Declined(code) => CallAnswer::Declined { failure: (*code).into(), authentication },
        // The payment has ended in another way, so that nobody sees this code.
        AuthorizeOutcome::Canceled => {
            CallAnswer::Declined { failure: FailureCode::CustomerActionTimedOut.into(), authentication }
        }
        AuthorizeOutcome::Waiting => {
            let asks = action.as_ref().filter(|action| action.taken.is_none() && action.given_at_ms <= at_ms);
            let processing = CallAnswer::Pending(Awaited::Time);
            asks.map_or(processing, |action| CallAnswer::NeedsAction(required(action)))
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
