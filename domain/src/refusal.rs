//! Refusals: the reasons for which a command takes no effect. Every refusal has one code.

use crate::dispute::DisputeStatus;
use crate::ids::{CardId, CustomerId, InvitationId, InvoiceId, PaymentId, PayoutId, RefundId, TopupId, UserId};
use crate::money::{Currency, Money};
use crate::payment::{OperationKind, PaymentStatus};
use crate::records::Unreadable;
use crate::session::InterestBearer;
use crate::time::Millis;
use crate::webhook::WebhookStatus;

/// The maximum number of arguments of one call that can be card numbers, including its Idempotency-Key.
pub const CARD_NUMBERS_MAX: usize = 5;

/// The reason for which a command is refused. It changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The key is not one of the merchant's live keys.
    #[error("The API key is not valid: it is unknown, has expired or was revoked. Use another key of the merchant.")]
    KeyNotLive,
    /// There is no such merchant.
    #[error("There is no merchant with this merchant_id. Check it: list-merchants of the operator shows all of them.")]
    MerchantNotFound,
    /// The merchant's calls that change something are refused.
    #[error(
        "The merchant is suspended: only calls that close a leak, such as revoke-key, change something. Lists and look-ups go on. Ask the operator to resume it."
    )]
    MerchantSuspended,
    /// The Idempotency-Key was used with another command.
    #[error("This Idempotency-Key was used with another body. Use a new key for a new call.")]
    IdempotencyKeyReused,
    /// No installation of the merchant has this id, or there is no such merchant, which a device is not told.
    #[error("There is no installation with this merchant_id and installation_id. Ask the operator for the right ones.")]
    InstallationNotFound,
    /// No webhook of the merchant has this id.
    #[error("No webhook of this merchant has this webhook_id. list-webhooks lists those that exist.")]
    WebhookNotFound,
    /// No event of the merchant has this id.
    #[error("No event of this merchant has this event_id. list-events shows those of the last 30 days.")]
    WebhookEventNotFound,
    /// Nothing is delivered to the webhook.
    #[error("The webhook is not connected, so that nothing is delivered to it. Call reconnect-webhook first.")]
    WebhookNotConnected {
        /// Its status.
        status: WebhookStatus,
    },
    /// An earlier order to deliver events to the webhook again has not ended.
    #[error(
        "Events are being delivered to this webhook again by an earlier call. Wait until that has ended, or call disconnect-webhook to end it."
    )]
    RedeliveryUnderWay,
    /// The webhook has the limit of replaced secrets that still sign.
    #[error(
        "{limit} replaced secrets of this webhook still sign, which is the maximum. Wait until the oldest one's 24 hours are over, or send end_previous: true, which ends them at once."
    )]
    TooManySecrets {
        /// The limit.
        limit: usize,
    },
    /// No key of the merchant has this id.
    #[error("No API key of this merchant has this key_id. The list of its keys shows those that exist.")]
    KeyNotFound,
    /// The key would end before it is made.
    #[error("must be in the future")]
    KeyEndPassed,
    /// The merchant has reached a limit.
    #[error("The merchant already has {limit} {kind}, which is the maximum. Use the existing ones.")]
    TooMany {
        /// The kind of object, in the plural.
        kind: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The currency is not the merchant's.
    #[error("is not the currency of the merchant's account: send {currency}")]
    CurrencyNotConfigured {
        /// The merchant's currency.
        currency: Currency,
    },
    /// No token that can be selected has this id.
    #[error("No card token has this id, or it has expired. Tokenize the card again.")]
    TokenNotFound,
    /// The single-use token is used up.
    #[error("The card token was for one use and is used up. Tokenize the card again.")]
    TokenAlreadyUsed,
    /// The payment method is not enabled.
    #[error(
        "The payment method is not enabled for this merchant. Offer another one, or ask the operator to enable it."
    )]
    MethodNotEnabled,
    /// No session that can be used has this id.
    #[error(
        "No active payment session has this id: it is unknown, has expired or was used. Have the customer select the payment method again."
    )]
    SessionNotActive {
        /// The merchant's payment that used it.
        payment_id: Option<PaymentId>,
    },
    /// The amount or the currency is not the session's.
    #[error("{} Send what the session has, or have the customer select the payment method again.", difference(.given, .session))]
    AmountMismatch {
        /// The amount and currency of the call.
        given: Money,
        /// The amount and currency of the session.
        session: Money,
    },
    /// The method's integrations cannot authorize without capture.
    #[error("The payment method does not support authorization without capture. Send capture: true.")]
    AuthorizationOnlyNotSupported,
    /// The session is of instalments and the bearer is not named.
    #[error("is required for an instalment session: send {}, as when the payment method was selected", .fixed.name())]
    InterestBearerMissing {
        /// The session's bearer.
        fixed: InterestBearer,
    },
    /// The bearer is not the session's.
    #[error("is not the one that was fixed when the payment method was selected: send {}", .fixed.name())]
    InterestBearerMismatch {
        /// The session's bearer.
        fixed: InterestBearer,
    },
    /// No customer of the merchant has this id.
    #[error(
        "No customer of this merchant has this customer_id. One that begins with ctc_ must exist: send the merchant's own identifier to have a customer created."
    )]
    CustomerNotFound,
    /// No customer of the merchant has this id, in a call of an endpoint about customers.
    #[error(
        "No customer of this merchant has this contact_id: neither as Till's id (ctc_...) nor as the merchant's own. E-mail addresses are not looked up here."
    )]
    ContactNotFound,
    /// An identifier, address or number belongs to another customer.
    #[error("Another customer of this merchant has this {argument}. Update that customer, or send another one.")]
    ContactTaken {
        /// The argument.
        argument: &'static str,
        /// The customer who has it.
        customer_id: CustomerId,
    },
    /// A card has this reference already.
    #[error("Another saved card of this merchant has this external_id. Send another one.")]
    CardExternalIdTaken {
        /// The card.
        card_id: CardId,
    },
    /// The saved card of this number has another reference.
    #[error("The customer has saved this card already, under another external_id. Send that one, or none.")]
    CardHasExternalId {
        /// The card.
        card_id: CardId,
    },
    /// The token is single-use, and its card cannot be saved.
    #[error("must be a token for several uses: have the card tokenized with usage MULTIPLE")]
    TokenForOneUse,
    /// A session with a saved card requires that its owner is named.
    #[error("The session uses a saved card: give customer_id, customer_email or customer_mobile of its owner.")]
    CustomerRequired,
    /// The named customer is not the card's owner.
    #[error(
        "The given customer does not own the session's saved card. Give customer_id, customer_email or customer_mobile of its owner, and of nobody else."
    )]
    CustomerMismatch,
    /// The session has no card, and none is named.
    #[error(
        "is required: the payment method was selected with neither a token nor a saved card. Send a saved card, or have the customer select again with a token"
    )]
    CardIdMissing,
    /// No live card of the customer has this id.
    #[error(
        "No saved card of this customer has this card_id. Send another one, or have the customer enter the card again."
    )]
    CardNotFound,
    /// A payment has this reference already.
    #[error(
        "Another payment of this merchant has this external_id. Look that payment up before you pay again; another attempt needs one of its own, such as order-1001-2."
    )]
    ExternalIdTaken {
        /// The payment.
        payment_id: PaymentId,
    },
    /// A top-up has this reference already.
    #[error(
        "Another top-up of this merchant has this external_id: it was added before. For a further one send another external_id."
    )]
    TopupExternalIdTaken {
        /// The top-up.
        topup_id: TopupId,
    },
    /// An invoice has this reference already.
    #[error(
        "Another invoice of this merchant has this external_id: it was charged before. For a further one send another external_id."
    )]
    InvoiceExternalIdTaken {
        /// The invoice.
        invoice_id: InvoiceId,
    },
    /// No payment of the merchant has this id.
    #[error("No payment of this merchant has this payment_id. Send the payment's id or the external_id it was given.")]
    PaymentNotFound,
    /// A refund has this reference already.
    #[error("Another refund of this merchant has this external_id. Look that refund up before you refund again.")]
    RefundExternalIdTaken {
        /// The refund.
        refund_id: RefundId,
    },
    /// No dispute of the merchant has this id.
    #[error("No dispute of this merchant has this dispute_id. list-disputes lists those that exist.")]
    DisputeNotFound,
    /// The dispute's status does not permit it.
    #[error("{}", dispute_not_permitted(*.status, *.has_evidence))]
    DisputeState {
        /// The status of the dispute.
        status: DisputeStatus,
        /// True when evidence is refused because it was given already.
        has_evidence: bool,
    },
    /// No refund of the merchant has this id.
    #[error(
        "No refund of this merchant has this refund_id: neither as Till's id (rfn_...) nor as the merchant's external_id. list-refunds lists those that exist."
    )]
    RefundNotFound,
    /// No payout of the merchant has this id.
    #[error(
        "No payout of this merchant has this payout_id: neither as Till's id (pyo_...) nor as the merchant's external_id. list-payouts lists those that exist."
    )]
    PayoutNotFound,
    /// The refund or payout waits for no answer any more.
    #[error("The {what} has ended already: it is {status}. There is nothing left to do.")]
    HasEnded {
        /// The kind of object.
        what: &'static str,
        /// Its status.
        status: &'static str,
    },
    /// A payout has this reference already.
    #[error("Another payout of this merchant has this external_id. Look that payout up before you pay out again.")]
    PayoutExternalIdTaken {
        /// The payout.
        payout_id: PayoutId,
    },
    /// The payment's status, or an operation that is open, does not permit it.
    #[error("{}", not_permitted("This cannot be done to the payment now", *.status, *.operation, advice(*.status)))]
    InvalidState {
        /// The status of the payment.
        status: PaymentStatus,
        /// The operation that the acquirer has not answered yet.
        operation: Option<OperationKind>,
    },
    /// The payment cannot be refunded.
    #[error("{}", not_permitted("The payment cannot be refunded now", *.status, *.operation, refund_advice(*.status)))]
    NotRefundable {
        /// The status of the payment.
        status: PaymentStatus,
        /// The operation that the acquirer has not answered yet.
        operation: Option<OperationKind>,
    },
    /// The amount is larger than the payment has.
    #[error("The amount is more than the payment has: at most {limit_minor} minor units. Send that much or less.")]
    AmountExceedsPayment {
        /// The amount that can be captured or refunded.
        limit_minor: u64,
    },
    /// The balance does not cover it.
    #[error(
        "The balance does not cover the amount: {available_minor} minor units are available. Send less, or wait until more has settled."
    )]
    InsufficientBalance {
        /// The available amount, in minor units.
        available_minor: i64,
    },
    /// Neither the available money nor the money on its way to the merchant covers the refund.
    #[error("{}", not_covered(*.available_minor, *.pending_minor, *.is_reversible))]
    RefundNotCovered {
        /// The available amount, in minor units.
        available_minor: i64,
        /// The pending amount, in minor units.
        pending_minor: i64,
        /// True when the payment can be reversed instead.
        is_reversible: bool,
    },
    /// No user of the team has this id.
    #[error("No user of this merchant has this user_id. The list of its users shows those that exist.")]
    UserNotFound,
    /// No invitation that can be accepted has this id.
    #[error("No invitation of this merchant has this invitation_id, or it has expired. Invite the user again.")]
    InvitationNotFound,
    /// The catalogue has no such plan.
    #[error("There is no plan with this plan_id. The list of plans shows those that exist.")]
    PlanNotFound,
    /// A user of the team has this address already.
    #[error("A user of this merchant has this e-mail address already. There is nothing left to do.")]
    AlreadyMember {
        /// The user.
        user_id: UserId,
    },
    /// An invitation of this address can still be accepted.
    #[error("This e-mail address is invited already. Ask the person to accept that invitation.")]
    AlreadyInvited {
        /// The invitation.
        invitation_id: InvitationId,
    },
    /// The invitation was accepted before.
    #[error("The invitation was accepted before. There is nothing left to do.")]
    InvitationAccepted {
        /// The user.
        user_id: UserId,
    },
    /// A total of the ledger would exceed its limit.
    #[error(
        "With this amount a total of the merchant's ledger would exceed 9007199254740991 minor units. Ask the operator."
    )]
    TotalTooLarge,
    /// The metadata record is not at the version that the caller names.
    #[error("is not the version of the metadata record, which is {current}")]
    VersionMismatch {
        /// The current version; 0 when there is none.
        current: u64,
    },
    /// The value at the path cannot be used as a set.
    #[error("leads to a value that is not an array, or through a value that is not an object")]
    NotASet,
    /// An identifier, or a value of metadata, is a card number as a whole, and the merchant's setting does not allow
    /// it.
    #[error(
        "is a card number, or has one as a value or key: cards are given to tokenize-card only. Where the merchant's own numbers look so, its operator sets card_numbers_in_identifiers"
    )]
    CardNumbersGiven {
        /// The arguments, in the first elements.
        arguments: [Option<&'static str>; CARD_NUMBERS_MAX],
    },
    /// The merchant has no test clock.
    #[error(
        "The merchant has no test clock: its time is the wall clock. Create a merchant with test_clock: true to test with."
    )]
    NoTestClock,
    /// A test clock would not advance.
    #[error("must be later than the merchant's time, which is {}", .now.unix_seconds())]
    ClockNotForward {
        /// The merchant's time.
        now: Millis,
    },
    /// A test clock would be advanced by too much at once.
    #[error("must be at most 400 days later than the merchant's time: send {} or less", .latest.unix_seconds())]
    ClockTooFar {
        /// The latest instant to which one call can advance it.
        latest: Millis,
    },
    /// The sets of the record would hold too many items.
    #[error("would make the record hold more than 1000000 items")]
    MetadataItemsExceeded,
    /// The record would be too large.
    #[error("would make the record larger than 67108864 bytes")]
    MetadataBytesExceeded,
    /// The part of the record that is not in sets would be too large.
    #[error("would make the record's objects and plain values larger than 4194304 bytes")]
    MetadataDocumentExceeded,
    /// The record would have too many sets.
    #[error("would give the record more than 10000 sets")]
    MetadataSetsExceeded,
}

