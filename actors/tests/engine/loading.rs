//! Loading: snapshot, replay, rows that lag behind, logs that cannot be read.

use till_domain::command::{Caller, Command};
use till_domain::payment::PaymentStatus;
use till_storage::family::Family;
use till_storage::journal::{Journal, Sequence};
use till_storage::keys::{JournalKey, SnapshotKey};
use till_storage::memory::MemoryStore;

use crate::acquirer::CallTreatment;
use crate::promises::CallFault;
use crate::shop::{PRICE_MINOR, SETTLEMENT_DELAY_SECONDS, TestShop, initiate, sync_text, topup, topup_known_as};
use crate::world::{EngineWorld, all, assert_not_done, derived, done, eventually, put_back};

/// Records between two snapshots.
const SNAPSHOT_EVERY: u64 = 256;

fn lose_record(store: &MemoryStore, shop: &TestShop, sequence: u64) {
    let key = JournalKey { merchant_id: shop.merchant_id, sequence: Sequence(sequence) };
    store.lose(Family::Journal, &key.encode());
}

fn damage_snapshot(store: &MemoryStore, shop: &TestShop, sequence: u64) {
    let key = SnapshotKey { merchant_id: shop.merchant_id, sequence: Sequence(sequence) };
    store.damage(Family::Snapshots, &key.encode(), b"not a snapshot");
}

/// A merchant whose log is so long that it has this many snapshots.
async fn shop_with_snapshots(world: &EngineWorld, count: u64) -> TestShop {
    let shop = world.open_shop().await;
    let sent: Vec<_> = (0..count * SNAPSHOT_EVERY).map(|_| world.send(shop.merchant_id, topup(1))).collect();
    for reply in all(sent).await {
        done(reply);
    }
    shop
}

#[actix_rt::test]
async fn a_load_begins_at_the_newest_snapshot() {
    let world = EngineWorld::start();
    let shop = shop_with_snapshots(&world, 1).await;
    let state = world.totals(&shop);
    let world = world.restart_after(|store| {
        lose_record(store, &shop, 1);
        lose_record(store, &shop, SNAPSHOT_EVERY);
    });
    done(world.submit(shop.merchant_id, topup(1)).await);
    assert_eq!(world.totals(&shop).effective_credit_minor, state.effective_credit_minor + 1);
    let session_id = world.session(&shop).await;
    done(world.submit(shop.merchant_id, initiate(session_id).by(&shop)).await);
}

#[actix_rt::test]
async fn a_load_of_large_records_begins_at_one_of_the_last_ones() {
    let (world, shop) = EngineWorld::with_shop().await;
    for _ in 0..7 {
        done(world.submit(shop.merchant_id, sync_text(&shop, 900_000)).await);
    }
    let head = world.store.head(shop.merchant_id).expect("readable").sequence.0;
    let world = world.restart_after(|store| (1..head).for_each(|sequence| lose_record(store, &shop, sequence)));
    done(world.submit(shop.merchant_id, topup(1)).await);
}

#[actix_rt::test]
async fn a_load_skips_damaged_snapshots() {
    let world = EngineWorld::start();
    let shop = shop_with_snapshots(&world, 2).await;
    let world = world.restart_after(|store| {
        lose_record(store, &shop, 1);
        damage_snapshot(store, &shop, 2 * SNAPSHOT_EVERY);
    });
    done(world.submit(shop.merchant_id, topup(1)).await);
    let world = world.restart_after(|store| damage_snapshot(store, &shop, SNAPSHOT_EVERY));
    assert_not_done(&world.submit(shop.merchant_id, topup(1)).await);
}

#[actix_rt::test]
async fn a_log_with_a_missing_record_stops_its_merchant_and_no_other() {
    let world = EngineWorld::start();
    let (damaged, sound) = (world.open_shop().await, world.open_shop().await);
    let world = world.restart_after(|store| lose_record(store, &damaged, 2));
    assert_not_done(&world.submit(damaged.merchant_id, topup(1)).await);
    done(world.submit(sound.merchant_id, topup(1)).await);
    assert_eq!(world.engine.in_flight(), 0);
}

