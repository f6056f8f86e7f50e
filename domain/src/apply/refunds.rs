//! The fold of refunds into rows and indexes.

use super::acquirer_accounts;
use super::activity::log_activity;
use super::change::{change, existing_row, index};
use super::ledger::{change_balance, hold_until, post, put_transaction, settle};
use crate::acquirer::AcquirerRef;
use crate::activity::Activity;
use crate::event::Event;
use crate::failure::Failure;
use crate::ids::{PaymentId, RefundId};
use crate::ledger::Transaction;
use crate::payment::PaymentStatus;
use crate::records::{
    Effects, Payments, Present, Refunds, RefundsByExternalId, RefundsByPayment, RefundsByStatus, RowsMut, Transactions,
    Unreadable,
};
use crate::refund::{Refund, RefundStatus};
use crate::time::Millis;

/// Folds an event of refunds in; any other changes nothing here.
pub(super) fn apply(event: &Event, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    if let Event::RefundRequested { refund, transaction, uncovered_minor, activity } = event {
        request(refund, transaction, *uncovered_minor, rows)?;
        log_activity(activity, rows)?;
    } else if let Event::RefundConfirmed {
        refund_id,
        payment_id,
        amount_minor,
        status,
        settles_at,
        at,
        activity,
        acquirer_reference,
    } = event
    {
        let confirmed = Confirmed { amount_minor: *amount_minor, settles_at: *settles_at, at: *at, acquirer_reference };
        confirm(*refund_id, confirmed, rows)?;
        reduce(*payment_id, *amount_minor, *status, rows)?;
        activity.as_ref().map_or(Ok(()), |activity: &Activity| log_activity(activity, rows))?;
    } else if let Event::RefundFailed { refund_id, payment_id, amount_minor, uncovered_minor, failure, at } = event {
        fail(*refund_id, failure, *at, rows)?;
        change::<Payments>(rows, *payment_id, |payment| {
            payment.refunded_minor = payment.refunded_minor.saturating_sub(*amount_minor);
        })?;
        change_balance(rows, |totals| totals.with_canceled(0, *amount_minor).with_covered(*uncovered_minor))?;
    } else if let Event::DebitsUncovered { payment_id: _, covered_minor } = event {
        change_balance(rows, |totals| totals.with_uncovered(*covered_minor))?;
    } else if let Event::DebitSettled { transaction_id, settles_at, amount_minor, at } = event {
        settle(*transaction_id, *settles_at, *at, rows)?;
        change_balance(rows, |totals| totals.with_settled(0, *amount_minor).with_covered(*amount_minor))?;
    }
    Ok(())
}

fn request(
    refund: &Refund,
    transaction: &Transaction,
    uncovered_minor: u64,
    rows: &mut impl RowsMut,
) -> Result<(), Unreadable> {
    index::<RefundsByExternalId>(refund.external_id.as_ref(), refund.id, rows);
    rows.put::<RefundsByPayment>((refund.payment_id, refund.id), Present);
    rows.put::<RefundsByStatus>((refund.status, refund.id), Present);
    rows.put::<Refunds>(refund.id, refund.clone());
    let effect = refund.effect();
    rows.put::<Effects>(effect.id(), effect);
    let mut acquirer = AcquirerRef::Sandbox;
    change::<Payments>(rows, refund.payment_id, |payment| {
        payment.refunded_minor = payment.refunded_minor.saturating_add(refund.money.amount.get());
        acquirer = payment.acquirer;
    })?;
    acquirer_accounts::note_use(acquirer, refund.created_at, rows)?;
    post(transaction, rows)?;
    change_balance(rows, |totals| totals.with_uncovered(uncovered_minor))
}

/// The part of a confirmation that concerns the refund and the ledger.
struct Confirmed<'a> {
    amount_minor: u64,
    settles_at: Option<Millis>,
    at: Millis,
    acquirer_reference: &'a str,
}

fn confirm(id: RefundId, confirmed: Confirmed<'_>, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let Confirmed { amount_minor, settles_at, at, acquirer_reference } = confirmed;
    let refund = end(id, RefundStatus::Successful, rows, |refund| {
        (refund.refunded_at, refund.acquirer_reference) = (Some(at), Some(acquirer_reference.to_owned()));
    })?;
    let transaction = existing_row::<Transactions>(refund.transaction_id, rows)?;
    let Some(due) = settles_at else {
        put_transaction(&transaction.settled(at), rows)?;
        return change_balance(rows, |totals| totals.with_settled(0, amount_minor).with_covered(amount_minor));
    };
    hold_until(transaction, due, rows)
}

fn reduce(
    payment_id: PaymentId,
    amount_minor: u64,
    status: PaymentStatus,
    rows: &mut impl RowsMut,
) -> Result<(), Unreadable> {
    change::<Payments>(rows, payment_id, |payment| {
        payment.confirmed_refund_minor = payment.confirmed_refund_minor.saturating_add(amount_minor);
        payment.status = status;
    })
}

fn fail(id: RefundId, failure: &Failure, at: Millis, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let refund = end(id, RefundStatus::Failed, rows, |refund| refund.failure = Some(failure.clone()))?;
    let transaction = existing_row::<Transactions>(refund.transaction_id, rows)?;
    put_transaction(&transaction.canceled(at), rows)
}

/// Ends a pending refund: closes its call and moves its index row to the new status.
fn end(
    id: RefundId,
    status: RefundStatus,
    rows: &mut impl RowsMut,
    change_more: impl FnOnce(&mut Refund),
) -> Result<Refund, Unreadable> {
    change::<Refunds>(rows, id, |refund| {
        refund.status = status;
        change_more(refund);
    })?;
    let refund = existing_row::<Refunds>(id, rows)?;
    rows.remove::<Effects>(refund.effect().id());
    rows.remove::<RefundsByStatus>((RefundStatus::Pending, id));
    rows.put::<RefundsByStatus>((status, id), Present);
    Ok(refund)
}
