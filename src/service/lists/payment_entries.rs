//! The ledger entries of one payment, found by the payment's own rows: its capture, its refunds and its disputes.

use till_domain::ids::{EntryId, Id, PaymentId, TransactionId};
use till_domain::ledger::Entry;
use till_domain::records::{Disputes, DisputesByPayment, Payments, Refunds, RefundsByPayment, Rows, Transactions};
use till_protocol::api_error::ApiError;
use till_storage::rows::ScanDirection;
use till_storage::shapes::{KeyedRow, StoredTable};

use super::filtered_page::rows_of_index;
use super::id_span::IdSpan;
use crate::service::submission::Reader;

/// At most `limit` entries of a payment in a span, in a direction. A payment that does not exist has none.
///
/// # Errors
/// `UNAVAILABLE` when a row cannot be read.
pub(crate) fn entries_of_payment(
    reader: &Reader<'_>,
    payment_id: PaymentId,
    span: IdSpan<EntryId>,
    direction: ScanDirection,
    limit: usize,
) -> Result<Vec<(EntryId, Entry)>, ApiError> {
    let payment = reader.get::<Payments>(payment_id)?;
    let mut transactions: Vec<TransactionId> =
        payment.and_then(|it| it.capture).map(|it| it.transaction_id).into_iter().collect();
    let refunds = rows_around::<RefundsByPayment, Refunds>(reader, payment_id, span, direction, limit)?;
    transactions.extend(refunds.into_iter().map(|(_, refund)| refund.transaction_id));
    let disputes = rows_around::<DisputesByPayment, Disputes>(reader, payment_id, span, direction, limit)?;
    transactions.extend(disputes.into_iter().map(|(_, dispute)| dispute.transaction_id));
    let mut entries = Vec::with_capacity(transactions.len());
    for id in transactions {
        let transaction = reader.get::<Transactions>(id)?.ok_or_else(ApiError::unhandled)?;
        entries.extend(transaction.balance_entries().filter(|entry| span.range().contains(&entry.id)));
    }
    entries.sort_unstable_by_key(|entry| entry.id);
    if direction == ScanDirection::Backward {
        entries.reverse();
    }
    entries.truncate(limit);
    Ok(entries.into_iter().map(|entry| (entry.id, entry)).collect())
}

/// The first refunds or disputes of a payment whose entries may be in a span.
///
/// The entry of a refund is made after the refund and before all that follows. So the entries in the span belong to
/// what was made in it, and to the last one before it. One more than `limit` are read, since the entry of the first may
/// be beyond the span.
fn rows_around<I, T>(
    reader: &Reader<'_>,
    payment_id: PaymentId,
    span: IdSpan<EntryId>,
    direction: ScanDirection,
    limit: usize,
) -> Result<Vec<KeyedRow<T>>, ApiError>
where
    I: StoredTable<Key = (PaymentId, T::Key)>,
    T: StoredTable<Key: Id + Ord>,
{
    let made = span.of_other_ids::<T::Key>();
    let before = IdSpan { newest: made.oldest, ..IdSpan::all() };
    let last = rows_of_index::<I, T, _>(reader, &payment_id, before, ScanDirection::Backward, 1)?;
    let oldest = last.first().map_or(made.oldest, |(id, _)| *id);
    rows_of_index::<I, T, _>(reader, &payment_id, IdSpan { oldest, ..made }, direction, limit.saturating_add(1))
}
