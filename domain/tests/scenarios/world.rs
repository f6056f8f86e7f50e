//! One merchant in memory: runs commands through the rules, and checks all invariants after every step.

use crate::invariants;
use crate::random::Random;
use crate::words::{Ask, InitiateCall, Person, Select, TestCaller, customer_fields};
use crate::words::{
    accept, account_update, add_account, add_installation, approved, approved_and_captured, configure, create_merchant,
    create_merchant_settling_after, fire, generate_key, initiate, invite_as, known, result, select_token, tokenize,
    tokenize_with_expiry, update_account, with_fee, with_test_clock,
};
use std::cell::Cell;
use std::collections::BTreeSet;
use till_domain::acquirer::{AccountMode, AccountSecret, CardEntry};
use till_domain::apply::{apply_rows, apply_state};
use till_domain::card::{Card, CardExpiry, SaveCard, TokenUsage};
use till_domain::command::{Caller, Command, Idempotency, IdempotencyScope, Request, UpdateAcquirer};
use till_domain::customer::{Customer, CustomerFields};
use till_domain::decide::{Context, Outcome, decide};
use till_domain::effect::{Timer, TimerKind};
use till_domain::event::{Answer, Event, Mutation, VaultWrite};
use till_domain::ids::{
    AcquirerId, CardId, CheckoutId, CustomerId, DisputeId, IdPosition, InstallationId, KeyId, MerchantId, MetadataId,
    PaymentId, PayoutId, RawId, RefundId, SessionId, TokenId, TopupId, UserId, WebhookId,
};
use till_domain::ledger::{Account, BalanceTotals, Direction, EntryType, Transaction};
use till_domain::merchant::{PaymentMethod, SETTLEMENT_DELAY_DEFAULT_SECONDS};
use till_domain::metadata::{Document, Piece, SetNumber};
use till_domain::money::AmountMinor;
use till_domain::payment::Payment;
use till_domain::records::{
    AnyKey, AnyRow, ApiKeys, Cards, Checkouts, Customers, MemoryRows, MerchantState, Metadata, MetadataDocuments,
    MetadataPositions, Payments, Records, Refunds, Rows, RowsMut, Sessions, Table, Tokens, Transactions, Unreadable,
};
use till_domain::refund::Refund;
use till_domain::refusal::{DecisionError, Refusal};
use till_domain::role::Role;
use till_domain::text::{IdempotencyKey, MetadataKey};
use till_domain::time::Millis;
use till_domain::webhook::SecretSlot;

/// The time at which every scenario begins.
pub(crate) const START: Millis = Millis(1_750_000_000_000);

/// A merchant's state, rows and log.
pub(crate) struct ScenarioWorld {
    pub(crate) state: MerchantState,
    pub(crate) rows: MemoryRows,
    pub(crate) log: Vec<Mutation>,
    /// Tokens whose number the vault keeps.
    pub(crate) numbers: BTreeSet<TokenId>,
    /// The saved cards whose numbers the vault keeps.
    pub(crate) card_numbers: BTreeSet<CardId>,
    /// Keys whose text the vault keeps.
    pub(crate) key_texts: BTreeSet<KeyId>,
    webhook_secrets: BTreeSet<(WebhookId, SecretSlot)>,
    /// Secrets of accounts that the vault keeps.
    pub(crate) account_secrets: BTreeSet<(AcquirerId, AccountSecret)>,
    pub(crate) credentials: BTreeSet<UserId>,
    /// Payments for whose page at the acquirer the vault keeps a key.
    pub(crate) pages: BTreeSet<PaymentId>,
    pub(crate) clock: Millis,
    pub(crate) merchant_id: MerchantId,
    key_id: Option<KeyId>,
    installation_id: Option<InstallationId>,
    random: Random,
    /// Rows that the last decision read.
    pub(crate) reads: usize,
}

/// The input of a decision.
struct View<'a> {
    state: &'a MerchantState,
    rows: &'a MemoryRows,
    reads: Cell<usize>,
}

impl Rows for View<'_> {
    fn read(&self, key: &AnyKey) -> Result<Option<AnyRow>, Unreadable> {
        self.reads.set(self.reads.get() + 1);
        self.rows.read(key)
    }
}

impl Records for View<'_> {
    fn state(&self) -> &MerchantState {
        self.state
    }
}

