//! Installations are added, changed and removed.

use crate::words::*;
use crate::world::{ScenarioWorld, raw_id};
use till_domain::card::TokenUsage;
use till_domain::event::Answer;
use till_domain::ids::InstallationId;
use till_domain::merchant::INSTALLATIONS_MAX;
use till_domain::records::Installations;
use till_domain::refusal::Refusal;

#[test]
fn the_number_of_a_merchants_installations_is_limited() {
    let mut world = ScenarioWorld::open();
    for _ in 1..INSTALLATIONS_MAX {
        world.step(&add_installation()).expect("there is room for an installation");
    }
    world.when(add_installation()).refused(Refusal::TooMany { kind: "installations", limit: INSTALLATIONS_MAX });
}

#[test]
fn an_update_changes_only_the_fields_that_are_given() {
    let (mut world, id) = ScenarioWorld::open_with(|world| world.first_installation());
    let before = world.look_up::<Installations>(id);
    world.when(update_installation(id, Some("new"), None)).answers(Answer::Changed(true));
    world.when(update_installation(id, None, Some("https://new.example"))).answers(Answer::Changed(true));
    let after = world.look_up::<Installations>(id);
    assert_eq!((after.name.as_str(), after.identifier.as_str()), ("new", "https://new.example"));
    assert_eq!((after.platform, after.created_at), (before.platform, before.created_at));
}

#[test]
fn an_update_that_says_nothing_new_changes_nothing() {
    let (mut world, id) = ScenarioWorld::open_with(|world| world.first_installation());
    world.when(update_installation(id, None, None)).changes_nothing(Answer::Changed(false));
    let same = update_installation(id, Some("shop"), Some("https://shop.example"));
    world.when(same).changes_nothing(Answer::Changed(false));
}

#[test]
fn calls_for_a_removed_or_unknown_installation_are_refused() {
    let (mut world, id) = ScenarioWorld::open_with(|world| world.first_installation());
    world.when(remove_installation(id)).answers(Answer::Changed(true));
    assert_eq!(world.find::<Installations>(id), None);
    world.when(tokenize(1, TokenUsage::Single)).refused(Refusal::InstallationNotFound);
    world.when(update_installation(id, Some("new"), None)).refused(Refusal::InstallationNotFound);
    world.when(remove_installation(id)).refused(Refusal::InstallationNotFound);
    let unknown = raw_id(9, InstallationId::from_raw);
    world.when(remove_installation(unknown)).refused(Refusal::InstallationNotFound);
}

#[test]
fn a_session_of_a_removed_installation_can_still_be_paid() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    world.given(remove_installation(world.first_installation()));
    world.when(initiate(session)).takes_effect();
}

#[test]
fn a_removed_installation_makes_room_for_another() {
    let mut world = ScenarioWorld::open();
    for _ in 1..INSTALLATIONS_MAX {
        world.step(&add_installation()).expect("there is room for an installation");
    }
    world.given(remove_installation(world.first_installation()));
    world.when(add_installation()).takes_effect();
}
