//! Removal of expired objects, and their retention until then.

use crate::words::*;
use crate::world::{START, ScenarioWorld, raw_id};
use till_domain::card::{SINGLE_TOKEN_LIFETIME_SECONDS, TokenUsage};
use till_domain::command::{Expired, IdempotencyScope};
use till_domain::event::{ANSWER_KEPT_SECONDS, Answer, Event, VaultWrite};
use till_domain::ids::{MerchantId, SessionId, TokenId};
use till_domain::records::{Answers, AnyKey, CreatedMerchant, CreatedMerchants, RowsMut, Sessions, Tokens};
use till_domain::refusal::Refusal;
use till_domain::session::SESSION_LIFETIME_SECONDS;
use till_domain::time::Millis;

const NOTHING: Answer = Answer::Changed(false);
const SOMETHING: Answer = Answer::Changed(true);

/// The instant from which a session that was made at the start is no longer kept.
fn forgotten() -> Millis {
    START.plus_seconds(SESSION_LIFETIME_SECONDS + 25 * 3_600)
}

fn before(instant: Millis) -> Millis {
    Millis(instant.0 - 1)
}

fn scopes(world: &ScenarioWorld) -> Vec<IdempotencyScope> {
    let keys = world.rows.iter().map(|(key, _)| key);
    keys.filter_map(|key| if let AnyKey::Answers(scope) = key { Some(scope.clone()) } else { None }).collect()
}

#[test]
fn an_unused_session_is_removed_with_its_key_after_25_hours() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(1, TokenUsage::Multiple));
    let session = world.session(select_token(token).customer(customer_fields().email("somchai@example.com")));
    world.clock = before(forgotten());
    world.when(sweep([Expired::Session(session)])).changes_nothing(NOTHING);
    world.clock = forgotten();
    let (answer, vault) = world.when(sweep([Expired::Session(session)])).writes_to_the_vault();
    assert_eq!((answer, vault), (SOMETHING, vec![VaultWrite::ForgetSessionKey(session)]));
    assert_eq!(world.find::<Sessions>(session), None);
    world.when(initiate(session)).refused(Refusal::SessionNotActive { payment_id: None });
}

#[test]
fn a_session_without_customer_fields_has_no_key_to_forget() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(1, TokenUsage::Multiple));
    let session = world.session(select_token(token).customer(customer_fields().known_as("buyer-7")));
    world.clock = forgotten();
    let (_, vault) = world.when(sweep([Expired::Session(session)])).writes_to_the_vault();
    assert_eq!(vault, []);
}

#[test]
fn a_used_session_names_its_payment_for_25_hours() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    world.clock = before(START.plus_seconds(SESSION_LIFETIME_SECONDS));
    let payment_id = world.captured(initiate(session));
    world.after_seconds(25 * 3_600);
    world.when(sweep([Expired::Session(session)])).changes_nothing(NOTHING);
    world.when(initiate(session)).refused(Refusal::SessionNotActive { payment_id: Some(payment_id) });
    world.clock = forgotten();
    world.when(sweep([Expired::Session(session)])).answers(SOMETHING);
    world.when(initiate(session)).refused(Refusal::SessionNotActive { payment_id: None });
}

#[test]
fn a_session_stays_as_long_as_a_call_for_its_payment_is_open() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let payment_id = world.payment(initiate(session));
    world.clock = forgotten().plus_seconds(365 * 86_400);
    world.when(sweep([Expired::Session(session), Expired::TokenOf(session)])).changes_nothing(NOTHING);
    world.given(result(payment_id, declined()));
    world.when(sweep([Expired::Session(session)])).answers(SOMETHING);
    assert_eq!((world.find::<Sessions>(session), world.all::<Tokens>()), (None, vec![]));
}

#[test]
fn a_session_stays_while_a_lapsed_authorization_is_voided() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let payment_id = world.authorized(initiate(session));
    world.after_seconds(8 * 86_400);
    world.fire_all();
    world.when(sweep([Expired::Session(session)])).changes_nothing(NOTHING);
    world.given(void_done(payment_id));
    world.when(sweep([Expired::Session(session)])).answers(SOMETHING);
}

