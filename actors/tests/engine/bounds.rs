//! Bounds: too large or too many requests are refused at once, and change nothing.

use crate::shop::topup;
use crate::world::{EngineWorld, Settings, all, assert_not_done, done, eventually, is_pending};

#[actix_rt::test]
async fn merchants_above_the_limit_take_turns_unless_all_are_busy() {
    let world = EngineWorld::start_with(Settings { live_actors_max: 2, ..Settings::default() });
    let mut shops = Vec::new();
    for _ in 0..20 {
        shops.push(world.open_shop().await);
    }
    for shop in shops.iter().chain(shops.iter().rev()) {
        done(world.submit(shop.merchant_id, topup(1)).await);
        assert!(world.engine.live_actors() <= 2);
    }
    world.store.hold_appends();
    let busy: Vec<_> = shops[..2].iter().map(|shop| world.send(shop.merchant_id, topup(1))).collect();
    assert_not_done(&world.submit(shops[2].merchant_id, topup(1)).await);
    world.store.resume_appends();
    for reply in all(busy).await {
        done(reply);
    }
    done(world.submit(shops[2].merchant_id, topup(1)).await);
    assert!(shops[..3].iter().all(|shop| world.totals(shop).effective_credit_minor == 3));
}

#[actix_rt::test]
async fn a_command_whose_caller_goes_away_is_carried_out() {
    let world = EngineWorld::start_with(Settings::default());
    let shop = world.open_shop().await;
    world.store.hold_appends();
    let mut cancelled = world.send(shop.merchant_id, topup(7));
    assert!(is_pending(&mut cancelled).await);
    cancelled.abort();
    world.store.resume_appends();
    eventually("it is counted no longer", || world.engine.in_flight() == 0).await;
    assert_eq!(world.totals(&shop).effective_credit_minor, 7);
}
