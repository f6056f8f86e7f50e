//! Metadata: records that end leave rows, and these are removed.

use till_domain::command::{AddToMetadataSet, Caller, Command, DeleteMetadata, Request, SyncMetadata};
use till_domain::event::Answer;
use till_domain::metadata::{CanonicalJson, MetadataPath};
use till_domain::records::{Metadata, MetadataByCreation, MetadataSets};
use till_domain::text::MetadataKey;
use till_storage::family::Family;

use crate::shop::{TestShop, by};
use crate::world::{EngineWorld, done, eventually};

fn key(name: &str) -> MetadataKey {
    MetadataKey::new(name).expect("a key of proper form")
}

fn add(shop: &TestShop, name: &str, path: &str, item: &str, ttl_seconds: Option<u64>) -> Request {
    let path = MetadataPath::parse(path).expect("a path of proper form");
    let item = CanonicalJson::from_canonical(item);
    let command = AddToMetadataSet { key: key(name), path, item, version: None, ttl_seconds };
    by(Caller::ApiKey(shop.key_id), Command::AddToMetadataSet(command))
}

fn sync(shop: &TestShop, name: &str, items: usize) -> Request {
    let items: Vec<String> = (0..items).map(|item| item.to_string()).collect();
    let metadata = CanonicalJson::from_canonical(format!(r#"{{"l":[{}],"m":[1]}}"#, items.join(",")));
    let command = SyncMetadata { key: key(name), metadata, version: None, ttl_seconds: None };
    by(Caller::ApiKey(shop.key_id), Command::SyncMetadata(command))
}

fn delete(shop: &TestShop, name: &str) -> Request {
    by(Caller::ApiKey(shop.key_id), Command::DeleteMetadata(DeleteMetadata { key: key(name), version: None }))
}

/// The numbers of rows of every kind that metadata leaves.
fn rows(world: &EngineWorld, shop: &TestShop) -> (usize, usize, usize) {
    (world.count(Family::Rows, shop), world.count(Family::Indexes, shop), world.count(Family::Timers, shop))
}

async fn ask(world: &EngineWorld, shop: &TestShop, request: Request) -> Answer {
    done(world.submit(shop.merchant_id, request).await)
}

/// Creates a record with two sets, one of them with this many items.
async fn fill(world: &EngineWorld, shop: &TestShop, name: &str, items: usize) {
    ask(world, shop, sync(shop, name, items)).await;
    ask(world, shop, add(shop, name, "l", "\"more\"", None)).await;
    ask(world, shop, add(shop, name, "m", "\"more\"", None)).await;
}

#[actix_rt::test]
async fn the_rows_of_a_deleted_record_are_removed_in_several_steps() {
    let (world, shop) = EngineWorld::with_shop().await;
    let before = rows(&world, &shop);
    fill(&world, &shop, "k", 1_000).await;
    assert!(world.count(Family::Rows, &shop) > 2_000);
    assert_eq!(ask(&world, &shop, delete(&shop, "k")).await, Answer::Changed(true));
    eventually("all its rows are removed", || rows(&world, &shop) == before).await;
}

#[actix_rt::test]
async fn the_rows_of_a_record_that_expires_are_removed() {
    let (world, shop) = EngineWorld::with_shop().await;
    let before = rows(&world, &shop);
    fill(&world, &shop, "k", 10).await;
    ask(&world, &shop, add(&shop, "k", "l", "\"last\"", Some(60))).await;
    world.clock.pass_seconds(59);
    actix_rt::time::sleep(std::time::Duration::from_millis(300)).await;
    assert!(world.find::<Metadata>(&shop, key("k")).is_some());
    world.clock.pass_seconds(1);
    eventually("all its rows are removed", || rows(&world, &shop) == before).await;
}

#[actix_rt::test]
async fn the_sets_of_a_replaced_value_are_removed() {
    let (world, shop) = EngineWorld::with_shop().await;
    fill(&world, &shop, "k", 600).await;
    fill(&world, &shop, "k", 3).await;
    let record = world.find::<Metadata>(&shop, key("k")).expect("it is there");
    let first = world.find::<MetadataSets>(&shop, (record.id, record.sets_from)).expect("its first set is there");
    assert_eq!((record.set_count(), first.item_count), (2, 4));
    // Of six items two rows each, of two sets one each, the record and its document.
    let before = rows(&world, &world.open_shop().await).0;
    eventually("the old rows are removed", || rows(&world, &shop).0 == before + 2 * 6 + 2 + 2).await;
    // The engine counts them once it knows that they are removed.
    let swept = ("metadata", 2 * (601 + 2) + 2);
    eventually("of each item two rows, of each set one", || {
        world.engine.counts().records().removed_rows.by_kind()[3] == swept
    })
    .await;
    assert_eq!(world.find::<MetadataByCreation>(&shop, record.id), Some(key("k")));
    assert_eq!(world.count(Family::Timers, &shop), 1, "the record's timer");
}

#[actix_rt::test]
async fn rows_left_at_a_stop_are_removed_after_the_next_start() {
    let world = EngineWorld::start();
    let (shop, idle) = (world.open_shop().await, world.open_shop().await);
    let before = rows(&world, &shop);
    fill(&world, &shop, "k", 5_000).await;
    // A timer of a merchant in between that has nothing to remove.
    ask(&world, &idle, add(&idle, "k", "l", "1", None)).await;
    ask(&world, &shop, delete(&shop, "k")).await;
    let world = world.restart();
    eventually("all its rows are removed", || rows(&world, &shop) == before).await;
    assert_eq!(world.count(Family::Timers, &idle), 1);
}