impl ScenarioWorld {
    /// A log without any record.
    pub(crate) fn empty() -> ScenarioWorld {
        ScenarioWorld {
            state: MerchantState::default(),
            rows: MemoryRows::default(),
            log: Vec::new(),
            numbers: BTreeSet::new(),
            card_numbers: BTreeSet::new(),
            key_texts: BTreeSet::new(),
            webhook_secrets: BTreeSet::new(),
            account_secrets: BTreeSet::new(),
            credentials: BTreeSet::new(),
            pages: BTreeSet::new(),
            clock: START,
            merchant_id: raw_id(1, MerchantId::from_raw),
            key_id: None,
            installation_id: None,
            random: Random::seeded(1),
            reads: 0,
        }
    }

    /// A merchant with a key and an installation.
    pub(crate) fn open() -> ScenarioWorld {
        ScenarioWorld::settling_after(SETTLEMENT_DELAY_DEFAULT_SECONDS)
    }

    /// The same, and what a test makes in it first.
    pub(crate) fn open_with<T>(make: impl FnOnce(&mut ScenarioWorld) -> T) -> (ScenarioWorld, T) {
        let mut world = ScenarioWorld::open();
        let made = make(&mut world);
        (world, made)
    }

    /// The same, and a payment costs the merchant 100 of its 10,000.
    pub(crate) fn with_fees() -> ScenarioWorld {
        let mut world = ScenarioWorld::open();
        world.given(configure(PaymentMethod::Card, with_fee(100, 0)));
        world
    }

    /// The same, and a captured payment whose money is held.
    pub(crate) fn held_with_fees() -> (ScenarioWorld, PaymentId) {
        let mut world = ScenarioWorld::with_fees();
        let id = world.held();
        (world, id)
    }

    /// A world with another settlement delay.
    pub(crate) fn settling_after(delay_seconds: u64) -> ScenarioWorld {
        ScenarioWorld::created_by(|merchant_id| create_merchant_settling_after(merchant_id, delay_seconds))
    }

    /// The same with a test clock.
    pub(crate) fn on_test_clock() -> ScenarioWorld {
        ScenarioWorld::created_by(|merchant_id| with_test_clock(create_merchant(merchant_id)))
    }

    fn created_by(create: impl FnOnce(MerchantId) -> Ask) -> ScenarioWorld {
        let mut world = ScenarioWorld::empty();
        world.given(create(world.merchant_id));
        world.key_id = Some(world.key(generate_key(world.merchant_id, 1, None)));
        world.given(add_installation());
        world.installation_id = world.state.installations.keys().next().copied();
        world
    }

    /// Lets time pass.
    pub(crate) fn after_seconds(&mut self, seconds: u64) {
        self.clock = self.clock.plus_seconds(seconds);
    }

    /// The merchant's time by its clock.
    pub(crate) fn merchant_now(&self) -> Millis {
        Millis(self.clock.0 + self.state.clock_offset_ms())
    }

    /// Sends a command that must not be refused.
    pub(crate) fn given(&mut self, ask: impl Into<Ask>) -> Answer {
        let then = self.when(ask);
        match then.result {
            Ok(Outcome::Replayed(answer) | Outcome::Unchanged(answer) | Outcome::Effective { answer, .. }) => answer,
            Err(stop) => panic!("given something that was refused: {stop:?}"),
        }
    }

