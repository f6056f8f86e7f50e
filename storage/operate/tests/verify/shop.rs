//! Merchants whose stores are filled as their actors would: decided by the rules, folded, sealed and appended.

use std::sync::Arc;

use till_domain::apply::{apply_rows, apply_state};
use till_domain::card::{CardExpiry, CardFacts, CardFingerprint, CardScheme, SaveCard, TokenUsage};
use till_domain::command::{
    AddInstallation, AddTopup, ApprovedAuthorization, AuthorizationResult, Caller, Command, CreateMerchant, Expired,
    GenerateKey, Idempotency, IdempotencyScope, InitiatePayment, Request, SelectPaymentMethod, Selection, TokenizeCard,
};
use till_domain::customer::CustomerFields;
use till_domain::decide::{Context, Outcome, decide};
use till_domain::event::{Answer, Event, Mutation, VaultWrite};
use till_domain::failure::FailureCode;
use till_domain::ids::{Entropy, InstallationId, KeyId, MerchantId, PaymentId, SessionId, TokenId};
use till_domain::key::KeyDigest;
use till_domain::merchant::Platform;
use till_domain::money::{AmountMinor, Money};
use till_domain::payment::{CaptureMode, Payment};
use till_domain::records::{AnyKey, AnyRow, ChangedRows, MerchantState, Payments, Records, Rows, Timers, Unreadable};
use till_domain::role::Role;
use till_domain::text::{
    Email, ExternalId, HolderName, IdempotencyKey, InstallationIdentifier, Mobile, Name, PersonName, ReturnUrl,
    TimeZone,
};
use till_domain::time::Millis;
use till_sandbox::book::{
    AuthorizationState, AuthorizeOutcome, Book, BookInstrument, BookLine, BookOperation, MemoryBook,
};
use till_storage::family::Family;
use till_storage::journal::record::{self, RecordHeader, RecordType};
use till_storage::journal::{Append, AppendVerdict, BatchId, Epoch, Head, Journal, SnapshotWrite};
use till_storage::rows::{RowRange, RowStore, RowWrite, RowWrites, ScanDirection};
use till_storage::shapes::{self, KeyParts, MerchantPersonal, MerchantReader, TableKind};
use till_storage::vault::{
    AccountSecretOf, CardNumber, CardNumberOf, Credentials, Keyring, RootKey, SubjectId, VaultKey, WEBHOOK_SECRET_LEN,
    WebhookSecretBytes, WebhookSecretOf,
};

const START: Millis = Millis(1_750_000_000_000);
const PRICE_MINOR: u64 = 10_000;
const SNAPSHOT_EVERY: u64 = 25;

/// The key ring of a store, opened.
pub(crate) fn keyring() -> (Arc<Keyring>, Vec<u8>) {
    let root = RootKey::from_hex(&"5a".repeat(32)).expect("64 hexadecimal digits");
    let (keyring, bytes) = Keyring::create(&root).expect("randomness");
    (Arc::new(keyring), bytes)
}

/// One merchant.
pub(crate) struct FilledMerchant<'a, S> {
    store: &'a S,
    keyring: Arc<Keyring>,
    personal: MerchantPersonal<&'a S>,
    state: MerchantState,
    pub(crate) merchant_id: MerchantId,
    key_id: Option<KeyId>,
    installation_id: Option<InstallationId>,
    epoch: Epoch,
    head: Head,
    clock: Millis,
    random: Counter,
    numbers: u64,
    /// True when captures in the log are to be wrong: see [`Shop::cook_the_books`].
    unbalanced: bool,
}

#[derive(Clone)]
struct Counter(u64);

impl Entropy for Counter {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0
    }
}

struct View<'a, 's, S> {
    shop: &'a FilledMerchant<'s, S>,
}

impl<S: RowStore> Rows for View<'_, '_, S> {
    fn read(&self, key: &AnyKey) -> Result<Option<AnyRow>, Unreadable> {
        shapes::read_row(self.shop.store, self.shop.merchant_id, key, &self.shop.personal)
    }
}

impl<S: RowStore> Records for View<'_, '_, S> {
    fn state(&self) -> &MerchantState {
        &self.shop.state
    }
}

