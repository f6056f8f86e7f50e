//! What was acknowledged about a payment in the course of a run.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::Deserialize;

use super::amounts::INITIATED_MINOR;

/// The operations on a payment that were acknowledged during the run.
#[derive(Debug, Default)]
pub(super) struct Acknowledged {
    captured_minor: AtomicU64,
    refunded_minor: AtomicU64,
    is_voided: AtomicBool,
    is_declined: AtomicBool,
    /// True when a call about the payment failed, and may have taken effect nevertheless.
    is_doubtful: AtomicBool,
}

/// A payment as the server shows it, or must show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) struct PaymentView<'a> {
    pub(super) status: &'a str,
    pub(super) amount_captured: u64,
    pub(super) amount_refunded: u64,
}

impl fmt::Display for PaymentView<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PaymentView { status, amount_captured, amount_refunded } = self;
        write!(formatter, "{status} with {amount_captured} captured and {amount_refunded} paid back")
    }
}

impl Acknowledged {
    pub(super) fn captured(&self, amount_minor: u64) {
        self.captured_minor.fetch_add(amount_minor, Ordering::Relaxed);
    }

    pub(super) fn refunded(&self, amount_minor: u64) {
        self.refunded_minor.fetch_add(amount_minor, Ordering::Relaxed);
    }

    pub(super) fn voided(&self) {
        self.is_voided.store(true, Ordering::Relaxed);
    }

    pub(super) fn declined(&self) {
        self.is_declined.store(true, Ordering::Relaxed);
    }

    pub(super) fn doubt(&self) {
        self.is_doubtful.store(true, Ordering::Relaxed);
    }

    /// The members that the payment must show in the end; None when nothing was done to it, or when that is unknown.
    pub(super) fn expected(&self) -> Option<PaymentView<'static>> {
        let captured_minor = self.captured_minor.load(Ordering::Relaxed);
        let refunded_minor = self.refunded_minor.load(Ordering::Relaxed);
        let expected =
            |status, amount_captured| Some(PaymentView { status, amount_captured, amount_refunded: refunded_minor });
        match (self.is_doubtful.load(Ordering::Relaxed), self.is_voided.load(Ordering::Relaxed)) {
            (true, _) => None,
            _ if self.is_declined.load(Ordering::Relaxed) => expected("FAILED", 0),
            (false, true) => expected("VOIDED", 0),
            (false, false) if captured_minor > 0 => expected("SUCCESSFUL", captured_minor),
            (false, false) if refunded_minor == INITIATED_MINOR => expected("REFUNDED", INITIATED_MINOR),
            (false, false) if refunded_minor > 0 => expected("PARTIALLY_REFUNDED", INITIATED_MINOR),
            (false, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(change: impl Fn(&Acknowledged)) -> Option<(&'static str, u64, u64)> {
        let acknowledged = Acknowledged::default();
        change(&acknowledged);
        acknowledged.expected().map(|expected| (expected.status, expected.amount_captured, expected.amount_refunded))
    }

    #[test]
    fn a_payment_shows_acknowledged_changes_unless_a_call_failed() {
        assert_eq!(expected(|_| {}), None);
        assert_eq!(expected(|payment| payment.captured(60)), Some(("SUCCESSFUL", 60, 0)));
        assert_eq!(expected(Acknowledged::voided), Some(("VOIDED", 0, 0)));
        assert_eq!(expected(Acknowledged::declined), Some(("FAILED", 0, 0)));
        assert_eq!(expected(|payment| payment.refunded(40)), Some(("PARTIALLY_REFUNDED", INITIATED_MINOR, 40)));
        let all = |payment: &Acknowledged| (0..2).for_each(|_| payment.refunded(INITIATED_MINOR / 2));
        assert_eq!(expected(all), Some(("REFUNDED", INITIATED_MINOR, INITIATED_MINOR)));
        let doubtful = |payment: &Acknowledged| {
            payment.refunded(40);
            payment.doubt();
        };
        assert_eq!(expected(doubtful), None);
    }
}