    /// Sends a command, folds its events, and checks all invariants.
    pub(crate) fn when(&mut self, ask: impl Into<Ask>) -> Then<'_> {
        let before = (self.state.clone(), self.rows.clone());
        let result = self.step(&ask.into());
        if !matches!(result, Ok(Outcome::Effective { .. })) {
            assert_eq!((&self.state, &self.rows), (&before.0, &before.1), "nothing may change without a record");
        }
        invariants::check(self);
        Then { world: self, result }
    }

    /// Sends a command and folds its events, without any check.
    pub(crate) fn step(&mut self, ask: &Ask) -> Result<Outcome, DecisionError> {
        let request = self.request(ask);
        let mut entropy = self.random.clone();
        let view = View { state: &self.state, rows: &self.rows, reads: Cell::new(0) };
        let outcome = decide(&view, &request, &mut Context::new(self.clock, &self.state, &mut entropy));
        (self.random, self.reads) = (entropy, view.reads.get());
        if let Ok(Outcome::Effective { mutation, vault, .. }) = &outcome {
            apply_rows(mutation, &mut self.rows).expect("every row that an event changes is there");
            apply_state(mutation, &mut self.state);
            self.log.push((**mutation).clone());
            self.pages.extend(mutation.events.iter().filter_map(page_of));
            vault.iter().for_each(|write| self.write_to_the_vault(*write));
        }
        outcome
    }

    /// Writes a row without a decision, for a state that would take too long to reach. Nothing is checked from then on.
    pub(crate) fn set_row<T: Table>(&mut self, key: T::Key, row: T::Row) {
        self.rows.put::<T>(key, row);
    }

    /// Sends a command without a check of the invariants.
    #[track_caller]
    pub(crate) fn refused_without_checks(&mut self, ask: Ask, refusal: Refusal) {
        assert_eq!(self.step(&ask), Err(DecisionError::Refused(refusal)));
    }

    /// Sends a command without a check of the invariants.
    #[track_caller]
    pub(crate) fn accepted_without_checks(&mut self, ask: Ask) {
        assert!(self.step(&ask).is_ok());
    }

    fn write_to_the_vault(&mut self, write: VaultWrite) {
        let fits = match write {
            VaultWrite::KeepTokenNumber(id) => self.numbers.insert(id),
            VaultWrite::KeepKeyText(id) => self.key_texts.insert(id),
            VaultWrite::KeepWebhookSecret(id, slot) => {
                // A slot is taken again once its secret signs no longer.
                self.webhook_secrets.insert((id, slot));
                true
            }
            VaultWrite::KeepAccountSecret(id, secret) => {
                // A secret is replaced by another one.
                self.account_secrets.insert((id, secret));
                true
            }
            VaultWrite::KeepCredentials(id) => {
                // New ones replace them.
                self.credentials.insert(id);
                true
            }
            VaultWrite::ForgetCredentials(id) => self.credentials.remove(&id),
            VaultWrite::ForgetAccountSecret(id, secret) => self.account_secrets.remove(&(id, secret)),
            VaultWrite::ForgetWebhookSecret(id, slot) => self.webhook_secrets.remove(&(id, slot)),
            VaultWrite::CopyTokenNumber(id, card) => self.numbers.contains(&id) && self.card_numbers.insert(card),
            VaultWrite::ForgetCardNumber(id) => self.card_numbers.remove(&id),
            VaultWrite::ForgetCustomerKey(id) => self.find::<Customers>(id).is_none(),
            VaultWrite::ForgetTokenNumber(id) => self.numbers.remove(&id),
            // A key whose text was sent twice is answered again, and its text is not kept twice.
            VaultWrite::ForgetKeyText(id) => self.key_texts.remove(&id) || self.find::<ApiKeys>(id).is_some(),
            VaultWrite::ForgetTokenKey(id) => self.find::<Tokens>(id).is_none(),
            VaultWrite::ForgetSessionKey(id) => self.find::<Sessions>(id).is_none(),
            VaultWrite::ForgetPageKey(id) => self.pages.remove(&id),
            VaultWrite::ForgetCheckoutKey(id) => self.look_up::<Checkouts>(id).customer == CustomerFields::default(),
        };
        assert!(fits, "{write:?} does not fit what the vault keeps");
    }

    fn request(&self, ask: &Ask) -> Request {
        let caller = self.caller(ask.caller);
        let idempotency = ask
            .idempotency_key
            .as_ref()
            .map(|key| Idempotency { scope: scope(caller, ask, key), fingerprint: ask.fingerprint() });
        Request { caller, idempotency, command: ask.command.clone() }
    }

    fn caller(&self, caller: TestCaller) -> Caller {
        match caller {
            TestCaller::Merchant => Caller::ApiKey(self.key_id.unwrap_or(raw_id(2, KeyId::from_raw))),
            TestCaller::MerchantWith(key_id) => Caller::ApiKey(key_id),
            TestCaller::Member(user_id) => Caller::User(user_id),
            TestCaller::Client => Caller::Sdk(self.installation_id.unwrap_or(raw_id(3, InstallationId::from_raw))),
            TestCaller::ClientOf(installation_id) => Caller::Sdk(installation_id),
            TestCaller::Operator => Caller::Operator,
            TestCaller::Till => Caller::System,
        }
    }
}

/// The payment whose page this event brings the address of: that is sealed under a key of its own.
fn page_of(event: &Event) -> Option<PaymentId> {
    let Event::CallPrepared(prepared) = event else { return None };
    prepared.page.is_some().then_some(prepared.payment_id)
}

