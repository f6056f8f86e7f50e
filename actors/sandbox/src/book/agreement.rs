//! The book as the store's own tools use it: compared with the payments, and brought to the state of the logs.

use std::collections::BTreeMap;
use std::sync::Arc;

use till_actors::acquirer::{NamedCall, PaymentStep};
use till_domain::acquirer::AcquirerRef;
use till_domain::command::AuthenticationResult;
use till_domain::customer_action::{Authentication, AuthenticationStatus};
use till_domain::failure::FailureCode;
use till_domain::ids::{MerchantId, PayoutId};
use till_domain::payment::{CaptureMode, Payment, PaymentStatus};
use till_domain::payout::{Payout, PayoutStatus};
use till_domain::session::Instrument;

use till_operate::acquirer_book::{
    AcquirerBook, AcquirerBookError, AcquirerLine, AcquirerLines, AuthorizationLine, LineEnd, PayoutLine,
};

use super::action::{ActionOutcome, BookAction, TakenAction};
use super::contract::{Book, BookError};
use super::line::{
    AuthorizationState, AuthorizeOutcome, BookInstrument, BookLine, BookOperation, FollowUp, PayoutOutcome,
};
use super::memory::MemoryBook;
use super::rocks::RocksBook;

/// Prefix of the sandbox's own references in payments.
const OWN_PREFIX: &str = "sandbox:";

/// Implements [`AcquirerBook`] for a [`Book`]: a blanket implementation would cover every type there is.
macro_rules! acquirer_book {
    ($($book:ty),*) => {
        $(impl AcquirerBook for $book {
            fn acquirer(&self) -> AcquirerRef {
                AcquirerRef::Sandbox
            }

            fn lines(&self) -> AcquirerLines<'_> {
                Box::new(self.entries().map(|line| Ok(AcquirerLine::from(line?))))
            }

            fn record(&mut self, payments: &[(MerchantId, Arc<Payment>)]) -> Result<(), AcquirerBookError> {
                Ok(record(self, payments)?)
            }

            fn record_payouts(&mut self, payouts: &[(MerchantId, Arc<Payout>)]) -> Result<(), AcquirerBookError> {
                Ok(record_payouts(self, payouts)?)
            }
        })*
    };
}

acquirer_book!(RocksBook, MemoryBook);

fn record(book: &mut impl Book, payments: &[(MerchantId, Arc<Payment>)]) -> Result<(), BookError> {
    let mut changed: BTreeMap<String, BookLine> = BTreeMap::new();
    for line in payments.iter().flat_map(|(merchant, payment)| lines_of(*merchant, payment)) {
        let known = match changed.get(&line.reference) {
            Some(known) => Some(known.clone()),
            None => book.line(&line.reference)?,
        };
        let line = known.map_or(line.clone(), |known| at_least(known, &line));
        changed.insert(line.reference.clone(), line);
    }
    let lines: Vec<BookLine> = changed.into_values().collect();
    if lines.is_empty() { Ok(()) } else { book.write(&lines) }
}

/// Records the payouts that have ended, except those whose end is known.
fn record_payouts(book: &mut impl Book, payouts: &[(MerchantId, Arc<Payout>)]) -> Result<(), BookError> {
    let mut lines = Vec::new();
    for line in payouts.iter().filter_map(|(merchant, payout)| line_of_payout(*merchant, payout)) {
        let known = book.line(&line.reference)?.map(|known| known.operation);
        if matches!(known, None | Some(BookOperation::TimedOut | BookOperation::Payout(PayoutOutcome::Pending))) {
            lines.push(line);
        }
    }
    if lines.is_empty() { Ok(()) } else { book.write(&lines) }
}

/// The line of a payout that has ended.
fn line_of_payout(merchant: MerchantId, payout: &Payout) -> Option<BookLine> {
    let outcome = match payout.status {
        PayoutStatus::Pending => return None,
        PayoutStatus::Successful => PayoutOutcome::Paid,
        PayoutStatus::Failed => PayoutOutcome::Declined(payout.failure.as_ref()?.code),
    };
    Some(BookLine {
        reference: NamedCall::Payout(payout.id).to_string(),
        merchant,
        payment: None,
        money: payout.money,
        asked_at_ms: payout.created_at.0,
        operation: BookOperation::Payout(outcome),
    })
}

