//! Bounds: what is too much is turned away at once, and does nothing.

use std::time::Duration;
use till_actors::Limits;
use till_domain::payment::PaymentStatus;

use crate::acquirer::Turn;
use crate::shop::topup;
use crate::world::{Settings, World, all, assert_not_done, done, eventually, is_pending};

fn bounded(change: impl FnOnce(&mut Limits)) -> World {
    let mut settings = Settings::default();
    change(&mut settings.limits);
    World::start_with(settings)
}

#[actix_rt::test]
async fn beyond_the_bound_of_a_merchant_a_request_is_not_done_and_others_are_served() {
    let world = bounded(|limits| limits.in_flight_per_merchant = 4);
    let (shop, other) = (world.open_shop().await, world.open_shop().await);
    world.store.hold_appends();
    let accepted: Vec<_> = (0..4).map(|_| world.send(shop.merchant_id, topup(1))).collect();
    assert_not_done(&world.submit(shop.merchant_id, topup(1_000)).await);
    let others = world.send(other.merchant_id, topup(1));
    world.store.resume_appends();
    for reply in all(accepted.into_iter().chain([others])).await {
        done(reply);
    }
    assert_eq!(world.totals(&shop).effective_credit_minor, 4);
    done(world.submit(shop.merchant_id, topup(1)).await);
}

#[actix_rt::test]
async fn beyond_the_bound_over_all_merchants_a_request_is_not_done() {
    let world = bounded(|limits| limits.in_flight = 4);
    let (shop, other) = (world.open_shop().await, world.open_shop().await);
    world.store.hold_appends();
    let accepted: Vec<_> = (0..4).map(|_| world.send(shop.merchant_id, topup(1))).collect();
    assert_eq!(world.engine.in_flight(), 4);
    assert_not_done(&world.submit(other.merchant_id, topup(1_000)).await);
    world.store.resume_appends();
    for reply in all(accepted).await {
        done(reply);
    }
    assert_eq!(world.engine.in_flight(), 0);
    done(world.submit(other.merchant_id, topup(1)).await);
    assert_eq!(world.totals(&other).effective_credit_minor, 1);
}

#[actix_rt::test]
async fn more_merchants_than_may_live_take_turns_and_only_busy_ones_keep_others_out() {
    let world = bounded(|limits| limits.live_actors = 2);
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
async fn what_was_accepted_goes_on_when_new_work_cannot() {
    let world = bounded(|limits| limits.in_flight = 4);
    let shop = world.open_shop().await;
    let (release, released) = std::sync::mpsc::channel();
    world.direction.next([Turn::After(Box::new(move || released.recv().expect("the test releases it")))]);
    let payment = world.pay(&shop, |words| words).await;
    world.store.hold_appends();
    let accepted: Vec<_> = (0..4).map(|_| world.send(shop.merchant_id, topup(1))).collect();
    assert_not_done(&world.submit(shop.merchant_id, topup(1)).await);
    release.send(()).expect("the acquirer waits for it");
    // Were the result turned away, it would have been asked for again by now.
    actix_rt::time::sleep(Duration::from_millis(200)).await;
    world.store.resume_appends();
    for reply in all(accepted).await {
        done(reply);
    }
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    assert_eq!(world.direction.calls(), 1);
}

#[actix_rt::test]
async fn a_caller_that_goes_away_gives_its_place_back_and_its_command_stands() {
    let world = bounded(|limits| limits.in_flight = 1);
    let shop = world.open_shop().await;
    world.store.hold_appends();
    let mut gone = world.send(shop.merchant_id, topup(7));
    assert!(is_pending(&mut gone).await);
    gone.abort();
    world.store.resume_appends();
    eventually("its place is free", || world.engine.in_flight() == 0).await;
    assert_eq!(world.totals(&shop).effective_credit_minor, 7);
}
