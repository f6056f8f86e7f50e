//! The reasons of failures: Stripe's words, and ours for them.

use till_domain::failure::{Failure, FailureCode};
use till_domain::text::AcquirerCode;

use super::api::ApiError;

/// The code of one of Stripe's words; none for a word that the list of codes has nothing for.
///
/// Source: Stripe's lists of decline codes and error codes.
fn code_of(word: &str) -> Option<FailureCode> {
    Some(match word {
        "card_declined" | "generic_decline" => FailureCode::CardDeclined,
        "insufficient_funds" => FailureCode::InsufficientFunds,
        "expired_card" => FailureCode::ExpiredCard,
        "incorrect_cvc" | "invalid_cvc" => FailureCode::IncorrectCvc,
        "processing_error" => FailureCode::ProcessingError,
        "authentication_required" | "payment_intent_authentication_failure" => FailureCode::AuthenticationFailed,
        "card_velocity_exceeded" | "withdrawal_count_limit_exceeded" => FailureCode::LimitExceeded,
        "incorrect_number" | "invalid_number" | "invalid_account" | "invalid_expiry_month" | "invalid_expiry_year" => {
            FailureCode::InvalidCard
        }
        "lost_card" | "stolen_card" | "pickup_card" | "restricted_card" => FailureCode::LostOrStolenCard,
        "fraudulent" | "merchant_blacklist" | "security_violation" | "highest_risk_level" => {
            FailureCode::SuspectedFraud
        }
        "card_not_supported" | "currency_not_supported" => FailureCode::CardNotSupported,
        "issuer_not_available" | "try_again_later" | "reenter_transaction" => FailureCode::IssuerNotAvailable,
        "amount_too_small" | "amount_too_large" => FailureCode::AmountNotAllowed,
        "charge_expired_for_capture" => FailureCode::AuthorizationExpired,
        // PromptPay: the payer's bank refused, or nobody paid in time.
        "payment_method_provider_decline" => FailureCode::PaymentDeclined,
        "payment_intent_payment_attempt_expired" => FailureCode::CustomerActionTimedOut,
        _ => return None,
    })
}

/// The failure of a request that Stripe refused as it was made.
pub(crate) fn request_failure(error: &ApiError) -> Failure {
    let beyond = if error.is_of_card() { FailureCode::CardDeclined } else { FailureCode::AcquirerRefusedRequest };
    failure_of(error, beyond)
}

/// A failure with Stripe's word for it, which is kept when it is printable and short enough.
pub(crate) fn with_word(code: FailureCode, word: Option<&str>) -> Failure {
    Failure { code, acquirer_code: word.and_then(|word| AcquirerCode::new(word).ok()) }
}

/// The failure that an error tells, or the one beyond the words that have a code. The issuer's word goes before the
/// general one.
pub(crate) fn failure_of(error: &ApiError, beyond: FailureCode) -> Failure {
    let words = || [error.decline_code.as_deref(), error.code.as_deref()].into_iter().flatten();
    with_word(words().find_map(code_of).unwrap_or(beyond), words().next())
}
