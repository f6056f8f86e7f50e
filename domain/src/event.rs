//! Events: the changes that a decision makes, with all data that applying them needs.

use crate::acquirer::{AccountSecret, AcquirerAccount};
use crate::activity::Activity;
use crate::card::{Card, CardAtAcquirer, CardExpiry, Token};
use crate::checkout::Checkout;
use crate::command::{Caller, IdempotencyScope};
use crate::customer::Customer;
use crate::customer_action::{Authentication, CustomerAction};
use crate::dispute::{Dispute, DisputeOutcome, DisputeStatus};
use crate::effect::Effect;
use crate::failure::Failure;
use crate::ids::{
    AcquirerId, CardId, CheckoutId, CredentialsId, CustomerId, DisputeId, IdPosition, InstallationId, InvitationId,
    InvoiceId, KeyId, MerchantId, MetadataId, PaymentId, PayoutId, RefundId, SessionId, TokenId, TopupId,
    TransactionId, UserId, WebhookEventId, WebhookId,
};
use crate::key::ApiKey;
use crate::ledger::{Invoice, Topup, Transaction};
use crate::merchant::{Color, Installation, Integration, PaymentMethod, Profile, TestClock};
use crate::metadata::{CanonicalJson, Document, ItemHash, MetadataRecord, MetadataSet, SetNumber, SweptItem};
use crate::payment::{Authorization, Capture, Operation, Payment, PaymentStatus, RefusedOperation};
use crate::payout::Payout;
use crate::plan::PlanChoice;
use crate::preparation::Preparation;
use crate::refund::Refund;
use crate::session::Session;
use crate::statement::{Statement, StatementPeriod};
use crate::team::{Invitation, SeatChange, User};
use crate::text::{Evidence, ExternalId, IdempotencyKey, MetadataKey, Name};
use crate::time::Millis;
use crate::webhook::{SecretSlot, Webhook, WebhookEvent, WebhookTest};
use std::sync::Arc;

/// The time for which an answer is kept for repeated calls: a day and an hour, so that a caller that retries for a
/// whole day is served.
pub const ANSWER_KEPT_SECONDS: u64 = 25 * 3_600;

/// One decision as a merchant's log stores it: one record, one atomic step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutation {
    /// Its time, never before that of the merchant's previous one.
    pub at: Millis,
    /// The party that sent the request.
    pub caller: Caller,
    /// The position of the merchant's last id, this mutation's included.
    pub last_id: IdPosition,
    /// The answer to keep for a repeated call.
    pub answer: Option<(IdempotencyScope, StoredAnswer)>,
    /// The events, in order.
    pub events: Vec<Event>,
}

impl Mutation {
    /// The test clock that it sets, if it sets one.
    #[must_use]
    pub fn test_clock(&self) -> Option<TestClock> {
        self.events.iter().rev().find_map(|event| {
            let Event::TestClockSet { merchant_id: _, test_clock } = event else { return None };
            Some(*test_clock)
        })
    }
}

/// A kept answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredAnswer {
    /// The fingerprint of the command that it answers.
    pub fingerprint: [u8; 32],
    /// The answer.
    pub answer: Answer,
    /// The instant until which it is kept.
    pub expires_at: Millis,
}

impl StoredAnswer {
    /// Returns true when a repeated call is still answered with it at `now`.
    #[must_use]
    pub fn is_kept(&self, now: Millis) -> bool {
        now < self.expires_at
    }
}

