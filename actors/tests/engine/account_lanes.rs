//! The lanes of accounts at acquirers: what waits while an account gives no answer or refuses the secret, and that
//! nobody else waits with it.

use std::time::{Duration, Instant};
use till_actors::CallTimes;
use till_actors::acquirer::UnansweredOutcome::{CredentialsRefused, Limited, Mismatch, Unknown};
use till_domain::acquirer::{AccountState, AcquirerRef};
use till_domain::command::{Caller, CapturePayment, Command, RefundPayment};
use till_domain::event::Answer;
use till_domain::ids::{AcquirerId, PaymentId};
use till_domain::money::AmountMinor;
use till_domain::payment::{PaymentRef, PaymentStatus};

use crate::acquirer::{Preparing, ScriptHandle};
use crate::shop::{TestShop, by, initiate};
use crate::world::{EngineWorld, Settings, done, eventually};

/// The time after which one call asks again.
const PROBE: Duration = Duration::from_millis(400);

/// A merchant with an account whose first payment is made, and the script of its acquirer.
struct Account {
    world: EngineWorld,
    shop: TestShop,
    id: AcquirerId,
    script: ScriptHandle,
    paid: PaymentId,
}

impl Account {
    async fn open() -> Account {
        let call_times = CallTimes {
            on_its_way: Duration::from_millis(50),
            between_test_calls: Duration::from_millis(1),
            probe_first: PROBE,
            ..CallTimes::default()
        };
        let settings = Settings { call_times, ..Settings::default() };
        let (world, shop, id) = EngineWorld::with_account_and(settings).await;
        let answer = world.pay(&shop, |initiate| initiate).await;
        let paid = world.settles_down_as(&shop, answer, PaymentStatus::Successful).await.id;
        let script = world.connector.opened()[0].script.clone();
        Account { world, shop, id, script, paid }
    }

    fn state(&self) -> AccountState {
        self.world.engine.accounts().standing(self.id, self.world.engine.clocks().wall()).state
    }

    async fn gets(&self, state: AccountState) {
        eventually("the account gets there", || self.state() == state).await;
    }

    /// Payments of this many sessions, which nothing waits for.
    async fn pay(&self, count: usize) -> Vec<Answer> {
        let mut payments = Vec::new();
        for session in self.world.sessions(&self.shop, count).await {
            payments.push(done(self.world.submit(self.shop.merchant_id, initiate(session).by(&self.shop)).await));
        }
        payments
    }

    async fn all_succeed(&self, payments: &[Answer]) {
        for payment in payments {
            self.world.settles_down_as(&self.shop, *payment, PaymentStatus::Successful).await;
        }
    }

    async fn command(&self, command: Command) {
        done(self.world.submit(self.shop.merchant_id, by(Caller::Operator, command)).await);
    }
}

#[actix_rt::test]
async fn an_account_without_answers_is_asked_by_one_call_at_a_time_until_it_answers() {
    let account = Account::open().await;
    account.script.leave_unanswered(Some(Unknown));
    let payments = account.pay(20).await;
    account.gets(AccountState::NotAnswering).await;
    actix_rt::time::sleep(PROBE / 4).await;
    let calls = account.script.calls();
    assert!(calls < 30, "a few are under way when the fifth has no answer: {:?}", account.script.calls_made());
    actix_rt::time::sleep(4 * PROBE).await;
    let asked = account.script.calls() - calls;
    assert!((1..=2).contains(&asked), "after one and after three times the pause: {:?}", account.script.calls_made());
    account.script.leave_unanswered(None);
    account.gets(AccountState::Ready).await;
    account.all_succeed(&payments).await;
}

#[actix_rt::test]
async fn the_oldest_refund_asks_first_although_payments_are_older() {
    let account = Account::open().await;
    account.script.leave_unanswered(Some(Unknown));
    account.pay(7).await;
    account.gets(AccountState::NotAnswering).await;
    let calls = account.script.calls();
    let amount = AmountMinor::new(1_000);
    let payment = PaymentRef::Own(account.paid);
    account.command(Command::RefundPayment(RefundPayment { payment, amount, external_id: None, reason: None })).await;
    eventually("one asks", || account.script.calls() > calls).await;
    let asked = account.script.calls_made().remove(calls);
    assert!(asked.starts_with("refund as") && asked.contains(&account.paid.to_string()), "{asked}");
}

