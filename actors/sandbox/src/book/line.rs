//! A line of the book.

use till_domain::ids::{MerchantId, PaymentId};
use till_domain::money::Money;
use till_domain::payment::{CaptureMode, Failure};

/// A request to the sandbox under one reference, and its result. A line is never deleted; the line of an authorization
/// changes with later requests for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookLine {
    /// The caller's reference: 1 to 255 bytes, the line's key.
    pub reference: String,
    /// The merchant that it is for.
    pub merchant: MerchantId,
    /// The payment that it is for; none of a payout, whose reference names it.
    pub payment: Option<PaymentId>,
    /// The amount of the request to authorize, capture, void, refund or pay out.
    pub money: Money,
    /// The time of the first request, by the acquirer's clock, in milliseconds since the Unix epoch.
    pub asked_at_ms: u64,
    /// The request and its result.
    pub operation: BookOperation,
}

/// A request and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BookOperation {
    /// Authorize a payment.
    Authorize {
        /// The means of payment.
        instrument: BookInstrument,
        /// Automatic when it is to be captured at once.
        capture: CaptureMode,
        /// The result.
        outcome: AuthorizeOutcome,
    },
    /// Change an authorization.
    FollowUp {
        /// The change.
        what: FollowUp,
        /// The reference of the authorization, which need not be in the book.
        authorization: String,
        /// The reason why it was not done; none when it was.
        declined: Option<DeclineReason>,
    },
    /// Any request that got no answer and was not carried out. When it is repeated, it is carried out.
    TimedOut,
    /// Refund: it is pending, and no money has moved. Once it has ended, the line is that of a follow-up.
    PendingRefund {
        /// The reference of the authorization.
        authorization: String,
        /// The time at which it fails, by the sandbox's clock in milliseconds since the Unix epoch; none when the
        /// operator ends it.
        fails_at_ms: Option<u64>,
    },
    /// Pay a payout.
    Payout(PayoutOutcome),
}

/// The result of a payout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PayoutOutcome {
    /// It is pending until the operator ends it, and no money has moved.
    Pending,
    /// It was paid.
    Paid,
    /// It was declined.
    Declined(DeclineReason),
}

impl BookOperation {
    /// The reference of the authorization that the request is about.
    #[must_use]
    pub fn authorization(&self) -> Option<&str> {
        match self {
            BookOperation::FollowUp { authorization, .. } | BookOperation::PendingRefund { authorization, .. } => {
                Some(authorization)
            }
            BookOperation::Authorize { .. } | BookOperation::TimedOut | BookOperation::Payout(_) => None,
        }
    }
}

/// A change of an authorization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FollowUp {
    /// Take the money, or a part and release the rest.
    Capture,
    /// Release all of it.
    Void,
    /// Give captured money back, or a part.
    Refund,
}

/// The means of payment. Of a card, only the digits that may be shown anywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BookInstrument {
    /// A card.
    Card {
        /// Its first six digits, in ASCII.
        first_six: [u8; 6],
        /// Its last four digits, in ASCII.
        last_four: [u8; 4],
    },
    /// Instalments.
    Installment {
        /// The id of the plan: at most 255 bytes.
        plan: String,
    },
}

/// The result of an authorization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthorizeOutcome {
    /// The money was reserved.
    Approved(AuthorizationState),
    /// It was declined.
    Declined(DeclineReason),
}

/// The changes to an approved authorization so far, in minor units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AuthorizationState {
    /// True when captured money is available at once.
    pub settles_at_once: bool,
    /// Captured: nothing or once, at most the authorized amount.
    pub captured_minor: u64,
    /// Voided: nothing or the authorized amount.
    pub voided_minor: u64,
    /// Refunded in all: at most the captured amount.
    pub refunded_minor: u64,
}

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
        /// The issuer wants its customer authenticated.
        AuthenticationRequired => "authentication_required" | "The card requires its holder to be authenticated.",
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
