//! Why a payment failed, in words for its customer. An acquirer's own message is never shown.

use till_domain::failure::FailureCode;

use super::message::Message;
use super::words::Words;

/// A failure as a page tells it.
pub(super) struct ExplainedFailure {
    pub(super) code: FailureCode,
    pub(super) words: String,
    /// True when the payment ended because the customer wanted or let it, so that nothing is wrong.
    pub(super) is_customers_own: bool,
    /// True when the customer gave the payment up, in which nothing failed.
    pub(super) is_given_up: bool,
}

impl ExplainedFailure {
    /// The failure with this code.
    pub(super) fn of(code: FailureCode, words: Words) -> ExplainedFailure {
        let is_given_up = code == FailureCode::CanceledByCustomer;
        let is_customers_own = is_given_up || code == FailureCode::CustomerActionTimedOut;
        ExplainedFailure { code, words: words.text(explanation(code)), is_customers_own, is_given_up }
    }
}

/// The explanation of a failure code.
pub(super) const fn explanation(code: FailureCode) -> Message {
    match code {
        FailureCode::InsufficientFunds => Message::FailedInsufficientFunds,
        FailureCode::ExpiredCard => Message::FailedExpiredCard,
        FailureCode::IncorrectCvc => Message::FailedIncorrectCode,
        FailureCode::InvalidCard => Message::FailedInvalidCard,
        FailureCode::LimitExceeded => Message::FailedLimit,
        FailureCode::CardNotSupported => Message::FailedCardNotSupported,
        FailureCode::AmountNotAllowed => Message::FailedAmount,
        FailureCode::CanceledByCustomer => Message::FailedCanceled,
        FailureCode::CustomerActionTimedOut => Message::FailedTimedOut,
        FailureCode::AuthenticationFailed => Message::FailedNotConfirmed,
        FailureCode::MethodUnavailable
        | FailureCode::IssuerNotAvailable
        | FailureCode::AcquirerNotAvailable
        | FailureCode::AcquirerRefusedCredentials
        | FailureCode::AcquirerRefusedCardNumbers
        | FailureCode::AcquirerRefusedRequest => Message::FailedUnavailable,
        FailureCode::CardDeclined
        | FailureCode::ProcessingError
        | FailureCode::PaymentDeclined
        | FailureCode::AuthenticationRejected
        | FailureCode::AuthenticationUnavailable
        | FailureCode::CardNotAvailable
        | FailureCode::UnknownAuthorization
        | FailureCode::AlreadyCaptured
        | FailureCode::AlreadyVoided
        | FailureCode::NotCaptured
        | FailureCode::WrongAmount
        | FailureCode::CaptureFailed
        | FailureCode::RefundFailed
        | FailureCode::PayoutFailed
        | FailureCode::LostOrStolenCard
        | FailureCode::SuspectedFraud
        | FailureCode::AuthorizationExpired => Message::FailedDeclined,
    }
}

#[cfg(test)]
mod tests {
    use super::super::locale::Locale;
    use super::*;

    const DOCUMENT: &str = include_str!("../../../docs/errors.md");

    /// The codes of calls that no customer waits for.
    const WITHOUT_CUSTOMER: [FailureCode; 3] =
        [FailureCode::RefundFailed, FailureCode::PayoutFailed, FailureCode::AuthorizationExpired];

    #[test]
    fn the_document_has_each_code_with_its_sentence_and_what_the_page_says() {
        for code in FailureCode::ALL {
            let said = Words::of(Locale::English).text(explanation(code));
            let said = if WITHOUT_CUSTOMER.contains(&code) { "" } else { said.as_str() };
            let row = format!("\n| `{}` | {} | {said} |", code.name(), code.message()).replace("|  |", "| |");
            assert!(DOCUMENT.contains(&row), "{row}");
        }
    }

    #[test]
    fn customers_are_not_told_of_stolen_cards_or_of_a_suspicion() {
        for code in [FailureCode::LostOrStolenCard, FailureCode::SuspectedFraud] {
            assert_eq!(explanation(code), explanation(FailureCode::CardDeclined), "{code:?}");
        }
    }

    #[test]
    fn the_acquirers_trouble_is_no_decline() {
        for code in FailureCode::ALL.into_iter().filter(|code| code.name().starts_with("acquirer_")) {
            assert_eq!(explanation(code), Message::FailedUnavailable, "{code:?}");
        }
    }

    #[test]
    fn what_was_left_alone_is_the_customers_own() {
        let of = |code| ExplainedFailure::of(code, Words::of(Locale::English));
        assert!(of(FailureCode::CustomerActionTimedOut).is_customers_own);
        assert!(!of(FailureCode::AuthenticationFailed).is_customers_own);
    }

    #[test]
    fn one_who_gives_up_has_not_failed() {
        for code in FailureCode::ALL {
            let failure = ExplainedFailure::of(code, Words::of(Locale::English));
            assert_eq!(failure.is_given_up, code == FailureCode::CanceledByCustomer, "{code:?}");
        }
    }
}
