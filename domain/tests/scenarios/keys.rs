//! The calls of a merchant's program about its keys.

use crate::words::*;
use crate::world::{ScenarioWorld, raw_id};
use till_domain::command::{Command, GenerateKey};
use till_domain::event::Answer;
use till_domain::ids::KeyId;
use till_domain::records::ApiKeys;
use till_domain::refusal::Refusal;

#[test]
fn a_merchants_program_makes_keys_as_the_operator_does() {
    let mut world = ScenarioWorld::open();
    let key_id = world.key(generate_key(world.merchant_id, 2, None).by(TestCaller::Merchant));
    let session = world.card_session();
    world.when(Ask::from(initiate(session)).by(TestCaller::MerchantWith(key_id))).takes_effect();
}

#[test]
fn a_key_must_expire_in_the_future_and_its_answer_is_repeated() {
    let mut world = ScenarioWorld::open();
    let merchant_id = world.merchant_id;
    let now = world.clock;
    world.when(generate_key(merchant_id, 2, Some(now))).refused(Refusal::KeyEndPassed);
    let ask = || generate_key(merchant_id, 2, Some(now.plus_seconds(1))).named("call-1");
    let made = world.given(ask());
    world.after_seconds(1);
    world.when(ask()).replays(made);
}

#[test]
fn a_key_keeps_the_version_that_it_was_made_with() {
    let mut world = ScenarioWorld::open();
    let named = |version: &str, digest| {
        let ask = generate_key(ScenarioWorld::open().merchant_id, digest, None);
        let Command::GenerateKey(command) = ask.command else { panic!("a key is made") };
        let command = GenerateKey { api_version: version.to_owned(), ..command };
        Ask::of(TestCaller::Operator, Command::GenerateKey(command))
    };
    let (older, newer) = (world.key(named("2025-04-01", 2)), world.key(named("2031-01-01", 3)));
    world.given(rename_key(older, "bar"));
    assert_eq!(world.look_up::<ApiKeys>(older).api_version, "2025-04-01");
    assert_eq!(world.look_up::<ApiKeys>(newer).api_version, "2031-01-01");
}

#[test]
fn a_key_has_the_name_that_it_was_given_last() {
    let (mut world, key_id) = ScenarioWorld::open_with(|world| world.first_key());
    world.when(rename_key(key_id, "bar")).answers(Answer::Changed(true));
    world.when(rename_key(key_id, "bar")).changes_nothing(Answer::Changed(false));
    assert_eq!(world.look_up::<ApiKeys>(key_id).name.as_str(), "bar");
}

#[test]
fn a_revoked_key_can_be_renamed_and_stays_revoked() {
    let mut world = ScenarioWorld::open();
    let key_id = world.key(generate_key(world.merchant_id, 2, None));
    world.given(revoke_key(key_id));
    world.when(rename_key(key_id, "old")).answers(Answer::Changed(true));
    assert!(!world.state.keys[&key_id].is_live(world.clock));
}

#[test]
fn an_unknown_key_cannot_be_renamed() {
    ScenarioWorld::open().when(rename_key(raw_id(9, KeyId::from_raw), "x")).refused(Refusal::KeyNotFound);
}

#[test]
fn a_key_may_revoke_itself_and_nothing_else_afterwards() {
    let mut world = ScenarioWorld::open();
    let key_id = world.key(generate_key(world.merchant_id, 2, None));
    let itself = TestCaller::MerchantWith(key_id);
    world.when(revoke_key(key_id).by(itself)).answers(Answer::Changed(true));
    world.when(revoke_key(key_id).by(itself)).refused(Refusal::CallerNotLive);
    world.when(generate_key(world.merchant_id, 3, None).by(itself)).refused(Refusal::CallerNotLive);
}

#[test]
fn a_suspended_merchant_can_only_revoke_keys() {
    let mut world = ScenarioWorld::open();
    let (merchant_id, leaked) = (world.merchant_id, world.key(generate_key(world.merchant_id, 2, None)));
    world.given(suspend());
    world.when(rename_key(leaked, "x")).refused(Refusal::MerchantSuspended);
    world.when(generate_key(merchant_id, 3, None).by(TestCaller::Merchant)).refused(Refusal::MerchantSuspended);
    world.when(revoke_key(leaked).by(TestCaller::Merchant)).answers(Answer::Changed(true));
    world.when(rename_key(leaked, "x").by(TestCaller::MerchantWith(leaked))).refused(Refusal::CallerNotLive);
}
