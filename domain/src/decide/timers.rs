//! What comes due by itself: settlement, authorizations that lapse, metadata that expires.

use super::context::{Context, Decision};
use super::metadata;
use crate::effect::{Effect, EffectKind, Timer, TimerKind};
use crate::event::{Answer, Event};
use crate::ids::{PaymentId, TransactionId};
use crate::ledger::{Account, Direction, EntryStatus, Transaction};
use crate::payment::PaymentAction;
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
            decision.events.extend(fire(records, timer, context)?);
        }
    }
    let changed = Answer::Changed(!decision.events.is_empty());
    Ok((decision, changed))
}

fn fire(records: &impl Records, timer: Timer, context: &Context<'_>) -> Result<Option<Event>, Unreadable> {
    match timer.kind {
        TimerKind::Settle(transaction_id) => settle(records, transaction_id, timer.due, context),
        TimerKind::Lapse(payment_id) => lapse(records, payment_id, timer.due, context),
        TimerKind::ExpireMetadata(id) => metadata::expire(records, id, timer.due, context),
    }
}

fn settle(
    records: &impl Records,
    transaction_id: TransactionId,
    settles_at: Millis,
    context: &Context<'_>,
) -> Result<Option<Event>, Unreadable> {
    let transaction = records.get::<Transactions>(transaction_id)?;
    Ok(transaction.filter(|found| found.status == EntryStatus::OnHold).map(|found| Event::TransactionSettled {
        transaction_id,
        settles_at,
        credit_minor: balance_minor(&found, Direction::Credit),
        fee_minor: balance_minor(&found, Direction::Debit),
        at: context.now,
    }))
}

fn balance_minor(transaction: &Transaction, direction: Direction) -> u64 {
    let legs = transaction.legs.iter();
    let on_side = legs.filter(|leg| leg.account == Account::Balance && leg.direction == direction);
    on_side.map(|leg| leg.amount.get()).sum()
}

fn lapse(
    records: &impl Records,
    payment_id: PaymentId,
    lapses_at: Millis,
    context: &Context<'_>,
) -> Result<Option<Event>, Unreadable> {
    let payment = records.get::<Payments>(payment_id)?;
    let effect = Effect { payment_id, kind: EffectKind::Void, opened_at: context.now };
    Ok(payment.filter(|found| PaymentAction::Void.is_legal_in(found.status)).map(|_| Event::AuthorizationLapsed {
        payment_id,
        effect,
        lapses_at,
    }))
}
