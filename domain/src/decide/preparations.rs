//! The rules for what an acquirer prepares before money can move. It is recorded once for a payment, and the key of the
//! page's address is deleted as soon as the page is of no use.

use super::actions::cancel_requested;
use super::context::{Context, Decision, nothing};
use crate::command::UnsentPayment;
use crate::customer_action::CustomerStep;
use crate::effect::{Effect, EffectId, EffectKind};
use crate::event::{Answer, Event, VaultWrite};
use crate::ids::PaymentId;
use crate::payment::{Payment, PaymentAction, PaymentStatus, Ruling};
use crate::preparation::Preparation;
use crate::records::{Effects, Payments, Preparations, Records, Unreadable};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The first preparation of a payment counts. That of a payment that has ended meanwhile is canceled.
pub(super) fn record_preparation(
    records: &impl Records,
    preparation: &Preparation,
    context: &Context<'_>,
) -> Result<(Decision, Answer), Unreadable> {
    let payment_id = preparation.payment_id;
    let is_awaited = |payment: &Arc<Payment>| payment.authorization.is_none();
    let Some(payment) = records.shared::<Payments>(payment_id)?.filter(is_awaited) else { return Ok(nothing()) };
    if records.shared::<Preparations>(payment_id)?.is_some() {
        return Ok(nothing());
    }
    let is_pending = payment.status == PaymentStatus::Pending;
    let page = preparation.page.clone().filter(|_| is_pending);
    let mut decision = Decision::one(Event::CallPrepared(Preparation { page, ..preparation.clone() }));
    let open = records.shared::<Effects>(EffectId::operation(payment_id))?;
    if !is_pending && open.is_none_or(|effect| effect.kind.is_authorization()) {
        decision.events.push(cancel_requested(payment_id, context.now));
    }
    Ok((decision, Answer::Changed(true)))
}

/// Fails a payment whose authorization could not be sent, and cancels what was prepared for it.
pub(super) fn fail_unsent(
    records: &impl Records,
    UnsentPayment { payment_id, code, opened_by }: UnsentPayment,
    context: &Context<'_>,
) -> Result<(Decision, Answer), Unreadable> {
    let is_due = |effect: &Arc<Effect>| effect.kind.is_authorization() && effect.opened_at <= opened_by;
    let may_fail = |payment: &Arc<Payment>| {
        payment.status.ruling(PaymentAction::Fail) == Ruling::Becomes(PaymentStatus::Failed) && payment.action.is_none()
    };
    let open = records.shared::<Effects>(EffectId::operation(payment_id))?.filter(is_due);
    let payment = records.shared::<Payments>(payment_id)?.filter(may_fail);
    let (Some(open), Some(payment)) = (open, payment) else { return Ok(nothing()) };
    let released_minor = payment.reserved_minor();
    let failed = Event::PaymentFailed { payment_id, released_minor, failure: code.into(), authentication: None };
    let is_prepared = open.kind == EffectKind::AuthorizePrepared;
    let canceled = is_prepared.then(|| cancel_requested(payment_id, context.now));
    let events = [failed].into_iter().chain(canceled).collect();
    Ok((Decision { events, vault: Vec::new() }, Answer::Changed(true)))
}

/// The step that is recorded when the acquirer asks for one: the address of its page is not recorded again.
pub(super) fn recorded_step(
    records: &impl Records,
    payment_id: PaymentId,
    step: &CustomerStep,
) -> Result<CustomerStep, Unreadable> {
    let has_page = match step {
        CustomerStep::Redirect(_) => has_page(records, payment_id)?,
        CustomerStep::AcquirerPage | CustomerStep::DisplayQr(_) => false,
    };
    Ok(if has_page { CustomerStep::AcquirerPage } else { step.clone() })
}

/// The pages that are of no use after these events, since their payments are over before the acquirer has decided.
pub(super) fn vault_writes(records: &impl Records, events: &[Event]) -> Result<Vec<VaultWrite>, Unreadable> {
    let over: BTreeSet<PaymentId> = events.iter().filter_map(ended_undecided).collect();
    let mut writes = Vec::new();
    for payment_id in over {
        let open = records.shared::<Effects>(EffectId::operation(payment_id))?;
        if open.is_some_and(|open| open.kind == EffectKind::AuthorizePrepared) {
            writes.extend(page_forgotten(records, payment_id)?);
        }
    }
    Ok(writes)
}

fn ended_undecided(event: &Event) -> Option<PaymentId> {
    if let Event::PaymentExpired { payment_id, .. }
    | Event::ActionCancelRequested { effect: Effect { payment_id, .. } } = event
    {
        Some(*payment_id)
    } else {
        None
    }
}

/// Forgets the page of a prepared payment that is not pending any more, if it has one.
pub(super) fn page_forgotten(records: &impl Records, id: PaymentId) -> Result<Option<VaultWrite>, Unreadable> {
    Ok(has_page(records, id)?.then_some(VaultWrite::ForgetPageKey(id)))
}

fn has_page(records: &impl Records, payment_id: PaymentId) -> Result<bool, Unreadable> {
    let prepared = records.shared::<Preparations>(payment_id)?;
    Ok(prepared.is_some_and(|prepared| prepared.page.is_some()))
}