impl From<BookLine> for AcquirerLine {
    fn from(line: BookLine) -> AcquirerLine {
        let BookLine { reference, merchant, payment, money, asked_at_ms: _, operation } = line;
        let end = match operation {
            BookOperation::Authorize { outcome, ref action, .. } => {
                let is_canceled = action.as_ref().is_some_and(|action| action.canceled_at_ms.is_some());
                let named = payment.zip(authorization_line(outcome, is_canceled));
                named.map(|(payment_id, line)| LineEnd::Authorization(payment_id, line))
            }
            BookOperation::Payout(outcome) => {
                let named = payout_of(&reference).zip(payout_line(outcome));
                named.map(|(payout_id, line)| LineEnd::Payout(payout_id, line))
            }
            BookOperation::FollowUp { .. }
            | BookOperation::TimedOut
            | BookOperation::PendingRefund { .. }
            | BookOperation::CancelAction { .. }
            | BookOperation::Bill { .. }
            | BookOperation::LateApproval { .. } => None,
        };
        AcquirerLine { reference, merchant_id: merchant, money, end }
    }
}

/// The answer to an authorization, as verification knows it. An approval that came after a cancellation has no end
/// until its money is given back: the sandbox reports it until then.
fn authorization_line(outcome: AuthorizeOutcome, is_canceled: bool) -> Option<AuthorizationLine> {
    match outcome {
        AuthorizeOutcome::Approved(state) if is_canceled && state.voided_minor == 0 && state.refunded_minor == 0 => {
            None
        }
        AuthorizeOutcome::Approved(state) => Some(AuthorizationLine::Approved { captured_minor: state.captured_minor }),
        AuthorizeOutcome::Declined(_) | AuthorizeOutcome::Canceled => Some(AuthorizationLine::Declined),
        AuthorizeOutcome::Waiting => Some(AuthorizationLine::Waiting),
    }
}

/// The payout that a reference names.
fn payout_of(reference: &str) -> Option<PayoutId> {
    if let Ok(NamedCall::Payout(payout_id)) = reference.parse() { Some(payout_id) } else { None }
}

/// The answer to a payout, as verification knows it; none while it is pending.
const fn payout_line(outcome: PayoutOutcome) -> Option<PayoutLine> {
    match outcome {
        PayoutOutcome::Pending => None,
        PayoutOutcome::Paid => Some(PayoutLine::Paid),
        PayoutOutcome::Declined(_) => Some(PayoutLine::Declined),
    }
}

impl From<BookError> for AcquirerBookError {
    fn from(error: BookError) -> AcquirerBookError {
        let unusable = |reason| AcquirerBookError::Unusable { reason };
        match error {
            BookError::Damaged { reference, what } => AcquirerBookError::Line { reference, reason: what },
            BookError::UnknownFormat { reference, found } => {
                let reason = format!("its format {found} is not known: upgrade the program");
                AcquirerBookError::Line { reference, reason }
            }
            BookError::NotWritten { reason } => unusable(reason),
            BookError::TimedOut => unusable("it did not answer in time".to_owned()),
            BookError::Broken(source) => unusable(source.to_string()),
        }
    }
}

/// The known line, with everything done to its authorization that the other line has.
fn at_least(mut known: BookLine, line: &BookLine) -> BookLine {
    if known.operation == BookOperation::TimedOut {
        return line.clone();
    }
    let BookOperation::Authorize { outcome: had, authentication: had_authentication, action, .. } =
        &mut known.operation
    else {
        return known;
    };
    let BookOperation::Authorize { outcome: has, authentication, .. } = &line.operation else { return known };
    if let (AuthorizeOutcome::Approved(had), AuthorizeOutcome::Approved(has)) = (&mut *had, has) {
        had.captured_minor = had.captured_minor.max(has.captured_minor);
        had.voided_minor = had.voided_minor.max(has.voided_minor);
        had.refunded_minor = had.refunded_minor.max(has.refunded_minor);
    } else if is_decided_by(*had, *has) {
        (*had, *had_authentication) = (*has, *authentication);
        if let Some(action) = action {
            end_action(action, *has, line.asked_at_ms);
        }
    }
    known
}

/// True when the result of an authorization came after the copy of the book was made.
const fn is_decided_by(had: AuthorizeOutcome, has: AuthorizeOutcome) -> bool {
    match had {
        AuthorizeOutcome::Waiting => true,
        // The customer who gave up, or whose action was canceled, has paid late.
        AuthorizeOutcome::Canceled | AuthorizeOutcome::Declined(FailureCode::CanceledByCustomer) => {
            matches!(has, AuthorizeOutcome::Approved(_))
        }
        AuthorizeOutcome::Approved(_) | AuthorizeOutcome::Declined(_) => false,
    }
}

