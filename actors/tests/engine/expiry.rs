//! Expiry: expired rows are removed, rows in use stay, and no actor is woken for nothing.

use std::time::Duration;
use till_domain::card::{TokenUsage, UNUSED_TOKEN_LIFETIME_SECONDS};
use till_domain::event::{ANSWER_KEPT_SECONDS, Answer};
use till_domain::ids::SessionId;
use till_domain::payment::{Payment, PaymentStatus};
use till_domain::records::{AnyKey, Sessions, Tokens};
use till_domain::session::{SESSION_KEPT_SECONDS, SESSION_LIFETIME_SECONDS};
use till_operate::verify::{VerifyOptions, verify};
use till_storage::family::Family;
use till_storage::memory::AppendFault;
use till_storage::rows::{RowRange, RowReader};
use till_storage::shapes::{TableKind, table_range};
use till_storage::vault::{SubjectKind, VaultKey};

use crate::shop::{TestShop, generate_key, initiate, key_text, named, person, topup};
use crate::world::{EngineWorld, Settings, done, eventually};

/// The service waits a minute longer than it must.
const GRACE_SECONDS: u64 = 60;

/// The rounds that happen in this time change nothing.
const SOME_ROUNDS: Duration = Duration::from_millis(400);

async fn looking_often() -> (EngineWorld, TestShop) {
    let world = EngineWorld::start_with(Settings { expiry_pause: Duration::from_millis(5), ..Settings::default() });
    let shop = world.open_shop().await;
    (world, shop)
}

fn is_key_of_token(key: VaultKey) -> bool {
    matches!(key, VaultKey::SubjectKey { subject, .. } if subject.kind == SubjectKind::Token)
}

impl EngineWorld {
    fn rows(&self, shop: &TestShop, table: TableKind) -> usize {
        let (lower, upper) = table_range(shop.merchant_id, table);
        let rows = self.store.scan(RowRange::forward(table.family(), &lower, &upper), usize::MAX);
        rows.expect("the store can be read").len()
    }

    /// Sessions, tokens, kept answers, and rows of the vault without the keys of tokens.
    fn kept(&self, shop: &TestShop) -> [usize; 4] {
        let rows = [TableKind::Sessions, TableKind::Tokens, TableKind::Answers].map(|table| self.rows(shop, table));
        [rows[0], rows[1], rows[2], self.secrets(shop, |key| !is_key_of_token(key))]
    }

    fn secrets(&self, shop: &TestShop, is_counted: fn(VaultKey) -> bool) -> usize {
        let vault = self.store.dump(Family::Vault).into_iter();
        let keys = vault.filter(|(key, _)| key.starts_with(&shop.merchant_id.to_bytes()));
        keys.filter_map(|(key, _)| VaultKey::decode(&key)).filter(|key| is_counted(*key)).count()
    }

    fn records(&self, shop: &TestShop) -> usize {
        let records = self.store.dump(Family::Journal).into_iter();
        records.filter(|(key, _)| key.starts_with(&shop.merchant_id.to_bytes())).count()
    }

    async fn keeps(&self, shop: &TestShop, expected: [usize; 4]) {
        eventually("what has expired goes", || self.kept(shop) == expected).await;
        actix_rt::time::sleep(SOME_ROUNDS).await;
        assert_eq!(self.kept(shop), expected, "and nothing else");
        assert_eq!(self.secrets(shop, is_key_of_token), expected[1], "a token's key goes with it");
        self.assert_sound();
    }

    /// Every row follows from the log.
    fn assert_sound(&self) {
        let options = VerifyOptions::new(std::env::temp_dir().join("till-engine-expiry"));
        let report = verify(self.store.as_ref(), &self.keyring, None, &options, &mut |_| {}).expect("rows are few");
        assert_eq!(report.faults, []);
    }
}

