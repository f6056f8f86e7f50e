//! Reads that wait for the disk: they delay no other merchant, and no request of their own is lost or overtaken.

use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use till_domain::payment::PaymentStatus;
use till_storage::family::Family;
use till_storage::journal::Journal;
use till_storage::keys::{HeadKey, JournalKey};
use till_storage::memory::MemoryStore;

use crate::shop::{PRICE_MINOR, SETTLEMENT_DELAY_SECONDS, TestShop, sync_text, topup, topup_known_as};
use crate::world::{EngineWorld, Settings, all, assert_unknown, derived, done, eventually, is_pending, put_back};

/// From now on everything that is read of a merchant waits.
fn hold_reads(world: &EngineWorld, shop: &TestShop) {
    world.store.hold_reads(Family::Meta, &HeadKey(shop.merchant_id).encode());
    for family in Family::ALL {
        world.store.hold_reads(family, &shop.merchant_id.to_bytes());
    }
}

async fn shops(world: &EngineWorld, count: usize) -> Vec<TestShop> {
    let mut shops = Vec::new();
    for _ in 0..count {
        shops.push(world.open_shop().await);
    }
    shops
}

#[actix_rt::test]
async fn a_merchant_that_is_loaded_slowly_delays_no_other() {
    let world = EngineWorld::start();
    let shops = shops(&world, 5).await;
    let world = world.restart();
    hold_reads(&world, &shops[0]);
    let mut slow = world.send(shops[0].merchant_id, topup(1));
    for shop in &shops[1..] {
        done(world.submit(shop.merchant_id, topup(1)).await);
    }
    assert!(is_pending(&mut slow).await);
    world.store.resume_reads();
    done(slow.await.expect("no request panics"));
}

#[actix_rt::test]
async fn large_loads_leave_threads_to_others() {
    let world = EngineWorld::start();
    let (large, light) = (shops(&world, 16).await, world.open_shop().await);
    for shop in &large {
        for _ in 0..3 {
            done(world.submit(shop.merchant_id, sync_text(shop, 600_000)).await);
        }
        done(world.submit(shop.merchant_id, topup(1)).await);
    }
    let world = world.restart();
    for shop in &large {
        // The last record, which is read after more than a load reads on the threads that begin all.
        let sequence = world.store.head(shop.merchant_id).expect("readable").sequence;
        world.store.hold_reads(Family::Journal, &JournalKey { merchant_id: shop.merchant_id, sequence }.encode());
    }
    let mut slow: Vec<_> = large.iter().map(|shop| world.send(shop.merchant_id, topup(1))).collect();
    actix_rt::time::sleep(Duration::from_millis(200)).await;
    done(world.submit(light.merchant_id, topup(1)).await);
    assert!(is_pending(&mut slow[0]).await);
    world.store.resume_reads();
    for reply in all(slow).await {
        done(reply);
    }
}

#[actix_rt::test]
async fn rows_of_a_large_load_that_lag_behind_are_caught_up_on_both_threads() {
    let (world, shop) = EngineWorld::with_shop().await;
    let none = derived(&MemoryStore::new());
    for _ in 0..3 {
        done(world.submit(shop.merchant_id, sync_text(&shop, 600_000)).await);
    }
    let payment = world.pay(&shop, |words| words).await;
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    let last = derived(&world.store);
    let world = world.restart_after(|store| put_back(store, &none));
    world.handled(&shop).await;
    assert_eq!(derived(&world.store), last);
    world.clock.pass_seconds(SETTLEMENT_DELAY_SECONDS);
    eventually("it settles", || world.totals(&shop).effective_credit_minor == PRICE_MINOR).await;
}

#[actix_rt::test]
async fn a_row_that_is_not_in_memory_delays_no_other_merchant() {
    let world = EngineWorld::start();
    let shops = shops(&world, 5).await;
    hold_reads(&world, &shops[0]);
    let mut slow = world.send(shops[0].merchant_id, topup_known_as("bank-1"));
    for shop in &shops[1..] {
        done(world.submit(shop.merchant_id, topup_known_as("bank-1")).await);
    }
    let mut next = world.send(shops[0].merchant_id, topup(1));
    assert!(is_pending(&mut slow).await && is_pending(&mut next).await);
    world.store.resume_reads();
    for reply in all([slow, next]).await {
        done(reply);
    }
}

