//! Why a payment failed, in words for its customer. An acquirer's own message is never shown.

use super::message::Message;

/// The explanation of a failure code.
pub(super) fn explanation(failure_code: &str) -> Message {
    match failure_code {
        "insufficient_funds" => Message::FailedInsufficientFunds,
        "expired_card" => Message::FailedExpiredCard,
        "incorrect_cvc" => Message::FailedIncorrectCode,
        "incorrect_number" | "invalid_number" => Message::FailedIncorrectNumber,
        "canceled_by_customer" => Message::FailedCanceled,
        "customer_action_timed_out" => Message::FailedTimedOut,
        _ => Message::FailedDeclined,
    }
}

/// True when the payment ended because the customer wanted or let it, so that nothing is wrong.
pub(super) fn is_customers_own(failure_code: &str) -> bool {
    matches!(explanation(failure_code), Message::FailedCanceled | Message::FailedTimedOut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_failure_is_a_decline_of_the_bank() {
        for code in ["card_declined", "authentication_failed", "method_unavailable", "", "<b>"] {
            assert_eq!(explanation(code), Message::FailedDeclined, "{code}");
            assert!(!is_customers_own(code), "{code}");
        }
        assert_eq!(explanation("insufficient_funds"), Message::FailedInsufficientFunds);
        assert!(is_customers_own("canceled_by_customer") && is_customers_own("customer_action_timed_out"));
    }
}
