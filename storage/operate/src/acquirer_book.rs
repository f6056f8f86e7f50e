//! The book that an acquirer keeps of what it did, as far as the store's own tools need it: a verification holds it
//! against the payments, a restore brings it to the moment of the logs, a checkpoint copies it.

use std::path::Path;
use std::sync::Arc;

use till_domain::ids::{MerchantId, PaymentId, PayoutId};
use till_domain::merchant::AcquirerName;
use till_domain::money::Money;
use till_domain::payment::Payment;

/// Lines of a book, one after the other.
pub type AcquirerLines<'a> = Box<dyn Iterator<Item = Result<AcquirerLine, AcquirerBookError>> + 'a>;

/// The book of one acquirer.
pub trait AcquirerBook {
    /// The acquirer that keeps it: payments of others are not in it.
    fn acquirer(&self) -> AcquirerName;

    /// All lines, those of one merchant preferably one after the other.
    fn lines(&self) -> AcquirerLines<'_>;

    /// Adds what the logs know of these payments and the book does not, and returns when it is on disk. What the book
    /// knows beyond that stays.
    ///
    /// # Errors
    /// [`AcquirerBookError`]: some of the payments may be recorded.
    fn record(&mut self, payments: &[(MerchantId, Arc<Payment>)]) -> Result<(), AcquirerBookError>;
}

/// A book beside the store, of an acquirer or of deliveries, that can be copied while it is written to.
pub trait CopiedBook: Send + Sync {
    /// Waits for a write that is under way, and keeps the book from being written to until the result is dropped or used.
    fn hold(&self) -> LinkFiles<'_>;
}

/// Makes a directory on the same disk that holds a book which stands still: links to its table files, copies of its
/// logs. Fails with what the book's store said; nothing is left of the directory then.
pub type LinkFiles<'a> = Box<dyn FnOnce(&Path) -> Result<(), String> + 'a>;

/// What an acquirer was asked under one reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcquirerLine {
    /// The reference that the acquirer was given.
    pub reference: String,
    /// The merchant whose payment or payout it is.
    pub merchant_id: MerchantId,
    /// How much the acquirer was asked for.
    pub money: Money,
    /// The end of an authorization or a payout; nothing when something else was asked, or it has not ended.
    pub end: Option<LineEnd>,
}

/// The end of what an acquirer was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// The authorization of a payment.
    Authorization(PaymentId, AuthorizationLine),
    /// A payout.
    Payout(PayoutId, PayoutLine),
}

/// The end of a payout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PayoutLine {
    /// It was paid.
    Paid,
    /// It was declined.
    Declined,
}

/// How an authorization ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthorizationLine {
    /// It was approved.
    Approved {
        /// Captured so far, in minor units.
        captured_minor: u64,
    },
    /// It was declined.
    Declined,
}

/// Why a book did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AcquirerBookError {
    /// A line is not what was written, or was written by a later version of the program.
    #[error("the line {reference} cannot be decoded: {reason}")]
    Line {
        /// The reference of the line, as far as it is text.
        reference: String,
        /// What does not fit.
        reason: String,
    },
    /// The book as a whole cannot be used.
    #[error("{reason}")]
    Unusable {
        /// What its store said.
        reason: String,
    },
}