impl Refusal {
    /// The code that clients branch on. Renaming one breaks the API.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Refusal::KeyNotLive => "UNAUTHORIZED",
            Refusal::MerchantSuspended => "MERCHANT_SUSPENDED",
            Refusal::IdempotencyKeyReused => "IDEMPOTENCY_KEY_REUSED",
            Refusal::MerchantNotFound
            | Refusal::InstallationNotFound
            | Refusal::WebhookNotFound
            | Refusal::WebhookEventNotFound
            | Refusal::KeyNotFound
            | Refusal::TokenNotFound
            | Refusal::SessionNotActive { .. }
            | Refusal::CustomerNotFound
            | Refusal::ContactNotFound
            | Refusal::CardNotFound
            | Refusal::PaymentNotFound
            | Refusal::RefundNotFound
            | Refusal::PayoutNotFound
            | Refusal::DisputeNotFound
            | Refusal::UserNotFound
            | Refusal::InvitationNotFound
            | Refusal::PlanNotFound => "NOT_FOUND",
            Refusal::TokenAlreadyUsed => "TOKEN_ALREADY_USED",
            Refusal::MethodNotEnabled | Refusal::AuthorizationOnlyNotSupported => "NOT_SUPPORTED",
            Refusal::TooMany { .. }
            | Refusal::TooManySecrets { .. }
            | Refusal::AmountMismatch { .. }
            | Refusal::ExternalIdTaken { .. }
            | Refusal::ContactTaken { .. }
            | Refusal::CardExternalIdTaken { .. }
            | Refusal::CardHasExternalId { .. }
            | Refusal::TopupExternalIdTaken { .. }
            | Refusal::RefundExternalIdTaken { .. }
            | Refusal::InvoiceExternalIdTaken { .. }
            | Refusal::PayoutExternalIdTaken { .. }
            | Refusal::AlreadyMember { .. }
            | Refusal::AlreadyInvited { .. }
            | Refusal::InvitationAccepted { .. } => "CONFLICT",
            Refusal::CurrencyNotConfigured { .. }
            | Refusal::KeyEndPassed
            | Refusal::TokenForOneUse
            | Refusal::InterestBearerMissing { .. }
            | Refusal::InterestBearerMismatch { .. }
            | Refusal::CardIdMissing
            | Refusal::VersionMismatch { .. }
            | Refusal::CardNumbersGiven { .. }
            | Refusal::ClockNotForward { .. }
            | Refusal::ClockTooFar { .. }
            | Refusal::NotASet
            | Refusal::MetadataItemsExceeded
            | Refusal::MetadataBytesExceeded
            | Refusal::MetadataDocumentExceeded
            | Refusal::MetadataSetsExceeded => "INVALID_ARGUMENTS",
            Refusal::CustomerRequired => "CUSTOMER_REQUIRED",
            Refusal::CustomerMismatch => "CUSTOMER_MISMATCH",
            Refusal::InvalidState { .. }
            | Refusal::DisputeState { .. }
            | Refusal::HasEnded { .. }
            | Refusal::WebhookNotConnected { .. }
            | Refusal::NoTestClock => "INVALID_STATE",
            Refusal::RedeliveryUnderWay => "RATE_LIMITED",
            Refusal::NotRefundable { .. } => "NOT_REFUNDABLE",
            Refusal::InsufficientBalance { .. } | Refusal::RefundNotCovered { .. } => "INSUFFICIENT_BALANCE",
            Refusal::TotalTooLarge | Refusal::AmountExceedsPayment { .. } => "AMOUNT_EXCEEDS_LIMIT",
        }
    }

    /// The argument at fault, of a refusal whose code is `INVALID_ARGUMENTS`, and the kind of fault.
    #[must_use]
    pub const fn argument(&self) -> Option<ArgumentFault> {
        match self {
            Refusal::CurrencyNotConfigured { .. } => Some(ArgumentFault { argument: "currency", missing: false }),
            Refusal::KeyEndPassed => Some(ArgumentFault { argument: "expires_at", missing: false }),
            Refusal::TokenForOneUse => Some(ArgumentFault { argument: "token", missing: false }),
            Refusal::InterestBearerMissing { .. } => Some(ArgumentFault { argument: "interest_bearer", missing: true }),
            Refusal::InterestBearerMismatch { .. } => {
                Some(ArgumentFault { argument: "interest_bearer", missing: false })
            }
            Refusal::CardIdMissing => Some(ArgumentFault { argument: "card_id", missing: true }),
            Refusal::CardNumbersGiven { arguments: [Some(argument), ..] } => {
                Some(ArgumentFault { argument, missing: false })
            }
            Refusal::ClockNotForward { .. } | Refusal::ClockTooFar { .. } => {
                Some(ArgumentFault { argument: "to", missing: false })
            }
            Refusal::VersionMismatch { .. } => Some(ArgumentFault { argument: "version", missing: false }),
            Refusal::NotASet | Refusal::MetadataDocumentExceeded | Refusal::MetadataSetsExceeded => {
                Some(ArgumentFault { argument: "path", missing: false })
            }
            Refusal::MetadataItemsExceeded | Refusal::MetadataBytesExceeded => {
                Some(ArgumentFault { argument: "value", missing: false })
            }
            Refusal::CardNumbersGiven { arguments: [None, ..] }
            | Refusal::KeyNotLive
            | Refusal::MerchantNotFound
            | Refusal::MerchantSuspended
            | Refusal::IdempotencyKeyReused
            | Refusal::InstallationNotFound
            | Refusal::WebhookNotFound
            | Refusal::WebhookEventNotFound
            | Refusal::WebhookNotConnected { .. }
            | Refusal::RedeliveryUnderWay
            | Refusal::TooManySecrets { .. }
            | Refusal::KeyNotFound
            | Refusal::TooMany { .. }
            | Refusal::TokenNotFound
            | Refusal::TokenAlreadyUsed
            | Refusal::MethodNotEnabled
            | Refusal::SessionNotActive { .. }
            | Refusal::AmountMismatch { .. }
            | Refusal::AuthorizationOnlyNotSupported
            | Refusal::CustomerNotFound
            | Refusal::ContactNotFound
            | Refusal::ContactTaken { .. }
            | Refusal::CardExternalIdTaken { .. }
            | Refusal::CardHasExternalId { .. }
            | Refusal::CustomerRequired
            | Refusal::CustomerMismatch
            | Refusal::CardNotFound
            | Refusal::ExternalIdTaken { .. }
            | Refusal::TopupExternalIdTaken { .. }
            | Refusal::PaymentNotFound
            | Refusal::RefundExternalIdTaken { .. }
            | Refusal::InvoiceExternalIdTaken { .. }
            | Refusal::PayoutExternalIdTaken { .. }
            | Refusal::DisputeNotFound
            | Refusal::RefundNotFound
            | Refusal::PayoutNotFound
            | Refusal::HasEnded { .. }
            | Refusal::DisputeState { .. }
            | Refusal::InvalidState { .. }
            | Refusal::NotRefundable { .. }
            | Refusal::AmountExceedsPayment { .. }
            | Refusal::InsufficientBalance { .. }
            | Refusal::RefundNotCovered { .. }
            | Refusal::UserNotFound
            | Refusal::InvitationNotFound
            | Refusal::PlanNotFound
            | Refusal::AlreadyMember { .. }
            | Refusal::AlreadyInvited { .. }
            | Refusal::InvitationAccepted { .. }
            | Refusal::NoTestClock
            | Refusal::TotalTooLarge => None,
        }
    }
}

