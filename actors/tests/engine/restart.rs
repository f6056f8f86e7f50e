//! Stops and starts: nothing acknowledged is lost, and open work continues.

use std::sync::Arc;
use std::time::Duration;
use till_actors::{Denied, FailedOutcome};
use till_domain::payment::PaymentStatus;
use till_storage::family::Family;

use crate::shop::{SETTLEMENT_DELAY_SECONDS, topup, topup_known_as};
use crate::world::{EngineWorld, all, assert_not_done, eventually};

#[actix_rt::test]
async fn open_effects_go_on_after_a_restart() {
    let (world, shop) = EngineWorld::with_shop().await;
    world.script.do_not_answer(Some(shop.merchant_id));
    let mut payments = Vec::new();
    for _ in 0..20 {
        payments.push(world.pay(&shop, |words| words).await);
    }
    let world = world.restart();
    for payment in payments {
        world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    }
    world.assert_book_equals_ledger(&shop);
}

#[actix_rt::test]
async fn set_timers_fire_after_a_restart() {
    let world = EngineWorld::start();
    let (shop, other) = (world.open_shop().await, world.open_shop().await);
    for shop in [&shop, &other] {
        let payment = world.pay(shop, |words| words).await;
        world.settles_down_as(shop, payment, PaymentStatus::Successful).await;
    }
    let world = world.restart();
    world.clock.pass_seconds(SETTLEMENT_DELAY_SECONDS);
    for shop in [&shop, &other] {
        eventually("it settles", || world.totals(shop).effective_credit_minor > 0).await;
        assert_eq!(world.count(Family::Timers, shop), 0);
    }
}

#[actix_rt::test]
async fn a_stop_under_load_loses_nothing_acknowledged() {
    let world = EngineWorld::start();
    let mut shops = Vec::new();
    for _ in 0..4 {
        shops.push(world.open_shop().await);
    }
    let sent: Vec<_> = (0..400)
        .map(|number| world.send(shops[number % 4].merchant_id, topup_known_as(&format!("{number}"))))
        .collect();
    let engine = Arc::clone(&world.engine);
    let stopping = std::thread::spawn(move || engine.stop(Duration::from_secs(10)));
    let replies = all(sent).await;
    stopping.join().expect("a stop does not panic");
    let done = replies.iter().filter(|reply| reply.is_ok()).count();
    assert_eq!(done, 400, "those who are in are answered");
    let total: u64 = shops.iter().map(|shop| world.totals(shop).effective_credit_minor).sum();
    assert_eq!(total, 400);
    assert_not_done(&world.submit(shops[0].merchant_id, topup(1)).await);
}

#[actix_rt::test]
async fn an_immediate_stop_acknowledges_only_durable_commits() {
    let (world, shop) = EngineWorld::with_shop().await;
    let sent: Vec<_> = (0..2_000).map(|_| world.send(shop.merchant_id, topup(1))).collect();
    world.engine.stop(Duration::ZERO);
    let replies = all(sent).await;
    let done = replies.iter().filter(|reply| reply.is_ok()).count();
    let unknown = |reply: &&_| matches!(reply, Err(Denied::Unavailable { outcome: FailedOutcome::Unknown, .. }));
    let unknown = replies.iter().filter(unknown).count();
    assert_eq!(done + unknown, 2_000, "nobody is told that it was not done, since it may have been");
    assert_eq!(world.totals(&shop).effective_credit_minor, u64::try_from(done).expect("a small number"));
}

#[actix_rt::test]
async fn a_stopped_engine_can_be_stopped_again_and_dropped() {
    let world = EngineWorld::start();
    world.open_shop().await;
    world.engine.stop(Duration::ZERO);
    world.engine.stop(Duration::ZERO);
}
