//! The customer's part of a payment: the action that the acquirer asks for, its deadline, and giving up.

use super::context::{Context, Decision, nothing};
use crate::activity::Activity;
use crate::command::RequiredAction;
use crate::customer_action::CustomerAction;
use crate::effect::{Effect, EffectKind};
use crate::event::{Answer, Event};
use crate::failure::FailureCode;
use crate::ids::{PaymentId, SessionId};
use crate::payment::{Payment, PaymentAction};
use crate::records::{Payments, Records, Sessions, Unreadable};
use crate::refusal::{DecisionError, Refusal};
use crate::time::Millis;
use std::sync::Arc;

/// The acquirer asks for an action, once for a payment. The customer has at most the time of the payment for it.
pub(super) fn required(payment: &Payment, required: &RequiredAction, context: &Context<'_>) -> Decision {
    if !payment.allows(PaymentAction::RequireAction, context.now) {
        return Decision::nothing();
    }
    let RequiredAction { step, authenticates, lifetime_seconds } = required;
    let of_payment = payment.created_at.plus_seconds(context.lifetimes.pending_seconds);
    let expires_at = context.now.plus_seconds(*lifetime_seconds).min(of_payment);
    let (step, authenticates, recorded_at) = (step.clone(), *authenticates, context.now);
    let action = CustomerAction { step, authenticates, recorded_at, expires_at };
    Decision::one(Event::ActionRequired { payment_id: payment.id, action })
}

/// The customer has acted: nothing when that is recorded, or was not asked for.
pub(super) fn event_when_taken(payment: &Payment) -> Option<Event> {
    payment.open_action_until().map(|_| Event::ActionTaken { payment_id: payment.id })
}

/// A payment was not completed in time. The call for its authorization stays open; an action that the customer did not
/// take is canceled instead.
pub(super) fn expired(payment: &Payment, now: Millis) -> Vec<Event> {
    let failure = payment.open_action_until().map(|_| FailureCode::CustomerActionTimedOut.into());
    let (payment_id, released_minor) = (payment.id, payment.reserved_minor());
    let canceled = failure.is_some().then(|| cancel_requested(payment_id, now));
    let expired = Event::PaymentExpired { payment_id, released_minor, failure };
    [expired].into_iter().chain(canceled).collect()
}

/// The time for an action is over. Nothing when the customer has acted or the payment has ended in another way.
pub(super) fn events_when_due(records: &impl Records, id: PaymentId, now: Millis) -> Result<Vec<Event>, Unreadable> {
    let is_due = |payment: &Arc<Payment>| payment.open_action_until().is_some_and(|until| until <= now);
    let payment = records.shared::<Payments>(id)?.filter(is_due);
    Ok(payment.map_or_else(Vec::new, |payment| expired(&payment, now)))
}

/// The merchant voids a payment while its customer must act: it takes effect at once.
pub(super) fn voided(payment: &Payment, activity: Activity, now: Millis) -> Decision {
    let (payment_id, released_minor) = (payment.id, payment.reserved_minor());
    let voided = Event::PaymentVoided { payment_id, released_minor, activity };
    Decision { events: vec![voided, cancel_requested(payment_id, now)], vault: Vec::new() }
}

/// The operator plays the customer, also after the end: of a payment that asked its customer.
pub(super) fn order_end(records: &impl Records, id: PaymentId) -> Result<(Decision, Answer), DecisionError> {
    let payment = records.shared::<Payments>(id)?.ok_or(Refusal::PaymentNotFound)?;
    match payment.action {
        Some(_) => Ok((Decision::nothing(), Answer::Changed(true))),
        None => Err(Refusal::InvalidState { status: payment.status, operation: None }.into()),
    }
}

/// The customer gives up: a session that no payment used ends, and a payment fails while its customer must act.
pub(super) fn cancel_session(
    records: &impl Records,
    session_id: SessionId,
    context: &Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let unknown = Refusal::SessionNotActive { payment_id: None };
    let session = records.shared::<Sessions>(session_id)?.ok_or(unknown)?;
    if session.is_active(context.now) {
        let canceled = Event::SessionCanceled { session_id, at: context.now };
        return Ok((Decision::one(canceled), Answer::Changed(true)));
    }
    let payment = session.payment_id.map_or(Ok(None), |payment_id| records.shared::<Payments>(payment_id))?;
    match payment.filter(|payment| payment.allows(PaymentAction::GiveUp, context.now)) {
        Some(payment) => Ok((given_up(&payment, context.now), Answer::Changed(true))),
        None => Ok(nothing()),
    }
}

/// The customer gives up a payment that waits for an action.
pub(super) fn given_up(payment: &Payment, now: Millis) -> Decision {
    let (payment_id, released_minor) = (payment.id, payment.reserved_minor());
    let failure = FailureCode::CanceledByCustomer.into();
    let failed = Event::PaymentFailed { payment_id, released_minor, failure, authentication: None };
    Decision { events: vec![failed, cancel_requested(payment_id, now)], vault: Vec::new() }
}

/// The acquirer is told to cancel an action, or what it has prepared.
pub(super) fn cancel_requested(payment_id: PaymentId, opened_at: Millis) -> Event {
    Event::ActionCancelRequested { effect: Effect { payment_id, kind: EffectKind::CancelAction, opened_at } }
}
