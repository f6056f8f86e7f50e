//! References: how a call to an acquirer is named, so that asking twice does it once.

use std::fmt::{self, Write};

use till_domain::ids::{PaymentId, RefundId};

/// Bytes of a reference, at most.
const LEN_MAX: usize = 64;

/// The name of one call to an acquirer: the payment and the step, such as
/// `pay_01h2e8kqvbfwea724h75qc655w/capture`. The same step of the same payment has the same reference after
/// any number of restarts, at most 64 bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference(String);

/// The step of a payment that a call carries out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// Its authorization, with or without capture.
    Authorize,
    /// Its one capture.
    Capture,
    /// Giving its authorization up.
    Void,
    /// One of its refunds, by the refund's id.
    Refund(RefundId),
}

impl Reference {
    /// The reference of a step of a payment.
    #[must_use]
    pub fn new(payment: PaymentId, step: Step) -> Reference {
        let mut text = String::with_capacity(LEN_MAX);
        let written = match step {
            Step::Authorize => write!(text, "{payment}/authorize"),
            Step::Capture => write!(text, "{payment}/capture"),
            Step::Void => write!(text, "{payment}/void"),
            Step::Refund(refund) => write!(text, "{payment}/refund/{:?}", refund.raw()),
        };
        written.expect("writing to a string cannot fail");
        Reference(text)
    }

    /// The text that the acquirer gets.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same, for good.
    #[must_use]
    pub fn into_text(self) -> String {
        self.0
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_the_texts_that_acquirers_know_since_the_first_release() {
        let payment: PaymentId = "pay_01h2e8kqvbfwea724h75qc655w".parse().expect("an id");
        let texts = [
            (Step::Authorize, "pay_01h2e8kqvbfwea724h75qc655w/authorize"),
            (Step::Capture, "pay_01h2e8kqvbfwea724h75qc655w/capture"),
            (Step::Void, "pay_01h2e8kqvbfwea724h75qc655w/void"),
            (
                Step::Refund(RefundId::from_raw(payment.raw())),
                "pay_01h2e8kqvbfwea724h75qc655w/refund/01h2e8kqvbfwea724h75qc655w",
            ),
        ];
        for (step, text) in texts {
            assert_eq!(Reference::new(payment, step).to_string(), text);
            assert!(text.len() <= LEN_MAX);
        }
    }
}
