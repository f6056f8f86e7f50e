//! The records of a merchant: its bounded state, and its rows by typed look-up.

use crate::acquirer::{AccountMode, AcquirerAccount, AcquirerRef, AcquirerUse, CardEntry};
use crate::activity::{Activity, ActivityObject, ActivityType};
use crate::card::{Card, CardFingerprint, Token, TokenQueue, TokenUse};
use crate::checkout::{Checkout, CheckoutStatus};
use crate::command::IdempotencyScope;
use crate::customer::{Customer, CustomerRef, NamedBy};
use crate::customer_action::CustomerAction;
use crate::dispute::{Dispute, DisputeStatus};
use crate::effect::{Effect, EffectId, Timer};
use crate::event::StoredAnswer;
use crate::ids::{
    AcquirerId, ActivityId, CardId, CheckoutId, CustomerId, DisputeId, EntryId, IdOrExternalId, IdPosition,
    InstallationId, InvitationId, InvoiceId, KeyId, MerchantId, MetadataId, PaymentId, PayoutId, RefundId, SessionId,
    StatementId, TokenId, TopupId, TransactionId, UserId, WebhookEventId, WebhookId,
};
use crate::key::{ApiKey, KeyDigest};
use crate::ledger::{BalanceTotals, Entry, Invoice, Topup, Transaction};
use crate::merchant::{Installation, Integration, PaymentMethod, Profile, TestClock};
use crate::metadata::{CanonicalJson, Document, ItemHash, MetadataRecord, MetadataSet, SetNumber};
use crate::payment::{CaptureTime, Payment, PaymentStatus};
use crate::payout::{Payout, PayoutStatus};
use crate::plan::PlanChoice;
use crate::preparation::Preparation;
use crate::refund::{Refund, RefundStatus};
use crate::session::Session;
use crate::statement::{MonthEntries, Statement, StatementPeriod};
use crate::team::{Invitation, User};
use crate::text::{Email, ExternalId, IdempotencyKey, MetadataKey, Mobile};
use crate::time::Millis;
use crate::webhook::{Webhook, WebhookEvent};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The state that a merchant's actor keeps in memory, whatever the number of its payments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MerchantState {
    /// Its profile; none before it is created.
    pub profile: Option<Profile>,
    /// Its API keys, at most [`crate::key::KEYS_MAX`].
    pub keys: BTreeMap<KeyId, ApiKey>,
    /// Its installations, at most [`crate::merchant::INSTALLATIONS_MAX`].
    pub installations: BTreeMap<InstallationId, Installation>,
    /// Its payment methods.
    pub integrations: BTreeMap<PaymentMethod, Integration>,
    /// The totals of its balance; none before it is opened.
    pub balance: Option<BalanceTotals>,
    /// The month whose statement is closed next; none before the balance is opened.
    pub statement_period: Option<StatementPeriod>,
    /// The number of its checkouts that are open, at most [`crate::checkout::OPEN_CHECKOUTS_MAX`].
    pub open_checkouts: u64,
    /// Amounts of payments that may still be captured, so that no total can exceed its limit.
    pub reserved_minor: u64,
    /// Its team, at most [`crate::team::TEAM_MAX`].
    pub users: BTreeMap<UserId, User>,
    /// Its invitations that were not accepted, of which at most [`crate::team::INVITATIONS_OPEN_MAX`] can still be.
    pub invitations: BTreeMap<InvitationId, Invitation>,
    /// The plan that it selected; none while it has the first one.
    pub plan: Option<PlanChoice>,
    /// The number of its last webhook event, 0 before the first.
    pub webhook_events: u64,
    /// Its webhooks that are sent events, at most [`crate::webhook::WEBHOOKS_MAX`].
    pub connected_webhooks: BTreeSet<WebhookId>,
    /// Its test clock; none when its time is the wall clock.
    pub test_clock: Option<TestClock>,
    /// Its accounts at acquirers, at most [`crate::acquirer::ACQUIRERS_MAX`].
    pub acquirers: BTreeMap<AcquirerId, AcquirerAccount>,
    /// The kind of money of its first payment, and so of all; none before that.
    pub mode_of_payments: Option<AccountMode>,
    /// When its last event happened.
    pub last_at: Millis,
    /// The position of its last id.
    pub last_id: IdPosition,
}

