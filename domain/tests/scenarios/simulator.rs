//! Random commands, the clock stepping back among them: whatever is asked, what always holds still does.

use crate::invariants;
use crate::random::Random;
use crate::words::*;
use crate::world::{World, raw_id};
use std::collections::BTreeMap;
use till_domain::card::{SaveCard, TokenUsage};
use till_domain::command::{AuthorizationResult, Command, Expired, Selection, SweepMetadata};
use till_domain::customer::CustomerFields;
use till_domain::decide::Outcome;
use till_domain::effect::{EffectKind, Timer};
use till_domain::event::{Answer, Event};
use till_domain::ids::{CardId, CustomerId, Entropy, InstallationId, KeyId, PaymentId, SessionId, TokenId};
use till_domain::merchant::{Integration, PaymentMethod};
use till_domain::metadata::{SetNumber, SweptItem};
use till_domain::money::{AMOUNT_MAX_MINOR, Money};
use till_domain::records::{AnyKey, MetadataGarbage, MetadataItems};
use till_domain::refusal::Stop;
use till_domain::session::InterestBearer;
use till_domain::time::Millis;

/// Commands of one run.
const STEPS: u64 = 9_000;
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
            0..=9 => self.tokenization(),
            10..=28 => self.selection(),
            29..=52 => self.initiation(),
            53..=67 => self.acquirer_result(),
            68..=74 => self.due_timers(),
            75 | 76 => self.sweeping(),
            77 | 78 => self.topup(),
            79..=82 => self.operation(),
            83 | 84 => self.team_change(),
            85..=96 => self.metadata(),
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

    /// Few records with few sets of few items, so that they meet.
    fn metadata(&mut self) -> Ask {
        let key = format!("k{}", self.random.below(2));
        let path = self.random.pick(&["", "l", "a.l", "a.m"]).unwrap_or("");
        let item = self.random.pick(&["1", "\"x\"", "[2]"]).unwrap_or("1");
        let values = ["[]", "{}", "[1,2,1]", r#"{"l":[1,"x",1],"a":{"m":null}}"#, r#"{"a":7}"#];
        let ask = match self.random.below(10) {
            0..=4 => add(&key, path, item),
            5..=7 => remove(&key, path, item),
            8 if self.random.once_in(3) => sync(&key, self.random.pick(&values).unwrap_or("{}")),
            9 if self.random.once_in(3) => delete(&key),
            _ => return self.metadata_sweeping(),
        };
        let ask = if self.random.once_in(6) { ask.at_version(self.random.below(4)) } else { ask };
        let days = 1 + self.random.below(10);
        if self.random.once_in(3) { ask.ttl(1 + self.random.below(days * 86_400)) } else { ask }
    }

    /// Sweeps some of what can be swept of metadata, and at times something that cannot.
    fn metadata_sweeping(&mut self) -> Ask {
        let garbage = self
            .world
            .rows
            .iter()
            .filter_map(|(key, _)| if let AnyKey::MetadataGarbage(id) = key { Some(*id) } else { None });
        let garbage: Vec<_> = garbage.collect();
        let Some(id) = self.random.pick(&garbage) else { return open_balance() };
        let below = self.world.look_up::<MetadataGarbage>(id);
        let is_left = |number: &SetNumber| *number < below;
        let (mut items, mut sets) = (Vec::new(), Vec::new());
        for (key, _) in self.world.rows.iter() {
            if let AnyKey::MetadataItems((of, set, hash)) = key
                && *of == id
                && is_left(set)
            {
                let position = self.world.look_up::<MetadataItems>((id, *set, *hash));
                items.push(SweptItem { set: *set, hash: *hash, position });
            } else if let AnyKey::MetadataSets((of, set)) = key
                && *of == id
                && is_left(set)
            {
                sets.push(*set);
            }
        }
        let whole = self.random.once_in(2);
        if !whole {
            items.truncate(1);
            sets.clear();
        }
        let finished_below = whole.then_some(below);
        Ask::of(Who::Till, Command::SweepMetadata(SweepMetadata { id, items, sets, finished_below }))
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
            9 if self.random.once_in(2) => self.installation_change(),
            _ => self.new_key(),
        }
    }

    /// Any but the first, which the clients call from.
    fn installation_change(&mut self) -> Ask {
        let others: Vec<InstallationId> = self.world.state.installations.keys().skip(1).copied().collect();
        let Some(id) = self.random.pick(&others) else { return add_installation() };
        if self.random.once_in(2) {
            return remove_installation(id);
        }
        update_installation(id, Some(&self.small_name("shop")), None)
    }

    fn new_key(&mut self) -> Ask {
        let mut ask = generate_key(self.world.merchant_id, 0, None);
        if let Command::GenerateKey(command) = &mut ask.command {
            command.digest.0[..8].copy_from_slice(&self.random.next_u64().to_be_bytes());
        }
        ask
    }

    fn team_change(&mut self) -> Ask {
        let user = self.world.state.users.keys().next().copied();
        let invitation = self.world.state.invitations.keys().next_back().copied();
        let plans = till_domain::plan::Plan::ALL;
        match self.random.below(4) {
            0 => accept(invitation.unwrap_or(raw_id(9, till_domain::ids::InvitationId::from_raw))),
            1 => remove_user(user.unwrap_or(raw_id(9, till_domain::ids::UserId::from_raw))),
            2 => select_plan(self.random.pick(&plans).unwrap_or(plans[0]).id),
            _ => invite(&format!("{}@shop.example", self.small_name("m"))),
        }
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
            Event::TokenKept { .. } => self.saw("token kept"),
            Event::InstallationUpdated(_) => self.saw("installation updated"),
            Event::InstallationRemoved { .. } => self.saw("installation removed"),
            Event::CustomerUpdated { .. } => self.saw("customer updated"),
            Event::UserInvited { .. } => self.saw("invited"),
            Event::InvitationAccepted { .. } => self.saw("accepted"),
            Event::UserRemoved { .. } => self.saw("removed"),
            Event::PlanSwitched { .. } => self.saw("plan switched"),
            Event::MetadataSaved { .. } => self.saw("metadata saved"),
            Event::MetadataSetFormed { .. } => self.saw("metadata set formed"),
            Event::MetadataItemAdded { .. } => self.saw("metadata item added"),
            Event::MetadataItemRemoved { .. } => self.saw("metadata item removed"),
            Event::MetadataEnded { .. } => self.saw("metadata ended"),
            Event::MetadataTimerMoved { .. } => self.saw("metadata timer moved"),
            Event::MetadataSwept { finished, .. } => {
                self.saw(if *finished { "metadata swept" } else { "metadata swept in part" });
            }
            Event::MerchantCreated { .. }
            | Event::SuspensionChanged { .. }
            | Event::CardNumbersInIdentifiersChanged { .. }
            | Event::KeyRevoked { .. }
            | Event::InstallationAdded(_)
            | Event::PaymentMethodConfigured { .. }
            | Event::BalanceOpened
            | Event::TopupAdded { .. }
            | Event::PaymentCaptured { .. }
            | Event::DefaultCardSet { .. }
            | Event::KeyRenamed { .. }
            | Event::TokenQueued { .. } => {}
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
            "token kept",
            "installation updated",
            "installation removed",
            "card saved",
            "customer updated",
            "invited",
            "accepted",
            "removed",
            "plan switched",
            "metadata saved",
            "metadata set formed",
            "metadata item added",
            "metadata item removed",
            "metadata ended",
            "metadata timer moved",
            "metadata swept",
            "metadata swept in part",
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