/// The answer of a command that took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// A merchant was created.
    Merchant(MerchantId),
    /// An API key was made.
    Key {
        /// Its uid.
        key_id: KeyId,
        /// Its time of creation.
        created_at: Millis,
    },
    /// An installation was added.
    Installation(InstallationId),
    /// A top-up was added.
    Topup(TopupId),
    /// A card was tokenized.
    Token(TokenId),
    /// A session was made.
    Session(SessionId),
    /// A payment was made.
    Payment(PaymentId),
    /// A checkout was started.
    Checkout(CheckoutId),
    /// True when it changed anything.
    Changed(bool),
    /// An invitation was made.
    Invitation(InvitationId),
    /// An invitation was accepted.
    User(UserId),
    /// A metadata record was given the value that the call brought.
    Metadata {
        /// Its version.
        version: u64,
        /// The time at which it was made.
        created_at: Millis,
        /// The time at which its value last changed.
        updated_at: Millis,
        /// The instant from which it no longer exists.
        expires_at: Millis,
    },
    /// A refund was accepted.
    Refund(RefundId),
    /// A webhook was connected, or its secret replaced.
    Webhook(WebhookId),
    /// An invoice was charged.
    Invoice(InvoiceId),
    /// A payout was accepted.
    Payout(PayoutId),
    /// A dispute was opened.
    Dispute(DisputeId),
    /// A customer was added.
    Contact(CustomerId),
    /// A card was saved, now or before.
    Card(CardId),
    /// Events are delivered to a webhook again.
    Redelivery {
        /// The number of events that the order covers; 0 when there is no order.
        events: u64,
    },
    /// A webhook was tested.
    WebhookTested(WebhookTest),
    /// An account at an acquirer was added.
    Acquirer(AcquirerId),
    /// A member may set its credentials anew.
    CredentialsReset(CredentialsId),
}

impl Answer {
    /// The id in the answer, as text; none for an answer without an id.
    #[must_use]
    pub fn id_text(&self) -> Option<String> {
        match self {
            Answer::Merchant(id) => Some(id.to_string()),
            Answer::Key { key_id, created_at: _ } => Some(key_id.to_string()),
            Answer::Installation(id) => Some(id.to_string()),
            Answer::Topup(id) => Some(id.to_string()),
            Answer::Token(id) => Some(id.to_string()),
            Answer::Session(id) => Some(id.to_string()),
            Answer::Payment(id) => Some(id.to_string()),
            Answer::Checkout(id) => Some(id.to_string()),
            Answer::Invitation(id) => Some(id.to_string()),
            Answer::User(id) => Some(id.to_string()),
            Answer::Refund(id) => Some(id.to_string()),
            Answer::Webhook(id) => Some(id.to_string()),
            Answer::Invoice(id) => Some(id.to_string()),
            Answer::Payout(id) => Some(id.to_string()),
            Answer::Dispute(id) => Some(id.to_string()),
            Answer::Contact(id) => Some(id.to_string()),
            Answer::Card(id) => Some(id.to_string()),
            Answer::Acquirer(id) => Some(id.to_string()),
            Answer::CredentialsReset(id) => Some(id.to_string()),
            Answer::Changed(_) | Answer::Metadata { .. } | Answer::Redelivery { .. } | Answer::WebhookTested(_) => None,
        }
    }
}

/// A write to the vault that belongs to a decision. Its bytes are not part of any event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VaultWrite {
    /// Keep the card number that was passed beside the command.
    KeepTokenNumber(TokenId),
    /// Keep the number of a token as that of a saved card, too.
    CopyTokenNumber(TokenId, CardId),
    /// Keep the text of a key that was passed beside the command, for as long as the answer is kept.
    KeepKeyText(KeyId),
    /// Keep the secret of a webhook that was passed beside the command in this slot.
    KeepWebhookSecret(WebhookId, SecretSlot),
    /// Forget the secret of a webhook in this slot.
    ForgetWebhookSecret(WebhookId, SecretSlot),
    /// Keep a secret of an account at an acquirer that was passed beside the command.
    KeepAccountSecret(AcquirerId, AccountSecret),
    /// Forget a secret of an account at an acquirer.
    ForgetAccountSecret(AcquirerId, AccountSecret),
    /// Forget the number of a token.
    ForgetTokenNumber(TokenId),
    /// Forget the key under which the customer fields of a session are sealed.
    ForgetSessionKey(SessionId),
    /// Forget the key under which the customer fields of a checkout are sealed.
    ForgetCheckoutKey(CheckoutId),
    /// Forget the kept text of a key.
    ForgetKeyText(KeyId),
    /// Forget the key under which the name on the card of a token is sealed.
    ForgetTokenKey(TokenId),
    /// Forget the number of a saved card.
    ForgetCardNumber(CardId),
    /// Forget the key under which all data of a customer is sealed: this erases the person.
    ForgetCustomerKey(CustomerId),
    /// Forget the key under which the address of the acquirer's page for a payment is sealed.
    ForgetPageKey(PaymentId),
    /// Keep the credentials of a member that were passed beside the command.
    KeepCredentials(UserId),
    /// Forget the credentials of a member.
    ForgetCredentials(UserId),
}

