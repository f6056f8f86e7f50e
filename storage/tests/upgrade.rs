//! A start writes the rows that stores of an earlier row format lack.

mod fixtures;

use std::path::Path;

use fixtures::{Chain, merchant};
use rocksdb::{DB, Options};
use till_domain::ids::{ActivityId, MerchantId};
use till_domain::records::{
    ActivitiesByActorEmail, ActivitiesByEmail, ActivitiesWithEmail, AnyKey, AnyRow, Present, Table,
};
use till_domain::text::Email;
use till_storage::engine::{Engine, EngineOptions};
use till_storage::family::Family;
use till_storage::journal::{AppendVerdict, Journal, RowWrite};
use till_storage::keys::MetaKey;
use till_storage::rows::RowReader;
use till_storage::shapes::{StaysSealed, encode_row, row_key};

const SHOP: MerchantId = merchant(1);

fn opened(directory: &Path) -> Engine {
    let options = EngineOptions { disk_reserve_bytes: 0, ..EngineOptions::new(directory) };
    Engine::open(&options).unwrap_or_else(|error| panic!("{error}"))
}

/// An index row by address of an activity.
fn by_email<T: Table<Key = (Email, ActivityId), Row = Present>>(text: &str, number: u8) -> (AnyKey, AnyRow) {
    let email = Email::new(text).expect("an address of a test");
    (T::key((email, ActivityId::from_bytes([number; 16]))), T::wrap(Present))
}

fn with_email(number: u8) -> (AnyKey, AnyRow) {
    (ActivitiesWithEmail::key(ActivityId::from_bytes([number; 16])), ActivitiesWithEmail::wrap(Present))
}

/// Appends rows to a merchant's log, and says that they are of a row format.
fn store(directory: &Path, rows: &[(AnyKey, AnyRow)], row_format: u32) {
    let engine = opened(directory);
    let mut append = Chain::claim(&engine, SHOP).batch(&[b"body"]);
    let bytes: Vec<(Family, Vec<u8>, Vec<u8>)> = rows
        .iter()
        .map(|(key, row)| {
            let (family, bytes) = row_key(SHOP, key, &StaysSealed);
            (family, bytes, encode_row(row, key, &mut StaysSealed).expect("no personal data"))
        })
        .collect();
    for (family, key, value) in &bytes {
        append.derived.push(RowWrite { family: *family, key, value: Some(value) });
    }
    assert!(matches!(engine.append(vec![append])[..], [AppendVerdict::Committed(_)]));
    engine.close().expect("it closes");
    drop(engine);
    set_row_format(directory, row_format);
}

fn set_row_format(directory: &Path, row_format: u32) {
    let families = Family::ALL.map(Family::name);
    let db = DB::open_cf(&Options::default(), directory.join("db"), families).expect("nobody has it open");
    let meta = db.cf_handle(Family::Meta.name()).expect("a family");
    db.put_cf(meta, MetaKey::RowFormat.encode(), row_format.to_be_bytes()).expect("writable");
}

fn has(engine: &Engine, (key, row): &(AnyKey, AnyRow)) -> bool {
    let (family, bytes) = row_key(SHOP, key, &StaysSealed);
    let stored = engine.get(family, &bytes).expect("readable");
    stored == Some(encode_row(row, key, &mut StaysSealed).expect("no personal data"))
}

#[test]
fn every_address_of_an_activity_is_indexed_from_format_10_on() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let of_member = by_email::<ActivitiesByEmail>("member@shop.example", 1);
    let of_actor = by_email::<ActivitiesByActorEmail>("actor@shop.example", 2);
    let missing = [with_email(1), with_email(2), by_email::<ActivitiesByEmail>("actor@shop.example", 2)];
    store(directory.path(), &[of_member.clone(), of_actor.clone()], 10);
    let engine = opened(directory.path());
    assert!(missing.iter().all(|row| !has(&engine, row)), "nothing is missing in a store of this format");
    drop(engine);
    // A start that ends before it raises the format is followed by one that writes the same rows.
    for _ in 0..2 {
        set_row_format(directory.path(), 9);
        let engine = opened(directory.path());
        assert!(missing.iter().chain([&of_member, &of_actor]).all(|row| has(&engine, row)));
    }
}
