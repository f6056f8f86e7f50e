//! Acts of customers, as changes of the lines of their authorizations. Nothing here waits, reads a clock or writes to
//! disk.

use crate::book::{
    ActionId, ActionOutcome, ActionPage, AuthorizationState, AuthorizeOutcome, BookAction, BookLine, BookOperation,
    TakenAction,
};
use till_domain::command::AuthenticationResult;
use till_domain::customer_action::{AuthenticationFlow, AuthenticationStatus};
use till_domain::failure::FailureCode;
use till_domain::ids::{MerchantId, PaymentId};
use till_domain::money::Money;
use till_domain::payment::CaptureMode;

use super::cards::{AmountBehaviour, Behaviour, ECI_AUTHENTICATED};

/// The time by which an address, a text or a success is late, for the amounts that have it so.
const LATE_MS: u64 = 5_000;

/// Prefix of the keys under which the book keeps approvals that came after a cancellation.
pub(super) const LATE_PREFIX: &str = "late/";

/// An act of a customer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Act {
    /// On the page of an action, as long as it is open.
    OnPage(ActionId, ActionOutcome),
    /// Anywhere, also after the action was canceled.
    ByOperator(MerchantId, PaymentId, ActionOutcome),
}

/// An action, as it is given to the customer.
pub(super) fn action_for_customer(action: BookAction, behaviour: Behaviour, money: Money, now_ms: u64) -> BookAction {
    let is_late = late_behaviour(&action, money) == Some(AmountBehaviour::AsksLate);
    let given_at_ms = if is_late { now_ms.saturating_add(LATE_MS) } else { now_ms };
    BookAction { given_at_ms, declines: behaviour.declines(), ..action }
}

/// The line after an act of the customer; none when it changes nothing.
pub(super) fn act(line: &BookLine, act: Act, now_ms: u64) -> Option<BookLine> {
    let mut line = line.clone();
    let money = line.money;
    let BookOperation::Authorize { action: Some(action), authentication, outcome, .. } = &mut line.operation else {
        return None;
    };
    let is_canceled = action.canceled_at_ms.is_some();
    let (is_allowed, taken) = match act {
        Act::OnPage(id, taken) => (!is_canceled && id == action.id && action.page.offers(taken), taken),
        Act::ByOperator(merchant, payment, taken) => {
            ((line.merchant, line.payment) == (merchant, Some(payment)), taken)
        }
    };
    let is_approved = matches!(outcome, AuthorizeOutcome::Approved(_));
    if !is_allowed || is_approved || action.taken.is_some() || now_ms < action.given_at_ms {
        return None;
    }
    action.taken = Some(TakenAction { outcome: taken, at_ms: now_ms });
    if taken == ActionOutcome::Succeed {
        let is_late = !is_canceled && late_behaviour(action, money) == Some(AmountBehaviour::SucceedsLate);
        action.succeeds_at_ms = Some(if is_late { now_ms.saturating_add(LATE_MS) } else { now_ms });
    } else if !is_canceled {
        *authentication = challenged(action.page, AuthenticationStatus::NotAuthenticated);
        *outcome = AuthorizeOutcome::Declined(reason(action.page, taken));
    }
    Some(after_success(&line, now_ms).unwrap_or(line))
}

/// The line of an authorization whose success has come by now; none when nothing changes.
pub(super) fn after_success(line: &BookLine, now_ms: u64) -> Option<BookLine> {
    let BookOperation::Authorize { action: Some(action), outcome, capture, .. } = &line.operation else { return None };
    let is_due = action.succeeds_at_ms.is_some_and(|at_ms| at_ms <= now_ms);
    let is_open = matches!(outcome, AuthorizeOutcome::Waiting | AuthorizeOutcome::Canceled);
    if !is_due || !is_open {
        return None;
    }
    let captured_minor = if *capture == CaptureMode::Automatic { line.money.amount.get() } else { 0 };
    let approved = AuthorizationState { captured_minor, ..AuthorizationState::default() };
    let (passed, result) = (
        challenged(action.page, AuthenticationStatus::Authenticated),
        action.declines.map_or(AuthorizeOutcome::Approved(approved), AuthorizeOutcome::Declined),
    );
    let mut line = line.clone();
    if let BookOperation::Authorize { authentication, outcome, .. } = &mut line.operation {
        (*authentication, *outcome) = (passed, result);
    }
    Some(line)
}