/// Phrases that name the object that was made.
impl ScenarioWorld {
    pub(crate) fn key(&mut self, ask: Ask) -> KeyId {
        match self.given(ask) {
            Answer::Key { key_id, .. } => key_id,
            other => panic!("a key was asked for, not {other:?}"),
        }
    }

    /// An account of play money.
    /// A member of the team.
    pub(crate) fn member(&mut self, address: &str, role: Role, refund_limit: Option<AmountMinor>) -> UserId {
        self.given(invite_as(address, role, refund_limit));
        let invitation = *self.state.invitations.keys().next_back().expect("it is the newest one");
        match self.given(accept(invitation)) {
            Answer::User(id) => id,
            other => panic!("a user was asked for, not {other:?}"),
        }
    }

    pub(crate) fn account(&mut self) -> AcquirerId {
        self.given_account(add_account(known(AccountMode::Test, "acct_1")))
    }

    /// From now on cards are entered there.
    pub(crate) fn given_card_entry(&mut self, id: AcquirerId, card_entry: CardEntry) {
        let update = UpdateAcquirer { card_entry: Some(card_entry), ..account_update(id) };
        self.given(update_account(update));
    }

    pub(crate) fn given_account(&mut self, ask: Ask) -> AcquirerId {
        match self.given(ask) {
            Answer::Acquirer(id) => id,
            other => panic!("an account was asked for, not {other:?}"),
        }
    }

    pub(crate) fn first_installation(&self) -> InstallationId {
        self.installation_id.expect("the world was opened with an installation")
    }

    pub(crate) fn first_key(&self) -> KeyId {
        self.key_id.expect("the world was opened with a key")
    }

    pub(crate) fn token(&mut self, number: u8, usage: TokenUsage) -> TokenId {
        match self.given(tokenize(number, usage)) {
            Answer::Token(id) => id,
            other => panic!("a token was asked for, not {other:?}"),
        }
    }

    /// A multi-use token of a card that is valid until then.
    pub(crate) fn token_with_expiry(&mut self, number: u8, expiry: CardExpiry) -> TokenId {
        match self.given(tokenize_with_expiry(number, TokenUsage::Multiple, expiry)) {
            Answer::Token(id) => id,
            other => panic!("a token was asked for, not {other:?}"),
        }
    }

    pub(crate) fn session(&mut self, select: Select) -> SessionId {
        match self.given(select) {
            Answer::Session(id) => id,
            other => panic!("a session was asked for, not {other:?}"),
        }
    }

    /// A session with a single-use token.
    pub(crate) fn card_session(&mut self) -> SessionId {
        let token = self.token(42, TokenUsage::Single);
        self.session(select_token(token))
    }

    pub(crate) fn payment(&mut self, ask: impl Into<Ask>) -> PaymentId {
        match self.given(ask) {
            Answer::Payment(id) => id,
            other => panic!("a payment was asked for, not {other:?}"),
        }
    }

    /// A payment of a fresh card session, initiated by these customer fields.
    pub(crate) fn payment_by(&mut self, customer: CustomerFields) -> Payment {
        let session = self.card_session();
        let id = self.payment(initiate(session).customer(customer));
        self.look_up::<Payments>(id)
    }

    /// A checkout of the usual price.
    pub(crate) fn checkout(&mut self, ask: impl Into<Ask>) -> CheckoutId {
        match self.given(ask) {
            Answer::Checkout(id) => id,
            other => panic!("a checkout was asked for, not {other:?}"),
        }
    }

    pub(crate) fn captured(&mut self, ask: impl Into<Ask>) -> PaymentId {
        let id = self.payment(ask);
        self.given(result(id, approved_and_captured()));
        id
    }

    pub(crate) fn authorized(&mut self, initiate: InitiateCall) -> PaymentId {
        let id = self.payment(initiate.authorize_only());
        self.given(result(id, approved()));
        id
    }

    /// The customer with this address, made by a payment.
    pub(crate) fn customer(&mut self, fields: CustomerFields) -> CustomerId {
        self.payment_by(fields).customer_id.expect("the fields name a customer")
    }

