//! Random commands, also with a clock that steps back: the invariants hold after every one.

use crate::invariants;
use crate::random::Random;
use crate::words::*;
use crate::world::{ScenarioWorld, raw_id};
use std::collections::{BTreeMap, BTreeSet};
use till_domain::activity::Actor;
use till_domain::card::{CardExpiry, SaveCard, TokenUsage};
use till_domain::command::{
    AuthorizationResult, CallResult, CheckoutChoice, Command, EvidenceResult, Expired, SeatCommand, Selection,
    SweepMetadata,
};
use till_domain::customer::{CardRef, CustomerFields};
use till_domain::decide::Outcome;
use till_domain::dispute::DisputeOutcome;
use till_domain::effect::{Effect, EffectId, EffectKind, Timer};
use till_domain::event::{Answer, DisputeClosing, Event};
use till_domain::ids::{
    AcquirerId, CardId, CheckoutId, CustomerId, DisputeId, Entropy, InstallationId, KeyId, PaymentId, PayoutId,
    RefundId, SessionId, TokenId, TransactionId, UserId, WebhookEventId, WebhookId,
};
use till_domain::ledger::EntryStatus;
use till_domain::merchant::{Integration, PaymentMethod};
use till_domain::metadata::{SetNumber, SweptItem};
use till_domain::money::{AMOUNT_MAX_MINOR, Money};
use till_domain::payment::OperationKind;
use till_domain::records::{
    AnyKey, Cards, Checkouts, Disputes, MetadataGarbage, MetadataItems, Payments, Payouts, Transactions,
};
use till_domain::refusal::DecisionError;
use till_domain::session::{InstallmentPlan, InterestBearer};
use till_domain::team::{CredentialsPart, SeatChange, SignInCode};
use till_domain::time::Millis;
use till_domain::webhook::WebhookEvent;

/// Commands of one run.
const STEPS: u64 = 12_000;
/// Steps between two checks of everything, whose cost grows with the log.
const STEPS_BETWEEN_FULL_CHECKS: u64 = 1_000;
/// Steps before the first top-up and the first large payment, so that refusals for lack of money occur at first.
const STEPS_WITHOUT_TOPUP: usize = 6_000;
const SEEDS: [u64; 4] = [1, 20_250_401, 0x0bad_5eed, u64::MAX];

/// Commands of each of many short runs.
const SHORT_STEPS: u64 = 600;
/// Short runs of the suite. `TILL_SIMULATOR_SEEDS` sets another number, such as 10000.
const SHORT_RUNS: u64 = 12;
/// The variable that names the number of short runs.
const RUNS_VARIABLE: &str = "TILL_SIMULATOR_SEEDS";
/// The variable that names the one seed to replay.
const SEED_VARIABLE: &str = "TILL_SIMULATOR_SEED";

/// Prints on a failure how the run can be repeated.
struct ReplayHint {
    seed: u64,
    test: &'static str,
}

impl Drop for ReplayHint {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let ReplayHint { seed, test } = self;
            eprintln!("seed {seed} failed; replay it: {SEED_VARIABLE}={seed} cargo nextest run -p till-domain {test}");
        }
    }
}

fn number_of(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("the variable is a number"))
}

#[test]
fn many_short_runs_keep_the_invariants() {
    let seeds = match number_of(SEED_VARIABLE) {
        Some(seed) => seed..=seed,
        None => 1..=number_of(RUNS_VARIABLE).unwrap_or(SHORT_RUNS),
    };
    for seed in seeds {
        let _replay = ReplayHint { seed, test: "many_short_runs" };
        let is_short_of_money = seed % 2 == 0;
        let mut run = Run::seeded(seed, if is_short_of_money { STEPS_WITHOUT_TOPUP } else { 0 });
        (0..SHORT_STEPS).for_each(|_| run.step());
        invariants::check(&run.world);
    }
}

#[test]
fn random_commands_keep_the_books_balanced_and_replayable() {
    let mut seen = BTreeSet::new();
    for seed in SEEDS {
        let _replay = ReplayHint { seed, test: "whatever_is_asked" };
        let mut run = Run::seeded(seed, STEPS_WITHOUT_TOPUP);
        for step in 0..STEPS {
            run.step();
            if step % STEPS_BETWEEN_FULL_CHECKS == 0 {
                invariants::check(&run.world);
            }
        }
        invariants::check(&run.world);
        seen.extend(run.seen.into_keys());
    }
    check_that_everything_was_reached(&seen);
}

#[test]
fn the_same_seed_makes_the_same_log() {
    let log = |seed: u64| {
        let mut run = Run::seeded(seed, 0);
        (0..300).for_each(|_| run.step());
        run.world.log
    };
    assert_eq!(log(7), log(7));
    assert_ne!(log(7), log(8));
}

/// A merchant, and the random caller's knowledge of it.
struct Run {
    world: ScenarioWorld,
    /// An account at an acquirer, at which cards are from time to time.
    account: Option<AcquirerId>,
    random: Random,
    /// Steps before the first top-up and the first large payment.
    steps_without_topup: usize,
    tokens: Vec<TokenId>,
    sessions: Vec<(SessionId, Money, Option<InterestBearer>)>,
    payments: Vec<PaymentId>,
    checkouts: Vec<CheckoutId>,
    customers: Vec<CustomerId>,
    cards: Vec<CardId>,
    keys: Vec<KeyId>,
    webhooks: Vec<WebhookId>,
    webhook_event: Option<WebhookEvent>,
    /// The webhook of the last order to deliver events again, and the event after which it was given.
    ordered: (WebhookId, WebhookEventId),
    refunds: Vec<RefundId>,
    disputes: Vec<DisputeId>,
    payouts: Vec<PayoutId>,
    /// Payouts that have no answer.
    open_payouts: BTreeSet<PayoutId>,
    /// Calls to the acquirer that have no answer.
    open: BTreeMap<EffectId, EffectKind>,
    /// The last status of the entries of each transaction.
    entries: BTreeMap<TransactionId, EntryStatus>,
    asked: Vec<Ask>,
    /// The number of times that each kind of outcome was seen.
    seen: BTreeMap<String, u64>,
}

