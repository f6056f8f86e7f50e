//! Refusals: the reasons for which a command takes no effect. The edge has the code and the words of each.

use std::fmt;

use crate::acquirer::{AccountMode, AcquirerName};
use crate::checkout::CheckoutStatus;
use crate::dispute::DisputeStatus;
use crate::ids::{
    AcquirerId, CardId, CheckoutId, CustomerId, InvitationId, InvoiceId, PaymentId, PayoutId, RefundId, TopupId, UserId,
};
use crate::merchant::PaymentMethod;
use crate::money::{Currency, Money};
use crate::payment::{OperationKind, PaymentStatus};
use crate::records::Unreadable;
use crate::role::{Act, Role};
use crate::session::InterestBearer;
use crate::time::Millis;
use crate::webhook::WebhookStatus;

/// The maximum number of fields of one request that can be card numbers, including its idempotency key.
pub const CARD_NUMBERS_MAX: usize = 5;

/// A field of a request that a refusal names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is named as the field is")]
pub enum CommandField {
    IdempotencyKey,
    ExternalId,
    PaymentId,
    CustomerId,
    CardId,
    /// The customer that a command about customers names.
    ContactId,
    ContactEmail,
    ContactMobile,
    /// The identifier of an installation.
    Identifier,
    ReturnUrl,
    CancelUrl,
    /// The page that shows a checkout in a frame.
    PageUrl,
    DestinationUrl,
    MetadataKey,
    MetadataPath,
    /// The item that is added to a set.
    MetadataValue,
    /// The whole record.
    Metadata,
}

word_enum! {
    /// The reason for which a payment method cannot pay a checkout.
    pub enum MethodObstacle: name {
        /// It is not enabled for the merchant.
        NotEnabled => "NOT_ENABLED",
        /// It cannot be authorized without capture.
        CapturesAtOnce => "CAPTURES_AT_ONCE",
        /// It cannot carry the amount.
        AmountTooLarge => "AMOUNT_TOO_LARGE",
    }
}

