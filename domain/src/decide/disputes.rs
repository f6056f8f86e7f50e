//! Disputes: contract, sections 9, 9.1a and 10. The provider opens, escalates and closes them, the merchant answers.

use super::caller::{activity, actor, check_refund_limit};
use super::context::{Context, Decision};
use super::netting::{held_capture, opened, uncovered_minor};
use super::operations::{find_payment, has_open_call};
use super::posting;

use crate::activity::{Activity, ActivityObject, ActivityType, Actor};
use crate::command::{Caller, ChallengeDispute, EvidenceResult, OpenDispute};
use crate::dispute::{Dispute, DisputeOutcome, DisputeStatus};
use crate::event::{Answer, DisputeClosing, Event};
use crate::ids::{DisputeId, PaymentId};
use crate::money::AmountMinor;
use crate::payment::{Payment, PaymentAction, PaymentStatus};
use crate::records::{Disputes, OpenEvidence, Payments, Records, Unreadable};
use crate::refusal::{DecisionError, Refusal};
use std::sync::Arc;

pub(super) fn open_dispute(
    records: &impl Records,
    command: &OpenDispute,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let payment = find_payment(records, &command.payment)?;
    let left = disputable(records, &payment, context)?;
    let amount = command.amount.unwrap_or(left);
    if amount > left {
        return Err(Refusal::AmountExceedsPayment { limit_minor: left.get() }.into());
    }
    posting::check_room_for_debit(records.state(), amount.get())?;
    let held = held_capture(records, &payment)?;
    let (id, event) = opened(&payment, held.as_deref(), amount, command.reason.clone(), context);
    Ok((Decision::one(event), Answer::Dispute(id)))
}

/// The amount that can be disputed: all that is left of the payment.
fn disputable(records: &impl Records, payment: &Payment, context: &Context<'_>) -> Result<AmountMinor, DecisionError> {
    let is_allowed = payment.allows(PaymentAction::OpenDispute, context.now) && !has_open_call(records, payment)?;
    let left = AmountMinor::new(payment.refundable_minor()).filter(|_| is_allowed);
    let operation = payment.operation.as_ref().map(|operation| operation.kind);
    Ok(left.ok_or(Refusal::InvalidState { status: payment.status, operation })?)
}

pub(super) fn challenge_dispute(
    records: &impl Records,
    caller: Caller,
    command: &ChallengeDispute,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let dispute = find_dispute(records, command.dispute_id)?;
    if !dispute.takes_evidence() {
        return Err(Refusal::DisputeState { status: dispute.status, has_evidence: dispute.evidence.is_some() }.into());
    }
    let asker = actor(records.state(), caller)?;
    let event = Event::DisputeChallenged {
        dispute_id: dispute.id,
        evidence: command.evidence.clone(),
        status: dispute.status_with_evidence(),
        activity: activity_about(&dispute, ActivityType::DisputeChallenged, asker, context),
    };
    Ok((Decision::one(event), Answer::Changed(true)))
}

/// Records the provider's answer to evidence. An answer to evidence that is not pending changes nothing.
pub(super) fn record_evidence(
    records: &impl Records,
    dispute_id: DisputeId,
    result: EvidenceResult,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    if records.get::<OpenEvidence>(dispute_id)?.is_none() {
        return Ok((Decision::nothing(), Answer::Changed(false)));
    }
    let outcome = match result {
        EvidenceResult::Taken => None,
        EvidenceResult::Won => Some(DisputeOutcome::Won),
        EvidenceResult::Lost => Some(DisputeOutcome::Lost),
    };
    let event = match outcome {
        None => Event::EvidenceTaken { dispute_id },
        Some(outcome) => closed(records, &*find_dispute(records, dispute_id)?, outcome, Actor::System, context)?,
    };
    Ok((Decision::one(event), Answer::Changed(true)))
}

pub(super) fn concede_dispute(
    records: &impl Records,
    caller: Caller,
    dispute_id: DisputeId,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let dispute = undecided(records, dispute_id)?;
    check_refund_limit(records.state(), caller, dispute.money.amount, context.now)?;
    let asker = actor(records.state(), caller)?;
    let event = closed(records, &dispute, DisputeOutcome::Conceded, asker, context)?;
    Ok((Decision::one(event), Answer::Changed(true)))
}

