//! The external identifiers of entries, determined when the entries are read.

use till_domain::ids::PaymentId;
use till_domain::ledger::{Cause, Entry};
use till_domain::records::{Invoices, Payments, Payouts, Table, Topups, Unreadable};
use till_domain::text::ExternalId;

use crate::rows::RowReader;

use super::personal::StaysSealed;
use super::reader::{MerchantReader, read_row};

/// Finds the external identifiers of one merchant's entries. The last payment is kept, since its entries usually follow
/// each other.
#[derive(Debug, Default)]
pub struct ExternalIdFinder {
    last_payment: Option<(PaymentId, Option<ExternalId>)>,
}

impl ExternalIdFinder {
    /// The external identifier of the entry's payment, also for a fee, interest, a refund or a dispute of it; else that
    /// of its payout, top-up or invoice. None when that was made without one, or is missing, which a
    /// verification reports.
    ///
    /// # Errors
    /// [`Unreadable`] when the row cannot be read.
    pub fn find<R: RowReader>(
        &mut self,
        rows: &MerchantReader<R>,
        entry: &Entry,
    ) -> Result<Option<ExternalId>, Unreadable> {
        match entry.cause {
            Cause::Capture(id) | Cause::Refund(id, _) | Cause::Dispute(id, _) => self.of_payment(rows, id),
            Cause::Payout(id) => Ok(row::<Payouts, R>(rows, id)?.and_then(|payout| payout.external_id)),
            Cause::Topup(id) => Ok(row::<Topups, R>(rows, id)?.and_then(|topup| topup.external_id)),
            Cause::Invoice(id) => Ok(row::<Invoices, R>(rows, id)?.and_then(|invoice| invoice.external_id)),
        }
    }

    fn of_payment<R: RowReader>(
        &mut self,
        rows: &MerchantReader<R>,
        id: PaymentId,
    ) -> Result<Option<ExternalId>, Unreadable> {
        if let Some((last, external_id)) = &self.last_payment
            && *last == id
        {
            return Ok(external_id.clone());
        }
        let external_id = row::<Payments, R>(rows, id)?.and_then(|payment| payment.external_id);
        self.last_payment = Some((id, external_id.clone()));
        Ok(external_id)
    }
}

/// The row that an entry is linked to. Its personal texts stay sealed, which saves the look-up of a person's key.
fn row<T: Table, R: RowReader>(rows: &MerchantReader<R>, key: T::Key) -> Result<Option<T::Row>, Unreadable> {
    Ok(read_row(&rows.rows, rows.merchant_id(), &T::key(key), &StaysSealed)?.and_then(T::unwrap))
}