#[actix_rt::test]
async fn tokens_go_when_they_end_and_sessions_and_answers_a_day_later() {
    let (world, shop) = looking_often().await;
    let multiple = world.token(&shop, TokenUsage::Multiple).await;
    world.token(&shop, TokenUsage::Single).await;
    let used = world.token(&shop, TokenUsage::Single).await;
    world.session_for(&shop, used, person("somchai@example.com")).await;
    world.session_of(&shop, multiple).await;
    done(world.submit(shop.merchant_id, named(topup(100), "call-1")).await);
    let key = named(generate_key(shop.merchant_id, 2, "sk_00001".to_owned()), "call-2");
    done(world.engine.submit(shop.merchant_id, key, key_text()).await);
    world.keeps(&shop, [2, 3, 2, 5]).await;
    world.clock.pass_seconds(SESSION_LIFETIME_SECONDS + GRACE_SECONDS);
    world.keeps(&shop, [2, 1, 2, 3]).await;
    world.clock.pass_seconds(ANSWER_KEPT_SECONDS - SESSION_LIFETIME_SECONDS);
    world.keeps(&shop, [2, 1, 0, 2]).await;
    world.clock.pass_seconds(SESSION_LIFETIME_SECONDS);
    world.keeps(&shop, [0, 1, 0, 1]).await;
    let swept = [("session", 2), ("token", 2), ("answer", 2), ("metadata", 0), ("webhook_event", 0)];
    eventually("what went is counted", || world.engine.counts().records().removed_rows.by_kind() == swept).await;
}

#[actix_rt::test]
async fn an_unused_token_for_several_uses_expires_after_30_days() {
    let (world, shop) = looking_often().await;
    let unused = world.token(&shop, TokenUsage::Multiple).await;
    let kept = world.token(&shop, TokenUsage::Multiple).await;
    let session = world.session_of(&shop, kept).await;
    let paid = done(world.submit(shop.merchant_id, initiate(session).by(&shop)).await);
    world.settles_down_as(&shop, paid, PaymentStatus::Successful).await;
    world.clock.pass_seconds(UNUSED_TOKEN_LIFETIME_SECONDS);
    let late = world.token(&shop, TokenUsage::Multiple).await;
    world.keeps(&shop, [0, 3, 0, 3]).await;
    world.clock.pass_seconds(SESSION_LIFETIME_SECONDS + GRACE_SECONDS);
    world.keeps(&shop, [0, 2, 0, 2]).await;
    assert!(world.find::<Tokens>(&shop, unused).is_none());
    world.clock.pass_seconds(UNUSED_TOKEN_LIFETIME_SECONDS);
    world.keeps(&shop, [0, 1, 0, 1]).await;
    assert!(world.find::<Tokens>(&shop, late).is_none() && world.find::<Tokens>(&shop, kept).is_some());
}

/// Waits until the payment, which expired meanwhile, was authorized late with the number of its card and given back.
async fn is_given_back(world: &EngineWorld, shop: &TestShop, waiting: Answer) -> Payment {
    eventually("it is authorized late", || world.payment(shop, waiting).authorization.is_some()).await;
    eventually("it is given back", || world.count(Family::Effects, shop) == 0).await;
    let payment = world.payment(shop, waiting);
    assert_eq!(payment.status, PaymentStatus::Expired);
    payment
}

#[actix_rt::test]
async fn a_waiting_payment_keeps_its_number_until_it_has_ended() {
    let (world, shop) = looking_often().await;
    world.script.do_not_answer(Some(shop.merchant_id));
    let waiting = world.pay(&shop, |words| words).await;
    let session_id = world.payment(&shop, waiting).session_id;
    let unused: SessionId = world.session(&shop).await;
    world.clock.pass_seconds(3 * 86_400);
    eventually("the other one goes", || world.find::<Sessions>(&shop, unused).is_none()).await;
    world.keeps(&shop, [1, 1, 0, 1]).await;
    assert!(world.find::<Sessions>(&shop, session_id).is_some());
    let world = world.restart();
    let payment = is_given_back(&world, &shop, waiting).await;
    assert_eq!(payment.failure, None);
    world.keeps(&shop, [0, 0, 0, 0]).await;
}

