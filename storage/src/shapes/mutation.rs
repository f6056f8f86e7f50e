//! Shape of a mutation: the body of a journal record of type 1.
//!
//! ```text
//! 0 format (1) = 1 | 1 MutationV1, see `codec`
//! ```
//! Everything here must stay readable for ever: a body is never encoded again. The position of an event among
//! the variants of [`EventV1`] is on disk; a new kind of event, and a later form of an old one, come last.

use till_domain::command::{Caller, IdempotencyScope};
use till_domain::event::{Answer, Event, Mutation, StoredAnswer};
use till_domain::records::Unreadable;

use super::acquirer::AcquirerAccountV1;
use super::activity::{ActivityV1, InvitationV1, PlanChoiceV1, SeatChangeV1, UserV1};
use super::card::{CardAtAcquirerV1, CardExpiryV1, CardV1, TokenV1};
use super::checkout::CheckoutV1;
use super::codec::{self, ShapeError};
use super::customer::CustomerV1;
use super::declared::{IdPositionV1, shape_enum, shape_struct};
use super::ledger::{InvoiceV1, TopupV1, TransactionV1};
use super::merchant::{ApiKeyV1, InstallationV1, IntegrationV1, ProfileV1, TestClockV1};
use super::metadata::{MetadataRecordV1, MetadataSetV1, SweptItemV1};
use super::payment::{
    AuthenticationV1, AuthorizationV1, CaptureV1, CustomerActionV1, DisputeClosingV1, DisputeV1, EffectV1, FailureV1,
    OperationV1, PaymentV1, PayoutV1, PreparedPaymentV1, RefundV1, RefusedOperationV1,
};
use super::personal::Personal;
use super::session::SessionV1;
use super::shape::Shape;
use super::statement::{StatementPeriodV1, StatementV1};
use super::tag::Tag;
use super::webhook::{WebhookEventV1, WebhookTestV1, WebhookV1};

/// The format of a mutation's body.
pub const MUTATION_FORMAT: u8 = 1;

const WHAT: &str = "body of a mutation";

shape_enum! {
    /// The party that sent the request.
    CallerV1 of Caller {
        ApiKey(key_id: [u8; 16]),
        Sdk(installation_id: [u8; 16]),
        Operator,
        System,
        User(user_id: [u8; 16]),
    }
}

shape_struct! {
    /// The scope in which an Idempotency-Key is unique.
    IdempotencyScopeV1 of IdempotencyScope {
        installation_id: Option<[u8; 16]>,
        endpoint: String,
        key: String,
    }
}

shape_enum! {
    /// The answer of a command that took effect.
    AnswerV1 of Answer {
        Merchant(merchant_id: [u8; 16]),
        Key { key_id: [u8; 16], created_at: u64 },
        Installation(installation_id: [u8; 16]),
        Topup(topup_id: [u8; 16]),
        Token(token_id: [u8; 16]),
        Session(session_id: [u8; 16]),
        Payment(payment_id: [u8; 16]),
        Changed(changed: bool),
        Invitation(invitation_id: [u8; 16]),
        User(user_id: [u8; 16]),
        Metadata { version: u64, created_at: u64, updated_at: u64, expires_at: u64 },
        Refund(refund_id: [u8; 16]),
        Webhook(webhook_id: [u8; 16]),
        Invoice(invoice_id: [u8; 16]),
        Payout(payout_id: [u8; 16]),
        Dispute(dispute_id: [u8; 16]),
        Contact(customer_id: [u8; 16]),
        Card(card_id: [u8; 16]),
        Redelivery { events: u64 },
        WebhookTested(result: WebhookTestV1),
        Checkout(checkout_id: [u8; 16]),
        Acquirer(acquirer_id: [u8; 16]),
        CredentialsReset(credentials_id: [u8; 16]),
    }
}

shape_struct! {
    /// A kept answer.
    StoredAnswerV1 of StoredAnswer {
        fingerprint: [u8; 32],
        answer: AnswerV1,
        expires_at: u64,
    }
}

