//! Effects: calls to an acquirer that a recorded decision asks for. Timers: decisions that come due.

use crate::ids::{MetadataId, PaymentId, TransactionId};
use crate::time::Millis;

/// A call to an acquirer, open until its result is recorded. A payment has at most one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// For which payment.
    pub payment_id: PaymentId,
    /// Which call.
    pub kind: EffectKind,
    /// Since when it is open.
    pub opened_at: Millis,
}

/// Which call to the acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectKind {
    /// Authorize the payment, and capture it at once if it is to be.
    Authorize,
    /// Give its authorization up.
    Void,
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
}