#[actix_rt::test]
async fn rows_that_lag_behind_the_log_are_caught_up_to_the_byte() {
    let (world, shop) = EngineWorld::with_shop().await;
    let none = derived(&MemoryStore::new());
    let mut moments = vec![none, derived(&world.store)];
    for number in 0..3 {
        let payment = world.pay(&shop, |words| words.email(&format!("customer-{number}@example.com"))).await;
        world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
        moments.push(derived(&world.store));
    }
    let last = derived(&world.store);
    let mut world = world;
    for moment in moments {
        world = world.restart_after(|store| put_back(store, &moment));
        assert_not_done(&world.submit(shop.merchant_id, crate::shop::tokenize_without_number(&shop)).await);
        assert_eq!(derived(&world.store), last);
    }
    done(world.submit(shop.merchant_id, topup(1)).await);
}

#[actix_rt::test]
async fn rows_that_lag_behind_a_snapshot_are_caught_up_too() {
    let (world, shop) = EngineWorld::with_shop().await;
    let earlier = derived(&world.store);
    let sent: Vec<_> = (0..SNAPSHOT_EVERY).map(|_| world.send(shop.merchant_id, topup(1))).collect();
    for reply in all(sent).await {
        done(reply);
    }
    done(world.submit(shop.merchant_id, topup_known_as("bank-1")).await);
    let last = derived(&world.store);
    let world = world.restart_after(|store| put_back(store, &earlier));
    assert_not_done(&world.submit(shop.merchant_id, crate::shop::tokenize_without_number(&shop)).await);
    assert_eq!(derived(&world.store), last);
}

#[actix_rt::test]
async fn effects_of_rows_that_lagged_behind_are_looked_up_and_carried_out() {
    let (world, shop) = EngineWorld::with_shop().await;
    let settled = world.pay(&shop, |words| words).await;
    let session_id = world.session(&shop).await;
    world.settles_down_as(&shop, settled, PaymentStatus::Successful).await;
    world.script.next([CallTreatment::Fault(CallFault::AnswerLost)]);
    let open = done(world.submit(shop.merchant_id, initiate(session_id).by(&shop)).await);
    eventually("it is asked for", || world.script.carried_out().len() == 2).await;
    world.script.do_not_answer(Some(shop.merchant_id));
    let none = derived(&MemoryStore::new());
    let world = world.restart_after(|store| put_back(store, &none));
    assert_not_done(&world.submit(shop.merchant_id, crate::shop::tokenize_without_number(&shop)).await);
    world.settles_down_as(&shop, open, PaymentStatus::Successful).await;
    assert_eq!(world.script.carried_out(), Vec::<String>::new(), "{:?}", world.script.calls_made());
    world.clock.pass_seconds(SETTLEMENT_DELAY_SECONDS);
    eventually("both settle", || world.totals(&shop).effective_credit_minor == 2 * PRICE_MINOR).await;
}

#[actix_rt::test]
async fn rows_of_another_log_are_not_served() {
    let (world, shop) = EngineWorld::with_shop().await;
    done(world.submit(shop.merchant_id, topup(1)).await);
    let (family, key) = (Family::Rows, till_storage::keys::AppliedKey(shop.merchant_id).encode());
    let world = world.restart_after(|store| {
        let position = store.dump(family).into_iter().find(|(found, _)| found[..] == key);
        let (_, mut position) = position.expect("the rows have a position");
        position[20] ^= 1;
        store.damage(family, &key, &position);
    });
    // The balance is open already: answering that takes no append, which would notice, too.
    let open = crate::shop::by(Caller::Operator, Command::OpenBalance);
    assert_not_done(&world.submit(shop.merchant_id, open).await);
}
