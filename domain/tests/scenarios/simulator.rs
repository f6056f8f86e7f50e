//! Random commands, the clock stepping back among them: whatever is asked, what always holds still does.

use crate::invariants;
use crate::random::Random;
use crate::words::*;
use crate::world::{World, raw_id};
use std::collections::BTreeMap;
use till_domain::card::{SaveCard, TokenUsage};
use till_domain::command::{AuthorizationResult, Command, Expired, Selection};
use till_domain::customer::CustomerFields;
use till_domain::decide::Outcome;
use till_domain::effect::{EffectKind, Timer};
use till_domain::event::{Answer, Event};
use till_domain::ids::{CardId, CustomerId, Entropy, KeyId, PaymentId, SessionId, TokenId};
use till_domain::merchant::{Integration, PaymentMethod};
use till_domain::money::{AMOUNT_MAX_MINOR, Money};
use till_domain::records::AnyKey;
use till_domain::refusal::Stop;
use till_domain::session::InterestBearer;
use till_domain::time::Millis;

/// Commands of one run.
const STEPS: u64 = 6_000;
/// Steps between two checks of everything, whose cost grows with the log.
const STEPS_BETWEEN_FULL_CHECKS: u64 = 1_000;
const SEEDS: [u64; 4] = [1, 20_250_401, 0x0bad_5eed, u64::MAX];

#[test]
fn whatever_is_asked_the_books_balance_and_the_log_replays_to_what_is_live() {
    for seed in SEEDS {
        let mut run = Run::seeded(seed);
        for step in 0..STEPS {
            run.step();
            if step % STEPS_BETWEEN_FULL_CHECKS == 0 {
                invariants::check(&run.world);
            }
        }
        invariants::check(&run.world);
        run.says_that_it_reached_everything(seed);
    }
}

#[test]
fn the_same_seed_makes_the_same_log() {
    let log = |seed: u64| {
        let mut run = Run::seeded(seed);
        (0..300).for_each(|_| run.step());
        run.world.log
    };
    assert_eq!(log(7), log(7));
    assert_ne!(log(7), log(8));
}

/// A merchant, and what the random caller knows of it.
struct Run {
    world: World,
    random: Random,
    tokens: Vec<TokenId>,
    sessions: Vec<(SessionId, Money, Option<InterestBearer>)>,
    payments: Vec<PaymentId>,
    customers: Vec<CustomerId>,
    cards: Vec<CardId>,
    keys: Vec<KeyId>,
    open: BTreeMap<PaymentId, EffectKind>,
    asked: Vec<Ask>,
    /// How often each kind of outcome was seen.
    seen: BTreeMap<&'static str, u64>,
}

impl Run {
    fn seeded(seed: u64) -> Run {
        Run {
            world: World::open(),
            random: Random::seeded(seed),
            tokens: Vec::new(),
            sessions: Vec::new(),
            payments: Vec::new(),
            customers: Vec::new(),
            cards: Vec::new(),
            keys: Vec::new(),
            open: BTreeMap::new(),
            asked: Vec::new(),
            seen: BTreeMap::new(),
        }
    }

    fn step(&mut self) {
        self.move_clock();
        let ask = self.ask();
        let before = self.world.state.clone();
        let records = self.world.log.len();
        match self.world.step(&ask) {
            Ok(Outcome::Effective { mutation, answer, .. }) => {
                invariants::check_step((&before, &mutation), &self.world.state);
                mutation.events.iter().for_each(|event| self.learn(event));
                self.learn_answer(&ask, answer);
            }
            Ok(Outcome::Replayed(_)) => self.saw("replayed"),
            Ok(Outcome::Unchanged(_)) => self.saw("unchanged"),
            Err(Stop::Refused(refusal)) => self.saw(refusal.code()),
            Err(Stop::Unreadable(unreadable)) => panic!("rows in memory can be read: {unreadable}"),
        }
        if self.world.log.len() == records {
            assert_eq!(self.world.state, before, "nothing may change without a record");
        }
        self.asked.push(ask);
    }

