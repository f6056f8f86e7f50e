//! Checks that the server shows what it acknowledged: each captured, voided, refunded or declined payment is read again.

use super::acknowledged::ExpectedPayment;
use super::payments::{PaymentCheck, PaymentView, PreparedPayment};
use super::prepare::Lines;
use super::world::RunContext;

/// Payments that are read at the same time.
const AT_ONCE: usize = 64;

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
            "PENDING" if self.status == "FAILED" => PaymentCheck::OnItsWay,
            "SUCCESSFUL" | "PARTIALLY_REFUNDED" if self.refunded_minor > 0 && is_paid_back => PaymentCheck::OnItsWay,
            _ => PaymentCheck::Wrong,
        }
    }
}

impl RunContext {
    /// Reads every payment with an acknowledged operation, and returns the faults of those that never show it.
    pub(crate) async fn unlike_acknowledged(&self) -> anyhow::Result<Vec<String>> {
        let declined = self.declined.lock().map(|mut declined| std::mem::take(&mut *declined)).unwrap_or_default();
        let payments = self.authorized.all.iter().chain(&self.captured.all).chain(&declined);
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

    #[test]
    fn a_wrong_status_is_wrong_unless_the_acquirer_may_still_answer() {
        let found = |status, amount_captured, amount_refunded| PaymentView { status, amount_captured, amount_refunded };
        let captured = ExpectedPayment { status: "SUCCESSFUL", captured_minor: 60, refunded_minor: 0 };
        assert_eq!(captured.judge(&found("SUCCESSFUL", 60, 0)), PaymentCheck::Right);
        assert_eq!(captured.judge(&found("AUTHORIZED", 0, 0)), PaymentCheck::OnItsWay);
        for other in [found("SUCCESSFUL", 100, 0), found("SUCCESSFUL", 60, 1), found("VOIDED", 0, 0)] {
            assert_eq!(captured.judge(&other), PaymentCheck::Wrong, "{other:?}");
        }
        let declined = ExpectedPayment { status: "FAILED", captured_minor: 0, refunded_minor: 0 };
        assert_eq!(declined.judge(&found("PENDING", 0, 0)), PaymentCheck::OnItsWay);
        assert_eq!(declined.judge(&found("SUCCESSFUL", 100, 0)), PaymentCheck::Wrong);
        let refunded = ExpectedPayment { status: "REFUNDED", captured_minor: 100, refunded_minor: 100 };
        assert_eq!(refunded.judge(&found("REFUNDED", 100, 100)), PaymentCheck::Right);
        assert_eq!(refunded.judge(&found("PARTIALLY_REFUNDED", 100, 100)), PaymentCheck::OnItsWay);
        for other in [found("PARTIALLY_REFUNDED", 100, 75), found("SUCCESSFUL", 100, 0), found("AUTHORIZED", 0, 0)] {
            assert_eq!(refunded.judge(&other), PaymentCheck::Wrong, "{other:?}");
        }
    }
}
