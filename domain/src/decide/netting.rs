//! A capture on hold nets out with the debits that belong to it before the balance does: contract, section 10.

use crate::ledger::{EntryStatus, Transaction};
use crate::payment::Payment;
use crate::records::{Records, Transactions, Unreadable};
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
