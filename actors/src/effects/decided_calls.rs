//! Calls that may end when a person at the acquirer decides, days later or never; every other call ends by itself. This
//! file has all that differs by it: the ages and metrics of open calls, and the calls that a test clock does not wait
//! for.

use till_domain::effect::EffectId;
use till_domain::ids::{Id, RawId};
use till_domain::merchant::AcquirerName;
use till_domain::open_call::OpenCall;
use till_domain::records::{Payments, Payouts, Rows, Unreadable};

use crate::acquirer::{PaymentStep, Reference};

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

/// The acquirer of an open call of these kinds, or of an authorization that waits for its customer, and the reference
/// of the call; none for a call that ends by itself.
///
/// # Errors
/// [`Unreadable`] when the row that names the acquirer cannot be read.
pub(crate) fn decided_call(rows: &impl Rows, call: OpenCall) -> Result<Option<(AcquirerName, Reference)>, Unreadable> {
    Ok(match call {
        OpenCall::Payment(EffectId { payment_id, refund_id: Some(refund_id) }) => {
            let reference = Reference::new(payment_id, PaymentStep::Refund(refund_id));
            rows.get::<Payments>(payment_id)?.map(|payment| (payment.acquirer, reference))
        }
        OpenCall::Payout(payout_id) => {
            let reference = Reference::of_payout(payout_id);
            rows.get::<Payouts>(payout_id)?.map(|payout| (payout.acquirer, reference))
        }
        OpenCall::Payment(EffectId { payment_id, refund_id: None }) => {
            let asks = rows.get::<Payments>(payment_id)?.filter(|payment| payment.open_action_until().is_some());
            asks.map(|payment| (payment.acquirer, Reference::new(payment_id, PaymentStep::Authorize)))
        }
        OpenCall::Evidence(_) => None,
    })
}
