//! Payouts: contract, sections 9.1a and 10. Each is an effect of its own, any number of them at once.

use super::caller::actor;
use super::context::{Context, Decision, check_unused, profile};
use super::posting;
use crate::acquirer::{AccountMode, AcquirerRef};
use crate::activity::{Activity, ActivityObject, ActivityType};
use crate::command::{CallResult, Caller, SendPayout};
use crate::event::{Answer, Event};
use crate::ids::PayoutId;
use crate::merchant::PaymentMethod;
use crate::money::Money;
use crate::payout::{Payout, PayoutStatus};
use crate::records::{MerchantState, Payouts, PayoutsByExternalId, Records};
use crate::refusal::{DecisionError, Refusal};

pub(super) fn send_payout(
    records: &impl Records,
    caller: Caller,
    command: &SendPayout,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let external_id = command.external_id.as_ref();
    check_unused::<PayoutsByExternalId>(records, external_id, |payout_id| Refusal::PayoutExternalIdTaken {
        payout_id,
    })?;
    let state = records.state();
    let acquirer = acquirer(state)?;
    posting::check_available(state, command.amount)?;
    let requested_by = actor(state, caller)?;
    let id: PayoutId = context.mint();
    let money = Money { amount: command.amount, currency: profile(state)?.currency };
    let transaction = posting::payout(id, money, context);
    let object = ActivityObject::Payout(id);
    let activity = Activity::new(context.mint(), context.now, ActivityType::PayoutCreated, requested_by, object);
    let payout = Payout {
        id,
        external_id: command.external_id.clone(),
        status: PayoutStatus::Pending,
        money,
        description: command.description.clone(),
        acquirer,
        failure: None,
        transaction_id: transaction.id,
        created_at: context.now,
        paid_at: None,
    };
    Ok((Decision::one(Event::PayoutRequested { payout, transaction, activity }), Answer::Payout(id)))
}

/// The acquirer that processes the merchant's card payments, and so holds its money. One at which the merchant has an
/// account pays out by itself, and the sandbox pays out no real money.
fn acquirer(state: &MerchantState) -> Result<AcquirerRef, Refusal> {
    let of_cards = state.integrations.get(&PaymentMethod::Card).map(|integration| integration.acquirer);
    match of_cards.unwrap_or(AcquirerRef::Sandbox) {
        AcquirerRef::Sandbox if state.mode_of_money() != Some(AccountMode::Live) => Ok(AcquirerRef::Sandbox),
        AcquirerRef::Sandbox | AcquirerRef::Account(_, _) => Err(Refusal::PayoutsNotSupported),
    }
}

/// A payout that has ended cannot be ended again.
pub(super) fn order_end(records: &impl Records, id: PayoutId) -> Result<(Decision, Answer), DecisionError> {
    match records.shared::<Payouts>(id)?.map(|payout| payout.status) {
        Some(PayoutStatus::Pending) => Ok((Decision::nothing(), Answer::Changed(true))),
        Some(status) => Err(Refusal::HasEnded { what: "payout", status: status.name() }.into()),
        None => Err(Refusal::PayoutNotFound.into()),
    }
}

/// Records an answer of the acquirer. An answer to a payout that has ended changes nothing.
pub(super) fn record_payout(
    records: &impl Records,
    id: PayoutId,
    result: &CallResult,
    context: &Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let pending = records.shared::<Payouts>(id)?.filter(|payout| payout.status == PayoutStatus::Pending);
    let Some(payout) = pending else { return Ok((Decision::nothing(), Answer::Changed(false))) };
    let (payout_id, amount_minor, at) = (id, payout.money.amount.get(), context.now);
    let event = match result {
        CallResult::Done(_) => Event::PayoutPaid { payout_id, amount_minor, at },
        CallResult::Declined(failure) => Event::PayoutFailed { payout_id, amount_minor, failure: failure.clone(), at },
    };
    Ok((Decision::one(event), Answer::Changed(true)))
}
