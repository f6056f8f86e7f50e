//! Captures, voids and reversals: the merchant's requests and the acquirer's answers. A payment has at most one open
//! operation.

use super::acquirer_accounts::is_reachable;
use super::actions;
use super::caller::{activity, actor, check_refund_limit};
use super::captures::{Captured, captured};
use super::context::{Context, Decision};
use super::netting::held_capture;
use crate::activity::{ActivityType, Actor};
use crate::command::{CallResult, Caller, CapturePayment, MovedMoney, RecordOperation};
use crate::effect::EffectId;
use crate::event::{Answer, Event};
use crate::failure::{Failure, FailureCode};
use crate::ids::PaymentId;
use crate::ledger::Direction;
use crate::money::AmountMinor;
use crate::payment::{
    CaptureMode, LAPSE_REPEATED_AFTER_SECONDS, Operation, OperationKind, Payment, PaymentAction, PaymentRef,
    PaymentStatus, RefusedOperation, Ruling,
};
use crate::records::{Effects, Payments, PaymentsByExternalId, Records, Unreadable};
use crate::refusal::{DecisionError, Refusal};
use crate::time::Millis;
use std::sync::Arc;

pub(super) fn capture_payment(
    records: &impl Records,
    caller: Caller,
    command: &CapturePayment,
    context: &Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let payment = permitted(records, &command.payment, OperationKind::Capture, context)?;
    let authorized = payment.money.amount;
    let amount = command.amount.unwrap_or(authorized);
    if amount > authorized {
        return Err(Refusal::AmountExceedsPayment { limit_minor: authorized.get() }.into());
    }
    let asker = actor(records.state(), caller)?;
    Ok(accept_operation(requested(&payment, OperationKind::Capture, amount, asker, context.now)))
}

pub(super) fn void_payment(
    records: &impl Records,
    caller: Caller,
    payment: &PaymentRef,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let payment = find_payment(records, payment)?;
    let asker = actor(records.state(), caller)?;
    if payment.customer_must_act(context.now) {
        let activity = activity(ActivityType::PaymentVoided, payment.id, asker, context);
        return Ok((actions::voided(&payment, activity, context.now), Answer::Changed(true)));
    }
    check_permitted(records, &payment, OperationKind::Void, context)?;
    Ok(accept_operation(requested(&payment, OperationKind::Void, payment.money.amount, asker, context.now)))
}

pub(super) fn reverse_payment(
    records: &impl Records,
    caller: Caller,
    payment: &PaymentRef,
    context: &Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let payment = permitted(records, payment, OperationKind::Reverse, context)?;
    let amount = AmountMinor::new(payment.captured_minor()).unwrap_or(payment.money.amount);
    check_refund_limit(records.state(), caller, amount, context.now)?;
    let asker = actor(records.state(), caller)?;
    Ok(accept_operation(requested(&payment, OperationKind::Reverse, amount, asker, context.now)))
}

fn accept_operation(event: Event) -> (Decision, Answer) {
    (Decision::one(event), Answer::Changed(true))
}

/// The payment that a call names.
pub(super) fn find_payment(records: &impl Records, payment: &PaymentRef) -> Result<Arc<Payment>, DecisionError> {
    let id = records.id_of::<PaymentsByExternalId>(payment)?.ok_or(Refusal::PaymentNotFound)?;
    Ok(records.shared::<Payments>(id)?.ok_or(Refusal::PaymentNotFound)?)
}

/// The payment that a call names. The call is refused if the payment does not permit the operation.
fn permitted(
    records: &impl Records,
    payment: &PaymentRef,
    kind: OperationKind,
    context: &Context<'_>,
) -> Result<Arc<Payment>, DecisionError> {
    let payment = find_payment(records, payment)?;
    check_permitted(records, &payment, kind, context)?;
    Ok(payment)
}

fn check_permitted(
    records: &impl Records,
    payment: &Payment,
    kind: OperationKind,
    context: &Context<'_>,
) -> Result<(), DecisionError> {
    let is_allowed = payment.allows(kind.action(), context.now) && is_reachable(records.state(), payment);
    if is_allowed && !has_open_call(records, payment)? {
        return Ok(());
    }
    let operation = payment.operation.as_ref().map(|operation| operation.kind);
    Err(Refusal::InvalidState { status: payment.status, operation }.into())
}

/// True while the acquirer has not answered a call about the payment, except for a refund.
pub(super) fn has_open_call(records: &impl Records, payment: &Payment) -> Result<bool, Unreadable> {
    Ok(records.shared::<Effects>(EffectId::operation(payment.id))?.is_some())
}

/// The event that requests an operation.
pub(super) fn requested(
    payment: &Payment,
    kind: OperationKind,
    amount: AmountMinor,
    requested_by: Actor,
    requested_at: Millis,
) -> Event {
    let attempt = payment.last_operation.as_ref().map_or(1, |last| last.attempt.saturating_add(1));
    let operation = Operation { kind, amount, requested_by, requested_at, attempt };
    Event::OperationRequested { payment_id: payment.id, operation }
}

/// Records the acquirer's answer to an operation. The answer changes nothing if the operation is not open.
pub(super) fn record_operation(
    records: &impl Records,
    command: &RecordOperation,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let Some((payment, operation)) = open(records, command)? else {
        return Ok((Decision::nothing(), Answer::Changed(false)));
    };
    let decision = match &command.result {
        CallResult::Done(moved) => {
            Decision { events: events_of_success(records, &payment, operation, moved, context)?, ..Decision::nothing() }
        }
        CallResult::Declined(failure) => declined(&payment, &operation, failure, context.now),
    };
    Ok((decision, Answer::Changed(true)))
}