#[test]
fn an_ended_unused_single_token_is_removed_with_its_number() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(1, TokenUsage::Single));
    world.clock = before(START.plus_seconds(SINGLE_TOKEN_LIFETIME_SECONDS));
    world.when(sweep([Expired::Token(token)])).changes_nothing(NOTHING);
    world.after_seconds(1);
    let (answer, vault) = world.when(sweep([Expired::Token(token)])).writes_to_the_vault();
    assert_eq!(
        (answer, vault),
        (SOMETHING, vec![VaultWrite::ForgetTokenNumber(token), VaultWrite::ForgetTokenKey(token)])
    );
    world.when(select_token(token)).refused(Refusal::TokenNotFound);
}

#[test]
fn a_multiple_token_stays() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(1, TokenUsage::Multiple));
    let session = world.session(select_token(token));
    world.clock = forgotten();
    world.when(sweep([Expired::Token(token), Expired::TokenOf(session)])).changes_nothing(NOTHING);
    world.when(sweep([Expired::Session(session)])).answers(SOMETHING);
    world.when(select_token(token)).takes_effect();
}

#[test]
fn a_used_token_stays_as_long_as_its_session_can_be_paid() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(1, TokenUsage::Single));
    world.after_seconds(SINGLE_TOKEN_LIFETIME_SECONDS - 1);
    let session = world.session(select_token(token));
    world.clock = before(world.clock.plus_seconds(SESSION_LIFETIME_SECONDS));
    world.when(sweep([Expired::Token(token), Expired::TokenOf(session)])).changes_nothing(NOTHING);
    world.when(select_token(token)).refused(Refusal::TokenAlreadyUsed);
    world.after_seconds(1);
    world.when(sweep([Expired::Token(token)])).changes_nothing(NOTHING);
    world.when(sweep([Expired::TokenOf(session)])).answers(SOMETHING);
    assert_eq!(world.find::<Tokens>(token), None);
    assert!(world.find::<Sessions>(session).is_some(), "the session is kept for its client");
}

#[test]
fn a_used_tokens_number_stays_until_its_payment_is_answered() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let payment_id = world.payment(initiate(session));
    world.after_seconds(SESSION_LIFETIME_SECONDS);
    world.when(sweep([Expired::TokenOf(session)])).changes_nothing(NOTHING);
    world.given(result(payment_id, approved_and_captured()));
    world.when(sweep([Expired::TokenOf(session)])).answers(SOMETHING);
    assert_eq!(world.all::<Tokens>(), vec![]);
}

#[test]
fn an_ended_answer_is_removed_and_its_name_can_be_used_again() {
    let mut world = ScenarioWorld::open();
    world.given(topup(100).named("call-1"));
    let expired = || scopes_of_one();
    world.clock = before(START.plus_seconds(ANSWER_KEPT_SECONDS));
    world.when(sweep(expired())).changes_nothing(NOTHING);
    world.after_seconds(1);
    world.when(sweep(expired())).answers(SOMETHING);
    assert_eq!(world.all::<Answers>(), vec![]);
    world.when(topup(200).named("call-1")).takes_effect();
}

/// The answer of a top-up named `call-1`.
fn scopes_of_one() -> Vec<Expired> {
    let mut world = ScenarioWorld::open();
    world.given(topup(100).named("call-1"));
    scopes(&world).into_iter().map(Expired::Answer).collect()
}

#[test]
fn the_text_of_a_key_is_removed_with_its_answer() {
    let mut world = ScenarioWorld::open();
    let ask = generate_key(world.merchant_id, 7, None).named("call-1");
    let key_id = world.key(ask);
    world.after_seconds(ANSWER_KEPT_SECONDS);
    let expired = scopes(&world).into_iter().map(Expired::Answer);
    let (_, vault) = world.when(sweep(expired.collect::<Vec<_>>())).writes_to_the_vault();
    assert_eq!(vault, vec![VaultWrite::ForgetKeyText(key_id)]);
}

