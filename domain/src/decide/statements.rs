//! Statements: contract, section 9.1a. A month is closed by the first record at or after its end, before all other
//! events of that record; a timer makes sure that there is one.
//!
//! A transaction that becomes effective has the time of its record, and the times of a merchant's records never go
//! back. So all entries of a month are numbered before it is closed, and all that are numbered afterwards belong to a
//! later one.

use super::context::{Context, profile};
use crate::apply::apply_state;
use crate::command::Caller;
use crate::effect::{Timer, TimerKind};
use crate::event::{Event, Mutation};
use crate::ledger::BalanceTotals;
use crate::money::Currency;
use crate::records::{MerchantState, MonthToDate, Records, Single};
use crate::refusal::DecisionError;
use crate::statement::{MonthBounds, MonthEntries, Statement, StatementPeriod, balance_after};

/// The events of months that precede those of a decision: the first decision that finds the balance open or opens it
/// begins the first month, and every decision at or after the end of a month closes it.
pub(super) fn months_to_close(
    records: &impl Records,
    events: &[Event],
    context: &mut Context<'_>,
) -> Result<Vec<Event>, DecisionError> {
    let is_opened = |event: &Event| matches!(event, Event::StatementPeriodOpened { .. });
    match records.state().statement_period {
        _ if events.is_empty() => Ok(Vec::new()),
        None => first_period(records.state(), events, context),
        Some(period) if context.now < period.ends_at => Ok(Vec::new()),
        Some(_) if events.iter().any(is_opened) => Ok(Vec::new()),
        Some(period) => close_all(records, period, context),
    }
}

/// Closes the months that are over, when one of the timers is a statement's.
pub(super) fn close_due(
    records: &impl Records,
    timers: &[Timer],
    context: &mut Context<'_>,
) -> Result<Vec<Event>, DecisionError> {
    let is_asked = timers.iter().any(|timer| timer.kind == TimerKind::CloseStatement);
    match records.state().statement_period.filter(|_| is_asked) {
        Some(period) => close_all(records, period, context),
        None => Ok(Vec::new()),
    }
}

fn first_period(state: &MerchantState, events: &[Event], context: &Context<'_>) -> Result<Vec<Event>, DecisionError> {
    if state.balance.is_none() && opened(events, context).is_none() {
        return Ok(Vec::new());
    }
    let MonthBounds { month, starts_at, ends_at } = context.month_at(&profile(state)?.time_zone, context.now);
    let period = StatementPeriod { month, starts_at, ends_at, opening_minor: 0 };
    Ok(vec![Event::StatementPeriodOpened { period }])
}

/// The balance, when events open it.
fn opened(events: &[Event], context: &Context<'_>) -> Option<BalanceTotals> {
    let mut state = MerchantState::default();
    let (caller, last_id) = (Caller::System, context.last_id());
    let events = events.to_vec();
    apply_state(&Mutation { at: context.now, caller, last_id, answer: None, events }, &mut state);
    state.balance
}

fn closed(period: StatementPeriod, entries: MonthEntries, currency: Currency, context: &mut Context<'_>) -> Event {
    let StatementPeriod { month, starts_at, ends_at, opening_minor } = period;
    let (id, closed_at) = (context.mint(), context.now);
    let statement = Statement { id, month, starts_at, ends_at, currency, opening_minor, entries, closed_at };
    Event::StatementClosed { statement }
}

/// Closes the months that are over, one after the other. In all months after the first nothing has become effective.
fn close_all(
    records: &impl Records,
    mut period: StatementPeriod,
    context: &mut Context<'_>,
) -> Result<Vec<Event>, DecisionError> {
    let (mut events, merchant) = (Vec::new(), profile(records.state())?);
    let mut entries = records.get::<MonthToDate>(Single)?.unwrap_or_default();
    while period.ends_at <= context.now {
        let (opening_minor, first) = (balance_after(period.opening_minor, &entries), entries.next());
        let ends_at = period.ends_at;
        let next = MonthEntries { first, sums: Vec::new() };
        let entries = std::mem::replace(&mut entries, next);
        events.push(closed(period, entries, merchant.currency, context));
        let following = context.month_at(&merchant.time_zone, ends_at);
        let MonthBounds { month, starts_at: _, ends_at: following_ends_at } = following;
        period = StatementPeriod { month, starts_at: ends_at, ends_at: following_ends_at, opening_minor };
        events.push(Event::StatementPeriodOpened { period });
    }
    Ok(events)
}