    /// Mostly some seconds on; at times hours back, or past every timer.
    fn move_clock(&mut self) {
        let clock = &mut self.world.clock;
        *clock = match self.random.below(100) {
            0 => Millis(clock.0.saturating_sub(self.random.below(7_200_000))),
            1 => clock.plus_seconds(2 * 86_400),
            2 => clock.plus_seconds(7 * 86_400),
            3 => clock.plus_seconds(1_000 + self.random.below(1_000)),
            4..=30 => *clock,
            _ => Millis(clock.0 + self.random.below(10_000)),
        };
    }

    fn ask(&mut self) -> Ask {
        let ask = match self.random.below(100) {
            0..=11 => self.tokenization(),
            12..=32 => self.selection(),
            33..=59 => self.initiation(),
            60..=77 => self.acquirer_result(),
            78..=83 => self.due_timers(),
            84..=86 => self.sweeping(),
            87..=89 => self.topup(),
            90..=95 => self.operation(),
            _ => return self.earlier_ask(),
        };
        if self.random.once_in(4) { ask.named(&format!("call-{}", self.random.below(400))) } else { ask }
    }

    /// A call repeated soon mostly, at times much later.
    fn earlier_ask(&mut self) -> Ask {
        let soon = if self.random.once_in(4) { self.asked.len() } else { 16 };
        let recent = &self.asked[self.asked.len().saturating_sub(soon)..];
        self.random.pick(recent).unwrap_or_else(open_balance)
    }

    fn tokenization(&mut self) -> Ask {
        let usage = if self.random.once_in(2) { TokenUsage::Single } else { TokenUsage::Multiple };
        tokenize(u8::try_from(self.random.below(6)).expect("a small number"), usage)
    }

    fn selection(&mut self) -> Ask {
        let chosen = match self.random.below(10) {
            0 => select(Selection::UnnamedCard),
            1 | 2 => select_installment(self.bearer()),
            3 | 4 => match self.random.pick(&self.cards) {
                Some(card_id) => select_saved(card_id),
                None => select(Selection::UnnamedCard),
            },
            _ => select_token(self.recent_token()),
        };
        let money = if self.random.once_in(50) { usd(100) } else { self.money() };
        let customer = if self.random.once_in(3) { self.customer() } else { nobody() };
        chosen.money(money).customer(customer).into()
    }

    fn initiation(&mut self) -> Ask {
        let (session, money, bearer) = self.recent_session();
        let money = if self.random.once_in(30) { thb(1) } else { money };
        let mut ask = initiate(session).money(money).customer(self.customer());
        if let Some(bearer) = bearer {
            ask = ask.bearer(if self.random.once_in(10) { self.bearer() } else { bearer });
        }
        if self.random.once_in(2) {
            ask = ask.external_id(&format!("order-{}", self.random.below(2_000)));
        }
        if let Some(card_id) = self.random.pick(&self.cards).filter(|_| self.random.once_in(2)) {
            ask = ask.card(card_id);
        }
        if self.random.once_in(2) {
            ask = ask.save(if self.random.once_in(2) { SaveCard::Add } else { SaveCard::Default });
        }
        if self.random.once_in(3) {
            ask = ask.authorize_only();
        }
        let ask = Ask::from(ask);
        match self.random.pick(&self.keys).filter(|_| self.random.once_in(10)) {
            Some(key_id) => ask.by(Who::MerchantWith(key_id)),
            None => ask,
        }
    }

    /// One of the last sessions, so that most are active still. A used one is forgotten, mostly.
    fn recent_session(&mut self) -> (SessionId, Money, Option<InterestBearer>) {
        let recent = &self.sessions[self.sessions.len().saturating_sub(4)..];
        let unknown = (raw_id(9, SessionId::from_raw), thb(1), None);
        self.random.pick(recent).unwrap_or(unknown)
    }

    /// An answer for an open effect mostly, at times for any payment or none.
    fn acquirer_result(&mut self) -> Ask {
        let open: Vec<(PaymentId, EffectKind)> = self.open.iter().map(|(id, kind)| (*id, *kind)).collect();
        if let Some((id, kind)) = self.random.pick(&open).filter(|_| !self.random.once_in(10)) {
            return match kind {
                EffectKind::Authorize => result(id, self.authorization()),
                EffectKind::Void => void_done(id),
            };
        }
        let id = self.random.pick(&self.payments).unwrap_or(raw_id(9, PaymentId::from_raw));
        if self.random.once_in(2) { void_done(id) } else { result(id, self.authorization()) }
    }