#[test]
fn an_answer_that_replaces_an_ended_one_removes_its_text() {
    let mut world = ScenarioWorld::open();
    let first = world.key(generate_key(world.merchant_id, 7, None).named("call-1"));
    world.after_seconds(ANSWER_KEPT_SECONDS);
    let ask = generate_key(world.merchant_id, 8, None).named("call-1");
    let (answer, vault) = world.when(ask).writes_to_the_vault();
    let Answer::Key { key_id, created_at: _ } = answer else { panic!("{answer:?} is no key") };
    assert_eq!(vault, vec![VaultWrite::KeepKeyText(key_id), VaultWrite::ForgetKeyText(first)]);
}

/// A merchant that a call with the key `call-1` created, and that call's answer.
fn created_by_name() -> (ScenarioWorld, Expired) {
    let mut world = ScenarioWorld::empty();
    world.given(create_merchant(world.merchant_id).named("call-1"));
    let scope = scopes(&world).remove(0);
    world.after_seconds(ANSWER_KEPT_SECONDS);
    (world, Expired::Answer(scope))
}

#[test]
fn the_name_of_a_merchants_creation_is_removed_with_its_answer() {
    let (mut world, expired) = created_by_name();
    assert_eq!(world.all::<CreatedMerchants>().len(), 1);
    world.when(sweep([expired])).answers(SOMETHING);
    assert_eq!((world.all::<Answers>(), world.all::<CreatedMerchants>()), (vec![], vec![]));
}

#[test]
fn the_name_of_a_call_that_created_another_merchant_since_stays() {
    let (mut world, expired) = created_by_name();
    let Expired::Answer(scope) = expired.clone() else { panic!("it is an answer") };
    let merchant_id = raw_id(8, MerchantId::from_raw);
    let created = CreatedMerchant { merchant_id, fingerprint: [0; 32], expires_at: world.clock.plus_seconds(1) };
    world.rows.put::<CreatedMerchants>(scope.key, created);
    // Without the checks: the log of this merchant alone does not contain the other merchant's row.
    world.step(&sweep([expired])).expect("nothing is refused");
    assert_eq!((world.all::<Answers>(), world.all::<CreatedMerchants>()), (vec![], vec![created]));
}

#[test]
fn an_object_named_twice_is_swept_once_in_one_event_per_kind() {
    let mut world = ScenarioWorld::open();
    let (session, token) = (world.card_session(), world.token(2, TokenUsage::Single));
    world.given(topup(100).named("call-1"));
    world.clock = forgotten();
    let mut twice = vec![Expired::Token(token), Expired::Session(session), Expired::TokenOf(session)];
    twice.extend(scopes_of_one());
    world.when(sweep([twice.clone(), twice].concat())).answers(SOMETHING);
    let events = &world.log.last().expect("it took effect").events;
    assert!(
        matches!(events.as_slice(),
            [Event::SessionsSwept { session_ids }, Event::TokensSwept { token_ids }, Event::AnswersSwept { scopes, .. }]
            if session_ids.len() == 1 && token_ids.len() == 2 && scopes.len() == 1),
        "{events:?}"
    );
}

#[test]
fn sweeping_missing_records_changes_nothing() {
    let mut world = ScenarioWorld::open();
    let session = raw_id(9, SessionId::from_raw);
    let unknown = [Expired::Session(session), Expired::TokenOf(session), Expired::Token(raw_id(9, TokenId::from_raw))];
    world.when(sweep(unknown)).changes_nothing(NOTHING);
    world.when(sweep(scopes_of_one())).changes_nothing(NOTHING);
}

#[test]
fn a_suspended_merchants_old_sessions_are_swept_too() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    world.given(suspend());
    world.clock = forgotten();
    world.when(sweep([Expired::Session(session)])).answers(SOMETHING);
}