impl Run {
    /// A run that is short of money for some steps.
    fn seeded(seed: u64, steps_without_topup: usize) -> Run {
        let mut world = if seed.is_multiple_of(3) { ScenarioWorld::on_test_clock() } else { ScenarioWorld::open() };
        world.given(configure(PaymentMethod::Card, with_fee(6_000, 5)));
        world.given(configure(PaymentMethod::PromptPay, with_fee(0, 0)));
        let account = (world.state.test_clock.is_none() && seed % 2 == 1).then(|| world.account());
        if let Some(id) = account {
            world.given(configure(PaymentMethod::Card, Integration { fee: with_fee(6_000, 5).fee, ..at_account(id) }));
        }
        Run {
            world,
            account,
            random: Random::seeded(seed),
            steps_without_topup,
            tokens: Vec::new(),
            sessions: Vec::new(),
            payments: Vec::new(),
            checkouts: Vec::new(),
            customers: Vec::new(),
            cards: Vec::new(),
            keys: Vec::new(),
            webhooks: Vec::new(),
            webhook_event: None,
            ordered: (raw_id(9, WebhookId::from_raw), raw_id(9, WebhookEventId::from_raw)),
            refunds: Vec::new(),
            disputes: Vec::new(),
            payouts: Vec::new(),
            open_payouts: BTreeSet::new(),
            open: BTreeMap::new(),
            entries: BTreeMap::new(),
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
                mutation.events.iter().for_each(|event| self.check_touched(event));
                self.learn_answer(&ask, answer);
            }
            Ok(Outcome::Replayed(_)) => self.saw("replayed"),
            Ok(Outcome::Unchanged(_)) => self.saw("unchanged"),
            Err(DecisionError::Refused(refusal)) => {
                let text = format!("{refusal:?}");
                self.saw(text.split(' ').next().unwrap_or_default());
            }
            Err(DecisionError::Unreadable(unreadable)) => panic!("rows in memory can be read: {unreadable}"),
        }
        if self.world.log.len() == records {
            assert_eq!(self.world.state, before, "nothing may change without a record");
        }
        self.asked.push(ask);
    }

    /// Usually moves some seconds forward; sometimes hours back, or past every timer.
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
            0..=7 => self.tokenization(),
            8..=18 => self.selection(),
            19..=23 => self.checkout(),
            24..=43 => self.initiation(),
            44..=59 => self.acquirer_result(),
            60..=66 if self.world.state.test_clock.is_some() && self.random.once_in(3) => self.clock_change(),
            60..=66 => self.due_timers(),
            67..=70 if !self.random.once_in(3) => self.dispute(),
            67..=80 => self.call_about_a_payment(),
            81 | 82 => self.sweeping(),
            81..=84 if self.random.once_in(4) => self.payout(),
            83 | 84 if self.random.once_in(4) => self.invoice(),
            83 | 84 => self.topup(),
            85..=89 if self.random.once_in(3) => self.contact_change(),
            85 | 86 => self.operation(),
            87 => self.webhook_change(),
            88 | 89 => self.team_change(),
            90..=97 => self.metadata(),
            _ => return self.earlier_ask(),
        };
        if self.random.once_in(4) { ask.named(&format!("call-{}", self.random.below(400))) } else { ask }
    }

    /// A repeated call, usually a recent one, sometimes a much earlier one.
    fn earlier_ask(&mut self) -> Ask {
        let soon = if self.random.once_in(4) { self.asked.len() } else { 16 };
        let recent = &self.asked[self.asked.len().saturating_sub(soon)..];
        self.random.pick(recent).unwrap_or_else(open_balance)
    }

    fn tokenization(&mut self) -> Ask {
        let usage = if self.random.once_in(2) { TokenUsage::Single } else { TokenUsage::Multiple };
        let year = 2030 + u16::try_from(self.random.below(3)).expect("a small number");
        let number = u8::try_from(self.random.below(6)).expect("a small number");
        tokenize_with_expiry(number, usage, CardExpiry { year, month: 12 })
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
        let customer = if self.random.once_in(3) { self.customer() } else { customer_fields() };
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
            Some(key_id) => ask.by(TestCaller::MerchantWith(key_id)),
            None => ask,
        }
    }

    /// A checkout is started, paid, paid in another way, or ended: one of the last ones, so that most can still be
    /// paid.
    fn checkout(&mut self) -> Ask {
        let recent = &self.checkouts[self.checkouts.len().saturating_sub(2)..];
        let id = self.random.pick(recent).unwrap_or(raw_id(9, CheckoutId::from_raw));
        match self.random.below(12) {
            0 => expire_checkout(id),
            1 | 2 => self.start_checkout(),
            3..=6 => {
                let newest = self.world.find::<Checkouts>(id).and_then(|checkout| checkout.newest_payment());
                let replaced = newest.or_else(|| self.random.pick(&self.payments));
                let session = replaced.map(|id| self.world.payment_row(id).session_id);
                let choice = self.choice();
                pay_instead(id, choice, session)
            }
            _ => {
                let choice = self.choice();
                let mut ask = pay_checkout(id, choice);
                if let Command::PayCheckout(command) = &mut ask.command {
                    command.saves_card = self.random.once_in(3);
                }
                ask
            }
        }
    }

    fn start_checkout(&mut self) -> Ask {
        let mut start = start_checkout(self.world.first_installation()).customer(self.customer());
        start.0.money = self.money();
        start.0.offers_saved_cards = start.0.customer.id.is_some();
        start.0.capture = !self.random.once_in(3);
        start.0.lifetime_seconds = 60 + self.random.below(40_000);
        if self.random.once_in(2) {
            start.external_id(&format!("order-{}", self.random.below(2_000))).into()
        } else {
            start.into()
        }
    }

    fn choice(&mut self) -> CheckoutChoice {
        match self.random.below(6) {
            0 => CheckoutChoice::Installment(InstallmentPlan::SandboxThreeMonths),
            1 | 2 => CheckoutChoice::PromptPay,
            3 => match self.random.pick(&self.cards) {
                Some(card_id) => CheckoutChoice::SavedCard(CardRef::Own(card_id)),
                None => CheckoutChoice::MobileBanking,
            },
            _ => CheckoutChoice::Token(self.recent_token()),
        }
    }

    /// One of the last sessions, so that most are still active. A used one is usually removed from them.
    fn recent_session(&mut self) -> (SessionId, Money, Option<InterestBearer>) {
        let recent = &self.sessions[self.sessions.len().saturating_sub(4)..];
        let unknown = (raw_id(9, SessionId::from_raw), thb(1), None);
        self.random.pick(recent).unwrap_or(unknown)
    }

    /// Usually an answer for an open call, sometimes for any payment or none. A call that is not drawn for long
    /// represents one whose outcome is unknown and which is answered late.
    fn acquirer_result(&mut self) -> Ask {
        let open: Vec<(EffectId, EffectKind)> = self.open.iter().map(|(id, kind)| (*id, *kind)).collect();
        if let Some((id, kind)) = self.random.pick(&open).filter(|_| !self.random.once_in(10)) {
            return self.answer(id.payment_id, kind);
        }
        let id = self.random.pick(&self.payments).unwrap_or(raw_id(9, PaymentId::from_raw));
        let kinds = [
            EffectKind::Authorize,
            EffectKind::Void,
            EffectKind::Capture,
            EffectKind::Reverse,
            EffectKind::VoidLate,
            EffectKind::CancelAction,
            EffectKind::Refund(self.random.pick(&self.refunds).unwrap_or(raw_id(9, RefundId::from_raw))),
        ];
        let kind = self.random.pick(&kinds).unwrap_or(EffectKind::Authorize);
        self.answer(id, kind)
    }

    fn answer(&mut self, id: PaymentId, kind: EffectKind) -> Ask {
        let operation = match kind {
            EffectKind::Authorize if self.random.once_in(4) => return self.prepared(id),
            EffectKind::Authorize | EffectKind::AuthorizePrepared if self.random.once_in(20) => {
                return unsent(id, Millis(self.world.clock.0.saturating_sub(60_000)));
            }
            EffectKind::Authorize | EffectKind::AuthorizePrepared => return result(id, self.authorization()),
            EffectKind::Refund(refund_id) => return refund_answered(refund_id, self.call_result()),
            EffectKind::VoidLate | EffectKind::RefundLate => return given_back(id, self.call_result()),
            EffectKind::CancelAction if self.random.once_in(3) => {
                let told = self.authorization();
                let is_approval = matches!(told, AuthorizationResult::Approved(_));
                return if is_approval { canceled_too_late(id, told) } else { action_canceled(id) };
            }
            EffectKind::CancelAction => return action_canceled(id),
            EffectKind::Capture => OperationKind::Capture,
            EffectKind::Void => OperationKind::Void,
            EffectKind::Reverse => OperationKind::Reverse,
        };
        let open = self.world.find::<Payments>(id).and_then(|payment| payment.operation);
        let attempt = open.map_or(1, |operation| operation.attempt);
        let attempt = if self.random.once_in(20) { attempt + 1 } else { attempt };
        let mut result = self.call_result();
        let (settles_at_once, is_disputed) = (self.random.once_in(8), self.random.once_in(8));
        if let CallResult::Done(moved) = &mut result {
            (moved.settles_at_once, moved.is_disputed) = (settles_at_once, is_disputed);
        }
        operation_answered(id, operation, attempt, result)
    }

    /// The acquirer has prepared a payment, sometimes one that is over.
    fn prepared(&mut self, id: PaymentId) -> Ask {
        let reference = format!("prepared-{}", self.random.below(100));
        if self.random.once_in(2) { prepared_with_page(id, &reference) } else { prepared_without_page(id, &reference) }
    }

    fn call_result(&mut self) -> CallResult {
        if self.random.once_in(3) { refused() } else { succeeded() }
    }

    /// A capture, void, reversal or refund, usually of one of the last payments, permitted or not.
    fn call_about_a_payment(&mut self) -> Ask {
        let recent = &self.payments[self.payments.len().saturating_sub(12)..];
        let all = if self.random.once_in(3) { &self.payments } else { recent };
        let id = self.random.pick(all).unwrap_or(raw_id(9, PaymentId::from_raw));
        let price = self.world.find::<Payments>(id).map_or(1, |payment| payment.money.amount.get());
        let part = 1 + self.random.below(price.min(AMOUNT_MAX_MINOR - 1) + 1);
        let ask: Ask = match self.random.below(14) {
            12 | 13 => return self.call_about_an_action(),
            0 => capture(id),
            1 | 2 => capture_part(id, part),
            3 => void(id),
            4 => reverse(id),
            5..=7 => refund(id).into(),
            8 | 9 => refund(id).part(1 + part / 4).into(),
            10 => refund(id).part(part).external_id(&format!("back-{}", self.random.below(200))).into(),
            _ => expire(self.oldest_pending().unwrap_or(id)),
        };
        let by_operator = ask.caller == TestCaller::Merchant && self.random.once_in(10);
        if by_operator { ask.by(TestCaller::Operator) } else { ask }
    }

    /// A customer who gives up, or a merchant who voids a payment whose customer must act.
    fn call_about_an_action(&mut self) -> Ask {
        let rows = self.world.rows.iter();
        let open = rows.filter_map(|(key, _)| if let AnyKey::CustomerActions(id) = key { Some(*id) } else { None });
        let open: Vec<PaymentId> = open.collect();
        match self.random.pick(&open) {
            Some(id) if self.random.once_in(2) => void(id),
            Some(id) => cancel_session(self.world.payment_row(id).session_id),
            None => cancel_session(self.recent_session().0),
        }
    }

    /// A dispute about one of the last payments, or a step of one of the last disputes.
    fn dispute(&mut self) -> Ask {
        let recent = &self.payments[self.payments.len().saturating_sub(12)..];
        let id = self.random.pick(recent).unwrap_or(raw_id(9, PaymentId::from_raw));
        let price = self.world.find::<Payments>(id).map_or(1, |payment| payment.money.amount.get());
        let recent = &self.disputes[self.disputes.len().saturating_sub(6)..];
        let dispute_id = self.random.pick(recent).unwrap_or(raw_id(9, DisputeId::from_raw));
        let results = [EvidenceResult::Taken, EvidenceResult::Taken, EvidenceResult::Won, EvidenceResult::Lost];
        let outcomes = [DisputeOutcome::Won, DisputeOutcome::Lost];
        match self.random.below(14) {
            12 | 13 => evidence_answered(dispute_id, EvidenceResult::Taken),
            0..=2 => dispute(id),
            3 | 4 => dispute_part(id, 1 + self.random.below(price.min(AMOUNT_MAX_MINOR - 1) / 2 + 1)),
            5 | 6 => challenge(dispute_id, "it was delivered"),
            7 | 8 => evidence_answered(dispute_id, self.random.pick(&results).unwrap_or(EvidenceResult::Taken)),
            9 => escalate(dispute_id),
            10 if self.random.once_in(2) => concede(dispute_id),
            _ => close(dispute_id, self.random.pick(&outcomes).unwrap_or(DisputeOutcome::Lost)),
        }
    }

    fn oldest_pending(&self) -> Option<PaymentId> {
        let pending = self.open.iter().find(|(_, kind)| kind.is_authorization());
        pending.map(|(id, _)| id.payment_id)
    }

    fn authorization(&mut self) -> AuthorizationResult {
        match self.random.below(9) {
            3 if self.random.once_in(3) => approved_captured_and_disputed(),
            6 => challenge_required(),
            7 => scan_required(),
            8 => AuthorizationResult::Processing,
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

    /// Usually the next timers at their instant; sometimes an advance, a long one, or one that goes back.
    fn clock_change(&mut self) -> Ask {
        let (merchant_id, now) = (self.world.merchant_id, self.world.merchant_now());
        match self.random.below(8) {
            0 => advance_clock(merchant_id, now.plus_seconds(self.random.below(3 * 86_400))),
            1 => advance_clock(merchant_id, Millis(now.0.saturating_sub(self.random.below(7_200_000)))),
            2 => judge_advance(merchant_id, now.plus_seconds(self.random.below(800 * 86_400))),
            _ => {
                let mut timers = self.world.timers();
                timers.truncate(1 + usize::try_from(self.random.below(8)).expect("a small number"));
                let due = timers.first().map_or(now, |timer| timer.due);
                step_clock(merchant_id, due, timers)
            }
        }
    }

    /// Few records with few sets of few items, so that calls concern the same ones.
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

    /// Sweeps some of the rows of metadata that can be swept, and sometimes one that cannot.
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
        Ask::of(TestCaller::Till, Command::SweepMetadata(SweepMetadata { id, items, sets, finished_below }))
    }

    /// Objects that could be swept, old enough or not, some of them twice, some of them unknown.
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
            } else if let AnyKey::WebhookEvents(id) = key {
                sweepable.push(Expired::WebhookEvent(*id));
            } else if let AnyKey::Answers(scope) = key {
                sweepable.push(Expired::Answer(scope.clone()));
            }
        }
        sweep((0..32).filter_map(|_| self.random.pick(&sweepable)).collect::<Vec<_>>())
    }

    fn webhook_change(&mut self) -> Ask {
        let id = self.random.pick(&self.webhooks).unwrap_or(raw_id(9, WebhookId::from_raw));
        match self.random.below(8) {
            1 => end_redelivery(self.ordered.0, self.ordered.1),
            5 => redeliver_event(id, self.webhook_event),
            0 => connect_webhook(&[]),
            2 => rename_webhook(id, if self.random.once_in(2) { "one" } else { "other" }),
            3 => disconnect_webhook(id),
            4 => reconnect_webhook(id),
            6 => rotate_webhook_secret(id),
            _ => disable_webhook(id),
        }
    }

    /// None before the merchant has had time to run out of money.
    fn topup(&mut self) -> Ask {
        if self.asked.len() < self.steps_without_topup {
            return open_balance();
        }
        let minor = self.money().amount.get();
        if self.random.once_in(2) { topup(minor) } else { topup_known_as(minor, &self.small_name("bank")) }
    }

    /// A payout of a part of the available balance or of more, or the answer to one.
    fn payout(&mut self) -> Ask {
        let open: Vec<PayoutId> = self.open_payouts.iter().copied().collect();
        match self.random.below(4) {
            0 | 1 => {
                let open = self.random.pick(&open).filter(|_| !self.random.once_in(8));
                let id = open.or_else(|| self.random.pick(&self.payouts)).unwrap_or(raw_id(9, PayoutId::from_raw));
                payout_answered(id, self.call_result())
            }
            draw => {
                let available =
                    self.world.state.balance.unwrap_or_default().available_minor().clamp(1, 1 << 40).unsigned_abs();
                let minor =
                    if self.random.once_in(3) { available + 1 } else { 1 + self.random.below(available / 4 + 1) };
                if draw == 2 { payout(minor) } else { payout_known_as(minor, &self.small_name("out")) }
            }
        }
    }

    /// Usually small ones, so that payments can still be refunded.
    fn invoice(&mut self) -> Ask {
        let minor = if self.random.once_in(20) { AMOUNT_MAX_MINOR } else { 1 + self.random.below(2_000) };
        if self.random.once_in(2) { invoice(minor) } else { invoice_known_as(minor, &self.small_name("bill")) }
    }

    fn operation(&mut self) -> Ask {
        let fee = u16::try_from(self.random.below(9_000)).expect("a small number");
        match self.random.below(10) {
            0 if self.random.once_in(3) => suspend(),
            1..=3 => resume(),
            4 => open_balance(),
            5 => {
                let on_sandbox = with_fee(fee, self.random.below(20));
                let account = self.account.filter(|_| self.random.once_in(2));
                let acquirer = account.map_or(on_sandbox.acquirer, |id| at_account(id).acquirer);
                configure(PaymentMethod::Card, Integration { acquirer, ..on_sandbox })
            }
            6 => configure(PaymentMethod::Installment, Integration::initial()),
            7 => configure(PaymentMethod::Installment, always_capturing()),
            8 => self.random.pick(&self.keys).map_or_else(add_installation, revoke_key),
            9 if self.random.once_in(2) => self.installation_change(),
            _ => self.new_key(),
        }
    }

    /// Changes any installation but the first, from which the clients call.
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
        let (user, invited) = (
            user.unwrap_or(raw_id(9, till_domain::ids::UserId::from_raw)),
            invitation.unwrap_or(raw_id(9, till_domain::ids::InvitationId::from_raw)),
        );
        match self.random.below(9) {
            0 => accept(invited),
            1 => remove_user(user),
            2 => select_plan(self.random.pick(&plans).unwrap_or(plans[0]).id),
            3 => join(invited, self.random.below(9)),
            4..=6 => change_seat(user, self.seat_command(user)),
            _ => invite(&format!("{}@shop.example", self.small_name("m"))),
        }
    }

    fn seat_command(&mut self, user: UserId) -> SeatCommand {
        let known = self.world.state.users.get(&user);
        let (session, reset) = (known.map_or(0, |user| user.sessions_ended), known.and_then(|user| user.seat.reset));
        let code = SignInCode::Authenticator { step: self.random.below(1_000) };
        match self.random.below(6) {
            0 => SeatCommand::AllowReset,
            1 => match reset {
                Some(reset) => SeatCommand::Renew { id: reset.id, step: 1 },
                None => SeatCommand::AllowReset,
            },
            2 => SeatCommand::Replace { part: CredentialsPart::RecoveryCodes, step: None, session },
            3 => SeatCommand::SignIn { code: SignInCode::Recovery { number: 3 }, session },
            4 => SeatCommand::UseCode { code, session },
            _ => SeatCommand::EndSessions,
        }
    }

    /// Few people with few addresses, so that customers are found again.
    fn customer(&mut self) -> CustomerFields {
        let mut fields = customer_fields();
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

    fn contact_change(&mut self) -> Ask {
        let person = self.customer();
        let Some(id) = self.random.pick(&self.customers) else { return add_contact(&person) };
        let card = self.random.pick(&self.cards).unwrap_or(raw_id(9, CardId::from_raw));
        let owner = self.world.find::<Cards>(card).map_or(id, |card| card.customer_id);
        match self.random.below(8) {
            0 | 1 => add_contact(&person),
            2 => update_contact(id, &person),
            3 => remove_contact(id),
            4 => {
                let token = self.recent_token();
                let name = self.small_name("card");
                if self.random.once_in(2) { save_card(token, id) } else { save_card_known_as(token, id, &name) }
            }
            5 => set_default_card(owner, card),
            _ => forget_card(owner, card),
        }
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

    /// Usually small amounts; sometimes such large ones that a few of them fill the ledger, once money has been short.
    fn money(&mut self) -> Money {
        let is_early = self.asked.len() < self.steps_without_topup;
        match self.random.below(40) {
            0 | 1 if is_early => thb(1 + self.random.below(100)),
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
                self.open(effect);
            }
            Event::CardSaved { card, is_default: _, at: _ } => {
                self.saw("card saved");
                self.cards.push(card.id);
            }
            Event::KeyGenerated { merchant_id: _, key } => self.keys.push(key.id),
            Event::PaymentAuthorized { payment_id, .. } => self.close(*payment_id, "authorized"),
            Event::PaymentFailed { payment_id, .. } => self.close(*payment_id, "failed"),
            Event::PaymentVoided { payment_id, .. } => self.close(*payment_id, "voided"),
            Event::PaymentReversed { payment_id, .. } => self.close(*payment_id, "reversed"),
            Event::OperationRefused { payment_id, fails, .. } => {
                self.close(*payment_id, if *fails { "capture refused" } else { "operation refused" });
            }
            Event::LateCallEnded { payment_id, returned_at: Some(_), .. } => self.close(*payment_id, "given back"),
            Event::LateCallEnded { payment_id, .. } => self.close(*payment_id, "late call ended"),
            Event::ActionRequired { .. } => self.saw("action required"),
            Event::ActionTaken { .. } => self.saw("action taken"),
            Event::ActionCancelRequested { effect } => {
                self.saw("action canceled");
                // It takes the place of an authorization that a payment has left open at its end.
                let replaced = self.open.remove(&effect.id());
                assert!(replaced.is_none_or(EffectKind::is_authorization), "{replaced:?} is open, too");
                self.open(effect);
            }
            Event::CallPrepared(prepared) => {
                let id = EffectId::operation(prepared.payment_id);
                self.saw(if prepared.page.is_some() { "page prepared" } else { "call prepared" });
                if let Some(kind) = self.open.get_mut(&id).filter(|kind| **kind == EffectKind::Authorize) {
                    *kind = EffectKind::AuthorizePrepared;
                }
            }
            Event::CardTold { .. } => self.saw("card told"),
            Event::SessionCanceled { .. } => self.saw("session canceled"),
            Event::CheckoutStarted(checkout) => {
                self.saw("checkout started");
                self.checkouts.push(checkout.id);
            }
            Event::CheckoutPaid { checkout_id, .. } => {
                let attempts = self.world.look_up::<Checkouts>(*checkout_id).payments.len();
                self.saw(if attempts > 1 { "checkout paid again" } else { "checkout paid" });
            }
            Event::CheckoutReopened { .. } => self.saw("checkout reopened"),
            Event::CheckoutClosed { .. } => self.saw("checkout closed"),
            Event::CheckoutCompleted { .. } => self.saw("checkout completed"),
            Event::CheckoutExpired { .. } => self.saw("checkout expired"),
            Event::CheckoutCustomerErased { .. } => self.saw("checkout erased"),
            Event::ColorChanged { .. } => self.saw("color changed"),
            Event::AcquirerSaved { .. } => self.saw("account saved"),
            Event::AcquirerRemoved { .. } => self.saw("account removed"),
            Event::PaymentCaptured { payment_id, .. } => {
                let was_asked_for = self.open.remove(&EffectId::operation(*payment_id)).is_some();
                self.saw(if was_asked_for { "captured later" } else { "captured at once" });
            }
            Event::OperationRequested { payment_id, operation } => {
                let is_lapse = operation.requested_by == Actor::System && operation.kind == OperationKind::Void;
                self.saw(if is_lapse { "lapsed" } else { "operation requested" });
                self.open(&operation.effect(*payment_id));
            }
            Event::PaymentExpired { payment_id, failure: Some(_), .. } => self.close(*payment_id, "action timed out"),
            Event::PaymentExpired { .. } => self.saw("expired"),
            Event::LateSuccess { payment_id, captured, .. } => {
                self.saw(if *captured { "late capture" } else { "late authorization" });
                let kind = if *captured { EffectKind::RefundLate } else { EffectKind::VoidLate };
                self.open.insert(EffectId::operation(*payment_id), kind);
            }
            Event::RefundRequested { refund, .. } => {
                self.saw("refund requested");
                self.refunds.push(refund.id);
                self.open(&refund.effect());
            }
            Event::RefundConfirmed { refund_id, payment_id, settles_at, .. } => {
                let what = if settles_at.is_some() { "refund confirmed on hold" } else { "refund confirmed" };
                self.close_refund(*payment_id, *refund_id, what);
            }
            Event::RefundFailed { refund_id, payment_id, .. } => {
                self.close_refund(*payment_id, *refund_id, "refund failed");
            }
            Event::DebitsUncovered { .. } => self.saw("debits uncovered"),
            Event::DebitSettled { .. } => self.saw("debit settled"),
            Event::DisputeOpened { dispute, .. } => {
                self.saw("dispute opened");
                self.disputes.push(dispute.id);
            }
            Event::DisputeChallenged { .. } => self.saw("dispute challenged"),
            Event::EvidenceTaken { .. } => self.saw("evidence taken"),
            Event::DisputeEscalated { .. } => self.saw("dispute escalated"),
            Event::DisputeClosed(closing) => {
                let is_held = closing.settles_at.is_some();
                self.saw(if is_held { "dispute lost on hold" } else { closing.outcome.status().name() });
            }
            Event::StatementPeriodOpened { .. } => self.saw("month opened"),
            Event::StatementClosed { .. } => self.saw("statement closed"),
            Event::TransactionSettled { .. } => self.saw("settled"),
            Event::SessionsSwept { .. } => self.saw("sessions swept"),
            Event::TokensSwept { .. } => self.saw("tokens swept"),
            Event::AnswersSwept { .. } => self.saw("answers swept"),
            Event::TokenKept { .. } => self.saw("token kept"),
            Event::TokenUsed { customer_id, .. } => {
                self.saw(if customer_id.is_some() { "token used by a customer" } else { "token used by nobody known" });
            }
            Event::TokensErased { .. } => self.saw("tokens erased with a card"),
            Event::CustomerTokensErased { .. } => self.saw("tokens erased with a customer"),
            Event::InstallationUpdated(_) => self.saw("installation updated"),
            Event::InstallationRemoved { .. } => self.saw("installation removed"),
            Event::CustomerUpdated { .. } => self.saw("customer updated"),
            Event::CustomerRemoved { .. } => self.saw("customer removed"),
            Event::DefaultCardSet { .. } => self.saw("default card set"),
            Event::CardRenewed { .. } => self.saw("card renewed"),
            Event::CardForgotten { .. } => self.saw("card forgotten"),
            Event::UserInvited { .. } => self.saw("invited"),
            Event::InvitationAccepted { .. } => self.saw("accepted"),
            Event::UserRemoved { .. } => self.saw("removed"),
            Event::SeatChanged { change, .. } => self.saw(match change {
                SeatChange::ResetAllowed(_) => "reset allowed",
                SeatChange::CredentialsSet { .. } => "credentials set",
                SeatChange::CodeUsed(_) | SeatChange::SignedIn(_) => "code used",
                SeatChange::SessionsEnded => "sessions ended",
            }),
            Event::PlanSwitched { .. } => self.saw("plan switched"),
            Event::MetadataSaved { .. } => self.saw("metadata saved"),
            Event::MetadataSetFormed { .. } => self.saw("metadata set formed"),
            Event::MetadataRepeatsDropped { .. } => self.saw("metadata repeats dropped"),
            Event::MetadataItemAdded { .. } => self.saw("metadata item added"),
            Event::MetadataItemRemoved { .. } => self.saw("metadata item removed"),
            Event::MetadataEnded { .. } => self.saw("metadata ended"),
            Event::MetadataTimerMoved { .. } => self.saw("metadata timer moved"),
            Event::MetadataSwept { finished, .. } => {
                self.saw(if *finished { "metadata swept" } else { "metadata swept in part" });
            }
            Event::TestClockSet { .. } => self.saw("clock advanced"),
            Event::MerchantCreated { .. }
            | Event::SuspensionChanged { .. }
            | Event::CardNumbersInIdentifiersChanged { .. }
            | Event::KeyRevoked { .. }
            | Event::InstallationAdded(_)
            | Event::PaymentMethodConfigured { .. }
            | Event::BalanceOpened
            | Event::TopupAdded { .. }
            | Event::KeyRenamed { .. }
            | Event::UserUpdated(_)
            | Event::TokenQueued { .. } => {}
            Event::WebhookEventRecorded(event) => self.webhook_event = Some(*event),
            Event::PayoutRequested { payout, .. } => {
                self.saw("payout requested");
                self.payouts.push(payout.id);
                self.open_payouts.insert(payout.id);
            }
            Event::PayoutPaid { payout_id, .. } => self.close_payout(*payout_id, "payout paid"),
            Event::PayoutFailed { payout_id, .. } => self.close_payout(*payout_id, "payout failed"),
            Event::InvoiceCharged { .. } => self.saw("invoice charged"),
            Event::WebhookEventsSwept { .. } => self.saw("webhook events swept"),
            Event::WebhookSaved { webhook, .. } => {
                self.saw(webhook.status.name());
                self.webhooks.push(webhook.id);
                if let Some(order) = webhook.redelivery {
                    self.saw("redelivery ordered");
                    self.ordered = (webhook.id, order.ordered_after);
                }
            }
        }
    }

    /// Remembers the object that an answer names, which must exist.
    fn learn_answer(&mut self, ask: &Ask, answer: Answer) {
        if let (Command::InitiatePayment(asked), Answer::Payment(id)) = (&ask.command, answer) {
            let payment = self.world.payment_row(id);
            assert_eq!((payment.session_id, payment.money), (asked.session_id, asked.money));
            assert_eq!(payment.external_id, asked.external_id);
        }
    }

    fn open(&mut self, effect: &Effect) {
        assert_eq!(self.open.insert(effect.id(), effect.kind), None, "two calls are open at once");
    }

    fn close(&mut self, payment_id: PaymentId, what: &'static str) {
        self.saw(what);
        let id = EffectId::operation(payment_id);
        assert!(self.open.remove(&id).is_some(), "a result was recorded for a closed effect");
    }

    fn close_refund(&mut self, payment_id: PaymentId, refund_id: RefundId, what: &'static str) {
        self.saw(what);
        let id = EffectId { payment_id, refund_id: Some(refund_id) };
        assert!(self.open.remove(&id).is_some(), "a result was recorded for a closed refund");
    }

    fn close_payout(&mut self, payout_id: PayoutId, what: &'static str) {
        self.saw(what);
        assert!(self.open_payouts.remove(&payout_id), "a result was recorded for a closed payout");
    }

    /// The payment and the transactions that an event is about: amounts stay within their limits, accounts sum to zero,
    /// and the status of entries moves at most once.
    fn check_touched(&mut self, event: &Event) {
        let payment_id = match event {
            Event::PaymentCaptured { payment_id, .. }
            | Event::PaymentReversed { payment_id, .. }
            | Event::OperationRequested { payment_id, .. }
            | Event::OperationRefused { payment_id, .. }
            | Event::RefundConfirmed { payment_id, .. }
            | Event::RefundFailed { payment_id, .. }
            | Event::DebitsUncovered { payment_id, .. }
            | Event::DisputeClosed(DisputeClosing { payment_id, .. }) => Some(*payment_id),
            Event::RefundRequested { refund, .. } => Some(refund.payment_id),
            Event::DisputeOpened { dispute, .. } => Some(dispute.payment_id),
            _ => None,
        };
        let payment = payment_id.map(|id| self.world.payment_row(id));
        let mut touched: Vec<TransactionId> = Vec::new();
        if let Some(payment) = payment {
            invariants::check_payment(&self.world, &payment);
            touched.extend(payment.capture.map(|capture| capture.transaction_id));
        }
        if let Event::RefundConfirmed { refund_id, .. } | Event::RefundFailed { refund_id, .. } = event {
            touched.push(self.world.refund_row(*refund_id).transaction_id);
        } else if let Event::PayoutPaid { payout_id, .. } | Event::PayoutFailed { payout_id, .. } = event {
            touched.push(self.world.look_up::<Payouts>(*payout_id).transaction_id);
        } else if let Event::TransactionSettled { transaction_id, .. } | Event::DebitSettled { transaction_id, .. } =
            event
        {
            touched.push(*transaction_id);
        } else if let Event::DisputeClosed(DisputeClosing { dispute_id, .. }) = event {
            touched.push(self.world.look_up::<Disputes>(*dispute_id).transaction_id);
        } else if let Event::RefundRequested { transaction, .. }
        | Event::DisputeOpened { transaction, .. }
        | Event::TopupAdded { transaction, .. }
        | Event::PayoutRequested { transaction, .. }
        | Event::InvoiceCharged { transaction, .. } = event
        {
            touched.push(transaction.id);
        }
        touched.into_iter().for_each(|id| self.check_transaction(id));
    }

    fn check_transaction(&mut self, id: TransactionId) {
        let transaction = self.world.look_up::<Transactions>(id);
        invariants::check_transaction(&transaction);
        let before = self.entries.insert(id, transaction.status);
        let moves = before.is_some_and(|before| before != transaction.status);
        assert!(!moves || before == Some(EntryStatus::OnHold), "{transaction:?} moved a second time");
    }

    fn saw(&mut self, what: &str) {
        *self.seen.entry(what.to_owned()).or_default() += 1;
    }
}

