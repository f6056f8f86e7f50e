//! Payouts: money of the balance that the acquirer's bank sends to the merchant, as effects of their own.

use crate::acquirer::AcquirerRef;
use crate::failure::Failure;
use crate::ids::{PayoutId, TransactionId};
use crate::money::Money;
use crate::text::{Description, ExternalId};
use crate::time::Millis;

word_enum! {
    /// The status of a payout.
    pub enum PayoutStatus: name {
        /// The acquirer was asked and has not answered yet.
        Pending => "PENDING",
        /// The acquirer paid.
        Successful => "SUCCESSFUL",
        /// The acquirer refused.
        Failed => "FAILED",
    }
}

/// A payout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payout {
    /// Its id.
    pub id: PayoutId,
    /// The merchant's own reference, unique among its payouts.
    pub external_id: Option<ExternalId>,
    /// Its status.
    pub status: PayoutStatus,
    /// The amount that is paid out.
    pub money: Money,
    /// The merchant's description of it.
    pub description: Option<Description>,
    /// The acquirer that pays it.
    pub acquirer: AcquirerRef,
    /// The acquirer's reason for refusing it.
    pub failure: Option<Failure>,
    /// Its ledger transaction.
    pub transaction_id: TransactionId,
    /// The time at which it was accepted.
    pub created_at: Millis,
    /// The time at which the acquirer's confirmation was recorded.
    pub paid_at: Option<Millis>,
}