impl<'a, S: Journal + RowStore> FilledMerchant<'a, S> {
    /// A merchant with a key, an installation, and an open balance.
    pub(crate) fn open(store: &'a S, keyring: &Arc<Keyring>, number: u8) -> FilledMerchant<'a, S> {
        let merchant_id = MerchantId::from_bytes([number; 16]);
        let claim = store.claim(merchant_id).expect("readable");
        let mut shop = FilledMerchant {
            store,
            keyring: Arc::clone(keyring),
            personal: MerchantPersonal::new(merchant_id, Arc::clone(keyring), store),
            state: MerchantState::default(),
            merchant_id,
            key_id: None,
            installation_id: None,
            epoch: claim.epoch,
            head: claim.head,
            clock: START,
            random: Counter(u64::from(number)),
            numbers: 0,
            unbalanced: false,
        };
        shop.set_up(number);
        shop
    }

    fn set_up(&mut self, number: u8) {
        self.operate(Command::CreateMerchant(CreateMerchant {
            merchant_id: self.merchant_id,
            name: Name::new("Baan Coffee").expect("a name"),
            currency: thb(1).currency,
            time_zone: TimeZone::new("Asia/Bangkok").expect("a zone"),
            settlement_delay_seconds: 86_400,
            support_email: None,
            card_numbers_in_identifiers: false,
            test_clock: false,
        }));
        let key = Command::GenerateKey(GenerateKey {
            merchant_id: self.merchant_id,
            name: Name::new("server").expect("a name"),
            digest: KeyDigest([number; 32]),
            display: "sk_00000".to_owned(),
            api_version: "2025-04-01".to_owned(),
            expires_at: None,
            role: Role::Owner,
            refund_limit: None,
        });
        self.operate(key);
        self.key_id = self.state.keys.keys().next().copied();
        self.operate(Command::AddInstallation(AddInstallation {
            name: Name::new("shop").expect("a name"),
            platform: Platform::Web,
            identifier: InstallationIdentifier::new("https://shop.example").expect("an origin"),
        }));
        self.installation_id = self.state.installations.keys().next().copied();
        self.operate(Command::OpenBalance);
        let external_id = Some(ExternalId::new("transfer-1").expect("an identifier"));
        self.operate(Command::AddTopup(AddTopup { amount: AmountMinor::new(5_000).expect("in range"), external_id }));
    }

    /// Payments of every outcome, with and without customers: `rounds` times four.
    pub(crate) fn trade(&mut self, rounds: u64, book: &mut MemoryBook) {
        for round in 0..rounds {
            self.clock = self.clock.plus_seconds(7_200);
            let mut by_mobile = CustomerFields::default();
            by_mobile.contact.mobile = Some(Mobile::new("+66812345678").expect("a number"));
            for (customer, capture, approves) in [
                (person(&format!("c{}@example.com", round % 5)), CaptureMode::Automatic, true),
                (CustomerFields::default(), CaptureMode::Automatic, true),
                (by_mobile, CaptureMode::Automatic, false),
                (contact_only(), CaptureMode::Manual, true),
            ] {
                let payment_id = self.pay(&customer, capture);
                self.answer(payment_id, approves, book);
            }
            self.fire_due();
        }
        self.pay(&CustomerFields::default(), CaptureMode::Automatic);
    }

    /// Time passes.
    pub(crate) fn wait_seconds(&mut self, seconds: u64) {
        self.clock = self.clock.plus_seconds(seconds);
    }

    /// Removes everything that has expired.
    pub(crate) fn sweep(&mut self) {
        let mut expired = Vec::new();
        for table in [TableKind::Sessions, TableKind::Tokens, TableKind::Answers] {
            let (lower, upper) = shapes::table_range(self.merchant_id, table);
            let rows =
                self.store.scan(RowRange::forward(table.family(), &lower, &upper), usize::MAX).expect("readable");
            for (key, _) in rows {
                match shapes::decode_key(table.family(), &key) {
                    Ok((_, KeyParts::Row(AnyKey::Sessions(id)))) => {
                        expired.extend([Expired::Session(id), Expired::TokenOf(id)]);
                    }
                    Ok((_, KeyParts::Row(AnyKey::Tokens(id)))) => expired.push(Expired::Token(id)),
                    Ok((_, KeyParts::Row(AnyKey::Answers(scope)))) => expired.push(Expired::Answer(scope)),
                    other => panic!("a row of another table: {other:?}"),
                }
            }
        }
        self.ask(Caller::System, None, Command::Sweep(expired));
    }

    /// The next capture is posted out of balance, as a mistake in the rules would.
    pub(crate) fn cook_the_books(&mut self) {
        self.unbalanced = true;
    }

    /// A payment of a new token; every third token is for several uses and its card is saved.
    pub(crate) fn pay(&mut self, customer: &CustomerFields, capture: CaptureMode) -> PaymentId {
        self.numbers += 1;
        let usage = if self.numbers % 3 == 1 { TokenUsage::Multiple } else { TokenUsage::Single };
        let token = self.tokenize(usage);
        let session = self.select(token);
        let save_card =
            (usage == TokenUsage::Multiple && customer.contact.email.is_some()).then_some(SaveCard::Default);
        let return_url = ReturnUrl::new("https://shop.example/return").expect("a URL");
        let command = Command::InitiatePayment(InitiatePayment {
            external_id: Some(ExternalId::new(format!("order-{}", self.numbers)).expect("an identifier")),
            capture: capture == CaptureMode::Automatic,
            customer: customer.clone(),
            save_card,
            ..InitiatePayment::of_session(session, thb(PRICE_MINOR), return_url)
        });
        let key_id = self.key_id.expect("the shop has a key");
        match self.ask(Caller::ApiKey(key_id), Some(&format!("pay-{}", self.numbers)), command) {
            Answer::Payment(id) => id,
            other => panic!("not a payment: {other:?}"),
        }
    }

    pub(crate) fn tokenize(&mut self, usage: TokenUsage) -> TokenId {
        let number = u8::try_from(self.numbers % 7).expect("below 7");
        let card = CardFacts {
            scheme: CardScheme::Visa,
            first_digits: "424242".to_owned(),
            last_digits: format!("{number:04}"),
            expiry: CardExpiry { year: 2030, month: 12 },
            holder: Some(HolderName::new("S JAIDEE").expect("a name")),
            fingerprint: CardFingerprint([number; 32]),
        };
        match self.ask(self.client(), None, Command::TokenizeCard(TokenizeCard { card, usage })) {
            Answer::Token(id) => id,
            other => panic!("not a token: {other:?}"),
        }
    }

    fn select(&mut self, token: TokenId) -> SessionId {
        self.select_for(token, CustomerFields::default())
    }

    /// A session whose customer is named when it is made.
    pub(crate) fn select_for(&mut self, token: TokenId, customer: CustomerFields) -> SessionId {
        let command = SelectPaymentMethod { money: thb(PRICE_MINOR), selection: Selection::Token(token), customer };
        match self.ask(self.client(), None, Command::SelectPaymentMethod(command)) {
            Answer::Session(id) => id,
            other => panic!("not a session: {other:?}"),
        }
    }

    /// The sandbox answers and writes its line, and the answer is recorded.
    pub(crate) fn answer(&mut self, payment_id: PaymentId, approves: bool, book: &mut MemoryBook) {
        let captured = self.note_in_book(payment_id, approves, book);
        let result = if approves {
            let acquirer_reference = "sandbox-1".to_owned();
            AuthorizationResult::Approved(ApprovedAuthorization {
                acquirer_reference,
                captured,
                settles_at_once: false,
                is_disputed: false,
                authentication: None,
                capture_before: None,
                card: None,
            })
        } else {
            AuthorizationResult::Declined { failure: FailureCode::CardDeclined.into(), authentication: None }
        };
        self.ask(Caller::System, None, Command::RecordAuthorization(payment_id, result));
    }

    /// Records an answer of the acquirer, or an act of the server.
    pub(crate) fn record(&mut self, command: Command) {
        self.ask(Caller::System, None, command);
    }

    pub(crate) fn payment(&self, payment_id: PaymentId) -> Payment {
        let view = View { shop: self };
        view.get::<Payments>(payment_id).expect("readable").expect("it was made")
    }

    /// The sandbox's line of an authorization.
    pub(crate) fn note_in_book(&self, payment_id: PaymentId, approves: bool, book: &mut MemoryBook) -> bool {
        let payment = self.payment(payment_id);
        let captured = payment.capture_mode == CaptureMode::Automatic;
        let captured_minor = if captured { payment.money.amount.get() } else { 0 };
        let outcome = if approves {
            AuthorizeOutcome::Approved(AuthorizationState { captured_minor, ..AuthorizationState::default() })
        } else {
            AuthorizeOutcome::Declined(FailureCode::CardDeclined)
        };
        let instrument = BookInstrument::Card { first_six: *b"424242", last_four: *b"4242" };
        book.write(&[BookLine {
            reference: format!("{payment_id}/authorize"),
            merchant: self.merchant_id,
            payment: Some(payment_id),
            money: payment.money,
            asked_at_ms: self.clock.0,
            operation: BookOperation::Authorize {
                instrument,
                capture: payment.capture_mode,
                authentication: None,
                action: None,
                outcome,
            },
        }])
        .expect("it is in memory");
        captured
    }

    pub(crate) fn fire_due(&mut self) {
        let rows = MerchantReader::new(self.merchant_id, None, self.store);
        let mut timers = rows.scan_keys::<Timers>(.., ScanDirection::Forward, 100).expect("readable");
        timers.retain(|timer| timer.due <= self.clock);
        if !timers.is_empty() {
            self.ask(Caller::System, None, Command::FireTimers(timers));
        }
    }

    fn client(&self) -> Caller {
        Caller::Sdk(self.installation_id.expect("the shop has an installation"))
    }

    fn operate(&mut self, command: Command) -> Answer {
        let name = format!("set-up-{}-{}", self.merchant_id, self.head.sequence);
        self.ask(Caller::Operator, Some(&name), command)
    }

    fn ask(&mut self, caller: Caller, named: Option<&str>, command: Command) -> Answer {
        let idempotency = named.map(|key| Idempotency {
            scope: IdempotencyScope {
                installation_id: None,
                endpoint: "group/call".to_owned(),
                key: IdempotencyKey::new(key).expect("a key"),
            },
            fingerprint: [7; 32],
        });
        let request = Request { caller, idempotency, command };
        let mut random = self.random.clone();
        let view = View { shop: self };
        let outcome = decide(&view, &request, &mut Context::new(self.clock, &self.state, &mut random));
        self.random = random;
        match outcome.expect("it is not refused") {
            Outcome::Effective { mut mutation, vault, answer } => {
                self.tamper(&mut mutation);
                self.append(&mutation, &vault);
                answer
            }
            Outcome::Replayed(answer) | Outcome::Unchanged(answer) => answer,
        }
    }

    fn tamper(&mut self, mutation: &mut Mutation) {
        for event in &mut mutation.events {
            if let (true, Event::PaymentCaptured { transaction, .. }) = (self.unbalanced, event) {
                transaction.legs.pop();
                self.unbalanced = false;
            }
        }
    }

    fn append(&mut self, mutation: &Mutation, vault: &[VaultWrite]) {
        let view = View { shop: self };
        let mut rows = ChangedRows::new(&view);
        apply_rows(mutation, &mut rows).expect("every row that it changes is there");
        let changed = rows.into_changed();
        apply_state(mutation, &mut self.state);
        let body = shapes::encode_mutation(mutation, &mut self.personal).expect("it is small");
        let header = RecordHeader {
            record_type: RecordType::Mutation,
            merchant_id: self.merchant_id,
            sequence: self.head.sequence.next(),
            batch_id: BatchId([1; 16]),
            epoch: self.epoch,
            at_ms: mutation.at.0,
            prev_hash: self.head.hash,
        };
        let record = record::encode(&header, &body).expect("it is small");
        let (mut sealed, mut derived) = (RowWrites::default(), RowWrites::default());
        for write in vault {
            let (key, value) = self.vault_row(*write);
            sealed.push(RowWrite { family: Family::Vault, key: &key.encode(), value: value.as_deref() });
        }
        for (key, row) in &changed {
            let (family, bytes) = shapes::row_key(self.merchant_id, key, &self.personal);
            let value = row.as_ref().map(|row| shapes::encode_row(row, key, &mut self.personal).expect("it fits"));
            derived.push(RowWrite { family, key: &bytes, value: value.as_deref() });
        }
        for (key, value) in self.personal.take_pending() {
            sealed.push(RowWrite { family: Family::Vault, key: &key, value: Some(&value) });
        }
        let new_head = record.head();
        let state = || shapes::encode_state(&self.state).expect("it is small");
        let snapshot =
            new_head.sequence.0.is_multiple_of(SNAPSHOT_EVERY).then(|| SnapshotWrite { at: new_head, bytes: state() });
        let verdicts = self.store.append(vec![Append {
            merchant_id: self.merchant_id,
            epoch: self.epoch,
            expected_head: self.head,
            new_head,
            batch_id: BatchId([1; 16]),
            records: vec![record],
            vault: sealed,
            derived,
            snapshot,
            may_use_reserve: false,
        }]);
        assert!(matches!(verdicts.as_slice(), [AppendVerdict::Committed(_)]), "{verdicts:?}");
        self.head = new_head;
    }

    fn vault_row(&self, write: VaultWrite) -> (VaultKey, Option<Vec<u8>>) {
        let merchant = self.merchant_id;
        let number = CardNumber::parse("4242424242424242").expect("a card number");
        let number_key = |of| VaultKey::CardNumber { merchant, of };
        let sealed = |of| {
            let value = self.keyring.seal_card_number(merchant, of, &number).expect("randomness");
            (number_key(of), Some(value))
        };
        let forgotten = |subject| (VaultKey::SubjectKey { merchant, subject }, None);
        match write {
            VaultWrite::KeepTokenNumber(token_id) => sealed(CardNumberOf::Token(token_id)),
            VaultWrite::CopyTokenNumber(_, card_id) => sealed(CardNumberOf::Card(card_id)),
            VaultWrite::KeepKeyText(key) => {
                let key = VaultKey::ApiKeySecret { merchant, key };
                (key, Some(self.keyring.seal_secret_text(key, "sk_text").expect("randomness")))
            }
            VaultWrite::ForgetTokenNumber(token_id) => (number_key(CardNumberOf::Token(token_id)), None),
            VaultWrite::ForgetCardNumber(card_id) => (number_key(CardNumberOf::Card(card_id)), None),
            VaultWrite::ForgetCustomerKey(customer_id) => forgotten(SubjectId::customer(customer_id)),
            VaultWrite::ForgetSessionKey(session_id) => forgotten(SubjectId::session(session_id)),
            VaultWrite::ForgetPageKey(payment_id) => forgotten(SubjectId::acquirer_page(payment_id)),
            VaultWrite::ForgetCheckoutKey(checkout_id) => forgotten(SubjectId::checkout(checkout_id)),
            VaultWrite::ForgetTokenKey(token_id) => forgotten(SubjectId::token(token_id)),
            VaultWrite::ForgetKeyText(key) => (VaultKey::ApiKeySecret { merchant, key }, None),
            VaultWrite::ForgetWebhookSecret(webhook_id, slot) => {
                (VaultKey::WebhookSecret { merchant, of: WebhookSecretOf { webhook_id, slot } }, None)
            }
            VaultWrite::KeepAccountSecret(acquirer_id, secret) => {
                let key = VaultKey::AccountSecret { merchant, of: AccountSecretOf { acquirer_id, secret } };
                (key, Some(self.keyring.seal_secret_text(key, "sk_test_secret").expect("randomness")))
            }
            VaultWrite::KeepCredentials(user) => {
                let credentials =
                    Credentials { salt: [1; 16], password: [2; 32], authenticator: [3; 20], recovery: [[4; 32]; 10] };
                let sealed = self.keyring.seal_credentials(merchant, user, &credentials).expect("randomness");
                (VaultKey::Credentials { merchant, user }, Some(sealed))
            }
            VaultWrite::ForgetCredentials(user) => (VaultKey::Credentials { merchant, user }, None),
            VaultWrite::ForgetAccountSecret(acquirer_id, secret) => {
                (VaultKey::AccountSecret { merchant, of: AccountSecretOf { acquirer_id, secret } }, None)
            }
            VaultWrite::KeepWebhookSecret(webhook_id, slot) => {
                let of = WebhookSecretOf { webhook_id, slot };
                let secret = WebhookSecretBytes::new([7; WEBHOOK_SECRET_LEN]);
                let value = self.keyring.seal_webhook_secret(merchant, of, &secret).expect("randomness");
                (VaultKey::WebhookSecret { merchant, of }, Some(value))
            }
        }
    }
}

fn thb(minor: u64) -> Money {
    Money { amount: AmountMinor::new(minor).expect("in range"), currency: "THB".parse().expect("a currency") }
}

/// Customer fields that name a customer.
pub(crate) fn person(email: &str) -> CustomerFields {
    let mut fields = CustomerFields::default();
    fields.contact.email = Some(Email::new(email).expect("an address"));
    fields.contact.name = Some(PersonName::new("Somchai Jaidee").expect("a name"));
    fields
}

/// A name alone, which names no customer.
fn contact_only() -> CustomerFields {
    let mut fields = CustomerFields::default();
    fields.contact.name = Some(PersonName::new("Somsri").expect("a name"));
    fields
}