/// The open operation that the acquirer answers, with its payment. None if that operation is not open.
fn open(records: &impl Records, command: &RecordOperation) -> Result<Option<(Arc<Payment>, Operation)>, Unreadable> {
    let effect = records.shared::<Effects>(EffectId::operation(command.payment_id))?;
    if effect.is_none_or(|effect| effect.kind != command.kind.effect_kind()) {
        return Ok(None);
    }
    let Some(payment) = records.shared::<Payments>(command.payment_id)? else { return Ok(None) };
    let Some(operation) = payment.operation.clone() else { return Ok(None) };
    Ok((operation.attempt == command.attempt).then_some((payment, operation)))
}

fn events_of_success(
    records: &impl Records,
    payment: &Payment,
    operation: Operation,
    moved: &MovedMoney,
    context: &mut Context<'_>,
) -> Result<Vec<Event>, DecisionError> {
    let Operation { kind, amount, requested_by, requested_at: _, attempt: _ } = operation;
    match kind {
        OperationKind::Capture => {
            let (settles_at_once, is_disputed) = (moved.settles_at_once, moved.is_disputed);
            captured(records, payment, Captured { amount, requested_by, settles_at_once, is_disputed }, context)
        }
        OperationKind::Void => Ok(vec![voided(payment, requested_by, context)]),
        OperationKind::Reverse => Ok(vec![reversed(records, payment, requested_by, context)?]),
    }
}

/// The event of a void that the acquirer made. A payment whose capture was refused fails; any other payment is voided.
fn voided(payment: &Payment, requested_by: Actor, context: &mut Context<'_>) -> Event {
    let (payment_id, released_minor) = (payment.id, payment.reserved_minor());
    if let Some(failure) = payment.failure.clone() {
        return Event::PaymentFailed { payment_id, released_minor, failure, authentication: None };
    }
    let activity = activity(ActivityType::PaymentVoided, payment_id, requested_by, context);
    Event::PaymentVoided { payment_id, released_minor, activity }
}

fn reversed(
    records: &impl Records,
    payment: &Payment,
    requested_by: Actor,
    context: &mut Context<'_>,
) -> Result<Event, Unreadable> {
    Ok(Event::PaymentReversed {
        payment_id: payment.id,
        credit_minor: payment.captured_minor(),
        debit_minor: held_capture(records, payment)?.map_or(0, |held| held.balance_minor(Direction::Debit)),
        at: context.now,
        activity: activity(ActivityType::PaymentReversed, payment.id, requested_by, context),
    })
}

/// The events of an operation that the acquirer refused. The payment returns to its state before the operation. If Till
/// itself requested the capture, for a payment with `capture: true`, a void is requested and the payment fails. A
/// capture of an authorization that has lapsed at the acquirer is followed by a void, as that of a lapse.
fn declined(payment: &Payment, operation: &Operation, failure: &Failure, now: Millis) -> Decision {
    let Operation { kind, amount: _, requested_by, requested_at: _, attempt } = operation;
    let refused = RefusedOperation { kind: *kind, failure: failure.clone(), at: now, attempt: *attempt };
    let is_of_till = *requested_by == Actor::System;
    let fails = is_of_till && *kind == OperationKind::Capture && payment.capture_mode == CaptureMode::Automatic;
    let lapses_at = lapses_again_at(payment, *kind, is_of_till, now);
    let refused = Event::OperationRefused { payment_id: payment.id, refused, lapses_at, fails };
    let mut decision = Decision::one(refused);
    let has_lapsed = *kind == OperationKind::Capture && failure.code == FailureCode::AuthorizationExpired;
    if fails || has_lapsed {
        let again = attempt.saturating_add(1);
        decision.events.push(given_up(payment, again, now));
    }
    decision
}

fn given_up(payment: &Payment, attempt: u32, now: Millis) -> Event {
    let operation = Operation {
        kind: OperationKind::Void,
        amount: payment.money.amount,
        requested_by: Actor::System,
        requested_at: now,
        attempt,
    };
    Event::OperationRequested { payment_id: payment.id, operation }
}

/// The instant at which the authorization lapses after the acquirer refused an operation. It is the original instant,
/// except after a void that Till itself requested: that void is requested again later. A reversal has no such instant.
fn lapses_again_at(payment: &Payment, kind: OperationKind, is_of_till: bool, now: Millis) -> Option<Millis> {
    match kind {
        OperationKind::Reverse => None,
        OperationKind::Void if is_of_till => Some(now.plus_seconds(LAPSE_REPEATED_AFTER_SECONDS)),
        OperationKind::Capture | OperationKind::Void => {
            payment.authorization.as_ref().and_then(|authorization| authorization.lapses_at)
        }
    }
}

/// The event that requests the void of an authorization that lapses. None if the payment's status no longer lets it
/// lapse, or if an operation is open.
pub(super) fn lapse(records: &impl Records, id: PaymentId, now: Millis) -> Result<Option<Event>, Unreadable> {
    let lapses = |payment: &Arc<Payment>| {
        payment.status.ruling(PaymentAction::Expire) == Ruling::Becomes(PaymentStatus::Voided)
            && payment.operation.is_none()
    };
    let payment = records.shared::<Payments>(id)?.filter(lapses);
    Ok(payment.map(|payment| requested(&payment, OperationKind::Void, payment.money.amount, Actor::System, now)))
}