/// Cancels the action of an authorization: returns true when the money was taken before, and the changed line.
pub(super) fn cancel(line: Option<&BookLine>, deadline_passed: bool, now_ms: u64) -> (bool, Option<BookLine>) {
    let Some(mut line) = line.cloned() else { return (false, None) };
    let money = line.money;
    let BookOperation::Authorize { action, authentication, outcome, .. } = &mut line.operation else {
        return (false, None);
    };
    match (&outcome, action) {
        (AuthorizeOutcome::Approved(_), _) => (true, None),
        (AuthorizeOutcome::Declined(_) | AuthorizeOutcome::Canceled, _) | (AuthorizeOutcome::Waiting, None) => {
            (false, None)
        }
        (AuthorizeOutcome::Waiting, Some(action)) if action.taken.is_some() => {
            action.succeeds_at_ms = Some(now_ms);
            let ended = after_success(&line, now_ms);
            (ended.as_ref().is_some_and(is_approved), ended)
        }
        (AuthorizeOutcome::Waiting, Some(action)) => {
            action.canceled_at_ms = Some(now_ms);
            let succeeds =
                deadline_passed && late_behaviour(action, money) == Some(AmountBehaviour::SucceedsAfterDeadline);
            action.succeeds_at_ms = succeeds.then(|| now_ms.saturating_add(LATE_MS));
            *authentication = challenged(action.page, AuthenticationStatus::NotAuthenticated);
            *outcome = AuthorizeOutcome::Canceled;
            (false, Some(line))
        }
    }
}

/// The time at which the sandbox has something to say of a call by itself; none when there is none after now.
pub(super) fn next_due_ms(line: &BookLine, now_ms: u64) -> Option<u64> {
    let times = match &line.operation {
        BookOperation::PendingRefund { fails_at_ms, .. } => [*fails_at_ms, None],
        BookOperation::Authorize { action: Some(action), .. } => {
            let of_success = action.succeeds_at_ms.filter(|_| after_success(line, u64::MAX).is_some());
            [Some(action.given_at_ms), of_success]
        }
        BookOperation::Authorize { action: None, .. }
        | BookOperation::FollowUp { .. }
        | BookOperation::TimedOut
        | BookOperation::Payout(_)
        | BookOperation::CancelAction { .. }
        | BookOperation::Bill { .. }
        | BookOperation::LateApproval { .. } => [None, None],
    };
    times.into_iter().flatten().filter(|at_ms| now_ms < *at_ms).min()
}

/// True for an authorization whose action was canceled, and which is approved nevertheless or will be.
pub(super) fn succeeds_late(line: &BookLine) -> bool {
    let BookOperation::Authorize { action: Some(action), .. } = &line.operation else { return false };
    action.canceled_at_ms.is_some()
        && (is_approved(line) || after_success(line, u64::MAX).is_some_and(|line| is_approved(&line)))
}

/// True for an approved authorization all of whose money was voided or given back.
pub(super) fn is_given_back(line: &BookLine) -> bool {
    let BookOperation::Authorize { outcome: AuthorizeOutcome::Approved(state), .. } = &line.operation else {
        return false;
    };
    state.voided_minor > 0 || (state.captured_minor > 0 && state.refunded_minor == state.captured_minor)
}

/// True for an authorization that is approved.
pub(super) fn is_approved(line: &BookLine) -> bool {
    matches!(&line.operation, BookOperation::Authorize { outcome: AuthorizeOutcome::Approved(_), .. })
}

/// The behaviour by the amount, which a challenge does not have.
fn late_behaviour(action: &BookAction, money: Money) -> Option<AmountBehaviour> {
    match action.page {
        ActionPage::Challenge => None,
        ActionPage::Bank | ActionPage::Wallet => AmountBehaviour::of(money),
    }
}

/// The authentication after a challenge; none after any other page.
fn challenged(page: ActionPage, status: AuthenticationStatus) -> Option<AuthenticationResult> {
    let eci = (status == AuthenticationStatus::Authenticated).then_some(ECI_AUTHENTICATED);
    let result = AuthenticationResult { flow: AuthenticationFlow::Challenge, status, eci, version: None };
    (page == ActionPage::Challenge).then_some(result)
}

/// The reason for a decline by the customer.
const fn reason(page: ActionPage, outcome: ActionOutcome) -> FailureCode {
    match (page, outcome) {
        (_, ActionOutcome::Cancel) => FailureCode::CanceledByCustomer,
        (ActionPage::Challenge, ActionOutcome::Succeed | ActionOutcome::Fail) => FailureCode::AuthenticationFailed,
        (ActionPage::Bank | ActionPage::Wallet, ActionOutcome::Succeed | ActionOutcome::Fail) => {
            FailureCode::PaymentDeclined
        }
    }
}
