//! Background writes are delayed. An urgent write is committed together with the delayed writes.

use std::time::Duration;
use till_domain::event::Answer;
use till_domain::payment::PaymentStatus;
use till_storage::family::Family;
use till_storage::memory::AppendFault;

use crate::shop::{PRICE_MINOR, TestShop, initiate, topup};
use crate::world::{EngineWorld, Settings, all, assert_not_done, done, eventually};

/// A delay that is longer than any test. A write with this delay waits for an urgent write or for the engine's stop.
const FOR_EVER: Duration = Duration::from_secs(3_600);

fn world_with_delayed_writes() -> EngineWorld {
    EngineWorld::start_with(Settings { group_commit_delay: FOR_EVER, ..Settings::default() })
}

/// Initiates a payment, and returns it as soon as the acquirer's answer to it is a delayed write.
async fn answered_payment(world: &EngineWorld, shop: &TestShop) -> Answer {
    let payment = world.pay(shop, |words| words).await;
    eventually("the acquirer's answer is a delayed write", || world.engine.commit_stats().queued() == 1).await;
    assert_eq!(world.payment(shop, payment).status, PaymentStatus::Pending);
    payment
}

#[actix_rt::test]
async fn the_acquirers_answer_is_written_with_any_merchants_next_call() {
    let world = world_with_delayed_writes();
    let (shop, other) = (world.open_shop().await, world.open_shop().await);
    let payment = answered_payment(&world, &shop).await;
    let groups = world.engine.commit_stats().groups();
    done(world.submit(other.merchant_id, topup(1)).await);
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    assert_eq!(world.engine.commit_stats().groups(), groups + 1, "both writes share one sync");
    world.assert_book_equals_ledger(&shop);
}

#[actix_rt::test]
async fn a_refusal_based_on_a_delayed_write_is_answered_at_once() {
    let world = world_with_delayed_writes();
    let shop = world.open_shop().await;
    let session = world.sessions(&shop, 1).await.remove(0);
    let payment = done(world.submit(shop.merchant_id, initiate(session).by(&shop)).await);
    eventually("the acquirer's answer is a delayed write", || world.engine.commit_stats().queued() == 1).await;
    let again = world.submit(shop.merchant_id, initiate(session).by(&shop)).await;
    assert!(again.is_err(), "the session is used up: {again:?}");
    assert_eq!(world.payment(&shop, payment).status, PaymentStatus::Successful, "it is written before the refusal");
}

#[actix_rt::test]
async fn the_check_that_all_threads_answer_is_not_delayed() {
    let world = world_with_delayed_writes();
    assert_eq!(world.engine.check_answers(Duration::from_secs(10)), Ok(()));
}

#[actix_rt::test]
async fn a_stop_of_the_engine_commits_the_delayed_writes() {
    let world = world_with_delayed_writes();
    let shop = world.open_shop().await;
    let payment = answered_payment(&world, &shop).await;
    let world = world.restart_paused();
    assert_eq!(world.payment(&shop, payment).status, PaymentStatus::Successful);
    world.assert_book_equals_ledger(&shop);
}

#[actix_rt::test]
async fn a_delayed_write_fails_with_its_group_and_is_requested_again() {
    let world = world_with_delayed_writes();
    let shop = world.open_shop().await;
    let payment = answered_payment(&world, &shop).await;
    world.store.fail_append(0, AppendFault::Unavailable);
    assert_not_done(&world.submit(shop.merchant_id, topup(1)).await);
    eventually("the acquirer is called again, and its answer is a delayed write", || {
        world.script.calls() == 2 && world.engine.commit_stats().queued() == 1
    })
    .await;
    for reply in all([world.send(shop.merchant_id, topup(1))]).await {
        done(reply);
    }
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    let captured = (world.book_totals(&shop).captured_minor, world.count(Family::Effects, &shop));
    assert_eq!(captured, (u128::from(PRICE_MINOR), 0), "the payment is captured once");
}
