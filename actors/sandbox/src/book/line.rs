//! A line of the book.

use till_domain::ids::{MerchantId, PaymentId};
use till_domain::money::Money;
use till_domain::payment::CaptureMode;

/// What the sandbox was asked under one reference, and what it did. A line is never deleted; that of an
/// authorization changes with what is done to the authorization later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookLine {
    /// The caller's reference: 1 to 255 bytes, the line's key.
    pub reference: String,
    /// For which merchant.
    pub merchant: MerchantId,
    /// For which payment; none of a payout, whose reference names it.
    pub payment: Option<PaymentId>,
    /// The amount that it was asked to authorize, capture, give up, refund or pay out.
    pub money: Money,
    /// When it was first asked, by its own clock, in milliseconds since the Unix epoch.
    pub asked_at_ms: u64,
    /// What it was asked, and what came of it.
    pub deed: Deed,
}

/// What was asked, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// To authorize a payment.
    Authorize {
        /// With what it is paid.
        instrument: BookInstrument,
        /// Whether to capture it at once.
        capture: CaptureMode,
        /// What came of it.
        outcome: AuthorizeOutcome,
    },
    /// To do something to an authorization.
    FollowUp {
        /// What.
        what: FollowUp,
        /// The reference under which it was authorized, which need not be in the book.
        authorization: String,
        /// Why it was not done; nothing when it was.
        declined: Option<DeclineReason>,
    },
    /// Anything, by a call that got no answer and was not carried out. Asked again, it is.
    TimedOut,
    /// To refund: it is pending, and no money has moved. Once it has ended, the line is that of a follow-up.
    PendingRefund {
        /// The reference under which it was authorized.
        authorization: String,
        /// When it fails, by the sandbox's clock in milliseconds since the Unix epoch; nothing when the operator ends it.
        fails_at_ms: Option<u64>,
    },
    /// To pay a payout.
    Payout(PayoutOutcome),
}

/// The end of a payout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PayoutOutcome {
    /// It is pending until the operator ends it, and no money has moved.
    Pending,
    /// It was paid.
    Paid,
    /// It was not.
    Declined(DeclineReason),
}

impl Deed {
    /// The reference of the authorization that something was asked of.
    #[must_use]
    pub fn authorization(&self) -> Option<&str> {
        match self {
            Deed::FollowUp { authorization, .. } | Deed::PendingRefund { authorization, .. } => Some(authorization),
            Deed::Authorize { .. } | Deed::TimedOut | Deed::Payout(_) => None,
        }
    }
}

/// What can be done to an authorization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FollowUp {
    /// Take the money, or a part and release the rest.
    Capture,
    /// Release all of it.
    Void,
    /// Give captured money back, or a part.
    Refund,
}

/// With what a payment is paid. Of a card, no more than may be shown anywhere.
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

/// What came of an authorization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthorizeOutcome {
    /// The money was set aside.
    Approved(Standing),
    /// It was not.
    Declined(DeclineReason),
}

/// What has been done to an approved authorization so far, in minor units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing {
    /// Whether captured money is there at once.
    pub settles_at_once: bool,
    /// Captured: nothing or once, at most the authorized amount.
    pub captured_minor: u64,
    /// Given up: nothing or the authorized amount.
    pub voided_minor: u64,
    /// Refunded in all: at most what was captured.
    pub refunded_minor: u64,
}

/// Why the sandbox did not do what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeclineReason {
    /// The issuer declined without saying why.
    CardDeclined,
    /// There is not enough money.
    InsufficientFunds,
    /// The card is no longer good.
    ExpiredCard,
    /// The security code is wrong.
    IncorrectCvc,
    /// The acquirer failed.
    ProcessingError,
    /// The issuer wants its customer authenticated.
    AuthenticationRequired,
    /// No approved authorization of this merchant's payment stands under the reference.
    UnknownAuthorization,
    /// The authorization was captured.
    AlreadyCaptured,
    /// The authorization was given up.
    AlreadyVoided,
    /// Nothing was captured.
    NotCaptured,
    /// More than there is, in a void not all of it, or another currency.
    WrongAmount,
    /// The issuer refused the capture.
    CaptureFailed,
    /// The issuer refused the refund.
    RefundFailed,
    /// The bank refused the payout.
    PayoutFailed,
}

impl DeclineReason {
    /// Every reason.
    pub const ALL: [DeclineReason; 14] = [
        DeclineReason::CardDeclined,
        DeclineReason::InsufficientFunds,
        DeclineReason::ExpiredCard,
        DeclineReason::IncorrectCvc,
        DeclineReason::ProcessingError,
        DeclineReason::AuthenticationRequired,
        DeclineReason::UnknownAuthorization,
        DeclineReason::AlreadyCaptured,
        DeclineReason::AlreadyVoided,
        DeclineReason::NotCaptured,
        DeclineReason::WrongAmount,
        DeclineReason::CaptureFailed,
        DeclineReason::RefundFailed,
        DeclineReason::PayoutFailed,
    ];

    /// The word for it, as merchants see it.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            DeclineReason::CardDeclined => "card_declined",
            DeclineReason::InsufficientFunds => "insufficient_funds",
            DeclineReason::ExpiredCard => "expired_card",
            DeclineReason::IncorrectCvc => "incorrect_cvc",
            DeclineReason::ProcessingError => "processing_error",
            DeclineReason::AuthenticationRequired => "authentication_required",
            DeclineReason::UnknownAuthorization => "unknown_authorization",
            DeclineReason::AlreadyCaptured => "already_captured",
            DeclineReason::AlreadyVoided => "already_voided",
            DeclineReason::NotCaptured => "not_captured",
            DeclineReason::WrongAmount => "wrong_amount",
            DeclineReason::CaptureFailed => "capture_failed",
            DeclineReason::RefundFailed => "refund_failed",
            DeclineReason::PayoutFailed => "payout_failed",
        }
    }

    /// The reason that a word stands for.
    #[must_use]
    pub fn of_code(code: &str) -> Option<DeclineReason> {
        DeclineReason::ALL.into_iter().find(|reason| reason.code() == code)
    }
}