#[actix_rt::test]
async fn an_account_whose_acquirer_limits_calls_stays_ready_and_its_payments_end() {
    let account = Account::open().await;
    account.script.leave_unanswered(Some(Limited));
    let payments = account.pay(10).await;
    eventually("all are refused", || account.script.calls() > 20).await;
    assert_eq!(account.state(), AccountState::Ready);
    account.script.leave_unanswered(None);
    account.all_succeed(&payments).await;
}

#[actix_rt::test]
async fn answers_about_something_else_are_counted_and_are_no_silence() {
    let account = Account::open().await;
    let engine = &account.world.engine;
    assert_eq!(engine.call_statistics().mismatches(), 0);
    eventually("nothing is unknown at first", || engine.unknown_age() == Duration::ZERO).await;
    account.script.leave_unanswered(Some(Mismatch));
    let payments = account.pay(6).await;
    eventually("each is told", || engine.call_statistics().mismatches() >= 6).await;
    assert!(account.state() == AccountState::Ready && engine.unknown_age() > Duration::ZERO);
    let unknown =
        engine.call_statistics().calls().into_iter().find(|(of, _)| *of == ["stripe", "authorize", "unknown"]);
    assert!(unknown.is_some_and(|(_, count)| count >= 6), "{unknown:?}");
    account.script.leave_unanswered(None);
    account.all_succeed(&payments).await;
    eventually("all is known", || engine.unknown_age() == Duration::ZERO).await;
}

#[actix_rt::test]
async fn an_account_whose_card_numbers_are_refused_says_so_until_it_is_changed() {
    let account = Account::open().await;
    account.script.prepare(Preparing::RefusesCardNumbers);
    let refused = account.pay(1).await[0];
    account.world.settles_down_as(&account.shop, refused, PaymentStatus::Failed).await;
    account.gets(AccountState::CardNumbersRefused).await;
    account.script.prepare(Preparing::WithPage);
    account.all_succeed(&account.pay(1).await).await;
    assert_eq!(account.state(), AccountState::CardNumbersRefused);
    account.world.replace_secret(&account.shop, account.id).await;
    assert_eq!(account.state(), AccountState::Ready);
}

#[actix_rt::test]
async fn a_refused_secret_fails_authorizations_after_a_minute_and_holds_captures_until_it_is_replaced() {
    let account = Account::open().await;
    let held = account.world.pay(&account.shop, |initiate| initiate.authorize_only()).await;
    let held = account.world.settles_down_as(&account.shop, held, PaymentStatus::Authorized).await;
    account.script.leave_unanswered(Some(CredentialsRefused));
    let failing = account.pay(1).await[0];
    account.gets(AccountState::CredentialsRefused).await;
    account.command(Command::CapturePayment(CapturePayment { payment: PaymentRef::Own(held.id), amount: None })).await;
    account.world.clock.pass_seconds(59);
    actix_rt::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(account.world.payment(&account.shop, failing).status, PaymentStatus::Pending);
    account.world.clock.pass_seconds(2);
    let failed = account.world.settles_down_as(&account.shop, failing, PaymentStatus::Failed).await;
    assert_eq!(failed.failure.map(|failure| failure.code.name()), Some("acquirer_refused_credentials"));
    assert!(account.script.calls() < 8, "few calls ask: {:?}", account.script.calls_made());
    let replaced = Instant::now();
    account.world.replace_secret(&account.shop, account.id).await;
    assert_eq!(account.state(), AccountState::Ready);
    let held = Answer::Payment(held.id);
    account.world.settles_down_as(&account.shop, held, PaymentStatus::Successful).await;
    assert!(replaced.elapsed() < Duration::from_secs(5));
}

#[actix_rt::test]
async fn calls_of_an_account_that_hang_delay_neither_the_sandbox_nor_other_merchants() {
    let account = Account::open().await;
    let (world, shop) = (&account.world, &account.shop);
    let hanging = account.script.hang(shop.merchant_id);
    let waiting = account.pay(300).await;
    eventually("as many as an account may have are under way", || account.script.calls() == 1 + 32).await;
    let other = world.open_shop().await;
    let payment = world.pay(&other, |initiate| initiate).await;
    world.settles_down_as(&other, payment, PaymentStatus::Successful).await;
    world.configure_cards(shop, AcquirerRef::Sandbox).await;
    let payment = world.pay(shop, |initiate| initiate).await;
    world.settles_down_as(shop, payment, PaymentStatus::Successful).await;
    eventually("no more are under way", || world.engine.running_effects() == 32).await;
    assert_eq!(account.script.calls(), 1 + 32);
    drop(hanging);
    account.all_succeed(&waiting).await;
}
