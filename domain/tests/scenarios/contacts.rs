//! The merchant's calls about customers and saved cards: contract, sections 4.1 and 9.1a.

use crate::words::*;
use crate::world::{ScenarioWorld, raw_id};
use till_domain::card::{CardExpiry, SAVED_CARDS_MAX, SaveCard, TokenUsage};
use till_domain::event::{Answer, VaultWrite};
use till_domain::ids::{CardId, CustomerId, TokenId};
use till_domain::payment::PaymentStatus;
use till_domain::records::{Cards, CardsByExternalId, CardsByFingerprint, CustomerCards, Customers, CustomersByEmail};
use till_domain::refusal::{CommandField, Refusal};

const EMAIL: &str = "somchai@example.com";
const MOBILE: &str = "+66812345678";

fn contact(world: &mut ScenarioWorld) -> CustomerId {
    let fields = customer_fields().known_as("c-1").email(EMAIL).mobile(MOBILE).called("Somchai");
    match world.given(add_contact(&fields)) {
        Answer::Contact(id) => id,
        other => panic!("{other:?} is no customer"),
    }
}

/// A card of this number that the customer has saved by a call.
fn card(world: &mut ScenarioWorld, customer: CustomerId, number: u8) -> CardId {
    let token = world.token(number, TokenUsage::Multiple);
    match world.given(save_card(token, customer)) {
        Answer::Card(id) => id,
        other => panic!("{other:?} is no card"),
    }
}

fn default_of(world: &ScenarioWorld, customer: CustomerId) -> Option<CardId> {
    world.customer_row(customer).default_card_id
}

#[test]
fn an_added_contact_is_the_customer_of_later_payments() {
    let (mut world, id) = ScenarioWorld::open_with(contact);
    let customer = world.customer_row(id);
    assert_eq!((customer.email, customer.mobile), (Some(email(EMAIL)), Some(mobile(MOBILE))));
    assert_eq!(world.payment_by(customer_fields().known_as("c-1")).customer_id, Some(id));
    assert_eq!(world.payment_by(customer_fields().mobile(MOBILE)).customer_id, Some(id));
}

#[test]
fn a_field_of_another_contact_is_refused_and_names_it() {
    let (mut world, customer_id) = ScenarioWorld::open_with(contact);
    for (fields, field) in [
        (customer_fields().known_as("c-1").email("other@example.com"), CommandField::ExternalId),
        (customer_fields().email(EMAIL), CommandField::ContactEmail),
        (customer_fields().mobile(MOBILE), CommandField::ContactMobile),
    ] {
        world.when(add_contact(&fields)).refused(Refusal::ContactTaken { field, customer_id });
        let other = world.customer(customer_fields().known_as("c-2"));
        let update = update_contact(other, &fields);
        world.when(update).refused(Refusal::ContactTaken { field, customer_id });
    }
}

#[test]
fn an_update_keeps_missing_fields_and_returns_if_any_changed() {
    let (mut world, id) = ScenarioWorld::open_with(contact);
    world.after_seconds(60);
    world.when(update_contact(id, &customer_fields().email(EMAIL))).changes_nothing(Answer::Changed(false));
    world.when(update_contact(id, &customer_fields().email("new@example.com"))).answers(Answer::Changed(true));
    let customer = world.customer_row(id);
    assert_eq!((customer.email, customer.mobile), (Some(email("new@example.com")), Some(mobile(MOBILE))));
    assert!(customer.updated_at > customer.created_at);
    assert_eq!(world.find::<CustomersByEmail>(email(EMAIL)), None, "the address is free");
}

#[test]
fn a_removed_contact_is_not_found_and_its_fields_are_free() {
    let (mut world, id) = ScenarioWorld::open_with(contact);
    let (answer, vault) = world.when(remove_contact(id)).writes_to_the_vault();
    assert_eq!((answer, vault), (Answer::Changed(true), vec![VaultWrite::ForgetCustomerKey(id)]));
    assert_eq!(world.find::<Customers>(id), None);
    world.when(remove_contact(id)).refused(Refusal::ContactNotFound);
    world.when(update_contact(id, &customer_fields().called("Nobody"))).refused(Refusal::ContactNotFound);
    let session = world.card_session();
    world.when(initiate(session).customer(customer_fields().own(id))).refused(Refusal::CustomerNotFound);
    assert_ne!(contact(&mut world), id);
}

