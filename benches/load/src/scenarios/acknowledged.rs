//! Checks that the server shows what it acknowledged: each captured, voided or refunded payment is read again.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::amounts::INITIATED_MINOR;
use super::payments::{PaymentCheck, PaymentView, PreparedPayment};
use super::prepare::Lines;
use super::world::RunContext;

/// Payments that are read at the same time.
const AT_ONCE: usize = 64;

/// The operations on a payment that were acknowledged during the run.
#[derive(Debug, Default)]
pub(super) struct Acknowledged {
    captured_minor: AtomicU64,
    refunded_minor: AtomicU64,
    is_voided: AtomicBool,
    /// True when a call about the payment failed, and may have taken effect nevertheless.
    is_doubtful: AtomicBool,
}

/// The members that a payment must show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ExpectedPayment {
    status: &'static str,
    captured_minor: u64,
    refunded_minor: u64,
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

    pub(super) fn doubt(&self) {
        self.is_doubtful.store(true, Ordering::Relaxed);
    }

    /// The members that the payment must show in the end; None when nothing was done to it, or when that is unknown.
    fn expected(&self) -> Option<ExpectedPayment> {
        let captured_minor = self.captured_minor.load(Ordering::Relaxed);
        let refunded_minor = self.refunded_minor.load(Ordering::Relaxed);
        let expected = |status, captured_minor| Some(ExpectedPayment { status, captured_minor, refunded_minor });
        match (self.is_doubtful.load(Ordering::Relaxed), self.is_voided.load(Ordering::Relaxed)) {
            (true, _) => None,
            (false, true) => expected("VOIDED", 0),
            (false, false) if captured_minor > 0 => expected("SUCCESSFUL", captured_minor),
            (false, false) if refunded_minor == INITIATED_MINOR => expected("REFUNDED", INITIATED_MINOR),
            (false, false) if refunded_minor > 0 => expected("PARTIALLY_REFUNDED", INITIATED_MINOR),
            (false, false) => None,
        }
    }
}

impl ExpectedPayment {
    /// The payment as it must be shown.
    const fn shown(&self) -> PaymentView<'static> {
        let ExpectedPayment { status, captured_minor, refunded_minor } = *self;
        PaymentView { status, amount_captured: captured_minor, amount_refunded: refunded_minor }
    }

    fn judge(&self, found: &PaymentView<'_>) -> PaymentCheck {
        let is_paid_back = found.amount_refunded == self.refunded_minor;
        match found.status {
            status if status == self.status => {
                let is_right = is_paid_back && found.amount_captured == self.captured_minor;
                if is_right { PaymentCheck::Right } else { PaymentCheck::Wrong }
            }
            // A capture or void is still under way. The sum of refunds is shown as soon as they are accepted.
            "AUTHORIZED" if self.refunded_minor == 0 => PaymentCheck::OnItsWay,
            "SUCCESSFUL" | "PARTIALLY_REFUNDED" if self.refunded_minor > 0 && is_paid_back => PaymentCheck::OnItsWay,
            _ => PaymentCheck::Wrong,
        }
    }
}

impl RunContext {
    /// Reads every payment with an acknowledged operation, and returns the faults of those that never show it.
    pub(crate) async fn unlike_acknowledged(&self) -> anyhow::Result<Vec<String>> {
        let payments = self.authorized.all.iter().chain(&self.captured.all);
        let expected = |payment: &PreparedPayment| payment.acknowledged.expected();
        let changed: Vec<(&PreparedPayment, ExpectedPayment)> =
            payments.filter_map(|payment| Some((payment, expected(payment)?))).collect();
        let read = async |lines: &mut Lines, index: usize| {
            let (payment, expected) = changed[index];
            let shop = &self.stock.shops[payment.shop];
            let seen = payment.read_until(shop, &mut lines.public, |found| expected.judge(found)).await?;
            let wrong = |found: String| format!("{}: expected {}, got {found}", payment.id, expected.shown());
            anyhow::Ok(seen.err().map(wrong))
        };
        let wrong: Vec<Option<String>> = self.stock.ends.each(changed.len(), AT_ONCE, read).await?;
        Ok(wrong.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(change: impl Fn(&Acknowledged)) -> Option<(&'static str, u64, u64)> {
        let acknowledged = Acknowledged::default();
        change(&acknowledged);
        acknowledged.expected().map(|expected| (expected.status, expected.captured_minor, expected.refunded_minor))
    }

    #[test]
    fn a_payment_shows_acknowledged_changes_unless_a_call_failed() {
        assert_eq!(expected(|_| {}), None);
        assert_eq!(expected(|payment| payment.captured(60)), Some(("SUCCESSFUL", 60, 0)));
        assert_eq!(expected(Acknowledged::voided), Some(("VOIDED", 0, 0)));
        assert_eq!(expected(|payment| payment.refunded(40)), Some(("PARTIALLY_REFUNDED", INITIATED_MINOR, 40)));
        let all = |payment: &Acknowledged| (0..2).for_each(|_| payment.refunded(INITIATED_MINOR / 2));
        assert_eq!(expected(all), Some(("REFUNDED", INITIATED_MINOR, INITIATED_MINOR)));
        let doubtful = |payment: &Acknowledged| {
            payment.refunded(40);
            payment.doubt();
        };
        assert_eq!(expected(doubtful), None);
    }

    #[test]
    fn a_wrong_status_is_wrong_unless_the_acquirer_may_still_answer() {
        let found = |status, amount_captured, amount_refunded| PaymentView { status, amount_captured, amount_refunded };
        let captured = ExpectedPayment { status: "SUCCESSFUL", captured_minor: 60, refunded_minor: 0 };
        assert_eq!(captured.judge(&found("SUCCESSFUL", 60, 0)), PaymentCheck::Right);
        assert_eq!(captured.judge(&found("AUTHORIZED", 0, 0)), PaymentCheck::OnItsWay);
        for other in [found("SUCCESSFUL", 100, 0), found("SUCCESSFUL", 60, 1), found("VOIDED", 0, 0)] {
            assert_eq!(captured.judge(&other), PaymentCheck::Wrong, "{other:?}");
        }
        let refunded = ExpectedPayment { status: "REFUNDED", captured_minor: 100, refunded_minor: 100 };
        assert_eq!(refunded.judge(&found("REFUNDED", 100, 100)), PaymentCheck::Right);
        assert_eq!(refunded.judge(&found("PARTIALLY_REFUNDED", 100, 100)), PaymentCheck::OnItsWay);
        for other in [found("PARTIALLY_REFUNDED", 100, 75), found("SUCCESSFUL", 100, 0), found("AUTHORIZED", 0, 0)] {
            assert_eq!(refunded.judge(&other), PaymentCheck::Wrong, "{other:?}");
        }
    }
}
