//! The lifetime and the single use of a session.

use crate::words::*;
use crate::world::{START, ScenarioWorld};
use till_domain::card::TokenUsage;
use till_domain::refusal::Refusal;
use till_domain::time::Millis;

/// 30 minutes.
const LIFETIME_MILLIS: u64 = 30 * 60 * 1_000;

#[test]
fn a_session_can_be_used_for_30_minutes_to_the_millisecond() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    world.clock = Millis(START.0 + LIFETIME_MILLIS - 1);
    world.when(initiate(session)).takes_effect();
}

#[test]
fn a_session_expires_at_exactly_30_minutes() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    world.clock = Millis(START.0 + LIFETIME_MILLIS);
    world.when(initiate(session)).refused(Refusal::SessionNotActive { payment_id: None });
}

#[test]
fn a_session_is_used_once() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let payment_id = world.payment(initiate(session));
    for _ in 0..2 {
        world.when(initiate(session)).refused(Refusal::SessionNotActive { payment_id: Some(payment_id) });
    }
}

#[test]
fn a_session_stays_used_when_its_payment_fails() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let payment_id = world.payment(initiate(session));
    world.given(result(payment_id, declined()));
    world.when(initiate(session)).refused(Refusal::SessionNotActive { payment_id: Some(payment_id) });
}

#[test]
fn sessions_of_one_multiple_token_are_used_one_by_one() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(1, TokenUsage::Multiple));
    let (first, second) = (world.session(select_token(token)), world.session(select_token(token)));
    let payment_id = world.payment(initiate(first));
    world.when(initiate(first)).refused(Refusal::SessionNotActive { payment_id: Some(payment_id) });
    world.when(initiate(second)).takes_effect();
}

#[test]
fn an_expired_session_stays_expired_when_the_clock_steps_back() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    world.clock = Millis(START.0 + LIFETIME_MILLIS);
    world.card_session();
    world.clock = START;
    world.when(initiate(session)).refused(Refusal::SessionNotActive { payment_id: None });
}

#[test]
fn ids_and_times_grow_while_the_clock_is_behind_the_log() {
    let (mut world, first) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    world.clock = Millis(START.0 - 3_600_000);
    let second = world.card_session();
    assert!(second > first);
    assert_eq!(world.log.last().map(|mutation| mutation.at), Some(START));
}
