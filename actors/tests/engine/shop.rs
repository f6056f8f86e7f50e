//! A merchant with a key and an installation, and its requests.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use till_actors::Secret;
use till_actors::security_codes::SecurityCode;
use till_domain::card::{CardExpiry, CardFacts, CardFingerprint, CardScheme, SaveCard, TokenUsage};
use till_domain::command::{
    AddInstallation, AddTopup, Caller, Command, CreateMerchant, GenerateKey, Idempotency, IdempotencyScope,
    InitiatePayment, Request, SelectPaymentMethod, Selection, SyncMetadata, TokenizeCard,
};
use till_domain::customer::CustomerFields;
use till_domain::event::Answer;
use till_domain::ids::{InstallationId, KeyId, MerchantId, SessionId, TokenId};
use till_domain::key::KeyDigest;
use till_domain::merchant::Platform;
use till_domain::metadata::CanonicalJson;
use till_domain::money::{AmountMinor, Money};
use till_domain::role::Role;
use till_domain::text::{
    Email, ExternalId, HolderName, IdempotencyKey, InstallationIdentifier, MetadataKey, Name, ReturnUrl, TimeZone,
};
use till_storage::vault::CardNumber;
use zeroize::Zeroizing;

use crate::world::{EngineWorld, done};

/// The price of every payment here, in minor units.
pub(crate) const PRICE_MINOR: u64 = 10_000;

/// Time after which captured money is effective, in seconds.
pub(crate) const SETTLEMENT_DELAY_SECONDS: u64 = 1_000;

/// The address of every merchant here.
pub(crate) const SUPPORT_EMAIL: &str = "support@shop.example";

const GOOD_CARD: &str = "4242424242424242";

#[derive(Debug, Clone, Copy)]
pub(crate) struct TestShop {
    pub(crate) merchant_id: MerchantId,
    pub(crate) key_id: KeyId,
    pub(crate) installation_id: InstallationId,
}

pub(crate) fn thb(minor: u64) -> Money {
    let amount = AmountMinor::new(minor).expect("an amount in range");
    Money { amount, currency: "THB".parse().expect("THB is a currency") }
}

fn name(text: &str) -> Name {
    Name::new(text).expect("a name of proper form")
}

fn external(text: &str) -> ExternalId {
    ExternalId::new(text).expect("an identifier of proper form")
}

pub(crate) fn by(caller: Caller, command: Command) -> Request {
    Request { caller, idempotency: None, command }
}

pub(crate) fn topup(minor: u64) -> Request {
    by(Caller::Operator, Command::AddTopup(AddTopup { amount: thb(minor).amount, external_id: None }))
}

/// Writes a document with a text of this many bytes.
pub(crate) fn sync_text(shop: &TestShop, bytes: usize) -> Request {
    let metadata = CanonicalJson::from_canonical(format!("{{\"text\":\"{}\"}}", "x".repeat(bytes)));
    let key = MetadataKey::new("large").expect("a key of proper form");
    let command = SyncMetadata { key, metadata, version: None, ttl_seconds: None };
    by(Caller::ApiKey(shop.key_id), Command::SyncMetadata(command))
}

pub(crate) fn topup_known_as(external_id: &str) -> Request {
    let command = AddTopup { amount: thb(1).amount, external_id: Some(external(external_id)) };
    by(Caller::Operator, Command::AddTopup(command))
}

/// The same request as a named call.
pub(crate) fn named(mut request: Request, key: &str) -> Request {
    let mut hasher = DefaultHasher::new();
    format!("{:?}", request.command).hash(&mut hasher);
    let mut fingerprint = [0; 32];
    fingerprint[..8].copy_from_slice(&hasher.finish().to_be_bytes());
    let key = IdempotencyKey::new(key).expect("a key of proper form");
    let scope = IdempotencyScope { installation_id: None, endpoint: "test".to_owned(), key };
    request.idempotency = Some(Idempotency { scope, fingerprint });
    request
}

