//! References: the names of calls to an acquirer, so that a repeated call is carried out once.

use std::fmt;
use std::str::FromStr;

use till_domain::effect::EffectId;
use till_domain::ids::{DisputeId, PaymentId, PayoutId, RefundId};
use till_domain::open_call::OpenCall;

/// The step of a payout.
const PAY: &str = "pay";

/// The step of a dispute.
const EVIDENCE: &str = "evidence";

/// The attempt whose reference has no number.
const FIRST_ATTEMPT: u32 = 1;

/// The step of a payment that a call carries out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PaymentStep {
    /// Its authorization, with or without capture.
    Authorize,
    /// Its one capture.
    Capture,
    /// The void of its authorization.
    Void,
    /// The reversal of its whole capture, or of the capture of a payment that had ended before.
    Reverse,
    /// The cancellation of the action that its authorization waits for.
    Cancel,
    /// One of its refunds, by the refund's id.
    Refund(RefundId),
}

/// The name of one call to an acquirer. Displayed, it is the reference that the acquirer gets, of at most 64 bytes: the
/// payment and the step, such as `pay_01h2e8kqvbfwea724h75qc655w/capture`, or the payout, such as
/// `pyo_01h2e8kqvbfwea724h75qc655w/pay`. The same step of the same payment has the same one after any restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedCall {
    /// A step of a payment.
    Payment {
        /// The payment that it is for.
        payment: PaymentId,
        /// The operation that it carries out.
        step: PaymentStep,
        /// The number of the attempt, from 1: a repetition after the acquirer has refused the step has another.
        attempt: u32,
    },
    /// A payout.
    Payout(PayoutId),
    /// The evidence of a dispute.
    Evidence(DisputeId),
}

impl NamedCall {
    /// The first attempt at a step of a payment.
    #[must_use]
    pub const fn first(payment: PaymentId, step: PaymentStep) -> NamedCall {
        NamedCall::Payment { payment, step, attempt: FIRST_ATTEMPT }
    }

    /// The open call that it is about.
    #[must_use]
    pub const fn open_call(self) -> OpenCall {
        match self {
            NamedCall::Payment { payment: payment_id, step: PaymentStep::Refund(refund_id), attempt: _ } => {
                OpenCall::Payment(EffectId { payment_id, refund_id: Some(refund_id) })
            }
            NamedCall::Payment { payment, step: _, attempt: _ } => OpenCall::Payment(EffectId::operation(payment)),
            NamedCall::Payout(payout) => OpenCall::Payout(payout),
            NamedCall::Evidence(dispute) => OpenCall::Evidence(dispute),
        }
    }
}

/// The text is not one of our references.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it does not name a call of Till")]
pub struct UnknownReference;

impl FromStr for NamedCall {
    type Err = UnknownReference;

    fn from_str(text: &str) -> Result<NamedCall, UnknownReference> {
        if let Some((id, PAY)) = text.split_once('/') {
            return id.parse().map(NamedCall::Payout).map_err(|_| UnknownReference);
        }
        if let Some((id, EVIDENCE)) = text.split_once('/') {
            return id.parse().map(NamedCall::Evidence).map_err(|_| UnknownReference);
        }
        let mut parts = text.split('/');
        let payment = parts.next().and_then(|id| id.parse().ok()).ok_or(UnknownReference)?;
        let step = match parts.next().ok_or(UnknownReference)? {
            "authorize" => PaymentStep::Authorize,
            "capture" => PaymentStep::Capture,
            "void" => PaymentStep::Void,
            "reverse" => PaymentStep::Reverse,
            "cancel" => PaymentStep::Cancel,
            "refund" => PaymentStep::Refund(refund_id(parts.next().ok_or(UnknownReference)?)?),
            _ => return Err(UnknownReference),
        };
        let attempt = parts.next().map_or(Ok(FIRST_ATTEMPT), str::parse).map_err(|_| UnknownReference)?;
        let call = NamedCall::Payment { payment, step, attempt };
        // Every call has one reference, so no other text is accepted for it.
        let is_its_own = call.to_string() == text;
        if is_its_own { Ok(call) } else { Err(UnknownReference) }
    }
}

fn refund_id(without_prefix: &str) -> Result<RefundId, UnknownReference> {
    [RefundId::PREFIX, "_", without_prefix].concat().parse().map_err(|_| UnknownReference)
}

