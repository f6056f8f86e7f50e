//! Brings the acquirer's book to the moment that the logs are restored to: it then has every result that the logs have.
//!
//! The book is not archived. A result that the logs have is recorded again from the payment. A result that they lack
//! belongs to a call that is still open, and is recorded when the call is made again.

use std::sync::Arc;

use till_domain::ids::MerchantId;
use till_domain::payment::Payment;

use crate::acquirer_book::AcquirerBook;

use super::ArchiveError;

/// Payments recorded with one write.
const PAYMENTS_AT_ONCE: usize = 1_024;

/// The book of a store that is being restored.
pub(super) struct Agreement<'a> {
    book: &'a mut dyn AcquirerBook,
    changed: Vec<(MerchantId, Arc<Payment>)>,
}

impl Agreement<'_> {
    /// Starts with this book.
    pub(super) fn of(book: &mut dyn AcquirerBook) -> Agreement<'_> {
        Agreement { book, changed: Vec::new() }
    }

    /// Notes a payment whose result the book must have.
    pub(super) fn add_payment(&mut self, merchant: MerchantId, payment: Arc<Payment>) -> Result<(), ArchiveError> {
        if payment.acquirer == self.book.acquirer() {
            self.changed.push((merchant, payment));
        }
        if self.changed.len() >= PAYMENTS_AT_ONCE { self.write() } else { Ok(()) }
    }

    /// Records the payments that are not recorded yet.
    pub(super) fn finish(mut self) -> Result<(), ArchiveError> {
        self.write()
    }

    fn write(&mut self) -> Result<(), ArchiveError> {
        let changed = std::mem::take(&mut self.changed);
        if changed.is_empty() { Ok(()) } else { Ok(self.book.record(&changed)?) }
    }
}
