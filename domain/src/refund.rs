//! Refunds: money of a captured payment that is refunded, as effects of their own.

use crate::activity::Actor;
use crate::effect::{Effect, EffectKind};
use crate::failure::Failure;
use crate::ids::{PaymentId, RefundId, TransactionId};
use crate::money::Money;
use crate::text::{ExternalId, Reason};
use crate::time::Millis;

word_enum! {
    /// The status of a refund.
    pub enum RefundStatus: name {
        /// The acquirer was asked and has not answered yet.
        Pending => "PENDING",
        /// The acquirer paid.
        Successful => "SUCCESSFUL",
        /// The acquirer refused.
        Failed => "FAILED",
    }
}

/// A refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    /// Its id.
    pub id: RefundId,
    /// The merchant's own reference, unique among its refunds.
    pub external_id: Option<ExternalId>,
    /// The payment whose money is refunded.
    pub payment_id: PaymentId,
    /// Its status.
    pub status: RefundStatus,
    /// The refunded amount.
    pub money: Money,
    /// True when it refunds all of the captured amount by itself.
    pub is_full: bool,
    /// The merchant's reason for it.
    pub reason: Option<Reason>,
    /// The acquirer's reason for refusing it.
    pub failure: Option<Failure>,
    /// The actor that asked for it, for the activity log.
    pub requested_by: Actor,
    /// Its ledger transaction.
    pub transaction_id: TransactionId,
    /// The time at which it was accepted.
    pub created_at: Millis,
    /// The time at which the acquirer's confirmation was recorded.
    pub refunded_at: Option<Millis>,
    /// The acquirer's own reference of it, once it has confirmed it.
    pub acquirer_reference: Option<String>,
}

impl Refund {
    /// The call to the acquirer that carries it out.
    #[must_use]
    pub const fn effect(&self) -> Effect {
        Effect { payment_id: self.payment_id, kind: EffectKind::Refund(self.id), opened_at: self.created_at }
    }
}