#[test]
fn removing_a_contact_forgets_the_cards_and_keeps_the_payments() {
    let (mut world, id) = ScenarioWorld::open_with(contact);
    let payment = world.payment_by(customer_fields().own(id));
    let cards = [card(&mut world, id, 7), card(&mut world, id, 8)];
    let (_, vault) = world.when(remove_contact(id)).writes_to_the_vault();
    let numbers = cards.map(VaultWrite::ForgetCardNumber);
    assert_eq!(vault[..3], [numbers[0], numbers[1], VaultWrite::ForgetCustomerKey(id)], "before those of its tokens");
    assert!(cards.iter().all(|card| world.look_up::<Cards>(*card).deleted_at.is_some()));
    assert_eq!((world.find::<CustomerCards>(id), world.all::<CardsByFingerprint>().len()), (None, 0));
    assert_eq!(world.payment_row(payment.id).customer_id, Some(id));
}

#[test]
fn a_session_whose_card_is_forgotten_is_not_active() {
    for removes_the_contact in [false, true] {
        let (mut world, id) = ScenarioWorld::open_with(contact);
        let card = card(&mut world, id, 7);
        let session = world.session(select_saved(card));
        world.given(if removes_the_contact { remove_contact(id) } else { forget_card(id, card) });
        let ask = initiate(session).customer(customer_fields().email(EMAIL));
        world.when(ask).refused(Refusal::SessionNotActive { payment_id: None });
        world.when(select_saved(card)).refused(Refusal::CardNotFound);
    }
}

#[test]
fn an_authorization_of_a_removed_contact_saves_no_card() {
    let (mut world, id) = ScenarioWorld::open_with(contact);
    let token = world.token(7, TokenUsage::Multiple);
    let session = world.session(select_token(token));
    let payment = world.payment(initiate(session).customer(customer_fields().own(id)).save(SaveCard::Default));
    world.given(remove_contact(id));
    world.given(result(payment, approved_and_captured()));
    assert_eq!((world.payment_row(payment).status, world.all::<Cards>().len()), (PaymentStatus::Successful, 0));
}

#[test]
fn a_card_is_saved_by_a_call_and_pays_from_then_on() {
    let (mut world, id) = ScenarioWorld::open_with(contact);
    let token = world.token(7, TokenUsage::Multiple);
    let (answer, vault) = world.when(save_card(token, id)).writes_to_the_vault();
    let Answer::Card(card) = answer else { panic!("{answer:?} is no card") };
    assert_eq!(vault, [VaultWrite::CopyTokenNumber(token, card)]);
    assert_eq!((world.look_up::<Cards>(card).card, default_of(&world, id)), (card_facts(7), None));
    let session = world.session(select_saved(card));
    world.when(initiate(session).customer(customer_fields().email(EMAIL))).pays();
}

#[test]
fn a_single_use_or_unknown_token_is_not_saved() {
    let (mut world, id) = ScenarioWorld::open_with(contact);
    let single = world.token(7, TokenUsage::Single);
    world.when(save_card(single, id)).refused(Refusal::TokenForOneUse);
    let unknown = raw_id(9, TokenId::from_raw);
    world.when(save_card(unknown, id)).refused(Refusal::TokenNotFound);
    let token = world.token(7, TokenUsage::Multiple);
    world.given(remove_contact(id));
    world.when(save_card(token, id)).refused(Refusal::ContactNotFound);
}

#[test]
fn a_known_card_is_answered_again_and_its_expiry_is_renewed() {
    let (mut world, id) = ScenarioWorld::open_with(contact);
    let saved = card(&mut world, id, 7);
    let token = world.token(7, TokenUsage::Multiple);
    world.when(save_card(token, id)).answers(Answer::Card(saved));
    world.when(save_card(token, id)).changes_nothing(Answer::Card(saved));
    let expiry = CardExpiry { year: 2035, month: 3 };
    let token = world.token_with_expiry(7, expiry);
    world.when(save_card(token, id)).answers(Answer::Card(saved));
    let card = world.look_up::<Cards>(saved);
    assert_eq!((card.card.expiry, card.card.fingerprint), (expiry, card_facts(7).fingerprint));
}

