//! Refunds: contract, sections 9.1a and 10. Each is an effect of its own, any number of them at once.

use super::acquirer_accounts::is_reachable;
use super::caller::{activity, actor, check_refund_limit};
use super::context::{Context, Decision, check_unused};
use super::netting::{held_capture, uncovered_minor};
use super::operations::{find_payment, has_open_call};
use super::posting;
use crate::activity::{Activity, ActivityObject, ActivityType};
use crate::command::{CallResult, Caller, RefundPayment};
use crate::event::{Answer, Event};
use crate::failure::Failure;
use crate::ids::RefundId;
use crate::money::{AmountMinor, Money};
use crate::payment::{Payment, PaymentAction, PaymentStatus};
use crate::records::{Payments, Records, Refunds, RefundsByExternalId, Unreadable};
use crate::refund::{Refund, RefundStatus};
use crate::refusal::{DecisionError, Refusal};
use std::sync::Arc;

pub(super) fn refund_payment(
    records: &impl Records,
    caller: Caller,
    command: &RefundPayment,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let payment = find_payment(records, &command.payment)?;
    let external_id = command.external_id.as_ref();
    check_unused::<RefundsByExternalId>(records, external_id, |refund_id| Refusal::RefundExternalIdTaken {
        refund_id,
    })?;
    let amount = refundable(records, &payment, command.amount, context)?;
    check_refund_limit(records.state(), caller, amount, context.now)?;
    let held = held_capture(records, &payment)?;
    posting::check_refund(records.state(), &payment, held.as_deref(), amount, context.now)?;
    let uncovered_minor = uncovered_minor(held.as_deref(), payment.taken_back_minor(), amount.get());
    let requested_by = actor(records.state(), caller)?;
    let id: RefundId = context.mint();
    let money = Money { amount, currency: payment.money.currency };
    let transaction = posting::refund(payment.id, id, money, context);
    let object = ActivityObject::Refund(id);
    let activity = Activity {
        parent: Some(payment.id),
        ..Activity::new(context.mint(), context.now, ActivityType::RefundCreated, requested_by.clone(), object)
    };
    let refund = Refund {
        id,
        external_id: command.external_id.clone(),
        payment_id: payment.id,
        status: RefundStatus::Pending,
        money,
        is_full: amount.get() == payment.captured_minor(),
        reason: command.reason.clone(),
        failure: None,
        requested_by,
        transaction_id: transaction.id,
        created_at: context.now,
        refunded_at: None,
        acquirer_reference: None,
    };
    let event = Event::RefundRequested { refund, transaction, uncovered_minor, activity };
    Ok((Decision::one(event), Answer::Refund(id)))
}

/// The amount of a refund: the given one, else all that is left.
fn refundable(
    records: &impl Records,
    payment: &Payment,
    asked: Option<AmountMinor>,
    context: &Context<'_>,
) -> Result<AmountMinor, DecisionError> {
    let is_allowed = payment.allows(PaymentAction::Refund, context.now) && is_reachable(records.state(), payment);
    let is_allowed = is_allowed && !has_open_call(records, payment)?;
    let left = AmountMinor::new(payment.refundable_minor()).filter(|_| is_allowed);
    let left = left.ok_or_else(|| not_refundable(payment))?;
    match asked {
        Some(asked) if asked > left => Err(Refusal::AmountExceedsPayment { limit_minor: left.get() }.into()),
        Some(asked) => Ok(asked),
        None => Ok(left),
    }
}

fn not_refundable(payment: &Payment) -> Refusal {
    let operation = payment.operation.as_ref().map(|operation| operation.kind);
    Refusal::NotRefundable { status: payment.status, operation }
}

/// A refund that has ended cannot be ended again.
pub(super) fn order_end(records: &impl Records, id: RefundId) -> Result<(Decision, Answer), DecisionError> {
    match records.shared::<Refunds>(id)?.map(|refund| refund.status) {
        Some(RefundStatus::Pending) => Ok((Decision::nothing(), Answer::Changed(true))),
        Some(status) => Err(Refusal::HasEnded { what: "refund", status: status.name() }.into()),
        None => Err(Refusal::RefundNotFound.into()),
    }
}

/// Records an answer of the acquirer. An answer to a refund that has ended changes nothing.
pub(super) fn record_refund(
    records: &impl Records,
    id: RefundId,
    result: &CallResult,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let nothing = (Decision::nothing(), Answer::Changed(false));
    let Some(refund) = pending(records, id)? else { return Ok(nothing) };
    let Some(payment) = records.shared::<Payments>(refund.payment_id)? else { return Ok(nothing) };
    let event = match result {
        CallResult::Done(moved) => confirmed(records, &refund, &payment, moved.acquirer_reference.clone(), context)?,
        CallResult::Declined(failure) => failed(records, &refund, &payment, failure, context)?,
    };
    Ok((Decision::one(event), Answer::Changed(true)))
}

/// A refund that the acquirer has not answered.
fn pending(records: &impl Records, id: RefundId) -> Result<Option<Arc<Refund>>, Unreadable> {
    Ok(records.shared::<Refunds>(id)?.filter(|refund| refund.status == RefundStatus::Pending))
}

fn confirmed(
    records: &impl Records,
    refund: &Refund,
    payment: &Payment,
    acquirer_reference: String,
    context: &mut Context<'_>,
) -> Result<Event, Unreadable> {
    let amount_minor = refund.money.amount.get();
    let status = payment.status_with_refunds(payment.confirmed_refund_minor.saturating_add(amount_minor));
    let is_held = held_capture(records, payment)?.is_some();
    let settles_at = payment.capture.map(|capture| capture.settles_at);
    Ok(Event::RefundConfirmed {
        refund_id: refund.id,
        payment_id: payment.id,
        amount_minor,
        status,
        settles_at: settles_at.filter(|_| is_held),
        at: context.now,
        activity: reversal_activity(refund, status, context),
        acquirer_reference,
    })
}

/// The refund that leaves nothing of its payment reverses it. The actor is the one that asked for the refund.
fn reversal_activity(refund: &Refund, status: PaymentStatus, context: &mut Context<'_>) -> Option<Activity> {
    let is_all = matches!(status, PaymentStatus::Refunded | PaymentStatus::Reversed);
    is_all.then(|| activity(ActivityType::PaymentReversed, refund.payment_id, refund.requested_by.clone(), context))
}

fn failed(
    records: &impl Records,
    refund: &Refund,
    payment: &Payment,
    failure: &Failure,
    context: &Context<'_>,
) -> Result<Event, Unreadable> {
    let amount_minor = refund.money.amount.get();
    let others_minor = payment.taken_back_minor().saturating_sub(amount_minor);
    Ok(Event::RefundFailed {
        refund_id: refund.id,
        payment_id: payment.id,
        amount_minor,
        uncovered_minor: uncovered_minor(held_capture(records, payment)?.as_deref(), others_minor, amount_minor),
        failure: failure.clone(),
        at: context.now,
    })
}