    fn authorization(&mut self) -> AuthorizationResult {
        match self.random.below(5) {
            0 => declined(),
            1 => approved(),
            2 => approved_captured_and_settled(),
            _ => approved_and_captured(),
        }
    }

    /// Timers that are set, due or not, some of them twice.
    fn due_timers(&mut self) -> Ask {
        let timers = self.world.timers();
        let mut some: Vec<Timer> = timers.iter().take(8).copied().collect();
        some.extend(self.random.pick(&timers));
        fire(some)
    }

    /// Anything that could be swept, old enough or not, some of it twice, some of it unknown.
    fn sweeping(&mut self) -> Ask {
        let mut sweepable: Vec<Expired> = vec![
            Expired::Session(raw_id(9, SessionId::from_raw)),
            Expired::Token(raw_id(9, TokenId::from_raw)),
            Expired::TokenOf(raw_id(9, SessionId::from_raw)),
        ];
        for (key, _) in self.world.rows.iter() {
            if let AnyKey::Sessions(id) = key {
                sweepable.extend([Expired::Session(*id), Expired::TokenOf(*id)]);
            } else if let AnyKey::Tokens(id) = key {
                sweepable.push(Expired::Token(*id));
            } else if let AnyKey::Answers(scope) = key {
                sweepable.push(Expired::Answer(scope.clone()));
            }
        }
        sweep((0..32).filter_map(|_| self.random.pick(&sweepable)).collect::<Vec<_>>())
    }

    fn topup(&mut self) -> Ask {
        let minor = self.money().amount.get();
        if self.random.once_in(2) { topup(minor) } else { topup_known_as(minor, &self.small_name("bank")) }
    }

    fn operation(&mut self) -> Ask {
        let fee = u16::try_from(self.random.below(500)).expect("a small number");
        match self.random.below(10) {
            0 if self.random.once_in(3) => suspend(),
            1..=3 => resume(),
            4 => open_balance(),
            5 => configure(PaymentMethod::Card, with_fee(fee, self.random.below(20))),
            6 => configure(PaymentMethod::Installment, Integration::initial()),
            7 => configure(PaymentMethod::Installment, always_capturing()),
            8 => self.random.pick(&self.keys).map_or_else(add_installation, revoke_key),
            _ => self.new_key(),
        }
    }

    fn new_key(&mut self) -> Ask {
        let mut ask = generate_key(self.world.merchant_id, 0, None);
        if let Command::GenerateKey(command) = &mut ask.command {
            command.digest.0[..8].copy_from_slice(&self.random.next_u64().to_be_bytes());
        }
        ask
    }

    /// Few people with few addresses, so that they meet.
    fn customer(&mut self) -> CustomerFields {
        let mut fields = nobody();
        match self.random.below(6) {
            0 => fields = fields.known_as(&self.small_name("c")),
            1 => fields.id = self.random.pick(&self.customers).map(till_domain::customer::CustomerRef::Own),
            _ => {}
        }
        if self.random.once_in(3) {
            fields = fields.email(&format!("{}@example.com", self.small_name("p")));
        }
        if self.random.once_in(4) {
            fields = fields.mobile(&format!("+6681234567{}", self.random.below(8)));
        }
        if self.random.once_in(4) { fields.called(&self.small_name("Name")) } else { fields }
    }

    fn small_name(&mut self, prefix: &str) -> String {
        format!("{prefix}-{}", self.random.below(12))
    }

    fn recent_token(&mut self) -> TokenId {
        let recent = &self.tokens[self.tokens.len().saturating_sub(12)..];
        self.random.pick(recent).unwrap_or(raw_id(9, TokenId::from_raw))
    }

    fn bearer(&mut self) -> InterestBearer {
        if self.random.once_in(2) { InterestBearer::Customer } else { InterestBearer::Merchant }
    }

