//! Multi-use tokens that only one customer used go with that customer, and with its saved card.

use crate::words::*;
use crate::world::ScenarioWorld;
use till_domain::card::{SaveCard, TOKENS_PASSED_MAX, TokenUsage};
use till_domain::event::{Answer, VaultWrite};
use till_domain::ids::{CustomerId, TokenId};
use till_domain::records::{CustomerTokens, TokenUses, Tokens};
use till_domain::refusal::Refusal;

const CHANGED: Answer = Answer::Changed(true);

fn contact(world: &mut ScenarioWorld, external_id: &str) -> CustomerId {
    match world.given(add_contact(&customer_fields().known_as(external_id))) {
        Answer::Contact(id) => id,
        other => panic!("a customer was asked for, not {other:?}"),
    }
}

fn pay(world: &mut ScenarioWorld, token: TokenId, customer: Option<&str>) {
    let session = world.session(select_token(token));
    let fields = customer.map_or_else(customer_fields, |id| customer_fields().known_as(id));
    world.payment(initiate(session).customer(fields).save(SaveCard::Add));
}

fn is_forgotten(vault: &[VaultWrite], token: TokenId) -> bool {
    vault.contains(&VaultWrite::ForgetTokenNumber(token)) && vault.contains(&VaultWrite::ForgetTokenKey(token))
}

#[test]
fn a_token_that_only_a_removed_customer_used_goes_with_it() {
    let mut world = ScenarioWorld::open();
    let (anna, bert) = (contact(&mut world, "anna"), contact(&mut world, "bert"));
    let token = world.token(1, TokenUsage::Multiple);
    pay(&mut world, token, Some("anna"));
    pay(&mut world, token, Some("anna"));
    let session = world.session(select_token(token));
    let (_, vault) = world.when(remove_contact(anna)).writes_to_the_vault();
    assert!(is_forgotten(&vault, token), "{vault:?}");
    assert_eq!((world.find::<Tokens>(token), world.find::<TokenUses>(token)), (None, None));
    world.when(select_token(token)).refused(Refusal::TokenNotFound);
    world.when(save_card(token, bert)).refused(Refusal::TokenNotFound);
    world.when(initiate(session)).refused(Refusal::SessionNotActive { payment_id: None });
}

#[test]
fn a_token_that_another_customer_used_stays() {
    for other in [Some("bert"), None] {
        let mut world = ScenarioWorld::open();
        let (anna, _) = (contact(&mut world, "anna"), contact(&mut world, "bert"));
        let token = world.token(1, TokenUsage::Multiple);
        pay(&mut world, token, Some("anna"));
        pay(&mut world, token, other);
        let (_, vault) = world.when(remove_contact(anna)).writes_to_the_vault();
        assert!(!is_forgotten(&vault, token), "{other:?}");
        world.when(select_token(token)).takes_effect();
    }
}

#[test]
fn a_saved_card_is_a_use_of_its_token() {
    let mut world = ScenarioWorld::open();
    let (anna, bert) = (contact(&mut world, "anna"), contact(&mut world, "bert"));
    let (only, shared) = (world.token(1, TokenUsage::Multiple), world.token(2, TokenUsage::Multiple));
    world.given(save_card(only, anna));
    pay(&mut world, shared, Some("anna"));
    world.given(save_card(shared, bert));
    let (_, vault) = world.when(remove_contact(anna)).writes_to_the_vault();
    assert!(is_forgotten(&vault, only) && !is_forgotten(&vault, shared), "{vault:?}");
    world.when(save_card(only, bert)).refused(Refusal::TokenNotFound);
}

#[test]
fn a_forgotten_card_takes_the_tokens_of_its_number_along() {
    let (mut world, anna) = ScenarioWorld::open_with(|world| contact(world, "anna"));
    let (first, again) = (world.token(1, TokenUsage::Multiple), world.token(1, TokenUsage::Multiple));
    let (other, shared) = (world.token(2, TokenUsage::Multiple), world.token(1, TokenUsage::Multiple));
    for token in [first, again, other, shared] {
        world.given(save_card(token, anna));
    }
    pay(&mut world, shared, None);
    let card = world.cards_of(anna)[0].id;
    let (_, vault) = world.when(forget_card(anna, card)).writes_to_the_vault();
    let forgotten = [first, again, other, shared].map(|token| is_forgotten(&vault, token));
    assert_eq!(forgotten, [true, true, false, false]);
    world.when(select_token(first)).refused(Refusal::TokenNotFound);
    let (_, vault) = world.when(remove_contact(anna)).writes_to_the_vault();
    assert!(is_forgotten(&vault, other) && !is_forgotten(&vault, shared));
}

#[test]
fn many_tokens_of_a_customer_go_step_by_step() {
    let (mut world, anna) = ScenarioWorld::open_with(|world| contact(world, "anna"));
    let tokens: Vec<TokenId> = (0..=TOKENS_PASSED_MAX).map(|_| world.token(1, TokenUsage::Multiple)).collect();
    for token in &tokens {
        _ = world.step(&save_card(*token, anna));
    }
    let (_, vault) = world.when(remove_contact(anna)).writes_to_the_vault();
    assert!(!is_forgotten(&vault, tokens[0]) && is_forgotten(&vault, tokens[1]));
    world.when(select_token(tokens[0])).refused(Refusal::TokenNotFound);
    let timers = world.timers();
    let (answer, vault) = world.when(fire(timers)).writes_to_the_vault();
    assert!(answer == CHANGED && is_forgotten(&vault, tokens[0]), "{vault:?}");
    assert_eq!((world.find::<CustomerTokens>(anna), world.timers()), (None, Vec::new()));
}
