//! Metadata: contract, section 5.

use std::collections::BTreeMap;

use crate::words::{Ask, TestCaller, add, delete, fire, remove, suspend, sync};
use crate::world::{START, ScenarioWorld, raw_id};
use till_domain::command::{Command, SweepMetadata};
use till_domain::event::Answer;
use till_domain::ids::MetadataId;
use till_domain::metadata::{ItemHash, MetadataRecord, SETS_MAX, SetNumber, SweptItem, TTL_DEFAULT_SECONDS};
use till_domain::records::{
    AnyKey, AnyRow, Metadata, MetadataByCreation, MetadataDocuments, MetadataGarbage, MetadataItems, MetadataPositions,
};
use till_domain::refusal::Refusal;
use till_domain::text::MetadataKey;
use till_domain::time::Millis;

const TRUE: Answer = Answer::Changed(true);
const FALSE: Answer = Answer::Changed(false);

fn key(text: &str) -> MetadataKey {
    MetadataKey::new(text).expect("a test key of proper form")
}

fn record(world: &ScenarioWorld) -> MetadataRecord {
    world.look_up::<Metadata>(key("k"))
}

fn value(world: &ScenarioWorld) -> String {
    world.metadata("k").expect("the record is there")
}

/// The command that sweeps the remaining rows of a record.
fn garbage(world: &ScenarioWorld, record: &MetadataRecord) -> SweepMetadata {
    let below = world.find::<MetadataGarbage>(record.id);
    let keys = world.rows.iter().filter_map(|(key, _)| {
        if let AnyKey::MetadataItems(key) = key { Some(*key).filter(|key| key.0 == record.id) } else { None }
    });
    let left = keys.filter(|(_, number, _)| below.is_some_and(|below| *number < below));
    let swept = |(id, set, hash)| SweptItem { set, hash, position: world.look_up::<MetadataItems>((id, set, hash)) };
    let sets = (0..below.map_or(0, |below| below.0)).map(SetNumber).collect();
    SweepMetadata { id: record.id, items: left.map(swept).collect(), sets, finished_below: below }
}

fn sweep(command: SweepMetadata) -> Ask {
    Ask::of(TestCaller::Till, Command::SweepMetadata(command))
}