/// The arguments that differ (amount, currency or both), and the values of the session.
fn difference(given: &Money, session: &Money) -> String {
    let (amount, currency) = (session.amount.get(), session.currency);
    match (given.amount == session.amount, given.currency == session.currency) {
        (false, false) => {
            format!("Amount and currency are not the payment session's, {amount} minor units of {currency}.")
        }
        (true, _) => format!("The currency is not the payment session's, {currency}."),
        (false, true) => format!("The amount is not the payment session's, {amount} minor units of {currency}."),
    }
}

/// The reason for which the payment does not permit something, and advice.
fn not_permitted(what: &str, status: PaymentStatus, operation: Option<OperationKind>, advice: &str) -> String {
    match operation {
        Some(operation) => format!(
            "{what}: its operation {} has not ended. Ask again once find-payment shows no operation.",
            operation.name()
        ),
        None => format!("{what}: it is {}. {advice}", status.name()),
    }
}

/// The advice to call something else for a payment of this status.
const fn advice(status: PaymentStatus) -> &'static str {
    match status {
        PaymentStatus::Pending => "Ask again once find-payment shows another status.",
        PaymentStatus::Authorized => "Call capture-payment to take the money, or void-payment to give it free.",
        PaymentStatus::Successful => {
            "To give money back, call reverse-payment while find-payment says reversible, else refund-payment."
        }
        PaymentStatus::PartiallyRefunded => "To give more of it back, call refund-payment.",
        PaymentStatus::Disputed => {
            "The customer's bank has asked for the money: answer with challenge-dispute or concede-dispute."
        }
        PaymentStatus::Failed
        | PaymentStatus::Expired
        | PaymentStatus::Voided
        | PaymentStatus::Reversed
        | PaymentStatus::Refunded => "It has ended: nothing more can be done with it.",
    }
}