/// Closes the action of an authorization whose result the log knows: nobody can act on it any more.
fn end_action(action: &mut BookAction, result: AuthorizeOutcome, at_ms: u64) {
    if action.canceled_at_ms.is_none() {
        match result {
            AuthorizeOutcome::Approved(_) => {
                action.taken = Some(TakenAction { outcome: ActionOutcome::Succeed, at_ms });
            }
            AuthorizeOutcome::Declined(_) | AuthorizeOutcome::Waiting | AuthorizeOutcome::Canceled => {
                action.canceled_at_ms = Some(at_ms);
            }
        }
    }
}

/// The lines of a payment whose result is recorded.
fn lines_of(merchant: MerchantId, payment: &Payment) -> Vec<BookLine> {
    let Some((reference, outcome, at)) = authorization_of(payment) else { return Vec::new() };
    let Some(instrument) = instrument_of(&payment.instrument) else { return Vec::new() };
    let line = |reference: String, operation| BookLine {
        reference,
        merchant,
        payment: Some(payment.id),
        money: payment.money,
        asked_at_ms: at,
        operation,
    };
    let given_back = given_back(payment).map(|(what, step)| {
        let operation = BookOperation::FollowUp { what, authorization: reference.clone(), declined: None };
        line(NamedCall::first(payment.id, step).to_string(), operation)
    });
    let authentication = payment.authentication.and_then(|Authentication { flow, status, eci, version, at: _ }| {
        (status != AuthenticationStatus::Challenged).then_some(AuthenticationResult { flow, status, eci, version })
    });
    let (capture, action) = (payment.capture_mode, None);
    let operation = BookOperation::Authorize { instrument, capture, authentication, action, outcome };
    std::iter::once(line(reference, operation)).chain(given_back).collect()
}

/// The change by which an authorization was given up, or given back because it came after the end of its payment; none
/// while that is not confirmed.
fn given_back(payment: &Payment) -> Option<(FollowUp, PaymentStep)> {
    payment.authorization.as_ref()?;
    match payment.late_success {
        Some(late) => {
            late.returned_at?;
            Some(match payment.capture_mode {
                CaptureMode::Automatic => (FollowUp::Refund, PaymentStep::Reverse),
                CaptureMode::Manual => (FollowUp::Void, PaymentStep::Void),
            })
        }
        // By a void, or because its capture failed.
        None => matches!(payment.status, PaymentStatus::Voided | PaymentStatus::Failed)
            .then_some((FollowUp::Void, PaymentStep::Void)),
    }
}

/// The reference of an authorization, its result and its time; none when the sandbox was not asked for it.
fn authorization_of(payment: &Payment) -> Option<(String, AuthorizeOutcome, u64)> {
    let reference = format!("{}/authorize", payment.id);
    if let Some(authorization) = &payment.authorization {
        let own = authorization.acquirer_reference.strip_prefix(OWN_PREFIX).map(str::to_owned);
        // A payment that was charged back is reversed without a call to the sandbox.
        let is_reversed = payment.status == PaymentStatus::Reversed && payment.charged_back_minor == 0;
        let amount_minor = payment.money.amount.get();
        let is_late_capture = payment.late_success.is_some() && payment.capture_mode == CaptureMode::Automatic;
        let captured_minor = if is_late_capture { amount_minor } else { payment.captured_minor() };
        let (is_voided, is_refunded) = match given_back(payment) {
            Some((FollowUp::Void, _)) => (true, false),
            Some((FollowUp::Refund, _)) => (false, true),
            Some((FollowUp::Capture, _)) | None => (false, is_reversed),
        };
        let state = AuthorizationState {
            settles_at_once: payment.capture.is_some_and(|capture| capture.settles_at == capture.at),
            captured_minor,
            voided_minor: if is_voided { amount_minor } else { 0 },
            // A refund that the acquirer has not confirmed is asked for again.
            refunded_minor: if is_refunded { captured_minor } else { payment.confirmed_refund_minor },
        };
        return Some((own.unwrap_or(reference), AuthorizeOutcome::Approved(state), authorization.at.0));
    }
    let outcome = match payment.failure.as_ref().map(|failure| failure.code) {
        _ if payment.status == PaymentStatus::Voided => AuthorizeOutcome::Canceled,
        None | Some(FailureCode::CardNotAvailable) => return None, // The sandbox was not asked.
        Some(FailureCode::CustomerActionTimedOut) => AuthorizeOutcome::Canceled,
        Some(code) => AuthorizeOutcome::Declined(code),
    };
    Some((reference, outcome, payment.created_at.0))
}

