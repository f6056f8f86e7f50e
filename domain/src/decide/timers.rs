//! Timers: settlement, authorizations that lapse, metadata that expires.

use super::context::{Context, Decision};
use super::netting::uncovered_minor;
use super::{actions, checkouts, disputes, metadata, operations, statements, token_uses};
use crate::effect::{Timer, TimerKind};
use crate::event::{Answer, Event};
use crate::ids::TransactionId;
use crate::ledger::{Cause, Direction, EntryStatus, Transaction};
use crate::records::{Payments, Records, Timers, Transactions, Unreadable};
use crate::refusal::DecisionError;
use crate::time::Millis;
use std::collections::BTreeSet;

/// Carries out the due ones of `timers`. A timer that is not set any more, or not due yet, changes nothing; one that is
/// named twice fires once.
pub(super) fn fire_timers(
    records: &impl Records,
    timers: &[Timer],
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let mut decision = Decision { events: statements::close_due(records, timers, context)?, vault: Vec::new() };
    for timer in timers.iter().copied().collect::<BTreeSet<Timer>>() {
        if timer.due <= context.now && records.get::<Timers>(timer)?.is_some() {
            let fired = fire(records, timer, &decision.events, context)?;
            decision.events.extend(fired);
        }
    }
    decision.vault = token_uses::vault_writes(&decision.events);
    decision.vault.extend(checkouts::vault_writes(&decision.events));
    let changed = Answer::Changed(!decision.events.is_empty());
    Ok((decision, changed))
}

/// The events of a timer, after the preceding timers have led to `earlier`.
fn fire(
    records: &impl Records,
    timer: Timer,
    earlier: &[Event],
    context: &mut Context<'_>,
) -> Result<Vec<Event>, Unreadable> {
    match timer.kind {
        TimerKind::Settle(transaction_id) => settle(records, transaction_id, timer.due, earlier, context),
        TimerKind::Lapse(payment_id) => Ok(operations::lapse(records, payment_id, context.now)?.into_iter().collect()),
        TimerKind::ActionDue(id) => actions::events_when_due(records, id, context.now),
        TimerKind::EvidenceDue(id) => Ok(disputes::evidence_due(records, id, context)?.into_iter().collect()),
        TimerKind::ExpireMetadata(id) => Ok(metadata::expire(records, id, timer.due, context)?.into_iter().collect()),
        TimerKind::CheckoutDue(id) => Ok(checkouts::event_when_due(records, id, context.now)?.into_iter().collect()),
        TimerKind::EraseTokens(id) => token_uses::erase_with_customer(records, id, Some(timer.due), context),
        TimerKind::CloseStatement => Ok(Vec::new()), // Done before the transactions that become effective.
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
        (transaction.balance_minor(Direction::Credit), transaction.balance_minor(Direction::Debit));
    let at = context.now;
    if transaction.cause.takes_back() {
        if waits_for_its_capture(records, transaction.cause, earlier)? {
            return Ok(Vec::new());
        }
        let settled = Event::DebitSettled { transaction_id: id, settles_at, amount_minor: debit_minor, at };
        return Ok(vec![settled]);
    }
    let settled = Event::TransactionSettled { transaction_id: id, settles_at, credit_minor, debit_minor, at };
    let uncovered = uncovered(records, &transaction)?;
    Ok([settled].into_iter().chain(uncovered).collect())
}

/// True when the capture of a refund or a dispute is still on hold. Its timer is due too, and fires first.
fn waits_for_its_capture(records: &impl Records, cause: Cause, earlier: &[Event]) -> Result<bool, Unreadable> {
    let payment = cause.payment_id().map_or(Ok(None), |payment_id| records.shared::<Payments>(payment_id))?;
    let Some(capture) = payment.and_then(|payment| payment.capture) else { return Ok(false) };
    let settles_now = |event: &Event| {
        matches!(event, Event::TransactionSettled { transaction_id,
        .. } if *transaction_id == capture.transaction_id)
    };
    let transaction = records.shared::<Transactions>(capture.transaction_id)?;
    let is_on_hold = transaction.is_some_and(|transaction| transaction.status == EntryStatus::OnHold);
    Ok(is_on_hold && !earlier.iter().any(settles_now))
}

/// The event of a settling capture by which the refunds and disputes of its payment are no longer covered by it.
fn uncovered(records: &impl Records, transaction: &Transaction) -> Result<Option<Event>, Unreadable> {
    let Some(payment_id) = transaction.cause.payment_id() else { return Ok(None) };
    let payment = records.shared::<Payments>(payment_id)?.filter(|payment| payment.taken_back_minor() > 0);
    Ok(payment.map(|payment| {
        let taken_back_minor = payment.taken_back_minor();
        let covered_minor = taken_back_minor.saturating_sub(uncovered_minor(Some(transaction), 0, taken_back_minor));
        Event::DebitsUncovered { payment_id, covered_minor }
    }))
}
