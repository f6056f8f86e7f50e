//! Effects: calls to an acquirer that a recorded decision requests. Timers: decisions that become due.

use crate::ids::{CheckoutId, CustomerId, DisputeId, MetadataId, PaymentId, RefundId, TransactionId};
use crate::time::Millis;

/// The key of an open call to an acquirer about a payment. At most one operation of a payment is open at a time: its
/// authorization, its capture or its void. Each refund is a call of its own, and several may be open at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectId {
    /// The payment.
    pub payment_id: PaymentId,
    /// The refund, for the call of one; none for the payment's operation.
    pub refund_id: Option<RefundId>,
}

impl EffectId {
    /// The key of a payment's one operation.
    #[must_use]
    pub const fn operation(payment_id: PaymentId) -> EffectId {
        EffectId { payment_id, refund_id: None }
    }
}

/// A call to an acquirer about a payment, open until its result is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// The payment.
    pub payment_id: PaymentId,
    /// The kind of the call.
    pub kind: EffectKind,
    /// The instant since which it is open.
    pub opened_at: Millis,
}

impl Effect {
    /// Its key.
    #[must_use]
    pub const fn id(&self) -> EffectId {
        match self.kind {
            EffectKind::Refund(refund_id) => EffectId { payment_id: self.payment_id, refund_id: Some(refund_id) },
            EffectKind::Authorize
            | EffectKind::AuthorizePrepared
            | EffectKind::Void
            | EffectKind::Capture
            | EffectKind::Reverse
            | EffectKind::VoidLate
            | EffectKind::RefundLate
            | EffectKind::CancelAction => EffectId::operation(self.payment_id),
        }
    }
}

/// The kind of a call to the acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectKind {
    /// Authorize the payment, and capture it at once if that is requested.
    Authorize,
    /// Void its authorization.
    Void,
    /// Capture the authorized amount, or a part of it, and release the rest.
    Capture,
    /// Reverse its capture: a full refund under a reference of its own.
    Reverse,
    /// Pay one of its refunds.
    Refund(RefundId),
    /// Void an authorization that was approved when the payment was over.
    VoidLate,
    /// Refund a capture that was made with an authorization when the payment was over.
    RefundLate,
    /// Cancel the action that the customer was asked for, and with it the authorization that waits for it.
    CancelAction,
    /// Authorize the payment that the acquirer has prepared, and capture it at once if that is requested.
    AuthorizePrepared,
}

impl EffectKind {
    /// True for the authorization of a payment, prepared or not.
    #[must_use]
    pub const fn is_authorization(self) -> bool {
        matches!(self, EffectKind::Authorize | EffectKind::AuthorizePrepared)
    }

    /// True for a void or a refund: money or its reservation goes back to the customer.
    #[must_use]
    pub const fn gives_back(self) -> bool {
        match self {
            EffectKind::Void
            | EffectKind::Reverse
            | EffectKind::Refund(_)
            | EffectKind::VoidLate
            | EffectKind::RefundLate => true,
            EffectKind::Authorize | EffectKind::AuthorizePrepared | EffectKind::Capture | EffectKind::CancelAction => {
                false
            }
        }
    }
}

/// A decision that becomes due. Ordered by time, so that a merchant's first timer is its next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timer {
    /// The instant.
    pub due: Millis,
    /// The decision.
    pub kind: TimerKind,
}

/// The decision that becomes due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimerKind {
    /// A transaction on hold becomes effective.
    Settle(TransactionId),
    /// An authorization that was not captured lapses.
    Lapse(PaymentId),
    /// A metadata record may have expired. A record has one such timer: it is set again when the record lives on.
    ExpireMetadata(MetadataId),
    /// The time for evidence is over: without evidence the dispute is lost.
    EvidenceDue(DisputeId),
    /// The month of a merchant's next statement is over. A merchant with a balance has one such timer.
    CloseStatement,
    /// The time for the customer's action is over.
    ActionDue(PaymentId),
    /// More tokens are to be erased that only a removed customer used.
    EraseTokens(CustomerId),
    /// The time of an open checkout is over, or the customer fields of one that has ended are to be erased.
    CheckoutDue(CheckoutId),
}