    /// A card saved for the customer with this address, by a payment that was captured.
    pub(crate) fn saved_card(&mut self, number: u8, address: &str) -> CardId {
        let token = self.token(number, TokenUsage::Multiple);
        let session = self.session(select_token(token));
        let payment = self.captured(initiate(session).customer(customer_fields().email(address)).save(SaveCard::Add));
        let owner = self.look_up::<Payments>(payment).customer_id.expect("an address names a customer");
        self.cards_of(owner).last().expect("the card was saved").id
    }

    /// An authorized payment of [`crate::words::PRICE_MINOR`] of a fresh card session.
    pub(crate) fn authorized_payment(&mut self) -> PaymentId {
        let session = self.card_session();
        self.authorized(initiate(session))
    }

    /// A captured payment of [`crate::words::PRICE_MINOR`] of a fresh card session, on hold.
    pub(crate) fn held(&mut self) -> PaymentId {
        let session = self.card_session();
        self.captured(initiate(session))
    }

    /// The same once it has settled.
    pub(crate) fn settled(&mut self) -> PaymentId {
        let id = self.held();
        self.after_seconds(SETTLEMENT_DELAY_DEFAULT_SECONDS);
        self.fire_all();
        id
    }

    pub(crate) fn refund(&mut self, ask: impl Into<Ask>) -> RefundId {
        match self.given(ask) {
            Answer::Refund(id) => id,
            other => panic!("a refund was asked for, not {other:?}"),
        }
    }

    pub(crate) fn dispute(&mut self, ask: Ask) -> DisputeId {
        match self.given(ask) {
            Answer::Dispute(id) => id,
            other => panic!("a dispute was asked for, not {other:?}"),
        }
    }

    pub(crate) fn payout(&mut self, ask: Ask) -> PayoutId {
        match self.given(ask) {
            Answer::Payout(id) => id,
            other => panic!("a payout was asked for, not {other:?}"),
        }
    }

    pub(crate) fn topup(&mut self, ask: Ask) -> TopupId {
        match self.given(ask) {
            Answer::Topup(id) => id,
            other => panic!("a top-up was asked for, not {other:?}"),
        }
    }

    /// Fires every timer that is set, due or not.
    pub(crate) fn fire_all(&mut self) -> Answer {
        let timers = self.timers();
        self.given(fire(timers))
    }
}

/// Questions about the stored objects.
impl ScenarioWorld {
    pub(crate) fn look_up<T: Table>(&self, key: T::Key) -> T::Row {
        self.find::<T>(key).expect("what a scenario looks up is there")
    }

    pub(crate) fn find<T: Table>(&self, key: T::Key) -> Option<T::Row> {
        self.rows.get::<T>(key).expect("rows in memory can be read")
    }

    pub(crate) fn all<T: Table>(&self) -> Vec<T::Row> {
        self.rows.iter().filter_map(|(_, row)| T::unwrap(AnyRow::clone(row))).collect()
    }

    pub(crate) fn timers(&self) -> Vec<Timer> {
        let keys = self.rows.iter().map(|(key, _)| key);
        keys.filter_map(|key| if let AnyKey::Timers(timer) = key { Some(*timer) } else { None }).collect()
    }

    /// The timers that are set, except that of the next statement.
    pub(crate) fn timers_of_payments(&self) -> Vec<Timer> {
        self.timers().into_iter().filter(|timer| timer.kind != TimerKind::CloseStatement).collect()
    }

    pub(crate) fn payment_row(&self, id: PaymentId) -> Payment {
        self.look_up::<Payments>(id)
    }

    pub(crate) fn refund_row(&self, id: RefundId) -> Refund {
        self.look_up::<Refunds>(id)
    }

    pub(crate) fn customer_row(&self, id: CustomerId) -> Customer {
        self.look_up::<Customers>(id)
    }

    pub(crate) fn cards_of(&self, owner: CustomerId) -> Vec<Card> {
        self.all::<Cards>().into_iter().filter(|card| card.customer_id == owner).collect()
    }

    pub(crate) fn transaction_of(&self, payment_id: PaymentId) -> Transaction {
        let capture = self.payment_row(payment_id).capture.expect("the payment was captured");
        self.look_up::<Transactions>(capture.transaction_id)
    }

