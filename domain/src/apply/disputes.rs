//! The fold of disputes into rows and indexes.

use super::activity::log_activity;
use super::change::{change, existing_row};
use super::ledger::{change_balance, hold_until, post, put_transaction};
use crate::dispute::{Dispute, DisputeStatus, OpenDispute};
use crate::effect::{Timer, TimerKind};
use crate::event::{DisputeClosing, Event};
use crate::ids::DisputeId;
use crate::ledger::{BalanceTotals, Transaction};
use crate::payment::PaymentStatus;
use crate::records::{
    Disputes, DisputesByPayment, DisputesByStatus, OpenEvidence, Payments, Present, RowsMut, Timers, Transactions,
    Unreadable,
};
use crate::text::Evidence;

/// Folds an event of disputes in; any other changes nothing here.
pub(super) fn apply(event: &Event, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    if let Event::DisputeOpened { dispute, transaction, uncovered_minor } = event {
        open(dispute, transaction, *uncovered_minor, rows)?;
    } else if let Event::DisputeChallenged { dispute_id, evidence, status, activity } = event {
        challenge(*dispute_id, evidence, *status, rows)?;
        log_activity(activity, rows)?;
    } else if let Event::EvidenceTaken { dispute_id } = event {
        rows.remove::<OpenEvidence>(*dispute_id);
    } else if let Event::DisputeEscalated { dispute_id, activity } = event {
        move_to(*dispute_id, DisputeStatus::Escalated, rows, |_| ())?;
        log_activity(activity, rows)?;
    } else if let Event::DisputeClosed(closing) = event {
        close(closing, rows)?;
        change_balance(rows, |totals| balance_after(closing, totals))?;
        closing.activities.iter().try_for_each(|activity| log_activity(activity, rows))?;
    }
    Ok(())
}

fn open(
    dispute: &Dispute,
    transaction: &Transaction,
    uncovered_minor: u64,
    rows: &mut impl RowsMut,
) -> Result<(), Unreadable> {
    rows.put::<DisputesByPayment>((dispute.payment_id, dispute.id), Present);
    rows.put::<DisputesByStatus>((dispute.status, dispute.id), Present);
    rows.put::<Timers>(evidence_timer(dispute), Present);
    rows.put::<Disputes>(dispute.id, dispute.clone());
    change::<Payments>(rows, dispute.payment_id, |payment| {
        payment.status = PaymentStatus::Disputed;
        payment.open_dispute = Some(OpenDispute { id: dispute.id, amount_minor: dispute.money.amount.get() });
    })?;
    post(transaction, rows)?;
    change_balance(rows, |totals| totals.with_uncovered(uncovered_minor))
}

const fn evidence_timer(dispute: &Dispute) -> Timer {
    Timer { due: dispute.evidence_due_at, kind: TimerKind::EvidenceDue(dispute.id) }
}

/// Stores the evidence and opens the call that gives it to the acquirer.
fn challenge(
    id: DisputeId,
    evidence: &Evidence,
    status: DisputeStatus,
    rows: &mut impl RowsMut,
) -> Result<(), Unreadable> {
    let dispute = move_to(id, status, rows, |dispute| dispute.evidence = Some(evidence.clone()))?;
    rows.remove::<Timers>(evidence_timer(&dispute));
    rows.put::<OpenEvidence>(id, Present);
    Ok(())
}

fn close(closing: &DisputeClosing, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let dispute = move_to(closing.dispute_id, closing.outcome.status(), rows, |dispute| {
        dispute.closed_at = Some(closing.at);
    })?;
    if dispute.evidence.is_some() {
        rows.remove::<OpenEvidence>(dispute.id);
    } else {
        rows.remove::<Timers>(evidence_timer(&dispute));
    }
    change::<Payments>(rows, closing.payment_id, |payment| {
        payment.status = closing.payment_status;
        payment.open_dispute = None;
        if closing.outcome.is_charge_back() {
            payment.charged_back_minor = payment.charged_back_minor.saturating_add(closing.amount_minor);
        }
    })?;
    end_transaction(existing_row::<Transactions>(dispute.transaction_id, rows)?, closing, rows)
}

fn end_transaction(
    transaction: Transaction,
    closing: &DisputeClosing,
    rows: &mut impl RowsMut,
) -> Result<(), Unreadable> {
    match closing.settles_at {
        Some(due) => hold_until(transaction, due, rows),
        None if closing.outcome.is_charge_back() => put_transaction(&transaction.settled(closing.at), rows),
        None => put_transaction(&transaction.canceled(closing.at), rows),
    }
}

/// The totals of the balance after a dispute was decided.
pub(super) fn balance_after(closing: &DisputeClosing, totals: BalanceTotals) -> BalanceTotals {
    match closing.settles_at {
        Some(_) => totals,
        None if closing.outcome.is_charge_back() => {
            totals.with_settled(0, closing.amount_minor).with_covered(closing.amount_minor)
        }
        None => totals.with_canceled(0, closing.amount_minor).with_covered(closing.uncovered_minor),
    }
}

/// Changes a dispute and moves its index row to its new status.
fn move_to(
    id: DisputeId,
    status: DisputeStatus,
    rows: &mut impl RowsMut,
    change_more: impl FnOnce(&mut Dispute),
) -> Result<Dispute, Unreadable> {
    let mut dispute = existing_row::<Disputes>(id, rows)?;
    rows.remove::<DisputesByStatus>((dispute.status, id));
    rows.put::<DisputesByStatus>((status, id), Present);
    dispute.status = status;
    change_more(&mut dispute);
    rows.put::<Disputes>(id, dispute.clone());
    Ok(dispute)
}