/// Checks that every kind of outcome occurred: a simulator whose commands are all refused finds nothing.
fn check_that_everything_was_reached(seen: &BTreeSet<String>) {
    let everything = [
        "initiated",
        "authorized",
        "failed",
        "lapsed",
        "voided",
        "captured at once",
        "captured later",
        "capture refused",
        "operation requested",
        "operation refused",
        "reversed",
        "expired",
        "late authorization",
        "late capture",
        "late call ended",
        "given back",
        "action required",
        "action taken",
        "action canceled",
        "page prepared",
        "call prepared",
        "action timed out",
        "session canceled",
        "checkout started",
        "checkout paid",
        "checkout paid again",
        "checkout reopened",
        "checkout closed",
        "checkout completed",
        "checkout expired",
        "checkout erased",
        "CheckoutState",
        "CheckoutNotFound",
        "ReplacedSessionNotFound",
        "SavingNotOffered",
        "refund requested",
        "refund confirmed",
        "refund confirmed on hold",
        "refund failed",
        "month opened",
        "statement closed",
        "debits uncovered",
        "debit settled",
        "dispute opened",
        "dispute challenged",
        "evidence taken",
        "dispute escalated",
        "dispute lost on hold",
        "WON",
        "LOST",
        "CONCEDED",
        "invoice charged",
        "payout requested",
        "payout paid",
        "payout failed",
        "CONNECTED",
        "DISCONNECTED",
        "DISABLED",
        "webhook events swept",
        "redelivery ordered",
        "settled",
        "clock advanced",
        "sessions swept",
        "tokens swept",
        "answers swept",
        "token kept",
        "token used by a customer",
        "token used by nobody known",
        "tokens erased with a card",
        "tokens erased with a customer",
        "installation updated",
        "installation removed",
        "card saved",
        "customer updated",
        "customer removed",
        "default card set",
        "card renewed",
        "card forgotten",
        "invited",
        "accepted",
        "removed",
        "reset allowed",
        "credentials set",
        "code used",
        "sessions ended",
        "plan switched",
        "metadata saved",
        "metadata set formed",
        "metadata repeats dropped",
        "metadata item added",
        "metadata item removed",
        "metadata ended",
        "metadata timer moved",
        "metadata swept",
        "metadata swept in part",
        "replayed",
        "unchanged",
        "PaymentNotFound",
        "ExternalIdTaken",
        "TokenAlreadyUsed",
        "CustomerRequired",
        "CustomerMismatch",
        "AuthorizationOnlyNotSupported",
        "CurrencyNotConfigured",
        "IdempotencyKeyReused",
        "MerchantSuspended",
        "CallerNotLive",
        "AmountExceedsPayment",
        "InvalidState",
        "NotRefundable",
        "InsufficientBalance",
    ];
    for what in everything {
        assert!(seen.contains(what), "no seed saw {what}: {seen:?}");
    }
}