    /// A metadata record's value, with the items of its sets in their order.
    pub(crate) fn metadata(&self, key: &str) -> Option<String> {
        let key = MetadataKey::new(key).expect("a test key of proper form");
        let record = self.find::<Metadata>(key)?;
        let document = self.look_up::<MetadataDocuments>(record.id);
        let piece = |piece: Piece<'_>| match piece {
            Piece::Text(text) => text.to_owned(),
            Piece::Set(number) => format!("[{}]", self.metadata_items(record.id, number).join(",")),
        };
        Some(Document::pieces_of(document.as_str()).into_iter().map(piece).collect())
    }

    /// The items of a set in their order.
    pub(crate) fn metadata_items(&self, id: MetadataId, number: SetNumber) -> Vec<String> {
        let of_set = self.rows.iter().filter_map(|(key, row)| {
            let AnyKey::MetadataPositions((of, set, _)) = key else { return None };
            let item = MetadataPositions::unwrap(row.clone()).filter(|_| (*of, *set) == (id, number))?;
            Some(item.as_str().to_owned())
        });
        of_set.collect()
    }

    pub(crate) fn totals(&self) -> BalanceTotals {
        self.state.balance.expect("the balance is open")
    }

    /// The available and the pending balance, in minor units.
    pub(crate) fn balance(&self) -> (i64, i64) {
        (self.totals().available_minor(), self.totals().pending_minor())
    }
}

/// Checks account, direction, type and amount of each leg of a transaction, in their order.
pub(crate) fn assert_legs(transaction: &Transaction, expected: &[(Account, Direction, EntryType, u64)]) {
    let legs = transaction.legs.iter().map(|leg| (leg.account, leg.direction, leg.entry_type, leg.amount.get()));
    assert_eq!(legs.collect::<Vec<_>>(), expected);
}

/// The result of a command.
#[must_use = "a scenario says what comes of it"]
pub(crate) struct Then<'a> {
    world: &'a ScenarioWorld,
    result: Result<Outcome, DecisionError>,
}

impl Then<'_> {
    /// The command was refused for this reason, and nothing changed.
    #[track_caller]
    pub(crate) fn refused(self, refusal: Refusal) {
        assert_eq!(self.result, Err(DecisionError::Refused(refusal)));
    }

    /// The command took effect with this answer.
    #[track_caller]
    pub(crate) fn answers(self, expected: Answer) {
        match self.result {
            Ok(Outcome::Effective { answer, .. }) => assert_eq!(answer, expected),
            other => panic!("took no effect: {other:?}"),
        }
    }

    /// The command took effect.
    #[track_caller]
    pub(crate) fn takes_effect(self) -> Answer {
        match self.result {
            Ok(Outcome::Effective { answer, .. }) => answer,
            other => panic!("took no effect: {other:?}"),
        }
    }

    /// The command took effect as a payment.
    #[track_caller]
    pub(crate) fn pays(self) -> Payment {
        let world = self.world;
        match self.takes_effect() {
            Answer::Payment(id) => world.payment_row(id),
            other => panic!("made no payment: {other:?}"),
        }
    }

    /// The command took effect with these writes to the vault.
    #[track_caller]
    pub(crate) fn writes_to_the_vault(self) -> (Answer, Vec<VaultWrite>) {
        match self.result {
            Ok(Outcome::Effective { vault, answer, .. }) => (answer, vault),
            other => panic!("took no effect: {other:?}"),
        }
    }

    /// The command was answered as before, without being carried out again.
    #[track_caller]
    pub(crate) fn replays(self, answer: Answer) {
        assert_eq!(self.result, Ok(Outcome::Replayed(answer)));
    }

    /// The command had this answer and left no record.
    #[track_caller]
    pub(crate) fn changes_nothing(self, answer: Answer) {
        assert_eq!(self.result, Ok(Outcome::Unchanged(answer)));
    }
}

/// An id that no world makes by itself.
pub(crate) fn raw_id<I>(random: u64, make: impl Fn(RawId) -> I) -> I {
    make(RawId::new(IdPosition { millis: 1, counter: 0 }, random))
}

fn scope(caller: Caller, ask: &Ask, key: &str) -> IdempotencyScope {
    let installation_id = if let Caller::Sdk(id) = caller { Some(id) } else { None };
    let key = IdempotencyKey::new(key).expect("a test key of proper form");
    IdempotencyScope { installation_id, endpoint: endpoint(&ask.command), key }
}

/// The name of a command, which serves as its endpoint.
fn endpoint(command: &Command) -> String {
    format!("{command:?}").chars().take_while(char::is_ascii_alphanumeric).collect()
}