impl MerchantState {
    /// The kind of money that its payments and accounts move: one of the two, never both. None before there are any.
    #[must_use]
    pub fn mode_of_money(&self) -> Option<AccountMode> {
        self.mode_of_payments.or_else(|| self.acquirers.values().next().map(|account| account.mode))
    }

    /// The kind of money that an acquirer moves for the merchant: the sandbox plays it.
    #[must_use]
    pub fn mode_at(&self, acquirer: AcquirerRef) -> AccountMode {
        let account = acquirer.account_id().and_then(|id| self.acquirers.get(&id));
        account.map_or(AccountMode::Test, |account| account.mode)
    }

    /// True when customers enter their cards at the page of the acquirer that carries out payments by card.
    #[must_use]
    pub fn has_card_page(&self) -> bool {
        let integration = self.integrations.get(&PaymentMethod::Card);
        let account = integration.and_then(|found| self.acquirers.get(&found.acquirer.account_id()?));
        account.is_some_and(|account| account.card_entry == CardEntry::Page)
    }

    /// The time by which the merchant is ahead of the wall clock, in milliseconds: 0 without a test clock.
    #[must_use]
    pub fn clock_offset_ms(&self) -> u64 {
        self.test_clock.map_or(0, |test_clock| test_clock.offset_ms)
    }
}

/// A row could not be read: the bytes are damaged or the disk failed. Nothing is decided on it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("failed to read a row: {reason}")]
pub struct Unreadable {
    /// The row and the reason, for an operator.
    pub reason: String,
}

/// One kind of row: its key and its content.
pub trait Table: 'static {
    /// The type of the key.
    type Key: Clone;
    /// The type of the content.
    type Row: Clone;
    /// The key in the enumeration of all.
    fn key(key: Self::Key) -> AnyKey;
    /// The row in the enumeration of all.
    #[must_use]
    fn wrap(row: Self::Row) -> AnyRow {
        Self::wrap_shared(Arc::new(row))
    }
    /// The same of a row that is shared.
    fn wrap_shared(row: Arc<Self::Row>) -> AnyRow;
    /// The row of this kind, if it is one, as it is shared.
    fn unwrap_shared(row: AnyRow) -> Option<Arc<Self::Row>>;
    /// The row of this kind, if it is one.
    #[must_use]
    fn unwrap(row: AnyRow) -> Option<Self::Row> {
        Self::unwrap_shared(row).map(Arc::unwrap_or_clone)
    }
}

/// Typed look-ups.
pub trait Rows {
    /// The row under a key of any kind, as it is shared.
    ///
    /// # Errors
    /// [`Unreadable`] when the row cannot be read.
    fn read(&self, key: &AnyKey) -> Result<Option<AnyRow>, Unreadable>;

    /// The row under `key`.
    ///
    /// # Errors
    /// As [`Rows::read`].
    fn get<T: Table>(&self, key: T::Key) -> Result<Option<T::Row>, Unreadable> {
        Ok(self.read(&T::key(key))?.and_then(T::unwrap))
    }

    /// The same for a caller that does not change it: rows that are held in memory are not copied.
    ///
    /// # Errors
    /// As [`Rows::read`].
    fn shared<T: Table>(&self, key: T::Key) -> Result<Option<Arc<T::Row>>, Unreadable> {
        Ok(self.read(&T::key(key))?.and_then(T::unwrap_shared))
    }

    /// The id of the object that a call names, by the index of external ids; none when no object has the external id.
    /// An id is taken as it is: its object is not looked up.
    ///
    /// # Errors
    /// As [`Rows::read`].
    fn id_of<T: Table<Key = ExternalId>>(&self, named: &IdOrExternalId<T::Row>) -> Result<Option<T::Row>, Unreadable> {
        match named {
            IdOrExternalId::Own(id) => Ok(Some(id.clone())),
            IdOrExternalId::External(external_id) => self.get::<T>(external_id.clone()),
        }
    }
}

