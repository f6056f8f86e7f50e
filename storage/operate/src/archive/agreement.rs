//! Brings the acquirer's book to the moment that the logs are restored to: it then has every result that the logs have.
//!
//! The book is not archived. A result that the logs have is recorded again from the payment or payout. A result that
//! they lack belongs to a call that is still open, and is recorded when the call is made again.

use std::sync::Arc;

use till_domain::ids::MerchantId;
use till_domain::payment::Payment;
use till_domain::payout::Payout;
use till_domain::records::AnyRow;

use crate::acquirer_book::AcquirerBook;

use super::ArchiveError;

/// Payments, or payouts, recorded with one write.
const PAYMENTS_AT_ONCE: usize = 1_024;

/// The book of a store that is being restored.
pub(super) struct Agreement<'a> {
    book: &'a mut dyn AcquirerBook,
    changed: Vec<(MerchantId, Arc<Payment>)>,
    payouts: Vec<(MerchantId, Arc<Payout>)>,
}

impl Agreement<'_> {
    /// Starts with this book.
    pub(super) fn of(book: &mut dyn AcquirerBook) -> Agreement<'_> {
        Agreement { book, changed: Vec::new(), payouts: Vec::new() }
    }

    /// Notes a payment or payout whose result the book must have.
    pub(super) fn add(&mut self, merchant: MerchantId, row: AnyRow) -> Result<(), ArchiveError> {
        let acquirer = self.book.acquirer();
        if let AnyRow::Payments(payment) = row {
            self.changed.extend((payment.acquirer == acquirer).then_some((merchant, payment)));
        } else if let AnyRow::Payouts(payout) = row {
            self.payouts.extend((payout.acquirer == acquirer).then_some((merchant, payout)));
        }
        if self.changed.len().max(self.payouts.len()) >= PAYMENTS_AT_ONCE { self.write() } else { Ok(()) }
    }

    /// Records the payments that are not recorded yet.
    pub(super) fn finish(mut self) -> Result<(), ArchiveError> {
        self.write()
    }

    fn write(&mut self) -> Result<(), ArchiveError> {
        self.book.record(&std::mem::take(&mut self.changed))?;
        Ok(self.book.record_payouts(&std::mem::take(&mut self.payouts))?)
    }
}