/// The reason for which a command is refused. It changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The key is not one of the merchant's live keys, or the user not a member of its team.
    CallerNotLive,
    /// The role of the caller does not allow it.
    Forbidden {
        /// What the command does; none for what no key and no member does.
        act: Option<Act>,
        /// The role.
        role: Role,
    },
    /// The amount is larger than the caller may give back in one call.
    AmountExceedsRefundLimit {
        /// The largest amount, in minor units.
        limit_minor: u64,
    },
    /// A refund limit belongs to the role SUPPORT alone.
    RefundLimitNotPossible,
    /// A member would change its own role.
    OwnRole,
    /// The team would have no member with the role OWNER left.
    LastOwner,
    /// There is no such merchant.
    MerchantNotFound,
    /// The merchant's calls that change something are refused.
    MerchantSuspended,
    /// The Idempotency-Key was used with another command.
    IdempotencyKeyReused,
    /// No installation of the merchant has this id, or there is no such merchant, which a device is not told.
    InstallationNotFound,
    /// No webhook of the merchant has this id.
    WebhookNotFound,
    /// No event of the merchant has this id.
    WebhookEventNotFound,
    /// Nothing is delivered to the webhook.
    WebhookNotConnected {
        /// Its status.
        status: WebhookStatus,
    },
    /// An earlier order to deliver events to the webhook again has not ended.
    RedeliveryUnderWay,
    /// The webhook has the limit of replaced secrets that still sign.
    TooManySecrets {
        /// The limit.
        limit: usize,
    },
    /// No key of the merchant has this id.
    KeyNotFound,
    /// The key would end before it is made.
    KeyEndPassed,
    /// The merchant has reached a limit.
    TooMany {
        /// The kind of object, in the plural.
        kind: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The merchant has the limit of open checkouts.
    TooManyOpenCheckouts {
        /// The limit.
        limit: u64,
    },
    /// More open checkouts name the customer than are erased with it.
    CustomerOfOpenCheckouts {
        /// The limit.
        limit: usize,
    },
    /// The currency is not the merchant's.
    CurrencyNotConfigured {
        /// The merchant's currency.
        currency: Currency,
    },
    /// No token that can be selected has this id.
    TokenNotFound,
    /// The single-use token is used up.
    TokenAlreadyUsed,
    /// The payment method is not enabled.
    MethodNotEnabled,
    /// The payment method belongs to another currency than the merchant's.
    MethodOfOtherCurrency {
        /// The currency that it belongs to.
        currency: Currency,
    },
    /// No account of the merchant at an acquirer has this id.
    AcquirerNotFound,
    /// No account of the merchant has the id that a payment method is to be configured to.
    ConfiguredAcquirerNotFound,
    /// The merchant has the account of the acquirer already.
    AccountTaken {
        /// Its id here.
        acquirer_id: AcquirerId,
    },
    /// The new secret is one of another account of the acquirer.
    SecretOfOtherAccount,
    /// A merchant with a test clock has accounts at no acquirer.
    AccountWithTestClock,
    /// Play money and real money would stand in one ledger.
    MoneyOfOtherMode {
        /// The kind of money that the merchant has.
        mode: AccountMode,
    },
    /// A payment method is configured to the account.
    AccountConfigured {
        /// The method.
        method: PaymentMethod,
    },
    /// A payment or refund of the account is open or not old enough.
    AccountInUse {
        /// The number of its payments that are open.
        open_payments: u64,
        /// The instant from which none is too young.
        removable_at: Millis,
    },
    /// The acquirer does not carry the payment method out.
    MethodNotCarriedOut {
        /// The acquirer.
        acquirer: AcquirerName,
    },
    /// The acquirer does not take the merchant's currency with the minor units of ISO 4217.
    CurrencyNotTaken {
        /// The currency.
        currency: Currency,
        /// The acquirer.
        acquirer: AcquirerName,
    },
    /// The server has no public address to which customers come back from the acquirer.
    PublicAddressMissing {
        /// True when it has one without TLS.
        is_http: bool,
    },
    /// The acquirer needs an e-mail address where the customer has none.
    SupportEmailMissing,
    /// The merchant's acquirer pays out by itself.
    PayoutsNotSupported,
    /// No session that can be used has this id.
    SessionNotActive {
        /// The merchant's payment that used it.
        payment_id: Option<PaymentId>,
    },
    /// The amount or the currency is not the session's.
    AmountMismatch {
        /// The amount and currency of the call.
        given: Money,
        /// The amount and currency of the session.
        session: Money,
    },
    /// The method's integrations cannot authorize without capture.
    AuthorizationOnlyNotSupported,
    /// The session is of instalments and the bearer is not named.
    InterestBearerMissing {
        /// The session's bearer.
        fixed: InterestBearer,
    },
    /// The bearer is not the session's.
    InterestBearerMismatch {
        /// The session's bearer.
        fixed: InterestBearer,
    },
    /// A card is given in a call, and cards are entered at the acquirer's page.
    CardEnteredAtAcquirer,
    /// A checkout is to be paid by card, and none is given.
    CheckoutCardMissing,
    /// No customer of the merchant has this id.
    CustomerNotFound,
    /// No customer of the merchant has this id, in a call of an endpoint about customers.
    ContactNotFound,
    /// An identifier, address or number belongs to another customer.
    ContactTaken {
        /// The field that is taken.
        field: CommandField,
        /// The customer who has it.
        customer_id: CustomerId,
    },
    /// A card has this reference already.
    CardExternalIdTaken {
        /// The card.
        card_id: CardId,
    },
    /// The saved card of this number has another reference.
    CardHasExternalId {
        /// The card.
        card_id: CardId,
    },
    /// The token is single-use, and its card cannot be saved.
    TokenForOneUse,
    /// A session with a saved card requires that its owner is named.
    CustomerRequired,
    /// The named customer is not the card's owner.
    CustomerMismatch,
    /// The session has no card, and none is named.
    CardIdMissing,
    /// No live card of the customer has this id.
    CardNotFound,
    /// A payment or a checkout has this reference already.
    ExternalIdTaken {
        /// The payment, or the newest one of the checkout.
        payment_id: Option<PaymentId>,
        /// The checkout, or that of the payment.
        checkout_id: Option<CheckoutId>,
    },
    /// No checkout of the merchant has this id.
    CheckoutNotFound,
    /// The checkout takes no payment.
    CheckoutState {
        /// Its status.
        status: CheckoutStatus,
    },
    /// No payment method of a checkout is enabled and captures as asked.
    NoMethodLeft {
        /// The reason of each method that was asked for, in the order of all methods.
        obstacles: [Option<MethodObstacle>; PaymentMethod::ALL.len()],
    },
    /// The checkout does not offer to save a card.
    SavingNotOffered,
    /// The page that shows a checkout in a frame is not of its installation's web site.
    PageOfAnotherOrigin,
    /// The checkout has no payment with the session that the customer gives up.
    ReplacedSessionNotFound,
    /// A top-up has this reference already.
    TopupExternalIdTaken {
        /// The top-up.
        topup_id: TopupId,
    },
    /// An invoice has this reference already.
    InvoiceExternalIdTaken {
        /// The invoice.
        invoice_id: InvoiceId,
    },
    /// No payment of the merchant has this id.
    PaymentNotFound,
    /// A refund has this reference already.
    RefundExternalIdTaken {
        /// The refund.
        refund_id: RefundId,
    },
    /// No dispute of the merchant has this id.
    DisputeNotFound,
    /// The dispute's status does not permit it.
    DisputeState {
        /// The status of the dispute.
        status: DisputeStatus,
        /// True when evidence is refused because it was given already.
        has_evidence: bool,
    },
    /// No refund of the merchant has this id.
    RefundNotFound,
    /// No payout of the merchant has this id.
    PayoutNotFound,
    /// The refund or payout waits for no answer any more.
    HasEnded {
        /// The kind of object.
        what: &'static str,
        /// Its status.
        status: &'static str,
    },
    /// A payout has this reference already.
    PayoutExternalIdTaken {
        /// The payout.
        payout_id: PayoutId,
    },
    /// The payment's status, or an operation that is open, does not permit it.
    InvalidState {
        /// The status of the payment.
        status: PaymentStatus,
        /// The operation that the acquirer has not answered yet.
        operation: Option<OperationKind>,
    },
    /// The payment cannot be refunded.
    NotRefundable {
        /// The status of the payment.
        status: PaymentStatus,
        /// The operation that the acquirer has not answered yet.
        operation: Option<OperationKind>,
    },
    /// The amount is larger than the payment has.
    AmountExceedsPayment {
        /// The amount that can be captured or refunded.
        limit_minor: u64,
    },
    /// The balance does not cover it.
    InsufficientBalance {
        /// The available amount, in minor units.
        available_minor: i64,
    },
    /// Neither the available money nor the money on its way to the merchant covers the refund.
    RefundNotCovered {
        /// The available amount, in minor units.
        available_minor: i64,
        /// The pending amount, in minor units.
        pending_minor: i64,
        /// True when the payment can be reversed instead.
        is_reversible: bool,
    },
    /// No user of the team has this id.
    UserNotFound,
    /// No invitation that can be accepted has this id.
    InvitationNotFound,
    /// A code of a member was used before.
    CodeUsedUp,
    /// A member's credentials cannot be set anew by this permission, which was used or is over.
    ResetOver,
    /// The catalogue has no such plan.
    PlanNotFound,
    /// A user of the team has this address already.
    AlreadyMember {
        /// The user.
        user_id: UserId,
    },
    /// An invitation of this address can still be accepted.
    AlreadyInvited {
        /// The invitation.
        invitation_id: InvitationId,
    },
    /// The invitation was accepted before.
    InvitationAccepted {
        /// The user.
        user_id: UserId,
    },
    /// A total of the ledger would exceed its limit.
    TotalTooLarge,
    /// The metadata record is not at the version that the caller names.
    VersionMismatch {
        /// The current version; 0 when there is none.
        current: u64,
    },
    /// The value at the path cannot be used as a set.
    NotASet,
    /// An identifier, or a value of metadata, is a card number as a whole, and the merchant's setting does not allow
    /// it.
    CardNumbersGiven {
        /// The fields that are, in the first elements.
        fields: [Option<CommandField>; CARD_NUMBERS_MAX],
    },
    /// The merchant has no test clock.
    NoTestClock,
    /// A test clock would not advance.
    ClockNotForward {
        /// The merchant's time.
        now: Millis,
    },
    /// A test clock would be advanced by too much at once.
    ClockTooFar {
        /// The latest instant to which one call can advance it.
        latest: Millis,
    },
    /// The sets of the record would hold too many items.
    MetadataItemsExceeded,
    /// The record would be too large.
    MetadataBytesExceeded,
    /// The part of the record that is not in sets would be too large.
    MetadataDocumentExceeded,
    /// The record would have too many sets.
    MetadataSetsExceeded,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the rules refuse it: {self:?}")
    }
}

impl std::error::Error for Refusal {}

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