/// A merchant without anything.
pub(crate) fn create(merchant_id: MerchantId) -> Request {
    let command = CreateMerchant {
        merchant_id,
        name: name("Baan Coffee"),
        currency: thb(1).currency,
        time_zone: TimeZone::new("Asia/Bangkok").expect("a zone of proper form"),
        settlement_delay_seconds: SETTLEMENT_DELAY_SECONDS,
        support_email: Some(Email::new(SUPPORT_EMAIL).expect("an address of proper form")),
        card_numbers_in_identifiers: false,
        test_clock: false,
    };
    by(Caller::Operator, Command::CreateMerchant(command))
}

pub(crate) fn generate_key(merchant_id: MerchantId, digest: u64, display: String) -> Request {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&digest.to_be_bytes());
    bytes[8..24].copy_from_slice(&merchant_id.to_bytes());
    let command = GenerateKey {
        merchant_id,
        name: name("server"),
        digest: KeyDigest(bytes),
        display,
        api_version: "2025-04-01".to_owned(),
        expires_at: None,
        role: Role::Owner,
        refund_limit: None,
    };
    by(Caller::Operator, Command::GenerateKey(command))
}

pub(crate) fn key_text() -> Option<Secret> {
    Some(Secret::KeyText(Zeroizing::new("sk_text".to_owned())))
}

/// A request that cannot be written, since its secret is missing.
pub(crate) fn tokenize_without_number(shop: &TestShop) -> Request {
    tokenize(shop, TokenUsage::Single, CardFingerprint([0; 32]))
}

fn tokenize(shop: &TestShop, usage: TokenUsage, fingerprint: CardFingerprint) -> Request {
    let card = CardFacts {
        scheme: CardScheme::Visa,
        first_digits: GOOD_CARD[..6].to_owned(),
        last_digits: GOOD_CARD[12..].to_owned(),
        expiry: CardExpiry { year: 2030, month: 12 },
        holder: Some(HolderName::new("S JAIDEE").expect("a name of proper form")),
        fingerprint,
    };
    by(Caller::Sdk(shop.installation_id), Command::TokenizeCard(TokenizeCard { card, usage }))
}

/// initiate-payment-flow of a card session.
#[derive(Debug, Clone)]
pub(crate) struct InitiateRequest(pub(crate) InitiatePayment);

impl InitiateRequest {
    pub(crate) fn external_id(mut self, text: &str) -> InitiateRequest {
        self.0.external_id = Some(external(text));
        self
    }

    pub(crate) fn authorize_only(mut self) -> InitiateRequest {
        self.0.capture = false;
        self
    }

    pub(crate) fn email(mut self, text: &str) -> InitiateRequest {
        self.0.customer.contact.email = Some(Email::new(text).expect("an address of proper form"));
        self
    }

    pub(crate) fn save_card(mut self) -> InitiateRequest {
        self.0.save_card = Some(SaveCard::Add);
        self
    }

    /// Adds a return URL so long that the decision does not fit a record.
    pub(crate) fn much_too_large(mut self) -> InitiateRequest {
        self.0.return_url = ReturnUrl::from_stored("x".repeat(9 * 1024 * 1024));
        self
    }

    pub(crate) fn by(self, shop: &TestShop) -> Request {
        by(Caller::ApiKey(shop.key_id), Command::InitiatePayment(self.0))
    }
}

/// Customer fields with an address.
pub(crate) fn person(text: &str) -> CustomerFields {
    let mut fields = CustomerFields::default();
    fields.contact.email = Some(Email::new(text).expect("an address of proper form"));
    fields
}

pub(crate) fn initiate(session_id: SessionId) -> InitiateRequest {
    let return_url = ReturnUrl::new("https://shop.example/return").expect("a URL of proper form");
    InitiateRequest(InitiatePayment::of_session(session_id, thb(PRICE_MINOR), return_url))
}

impl EngineWorld {
    /// An engine with a merchant as [`EngineWorld::open_shop`] makes it.
    pub(crate) async fn with_shop() -> (EngineWorld, TestShop) {
        let world = EngineWorld::start();
        let shop = world.open_shop().await;
        (world, shop)
    }