#[actix_rt::test]
async fn payments_work_over_a_store_of_which_nothing_is_in_memory() {
    let (world, shop) = EngineWorld::with_shop().await;
    world.store.stay_cold();
    let payment = world.pay(&shop, |words| words.email("ada@example.com").save_card()).await;
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    world.clock.pass_seconds(SETTLEMENT_DELAY_SECONDS);
    eventually("it settles", || world.totals(&shop).effective_credit_minor == PRICE_MINOR).await;
    world.assert_book_equals_ledger(&shop);
}

#[actix_rt::test]
async fn requests_that_wait_keep_their_order() {
    let (world, shop) = EngineWorld::with_shop().await;
    world.store.stay_cold();
    let sent: Vec<_> =
        (0..300).map(|number| world.send(shop.merchant_id, topup_known_as(&format!("bank-{number}")))).collect();
    let ids: Vec<_> = all(sent).await.into_iter().map(|reply| format!("{:?}", done(reply))).collect();
    // Ids of one merchant grow in the order in which it decides.
    assert!(ids.is_sorted(), "{ids:?}");
    assert_eq!(world.totals(&shop).effective_credit_minor, 300);
}

#[actix_rt::test]
async fn an_actor_does_not_retire_while_its_merchant_is_loaded() {
    let world = EngineWorld::start_with(Settings { idle_before_retiring: Duration::ZERO, ..Settings::default() });
    let shop = world.open_shop().await;
    let world = world.restart();
    hold_reads(&world, &shop);
    let held = world.send(shop.merchant_id, topup(1));
    actix_rt::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(world.engine.live_actors(), 1);
    world.store.resume_reads();
    done(held.await.expect("no request panics"));
    eventually("it retires then", || world.engine.live_actors() == 0).await;
}

#[actix_rt::test]
async fn a_request_that_panics_while_it_may_wait_is_unknown_and_others_go_on() {
    let (world, shop) = EngineWorld::with_shop().await;
    world.store.stay_cold();
    // The first one panics on the actor's thread, so that the next one has the merchant loaded.
    world.clock.panic_next(2);
    let sent: Vec<_> = (0..3).map(|_| world.send(shop.merchant_id, topup(1))).collect();
    let replies = all(sent).await;
    assert_unknown(&replies[0]);
    assert_unknown(&replies[1]);
    done(replies[2].clone());
    assert_eq!((world.engine.in_flight(), world.engine.live_actors()), (0, 1));
    assert_eq!(world.totals(&shop).effective_credit_minor, 1);
}

#[actix_rt::test]
async fn a_merchant_that_is_visited_slowly_delays_no_call_to_an_acquirer() {
    let world = EngineWorld::start_with(Settings { expiry_pause: Duration::from_millis(1), ..Settings::default() });
    let (slow, shop) = (world.open_shop().await, world.open_shop().await);
    hold_reads(&world, &slow);
    actix_rt::time::sleep(Duration::from_millis(50)).await;
    let payment = world.pay(&shop, |words| words).await;
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    world.store.resume_reads();
}

#[actix_rt::test]
async fn a_loop_that_waits_while_the_engine_stops_ends_without_a_panic() {
    let world = EngineWorld::start_with(Settings { expiry_pause: Duration::from_millis(1), ..Settings::default() });
    let shop = world.open_shop().await;
    hold_reads(&world, &shop);
    actix_rt::time::sleep(Duration::from_millis(50)).await;
    let panics = panics_of("till-background");
    thread::scope(|scope| {
        scope.spawn(|| world.engine.stop(Duration::ZERO));
        thread::sleep(Duration::from_millis(50));
        world.store.resume_reads();
    });
    assert_eq!(panics.load(Ordering::SeqCst), 0);
}

/// Counts the panics of threads of this name from now on.
fn panics_of(name: &'static str) -> Arc<AtomicUsize> {
    let (panics, earlier) = (Arc::new(AtomicUsize::new(0)), panic::take_hook());
    let counted = Arc::clone(&panics);
    panic::set_hook(Box::new(move |panicked| {
        if thread::current().name() == Some(name) {
            counted.fetch_add(1, Ordering::SeqCst);
        }
        earlier(panicked);
    }));
    panics
}
