//! Timers: due timers fire, even when other merchants fail or wait.

use std::time::Duration;
use till_domain::event::Answer;
use till_domain::ledger::EntryStatus;
use till_domain::payment::{AUTHORIZATION_LIFETIME_SECONDS, PaymentStatus};
use till_domain::records::Transactions;
use till_storage::family::Family;

use crate::shop::{PRICE_MINOR, SETTLEMENT_DELAY_SECONDS, TestShop};
use crate::world::{EngineWorld, eventually};

/// A merchant with money on hold.
async fn shop_with_money_on_hold(world: &EngineWorld) -> (TestShop, Answer) {
    let shop = world.open_shop().await;
    let payment = world.pay(&shop, |words| words).await;
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    (shop, payment)
}

async fn settles(world: &EngineWorld, shop: &TestShop) {
    eventually("it settles", || world.totals(shop).effective_credit_minor == PRICE_MINOR).await;
    assert_eq!((world.totals(shop).held_credit_minor, world.count(Family::Timers, shop)), (0, 0));
}

#[actix_rt::test]
async fn captured_money_settles_when_the_clock_says_so_and_not_before() {
    let world = EngineWorld::start();
    let (shop, payment) = shop_with_money_on_hold(&world).await;
    world.clock.pass_seconds(SETTLEMENT_DELAY_SECONDS - 1);
    actix_rt::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(world.totals(&shop).effective_credit_minor, 0);
    world.clock.pass_seconds(1);
    settles(&world, &shop).await;
    let capture = world.payment(&shop, payment).capture.expect("it was captured");
    let transaction = world.find::<Transactions>(&shop, capture.transaction_id).expect("it was posted");
    assert_eq!(transaction.status, EntryStatus::Effective);
}

#[actix_rt::test]
async fn a_timer_set_by_another_timer_fires() {
    let world = EngineWorld::start();
    let (shop, _) = shop_with_money_on_hold(&world).await;
    world.clock.pass_seconds(10);
    let second = world.pay(&shop, |words| words).await;
    world.settles_down_as(&shop, second, PaymentStatus::Successful).await;
    world.clock.pass_seconds(SETTLEMENT_DELAY_SECONDS - 10);
    eventually("the first settles", || world.totals(&shop).effective_credit_minor == PRICE_MINOR).await;
    assert_eq!(world.count(Family::Timers, &shop), 1);
    world.clock.pass_seconds(10);
    eventually("the second settles", || world.totals(&shop).effective_credit_minor == 2 * PRICE_MINOR).await;
}

#[actix_rt::test]
async fn more_timers_than_one_command_fires_all_fire() {
    let (world, shop) = EngineWorld::with_shop().await;
    for session_id in world.sessions(&shop, 600).await {
        let request = crate::shop::initiate(session_id).by(&shop);
        crate::world::done(world.submit(shop.merchant_id, request).await);
    }
    eventually("all are captured", || world.count(Family::Timers, &shop) == 600).await;
    world.clock.pass_seconds(SETTLEMENT_DELAY_SECONDS);
    eventually("all settle", || world.totals(&shop).effective_credit_minor == 600 * PRICE_MINOR).await;
}

#[actix_rt::test]
async fn an_authorization_that_is_not_captured_lapses_and_is_voided() {
    let (world, shop) = EngineWorld::with_shop().await;
    let payment = world.pay(&shop, |words| words.authorize_only()).await;
    world.settles_down_as(&shop, payment, PaymentStatus::Authorized).await;
    world.clock.pass_seconds(AUTHORIZATION_LIFETIME_SECONDS);
    world.settles_down_as(&shop, payment, PaymentStatus::Voided).await;
    assert_eq!(world.book_totals(&shop).voided_minor, u128::from(PRICE_MINOR));
    assert_eq!((world.count(Family::Timers, &shop), world.count(Family::Effects, &shop)), (0, 0));
    world.assert_book_equals_ledger(&shop);
}

#[actix_rt::test]
async fn merchants_that_are_due_do_not_wait_for_each_others_commits() {
    let world = EngineWorld::start();
    let mut shops = Vec::new();
    for _ in 0..40 {
        shops.push(shop_with_money_on_hold(&world).await.0);
    }
    let groups = world.engine.commit_stats().groups();
    world.store.hold_appends();
    world.clock.pass_seconds(SETTLEMENT_DELAY_SECONDS);
    // Long enough that all are read. One after the other, the first would delay all others.
    actix_rt::time::sleep(Duration::from_millis(400)).await;
    world.store.resume_appends();
    for shop in &shops {
        settles(&world, shop).await;
    }
    let appends = world.engine.commit_stats().groups() - groups;
    assert!(appends <= 20, "40 merchants took {appends} appends");
}

#[actix_rt::test]
async fn a_merchant_that_fails_delays_no_other_merchant() {
    let world = EngineWorld::start();
    let (failing, _) = shop_with_money_on_hold(&world).await;
    let (sound, _) = shop_with_money_on_hold(&world).await;
    world.store.fail_reads(Family::Timers, &failing.merchant_id.to_bytes());
    world.clock.pass_seconds(SETTLEMENT_DELAY_SECONDS);
    settles(&world, &sound).await;
    assert_eq!(world.totals(&failing).effective_credit_minor, 0);
    world.store.heal_reads();
    settles(&world, &failing).await;
}

#[actix_rt::test]
async fn a_timer_that_is_read_before_a_clock_step_is_not_forgotten() {
    let world = EngineWorld::start();
    let (shop, _) = shop_with_money_on_hold(&world).await;
    world.clock.set_background_ahead_seconds(SETTLEMENT_DELAY_SECONDS);
    actix_rt::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(world.totals(&shop).effective_credit_minor, 0);
    world.clock.set_background_ahead_seconds(0);
    world.clock.pass_seconds(SETTLEMENT_DELAY_SECONDS);
    settles(&world, &shop).await;
}