#[test]
fn a_payment_with_a_known_card_renews_its_expiry_too() {
    let (mut world, id) = ScenarioWorld::open_with(contact);
    let saved = card(&mut world, id, 7);
    let expiry = CardExpiry { year: 2035, month: 3 };
    let token = world.token_with_expiry(7, expiry);
    let session = world.session(select_token(token));
    world.captured(initiate(session).customer(customer_fields().own(id)).save(SaveCard::Add));
    assert_eq!((world.look_up::<Cards>(saved).card.expiry, world.all::<Cards>().len()), (expiry, 1));
}

#[test]
fn a_card_identifier_is_unique_and_given_only_once() {
    let (mut world, id) = ScenarioWorld::open_with(contact);
    let saved = card(&mut world, id, 7);
    let token = world.token(7, TokenUsage::Multiple);
    world.when(save_card_known_as(token, id, "card-1")).answers(Answer::Card(saved));
    assert_eq!(world.find::<CardsByExternalId>(external("card-1")), Some(saved));
    world.when(save_card_known_as(token, id, "card-2")).refused(Refusal::CardHasExternalId { card_id: saved });
    let other = world.token(8, TokenUsage::Multiple);
    world.when(save_card_known_as(other, id, "card-1")).refused(Refusal::CardExternalIdTaken { card_id: saved });
    world.given(forget_card(id, saved));
    world.when(save_card_known_as(other, id, "card-1")).takes_effect();
}

#[test]
fn a_customer_has_at_most_a_hundred_saved_cards() {
    let (mut world, id) = ScenarioWorld::open_with(contact);
    for number in 0..u8::try_from(SAVED_CARDS_MAX).expect("it is a hundred") {
        card(&mut world, id, number);
    }
    let token = world.token(200, TokenUsage::Multiple);
    let refusal = Refusal::TooMany { kind: "saved cards of this customer", limit: SAVED_CARDS_MAX };
    world.when(save_card(token, id)).refused(refusal);
    let session = world.session(select_token(token));
    world.captured(initiate(session).customer(customer_fields().own(id)).save(SaveCard::Add));
    assert_eq!(world.look_up::<CustomerCards>(id).len(), SAVED_CARDS_MAX, "the payment goes on");
}

#[test]
fn a_card_is_made_the_default_once() {
    let (mut world, id) = ScenarioWorld::open_with(contact);
    let cards = [card(&mut world, id, 7), card(&mut world, id, 8)];
    world.when(set_default_card(id, cards[0])).answers(Answer::Changed(true));
    world.when(set_default_card(id, cards[0])).changes_nothing(Answer::Changed(false));
    assert_eq!(default_of(&world, id), Some(cards[0]));
    let other = world.customer(customer_fields().known_as("c-2"));
    world.when(set_default_card(other, cards[0])).refused(Refusal::CardNotFound);
    world.given(forget_card(id, cards[1]));
    world.when(set_default_card(id, cards[1])).refused(Refusal::CardNotFound);
}

#[test]
fn forgetting_the_default_card_makes_the_newest_one_the_default() {
    let (mut world, id) = ScenarioWorld::open_with(contact);
    let cards = [card(&mut world, id, 7), card(&mut world, id, 8), card(&mut world, id, 9)];
    world.given(set_default_card(id, cards[0]));
    let (_, vault) = world.when(forget_card(id, cards[0])).writes_to_the_vault();
    assert_eq!(vault[0], VaultWrite::ForgetCardNumber(cards[0]), "before those of its tokens");
    assert_eq!(default_of(&world, id), Some(cards[2]));
    world.given(forget_card(id, cards[1]));
    assert_eq!(default_of(&world, id), Some(cards[2]));
    world.given(forget_card(id, cards[2]));
    assert_eq!(default_of(&world, id), None);
}

#[test]
fn a_forgotten_card_has_no_holder_and_can_be_saved_again() {
    let (mut world, id) = ScenarioWorld::open_with(contact);
    let first = card(&mut world, id, 7);
    world.given(forget_card(id, first));
    world.when(forget_card(id, first)).changes_nothing(Answer::Changed(false));
    assert_eq!(world.look_up::<Cards>(first).card.holder, None);
    assert_ne!(card(&mut world, id, 7), first);
    let other = world.customer(customer_fields().known_as("c-2"));
    world.when(forget_card(other, first)).refused(Refusal::CardNotFound);
}