#[actix_rt::test]
async fn a_session_is_removed_once_its_payment_is_answered() {
    let (world, shop) = looking_often().await;
    world.script.do_not_answer(Some(shop.merchant_id));
    let waiting = world.pay(&shop, |words| words).await;
    world.session(&shop).await;
    world.clock.pass_seconds(3 * 86_400);
    world.keeps(&shop, [1, 1, 0, 1]).await;
    world.script.do_not_answer(None);
    is_given_back(&world, &shop, waiting).await;
    world.keeps(&shop, [0, 0, 0, 0]).await;
}

#[actix_rt::test]
async fn many_expired_rows_are_removed_by_several_commands() {
    let (world, shop) = looking_often().await;
    world.sessions(&shop, 600).await;
    let records = world.records(&shop);
    world.clock.pass_seconds(SESSION_LIFETIME_SECONDS + SESSION_KEPT_SECONDS + GRACE_SECONDS);
    world.keeps(&shop, [0, 1, 0, 1]).await;
    assert_eq!(world.records(&shop) - records, 3);
}

#[actix_rt::test]
async fn a_merchant_without_anything_old_is_not_loaded() {
    let settings = Settings { idle_before_retiring: Duration::ZERO, ..Settings::default() };
    let world = EngineWorld::start_with(Settings { expiry_pause: Duration::from_millis(5), ..settings });
    let shop = world.open_shop().await;
    world.session(&shop).await;
    world.clock.pass_seconds(SESSION_LIFETIME_SECONDS);
    eventually("the actor retires", || world.engine.live_actors() == 0).await;
    let claims = world.claims();
    actix_rt::time::sleep(SOME_ROUNDS).await;
    assert_eq!(world.claims(), claims + 1, "only this check has claimed it");
    world.clock.pass_seconds(GRACE_SECONDS);
    world.keeps(&shop, [1, 0, 0, 0]).await;
}

#[actix_rt::test]
async fn a_row_that_cannot_be_read_does_not_keep_others() {
    let (world, shop) = looking_often().await;
    let sessions = world.sessions(&shop, 3).await;
    let (family, key) = world.family_and_key(&shop, &AnyKey::Sessions(sessions[0]));
    world.store.damage(family, &key, &[1, 2, 3]);
    world.clock.pass_seconds(SESSION_LIFETIME_SECONDS + SESSION_KEPT_SECONDS + GRACE_SECONDS);
    eventually("the others go", || world.rows(&shop, TableKind::Sessions) == 1).await;
}

#[actix_rt::test]
async fn rows_that_failed_to_be_removed_are_removed_later() {
    let (world, shop) = looking_often().await;
    let session_id = world.session(&shop).await;
    world.token(&shop, TokenUsage::Single).await;
    (0..4).for_each(|skipped| world.store.fail_append(skipped, AppendFault::Unavailable));
    world.clock.pass_seconds(SESSION_LIFETIME_SECONDS + GRACE_SECONDS);
    world.keeps(&shop, [1, 0, 0, 0]).await;
    assert!(world.find::<Sessions>(&shop, session_id).is_some());
}

#[actix_rt::test]
async fn after_a_clock_step_expired_rows_are_removed_later() {
    let (world, shop) = looking_often().await;
    world.session(&shop).await;
    world.token(&shop, TokenUsage::Single).await;
    let old = SESSION_LIFETIME_SECONDS + SESSION_KEPT_SECONDS + GRACE_SECONDS;
    world.clock.set_background_ahead_seconds(old);
    world.keeps(&shop, [1, 2, 0, 2]).await;
    world.clock.set_background_ahead_seconds(0);
    world.clock.pass_seconds(old);
    world.keeps(&shop, [0, 0, 0, 0]).await;
}

#[actix_rt::test]
async fn payments_continue_while_expired_rows_are_removed() {
    let (world, shop) = looking_often().await;
    world.sessions(&shop, 300).await;
    world.clock.pass_seconds(SESSION_LIFETIME_SECONDS + SESSION_KEPT_SECONDS + GRACE_SECONDS);
    for _ in 0..50 {
        let session_id = world.session(&shop).await;
        done(world.submit(shop.merchant_id, initiate(session_id).by(&shop)).await);
    }
    world.keeps(&shop, [50, 51, 0, 51]).await;
}