/// A change of a merchant's records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The merchant's log was opened.
    MerchantCreated {
        /// Its id.
        merchant_id: MerchantId,
        /// Its profile.
        profile: Profile,
        /// Its payment methods.
        integrations: Vec<(PaymentMethod, Integration)>,
    },
    /// The merchant's calls that change something are refused from now on, or accepted again.
    SuspensionChanged {
        /// True when they are refused.
        suspended: bool,
    },
    /// An API key was made.
    KeyGenerated {
        /// The merchant, for the directory of all merchants.
        merchant_id: MerchantId,
        /// The key.
        key: ApiKey,
    },
    /// An API key was ended.
    KeyRevoked {
        /// The key.
        key_id: KeyId,
        /// The time.
        at: Millis,
    },
    /// An installation was added.
    InstallationAdded(Installation),
    /// The integration that carries out payments of a method was set.
    PaymentMethodConfigured {
        /// The method.
        method: PaymentMethod,
        /// The integration.
        integration: Integration,
    },
    /// The balance was opened.
    BalanceOpened,
    /// Money was added to the balance.
    TopupAdded {
        /// The top-up.
        topup: Topup,
        /// Its transaction, effective at once.
        transaction: Transaction,
    },
    /// A card was tokenized.
    CardTokenized(Token),
    /// A payment method was selected.
    SessionCreated {
        /// The session.
        session: Session,
        /// The single-use token that was used up, if there was one.
        token_used_up: Option<TokenId>,
    },
    /// A customer was created.
    CustomerCreated(Customer),
    /// A customer's fields changed.
    CustomerUpdated {
        /// The customer before.
        before: Customer,
        /// The customer after.
        after: Customer,
    },
    /// A payment was made for a session, and its authorization requested.
    PaymentInitiated {
        /// The payment, which becomes a row as it is.
        payment: Arc<Payment>,
        /// The authorization to carry out.
        effect: Effect,
    },
    /// The acquirer authorized a payment.
    PaymentAuthorized {
        /// The payment.
        payment_id: PaymentId,
        /// The authorization, with the instant at which it lapses.
        authorization: Authorization,
        /// The authentication of the card, when there was one.
        authentication: Option<Authentication>,
    },
    /// The acquirer refused a payment.
    PaymentFailed {
        /// The payment.
        payment_id: PaymentId,
        /// The amount that is no longer reserved, in minor units.
        released_minor: u64,
        /// The reason.
        failure: Failure,
        /// The authentication of the card, when there was one.
        authentication: Option<Authentication>,
    },
    /// A payment was captured.
    PaymentCaptured {
        /// The payment.
        payment_id: PaymentId,
        /// The amount that is no longer reserved, in minor units.
        released_minor: u64,
        /// The capture with its fee.
        capture: Capture,
        /// Its transaction.
        transaction: Transaction,
        /// The entry of the activity log.
        activity: Activity,
    },
    /// A payment's card was saved.
    CardSaved {
        /// The card.
        card: Card,
        /// True when it is the customer's default now.
        is_default: bool,
        /// The time.
        at: Millis,
    },
    /// A saved card was made its customer's default.
    DefaultCardSet {
        /// The customer.
        customer_id: CustomerId,
        /// The card.
        card_id: CardId,
        /// The time.
        at: Millis,
    },
    /// A payment was voided.
    PaymentVoided {
        /// The payment.
        payment_id: PaymentId,
        /// The amount that is no longer reserved, in minor units.
        released_minor: u64,
        /// The entry of the activity log.
        activity: Activity,
    },
    /// A transaction on hold became effective.
    TransactionSettled {
        /// The transaction.
        transaction_id: TransactionId,
        /// The instant at which it was to settle, which names its timer.
        settles_at: Millis,
        /// Its credits on the balance, in minor units.
        credit_minor: u64,
        /// Its debits on the balance, fee and interest, in minor units.
        debit_minor: u64,
        /// The instant at which it settled.
        at: Millis,
    },
    /// An API key was renamed.
    KeyRenamed {
        /// The key.
        key_id: KeyId,
        /// The new name.
        name: Name,
    },
    /// A user was invited to the team.
    UserInvited {
        /// The invitation.
        invitation: Invitation,
        /// The entry of the activity log.
        activity: Activity,
    },
    /// An invitation was accepted.
    InvitationAccepted {
        /// The new user, which names the invitation.
        user: User,
        /// The entry of the activity log.
        activity: Activity,
    },
    /// The role or the refund limit of a user changed.
    UserUpdated(User),
    /// A user was removed from the team.
    UserRemoved {
        /// The user.
        user_id: UserId,
        /// The entry of the activity log.
        activity: Activity,
    },
    /// Another plan was selected.
    PlanSwitched {
        /// The plan, with the instant of the choice.
        choice: PlanChoice,
        /// The entry of the activity log.
        activity: Activity,
    },
    /// A metadata record was made, changed, or lives longer.
    MetadataSaved {
        /// Its key.
        key: MetadataKey,
        /// The record now.
        record: MetadataRecord,
        /// The previous instant of its timer; none for a new record.
        timer_was: Option<Millis>,
        /// The document, if it changed.
        document: Option<Document>,
        /// The sets below this number were replaced, and are to be swept.
        garbage_below: Option<SetNumber>,
    },
    /// An array, or an empty place in the document, became a set.
    MetadataSetFormed {
        /// The record.
        id: MetadataId,
        /// The number of the set.
        number: SetNumber,
        /// Its counters.
        set: MetadataSet,
        /// An array of its items, at positions from 0. Versions of the program that did not know
        /// [`Event::MetadataRepeatsDropped`] also recorded the distinct items of an array with repeated ones by this
        /// event.
        items: CanonicalJson,
    },
    /// An item was added to a set.
    MetadataItemAdded {
        /// The record.
        id: MetadataId,
        /// The number of the set.
        number: SetNumber,
        /// Its counters.
        set: MetadataSet,
        /// The position of the item.
        position: u64,
        /// The item.
        item: CanonicalJson,
    },
    /// An item was removed from a set.
    MetadataItemRemoved {
        /// The record.
        id: MetadataId,
        /// The number of the set.
        number: SetNumber,
        /// Its counters.
        set: MetadataSet,
        /// The position that the item had.
        position: u64,
        /// The hash by which the item was found.
        hash: ItemHash,
    },
    /// A metadata record was deleted or has expired.
    MetadataEnded {
        /// Its key.
        key: MetadataKey,
        /// The record.
        id: MetadataId,
        /// The instant at which its timer was due.
        timer_due: Millis,
        /// The sets below this number are to be swept.
        garbage_below: Option<SetNumber>,
    },
    /// The timer of a metadata record was due before the record's expiry, and is set again.
    MetadataTimerMoved {
        /// The record's key.
        key: MetadataKey,
        /// The record as it is now.
        record: MetadataRecord,
        /// The instant at which it was due.
        timer_was: Millis,
    },
    /// Rows of metadata that were no longer visible were removed.
    MetadataSwept {
        /// The record that they belonged to.
        id: MetadataId,
        /// Items.
        items: Vec<SweptItem>,
        /// Counters of sets.
        sets: Vec<SetNumber>,
        /// True when nothing is left.
        finished: bool,
    },
    /// Sessions were removed.
    SessionsSwept {
        /// The sessions.
        session_ids: Vec<SessionId>,
    },
    /// Tokens for one use were removed.
    TokensSwept {
        /// The tokens.
        token_ids: Vec<TokenId>,
    },
    /// Kept answers were removed.
    AnswersSwept {
        /// Their idempotency keys.
        scopes: Vec<IdempotencyScope>,
        /// The names under which the merchant is no longer found as one that a call with a key created.
        created_merchants: Vec<IdempotencyKey>,
    },
    /// An installation was changed to this.
    InstallationUpdated(Installation),
    /// An installation was removed.
    InstallationRemoved {
        /// The installation.
        installation_id: InstallationId,
    },
    /// A multi-use token waits in its installation's queue until a payment uses it, and ends if none does.
    TokenQueued {
        /// The token.
        token_id: TokenId,
        /// The installation where it was made.
        installation_id: InstallationId,
        /// Its position in the queue.
        position: u64,
        /// The first position of the queue from now on: those before it are empty.
        first: u64,
        /// The instant at which it ends.
        expires_at: Millis,
    },
    /// A payment used a multi-use token for the first time: it has no end from now on.
    TokenKept {
        /// The token.
        token_id: TokenId,
    },
    /// A multi-use token was used for a customer, or for nobody who is known: for the first time, or for somebody else.
    TokenUsed {
        /// The token.
        token_id: TokenId,
        /// The customer.
        customer_id: Option<CustomerId>,
    },
    /// Tokens with the number of a forgotten card were erased, which only its customer had used.
    TokensErased {
        /// The tokens.
        token_ids: Vec<TokenId>,
    },
    /// Tokens that only a removed customer had used were erased.
    CustomerTokensErased {
        /// The customer.
        customer_id: CustomerId,
        /// The tokens.
        token_ids: Vec<TokenId>,
        /// Tokens among them that were removed before.
        gone: Vec<TokenId>,
        /// The next token; none when no more are left.
        rest: Option<TokenId>,
        /// The instant of the timer that led to this step.
        timer_was: Option<Millis>,
        /// The instant of this step, at which the next one is due.
        at: Millis,
    },
    /// Identifiers that look like card numbers are accepted from now on, or refused again.
    CardNumbersInIdentifiersChanged {
        /// True when they are accepted.
        allowed: bool,
    },
    /// The acquirer is asked to capture, void or reverse a payment.
    OperationRequested {
        /// The payment.
        payment_id: PaymentId,
        /// The requested operation.
        operation: Operation,
    },
    /// The acquirer refused a capture, a void or a reversal: the payment is as it was before.
    OperationRefused {
        /// The payment.
        payment_id: PaymentId,
        /// The refused operation.
        refused: RefusedOperation,
        /// Of a capture or a void: the instant at which the authorization lapses from now on.
        lapses_at: Option<Millis>,
        /// True when the payment fails as soon as its authorization is voided.
        fails: bool,
    },
    /// A capture was reversed before it settled.
    PaymentReversed {
        /// The payment.
        payment_id: PaymentId,
        /// The credit on the balance that is canceled, in minor units.
        credit_minor: u64,
        /// The debits on the balance that are canceled, fee and interest, in minor units.
        debit_minor: u64,
        /// The time.
        at: Millis,
        /// The entry of the activity log.
        activity: Activity,
    },
    /// The acquirer did not answer in time, or the customer did not act: the payment is over. The call stays open until
    /// there is an answer.
    PaymentExpired {
        /// The payment.
        payment_id: PaymentId,
        /// The amount that is no longer reserved, in minor units.
        released_minor: u64,
        /// The reason, when the customer did not act.
        failure: Option<Failure>,
    },
    /// The acquirer authorized a payment that was over, and is told to give the money back.
    LateSuccess {
        /// The payment.
        payment_id: PaymentId,
        /// The authorization.
        authorization: Authorization,
        /// True when the money was captured with it.
        captured: bool,
    },
    /// The last call to the acquirer for a payment that is over has ended: it declined late, or was told to give money
    /// back.
    LateCallEnded {
        /// The payment.
        payment_id: PaymentId,
        /// The reason, when it declined.
        failure: Option<Failure>,
        /// The instant at which the money of a late success is back.
        returned_at: Option<Millis>,
    },
    /// The acquirer waits for an action of the customer.
    ActionRequired {
        /// The payment.
        payment_id: PaymentId,
        /// The action.
        action: CustomerAction,
    },
    /// The customer has acted, and the acquirer has not decided.
    ActionTaken {
        /// The payment.
        payment_id: PaymentId,
    },
    /// The payment is over before the customer acted, and the acquirer is told to cancel the action.
    ActionCancelRequested {
        /// The call.
        effect: Effect,
    },
    /// The customer gave up a session that no payment used.
    SessionCanceled {
        /// The session.
        session_id: SessionId,
        /// The time, which is its end.
        at: Millis,
    },
    /// A refund was accepted, and the acquirer is asked to pay it.
    RefundRequested {
        /// The refund.
        refund: Refund,
        /// Its transaction, on hold.
        transaction: Transaction,
        /// The part of it that no capture on hold covers, in minor units.
        uncovered_minor: u64,
        /// The entry of the activity log.
        activity: Activity,
    },
    /// The acquirer paid a refund.
    RefundConfirmed {
        /// The refund.
        refund_id: RefundId,
        /// Its payment.
        payment_id: PaymentId,
        /// The amount, in minor units.
        amount_minor: u64,
        /// The status of the payment from now on.
        status: PaymentStatus,
        /// The instant at which its entries become effective, together with the capture. None when they are effective
        /// at once.
        settles_at: Option<Millis>,
        /// The time.
        at: Millis,
        /// The entry of the activity log, when nothing is left of the payment.
        activity: Option<Activity>,
        /// The acquirer's own reference of the refund.
        acquirer_reference: String,
    },
    /// The acquirer refused a refund: its entries are canceled.
    RefundFailed {
        /// The refund.
        refund_id: RefundId,
        /// Its payment.
        payment_id: PaymentId,
        /// The amount, in minor units.
        amount_minor: u64,
        /// The part of it that no capture on hold covered, in minor units.
        uncovered_minor: u64,
        /// The reason.
        failure: Failure,
        /// The time.
        at: Millis,
    },
    /// A capture became effective of which something is refunded or disputed: it no longer covers these debits.
    DebitsUncovered {
        /// The payment.
        payment_id: PaymentId,
        /// The amount that it covered, in minor units.
        covered_minor: u64,
    },
    /// A refund that was confirmed, or a dispute that was lost, before its capture became effective is effective now,
    /// too.
    DebitSettled {
        /// Its transaction.
        transaction_id: TransactionId,
        /// The instant at which it was to settle, which names its timer.
        settles_at: Millis,
        /// The amount, in minor units.
        amount_minor: u64,
        /// The instant at which it settled.
        at: Millis,
    },
    /// An event that is delivered to webhooks.
    WebhookEventRecorded(WebhookEvent),
    /// A webhook was connected, changed or stopped, and has these values now.
    WebhookSaved {
        /// The merchant, for the directory of webhooks that are sent events.
        merchant_id: MerchantId,
        /// The webhook.
        webhook: Webhook,
    },
    /// Events whose retention has ended were removed.
    WebhookEventsSwept {
        /// The events.
        event_ids: Vec<WebhookEventId>,
    },
    /// An invoice was charged to the balance.
    InvoiceCharged {
        /// The invoice.
        invoice: Invoice,
        /// Its transaction, effective at once.
        transaction: Transaction,
    },
    /// A payout was accepted, and the acquirer is asked to pay it.
    PayoutRequested {
        /// The payout.
        payout: Payout,
        /// Its transaction, on hold.
        transaction: Transaction,
        /// The entry of the activity log.
        activity: Activity,
    },
    /// The acquirer paid a payout: its entries are effective.
    PayoutPaid {
        /// The payout.
        payout_id: PayoutId,
        /// The amount, in minor units.
        amount_minor: u64,
        /// The time.
        at: Millis,
    },
    /// The acquirer refused a payout: its entries are canceled.
    PayoutFailed {
        /// The payout.
        payout_id: PayoutId,
        /// The amount, in minor units.
        amount_minor: u64,
        /// The reason.
        failure: Failure,
        /// The time.
        at: Millis,
    },
    /// A dispute was opened about a payment.
    DisputeOpened {
        /// The dispute.
        dispute: Dispute,
        /// Its transaction, on hold.
        transaction: Transaction,
        /// The part of it that no capture on hold covers, in minor units.
        uncovered_minor: u64,
    },
    /// The merchant gave evidence, which is to be sent to the acquirer.
    DisputeChallenged {
        /// The dispute.
        dispute_id: DisputeId,
        /// The evidence.
        evidence: Evidence,
        /// The status of the dispute from now on.
        status: DisputeStatus,
        /// The entry of the activity log.
        activity: Activity,
    },
    /// The acquirer took the evidence, and has not decided.
    EvidenceTaken {
        /// The dispute.
        dispute_id: DisputeId,
    },
    /// The provider had the card scheme decide the dispute.
    DisputeEscalated {
        /// The dispute.
        dispute_id: DisputeId,
        /// The entry of the activity log.
        activity: Activity,
    },
    /// A dispute was decided.
    DisputeClosed(DisputeClosing),
    /// The merchant has a test clock, which shows the time of this record.
    TestClockSet {
        /// The merchant, for the list of all test clocks.
        merchant_id: MerchantId,
        /// The clock from now on.
        test_clock: TestClock,
    },
    /// Entries are counted towards a month from now on: the merchant's first one, or the one after a month that has
    /// ended.
    StatementPeriodOpened {
        /// The month.
        period: StatementPeriod,
    },
    /// A month is over, and its statement closed.
    StatementClosed {
        /// The statement.
        statement: Statement,
    },
    /// A card was saved that the customer had saved before.
    CardRenewed {
        /// The card.
        card_id: CardId,
        /// Its expiry from now on.
        expiry: CardExpiry,
        /// The merchant's own identifier, when the card is given one.
        external_id: Option<ExternalId>,
    },
    /// A saved card was forgotten.
    CardForgotten {
        /// The customer.
        customer_id: CustomerId,
        /// The card.
        card_id: CardId,
        /// The customer's default card from now on.
        default_card_id: Option<CardId>,
        /// The time.
        at: Millis,
    },
    /// A customer was removed, and all saved cards with it.
    CustomerRemoved {
        /// The customer.
        customer_id: CustomerId,
        /// The cards that were forgotten.
        card_ids: Vec<CardId>,
        /// The time.
        at: Millis,
    },
    /// An array with repeated items became a set of its distinct items.
    MetadataRepeatsDropped {
        /// The record.
        id: MetadataId,
        /// The number of the set.
        number: SetNumber,
        /// Its counters. The next position is after the array.
        set: MetadataSet,
        /// The array. The position of an item in the set is the place, from 0, of its first occurrence here.
        array: CanonicalJson,
    },
    /// The colour of the pages for customers was set.
    ColorChanged {
        /// The colour.
        color: Color,
    },
    /// A checkout was started.
    CheckoutStarted(Checkout),
    /// A payment of a checkout was made: it is in progress, and has the checkout's reference from now on.
    CheckoutPaid {
        /// The checkout.
        checkout_id: CheckoutId,
        /// The payment.
        payment_id: PaymentId,
    },
    /// The payment of a checkout has ended without success, and another one can be made.
    CheckoutReopened {
        /// The checkout.
        checkout_id: CheckoutId,
    },
    /// A checkout takes no new payment, and its payment in progress decides.
    CheckoutClosed {
        /// The checkout.
        checkout_id: CheckoutId,
    },
    /// A checkout was paid.
    CheckoutCompleted {
        /// The checkout.
        checkout_id: CheckoutId,
        /// The time.
        at: Millis,
    },
    /// A checkout ended without a payment that succeeded.
    CheckoutExpired {
        /// The checkout.
        checkout_id: CheckoutId,
        /// The time.
        at: Millis,
    },
    /// The customer fields of a checkout were erased: after its end, or with a customer whom they named.
    CheckoutCustomerErased {
        /// The checkout.
        checkout_id: CheckoutId,
    },
    /// An account at an acquirer was added or changed, and has these values now.
    AcquirerSaved {
        /// The merchant, for the directory of accounts.
        merchant_id: MerchantId,
        /// The account.
        account: AcquirerAccount,
    },
    /// An account at an acquirer was removed.
    AcquirerRemoved {
        /// The account.
        acquirer_id: AcquirerId,
    },
    /// The acquirer has prepared a payment: nothing is sent that may move its money before this is durable.
    CallPrepared(Preparation),
    /// The acquirer has told the card that the customer entered at its page.
    CardTold {
        /// The payment.
        payment_id: PaymentId,
        /// The card.
        card: CardAtAcquirer,
    },
    /// What a member of the team signs in with was changed or used.
    SeatChanged {
        /// The member.
        user_id: UserId,
        /// The change.
        change: SeatChange,
        /// The time.
        at: Millis,
    },
}

/// The decision of a dispute, with all its consequences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisputeClosing {
    /// The dispute.
    pub dispute_id: DisputeId,
    /// Its payment.
    pub payment_id: PaymentId,
    /// The decision.
    pub outcome: DisputeOutcome,
    /// The amount in dispute, in minor units.
    pub amount_minor: u64,
    /// The status of the payment from now on.
    pub payment_status: PaymentStatus,
    /// The part of the amount that no capture on hold covered, in minor units.
    pub uncovered_minor: u64,
    /// Of a charge-back: the instant at which its entries become effective, together with the capture. None when at
    /// once.
    pub settles_at: Option<Millis>,
    /// The time of the decision.
    pub at: Millis,
    /// The entries of the activity log.
    pub activities: Vec<Activity>,
}
