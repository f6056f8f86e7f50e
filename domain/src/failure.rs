//! The reasons for which payments, their operations, refunds and payouts fail. The list is closed: the word of an
//! acquirer that has no code here is [`FailureCode::CardDeclined`].

use crate::text::AcquirerCode;

/// The reason for which something failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The code that programs branch on.
    pub code: FailureCode,
    /// The acquirer's own word for it, if it has told one.
    pub acquirer_code: Option<AcquirerCode>,
}

impl From<FailureCode> for Failure {
    fn from(code: FailureCode) -> Failure {
        Failure { code, acquirer_code: None }
    }
}

word_enum! {
    /// The code of a failure, and the sentence that merchants read. Renaming one breaks the API. Shops show the
    /// sentence, so it does not tell what the customer must not learn.
    pub enum FailureCode: name, message {
        /// The issuer declined without saying why.
        CardDeclined => "card_declined" | "The card was declined.",
        /// There is not enough money.
        InsufficientFunds => "insufficient_funds" | "The card has insufficient funds.",
        /// The card has expired.
        ExpiredCard => "expired_card" | "The card has expired.",
        /// The security code is wrong.
        IncorrectCvc => "incorrect_cvc" | "The card's security code is incorrect.",
        /// The issuer or the acquirer could not process it.
        ProcessingError => "processing_error" | "An error occurred while the card was processed. Try again.",
        /// The bank or the wallet declined.
        PaymentDeclined => "payment_declined" | "The customer's bank or wallet declined the payment.",
        /// The method of payment does not work.
        MethodUnavailable => "method_unavailable" | "The payment method is not available at the moment.",
        /// The holder failed the issuer's challenge.
        AuthenticationFailed => "authentication_failed" | "The card's holder was not authenticated.",
        /// The issuer refused without a challenge.
        AuthenticationRejected => "authentication_rejected" | "The card's issuer refused the authentication.",
        /// The issuer cannot authenticate.
        AuthenticationUnavailable => "authentication_unavailable" | "The card's holder cannot be authenticated.",
        /// The customer gave up, in the shop or at the issuer, the bank or the wallet.
        CanceledByCustomer => "canceled_by_customer" | "The customer canceled the payment.",
        /// The customer did not act before the deadline.
        CustomerActionTimedOut => "customer_action_timed_out" | "The customer did not act in time.",
        /// The vault has no number of the card any more.
        CardNotAvailable => "card_not_available"
            | "The card's number is no longer stored. Tokenize the card again.",
        /// The acquirer has no approved authorization of this merchant's payment under the reference.
        UnknownAuthorization => "unknown_authorization"
            | "There is no approved authorization of this payment under the reference.",
        /// The authorization was captured.
        AlreadyCaptured => "already_captured" | "The authorization was captured already.",
        /// The authorization was voided.
        AlreadyVoided => "already_voided" | "The authorization was voided already.",
        /// Nothing was captured.
        NotCaptured => "not_captured" | "The authorization was not captured.",
        /// The amount is too large, or not all of it in a void, or in another currency.
        WrongAmount => "wrong_amount" | "The authorization does not permit this amount.",
        /// The issuer refused the capture.
        CaptureFailed => "capture_failed" | "The card's issuer refused the capture.",
        /// The issuer refused the refund.
        RefundFailed => "refund_failed" | "The card's issuer refused the refund.",
        /// The bank refused the payout.
        PayoutFailed => "payout_failed" | "The bank refused the payout.",
        /// The card has a limit of amounts or of payments in a time.
        LimitExceeded => "limit_exceeded" | "The payment exceeds a limit of the card.",
        /// The number or the expiration date is none of the issuer's.
        InvalidCard => "invalid_card" | "The card's number or expiration date is invalid.",
        /// The card is reported lost or stolen, or is restricted. Customers read that it was declined.
        LostOrStolenCard => "lost_or_stolen_card" | "The card was declined.",
        /// The acquirer or the issuer suspects fraud. Customers read that it was declined.
        SuspectedFraud => "suspected_fraud" | "The card was declined.",
        /// The card cannot pay in this way, or in this currency.
        CardNotSupported => "card_not_supported" | "The card does not support this kind of payment or its currency.",
        /// The issuer did not answer the acquirer.
        IssuerNotAvailable => "issuer_not_available" | "The card's issuer cannot be reached at the moment. Try again.",
        /// The acquirer takes no payment of so little or so much.
        AmountNotAllowed => "amount_not_allowed" | "The acquirer takes no payment of this amount.",
        /// The authorization lapsed at the acquirer.
        AuthorizationExpired => "authorization_expired" | "The authorization has lapsed.",
        /// The acquirer could not be asked in time.
        AcquirerNotAvailable => "acquirer_not_available" | "The acquirer is not available at the moment.",
        /// The acquirer does not accept the secret of the merchant's account.
        AcquirerRefusedCredentials => "acquirer_refused_credentials"
            | "The acquirer refused the credentials of the merchant's account.",
        /// The acquirer takes no card numbers from servers for the merchant's account.
        AcquirerRefusedCardNumbers => "acquirer_refused_card_numbers"
            | "The acquirer takes no card numbers for the merchant's account.",
        /// The acquirer refused the request itself.
        AcquirerRefusedRequest => "acquirer_refused_request" | "The acquirer refused the request as it was made.",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_is_its_own_and_has_a_sentence() {
        let codes: BTreeSet<_> = FailureCode::ALL.into_iter().map(FailureCode::name).collect();
        assert_eq!(codes.len(), FailureCode::ALL.len());
        for code in FailureCode::ALL {
            assert!(code.message().contains(' ') && code.message().ends_with('.'), "{code:?}");
        }
    }

    #[test]
    fn what_customers_must_not_learn_is_in_no_sentence() {
        let declined = FailureCode::CardDeclined.message();
        for code in [FailureCode::LostOrStolenCard, FailureCode::SuspectedFraud] {
            assert_eq!(code.message(), declined, "{code:?}");
        }
    }
}