shape_enum! {
    /// An event.
    #[expect(clippy::large_enum_variant, reason = "a payment is initiated by the most frequent event")]
    EventV1 of Event {
        MerchantCreated {
            merchant_id: [u8; 16],
            profile: ProfileV1,
            integrations: Vec<(Tag, IntegrationV1)>
        },
        SuspensionChanged { suspended: bool },
        KeyGenerated { merchant_id: [u8; 16], key: ApiKeyV1 },
        KeyRevoked { key_id: [u8; 16], at: u64 },
        InstallationAdded(installation: InstallationV1),
        PaymentMethodConfigured { method: Tag, integration: IntegrationV1 },
        BalanceOpened,
        TopupAdded { topup: TopupV1, transaction: TransactionV1 },
        CardTokenized(token: TokenV1),
        SessionCreated { session: SessionV1, token_used_up: Option<[u8; 16]> },
        CustomerCreated(customer: CustomerV1),
        CustomerUpdated { before: CustomerV1, after: CustomerV1 },
        PaymentInitiated { payment: PaymentV1, effect: EffectV1 },
        PaymentAuthorized {
            payment_id: [u8; 16],
            authorization: AuthorizationV1,
            authentication: Option<AuthenticationV1>
        },
        PaymentFailed {
            payment_id: [u8; 16],
            released_minor: u64,
            failure: FailureV1,
            authentication: Option<AuthenticationV1>
        },
        PaymentCaptured {
            payment_id: [u8; 16],
            released_minor: u64,
            capture: CaptureV1,
            transaction: TransactionV1,
            activity: ActivityV1
        },
        CardSaved { card: CardV1, is_default: bool, at: u64 },
        DefaultCardSet { customer_id: [u8; 16], card_id: [u8; 16], at: u64 },
        PaymentVoided { payment_id: [u8; 16], released_minor: u64, activity: ActivityV1 },
        TransactionSettled {
            transaction_id: [u8; 16],
            settles_at: u64,
            credit_minor: u64,
            debit_minor: u64,
            at: u64
        },
        KeyRenamed { key_id: [u8; 16], name: String },
        UserInvited { invitation: InvitationV1, activity: ActivityV1 },
        InvitationAccepted { user: UserV1, activity: ActivityV1 },
        UserRemoved { user_id: [u8; 16], activity: ActivityV1 },
        PlanSwitched { choice: PlanChoiceV1, activity: ActivityV1 },
        MetadataSaved {
            key: String,
            record: MetadataRecordV1,
            timer_was: Option<u64>,
            document: Option<String>,
            garbage_below: Option<u32>
        },
        MetadataSetFormed { id: [u8; 16], number: u32, set: MetadataSetV1, items: String },
        MetadataItemAdded { id: [u8; 16], number: u32, set: MetadataSetV1, position: u64, item: String },
        MetadataItemRemoved { id: [u8; 16], number: u32, set: MetadataSetV1, position: u64, hash: [u8; 32] },
        MetadataEnded { key: String, id: [u8; 16], timer_due: u64, garbage_below: Option<u32> },
        MetadataTimerMoved { key: String, record: MetadataRecordV1, timer_was: u64 },
        MetadataSwept { id: [u8; 16], items: Vec<SweptItemV1>, sets: Vec<u32>, finished: bool },
        SessionsSwept { session_ids: Vec<[u8; 16]> },
        TokensSwept { token_ids: Vec<[u8; 16]> },
        AnswersSwept { scopes: Vec<IdempotencyScopeV1>, created_merchants: Vec<String> },
        InstallationUpdated(installation: InstallationV1),
        InstallationRemoved { installation_id: [u8; 16] },
        TokenQueued {
            token_id: [u8; 16],
            installation_id: [u8; 16],
            position: u64,
            first: u64,
            expires_at: u64
        },
        TokenKept { token_id: [u8; 16] },
        CardNumbersInIdentifiersChanged { allowed: bool },
        OperationRequested { payment_id: [u8; 16], operation: OperationV1 },
        OperationRefused {
            payment_id: [u8; 16],
            refused: RefusedOperationV1,
            lapses_at: Option<u64>,
            fails: bool
        },
        PaymentReversed {
            payment_id: [u8; 16],
            credit_minor: u64,
            debit_minor: u64,
            at: u64,
            activity: ActivityV1
        },
        PaymentExpired { payment_id: [u8; 16], released_minor: u64, failure: Option<FailureV1> },
        LateSuccess { payment_id: [u8; 16], authorization: AuthorizationV1, captured: bool },
        LateCallEnded { payment_id: [u8; 16], failure: Option<FailureV1>, returned_at: Option<u64> },
        RefundRequested {
            refund: RefundV1,
            transaction: TransactionV1,
            uncovered_minor: u64,
            activity: ActivityV1
        },
        RefundConfirmed {
            refund_id: [u8; 16],
            payment_id: [u8; 16],
            amount_minor: u64,
            status: Tag,
            settles_at: Option<u64>,
            at: u64,
            activity: Option<ActivityV1>,
            acquirer_reference: String
        },
        RefundFailed {
            refund_id: [u8; 16],
            payment_id: [u8; 16],
            amount_minor: u64,
            uncovered_minor: u64,
            failure: FailureV1,
            at: u64
        },
        DebitsUncovered { payment_id: [u8; 16], covered_minor: u64 },
        DebitSettled { transaction_id: [u8; 16], settles_at: u64, amount_minor: u64, at: u64 },
        WebhookEventRecorded(event: WebhookEventV1),
        WebhookSaved { merchant_id: [u8; 16], webhook: WebhookV1 },
        WebhookEventsSwept { event_ids: Vec<[u8; 16]> },
        InvoiceCharged { invoice: InvoiceV1, transaction: TransactionV1 },
        PayoutRequested { payout: PayoutV1, transaction: TransactionV1, activity: ActivityV1 },
        PayoutPaid { payout_id: [u8; 16], amount_minor: u64, at: u64 },
        PayoutFailed { payout_id: [u8; 16], amount_minor: u64, failure: FailureV1, at: u64 },
        DisputeOpened { dispute: DisputeV1, transaction: TransactionV1, uncovered_minor: u64 },
        DisputeChallenged {
            dispute_id: [u8; 16],
            evidence: String,
            status: Tag,
            activity: ActivityV1
        },
        EvidenceTaken { dispute_id: [u8; 16] },
        DisputeEscalated { dispute_id: [u8; 16], activity: ActivityV1 },
        DisputeClosed(closing: DisputeClosingV1),
        TestClockSet { merchant_id: [u8; 16], test_clock: TestClockV1 },
        StatementPeriodOpened { period: StatementPeriodV1 },
        StatementClosed { statement: StatementV1 },
        CardRenewed { card_id: [u8; 16], expiry: CardExpiryV1, external_id: Option<String> },
        CardForgotten {
            customer_id: [u8; 16],
            card_id: [u8; 16],
            default_card_id: Option<[u8; 16]>,
            at: u64
        },
        CustomerRemoved { customer_id: [u8; 16], card_ids: Vec<[u8; 16]>, at: u64 },
        MetadataRepeatsDropped { id: [u8; 16], number: u32, set: MetadataSetV1, array: String },
        TokenUsed { token_id: [u8; 16], customer_id: Option<[u8; 16]> },
        TokensErased { token_ids: Vec<[u8; 16]> },
        CustomerTokensErased {
            customer_id: [u8; 16],
            token_ids: Vec<[u8; 16]>,
            gone: Vec<[u8; 16]>,
            rest: Option<[u8; 16]>,
            timer_was: Option<u64>,
            at: u64
        },
        ActionRequired { payment_id: [u8; 16], action: CustomerActionV1 },
        ActionTaken { payment_id: [u8; 16] },
        ActionCancelRequested { effect: EffectV1 },
        SessionCanceled { session_id: [u8; 16], at: u64 },
        ColorChanged { color: [u8; 3] },
        CheckoutStarted(checkout: CheckoutV1),
        CheckoutPaid { checkout_id: [u8; 16], payment_id: [u8; 16] },
        CheckoutReopened { checkout_id: [u8; 16] },
        CheckoutClosed { checkout_id: [u8; 16] },
        CheckoutCompleted { checkout_id: [u8; 16], at: u64 },
        CheckoutExpired { checkout_id: [u8; 16], at: u64 },
        CheckoutCustomerErased { checkout_id: [u8; 16] },
        AcquirerSaved { merchant_id: [u8; 16], account: AcquirerAccountV1 },
        AcquirerRemoved { acquirer_id: [u8; 16] },
        CallPrepared(prepared: PreparedPaymentV1),
        CardTold { payment_id: [u8; 16], card: CardAtAcquirerV1 },
        UserUpdated(user: UserV1),
        SeatChanged { user_id: [u8; 16], change: SeatChangeV1, at: u64 },
    }
}

