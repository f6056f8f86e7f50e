//! Effects: calls to an acquirer that a recorded decision asks for. Timers: decisions that come due.

use crate::ids::{DisputeId, MetadataId, PaymentId, PayoutId, RefundId, TransactionId};
use crate::time::Millis;

/// The key of an open call to an acquirer about a payment. At most one operation of a payment is open at a time: its authorization, its
/// capture or its void. Each refund is a call of its own, and several may be open at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectId {
    /// The payment.
    pub payment_id: PaymentId,
    /// The refund, when it is one; none for the payment's operation.
    pub refund_id: Option<RefundId>,
}

impl EffectId {
    /// The key of a payment's one operation.
    #[must_use]
    pub const fn operation(payment_id: PaymentId) -> EffectId {
        EffectId { payment_id, refund_id: None }
    }
}

/// Names an open call to an acquirer, whatever it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OpenCall {
    /// One about a payment.
    Payment(EffectId),
    /// One that pays a payout.
    Payout(PayoutId),
    /// One that gives the evidence of a dispute.
    Evidence(DisputeId),
}

/// A call to an acquirer about a payment, open until its result is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// For which payment.
    pub payment_id: PaymentId,
    /// Which call.
    pub kind: EffectKind,
    /// Since when it is open.
    pub opened_at: Millis,
}

impl Effect {
    /// Its key.
    #[must_use]
    pub const fn id(&self) -> EffectId {
        match self.kind {
            EffectKind::Refund(refund_id) => EffectId { payment_id: self.payment_id, refund_id: Some(refund_id) },
            EffectKind::Authorize
            | EffectKind::Void
            | EffectKind::Capture
            | EffectKind::Reverse
            | EffectKind::VoidLate
            | EffectKind::RefundLate => EffectId::operation(self.payment_id),
        }
    }
}

/// Which call to the acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectKind {
    /// Authorize the payment, and capture it at once if it is to be.
    Authorize,
    /// Give its authorization up.
    Void,
    /// Capture what is authorized, or a part of it, and release the rest.
    Capture,
    /// Take its capture back: a full refund under a reference of its own.
    Reverse,
    /// Pay one of its refunds.
    Refund(RefundId),
    /// Give an authorization up that came when the payment was over.
    VoidLate,
    /// Pay back what was captured with an authorization that came when the payment was over.
    RefundLate,
}

/// Something that comes due by itself. Ordered by time, so that a merchant's first timer is its next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timer {
    /// When.
    pub due: Millis,
    /// What.
    pub kind: TimerKind,
}

/// What comes due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimerKind {
    /// A transaction on hold becomes effective.
    Settle(TransactionId),
    /// An authorization that nobody captured lapses.
    Lapse(PaymentId),
    /// A metadata record may have expired. A record has one such timer: it is set anew when the record lives on.
    ExpireMetadata(MetadataId),
    /// Evidence must be given by then: without it the dispute is lost.
    EvidenceDue(DisputeId),
    /// The month of a merchant's next statement is over. A merchant with a balance has one such timer.
    CloseStatement,
}
