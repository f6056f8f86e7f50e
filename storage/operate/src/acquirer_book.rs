//! The part of an acquirer's book that the store's own tools need: a verification compares it with the payments, a
//! restore brings it to the moment of the logs, a checkpoint copies it.

use std::path::Path;
use std::sync::Arc;

use till_domain::acquirer::AcquirerRef;
use till_domain::ids::{MerchantId, PaymentId, PayoutId};
use till_domain::money::Money;
use till_domain::payment::Payment;
use till_domain::payout::Payout;

/// Lines of a book, one after the other.
pub type AcquirerLines<'a> = Box<dyn Iterator<Item = Result<AcquirerLine, AcquirerBookError>> + 'a>;

/// The book of one acquirer.
pub trait AcquirerBook {
    /// The acquirer that keeps it: payments of others are not in it.
    fn acquirer(&self) -> AcquirerRef;

    /// All lines, those of one merchant preferably one after the other.
    fn lines(&self) -> AcquirerLines<'_>;

    /// Adds the results of these payments that the logs know and the book lacks, and returns when they are on disk.
    /// Anything else that the book holds stays.
    ///
    /// # Errors
    /// [`AcquirerBookError`]: some of the payments may be recorded.
    fn record(&mut self, payments: &[(MerchantId, Arc<Payment>)]) -> Result<(), AcquirerBookError>;

    /// Adds the results of these payouts in the same way.
    ///
    /// # Errors
    /// [`AcquirerBookError`]: some of the payouts may be recorded.
    fn record_payouts(&mut self, payouts: &[(MerchantId, Arc<Payout>)]) -> Result<(), AcquirerBookError>;
}

/// A book beside the store, of an acquirer or of deliveries, that can be copied while it is written to.
pub trait CopiedBook: Send + Sync {
    /// Waits for a write that is under way, and blocks writes to the book until the result is dropped or used.
    fn hold(&self) -> LinkFiles<'_>;
}

/// Makes a directory on the same disk with a copy of a book that is not written to meanwhile: links to its table files,
/// copies of its logs. On failure it returns the message of the book's store, and leaves nothing of the directory.
pub type LinkFiles<'a> = Box<dyn FnOnce(&Path) -> Result<(), String> + 'a>;

/// One request to an acquirer, named by its reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcquirerLine {
    /// The reference that the acquirer was given.
    pub reference: String,
    /// The merchant whose payment or payout it is.
    pub merchant_id: MerchantId,
    /// The amount that the acquirer was asked for.
    pub money: Money,
    /// The end of an authorization or a payout; nothing when something else was asked, or it has not ended.
    pub end: Option<LineEnd>,
}

/// The result of a request to an acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// The authorization of a payment.
    Authorization(PaymentId, AuthorizationLine),
    /// A payout.
    Payout(PayoutId, PayoutLine),
}

/// The result of a payout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PayoutLine {
    /// It was paid.
    Paid,
    /// It was declined.
    Declined,
}

/// The result of an authorization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthorizationLine {
    /// It was approved.
    Approved {
        /// Captured so far, in minor units.
        captured_minor: u64,
    },
    /// It was declined.
    Declined,
    /// It waits for its customer, or for the result of the customer's action.
    Waiting,
}

/// The reason why a book did not carry out a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AcquirerBookError {
    /// A line is not what was written, or was written by a later version of the program.
    #[error("the line {reference} cannot be decoded: {reason}")]
    Line {
        /// The reference of the line, as far as it is text.
        reference: String,
        /// The decoder's reason.
        reason: String,
    },
    /// The book as a whole cannot be used.
    #[error("{reason}")]
    Unusable {
        /// The message of its store.
        reason: String,
    },
}