    /// Small amounts mostly; at times so large that a few of them fill the ledger.
    fn money(&mut self) -> Money {
        match self.random.below(40) {
            0 => thb(AMOUNT_MAX_MINOR / 3),
            1 => thb(AMOUNT_MAX_MINOR),
            _ => thb(1 + self.random.below(100_000)),
        }
    }

    fn learn(&mut self, event: &Event) {
        match event {
            Event::CardTokenized(token) => self.tokens.push(token.id),
            Event::SessionCreated { session, token_used_up: _ } => {
                self.sessions.push((session.id, session.money, session.instrument.interest_bearer()));
            }
            Event::CustomerCreated(customer) => self.customers.push(customer.id),
            Event::PaymentInitiated { payment, effect } => {
                self.saw("initiated");
                self.payments.push(payment.id);
                let keeps = self.random.once_in(20);
                self.sessions.retain(|(id, _, _)| keeps || *id != payment.session_id);
                self.open.insert(payment.id, effect.kind);
            }
            Event::CardSaved { card, is_default: _, at: _ } => {
                self.saw("card saved");
                self.cards.push(card.id);
            }
            Event::KeyGenerated { merchant_id: _, key } => self.keys.push(key.id),
            Event::PaymentAuthorized { payment_id, authorization: _ } => self.close(*payment_id, "authorized"),
            Event::PaymentFailed { payment_id, .. } => self.close(*payment_id, "failed"),
            Event::PaymentVoided { payment_id, .. } => self.close(*payment_id, "voided"),
            Event::AuthorizationLapsed { payment_id, effect, lapses_at: _ } => {
                self.saw("lapsed");
                self.open.insert(*payment_id, effect.kind);
            }
            Event::TransactionSettled { .. } => self.saw("settled"),
            Event::SessionsSwept { .. } => self.saw("sessions swept"),
            Event::TokensSwept { .. } => self.saw("tokens swept"),
            Event::AnswersSwept { .. } => self.saw("answers swept"),
            Event::CustomerUpdated { .. } => self.saw("customer updated"),
            Event::MerchantCreated { .. }
            | Event::SuspensionChanged { .. }
            | Event::KeyRevoked { .. }
            | Event::InstallationAdded(_)
            | Event::PaymentMethodConfigured { .. }
            | Event::BalanceOpened
            | Event::TopupAdded { .. }
            | Event::PaymentCaptured { .. }
            | Event::DefaultCardSet { .. } => {}
        }
    }

    /// An answer names something that is there.
    fn learn_answer(&mut self, ask: &Ask, answer: Answer) {
        if let (Command::InitiatePayment(asked), Answer::Payment(id)) = (&ask.command, answer) {
            let payment = self.world.payment_row(id);
            assert_eq!((payment.session_id, payment.money), (asked.session_id, asked.money));
            assert_eq!(payment.external_id, asked.external_id);
        }
    }

    fn close(&mut self, payment_id: PaymentId, what: &'static str) {
        self.saw(what);
        assert!(self.open.remove(&payment_id).is_some(), "a result was recorded for a closed effect");
    }

    fn saw(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    /// A simulator that is refused all the time finds nothing.
    fn says_that_it_reached_everything(&self, seed: u64) {
        let everything = [
            "initiated",
            "authorized",
            "failed",
            "lapsed",
            "voided",
            "settled",
            "sessions swept",
            "tokens swept",
            "answers swept",
            "card saved",
            "customer updated",
            "replayed",
            "unchanged",
            "NOT_FOUND",
            "CONFLICT",
            "TOKEN_ALREADY_USED",
            "CUSTOMER_REQUIRED",
            "CUSTOMER_MISMATCH",
            "NOT_SUPPORTED",
            "INVALID_ARGUMENTS",
            "IDEMPOTENCY_KEY_REUSED",
            "MERCHANT_SUSPENDED",
            "UNAUTHORIZED",
            "AMOUNT_EXCEEDS_LIMIT",
        ];
        for what in everything {
            assert!(self.seen.contains_key(what), "seed {seed} never saw {what}: {:?}", self.seen);
        }
    }
}
