//! The fold of a payment's operations into rows: capture, void, reversal, and calls that end after the payment is over.

use super::actions;
use super::activity::log_activity;
use super::change::{change, existing_row, take_row};
use super::ledger::{change_balance, put_transaction};
use crate::customer_action::LateSuccess;
use crate::effect::{Effect, EffectId, EffectKind, Timer, TimerKind};
use crate::event::Event;
use crate::ids::PaymentId;
use crate::payment::{Authorization, Operation, OperationKind, Payment, PaymentStatus, RefusedOperation};
use crate::records::{Effects, Payments, Present, RowsMut, Timers, Transactions, Unreadable};
use crate::time::Millis;

/// Folds an event of operations in; any other changes nothing here.
pub(super) fn apply(event: &Event, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    if let Event::OperationRequested { payment_id, operation } = event {
        request(*payment_id, operation, rows)?;
    } else if let Event::OperationRefused { payment_id, refused, lapses_at, fails } = event {
        refuse(*payment_id, refused, *lapses_at, *fails, rows)?;
    } else if let Event::PaymentReversed { payment_id, credit_minor, debit_minor, at, activity } = event {
        reverse(*payment_id, *at, rows)?;
        change_balance(rows, |totals| totals.with_canceled_capture(*credit_minor, *debit_minor))?;
        log_activity(activity, rows)?;
    } else if let Event::PaymentExpired { payment_id, released_minor: _, failure } = event {
        let mut payment = take_row::<Payments>(*payment_id, rows)?;
        actions::end(&mut payment, None, rows);
        payment.status = PaymentStatus::Expired;
        payment.failure.clone_from(failure);
        rows.put::<Payments>(*payment_id, payment);
    } else if let Event::LateSuccess { payment_id, authorization, captured } = event {
        give_back(*payment_id, authorization, *captured, rows)?;
    } else if let Event::LateCallEnded { payment_id, failure: _, returned_at } = event {
        // The payment is written also when nothing of it changes: whether it is open follows from it and its call.
        change::<Payments>(rows, *payment_id, |payment| returned(payment, *returned_at))?;
        rows.remove::<Effects>(EffectId::operation(*payment_id));
    }
    Ok(())
}

/// Opens the call, and removes the timer that waits for its answer.
fn request(id: PaymentId, operation: &Operation, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let payment = take_row::<Payments>(id, rows)?;
    if let Some(timer) = timer_of(&payment, operation.kind) {
        rows.remove::<Timers>(timer);
    }
    rows.put::<Payments>(id, Payment { operation: Some(operation.clone()), ..payment });
    let effect = operation.effect(id);
    rows.put::<Effects>(effect.id(), effect);
    Ok(())
}

/// The timer that is not set while the operation is open: that of the lapse or of the settlement.
fn timer_of(payment: &Payment, kind: OperationKind) -> Option<Timer> {
    match kind {
        OperationKind::Capture | OperationKind::Void => {
            let due = payment.authorization.as_ref()?.lapses_at?;
            Some(Timer { due, kind: TimerKind::Lapse(payment.id) })
        }
        OperationKind::Reverse => {
            let capture = payment.capture?;
            Some(Timer { due: capture.settles_at, kind: TimerKind::Settle(capture.transaction_id) })
        }
    }
}

/// Restores the payment as it was before the operation, and sets its timer again.
fn refuse(
    id: PaymentId,
    refused: &RefusedOperation,
    lapses_at: Option<Millis>,
    fails: bool,
    rows: &mut impl RowsMut,
) -> Result<(), Unreadable> {
    rows.remove::<Effects>(EffectId::operation(id));
    change::<Payments>(rows, id, |payment| {
        payment.operation = None;
        payment.last_operation = Some(refused.clone());
        if let (Some(authorization), Some(lapses_at)) = (&mut payment.authorization, lapses_at) {
            authorization.lapses_at = Some(lapses_at);
        }
        if fails {
            payment.failure = Some(refused.failure.clone());
        }
    })?;
    if let Some(timer) = timer_of(&existing_row::<Payments>(id, rows)?, refused.kind) {
        rows.put::<Timers>(timer, Present);
    }
    Ok(())
}

/// Ends the open operation of the payment, if there is one, as part of an event that it led to.
pub(super) fn end_operation(payment: &mut Payment, rows: &mut impl RowsMut) {
    if payment.operation.take().is_some() {
        rows.remove::<Effects>(EffectId::operation(payment.id));
    }
    payment.last_operation = None;
}

fn reverse(id: PaymentId, at: Millis, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let mut payment = take_row::<Payments>(id, rows)?;
    end_operation(&mut payment, rows);
    payment.status = PaymentStatus::Reversed;
    if let Some(capture) = payment.capture {
        let transaction = existing_row::<Transactions>(capture.transaction_id, rows)?;
        put_transaction(&transaction.canceled(at), rows)?;
    }
    rows.put::<Payments>(id, payment);
    Ok(())
}

/// The payment stays over. Its authorization is voided, or refunded when it was captured.
fn give_back(
    id: PaymentId,
    authorization: &Authorization,
    captured: bool,
    rows: &mut impl RowsMut,
) -> Result<(), Unreadable> {
    change::<Payments>(rows, id, |payment| {
        payment.authorization = Some(authorization.clone());
        payment.late_success = Some(LateSuccess { received_at: authorization.at, returned_at: None });
    })?;
    let kind = if captured { EffectKind::RefundLate } else { EffectKind::VoidLate };
    rows.put::<Effects>(EffectId::operation(id), Effect { payment_id: id, kind, opened_at: authorization.at });
    Ok(())
}

fn returned(payment: &mut Payment, at: Option<Millis>) {
    if let (Some(late_success), Some(_)) = (&mut payment.late_success, at) {
        late_success.returned_at = at;
    }
}