#[test]
fn adding_at_a_new_path_creates_the_record_objects_and_the_set() {
    let mut world = ScenarioWorld::open();
    world.when(add("k", "a.tags", "\"x\"")).answers(TRUE);
    assert_eq!(value(&world), r#"{"a":{"tags":["x"]}}"#);
    assert_eq!(record(&world).version, 1);
}

#[test]
fn without_a_path_the_root_is_the_set() {
    let mut world = ScenarioWorld::open();
    world.given(add("k", "", "1"));
    world.given(add("k", "", "[2]"));
    assert_eq!(value(&world), "[1,[2]]");
}

#[test]
fn adding_an_item_that_is_present_changes_nothing() {
    let mut world = ScenarioWorld::open();
    world.given(add("k", "tags", "\"a\""));
    world.when(add("k", "tags", "\"b\"")).answers(TRUE);
    world.after_seconds(10);
    world.when(add("k", "tags", "\"a\"")).answers(FALSE);
    assert_eq!(value(&world), r#"{"tags":["a","b"]}"#);
    let record = record(&world);
    assert_eq!((record.version, record.updated_at), (2, START));
    assert_eq!(record.expires_at, world.clock.plus_seconds(TTL_DEFAULT_SECONDS));
}

#[test]
fn null_is_a_value_and_a_place_for_a_set() {
    let mut world = ScenarioWorld::open();
    world.given(sync("k", r#"{"a":null,"b":{"c":null}}"#));
    world.given(add("k", "b.c", "null"));
    world.when(add("k", "b.c", "null")).changes_nothing(FALSE);
    assert_eq!(value(&world), r#"{"a":null,"b":{"c":[null]}}"#);
}

#[test]
fn a_value_that_is_not_a_set_is_refused_with_its_path() {
    let mut world = ScenarioWorld::open();
    world.given(sync("k", r#"{"a":{"b":1},"c":"x","d":[1],"n":null}"#));
    for path in ["", "a", "a.b", "c", "c.x", "d.x", "n.x"] {
        world.when(add("k", path, "1")).refused(Refusal::NotASet);
        world.when(remove("k", path, "1")).refused(Refusal::NotASet);
    }
    assert_eq!(record(&world).version, 1);
}

#[test]
fn an_array_becomes_a_set_of_its_distinct_items() {
    let mut world = ScenarioWorld::open();
    world.given(sync("k", r#"{"l":[3,1,3,{"a":1},1,{"a":1}]}"#));
    world.when(add("k", "l", "2")).answers(TRUE);
    assert_eq!(value(&world), r#"{"l":[3,1,{"a":1},2]}"#);
    assert_eq!((record(&world).version, record(&world).item_count), (2, 4));
}

#[test]
fn distinct_items_of_an_array_keep_their_places_as_positions() {
    let mut world = ScenarioWorld::open();
    world.given(sync("k", r#"{"l":[3,3,1,3,2,1]}"#));
    world.when(remove("k", "l", "1")).answers(TRUE);
    world.given(add("k", "l", "4"));
    let (id, set) = (record(&world).id, SetNumber(0));
    let places = [("3", 0), ("2", 4), ("4", 6)];
    for (item, place) in places {
        assert_eq!(world.look_up::<MetadataItems>((id, set, ItemHash::of(item))), place, "{item}");
        assert_eq!(world.look_up::<MetadataPositions>((id, set, place)).as_str(), item);
    }
    assert_eq!(world.metadata_items(id, set), places.map(|(item, _)| item));
}

#[test]
fn only_an_array_that_loses_items_as_a_set_changes_its_version() {
    let mut world = ScenarioWorld::open();
    world.given(sync("k", r#"{"l":[1,2],"m":[1,1]}"#));
    world.when(add("k", "l", "1")).answers(FALSE);
    assert_eq!(record(&world).version, 1);
    world.when(add("k", "m", "1")).answers(FALSE);
    assert_eq!((record(&world).version, value(&world).as_str()), (2, r#"{"l":[1,2],"m":[1]}"#));
    assert_eq!(record(&world).bytesize, 19);
}

#[test]
fn the_bytesize_is_that_of_the_canonical_form_even_of_sets() {
    let mut world = ScenarioWorld::open();
    world.given(sync("k", r#"{"l":[1,2],"s":"é"}"#));
    assert_eq!(record(&world).bytesize, 20);
    world.given(add("k", "l", "\"x\""));
    assert_eq!(record(&world).bytesize, 24);
    world.given(remove("k", "l", "1"));
    world.given(remove("k", "l", "2"));
    world.given(remove("k", "l", "\"x\""));
    assert_eq!((value(&world).as_str(), record(&world).bytesize), (r#"{"l":[],"s":"é"}"#, 17));
}

#[test]
fn removing_returns_if_the_item_was_there_and_keeps_the_order() {
    let mut world = ScenarioWorld::open();
    for item in ["1", "2", "3"] {
        world.given(add("k", "l", item));
    }
    world.when(remove("k", "l", "2")).answers(TRUE);
    world.when(remove("k", "l", "2")).changes_nothing(FALSE);
    world.given(add("k", "l", "2"));
    assert_eq!((value(&world).as_str(), record(&world).version), (r#"{"l":[1,3,2]}"#, 5));
}

#[test]
fn removing_where_nothing_is_changes_no_value_and_makes_none() {
    let mut world = ScenarioWorld::open();
    world.when(remove("k", "l", "1")).changes_nothing(FALSE);
    world.given(sync("k", r#"{"a":1}"#));
    world.after_seconds(5);
    world.when(remove("k", "x.y", "1")).answers(FALSE);
    assert_eq!((value(&world).as_str(), record(&world).version), (r#"{"a":1}"#, 1));
    assert_eq!(record(&world).expires_at, world.clock.plus_seconds(TTL_DEFAULT_SECONDS));
}

#[test]
fn removing_from_an_array_makes_it_a_set_first() {
    let mut world = ScenarioWorld::open();
    world.given(sync("k", "[1,2,1,3]"));
    world.when(remove("k", "", "1")).answers(TRUE);
    assert_eq!(value(&world), "[2,3]");
}

#[test]
fn a_version_must_be_the_current_one_or_zero_for_none() {
    let mut world = ScenarioWorld::open();
    world.when(add("k", "l", "1").at_version(1)).refused(Refusal::VersionMismatch { current: 0 });
    world.when(add("k", "l", "1").at_version(0)).answers(TRUE);
    world.when(add("k", "l", "2").at_version(0)).refused(Refusal::VersionMismatch { current: 1 });
    world.when(add("k", "l", "2").at_version(1)).answers(TRUE);
    world.when(remove("k", "l", "2").at_version(1)).refused(Refusal::VersionMismatch { current: 2 });
    world.when(sync("k", "{}").at_version(3)).refused(Refusal::VersionMismatch { current: 2 });
    world.when(delete("k").at_version(1)).refused(Refusal::VersionMismatch { current: 2 });
    world.when(remove("other", "l", "2").at_version(1)).refused(Refusal::VersionMismatch { current: 0 });
    world.when(delete("other").at_version(1)).refused(Refusal::VersionMismatch { current: 0 });
    world.when(delete("other").at_version(0)).changes_nothing(FALSE);
    world.when(delete("k").at_version(2)).answers(TRUE);
}

#[test]
fn a_stale_version_is_refused_before_the_value_at_the_path() {
    let mut world = ScenarioWorld::open();
    world.given(sync("k", r#"{"a":1}"#));
    world.when(add("k", "a", "1").at_version(9)).refused(Refusal::VersionMismatch { current: 1 });
}

#[test]
fn the_expiry_follows_the_given_ttl_the_last_one_or_two_years() {
    let mut world = ScenarioWorld::open();
    world.given(add("k", "l", "1"));
    assert_eq!(record(&world).expires_at, world.clock.plus_seconds(63_072_000));
    world.after_seconds(1);
    world.given(add("k", "l", "2").ttl(60));
    assert_eq!(record(&world).expires_at, world.clock.plus_seconds(60));
    world.after_seconds(1);
    world.given(add("k", "l", "2"));
    assert_eq!(record(&world).expires_at, world.clock.plus_seconds(60));
    world.after_seconds(1);
    world.given(sync("k", "{}").ttl(5));
    world.after_seconds(1);
    world.given(remove("k", "l", "2"));
    assert_eq!(record(&world).expires_at, world.clock.plus_seconds(5));
}

#[test]
fn an_expired_record_is_missing_at_once_for_every_writer() {
    let mut world = ScenarioWorld::open();
    world.given(add("k", "l", "1").ttl(10));
    let first = record(&world);
    world.clock.0 = first.expires_at.0 - 1;
    world.when(add("k", "l", "1").at_version(0)).refused(Refusal::VersionMismatch { current: 1 });
    world.clock = first.expires_at;
    world.when(delete("k")).changes_nothing(FALSE);
    world.when(remove("k", "l", "1")).changes_nothing(FALSE);
    world.when(add("k", "m", "1").at_version(0)).answers(TRUE);
    let second = record(&world);
    assert_eq!((value(&world).as_str(), second.version), (r#"{"m":[1]}"#, 1));
    assert_ne!(second.id, first.id);
    assert_eq!(second.ttl_seconds, None, "the ttl was the other record's");
}

#[test]
fn a_clock_that_steps_back_brings_no_record_back() {
    let mut world = ScenarioWorld::open();
    world.given(sync("k", "{}").ttl(10));
    world.after_seconds(11);
    world.given(sync("other", "{}"));
    world.clock.0 -= 10_000;
    world.when(add("k", "l", "1").at_version(1)).refused(Refusal::VersionMismatch { current: 0 });
}

#[test]
fn a_record_has_one_timer_that_moves_on_with_it() {
    let mut world = ScenarioWorld::open();
    world.given(add("k", "l", "1").ttl(100));
    for _ in 0..5 {
        world.after_seconds(30);
        world.given(add("k", "l", "1"));
        assert_eq!(world.timers().len(), 1);
    }
    let timers = world.timers();
    world.when(fire(timers)).answers(TRUE);
    assert_eq!(world.timers().len(), 1);
    assert_eq!((world.timers()[0].due, record(&world).timer_due), (record(&world).expires_at, world.timers()[0].due));
    world.given(add("k", "l", "2").ttl(1));
    assert_eq!(world.timers()[0].due, record(&world).expires_at, "an earlier expiry moves it at once");
}

#[test]
fn a_timer_at_the_expiry_ends_the_record_and_its_sets_are_swept() {
    let mut world = ScenarioWorld::open();
    world.given(add("k", "l", "1").ttl(10));
    let record = record(&world);
    world.after_seconds(10);
    let timers = world.timers();
    world.when(fire(timers)).answers(TRUE);
    assert_eq!(world.find::<Metadata>(key("k")), None);
    assert_eq!(world.find::<MetadataDocuments>(record.id), None);
    assert_eq!(world.find::<MetadataByCreation>(record.id), None);
    assert_eq!(world.timers(), []);
    let command = garbage(&world, &record);
    assert_eq!(command.items.len(), 1);
    world.when(sweep(command)).answers(TRUE);
    assert_eq!(world.find::<MetadataGarbage>(record.id), None);
    assert_eq!(world.all::<MetadataItems>().len(), 0);
}

#[test]
fn a_record_without_sets_leaves_nothing_to_be_swept() {
    let mut world = ScenarioWorld::open();
    world.given(sync("k", r#"{"a":[1,2]}"#));
    let record = record(&world);
    world.when(delete("k")).answers(TRUE);
    assert_eq!(world.find::<MetadataGarbage>(record.id), None);
    world.when(delete("k")).changes_nothing(FALSE);
}

#[test]
fn syncing_replaces_the_value_and_the_old_sets_are_swept() {
    let mut world = ScenarioWorld::open();
    world.given(add("k", "l", "1"));
    let first = record(&world);
    world.after_seconds(3);
    world.when(sync("k", r#"{"l":[5]}"#)).answers(Answer::Metadata {
        version: 2,
        created_at: first.created_at,
        updated_at: world_clock(3),
        expires_at: world_clock(3).plus_seconds(TTL_DEFAULT_SECONDS),
    });
    world.when(add("k", "l", "1")).answers(TRUE);
    assert_eq!((value(&world).as_str(), record(&world).id), (r#"{"l":[5,1]}"#, first.id));
    let command = garbage(&world, &record(&world));
    assert_eq!(command.items.len(), 1, "the item of the replaced set only");
    world.given(sweep(command));
    assert_eq!(value(&world), r#"{"l":[5,1]}"#);
}

fn world_clock(after_seconds: u64) -> Millis {
    START.plus_seconds(after_seconds)
}

#[test]
fn rows_of_a_set_that_lives_are_never_swept() {
    let mut world = ScenarioWorld::open();
    world.given(add("k", "l", "1"));
    world.given(sync("k", r#"{"l":[5]}"#));
    world.given(add("k", "l", "1"));
    let record = record(&world);
    let mut command = garbage(&world, &record);
    command.sets.push(SetNumber(1));
    world.when(sweep(command)).changes_nothing(FALSE);
    let stale = SweepMetadata { finished_below: Some(SetNumber(0)), ..garbage(&world, &record) };
    world.given(sweep(stale));
    assert_eq!(world.find::<MetadataGarbage>(record.id), Some(SetNumber(1)), "not finished below another number");
    let unknown = SweepMetadata { id: raw_id(9, MetadataId::from_raw), ..garbage(&world, &record) };
    world.when(sweep(unknown)).changes_nothing(FALSE);
}

#[test]
fn a_partly_swept_set_is_not_visible_again_under_the_same_key() {
    let mut world = ScenarioWorld::open();
    world.given(add("k", "l", "1"));
    world.given(add("k", "l", "2"));
    let first = record(&world);
    world.given(delete("k"));
    let mut command = garbage(&world, &first);
    command.items.truncate(1);
    command.sets.clear();
    command.finished_below = None;
    world.given(sweep(command));
    world.when(add("k", "l", "2")).answers(TRUE);
    assert_eq!((value(&world).as_str(), record(&world).version), (r#"{"l":[2]}"#, 1));
}

#[test]
fn too_many_sets_and_too_large_a_document_are_refused() {
    let mut world = ScenarioWorld::open();
    let long = "x".repeat(1_000_000);
    for name in ["a", "b", "c", "d"] {
        world.given(add("k", &format!("{name}{long}"), "1"));
    }
    world.when(add("k", &format!("e{long}"), "1")).refused(Refusal::MetadataDocumentExceeded);
    let mut record = record(&world);
    record.sets_from = SetNumber(0);
    record.sets_below = SetNumber(SETS_MAX);
    world.set_row::<Metadata>(key("k"), record);
    world.refused_without_checks(add("k", "z", "1"), Refusal::MetadataSetsExceeded);
}

#[test]
fn a_record_holds_a_million_items_and_64_mebibytes() {
    let mut world = ScenarioWorld::open();
    world.given(add("k", "l", "1"));
    let full = MetadataRecord { item_count: 1_000_000, ..record(&world) };
    world.set_row::<Metadata>(key("k"), full);
    world.refused_without_checks(add("k", "l", "2"), Refusal::MetadataItemsExceeded);
    world.accepted_without_checks(add("k", "l", "1"));
    let full = MetadataRecord { bytesize: 64 * 1024 * 1024 - 1, item_count: 1, ..full };
    world.set_row::<Metadata>(key("k"), full);
    world.refused_without_checks(add("k", "l", "2"), Refusal::MetadataBytesExceeded);
    world.accepted_without_checks(remove("k", "l", "1"));
}

/// The numbers of rows that are read and changed when an item is added to a set of `items`.
fn cost_of_adding_to(items: u64) -> (usize, usize) {
    let mut world = ScenarioWorld::open();
    let all: Vec<String> = (0..items).map(|number| number.to_string()).collect();
    world.given(sync("k", &format!("{{\"l\":[{}]}}", all.join(","))));
    world.given(add("k", "l", "\"made a set\""));
    let before: BTreeMap<AnyKey, AnyRow> = world.rows.iter().map(|(key, row)| (key.clone(), row.clone())).collect();
    world.given(add("k", "l", "\"one more\""));
    let changed = world.rows.iter().filter(|(key, row)| before.get(key) != Some(row)).count();
    (world.reads, changed)
}

#[test]
fn adding_to_a_large_set_costs_as_few_rows_as_to_a_small_one() {
    let small = cost_of_adding_to(10);
    assert_eq!(small, cost_of_adding_to(10_000));
    assert!(small.0 < 20 && small.1 < 10, "{small:?}");
}

#[test]
fn a_repeated_call_is_answered_as_before() {
    let mut world = ScenarioWorld::open();
    world.given(add("k", "l", "1").named("call"));
    world.given(remove("k", "l", "1"));
    world.when(add("k", "l", "1").named("call")).replays(TRUE);
    let answer = world.given(sync("k", "[1]").named("sync"));
    world.given(sync("k", "[2]"));
    world.when(sync("k", "[1]").named("sync")).replays(answer);
    assert_eq!(value(&world), "[2]");
}

#[test]
fn metadata_of_a_suspended_merchant_cannot_change_but_expires() {
    let mut world = ScenarioWorld::open();
    world.given(add("k", "l", "1").ttl(1));
    world.given(suspend());
    world.when(add("k", "l", "2")).refused(Refusal::MerchantSuspended);
    world.after_seconds(1);
    assert_eq!(world.fire_all(), TRUE);
}