/// Typed changes.
pub trait RowsMut: Rows {
    /// Writes a row, or removes the one under the key when none is given.
    fn write(&mut self, key: AnyKey, row: Option<AnyRow>);

    /// Takes the row under `key` out, to be changed and written again. It is copied only when it is shared.
    ///
    /// # Errors
    /// As [`Rows::read`].
    fn take<T: Table>(&mut self, key: T::Key) -> Result<Option<T::Row>, Unreadable> {
        self.get::<T>(key)
    }

    /// Writes a row.
    fn put<T: Table>(&mut self, key: T::Key, row: T::Row) {
        self.write(T::key(key), Some(T::wrap(row)));
    }

    /// Writes a row that is not copied until it changes.
    fn share<T: Table>(&mut self, key: T::Key, row: &Arc<T::Row>) {
        self.write(T::key(key), Some(T::wrap_shared(Arc::clone(row))));
    }

    /// Removes a row.
    fn remove<T: Table>(&mut self, key: T::Key) {
        self.write(T::key(key), None);
    }
}

/// All records that a decision depends on.
pub trait Records: Rows {
    /// The merchant's bounded state.
    fn state(&self) -> &MerchantState;
}

/// Declares the kinds of rows. Those `for lists` are read by lists and look-ups only, never by a decision or a fold.
macro_rules! tables {
    (@read_by_decisions) => { true };
    (@read_by_decisions lists) => { false };
    ($($(#[$doc:meta])* $name:ident: $key:ty => $row:ty $(, for $lists:ident)?;)+) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy)]
            pub enum $name {}

            impl Table for $name {
                type Key = $key;
                type Row = $row;

                fn key(key: $key) -> AnyKey {
                    AnyKey::$name(key)
                }

                fn wrap_shared(row: Arc<$row>) -> AnyRow {
                    AnyRow::$name(row)
                }

                fn unwrap_shared(row: AnyRow) -> Option<Arc<$row>> {
                    // The one place where "any other kind" is meant.
                    if let AnyRow::$name(row) = row { Some(row) } else { None }
                }
            }
        )+

        /// A key of any kind.
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum AnyKey {
            $($(#[$doc])* $name($key),)+
        }

        impl AnyKey {
            /// Returns true when a decision or a fold reads rows of the kind. The other kinds serve lists and look-ups
            /// only, which read the store.
            #[must_use]
            pub const fn is_read_by_decisions(&self) -> bool {
                match self {
                    $(AnyKey::$name(_) => tables!(@read_by_decisions $($lists)?),)+
                }
            }
        }

        /// A row of any kind. It is shared: a clone copies nothing, and a row takes no more room than its own kind.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum AnyRow {
            $($(#[$doc])* $name(Arc<$row>),)+
        }
    };
}

/// Marks a row whose key has all the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Present;

/// The one row of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Single;

tables! {
    /// The merchant's profile.
    Profiles: Single => Profile;
    /// API keys by uid.
    ApiKeys: KeyId => ApiKey;
    /// Installations.
    Installations: InstallationId => Installation, for lists;
    /// The merchant's payment methods.
    Integrations: PaymentMethod => Integration, for lists;
    /// Accounts at acquirers.
    AcquirerAccounts: AcquirerId => AcquirerAccount, for lists;
    /// What the payments of an account at an acquirer mean for its removal; there is a row from the first one on.
    AcquirerUses: AcquirerId => AcquirerUse;
    /// The totals of the balance; there is a row once the balance is open.
    Balances: Single => BalanceTotals;
    /// Card tokens.
    Tokens: TokenId => Token;
    /// Payment sessions.
    Sessions: SessionId => Session;
    /// Payments.
    Payments: PaymentId => Payment;
    /// Checkouts, in the order in which they are listed.
    Checkouts: CheckoutId => Checkout;
    /// Checkouts by the merchant's reference. One that expired without a payment has none.
    CheckoutsByExternalId: ExternalId => CheckoutId;
    /// Checkouts by status, each in the order in which they are listed.
    CheckoutsByStatus: (CheckoutStatus, CheckoutId) => Present, for lists;
    /// The newest open checkout that names a customer by an id or the merchant's own identifier. The older ones follow
    /// from it, each from the one after it: so the removal of a customer finds them all.
    NewestCheckoutsByCustomer: CustomerRef => CheckoutId;
    /// The newest open checkout with an e-mail address.
    NewestCheckoutsByEmail: Email => CheckoutId;
    /// The newest open checkout with a mobile number.
    NewestCheckoutsByMobile: Mobile => CheckoutId;
    /// The place of an open checkout among those that name the same person in a way.
    CheckoutNeighbors: (CheckoutId, NamedBy) => Neighbors;
    /// Customers.
    Customers: CustomerId => Customer;
    /// Saved cards.
    Cards: CardId => Card;
    /// Top-ups.
    Topups: TopupId => Topup;
    /// Invoices.
    Invoices: InvoiceId => Invoice, for lists;
    /// Payouts, in the order in which they are listed.
    Payouts: PayoutId => Payout;
    /// Refunds, in the order in which they are listed.
    Refunds: RefundId => Refund;
    /// Ledger transactions with all their entries.
    Transactions: TransactionId => Transaction;
    /// Entries on the balance, in the order in which they are listed.
    Entries: EntryId => Entry, for lists;
    /// Entries on the balance that have become effective, by number: 1 is the first since the first period was opened.
    EffectiveEntries: u64 => EntryId, for lists;
    /// The numbered entries of the month whose statement is closed next; there is a row once the first period is
    /// opened.
    MonthToDate: Single => MonthEntries;
    /// Statements, in the order in which they are listed.
    Statements: StatementId => Statement, for lists;
    /// Statements by the end of their month, the first instant after it.
    StatementsByEnd: Millis => StatementId, for lists;
    /// The activity log, in the order in which it is listed.
    Activities: ActivityId => Activity, for lists;
    /// Answers kept for repeated calls.
    Answers: IdempotencyScope => StoredAnswer;
    /// The team.
    Users: UserId => User;
    /// Invitations to the team, accepted and expired ones too.
    Invitations: InvitationId => Invitation;
    /// The plan; there is a row once one was selected.
    CurrentPlan: Single => PlanChoice, for lists;
    /// Open effects: one operation and any number of refunds of each payment.
    Effects: EffectId => Effect;
    /// Timers that are set.
    Timers: Timer => Present;
    /// The actions that customers are asked for: there is a row while the customer must act.
    CustomerActions: PaymentId => CustomerAction;
    /// What acquirers have prepared; a payment at an acquirer that prepares nothing has no row.
    Preparations: PaymentId => Preparation;
    /// Payments by the merchant's reference.
    PaymentsByExternalId: ExternalId => PaymentId;
    /// Payments by status and payment method, each in the order in which they are listed, as all that follow. A payment
    /// that is PENDING has no such row: its open effect leads to it.
    PaymentsByStatus: (PaymentStatus, PaymentMethod, PaymentId) => Present, for lists;
    /// Payments by the amount that was asked for, in minor units.
    PaymentsByAmount: (u64, PaymentId) => Present, for lists;
    /// Payments by their customer.
    PaymentsByCustomer: (CustomerId, PaymentId) => Present, for lists;
    /// Payments by the last four digits of their card.
    PaymentsByLastDigits: ([u8; 4], PaymentId) => Present, for lists;
    /// Captured payments by the time of the capture.
    PaymentsByCapture: (CaptureTime, PaymentId) => Present, for lists;
    /// Customers by the merchant's identifier.
    CustomersByExternalId: ExternalId => CustomerId;
    /// Customers by e-mail address.
    CustomersByEmail: Email => CustomerId;
    /// Customers by an address that is not theirs but that their payments may show. The row repeats the customer, since
    /// the address makes the key a digest.
    CustomersByOtherEmail: (Email, CustomerId) => CustomerId, for lists;
    /// Customers by mobile number.
    CustomersByMobile: Mobile => CustomerId;
    /// Saved cards by the merchant's identifier.
    CardsByExternalId: ExternalId => CardId;
    /// The saved cards of a customer that are not forgotten, the oldest first; there is a row while there are any.
    CustomerCards: CustomerId => Vec<CardId>;
    /// A customer's saved card by the fingerprint of its number, so that none is saved twice.
    CardsByFingerprint: (CustomerId, CardFingerprint) => CardId;
    /// Top-ups by the operator's reference.
    TopupsByExternalId: ExternalId => TopupId;
    /// Invoices by the operator's reference.
    InvoicesByExternalId: ExternalId => InvoiceId;
    /// Payouts by the merchant's reference.
    PayoutsByExternalId: ExternalId => PayoutId;
    /// Payouts by status, each in the order in which they are listed.
    PayoutsByStatus: (PayoutStatus, PayoutId) => Present, for lists;
    /// Payouts that the acquirer has not ended: open calls to it, as effects are for payments.
    OpenPayouts: PayoutId => Present, for lists;
    /// Disputes, in the order in which they are listed.
    Disputes: DisputeId => Dispute;
    /// Disputes by their status, each in the order in which they are listed.
    DisputesByStatus: (DisputeStatus, DisputeId) => Present, for lists;
    /// Disputes by their payment, each in the order in which they are listed.
    DisputesByPayment: (PaymentId, DisputeId) => Present, for lists;
    /// Disputes whose evidence the acquirer has not taken: open calls to it, as effects are for payments.
    OpenEvidence: DisputeId => Present;
    /// Refunds by the merchant's reference.
    RefundsByExternalId: ExternalId => RefundId;
    /// Refunds by status, each in the order in which they are listed.
    RefundsByStatus: (RefundStatus, RefundId) => Present, for lists;
    /// Refunds by their payment, each in the order in which they are listed.
    RefundsByPayment: (PaymentId, RefundId) => Present, for lists;
    /// Webhooks, connected or not.
    Webhooks: WebhookId => Webhook;
    /// Webhook events, in the order in which they are listed.
    WebhookEvents: WebhookEventId => WebhookEvent;
    /// Events by their payment, each in the order in which they are listed.
    WebhookEventsByPayment: (PaymentId, WebhookEventId) => Present, for lists;
    /// Of all merchants: the webhooks that are sent events. Not below the merchant.
    WebhookDirectory: (MerchantId, WebhookId) => Present, for lists;
    /// Activities by type, each in the order of the log, as all that follow.
    ActivitiesByType: (ActivityType, ActivityId) => Present, for lists;
    /// Activities by the key that acted.
    ActivitiesByActorKey: (KeyId, ActivityId) => Present, for lists;
    /// Activities by the address of the user who acted.
    ActivitiesByActorEmail: (Email, ActivityId) => Present, for lists;
    /// Activities by each address in them: that of the user who acted, and that of the team member that they are about.
    ActivitiesByEmail: (Email, ActivityId) => Present, for lists;
    /// Activities by their object.
    ActivitiesByObject: (ActivityObject, ActivityId) => Present, for lists;
    /// Activities by the payment of their object.
    ActivitiesByParent: (PaymentId, ActivityId) => Present, for lists;
    /// Activities with an address in them.
    ActivitiesWithEmail: ActivityId => Present, for lists;
    /// The distinct addresses of the activity log.
    ActivityEmails: Email => EmailUse;
    /// Of all merchants: the owners of API keys. Not below the merchant.
    KeyDirectory: KeyDigest => KeyOwner;
    /// Of all merchants: the owners of accounts at acquirers. Not below the merchant.
    AcquirerDirectory: AcquirerId => MerchantId;
    /// Of all merchants: the instants of creation. Not below the merchant.
    MerchantDirectory: MerchantId => Millis, for lists;
    /// Of all merchants: the clocks of those that have a test clock. Not below the merchant.
    TestClocks: MerchantId => TestClock, for lists;
    /// Of all merchants: those that calls with a key created. Not below the merchant.
    CreatedMerchants: IdempotencyKey => CreatedMerchant;
    /// Metadata records by key, including expired ones that have not been handled yet.
    Metadata: MetadataKey => MetadataRecord;
    /// Values of metadata records, without the items of their sets.
    MetadataDocuments: MetadataId => Document;
    /// Counters of the sets of metadata records.
    MetadataSets: (MetadataId, SetNumber) => MetadataSet;
    /// Items of sets by hash: their positions.
    MetadataItems: (MetadataId, SetNumber, ItemHash) => u64;
    /// Items of sets by position: their values.
    MetadataPositions: (MetadataId, SetNumber, u64) => CanonicalJson, for lists;
    /// Metadata records in the order in which they were made.
    MetadataByCreation: MetadataId => MetadataKey;
    /// Records whose sets below a number are to be swept.
    MetadataGarbage: MetadataId => SetNumber;
    /// Of an installation: the queue of its tokens for several uses that wait for their first payment.
    TokenQueues: InstallationId => TokenQueue;
    /// The tokens in these queues, by their places.
    QueuedTokens: (InstallationId, u64) => TokenId;
    /// The customers who used tokens for several uses; there is a row once one was used.
    TokenUses: TokenId => TokenUse;
    /// The newest of the tokens that a customer was the first to use.
    CustomerTokens: CustomerId => TokenId;
}

/// The open checkouts before and after one in a list of those that name the same person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbors {
    /// The one that was started before it.
    pub older: Option<CheckoutId>,
    /// The one that was started after it.
    pub newer: Option<CheckoutId>,
}

/// The role of an address of the activity log for the merchant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmailUse {
    /// True when a user with it belongs to the merchant, or has belonged.
    pub has_belonged: bool,
}

/// The owner of the API key with a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyOwner {
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The key's uid.
    pub key_id: KeyId,
}

/// The merchant that a call with an Idempotency-Key created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreatedMerchant {
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The fingerprint of the call.
    pub fingerprint: [u8; 32],
    /// Until when the answer is kept.
    pub expires_at: Millis,
}

