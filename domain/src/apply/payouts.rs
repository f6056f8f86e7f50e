//! The fold of payouts into rows and indexes.

use super::activity::log_activity;
use super::change::{change, existing_row, index};
use super::ledger::{change_balance, post, put_transaction};
use crate::event::Event;
use crate::ids::{PayoutId, TransactionId};
use crate::ledger::Transaction;
use crate::payout::{Payout, PayoutStatus};
use crate::records::{
    OpenPayouts, Payouts, PayoutsByExternalId, PayoutsByStatus, Present, RowsMut, Transactions, Unreadable,
};

/// Folds an event of payouts in; any other changes nothing here.
pub(super) fn apply(event: &Event, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    if let Event::PayoutRequested { payout, transaction, activity } = event {
        request(payout, transaction, rows)?;
        log_activity(activity, rows)?;
    } else if let Event::PayoutPaid { payout_id, amount_minor, at } = event {
        let transaction_id = end(*payout_id, PayoutStatus::Successful, rows, |payout| payout.paid_at = Some(*at))?;
        put_transaction(&existing_row::<Transactions>(transaction_id, rows)?.settled(*at), rows)?;
        change_balance(rows, |totals| totals.with_settled(0, *amount_minor).with_covered(*amount_minor))?;
    } else if let Event::PayoutFailed { payout_id, amount_minor, failure, at } = event {
        let transaction_id =
            end(*payout_id, PayoutStatus::Failed, rows, |payout| payout.failure = Some(failure.clone()))?;
        put_transaction(&existing_row::<Transactions>(transaction_id, rows)?.canceled(*at), rows)?;
        change_balance(rows, |totals| totals.with_canceled(0, *amount_minor).with_covered(*amount_minor))?;
    }
    Ok(())
}

fn request(payout: &Payout, transaction: &Transaction, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    index::<PayoutsByExternalId>(payout.external_id.as_ref(), payout.id, rows);
    rows.put::<PayoutsByStatus>((payout.status, payout.id), Present);
    rows.put::<OpenPayouts>(payout.id, Present);
    rows.put::<Payouts>(payout.id, payout.clone());
    post(transaction, rows)?;
    change_balance(rows, |totals| totals.with_uncovered(payout.money.amount.get()))
}

/// Ends a pending payout: closes its call and moves its index row to the new status. Returns its transaction.
fn end(
    id: PayoutId,
    status: PayoutStatus,
    rows: &mut impl RowsMut,
    change_more: impl FnOnce(&mut Payout),
) -> Result<TransactionId, Unreadable> {
    change::<Payouts>(rows, id, |payout| {
        payout.status = status;
        change_more(payout);
    })?;
    rows.remove::<OpenPayouts>(id);
    rows.remove::<PayoutsByStatus>((PayoutStatus::Pending, id));
    rows.put::<PayoutsByStatus>((status, id), Present);
    Ok(existing_row::<Payouts>(id, rows)?.transaction_id)
}
