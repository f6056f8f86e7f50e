//! A capture on hold nets out with the debits that belong to it before the balance does: contract, section 10.

use super::context::Context;
use super::posting;
use crate::dispute::{Dispute, DisputeStatus, EVIDENCE_SECONDS};
use crate::event::Event;
use crate::ids::DisputeId;
use crate::ledger::{EntryStatus, Transaction};
use crate::money::{AmountMinor, Money};
use crate::payment::Payment;
use crate::records::{Records, Transactions, Unreadable};
use crate::text::Reason;
use std::sync::Arc;

/// The transaction of a payment's capture, while it is on hold.
pub(super) fn held_capture(records: &impl Records, payment: &Payment) -> Result<Option<Arc<Transaction>>, Unreadable> {
    let Some(capture) = payment.capture else { return Ok(None) };
    let transaction = records.shared::<Transactions>(capture.transaction_id)?;
    Ok(transaction.filter(|transaction| transaction.status == EntryStatus::OnHold))
}

/// The part of a debit that the payment's capture does not cover, given the other debits against it: all of the debit
/// when no capture is on hold.
pub(super) fn uncovered_minor(held: Option<&Transaction>, others_minor: u64, amount_minor: u64) -> u64 {
    held.map_or(amount_minor, |held| {
        let with_it = held.missing_minor(others_minor.saturating_add(amount_minor));
        with_it.saturating_sub(held.missing_minor(others_minor))
    })
}

/// The event that opens a dispute about a payment. `held` is the transaction of the payment's capture while it is on
/// hold.
pub(super) fn opened(
    payment: &Payment,
    held: Option<&Transaction>,
    amount: AmountMinor,
    reason: Option<Reason>,
    context: &mut Context<'_>,
) -> (DisputeId, Event) {
    let id: DisputeId = context.mint();
    let money = Money { amount, currency: payment.money.currency };
    let transaction = posting::dispute(payment.id, id, money, context);
    let dispute = Dispute {
        id,
        payment_id: payment.id,
        status: DisputeStatus::Open,
        reason,
        money,
        evidence: None,
        evidence_due_at: context.now.plus_seconds(EVIDENCE_SECONDS),
        transaction_id: transaction.id,
        created_at: context.now,
        closed_at: None,
    };
    let uncovered_minor = uncovered_minor(held, payment.taken_back_minor(), amount.get());
    (id, Event::DisputeOpened { dispute, transaction, uncovered_minor })
}
