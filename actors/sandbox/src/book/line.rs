//! A line of the book.

use till_domain::command::AuthenticationResult;
use till_domain::failure::FailureCode;
use till_domain::ids::{MerchantId, PaymentId};
use till_domain::money::Money;
use till_domain::payment::CaptureMode;

use super::action::BookAction;

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
        /// The authentication of the card, once its result is known.
        authentication: Option<AuthenticationResult>,
        /// The action that the customer was asked for, if there was one.
        action: Option<Box<BookAction>>,
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
        declined: Option<FailureCode>,
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
    /// Cancel the action that an authorization waits for.
    CancelAction {
        /// The reference of the authorization, which need not be in the book.
        authorization: String,
        /// True when the money had been taken before.
        was_too_late: bool,
    },
    /// No request: a bill, by which the text of a QR code leads to its authorization.
    Bill {
        /// The reference of the authorization.
        authorization: String,
    },
    /// No request: the approval of an authorization whose action was canceled, which the sandbox reports by itself.
    LateApproval {
        /// The reference of the authorization.
        authorization: String,
        /// True when its money was given back, so that nothing is left to be reported.
        is_given_back: bool,
    },
}

/// The result of a payout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PayoutOutcome {
    /// It is pending until the operator ends it, and no money has moved.
    Pending,
    /// It was paid.
    Paid,
    /// It was declined.
    Declined(FailureCode),
}

impl BookOperation {
    /// The action of an authorization, if it has one.
    #[must_use]
    pub fn action(&self) -> Option<&BookAction> {
        match self {
            BookOperation::Authorize { action, .. } => action.as_deref(),
            BookOperation::FollowUp { .. }
            | BookOperation::TimedOut
            | BookOperation::PendingRefund { .. }
            | BookOperation::Payout(_)
            | BookOperation::CancelAction { .. }
            | BookOperation::Bill { .. }
            | BookOperation::LateApproval { .. } => None,
        }
    }

    /// The reference of the authorization that the line is about.
    #[must_use]
    pub fn authorization(&self) -> Option<&str> {
        match self {
            BookOperation::FollowUp { authorization, .. }
            | BookOperation::PendingRefund { authorization, .. }
            | BookOperation::CancelAction { authorization, .. }
            | BookOperation::Bill { authorization }
            | BookOperation::LateApproval { authorization, .. } => Some(authorization),
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
    /// A transfer that a PromptPay QR code asks for.
    PromptPay,
    /// A confirmation at the customer's bank.
    MobileBanking,
}

/// The result of an authorization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthorizeOutcome {
    /// The money was reserved.
    Approved(AuthorizationState),
    /// It was declined.
    Declined(FailureCode),
    /// It waits for its customer, or for the result of the customer's action.
    Waiting,
    /// Its action was canceled before the customer took it.
    Canceled,
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