impl fmt::Display for NamedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (payment, step, attempt) = match self {
            NamedCall::Payment { payment, step, attempt } => (payment, step, *attempt),
            NamedCall::Payout(payout) => return write!(f, "{payout}/{PAY}"),
            NamedCall::Evidence(dispute) => return write!(f, "{dispute}/{EVIDENCE}"),
        };
        match step {
            PaymentStep::Authorize => write!(f, "{payment}/authorize"),
            PaymentStep::Capture => write!(f, "{payment}/capture"),
            PaymentStep::Void => write!(f, "{payment}/void"),
            PaymentStep::Reverse => write!(f, "{payment}/reverse"),
            PaymentStep::Cancel => write!(f, "{payment}/cancel"),
            PaymentStep::Refund(refund) => write!(f, "{payment}/refund/{:?}", refund.raw()),
        }?;
        if attempt == FIRST_ATTEMPT { Ok(()) } else { write!(f, "/{attempt}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_references_are_those_of_the_first_release() {
        let payment: PaymentId = "pay_01h2e8kqvbfwea724h75qc655w".parse().expect("an id");
        let texts = [
            (PaymentStep::Authorize, "pay_01h2e8kqvbfwea724h75qc655w/authorize"),
            (PaymentStep::Capture, "pay_01h2e8kqvbfwea724h75qc655w/capture"),
            (PaymentStep::Void, "pay_01h2e8kqvbfwea724h75qc655w/void"),
            (PaymentStep::Reverse, "pay_01h2e8kqvbfwea724h75qc655w/reverse"),
            (PaymentStep::Cancel, "pay_01h2e8kqvbfwea724h75qc655w/cancel"),
            (
                PaymentStep::Refund(RefundId::from_raw(payment.raw())),
                "pay_01h2e8kqvbfwea724h75qc655w/refund/01h2e8kqvbfwea724h75qc655w",
            ),
        ];
        for (step, text) in texts {
            assert_eq!(NamedCall::first(payment, step).to_string(), text);
            assert!(text.len() <= 64);
        }
    }

    #[test]
    fn a_reference_is_read_back_and_nothing_else_is_one() {
        let payment: PaymentId = "pay_01h2e8kqvbfwea724h75qc655w".parse().expect("an id");
        let refund = PaymentStep::Refund(RefundId::from_raw(payment.raw()));
        for step in [PaymentStep::Authorize, PaymentStep::Capture, PaymentStep::Void, PaymentStep::Reverse, refund] {
            for attempt in [1, 2, u32::MAX] {
                let named = NamedCall::Payment { payment, step, attempt };
                assert_eq!(named.to_string().parse(), Ok(named));
            }
        }
        let payout = PayoutId::from_raw(payment.raw());
        let text = NamedCall::Payout(payout).to_string();
        assert_eq!(
            (text.as_str(), text.parse()),
            ("pyo_01h2e8kqvbfwea724h75qc655w/pay", Ok(NamedCall::Payout(payout)))
        );
        let dispute = DisputeId::from_raw(payment.raw());
        let text = NamedCall::Evidence(dispute).to_string();
        assert_eq!(text.parse(), Ok(NamedCall::Evidence(dispute)), "{text}");
        for text in [format!("{payout}"), format!("{payout}/"), format!("{payout}/pay/2"), format!("{payment}/pay")] {
            assert_eq!(text.parse::<NamedCall>(), Err(UnknownReference), "{text}");
        }
        for rest in ["", "/capture/1", "/capture/02", "/capture/2/3", "/refund", "/refund/x", "/settle", "/capture/"] {
            let text = format!("{payment}{rest}");
            assert_eq!(text.parse::<NamedCall>(), Err(UnknownReference), "{text}");
        }
    }

    #[test]
    fn a_further_attempt_has_a_reference_of_its_own() {
        let payment: PaymentId = "pay_01h2e8kqvbfwea724h75qc655w".parse().expect("an id");
        let text = NamedCall::Payment { payment, step: PaymentStep::Reverse, attempt: u32::MAX }.to_string();
        assert_eq!(text, "pay_01h2e8kqvbfwea724h75qc655w/reverse/4294967295");
        assert!(text.len() <= 64);
        let first = NamedCall::first(payment, PaymentStep::Void);
        assert_eq!(first, NamedCall::Payment { payment, step: PaymentStep::Void, attempt: 1 });
    }
}
