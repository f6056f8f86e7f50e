//! The fold of statements into rows, and the numbering of effective entries.

use crate::effect::{Timer, TimerKind};
use crate::event::Event;
use crate::ledger::{EntryStatus, Transaction};
use crate::records::{
    EffectiveEntries, MonthToDate, Present, RowsMut, Single, Statements, StatementsByEnd, Timers, Unreadable,
};
use crate::statement::{MonthEntries, Statement, StatementPeriod};
use crate::time::Millis;

/// The number of the first entry.
const FIRST_NUMBER: u64 = 1;

/// Folds an event of statements in; any other changes nothing here.
pub(super) fn apply(event: &Event, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    if let Event::StatementPeriodOpened { period } = event {
        open_period(period, rows)?;
    } else if let Event::StatementClosed { statement } = event {
        close(statement, rows);
    }
    Ok(())
}

const fn timer(due: Millis) -> Timer {
    Timer { due, kind: TimerKind::CloseStatement }
}

/// The first period of a merchant starts the numbering; every later one continues it.
fn open_period(period: &StatementPeriod, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let before = rows.shared::<MonthToDate>(Single)?;
    let first = before.map_or(FIRST_NUMBER, |before| before.next());
    rows.put::<MonthToDate>(Single, MonthEntries { first, sums: Vec::new() });
    rows.put::<Timers>(timer(period.ends_at), Present);
    Ok(())
}

fn close(statement: &Statement, rows: &mut impl RowsMut) {
    rows.put::<Statements>(statement.id, statement.clone());
    rows.put::<StatementsByEnd>(statement.ends_at, statement.id);
    rows.remove::<Timers>(timer(statement.ends_at));
}

/// Numbers the entries on the balance of a transaction that became effective.
pub(super) fn number_effective(transaction: &Transaction, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    if transaction.status != EntryStatus::Effective {
        return Ok(());
    }
    let Some(mut entries) = rows.take::<MonthToDate>(Single)? else { return Ok(()) };
    for entry in transaction.balance_entries() {
        rows.put::<EffectiveEntries>(entries.next(), entry.id);
        entries.add(&entry);
    }
    rows.put::<MonthToDate>(Single, entries);
    Ok(())
}
