//! Why a payment failed, in words for its customer. An acquirer's own message is never shown.

use till_domain::merchant::PaymentMethod;

use super::message::Message;

/// The code of a challenge that the customer did not pass.
const NOT_AUTHENTICATED: &str = "authentication_failed";

/// The code by which a failure is explained: a challenge that was left alone is one that was not passed.
pub(super) fn explained_code(failure_code: &str, method: PaymentMethod) -> &str {
    match (failure_code, method) {
        ("customer_action_timed_out", PaymentMethod::Card) => NOT_AUTHENTICATED,
        (code, _) => code,
    }
}

/// The failure codes that have words of their own; one that ends in `_` stands for all that begin so, and the empty one
/// for all others.
pub(super) const EXPLAINED: [&str; 11] = [
    "insufficient_funds",
    "expired_card",
    "incorrect_cvc",
    "incorrect_number",
    "invalid_number",
    "canceled_by_customer",
    "customer_action_timed_out",
    NOT_AUTHENTICATED,
    "method_unavailable",
    "acquirer_",
    "",
];

/// The explanation of a failure code.
pub(super) fn explanation(failure_code: &str) -> Message {
    match failure_code {
        "insufficient_funds" => Message::FailedInsufficientFunds,
        "expired_card" => Message::FailedExpiredCard,
        "incorrect_cvc" => Message::FailedIncorrectCode,
        "incorrect_number" | "invalid_number" => Message::FailedIncorrectNumber,
        "canceled_by_customer" => Message::FailedCanceled,
        "customer_action_timed_out" => Message::FailedTimedOut,
        NOT_AUTHENTICATED => Message::FailedNotConfirmed,
        "method_unavailable" => Message::FailedUnavailable,
        code if code.starts_with("acquirer_") => Message::FailedUnavailable,
        _ => Message::FailedDeclined,
    }
}

/// True when the payment ended because the customer wanted or let it, so that nothing is wrong.
pub(super) fn is_customers_own(failure_code: &str) -> bool {
    matches!(explanation(failure_code), Message::FailedCanceled | Message::FailedTimedOut)
}

/// True unless the customer gave the payment up, in which nothing failed.
pub(super) fn is_failure(failure_code: &str) -> bool {
    explanation(failure_code) != Message::FailedCanceled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_code_has_words_of_its_own_but_the_last() {
        let (others, own) = EXPLAINED.split_last().expect("it is not empty");
        assert_eq!((*others, explanation(others)), ("", Message::FailedDeclined));
        assert!(own.iter().all(|code| explanation(code) != Message::FailedDeclined));
    }

    #[test]
    fn every_other_failure_is_a_decline_of_the_bank() {
        for code in ["card_declined", "authentication_rejected", "authentication_unavailable", "acquirer", "", "<b>"] {
            assert_eq!(explanation(code), Message::FailedDeclined, "{code}");
            assert!(!is_customers_own(code), "{code}");
        }
        assert_eq!(explanation("insufficient_funds"), Message::FailedInsufficientFunds);
        assert!(is_customers_own("canceled_by_customer") && is_customers_own("customer_action_timed_out"));
    }

    #[test]
    fn the_acquirers_trouble_is_no_decline() {
        for code in ["acquirer_unavailable", "acquirer_error", "method_unavailable"] {
            assert_eq!(explanation(code), Message::FailedUnavailable, "{code}");
        }
    }

    #[test]
    fn a_challenge_that_was_failed_or_left_was_not_confirmed() {
        let of = |code, method| explanation(explained_code(code, method));
        assert_eq!(of("authentication_failed", PaymentMethod::Card), Message::FailedNotConfirmed);
        assert_eq!(of("customer_action_timed_out", PaymentMethod::Card), Message::FailedNotConfirmed);
        for method in [PaymentMethod::PromptPay, PaymentMethod::MobileBanking] {
            assert_eq!(of("customer_action_timed_out", method), Message::FailedTimedOut);
        }
    }

    #[test]
    fn one_who_gives_up_has_not_failed() {
        assert!(!is_failure("canceled_by_customer"));
        assert!(is_failure("customer_action_timed_out") && is_failure("card_declined"));
    }
}
