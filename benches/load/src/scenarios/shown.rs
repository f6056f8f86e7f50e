//! Checks that the server shows what it acknowledged: each captured, voided, refunded or declined payment is read
//! again, and each that its customer has completed.

use std::sync::PoisonError;

use super::acknowledged::PaymentView;
use super::payments::{PaymentCheck, PreparedPayment};
use super::prepare::Lines;
use super::world::RunContext;

/// Payments that are read at the same time.
const AT_ONCE: usize = 64;

/// Compares a payment as it is shown with what it must show.
fn judge(expected: &PaymentView<'_>, found: &PaymentView<'_>) -> PaymentCheck {
    let is_paid_back = found.amount_refunded == expected.amount_refunded;
    match found.status {
        _ if found == expected => PaymentCheck::Right,
        // A capture or void is still under way. The sum of refunds is shown as soon as they are accepted.
        "AUTHORIZED" if expected.amount_refunded == 0 => PaymentCheck::OnItsWay,
        "PENDING" if expected.status == "FAILED" => PaymentCheck::OnItsWay,
        status if status == expected.status => PaymentCheck::Wrong,
        "SUCCESSFUL" | "PARTIALLY_REFUNDED" if expected.amount_refunded > 0 && is_paid_back => PaymentCheck::OnItsWay,
        _ => PaymentCheck::Wrong,
    }
}

impl RunContext {
    /// Reads every payment with an acknowledged operation, and returns the faults of those that never show it.
    pub(crate) async fn unlike_acknowledged(&self) -> anyhow::Result<Vec<String>> {
        let ended = std::mem::take(&mut *self.ended.lock().unwrap_or_else(PoisonError::into_inner));
        let payments = self.authorized.all.iter().chain(&self.captured.all).chain(&ended);
        let expected = |payment: &PreparedPayment| payment.acknowledged.expected();
        let changed: Vec<(&PreparedPayment, PaymentView<'_>)> =
            payments.filter_map(|payment| Some((payment, expected(payment)?))).collect();
        let read = async |lines: &mut Lines, index: usize| {
            let (payment, expected) = changed[index];
            let shop = &self.stock.shops[payment.shop];
            let seen = payment.read_until(shop, &mut lines.public, |found| judge(&expected, found)).await?;
            let wrong = |found: String| format!("{}: expected {}, got {found}", payment.id, expected);
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
        let captured = found("SUCCESSFUL", 60, 0);
        assert_eq!(judge(&captured, &found("SUCCESSFUL", 60, 0)), PaymentCheck::Right);
        assert_eq!(judge(&captured, &found("AUTHORIZED", 0, 0)), PaymentCheck::OnItsWay);
        for other in [found("SUCCESSFUL", 100, 0), found("SUCCESSFUL", 60, 1), found("VOIDED", 0, 0)] {
            assert_eq!(judge(&captured, &other), PaymentCheck::Wrong, "{other:?}");
        }
        let declined = found("FAILED", 0, 0);
        assert_eq!(judge(&declined, &found("PENDING", 0, 0)), PaymentCheck::OnItsWay);
        assert_eq!(judge(&declined, &found("SUCCESSFUL", 100, 0)), PaymentCheck::Wrong);
        let refunded = found("REFUNDED", 100, 100);
        assert_eq!(judge(&refunded, &found("REFUNDED", 100, 100)), PaymentCheck::Right);
        assert_eq!(judge(&refunded, &found("PARTIALLY_REFUNDED", 100, 100)), PaymentCheck::OnItsWay);
        for other in [found("PARTIALLY_REFUNDED", 100, 75), found("SUCCESSFUL", 100, 0), found("AUTHORIZED", 0, 0)] {
            assert_eq!(judge(&refunded, &other), PaymentCheck::Wrong, "{other:?}");
        }
    }
}
