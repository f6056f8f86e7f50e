//! The rules for the acquirer's answers to an authorization, in time or late. A repeated answer changes nothing.

use super::actions;
use super::captures::{self, Captured};
use super::cards;
use super::context::{Context, Decision, nothing};
use super::operations;
use super::preparations;
use crate::activity::Actor;
use crate::command::{
    ApprovedAuthorization, AuthenticationResult, AuthorizationResult, CallResult, Cancellation, RequiredAction,
};
use crate::customer_action::Authentication;
use crate::effect::{EffectId, EffectKind};
use crate::event::{Answer, Event};
use crate::failure::Failure;
use crate::ids::PaymentId;
use crate::payment::{Authorization, CaptureMode, OperationKind, Payment, PaymentAction, PaymentStatus, Ruling};
use crate::records::{Effects, Payments, Records, Unreadable};
use crate::refusal::DecisionError;
use crate::session::Instrument;
use std::sync::Arc;

pub(super) fn record_authorization(
    records: &impl Records,
    payment_id: PaymentId,
    result: &AuthorizationResult,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let Some(payment) = records.shared::<Payments>(payment_id)? else { return Ok(nothing()) };
    let open = open_call(records, payment_id)?;
    let is_open = open.is_some_and(EffectKind::is_authorization);
    let mut decision = match result {
        AuthorizationResult::Declined { failure, authentication } => {
            declined(&payment, failure.clone(), authentication_told(*authentication, context), is_open)
        }
        AuthorizationResult::Approved(approval) => approve(records, &payment, approval, is_open, context)?,
        AuthorizationResult::NeedsAction(required) if open == Some(EffectKind::AuthorizePrepared) => {
            let step = preparations::recorded_step(records, payment_id, &required.step)?;
            actions::required(&payment, &RequiredAction { step, ..required.clone() }, context)
        }
        AuthorizationResult::NeedsAction(required) if is_open => actions::required(&payment, required, context),
        AuthorizationResult::Processing if is_open => {
            Decision { events: actions::event_when_taken(&payment).into_iter().collect(), ..Decision::nothing() }
        }
        AuthorizationResult::NeedsAction(_) | AuthorizationResult::Processing => Decision::nothing(),
    };
    let changed = Answer::Changed(!decision.events.is_empty());
    let is_decided = matches!(result, AuthorizationResult::Approved(_) | AuthorizationResult::Declined { .. });
    if is_decided && payment.status == PaymentStatus::Pending && open == Some(EffectKind::AuthorizePrepared) {
        decision.vault.extend(preparations::page_forgotten(records, payment_id)?);
    }
    Ok((decision, changed))
}

/// An approval, in time or late.
fn approve(
    records: &impl Records,
    payment: &Payment,
    approval: &ApprovedAuthorization,
    is_open: bool,
    context: &mut Context<'_>,
) -> Result<Decision, DecisionError> {
    let mut decision = match payment.status.ruling(PaymentAction::Succeed) {
        Ruling::Authorizes if is_open => approved(records, payment, approval, context)?,
        Ruling::GivenBack => late_approval(payment, approval, context),
        Ruling::Refused
        | Ruling::Nothing
        | Ruling::Stays
        | Ruling::Becomes(_)
        | Ruling::Authorizes
        | Ruling::WorkedOut => Decision::nothing(),
    };
    if let (Instrument::AcquirerPage { card: None }, Some(card), false) =
        (&payment.instrument, &approval.card, decision.events.is_empty())
    {
        decision.events.insert(0, Event::CardTold { payment_id: payment.id, card: card.clone() });
    }
    Ok(decision)
}

/// The authentication that an acquirer tells of, as known from now on.
fn authentication_told(told: Option<AuthenticationResult>, context: &Context<'_>) -> Option<Authentication> {
    let recorded_at = Some(context.now);
    told.map(|AuthenticationResult { flow, status, eci, version }| Authentication {
        flow,
        status,
        eci,
        version,
        at: recorded_at,
    })
}

/// The kind of the call for the payment that has no answer, if there is one. Refunds are not among them.
fn open_call(records: &impl Records, payment_id: PaymentId) -> Result<Option<EffectKind>, Unreadable> {
    let effect = records.shared::<Effects>(EffectId::operation(payment_id))?;
    Ok(effect.map(|effect| effect.kind))
}

/// A pending payment fails. For a payment that is over already, the call is only closed.
fn declined(payment: &Payment, failure: Failure, authentication: Option<Authentication>, is_open: bool) -> Decision {
    let payment_id = payment.id;
    if !is_open {
        return Decision::nothing();
    }
    if payment.status.ruling(PaymentAction::Fail) == Ruling::Becomes(PaymentStatus::Failed) {
        let released_minor = payment.reserved_minor();
        let failed = Event::PaymentFailed { payment_id, released_minor, failure, authentication };
        let events = actions::event_when_taken(payment).into_iter().chain([failed]).collect();
        return Decision { events, ..Decision::nothing() };
    }
    Decision::one(Event::LateCallEnded { payment_id, failure: Some(failure), returned_at: None })
}

