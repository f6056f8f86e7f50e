//! What comes due by itself: settlement, authorizations that lapse, metadata that expires.

use super::context::{Context, Decision};
use super::{metadata, operations};
use crate::effect::{Timer, TimerKind};
use crate::event::{Answer, Event};
use crate::ids::{PaymentId, TransactionId};
use crate::ledger::{Account, Cause, Direction, EntryStatus, Transaction};
use crate::records::{Payments, Records, Timers, Transactions, Unreadable};
use crate::refusal::Stop;
use crate::time::Millis;
use std::collections::BTreeSet;

/// Does what is due of `timers`. One that is not set any more, or not due yet, changes nothing; one that is
/// named twice is due once.
pub(super) fn fire_timers(
    records: &impl Records,
    timers: &[Timer],
    context: &Context<'_>,
) -> Result<(Decision, Answer), Stop> {
    let mut decision = Decision::nothing();
    for timer in timers.iter().copied().collect::<BTreeSet<Timer>>() {
        if timer.due <= context.now && records.get::<Timers>(timer)?.is_some() {
            let fired = fire(records, timer, &decision.events, context)?;
            decision.events.extend(fired);
        }
    }
    let changed = Answer::Changed(!decision.events.is_empty());
    Ok((decision, changed))
}

/// The events of a timer, after the timers before it have led to `earlier`.
fn fire(
    records: &impl Records,
    timer: Timer,
    earlier: &[Event],
    context: &Context<'_>,
) -> Result<Vec<Event>, Unreadable> {
    match timer.kind {
        TimerKind::Settle(transaction_id) => settle(records, transaction_id, timer.due, earlier, context),
        TimerKind::Lapse(payment_id) => Ok(operations::lapse(records, payment_id, context.now)?.into_iter().collect()),
        TimerKind::ExpireMetadata(id) => Ok(metadata::expire(records, id, timer.due, context)?.into_iter().collect()),
    }
}

fn settle(
    records: &impl Records,
    id: TransactionId,
    settles_at: Millis,
    earlier: &[Event],
    context: &Context<'_>,
) -> Result<Vec<Event>, Unreadable> {
    let transaction = records.shared::<Transactions>(id)?.filter(|found| found.status == EntryStatus::OnHold);
    let Some(transaction) = transaction else { return Ok(Vec::new()) };
    let (credit_minor, debit_minor) =
        (balance_minor(&transaction, Direction::Credit), balance_minor(&transaction, Direction::Debit));
    let at = context.now;
    if transaction.cause.refund_id().is_some() {
        if waits_for_its_capture(records, transaction.cause, earlier)? {
            return Ok(Vec::new());
        }
        let settled = Event::RefundSettled { transaction_id: id, settles_at, amount_minor: debit_minor, at };
        return Ok(vec![settled]);
    }
    let settled =
        Event::TransactionSettled { transaction_id: id, settles_at, credit_minor, fee_minor: debit_minor, at };
    let uncovered = transaction.cause.payment_id().map_or(Ok(None), |payment_id| uncovered(records, payment_id))?;
    Ok([settled].into_iter().chain(uncovered).collect())
}

/// True when the capture of a refund is on hold still. Its timer is due too, and comes first.
fn waits_for_its_capture(records: &impl Records, cause: Cause, earlier: &[Event]) -> Result<bool, Unreadable> {
    let payment = cause.payment_id().map_or(Ok(None), |payment_id| records.shared::<Payments>(payment_id))?;
    let Some(capture) = payment.and_then(|payment| payment.capture) else { return Ok(false) };
    let settles_now = |event: &Event| matches!(event, Event::TransactionSettled { transaction_id, .. } if *transaction_id == capture.transaction_id);
    let transaction = records.shared::<Transactions>(capture.transaction_id)?;
    let is_on_hold = transaction.is_some_and(|transaction| transaction.status == EntryStatus::OnHold);
    Ok(is_on_hold && !earlier.iter().any(settles_now))
}

/// The refunds of a payment whose capture settles are covered by it no longer.
fn uncovered(records: &impl Records, payment_id: PaymentId) -> Result<Option<Event>, Unreadable> {
    let payment = records.shared::<Payments>(payment_id)?.filter(|payment| payment.refunded_minor > 0);
    Ok(payment.map(|payment| {
        let missing_minor = payment.missing_minor(payment.refunded_minor);
        let covered_minor = payment.refunded_minor.saturating_sub(missing_minor);
        Event::RefundsUncovered { payment_id, covered_minor }
    }))
}

fn balance_minor(transaction: &Transaction, direction: Direction) -> u64 {
    let legs = transaction.legs.iter();
    let on_side = legs.filter(|leg| leg.account == Account::Balance && leg.direction == direction);
    on_side.map(|leg| leg.amount.get()).sum()
}
