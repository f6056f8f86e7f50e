//! Retirement: idle actors go, and no message is lost on the way.

use std::sync::Arc;
use std::time::Duration;

use crate::shop::topup;
use crate::world::{EngineWorld, Settings, done, eventually};

const SHOPS: usize = 8;
const ROUNDS: u64 = 500;

fn retiring_at_once() -> EngineWorld {
    EngineWorld::start_with(Settings { idle_before_retiring: Duration::ZERO, ..Settings::default() })
}

#[actix_rt::test]
async fn no_message_is_lost_while_actors_retire_and_start_again() {
    let world = Arc::new(retiring_at_once());
    let mut shops = Vec::new();
    for _ in 0..SHOPS {
        shops.push(world.open_shop().await);
    }
    let claims = world.claims();
    let callers: Vec<_> = shops.iter().map(|shop| actix_rt::spawn(call_on(Arc::clone(&world), *shop))).collect();
    for caller in callers {
        caller.await.expect("every call was answered with success");
    }
    assert!(shops.iter().all(|shop| world.totals(shop).effective_credit_minor == ROUNDS));
    let restarts = world.claims() - claims;
    assert!(restarts > 200, "only {restarts} actors were started: that proves nothing");
    assert_eq!(world.engine.in_flight(), 0);
}

/// Calls at all distances from the moment at which the actor checks that it is idle.
async fn call_on(world: Arc<EngineWorld>, shop: crate::shop::TestShop) {
    for round in 0..ROUNDS {
        done(world.submit(shop.merchant_id, topup(1)).await);
        actix_rt::time::sleep(Duration::from_micros(round * 37 % 2_500)).await;
    }
}

#[actix_rt::test]
async fn no_message_is_lost_while_merchants_displace_each_other() {
    let settings = Settings { live_actors_max: SHOPS / 2, ..Settings::default() };
    let world = Arc::new(EngineWorld::start_with(settings));
    let mut shops = Vec::new();
    for _ in 0..SHOPS {
        shops.push(world.open_shop().await);
    }
    let callers: Vec<_> = shops.iter().map(|shop| actix_rt::spawn(insist_on(Arc::clone(&world), *shop))).collect();
    for caller in callers {
        caller.await.expect("no call was lost");
    }
    assert!(shops.iter().all(|shop| world.totals(shop).effective_credit_minor == ROUNDS));
}

/// Repeats each call until it is done; refused ones changed nothing.
async fn insist_on(world: Arc<EngineWorld>, shop: crate::shop::TestShop) {
    for _ in 0..ROUNDS {
        while let Err(denied) = world.submit(shop.merchant_id, topup(1)).await {
            assert!(denied.to_string().contains("too many merchants"), "{denied:?}");
            actix_rt::task::yield_now().await;
        }
    }
}

#[actix_rt::test]
async fn an_open_effect_and_a_set_timer_keep_no_actor_alive() {
    let world = retiring_at_once();
    let (waiting, held) = (world.open_shop().await, world.open_shop().await);
    world.script.do_not_answer(Some(waiting.merchant_id));
    world.pay(&waiting, |words| words).await;
    let captured = world.pay(&held, |words| words).await;
    world.settles_down_as(&held, captured, till_domain::payment::PaymentStatus::Successful).await;
    assert_eq!(world.count(till_storage::family::Family::Effects, &waiting), 1);
    assert_eq!(world.count(till_storage::family::Family::Timers, &held), 1);
    eventually("every actor has retired", || world.engine.live_actors() == 0).await;
}

#[actix_rt::test]
async fn an_actor_does_not_retire_before_it_has_answered() {
    let world = retiring_at_once();
    let shop = world.open_shop().await;
    world.store.hold_appends();
    let held = world.send(shop.merchant_id, topup(1));
    actix_rt::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(world.engine.live_actors(), 1);
    world.store.resume_appends();
    done(held.await.expect("no request panics"));
    eventually("it retires then", || world.engine.live_actors() == 0).await;
}
