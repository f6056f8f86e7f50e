//! Events: what happened, with everything that applying needs.

use crate::activity::Activity;
use crate::card::{Card, CardExpiry, Token};
use crate::command::{Caller, IdempotencyScope};
use crate::customer::Customer;
use crate::dispute::{Dispute, DisputeOutcome, DisputeStatus};
use crate::effect::Effect;
use crate::ids::{
    CardId, CustomerId, DisputeId, IdPosition, InstallationId, InvitationId, InvoiceId, KeyId, MerchantId, MetadataId,
    PaymentId, PayoutId, RefundId, SessionId, TokenId, TopupId, TransactionId, UserId, WebhookEventId, WebhookId,
};
use crate::key::ApiKey;
use crate::ledger::{Invoice, Topup, Transaction};
use crate::merchant::{Installation, Integration, PaymentMethod, Profile, TestClock};
use crate::metadata::{CanonicalJson, Document, ItemHash, MetadataRecord, MetadataSet, SetNumber, SweptItem};
use crate::payment::{Authorization, Capture, Failure, Operation, Payment, PaymentStatus, RefusedOperation};
use crate::payout::Payout;
use crate::plan::PlanChoice;
use crate::refund::Refund;
use crate::session::Session;
use crate::statement::{Statement, StatementPeriod};
use crate::team::{Invitation, User};
use crate::text::{Evidence, ExternalId, IdempotencyKey, MetadataKey, Name};
use crate::time::Millis;
use crate::webhook::{Webhook, WebhookEvent};

/// How long an answer is kept for repeated calls: a day and an hour, so that a caller that retries for a
/// whole day is served.
pub const ANSWER_KEPT_SECONDS: u64 = 25 * 3_600;

/// One decision as it stands in a merchant's log: one record, one atomic step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutation {
    /// When: never before the merchant's previous one.
    pub at: Millis,
    /// Who asked.
    pub caller: Caller,
    /// The position of the merchant's last id, this mutation's included.
    pub last_id: IdPosition,
    /// The answer to keep for a repeated call.
    pub answer: Option<(IdempotencyScope, StoredAnswer)>,
    /// What happened, in order.
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
    /// What was answered.
    pub answer: Answer,
    /// Until when it is kept.
    pub expires_at: Millis,
}

impl StoredAnswer {
    /// Whether a repeated call is still given it at `now`.
    #[must_use]
    pub fn is_kept(&self, now: Millis) -> bool {
        now < self.expires_at
    }
}

/// What a command that took effect is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// A merchant was created.
    Merchant(MerchantId),
    /// An API key was made.
    Key {
        /// Its uid.
        key_id: KeyId,
        /// When.
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
    /// Whether it changed anything.
    Changed(bool),
    /// Somebody was invited.
    Invitation(InvitationId),
    /// Somebody became a user.
    User(UserId),
    /// A metadata record was given the value that the call brought.
    Metadata {
        /// Its version.
        version: u64,
        /// When it was made.
        created_at: Millis,
        /// When its value last changed.
        updated_at: Millis,
        /// From when on it is gone.
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
    /// A card was saved, or had been.
    Card(CardId),
}

impl Answer {
    /// The id that is answered, as text; none where something else is.
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
            Answer::Invitation(id) => Some(id.to_string()),
            Answer::User(id) => Some(id.to_string()),
            Answer::Refund(id) => Some(id.to_string()),
            Answer::Webhook(id) => Some(id.to_string()),
            Answer::Invoice(id) => Some(id.to_string()),
            Answer::Payout(id) => Some(id.to_string()),
            Answer::Dispute(id) => Some(id.to_string()),
            Answer::Contact(id) => Some(id.to_string()),
            Answer::Card(id) => Some(id.to_string()),
            Answer::Changed(_) | Answer::Metadata { .. } => None,
        }
    }
}