/// The payment is authorized. If it is to be captured at once and the acquirer did not do so, a capture is requested.
fn approved(
    records: &impl Records,
    payment: &Payment,
    approval: &ApprovedAuthorization,
    context: &mut Context<'_>,
) -> Result<Decision, DecisionError> {
    let is_automatic = payment.capture_mode == CaptureMode::Automatic;
    let captured = approval.captured && is_automatic;
    let lapses_at = context.now.plus_seconds(context.lifetimes.authorization_seconds);
    let authorization = Authorization {
        acquirer_reference: approval.acquirer_reference.clone(),
        at: context.now,
        lapses_at: (!captured).then(|| approval.capture_before.map_or(lapses_at, |before| before.min(lapses_at))),
    };
    let (payment_id, authentication) = (payment.id, authentication_told(approval.authentication, context));
    let authorized = Event::PaymentAuthorized { payment_id, authorization, authentication };
    let events = actions::event_when_taken(payment).into_iter().chain([authorized]).collect();
    let mut decision = Decision { events, ..Decision::nothing() };
    let amount = payment.money.amount;
    if captured {
        let (settles_at_once, is_disputed) = (approval.settles_at_once, approval.is_disputed);
        let capture = Captured { amount, requested_by: Actor::System, settles_at_once, is_disputed };
        decision.events.extend(captures::captured(records, payment, capture, context)?);
    } else if is_automatic {
        let kind = OperationKind::Capture;
        decision.events.push(operations::requested(payment, kind, amount, Actor::System, context.now));
    }
    cards::save_with_payment(records, payment, &mut decision, context);
    Ok(decision)
}

/// The payment is over, and the acquirer is told, once, to give the money back.
fn late_approval(payment: &Payment, approval: &ApprovedAuthorization, context: &Context<'_>) -> Decision {
    if payment.authorization.is_some() {
        return Decision::nothing();
    }
    let authorization =
        Authorization { acquirer_reference: approval.acquirer_reference.clone(), at: context.now, lapses_at: None };
    let captured = approval.captured;
    Decision::one(Event::LateSuccess { payment_id: payment.id, authorization, captured })
}

/// Records the acquirer's answer to the call that gives back the money of a payment that was over.
pub(super) fn record_given_back(
    records: &impl Records,
    payment_id: PaymentId,
    result: &CallResult,
    context: &Context<'_>,
) -> Result<(Decision, Answer), Unreadable> {
    if !matches!(open_call(records, payment_id)?, Some(EffectKind::VoidLate | EffectKind::RefundLate)) {
        return Ok(nothing());
    }
    let failure = match result {
        CallResult::Done(_) => None,
        CallResult::Declined(failure) => Some(failure.clone()),
    };
    let returned_at = failure.is_none().then_some(context.now);
    Ok((Decision::one(Event::LateCallEnded { payment_id, failure, returned_at }), Answer::Changed(true)))
}

/// Records the acquirer's answer to the cancellation of an action. An approval that came before it is given back.
pub(super) fn record_cancellation(
    records: &impl Records,
    payment_id: PaymentId,
    result: &Cancellation,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    if open_call(records, payment_id)? != Some(EffectKind::CancelAction) {
        return Ok(nothing());
    }
    match result {
        Cancellation::TooLate(approval) => {
            record_authorization(records, payment_id, &AuthorizationResult::Approved(approval.clone()), context)
        }
        Cancellation::Canceled => {
            let ended = Event::LateCallEnded { payment_id, failure: None, returned_at: None };
            Ok((Decision::one(ended), Answer::Changed(true)))
        }
    }
}

/// Expires a payment that has waited too long. Its call stays open: if the acquirer says later that it authorized the
/// payment, the money is given back. What was prepared and led to nothing is canceled instead.
pub(super) fn expire_payment(
    records: &impl Records,
    payment_id: PaymentId,
    context: &Context<'_>,
) -> Result<(Decision, Answer), Unreadable> {
    let expires = |payment: &Arc<Payment>| {
        let due = payment.created_at.plus_seconds(context.lifetimes.pending_seconds);
        payment.status.ruling(PaymentAction::Expire) == Ruling::Becomes(PaymentStatus::Expired) && due <= context.now
    };
    let Some(payment) = records.shared::<Payments>(payment_id)?.filter(expires) else { return Ok(nothing()) };
    let mut events = actions::expired(&payment, context.now);
    if payment.action.is_none() && open_call(records, payment_id)? == Some(EffectKind::AuthorizePrepared) {
        events.push(actions::cancel_requested(payment_id, context.now));
    }
    Ok((Decision { events, vault: Vec::new() }, Answer::Changed(true)))
}