const _: () = assert!(size_of::<EventV1>() <= 1024, "`codec` counts on items of lists below 1 KiB");

shape_struct! {
    /// One decision.
    MutationV1 of Mutation {
        at: u64,
        caller: CallerV1,
        last_id: IdPositionV1,
        answer: Option<(IdempotencyScopeV1, StoredAnswerV1)>,
        events: Vec<EventV1>,
    }
}

/// The body of the journal record of a mutation. Personal texts are sealed; keys that are made for them
/// must be stored in the same write.
///
/// # Errors
/// [`Unreadable`] when a key to seal with cannot be read or made, or when the mutation is so large that it
/// could not be read back ([`super::DECODE_LIMIT_BYTES`]). Nothing may be written then, and the keys that were made
/// must be forgotten ([`super::MerchantPersonal::forget_pending`]).
pub fn encode_mutation(mutation: &Mutation, personal: &mut dyn Personal) -> Result<Vec<u8>, Unreadable> {
    codec::encode::<MutationV1>(WHAT, MUTATION_FORMAT, |out| MutationV1::write(mutation, personal, out))
}

/// The mutation with this body. Sealed texts of an erased person are absent.
///
/// # Errors
/// [`ShapeError::UnknownFormat`] means "upgrade the program"; every other error means that the body is
/// damaged, or that the vault cannot be read.
pub fn decode_mutation(body: &[u8], personal: &dyn Personal) -> Result<Mutation, ShapeError> {
    codec::decode::<MutationV1>(WHAT, MUTATION_FORMAT, body)?.unpack(personal)
}
