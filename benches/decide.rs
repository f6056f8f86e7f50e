//! The cost of decisions: the rules and both folds over records in memory, without a disk and without HTTP.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use till_domain::apply::{apply_rows, apply_state};
use till_domain::card::{CardExpiry, CardFacts, CardFingerprint, CardScheme, TokenUsage};
use till_domain::command::{
    AddInstallation, AuthorizationResult, Caller, Command, CreateMerchant, InitiatePayment, Request,
    SelectPaymentMethod, Selection, TokenizeCard,
};
use till_domain::customer::{Contact, CustomerFields};
use till_domain::decide::{Context, Outcome, decide};
use till_domain::event::Answer;
use till_domain::ids::{Entropy, MerchantId, SessionId};
use till_domain::merchant::Platform;
use till_domain::money::{AmountMinor, Money};
use till_domain::records::{AnyKey, AnyRow, MemoryRows, MerchantState, Records, Rows, Unreadable};
use till_domain::text::{Email, ExternalId, HolderName, InstallationIdentifier, Name, ReturnUrl, TimeZone};
use till_domain::time::Millis;

const MERCHANT: MerchantId = MerchantId::from_bytes([1; 16]);
const NOW: Millis = Millis(1_800_000_000_000);

/// Numbers that count up: enough for ids in a bench.
struct Counting(u64);

impl Entropy for Counting {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        self.0
    }
}

/// One merchant in memory.
struct MerchantInMemory {
    state: MerchantState,
    rows: MemoryRows,
    entropy: Counting,
}

impl Rows for MerchantInMemory {
    fn read(&self, key: &AnyKey) -> Result<Option<AnyRow>, Unreadable> {
        self.rows.read(key)
    }
}

impl Records for MerchantInMemory {
    fn state(&self) -> &MerchantState {
        &self.state
    }
}

impl MerchantInMemory {
    fn decide(&mut self, caller: Caller, command: Command) -> Outcome {
        let request = Request { caller, idempotency: None, command };
        let mut entropy = Counting(self.entropy.0);
        let mut context = Context::new(NOW, &self.state, &mut entropy);
        let outcome = decide(&*self, &request, &mut context).expect("the bench asks for nothing illegal");
        self.entropy = entropy;
        outcome
    }

    fn carry_out(&mut self, caller: Caller, command: Command) -> Answer {
        match self.decide(caller, command) {
            Outcome::Effective { mutation, vault: _, answer } => {
                apply_state(&mutation, &mut self.state);
                apply_rows(&mutation, &mut self.rows).expect("rows in memory can be read");
                answer
            }
            Outcome::Replayed(answer) | Outcome::Unchanged(answer) => answer,
        }
    }

    /// A merchant with an installation and a session of a multi-use token.
    fn with_session() -> (MerchantInMemory, SessionId) {
        let mut world =
            MerchantInMemory { state: MerchantState::default(), rows: MemoryRows::default(), entropy: Counting(0) };
        world.carry_out(Caller::Operator, Command::CreateMerchant(merchant()));
        let installation = world.carry_out(Caller::Operator, Command::AddInstallation(installation()));
        let Answer::Installation(installation_id) = installation else { panic!("{installation:?}") };
        let caller = Caller::Sdk(installation_id);
        let token = world.carry_out(caller, Command::TokenizeCard(card()));
        let Answer::Token(token_id) = token else { panic!("{token:?}") };
        let select = SelectPaymentMethod {
            money: money(),
            selection: Selection::Token(token_id),
            customer: CustomerFields::default(),
        };
        let session = world.carry_out(caller, Command::SelectPaymentMethod(select));
        let Answer::Session(session_id) = session else { panic!("{session:?}") };
        (world, session_id)
    }
}

fn merchant() -> CreateMerchant {
    CreateMerchant {
        merchant_id: MERCHANT,
        name: Name::from_stored("Shop".to_owned()),
        currency: "THB".parse().expect("an ISO code"),
        time_zone: TimeZone::from_stored("UTC".to_owned()),
        settlement_delay_seconds: 172_800,
        support_email: None,
        card_numbers_in_identifiers: false,
        test_clock: false,
    }
}

fn installation() -> AddInstallation {
    AddInstallation {
        name: Name::from_stored("Web".to_owned()),
        platform: Platform::Web,
        identifier: InstallationIdentifier::from_stored("https://shop.example".to_owned()),
    }
}

fn card() -> TokenizeCard {
    let card = CardFacts {
        scheme: CardScheme::Visa,
        first_digits: "424242".to_owned(),
        last_digits: "4242".to_owned(),
        expiry: CardExpiry { year: 2049, month: 12 },
        holder: Some(HolderName::from_stored("Ada Example".to_owned())),
        fingerprint: CardFingerprint([7; 32]),
    };
    TokenizeCard { card, usage: TokenUsage::Multiple }
}

fn money() -> Money {
    Money { amount: AmountMinor::new(10_000).expect("in range"), currency: "THB".parse().expect("an ISO code") }
}

fn initiation(session_id: SessionId) -> Command {
    let contact = Contact { email: Some(Email::from_stored("ada@example.com".to_owned())), ..Contact::default() };
    let return_url = ReturnUrl::from_stored("https://shop.example/done".to_owned());
    Command::InitiatePayment(InitiatePayment {
        external_id: Some(ExternalId::from_stored("order-1".to_owned())),
        customer: CustomerFields { id: None, contact },
        ..InitiatePayment::of_session(session_id, money(), return_url)
    })
}

fn approval() -> AuthorizationResult {
    AuthorizationResult::Approved {
        acquirer_reference: "sandbox-1".to_owned(),
        captured: true,
        settles_at_once: false,
        is_disputed: false,
    }
}

/// The merchant's caller needs a live key; the system's decides the same without one.
const CALLER: Caller = Caller::System;

fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decide");
    let (mut world, session_id) = MerchantInMemory::with_session();
    group.bench_function("initiate", |bencher| {
        bencher.iter(|| black_box(world.decide(CALLER, initiation(session_id))));
    });
    group.bench_function("initiate, both folds", |bencher| {
        let fresh = MerchantInMemory::with_session;
        bencher.iter_batched(
            fresh,
            |(mut world, session_id)| black_box(world.carry_out(CALLER, initiation(session_id))),
            BatchSize::SmallInput,
        );
    });
    let payment = world.carry_out(CALLER, initiation(session_id));
    let Answer::Payment(payment_id) = payment else { panic!("{payment:?}") };
    group.bench_function("record a captured authorization", |bencher| {
        bencher.iter(|| black_box(world.decide(Caller::System, Command::RecordAuthorization(payment_id, approval()))));
    });
    group.bench_function("refuse a used session", |bencher| {
        let request = Request { caller: CALLER, idempotency: None, command: initiation(session_id) };
        bencher.iter(|| {
            let mut entropy = Counting(0);
            let mut context = Context::new(NOW, &world.state, &mut entropy);
            black_box(decide(&world, &request, &mut context).is_err())
        });
    });
    group.finish();
}

criterion_group!(decide_benches, benches);
criterion_main!(decide_benches);
