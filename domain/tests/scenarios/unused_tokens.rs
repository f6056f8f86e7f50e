//! Multi-use tokens that no payment has used expire, and an installation can have only a limited number of them.

use crate::words::*;
use crate::world::{START, ScenarioWorld};
use till_domain::card::{TokenQueue, TokenUsage, UNUSED_TOKEN_LIFETIME_SECONDS, UNUSED_TOKENS_MAX};
use till_domain::command::Expired;
use till_domain::event::{Answer, VaultWrite};
use till_domain::ids::TokenId;
use till_domain::records::{QueuedTokens, TokenQueues, Tokens};
use till_domain::refusal::Refusal;
use till_domain::session::SESSION_LIFETIME_SECONDS;
use till_domain::time::Millis;

fn end() -> Millis {
    START.plus_seconds(UNUSED_TOKEN_LIFETIME_SECONDS)
}

fn before(instant: Millis) -> Millis {
    Millis(instant.0 - 1)
}

fn multiple(world: &mut ScenarioWorld) -> TokenId {
    world.token(1, TokenUsage::Multiple)
}

fn queue(world: &ScenarioWorld) -> TokenQueue {
    world.look_up::<TokenQueues>(world.first_installation())
}

#[test]
fn an_unused_multiple_token_ends_after_exactly_30_days() {
    let (mut world, token) = ScenarioWorld::open_with(multiple);
    world.clock = before(end());
    world.when(select_token(token)).takes_effect();
    world.clock = end();
    world.when(select_token(token)).refused(Refusal::TokenNotFound);
}

#[test]
fn a_multiple_token_that_a_payment_used_has_no_end() {
    let (mut world, token) = ScenarioWorld::open_with(multiple);
    let session = world.session(select_token(token));
    world.when(initiate(session)).takes_effect();
    world.clock = end().plus_seconds(365 * 86_400);
    world.when(sweep([Expired::Token(token)])).changes_nothing(Answer::Changed(false));
    world.when(select_token(token)).takes_effect();
}

#[test]
fn a_selection_alone_keeps_no_multiple_token() {
    let (mut world, token) = ScenarioWorld::open_with(multiple);
    world.session(select_token(token));
    world.clock = end();
    world.when(select_token(token)).refused(Refusal::TokenNotFound);
}

#[test]
fn an_ended_multiple_token_and_its_number_go_after_its_sessions() {
    let (mut world, token) = ScenarioWorld::open_with(multiple);
    world.clock = before(end());
    let session = world.session(select_token(token));
    world.clock = before(end().plus_seconds(SESSION_LIFETIME_SECONDS));
    world.when(sweep([Expired::Token(token)])).changes_nothing(Answer::Changed(false));
    world.after_seconds(1);
    let (answer, vault) = world.when(sweep([Expired::Token(token)])).writes_to_the_vault();
    assert_eq!(
        (answer, vault),
        (Answer::Changed(true), vec![VaultWrite::ForgetTokenNumber(token), VaultWrite::ForgetTokenKey(token)])
    );
    world.when(initiate(session)).refused(Refusal::SessionNotActive { payment_id: None });
}

#[test]
fn a_payment_of_its_last_session_keeps_an_expired_token() {
    let (mut world, token) = ScenarioWorld::open_with(multiple);
    world.clock = before(end());
    let session = world.session(select_token(token));
    world.after_seconds(SESSION_LIFETIME_SECONDS - 1);
    world.when(initiate(session)).takes_effect();
    world.when(select_token(token)).takes_effect();
}

#[test]
fn the_front_of_the_queue_moves_past_tokens_that_a_payment_used() {
    let mut world = ScenarioWorld::open();
    for _ in 0..8 {
        let token = multiple(&mut world);
        let session = world.session(select_token(token));
        world.given(initiate(session));
    }
    assert_eq!(queue(&world), TokenQueue { first: 7, next: 8 });
}

/// Gives the first installation a queue of the maximum length, in which these tokens have the oldest positions.
fn fill(world: &mut ScenarioWorld, oldest: &[TokenId]) {
    let installation_id = world.first_installation();
    for (place, token) in (0..).zip(oldest) {
        world.set_row::<QueuedTokens>((installation_id, place), *token);
    }
    world.set_row::<TokenQueues>(installation_id, TokenQueue { first: 0, next: UNUSED_TOKENS_MAX });
}

#[test]
fn an_installations_oldest_unused_token_goes_above_the_limit() {
    let mut world = ScenarioWorld::open();
    let tokens = [multiple(&mut world), multiple(&mut world)];
    fill(&mut world, &tokens);
    world.accepted_without_checks(tokenize(3, TokenUsage::Single));
    assert!(world.find::<Tokens>(tokens[0]).is_some(), "single-use tokens do not count");
    world.accepted_without_checks(tokenize(3, TokenUsage::Multiple));
    assert_eq!((world.find::<Tokens>(tokens[0]), world.numbers.contains(&tokens[0])), (None, false));
    assert!(world.find::<Tokens>(tokens[1]).is_some(), "one new token removes only one old token");
    assert_eq!(queue(&world), TokenQueue { first: 1, next: UNUSED_TOKENS_MAX + 1 });
    world.refused_without_checks(select_token(tokens[0]).into(), Refusal::TokenNotFound);
}

#[test]
fn a_kept_token_is_passed_over_when_the_queue_is_full() {
    let mut world = ScenarioWorld::open();
    let tokens = [multiple(&mut world), multiple(&mut world)];
    let session = world.session(select_token(tokens[0]));
    world.given(initiate(session));
    fill(&mut world, &tokens);
    world.accepted_without_checks(tokenize(3, TokenUsage::Multiple));
    assert!(tokens.iter().all(|token| world.find::<Tokens>(*token).is_some()));
    assert_eq!(queue(&world), TokenQueue { first: 1, next: UNUSED_TOKENS_MAX + 1 });
}
