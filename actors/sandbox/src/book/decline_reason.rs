//! The reasons why the sandbox declines.

use till_domain::payment::Failure;

till_domain::word_enum! {
    /// The reason why the sandbox declined a request, with the code and the message that merchants see.
    pub enum DeclineReason: code, message {
        /// The issuer declined without saying why.
        CardDeclined => "card_declined" | "The card was declined.",
        /// There is not enough money.
        InsufficientFunds => "insufficient_funds" | "The card has insufficient funds.",
        /// The card has expired.
        ExpiredCard => "expired_card" | "The card has expired.",
        /// The security code is wrong.
        IncorrectCvc => "incorrect_cvc" | "The card's security code is incorrect.",
        /// The acquirer failed.
        ProcessingError => "processing_error" | "An error occurred while the card was processed. Try again.",
        /// There is no approved authorization of this merchant's payment under the reference.
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
        /// The holder failed the issuer's challenge.
        AuthenticationFailed => "authentication_failed" | "The card's holder was not authenticated.",
        /// The issuer refused without a challenge.
        AuthenticationRejected => "authentication_rejected" | "The card's issuer refused the authentication.",
        /// The issuer cannot authenticate.
        AuthenticationUnavailable => "authentication_unavailable" | "The card's holder cannot be authenticated.",
        /// The customer left the page of the issuer, the bank or the wallet by its button.
        CanceledByCustomer => "canceled_by_customer" | "The customer canceled the payment.",
        /// The bank or the wallet declined.
        PaymentDeclined => "payment_declined" | "The customer's bank or wallet declined the payment.",
        /// The method of payment does not work.
        MethodUnavailable => "method_unavailable" | "The payment method is not available at the moment.",
        /// The action was canceled by the caller.
        ActionCanceled => "action_canceled" | "The action was canceled before the customer took it.",
    }
}

impl DeclineReason {
    /// The reason as merchants see it.
    pub(crate) fn failure(self) -> Failure {
        Failure { code: self.code().to_owned(), message: self.message().to_owned() }
    }

    /// The reason with this code.
    #[must_use]
    pub fn of_code(code: &str) -> Option<DeclineReason> {
        DeclineReason::ALL.into_iter().find(|reason| reason.code() == code)
    }
}