/// Rows in memory, for tests of the rules and as the target of the replay by `till verify`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryRows {
    rows: BTreeMap<AnyKey, AnyRow>,
}

impl MemoryRows {
    /// All rows in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&AnyKey, &AnyRow)> {
        self.rows.iter()
    }
}

impl Rows for MemoryRows {
    fn read(&self, key: &AnyKey) -> Result<Option<AnyRow>, Unreadable> {
        Ok(self.rows.get(key).cloned())
    }
}

impl RowsMut for MemoryRows {
    fn write(&mut self, key: AnyKey, row: Option<AnyRow>) {
        match row {
            Some(row) => self.rows.insert(key, row),
            None => self.rows.remove(&key),
        };
    }
}

/// Rows during one mutation: the changed ones are kept apart.
#[derive(Debug)]
pub struct ChangedRows<'a, R> {
    rows: &'a R,
    changed: BTreeMap<AnyKey, Option<AnyRow>>,
}

impl<'a, R: Rows> ChangedRows<'a, R> {
    /// Nothing changed yet.
    pub const fn new(rows: &'a R) -> ChangedRows<'a, R> {
        ChangedRows { rows, changed: BTreeMap::new() }
    }

    /// The changed rows; none for a row that was removed.
    #[must_use]
    pub fn into_changed(self) -> BTreeMap<AnyKey, Option<AnyRow>> {
        self.changed
    }
}

impl<R: Rows> Rows for ChangedRows<'_, R> {
    fn read(&self, key: &AnyKey) -> Result<Option<AnyRow>, Unreadable> {
        match self.changed.get(key) {
            Some(changed) => Ok(changed.clone()),
            None => self.rows.read(key),
        }
    }
}

impl<R: Rows> RowsMut for ChangedRows<'_, R> {
    fn write(&mut self, key: AnyKey, row: Option<AnyRow>) {
        self.changed.insert(key, row);
    }

    fn take<T: Table>(&mut self, key: T::Key) -> Result<Option<T::Row>, Unreadable> {
        let key = T::key(key);
        let row = match self.changed.get_mut(&key) {
            Some(changed) => changed.take(),
            None => self.rows.read(&key)?,
        };
        Ok(row.and_then(T::unwrap))
    }
}
