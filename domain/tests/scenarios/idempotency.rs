//! Calls with an Idempotency-Key: contract, section 8.

use crate::words::*;
use crate::world::ScenarioWorld;
use till_domain::card::TokenUsage;
use till_domain::event::{ANSWER_KEPT_SECONDS, Answer};
use till_domain::records::{Answers, Payments, Topups};
use till_domain::refusal::Refusal;

#[test]
fn the_same_call_again_is_answered_as_before_and_done_once() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let answer = world.given(initiate(session).named("call-1"));
    for _ in 0..2 {
        world.after_seconds(60);
        world.when(initiate(session).named("call-1")).replays(answer);
    }
    assert_eq!(world.all::<Payments>().len(), 1);
}

#[test]
fn the_same_name_with_another_body_is_refused() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    world.given(initiate(session).named("call-1"));
    let other = world.card_session();
    world.when(initiate(other).named("call-1")).refused(Refusal::IdempotencyKeyReused);
}

#[test]
fn a_call_under_another_name_is_another_call() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let payment_id = world.payment(initiate(session).named("call-1"));
    let refusal = Refusal::SessionNotActive { payment_id: Some(payment_id) };
    world.when(initiate(session).named("call-2")).refused(refusal);
}

#[test]
fn a_name_counts_within_one_endpoint() {
    let mut world = ScenarioWorld::open();
    world.given(topup(100).named("call-1"));
    world.when(open_balance().named("call-1")).answers(Answer::Changed(false));
}

#[test]
fn a_clients_name_counts_within_its_installation_only() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(1, TokenUsage::Multiple));
    let answer = world.given(Ask::from(select_token(token)).named("call-1"));
    world.when(Ask::from(select_token(token)).named("call-1")).replays(answer);
    let Answer::Installation(other) = world.given(add_installation()) else { panic!("an installation was asked for") };
    let elsewhere = Ask::from(select_token(token)).named("call-1").by(TestCaller::ClientOf(other));
    assert_ne!(world.when(elsewhere).takes_effect(), answer);
}

#[test]
fn a_kept_answer_lasts_a_day_and_an_hour_to_the_millisecond() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let payment_id = world.payment(initiate(session).named("call-1"));
    let kept_at = world.clock;
    assert_eq!(ANSWER_KEPT_SECONDS, 25 * 3_600);
    world.clock.0 = kept_at.0 + ANSWER_KEPT_SECONDS * 1_000 - 1;
    world.when(initiate(session).named("call-1")).replays(Answer::Payment(payment_id));
    world.clock.0 = kept_at.0 + ANSWER_KEPT_SECONDS * 1_000;
    let refusal = Refusal::SessionNotActive { payment_id: Some(payment_id) };
    world.when(initiate(session).named("call-1")).refused(refusal);
}

#[test]
fn a_name_whose_answer_has_expired_can_name_another_call() {
    let mut world = ScenarioWorld::open();
    world.given(topup(100).named("call-1"));
    world.when(topup(200).named("call-1")).refused(Refusal::IdempotencyKeyReused);
    world.after_seconds(ANSWER_KEPT_SECONDS);
    let answer = world.when(topup(200).named("call-1")).takes_effect();
    world.when(topup(200).named("call-1")).replays(answer);
    world.when(topup(100).named("call-1")).refused(Refusal::IdempotencyKeyReused);
}

#[test]
fn a_refusal_is_not_kept() {
    let mut world = ScenarioWorld::open();
    let session = world.session(select(till_domain::command::Selection::UnnamedCard));
    world.when(initiate(session).named("call-1")).refused(Refusal::CardIdMissing);
    assert_eq!(world.all::<Answers>().len(), 0);
    let card = world.saved_card(1, "owner@example.com");
    world.when(initiate(session).card(card).named("call-1")).takes_effect();
}

#[test]
fn a_call_that_changes_nothing_keeps_its_answer_too() {
    let mut world = ScenarioWorld::open();
    world.when(resume().named("call-1")).answers(Answer::Changed(false));
    world.given(suspend());
    world.when(resume().named("call-1")).replays(Answer::Changed(false));
    assert!(world.state.profile.as_ref().is_some_and(|profile| profile.suspended));
}

#[test]
fn a_revoked_key_gets_no_kept_answer() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    world.given(initiate(session).named("call-1"));
    world.given(revoke_key(world.first_key()));
    world.when(initiate(session).named("call-1")).refused(Refusal::CallerNotLive);
}

#[test]
fn another_key_of_the_merchant_gets_the_kept_answer() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let answer = world.given(initiate(session).named("call-1"));
    let other = world.key(generate_key(world.merchant_id, 2, None));
    world.given(revoke_key(world.first_key()));
    world.when(initiate(session).named("call-1").by(TestCaller::MerchantWith(other))).replays(answer);
}

#[test]
fn a_suspended_merchant_gets_kept_answers_but_does_nothing_new() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let answer = world.given(initiate(session).named("call-1"));
    let fresh = world.card_session();
    world.given(suspend());
    world.when(initiate(session).named("call-1")).replays(answer);
    world.when(initiate(fresh).named("call-2")).refused(Refusal::MerchantSuspended);
    world.given(resume());
    world.when(initiate(fresh).named("call-2")).takes_effect();
}

#[test]
fn a_named_topup_without_external_id_is_added_once() {
    let (mut world, answer) = ScenarioWorld::open_with(|world| world.given(topup(100).named("call-1")));
    world.when(topup(100).named("call-1")).replays(answer);
    assert_eq!(world.all::<Topups>().len(), 1);
}

#[test]
fn a_repeated_topup_is_replayed_before_its_external_id_is_taken() {
    let mut world = ScenarioWorld::open();
    let answer = world.given(topup_known_as(100, "bank-1").named("call-1"));
    world.when(topup_known_as(100, "bank-1").named("call-1")).replays(answer);
}