pub(super) fn escalate_dispute(
    records: &impl Records,
    dispute_id: DisputeId,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let dispute = undecided(records, dispute_id)?;
    if dispute.status == DisputeStatus::Escalated {
        return Err(decided(&dispute).into());
    }
    let activity = activity_about(&dispute, ActivityType::DisputeEscalated, Actor::System, context);
    Ok((Decision::one(Event::DisputeEscalated { dispute_id, activity }), Answer::Changed(true)))
}

pub(super) fn close_dispute(
    records: &impl Records,
    dispute_id: DisputeId,
    outcome: DisputeOutcome,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let dispute = undecided(records, dispute_id)?;
    let event = closed(records, &dispute, outcome, Actor::System, context)?;
    Ok((Decision::one(event), Answer::Changed(true)))
}

/// The event that loses a dispute for which evidence was not given in time.
pub(super) fn evidence_due(
    records: &impl Records,
    dispute_id: DisputeId,
    context: &mut Context<'_>,
) -> Result<Option<Event>, Unreadable> {
    let dispute = records.shared::<Disputes>(dispute_id)?.filter(|dispute| dispute.takes_evidence());
    let Some(dispute) = dispute else { return Ok(None) };
    closed(records, &dispute, DisputeOutcome::Lost, Actor::System, context).map(Some)
}

fn find_dispute(records: &impl Records, id: DisputeId) -> Result<Arc<Dispute>, DecisionError> {
    Ok(records.shared::<Disputes>(id)?.ok_or(Refusal::DisputeNotFound)?)
}

/// A dispute that can still be escalated, conceded or closed.
fn undecided(records: &impl Records, id: DisputeId) -> Result<Arc<Dispute>, DecisionError> {
    let dispute = find_dispute(records, id)?;
    if dispute.status.is_open() { Ok(dispute) } else { Err(decided(&dispute).into()) }
}

const fn decided(dispute: &Dispute) -> Refusal {
    Refusal::DisputeState { status: dispute.status, has_evidence: false }
}

fn activity_about(dispute: &Dispute, activity_type: ActivityType, actor: Actor, context: &mut Context<'_>) -> Activity {
    let object = ActivityObject::Dispute(dispute.id);
    Activity {
        parent: Some(dispute.payment_id),
        ..Activity::new(context.mint(), context.now, activity_type, actor, object)
    }
}

/// The event that closes a dispute. A charge-back against a capture on hold becomes effective with the capture.
fn closed(
    records: &impl Records,
    dispute: &Dispute,
    outcome: DisputeOutcome,
    actor: Actor,
    context: &mut Context<'_>,
) -> Result<Event, Unreadable> {
    let payment = disputed(records, dispute.payment_id)?;
    let amount_minor = dispute.money.amount.get();
    let held = held_capture(records, &payment)?;
    let charged_back_minor = if outcome.is_charge_back() { amount_minor } else { 0 };
    let charged_back_minor = payment.charged_back_minor.saturating_add(charged_back_minor);
    let payment_status = payment.status_without_dispute(payment.confirmed_refund_minor, charged_back_minor);
    let others_minor = payment.taken_back_minor().saturating_sub(amount_minor);
    let settles_at = payment.capture.map(|capture| capture.settles_at);
    Ok(Event::DisputeClosed(DisputeClosing {
        dispute_id: dispute.id,
        payment_id: payment.id,
        outcome,
        amount_minor,
        payment_status,
        uncovered_minor: uncovered_minor(held.as_deref(), others_minor, amount_minor),
        settles_at: settles_at.filter(|_| held.is_some() && outcome.is_charge_back()),
        at: context.now,
        activities: activities(dispute, outcome, payment_status, &actor, context),
    }))
}

fn disputed(records: &impl Records, id: PaymentId) -> Result<Arc<Payment>, Unreadable> {
    let payment = records.shared::<Payments>(id)?;
    payment.ok_or_else(|| Unreadable { reason: "the payment of a dispute is not there".to_owned() })
}

/// The entries of the activity log: one when the merchant conceded, one when nothing is left of the payment.
fn activities(
    dispute: &Dispute,
    outcome: DisputeOutcome,
    payment_status: PaymentStatus,
    actor: &Actor,
    context: &mut Context<'_>,
) -> Vec<Activity> {
    let conceded = (outcome == DisputeOutcome::Conceded)
        .then(|| activity_about(dispute, ActivityType::DisputeConceded, actor.clone(), context));
    let reversed = (payment_status == PaymentStatus::Reversed)
        .then(|| activity(ActivityType::PaymentReversed, dispute.payment_id, actor.clone(), context));
    conceded.into_iter().chain(reversed).collect()
}