/// The same for a payment that cannot be refunded.
const fn refund_advice(status: PaymentStatus) -> &'static str {
    match status {
        PaymentStatus::Successful | PaymentStatus::PartiallyRefunded => {
            "All that is left of it is being refunded already: see list-refunds-by-payment."
        }
        PaymentStatus::Pending
        | PaymentStatus::Authorized
        | PaymentStatus::Disputed
        | PaymentStatus::Failed
        | PaymentStatus::Expired
        | PaymentStatus::Voided
        | PaymentStatus::Reversed
        | PaymentStatus::Refunded => advice(status),
    }
}

/// The reason for which a refund is not covered, and advice.
fn not_covered(available_minor: i64, pending_minor: i64, is_reversible: bool) -> String {
    let advice = if is_reversible {
        "Send less, or give all of the payment back with reverse-payment, which needs no balance."
    } else {
        "Send less, or wait until more has come in."
    };
    format!(
        "The balance does not cover the refund: {available_minor} minor units are available and {pending_minor} pending. {advice}"
    )
}

/// The reason for which a dispute does not permit something.
fn dispute_not_permitted(status: DisputeStatus, has_evidence: bool) -> String {
    if status.is_open() && has_evidence {
        return "The dispute has its evidence already, which is given once. Wait until it is decided.".to_owned();
    }
    let advice =
        if status.is_open() { "find-dispute shows it." } else { "It is decided: nothing more can be done with it." };
    format!("This cannot be done to the dispute now: it is {}. {advice}", status.name())
}

/// The argument at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArgumentFault {
    /// Its name in the API.
    pub argument: &'static str,
    /// True when it is missing, false when it is invalid.
    pub missing: bool,
}

/// The reason for which nothing was decided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecisionError {
    /// The rules refuse it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A record that the decision depends on could not be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}
