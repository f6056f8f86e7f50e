//! Calls that may end when a person at the acquirer decides, days later or never, in the metrics of open calls.

use till_domain::effect::EffectId;
use till_domain::ids::{Id, RawId};
use till_domain::open_call::OpenCall;

/// A kind of such calls. Each has metrics of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DecidedCalls {
    /// Refunds.
    Refunds,
    /// Payouts.
    Payouts,
}

impl DecidedCalls {
    /// The kind of an open call, and its id, which tells the time at which it was asked for; none for a call that ends
    /// by itself.
    pub(super) fn of(call: OpenCall) -> Option<(DecidedCalls, RawId)> {
        match call {
            OpenCall::Payment(EffectId { payment_id: _, refund_id }) => {
                Some((DecidedCalls::Refunds, refund_id?.to_raw()))
            }
            OpenCall::Payout(payout_id) => Some((DecidedCalls::Payouts, payout_id.to_raw())),
            OpenCall::Evidence(_) => None,
        }
    }
}
