//! The capture of a payment: its fee, its transaction, its activity.

use super::caller::activity;
use super::context::{Context, profile};
use super::netting;
use super::posting::{self, CaptureCosts};
use crate::activity::{ActivityType, Actor};
use crate::event::Event;
use crate::ledger::EntryStatus;
use crate::merchant::Integration;
use crate::money::AmountMinor;
use crate::payment::{Capture, Payment};
use crate::records::Records;
use crate::refusal::DecisionError;

/// The captured amount of a payment, with the actor that asked for it.
pub(super) struct Captured {
    pub(super) amount: AmountMinor,
    pub(super) requested_by: Actor,
    pub(super) settles_at_once: bool,
    pub(super) is_disputed: bool,
}

/// The events of a capture that the acquirer made, with the fee of this moment. The rest of the authorized amount is
/// released. When the money is in dispute as soon as it is captured, the dispute follows.
pub(super) fn captured(
    records: &impl Records,
    payment: &Payment,
    Captured { amount, requested_by, settles_at_once, is_disputed }: Captured,
    context: &mut Context<'_>,
) -> Result<Vec<Event>, DecisionError> {
    let state = records.state();
    let method = payment.instrument.method();
    let fee = state.integrations.get(&method).copied().unwrap_or(Integration::initial()).fee;
    let delay_seconds = if settles_at_once { 0 } else { profile(state)?.settlement_delay_seconds };
    let settles_at = context.now.plus_seconds(delay_seconds);
    let fee_minor = fee.fee_minor(amount);
    let costs = CaptureCosts { fee_minor, interest_minor: payment.instrument.interest_rate().fee_minor(amount) };
    let transaction = posting::capture(payment.id, amount, costs, payment.money.currency, settles_at, context);
    let capture =
        Capture { amount_minor: amount.get(), fee_minor, transaction_id: transaction.id, at: context.now, settles_at };
    let activity = activity(ActivityType::PaymentCaptured, payment.id, requested_by, context);
    let released_minor = payment.reserved_minor();
    let dispute = is_disputed.then(|| {
        let captured = Payment { capture: Some(capture), ..payment.clone() };
        netting::opened(
            &captured,
            Some(&transaction).filter(|it| it.status == EntryStatus::OnHold),
            amount,
            None,
            context,
        )
        .1
    });
    let captured = Event::PaymentCaptured { payment_id: payment.id, released_minor, capture, transaction, activity };
    Ok([captured].into_iter().chain(dispute).collect())
}