fn instrument_of(instrument: &Instrument) -> Option<BookInstrument> {
    match instrument {
        Instrument::Token { card, .. } | Instrument::SavedCard { card, .. } => Some(BookInstrument::Card {
            first_six: card.first_digits.as_bytes().try_into().ok()?,
            last_four: card.last_digits.as_bytes().try_into().ok()?,
        }),
        Instrument::Installment { plan, .. } => Some(BookInstrument::Installment { plan: plan.id().to_owned() }),
        Instrument::PromptPay => Some(BookInstrument::PromptPay),
        Instrument::MobileBanking => Some(BookInstrument::MobileBanking),
        Instrument::UnnamedCard | Instrument::AcquirerPage { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::action::ActionPage;
    use super::super::samples;
    use super::*;

    #[test]
    fn a_result_in_the_log_replaces_a_call_that_timed_out() {
        let timed_out = BookLine { operation: BookOperation::TimedOut, ..samples::approved() };
        assert_eq!(at_least(timed_out, &samples::approved()), samples::approved());
    }

    #[test]
    fn an_approval_after_a_cancellation_has_an_end_once_it_is_given_back() {
        let approved = |refunded_minor| {
            let state = AuthorizationState { captured_minor: 10_000, refunded_minor, ..AuthorizationState::default() };
            let mut line = samples::asked_line(samples::REFERENCE, ActionPage::Bank, AuthorizeOutcome::Approved(state));
            if let BookOperation::Authorize { action: Some(action), .. } = &mut line.operation {
                action.canceled_at_ms = Some(1);
            }
            AcquirerLine::from(line).end
        };
        assert_eq!(approved(0), None);
        assert!(matches!(approved(10_000), Some(LineEnd::Authorization(_, AuthorizationLine::Approved { .. }))));
    }

    #[test]
    fn a_result_in_the_log_closes_an_action_that_waits() {
        let declined = AuthorizeOutcome::Declined(FailureCode::PaymentDeclined);
        for result in [AuthorizeOutcome::Approved(AuthorizationState::default()), declined] {
            let waiting = samples::asked_line(samples::REFERENCE, ActionPage::Bank, AuthorizeOutcome::Waiting);
            let known = samples::card_line(samples::REFERENCE, CaptureMode::Manual, result);
            let line = at_least(waiting, &known);
            let action = line.operation.action().expect("it has one");
            assert!(action.taken.is_some() || action.canceled_at_ms.is_some());
            assert!(matches!(line.operation, BookOperation::Authorize { outcome, .. } if outcome == result));
            let late = samples::asked_line(samples::REFERENCE, ActionPage::Bank, AuthorizeOutcome::Waiting);
            assert_eq!(at_least(line.clone(), &late), line, "what has ended stays");
        }
    }

    #[test]
    fn a_late_approval_in_the_log_replaces_what_a_customer_gave_up() {
        let approved = samples::approved();
        let canceled = [AuthorizeOutcome::Canceled, AuthorizeOutcome::Declined(FailureCode::CanceledByCustomer)];
        for outcome in canceled {
            let given_up = samples::card_line(samples::REFERENCE, CaptureMode::Manual, outcome);
            assert_eq!(at_least(given_up, &approved).operation, approved.operation, "{outcome:?}");
        }
        let failed = AuthorizeOutcome::Declined(FailureCode::CardDeclined);
        let declined = samples::card_line(samples::REFERENCE, CaptureMode::Manual, failed);
        assert_eq!(at_least(declined.clone(), &approved), declined);
    }

    #[test]
    fn pending_and_timed_out_lines_give_no_result_of_a_payment() {
        let pending = BookOperation::PendingRefund { authorization: samples::REFERENCE.to_owned(), fails_at_ms: None };
        for operation in [BookOperation::TimedOut, pending] {
            let line = AcquirerLine::from(BookLine { operation, ..samples::approved() });
            assert_eq!(line.end, None);
        }
    }
}