    /// A new merchant with an open balance, a key and an installation.
    pub(crate) async fn open_shop(&self) -> TestShop {
        static SHOPS: AtomicU64 = AtomicU64::new(1);
        let number = SHOPS.fetch_add(1, Ordering::Relaxed);
        let merchant_id = MerchantId::from_bytes((u128::from(number) << 64).to_be_bytes());
        done(self.submit(merchant_id, create(merchant_id)).await);
        done(self.submit(merchant_id, by(Caller::Operator, Command::OpenBalance)).await);
        let key = generate_key(merchant_id, 1, "sk_00000".to_owned());
        let key = done(self.engine.submit(merchant_id, key, key_text()).await);
        let Answer::Key { key_id, created_at: _ } = key else { panic!("{key:?} is no key") };
        let installation = AddInstallation {
            name: name("shop"),
            platform: Platform::Web,
            identifier: InstallationIdentifier::new("https://shop.example").expect("an origin of proper form"),
        };
        let installation = by(Caller::Operator, Command::AddInstallation(installation));
        let installation = done(self.submit(merchant_id, installation).await);
        let Answer::Installation(installation_id) = installation else { panic!("{installation:?} is none") };
        TestShop { merchant_id, key_id, installation_id }
    }

    pub(crate) async fn token(&self, shop: &TestShop, usage: TokenUsage) -> TokenId {
        self.token_of(shop, usage, GOOD_CARD).await
    }

    /// A token of the card with these digits.
    pub(crate) async fn token_of(&self, shop: &TestShop, usage: TokenUsage, digits: &str) -> TokenId {
        let number = CardNumber::parse(digits).expect("a card number");
        let fingerprint = CardFingerprint(self.keyring.card_fingerprint(shop.merchant_id, &number));
        let request = tokenize(shop, usage, fingerprint);
        let secret = Some(Secret::CardNumber(number));
        let answer = done(self.engine.submit(shop.merchant_id, request, secret).await);
        let Answer::Token(token_id) = answer else { panic!("{answer:?} is no token") };
        token_id
    }

    /// A token whose security code is kept.
    pub(crate) async fn token_with_code(&self, shop: &TestShop, usage: TokenUsage, code: &str) -> TokenId {
        let token_id = self.token(shop, usage).await;
        self.security_codes.insert(shop.merchant_id, token_id, SecurityCode::parse(code).expect("a security code"));
        token_id
    }

    pub(crate) async fn session_of(&self, shop: &TestShop, token_id: TokenId) -> SessionId {
        self.session_for(shop, token_id, CustomerFields::default()).await
    }

    /// A session whose customer is named when it is made.
    pub(crate) async fn session_for(&self, shop: &TestShop, token_id: TokenId, customer: CustomerFields) -> SessionId {
        let selection = Selection::Token(token_id);
        let command = SelectPaymentMethod { money: thb(PRICE_MINOR), selection, customer };
        let request = by(Caller::Sdk(shop.installation_id), Command::SelectPaymentMethod(command));
        let answer = done(self.submit(shop.merchant_id, request).await);
        let Answer::Session(session_id) = answer else { panic!("{answer:?} is no session") };
        session_id
    }

    /// A session with a token of its own.
    pub(crate) async fn session(&self, shop: &TestShop) -> SessionId {
        let token_id = self.token(shop, TokenUsage::Single).await;
        self.session_of(shop, token_id).await
    }

    /// Sessions of one token.
    pub(crate) async fn sessions(&self, shop: &TestShop, count: usize) -> Vec<SessionId> {
        let token_id = self.token(shop, TokenUsage::Multiple).await;
        let mut sessions = Vec::with_capacity(count);
        for _ in 0..count {
            sessions.push(self.session_of(shop, token_id).await);
        }
        sessions
    }

    /// A payment of a fresh session.
    pub(crate) async fn pay(&self, shop: &TestShop, words: impl FnOnce(InitiateRequest) -> InitiateRequest) -> Answer {
        let session_id = self.session(shop).await;
        done(self.submit(shop.merchant_id, words(initiate(session_id)).by(shop)).await)
    }
}