/// A write to the vault that belongs to a decision. The bytes are no part of any event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VaultWrite {
    /// Keep the card number that came beside the command.
    KeepTokenNumber(TokenId),
    /// Keep the number of a token as that of a saved card, too.
    CopyTokenNumber(TokenId, CardId),
    /// Keep the text of a key that came beside the command for as long as the answer is kept.
    KeepKeyText(KeyId),
    /// Keep the secret of a webhook that came beside the command.
    KeepWebhookSecret(WebhookId),
    /// The same, and keep the secret that there was as the previous one.
    ReplaceWebhookSecret(WebhookId),
    /// Forget the number of a token.
    ForgetTokenNumber(TokenId),
    /// Forget the key under which the customer fields of a session are sealed.
    ForgetSessionKey(SessionId),
    /// Forget the kept text of a key.
    ForgetKeyText(KeyId),
    /// Forget the key under which the name on the card of a token is sealed.
    ForgetTokenKey(TokenId),
    /// Forget the number of a saved card.
    ForgetCardNumber(CardId),
    /// Forget the key under which everything is sealed that is known of a customer: erases the person.
    ForgetCustomerKey(CustomerId),
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The merchant's log was opened.
    MerchantCreated {
        /// Its id.
        merchant_id: MerchantId,
        /// Who it is.
        profile: Profile,
        /// What it takes payments with.
        integrations: Vec<(PaymentMethod, Integration)>,
    },
    /// Its calls that change something are refused from now on, or taken again.
    SuspensionChanged {
        /// Whether they are refused.
        suspended: bool,
    },
    /// An API key was made.
    KeyGenerated {
        /// Whose, for the directory of all merchants.
        merchant_id: MerchantId,
        /// The key.
        key: ApiKey,
    },
    /// An API key was ended.
    KeyRevoked {
        /// Which.
        key_id: KeyId,
        /// When.
        at: Millis,
    },
    /// An installation was added.
    InstallationAdded(Installation),
    /// It was said how payments of a method are carried out.
    PaymentMethodConfigured {
        /// Which method.
        method: PaymentMethod,
        /// How.
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
        /// Whether a token for one use was used up.
        token_used_up: Option<TokenId>,
    },
    /// A customer was created.
    CustomerCreated(Customer),
    /// A customer's fields changed.
    CustomerUpdated {
        /// As it was.
        before: Customer,
        /// As it is.
        after: Customer,
    },
    /// A payment was made of a session, and its authorization asked for.
    PaymentInitiated {
        /// The payment.
        payment: Payment,
        /// The authorization to carry out.
        effect: Effect,
    },
    /// The acquirer authorized a payment.
    PaymentAuthorized {
        /// Which.
        payment_id: PaymentId,
        /// The authorization, with the instant at which it lapses.
        authorization: Authorization,
    },
    /// The acquirer refused a payment.
    PaymentFailed {
        /// Which.
        payment_id: PaymentId,
        /// How much is no longer reserved, in minor units.
        released_minor: u64,
        /// Why.
        failure: Failure,
    },
    /// A payment was captured.
    PaymentCaptured {
        /// Which.
        payment_id: PaymentId,
        /// How much is no longer reserved, in minor units.
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
        /// Whether it is the customer's default now.
        is_default: bool,
        /// When.
        at: Millis,
    },
    /// A saved card was made its customer's default.
    DefaultCardSet {
        /// Whose.
        customer_id: CustomerId,
        /// The card.
        card_id: CardId,
        /// When.
        at: Millis,
    },
    /// An authorization lapsed: it is to be given up. Only in logs of earlier versions: a lapse is an operation now.
    AuthorizationLapsed {
        /// Of which payment.
        payment_id: PaymentId,
        /// The call to carry out.
        effect: Effect,
        /// When it was to lapse, which names its timer.
        lapses_at: Millis,
    },
    /// A payment was voided.
    PaymentVoided {
        /// Which.
        payment_id: PaymentId,
        /// How much is no longer reserved, in minor units.
        released_minor: u64,
        /// What the activity log says.
        activity: Activity,
    },
    /// A transaction on hold became effective.
    TransactionSettled {
        /// Which.
        transaction_id: TransactionId,
        /// When it was to settle, which names its timer.
        settles_at: Millis,
        /// Its credits on the balance, in minor units.
        credit_minor: u64,
        /// Its debits on the balance, fee and interest, in minor units.
        debit_minor: u64,
        /// When it did.
        at: Millis,
    },
    /// An API key is called something else.
    KeyRenamed {
        /// Which.
        key_id: KeyId,
        /// What it is called now.
        name: Name,
    },
    /// Somebody was invited to the team.
    UserInvited {
        /// The invitation.
        invitation: Invitation,
        /// What the activity log says.
        activity: Activity,
    },
    /// An invitation was accepted.
    InvitationAccepted {
        /// Who the invited became, which names the invitation.
        user: User,
        /// What the activity log says.
        activity: Activity,
    },
    /// A user was removed from the team.
    UserRemoved {
        /// Who.
        user_id: UserId,
        /// What the activity log says.
        activity: Activity,
    },
    /// Another plan was selected.
    PlanSwitched {
        /// Which, and since when.
        choice: PlanChoice,
        /// What the activity log says.
        activity: Activity,
    },
    /// A metadata record was made, changed, or lives longer.
    MetadataSaved {
        /// Its key.
        key: MetadataKey,
        /// As it is now.
        record: MetadataRecord,
        /// When its timer was due before; none when it is a new record.
        timer_was: Option<Millis>,
        /// Its document, where that changed.
        document: Option<Document>,
        /// The sets below this number were replaced, and are to be swept.
        garbage_below: Option<SetNumber>,
    },
    /// An array became a set, or an empty place did.
    MetadataSetFormed {
        /// Of which record.
        id: MetadataId,
        /// Which set.
        number: SetNumber,
        /// Its counters.
        set: MetadataSet,
        /// An array of its items, at positions from 0. Before [`Event::MetadataRepeatsDropped`] also those that were left of
        /// repeated ones.
        items: CanonicalJson,
    },
    /// An item was added to a set.
    MetadataItemAdded {
        /// Of which record.
        id: MetadataId,
        /// To which set.
        number: SetNumber,
        /// Its counters.
        set: MetadataSet,
        /// Where in it.
        position: u64,
        /// The item.
        item: CanonicalJson,
    },
    /// An item was removed from a set.
    MetadataItemRemoved {
        /// Of which record.
        id: MetadataId,
        /// From which set.
        number: SetNumber,
        /// Its counters.
        set: MetadataSet,
        /// Where it was.
        position: u64,
        /// What it was found by.
        hash: ItemHash,
    },
    /// A metadata record was deleted or has expired.
    MetadataEnded {
        /// Its key.
        key: MetadataKey,
        /// Which record.
        id: MetadataId,
        /// When its timer was due.
        timer_due: Millis,
        /// The sets below this number are to be swept.
        garbage_below: Option<SetNumber>,
    },
    /// The timer of a metadata record was due before the record's expiry, and is set anew.
    MetadataTimerMoved {
        /// The record's key.
        key: MetadataKey,
        /// The record as it is now.
        record: MetadataRecord,
        /// When it was due.
        timer_was: Millis,
    },
    /// Rows of metadata that nobody could see any more were removed.
    MetadataSwept {
        /// Of which record they were.
        id: MetadataId,
        /// Items.
        items: Vec<SweptItem>,
        /// Counters of sets.
        sets: Vec<SetNumber>,
        /// Whether nothing is left.
        finished: bool,
    },
    /// Sessions were removed.
    SessionsSwept {
        /// Which.
        session_ids: Vec<SessionId>,
    },
    /// Tokens for one use were removed.
    TokensSwept {
        /// Which.
        token_ids: Vec<TokenId>,
    },
    /// Kept answers were removed.
    AnswersSwept {
        /// Which.
        scopes: Vec<IdempotencyScope>,
        /// Under which names the merchant is no longer found as one that a named call created.
        created_merchants: Vec<IdempotencyKey>,
    },
    /// An installation was changed, and is like this now.
    InstallationUpdated(Installation),
    /// An installation was removed.
    InstallationRemoved {
        /// The installation.
        installation_id: InstallationId,
    },
    /// A token for several uses waits in its installation's queue until a payment uses it, and ends if none does.
    TokenQueued {
        /// The token.
        token_id: TokenId,
        /// At which installation it was made.
        installation_id: InstallationId,
        /// Its place in the queue.
        position: u64,
        /// The first place of the queue from now on: those before it are empty.
        first: u64,
        /// When it ends.
        expires_at: Millis,
    },
    /// A payment used a token for several uses for the first time: it has no end from now on.
    TokenKept {
        /// The token.
        token_id: TokenId,
    },
    /// Identifiers that look like card numbers are taken from now on, or refused again.
    CardNumbersInIdentifiersChanged {
        /// True when they are taken.
        allowed: bool,
    },
    /// The acquirer is asked to capture, void or reverse a payment.
    OperationRequested {
        /// The payment.
        payment_id: PaymentId,
        /// What is asked.
        operation: Operation,
    },
    /// The acquirer refused a capture, a void or a reversal: the payment is as before.
    OperationRefused {
        /// The payment.
        payment_id: PaymentId,
        /// What was refused.
        refused: RefusedOperation,
        /// Of a capture or a void: when the authorization lapses from now on.
        lapses_at: Option<Millis>,
        /// True when the payment fails by it, as soon as its authorization is given up.
        fails: bool,
    },
    /// A payment was taken back before it settled.
    PaymentReversed {
        /// The payment.
        payment_id: PaymentId,
        /// The credit on the balance that is canceled, in minor units.
        credit_minor: u64,
        /// The debits on the balance that are canceled, fee and interest, in minor units.
        debit_minor: u64,
        /// When.
        at: Millis,
        /// What the activity log says.
        activity: Activity,
    },
    /// The acquirer did not answer in time: the payment is over. The call stays open until there is an answer.
    PaymentExpired {
        /// The payment.
        payment_id: PaymentId,
        /// How much is no longer reserved, in minor units.
        released_minor: u64,
    },
    /// The acquirer authorized a payment that was over. It is told to give the money back.
    LateSuccess {
        /// The payment.
        payment_id: PaymentId,
        /// The authorization.
        authorization: Authorization,
        /// True when the money was captured with it.
        captured: bool,
    },
    /// The last call to the acquirer for a payment that is over has ended: it declined late, or was told to give money back.
    LateCallEnded {
        /// The payment.
        payment_id: PaymentId,
        /// Why it declined, when it did.
        failure: Option<Failure>,
    },
    /// A refund was accepted, and the acquirer is asked to pay it.
    RefundRequested {
        /// The refund.
        refund: Refund,
        /// Its transaction, on hold.
        transaction: Transaction,
        /// How much of it no capture on hold covers, in minor units.
        uncovered_minor: u64,
        /// What the activity log says.
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
        /// When its entries become effective: with the capture. None when they are at once.
        settles_at: Option<Millis>,
        /// When.
        at: Millis,
        /// What the activity log says, when nothing is left of the payment.
        activity: Option<Activity>,
    },
    /// The acquirer refused a refund: its entries are canceled.
    RefundFailed {
        /// The refund.
        refund_id: RefundId,
        /// Its payment.
        payment_id: PaymentId,
        /// How much it is, in minor units.
        amount_minor: u64,
        /// How much of it no capture on hold covered, in minor units.
        uncovered_minor: u64,
        /// Why.
        failure: Failure,
        /// When.
        at: Millis,
    },
    /// A capture became effective from which something is taken back: it covers these refunds and disputes no longer.
    DebitsUncovered {
        /// The payment.
        payment_id: PaymentId,
        /// How much it covered, in minor units.
        covered_minor: u64,
    },
    /// A refund that was confirmed, or a dispute that was lost, before its capture became effective is effective, too.
    DebitSettled {
        /// Its transaction.
        transaction_id: TransactionId,
        /// When it was to settle, which names its timer.
        settles_at: Millis,
        /// The amount, in minor units.
        amount_minor: u64,
        /// When it did.
        at: Millis,
    },
    /// Something happened that webhooks are told.
    WebhookEventRecorded(WebhookEvent),
    /// A webhook was connected, changed or stopped, and is like this now.
    WebhookSaved {
        /// The merchant, for the directory of webhooks that are sent events.
        merchant_id: MerchantId,
        /// The webhook.
        webhook: Webhook,
    },
    /// Events were removed that are kept no longer.
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
        /// When.
        at: Millis,
    },
    /// The acquirer refused a payout: its entries are canceled.
    PayoutFailed {
        /// The payout.
        payout_id: PayoutId,
        /// The amount, in minor units.
        amount_minor: u64,
        /// Why.
        failure: Failure,
        /// When.
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
    /// The merchant gave evidence, and the acquirer is to be given it.
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
    /// Entries are counted towards a month from now on: towards the merchant's first one, or towards the one after that
    /// which has ended.
    StatementPeriodOpened {
        /// The month.
        period: StatementPeriod,
    },
    /// A month is over, and its statement closed.
    StatementClosed {
        /// The statement.
        statement: Statement,
    },
    /// A month of which not all entries are numbered is over. It has no statement.
    StatementPeriodEnded {
        /// Its end, which names its timer.
        ends_at: Millis,
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
        /// When.
        at: Millis,
    },
    /// A customer was removed, and all saved cards with it.
    CustomerRemoved {
        /// The customer.
        customer_id: CustomerId,
        /// The cards that were forgotten.
        card_ids: Vec<CardId>,
        /// When.
        at: Millis,
    },
    /// An array with repeated items became a set of the first of each.
    MetadataRepeatsDropped {
        /// Of which record.
        id: MetadataId,
        /// Which set.
        number: SetNumber,
        /// Its counters. The next position is behind the array.
        set: MetadataSet,
        /// The array. The position of an item in the set is the place, from 0, where it stands first in here.
        array: CanonicalJson,
    },
}

/// The decision of a dispute, with all that follows from it.
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
    /// Of a charge-back: when its entries become effective, with the capture. None when they are at once.
    pub settles_at: Option<Millis>,
    /// When it was decided.
    pub at: Millis,
    /// The entries of the activity log.
    pub activities: Vec<Activity>,
}
