//! The fold of ledger transactions into rows.

use super::change::existing_row;
use super::statements;
use crate::effect::{Timer, TimerKind};
use crate::ids::TransactionId;
use crate::ledger::{BalanceTotals, EntryStatus, Transaction};
use crate::records::{Balances, Entries, Present, RowsMut, Single, Timers, Transactions, Unreadable};
use crate::time::Millis;

pub(super) fn change_balance(
    rows: &mut impl RowsMut,
    change: impl FnOnce(BalanceTotals) -> BalanceTotals,
) -> Result<(), Unreadable> {
    let totals = rows.get::<Balances>(Single)?.unwrap_or_default();
    rows.put::<Balances>(Single, change(totals));
    Ok(())
}

/// Posts a transaction: its rows, its timer while on hold, the totals.
pub(super) fn post(transaction: &Transaction, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    put_transaction(transaction, rows)?;
    if let Some(settles_at) = transaction.settles_at.filter(|_| transaction.status == EntryStatus::OnHold) {
        rows.put::<Timers>(Timer { due: settles_at, kind: TimerKind::Settle(transaction.id) }, Present);
    }
    change_balance(rows, |totals| totals.with_posted(transaction))
}

/// Writes a transaction that was posted or whose status has changed, and numbers its entries once they are effective.
pub(super) fn put_transaction(transaction: &Transaction, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    for entry in transaction.balance_entries() {
        rows.put::<Entries>(entry.id, entry);
    }
    rows.put::<Transactions>(transaction.id, transaction.clone());
    statements::number_effective(transaction, rows)
}

/// Keeps a transaction on hold until the capture that it belongs to becomes effective.
pub(super) fn hold_until(transaction: Transaction, due: Millis, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    rows.put::<Timers>(Timer { due, kind: TimerKind::Settle(transaction.id) }, Present);
    put_transaction(&Transaction { settles_at: Some(due), ..transaction }, rows)
}

pub(super) fn settle(id: TransactionId, due: Millis, at: Millis, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let transaction = existing_row::<Transactions>(id, rows)?;
    put_transaction(&transaction.settled(at), rows)?;
    rows.remove::<Timers>(Timer { due, kind: TimerKind::Settle(id) });
    Ok(())
}
