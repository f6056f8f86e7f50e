//! save_card: after the authorization, for multi-use tokens, and never an obstacle to the payment.

use crate::words::*;
use crate::world::ScenarioWorld;
use till_domain::card::{SaveCard, TokenUsage};
use till_domain::event::{Answer, VaultWrite};
use till_domain::ids::{CardId, CustomerId, PaymentId, TokenId};
use till_domain::payment::PaymentStatus;
use till_domain::records::Cards;

const OWNER: &str = "owner@example.com";

/// A pending payment with this token by the customer with [`OWNER`].
fn pending(world: &mut ScenarioWorld, token: TokenId, save_card: SaveCard) -> PaymentId {
    let session = world.session(select_token(token));
    world.payment(initiate(session).customer(customer_fields().email(OWNER)).save(save_card))
}

/// The same, approved.
fn paid(world: &mut ScenarioWorld, number: u8, usage: TokenUsage, save_card: SaveCard) -> PaymentId {
    let token = world.token(number, usage);
    let id = pending(world, token, save_card);
    world.given(result(id, approved_and_captured()));
    id
}

fn owner_of(world: &ScenarioWorld, payment: PaymentId) -> CustomerId {
    world.payment_row(payment).customer_id.expect("the payment has a customer")
}

fn default_of(world: &ScenarioWorld, payment: PaymentId) -> Option<CardId> {
    world.customer_row(owner_of(world, payment)).default_card_id
}

#[test]
fn a_card_is_saved_after_the_authorization_and_not_before() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(7, TokenUsage::Multiple));
    let id = pending(&mut world, token, SaveCard::Add);
    assert_eq!(world.all::<Cards>().len(), 0);
    world.given(result(id, approved_and_captured()));
    let card = world.all::<Cards>().pop().expect("the card was saved");
    assert_eq!((card.customer_id, card.card), (owner_of(&world, id), card_facts(7)));
}

#[test]
fn the_vault_keeps_the_saved_cards_number_beside_the_tokens() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(7, TokenUsage::Multiple));
    let id = pending(&mut world, token, SaveCard::Add);
    let (_, vault) = world.when(result(id, approved_and_captured())).writes_to_the_vault();
    let card = world.all::<Cards>().pop().expect("the card was saved");
    assert_eq!(vault, [VaultWrite::CopyTokenNumber(token, card.id)]);
}

#[test]
fn an_added_card_is_not_the_default() {
    let (world, id) = ScenarioWorld::open_with(|world| paid(world, 7, TokenUsage::Multiple, SaveCard::Add));
    assert_eq!(default_of(&world, id), None);
}

#[test]
fn a_default_card_is_saved_and_made_the_default() {
    let (world, id) = ScenarioWorld::open_with(|world| paid(world, 7, TokenUsage::Multiple, SaveCard::Default));
    assert_eq!(default_of(&world, id), world.all::<Cards>().pop().map(|card| card.id));
}

#[test]
fn an_added_card_leaves_the_default_where_it_is() {
    let (mut world, id) = ScenarioWorld::open_with(|world| paid(world, 7, TokenUsage::Multiple, SaveCard::Default));
    let default = default_of(&world, id);
    paid(&mut world, 8, TokenUsage::Multiple, SaveCard::Add);
    assert_eq!((default_of(&world, id), world.all::<Cards>().len()), (default, 2));
}

#[test]
fn the_same_card_is_saved_once() {
    let mut world = ScenarioWorld::open();
    paid(&mut world, 7, TokenUsage::Multiple, SaveCard::Add);
    paid(&mut world, 7, TokenUsage::Multiple, SaveCard::Add);
    assert_eq!(world.all::<Cards>().len(), 1);
}

#[test]
fn a_card_that_is_saved_already_can_still_be_made_the_default() {
    let (mut world, first) = ScenarioWorld::open_with(|world| paid(world, 7, TokenUsage::Multiple, SaveCard::Add));
    paid(&mut world, 8, TokenUsage::Multiple, SaveCard::Default);
    paid(&mut world, 7, TokenUsage::Multiple, SaveCard::Default);
    let cards = world.cards_of(owner_of(&world, first));
    assert_eq!(cards.len(), 2);
    assert_eq!(default_of(&world, first), Some(cards[0].id));
}

#[test]
fn the_same_card_may_be_saved_for_two_customers() {
    let (mut world, first) = ScenarioWorld::open_with(|world| world.saved_card(7, OWNER));
    let second = world.saved_card(7, "other@example.com");
    assert_ne!(first, second);
}

#[test]
fn a_single_tokens_card_is_not_saved_and_the_payment_goes_on() {
    let (world, id) = ScenarioWorld::open_with(|world| paid(world, 7, TokenUsage::Single, SaveCard::Default));
    assert_eq!((world.all::<Cards>().len(), default_of(&world, id)), (0, None));
    assert_eq!(world.payment_row(id).status, PaymentStatus::Successful);
}

#[test]
fn without_a_customer_no_card_is_saved_and_the_payment_goes_on() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(7, TokenUsage::Multiple));
    let session = world.session(select_token(token));
    let id = world.captured(initiate(session).save(SaveCard::Default));
    assert_eq!((world.all::<Cards>().len(), world.payment_row(id).status), (0, PaymentStatus::Successful));
}

#[test]
fn without_save_card_no_card_is_saved() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(7, TokenUsage::Multiple));
    let session = world.session(select_token(token));
    world.captured(initiate(session).customer(customer_fields().email(OWNER)));
    assert_eq!(world.all::<Cards>().len(), 0);
}

#[test]
fn a_declined_payments_card_is_not_saved() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(7, TokenUsage::Multiple));
    let id = pending(&mut world, token, SaveCard::Default);
    world.given(result(id, declined()));
    assert_eq!((world.all::<Cards>().len(), default_of(&world, id)), (0, None));
}

#[test]
fn a_payment_with_a_saved_card_or_by_instalments_saves_nothing() {
    let (mut world, card) = ScenarioWorld::open_with(|world| world.saved_card(7, OWNER));
    let session = world.session(select_saved(card));
    let id = world.captured(initiate(session).customer(customer_fields().email(OWNER)).save(SaveCard::Default));
    let bearer = till_domain::session::InterestBearer::Customer;
    let session = world.session(select_installment(bearer));
    let ask = initiate(session).bearer(bearer).customer(customer_fields().email(OWNER)).save(SaveCard::Default);
    world.captured(ask);
    assert_eq!((world.all::<Cards>().len(), default_of(&world, id)), (1, None));
}

#[test]
fn a_card_is_saved_also_when_the_payment_is_not_captured() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(7, TokenUsage::Multiple));
    let session = world.session(select_token(token));
    world.authorized(initiate(session).customer(customer_fields().email(OWNER)).save(SaveCard::Add));
    assert_eq!(world.all::<Cards>().len(), 1);
}

#[test]
fn a_saved_card_pays_from_then_on() {
    let (mut world, card) = ScenarioWorld::open_with(|world| world.saved_card(7, OWNER));
    let session = world.session(select_saved(card));
    let answer = world.when(initiate(session).customer(customer_fields().email(OWNER))).takes_effect();
    assert!(matches!(answer, Answer::Payment(_)));
}
