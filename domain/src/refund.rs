//! Refunds: money of a captured payment that is paid back, as effects of their own.

use crate::activity::Actor;
use crate::effect::{Effect, EffectKind};
use crate::ids::{PaymentId, RefundId, TransactionId};
use crate::money::Money;
use crate::payment::Failure;
use crate::text::{ExternalId, Reason};
use crate::time::Millis;

/// How far a refund has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefundStatus {
    /// The acquirer was asked and has not answered yet.
    Pending,
    /// The acquirer paid.
    Successful,
    /// The acquirer refused.
    Failed,
}

impl RefundStatus {
    /// Every status, in the order of the documents.
    pub const ALL: [RefundStatus; 3] = [RefundStatus::Pending, RefundStatus::Successful, RefundStatus::Failed];

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            RefundStatus::Pending => "PENDING",
            RefundStatus::Successful => "SUCCESSFUL",
            RefundStatus::Failed => "FAILED",
        }
    }
}

/// A refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    /// Its id.
    pub id: RefundId,
    /// The merchant's own reference, unique among its refunds.
    pub external_id: Option<ExternalId>,
    /// The payment whose money is paid back.
    pub payment_id: PaymentId,
    /// How far it has come.
    pub status: RefundStatus,
    /// How much is paid back.
    pub money: Money,
    /// True when it gives all of the captured amount back by itself.
    pub is_full: bool,
    /// The merchant's reason for it.
    pub reason: Option<Reason>,
    /// Why the acquirer refused it.
    pub failure: Option<Failure>,
    /// Who asked for it, for the activity log.
    pub requested_by: Actor,
    /// Its ledger transaction.
    pub transaction_id: TransactionId,
    /// When it was accepted.
    pub created_at: Millis,
    /// When the acquirer's confirmation was recorded.
    pub refunded_at: Option<Millis>,
}

impl Refund {
    /// The call to the acquirer that carries it out.
    #[must_use]
    pub const fn effect(&self) -> Effect {
        Effect { payment_id: self.payment_id, kind: EffectKind::Refund(self.id), opened_at: self.created_at }
    }
}
