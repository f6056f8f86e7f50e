//! Identifiers, keys and metadata that are card numbers: refused, unless the merchant's setting allows them.

use crate::words::*;
use crate::world::ScenarioWorld;
use till_domain::card::{SaveCard, TokenUsage};
use till_domain::command::{Command, Selection};
use till_domain::customer::CardRef;
use till_domain::event::Answer;
use till_domain::records::{Cards, Payments, Sessions, Tokens};
use till_domain::refusal::{CARD_NUMBERS_MAX, CommandField, DecisionError, Refusal};
use till_domain::text::{InstallationIdentifier, ReturnUrl};

const NUMBER: &str = "4242424242424242";
const SPACED: &str = "5555 5555 5555 4444";

const TAKEN: Answer = Answer::Changed(true);

fn in_fields<const N: usize>(given: [CommandField; N]) -> Refusal {
    let mut fields = [None; CARD_NUMBERS_MAX];
    for (field, given) in fields.iter_mut().zip(given) {
        *field = Some(given);
    }
    Refusal::CardNumbersGiven { fields }
}

fn returning_to(initiate: InitiateCall, url: &str) -> Ask {
    let mut ask = Ask::from(initiate);
    let Command::InitiatePayment(command) = &mut ask.command else { panic!("it initiates a payment") };
    command.return_url = ReturnUrl::new(url).expect("a test URL of proper form");
    ask
}

fn installation_known_as(identifier: &str) -> Ask {
    let mut ask = add_installation();
    let Command::AddInstallation(command) = &mut ask.command else { panic!("it adds an installation") };
    command.identifier = InstallationIdentifier::new(identifier).expect("a test identifier of proper form");
    ask
}

/// Calls that each contain a card number, and the argument that contains it.
fn asks(world: &mut ScenarioWorld) -> Vec<(Ask, CommandField)> {
    let session = world.card_session();
    let known = |text: &str| customer_fields().known_as(text);
    let saved = Selection::SavedCard(CardRef::External(external(NUMBER)));
    vec![
        (initiate(session).external_id(NUMBER).into(), CommandField::ExternalId),
        (initiate(session).external_id(SPACED).into(), CommandField::ExternalId),
        (initiate(session).card_known_as(NUMBER).into(), CommandField::CardId),
        (initiate(session).customer(known(NUMBER)).into(), CommandField::CustomerId),
        (returning_to(initiate(session), "https://shop.example/4242424242424242?a=1"), CommandField::ReturnUrl),
        (returning_to(initiate(session), "https://shop.example/?order=4242424242424242"), CommandField::ReturnUrl),
        (initiate(session).named(NUMBER), CommandField::IdempotencyKey),
        (select(saved).into(), CommandField::CardId),
        (
            select_installment(till_domain::session::InterestBearer::Merchant).customer(known(SPACED)).into(),
            CommandField::CustomerId,
        ),
        (topup_known_as(1, NUMBER), CommandField::ExternalId),
        (installation_known_as(NUMBER), CommandField::Identifier),
        (open_balance().named(NUMBER), CommandField::IdempotencyKey),
        (sync(NUMBER, "1"), CommandField::MetadataKey),
        (sync("cart", r#"{"a":["4242424242424242"]}"#), CommandField::Metadata),
        (sync("cart", r#"{"a":{"5555 5555 5555 4444":1}}"#), CommandField::Metadata),
        (sync("cart", "4242424242424242"), CommandField::Metadata),
        (add(NUMBER, "", "1"), CommandField::MetadataKey),
        (add("cart", NUMBER, "1"), CommandField::MetadataPath),
        (add("cart", "", r#""4242-4242-4242-4242""#), CommandField::MetadataValue),
    ]
}

#[test]
fn a_card_number_as_a_whole_is_refused_where_it_would_be_kept() {
    let mut world = ScenarioWorld::open();
    for (ask, field) in asks(&mut world) {
        world.when(ask).refused(in_fields([field]));
    }
}

#[test]
fn all_arguments_that_are_card_numbers_are_named_at_once() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let initiate =
        initiate(session).external_id(NUMBER).card_known_as(NUMBER).customer(customer_fields().known_as(NUMBER));
    let mut ask = returning_to(initiate, "https://shop.example/4242424242424242");
    ask.idempotency_key = Some(NUMBER.to_owned());
    let all = in_fields([
        CommandField::IdempotencyKey,
        CommandField::ExternalId,
        CommandField::CardId,
        CommandField::ReturnUrl,
        CommandField::CustomerId,
    ]);
    world.when(ask).refused(all);
}

#[test]
fn card_numbers_as_identifiers_can_be_allowed_and_refused_again() {
    let mut world = ScenarioWorld::open();
    world.when(take_card_numbers(true)).answers(TAKEN);
    world.when(take_card_numbers(true)).changes_nothing(Answer::Changed(false));
    for (ask, _) in asks(&mut world) {
        let is_found = |stop: &DecisionError| matches!(stop, DecisionError::Refused(Refusal::CardNumbersGiven { .. }));
        assert!(!world.step(&ask).err().is_some_and(|stop| is_found(&stop)));
    }
    world.when(take_card_numbers(false)).answers(TAKEN);
    for (ask, field) in asks(&mut world) {
        world.when(ask).refused(in_fields([field]));
    }
}

#[test]
fn a_merchant_can_be_created_under_a_name_that_it_takes_itself() {
    let create = |allowed| {
        let mut ask = create_merchant(ScenarioWorld::empty().merchant_id).named(NUMBER);
        let Command::CreateMerchant(command) = &mut ask.command else { panic!("it creates a merchant") };
        command.card_numbers_in_identifiers = allowed;
        ask
    };
    ScenarioWorld::empty().when(create(false)).refused(in_fields([CommandField::IdempotencyKey]));
    let mut world = ScenarioWorld::empty();
    world.given(create(true));
    assert!(world.state.profile.as_ref().is_some_and(|profile| profile.card_numbers_in_identifiers));
}

#[test]
fn a_text_that_only_holds_a_card_number_is_a_fine_identifier() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    world.when(initiate(session).external_id("inv-4242424242424242")).takes_effect();
    world.when(sync("cart", r#"{"note":"card 4242424242424242"}"#)).takes_effect();
    world.when(sync("order 4242424242424243", "4242424242424243")).takes_effect();
}

#[test]
fn an_identifier_kept_while_allowed_can_be_removed_later() {
    let mut world = ScenarioWorld::open();
    world.given(take_card_numbers(true));
    world.given(add(NUMBER, "", "4242424242424242"));
    world.given(take_card_numbers(false));
    world.when(remove(NUMBER, "", "4242424242424242")).answers(TAKEN);
    world.when(delete(NUMBER)).answers(TAKEN);
}

#[test]
fn a_card_number_is_refused_before_a_kept_answer_is_looked_for() {
    let mut world = ScenarioWorld::open();
    world.given(take_card_numbers(true));
    let session = world.card_session();
    let ask = initiate(session).external_id(NUMBER).named("once");
    world.given(ask.clone());
    world.given(take_card_numbers(false));
    world.when(ask).refused(in_fields([CommandField::ExternalId]));
}

#[test]
fn a_cards_holder_is_kept_with_its_token_and_saved_card_only() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(7, TokenUsage::Multiple));
    let session = world.session(select_token(token));
    let payment =
        world.captured(initiate(session).customer(customer_fields().email("a@b.example")).save(SaveCard::Add));
    let holder = card_facts(7).holder;
    assert!(holder.is_some());
    assert_eq!(world.look_up::<Tokens>(token).card.holder, holder);
    assert_eq!(world.all::<Cards>().pop().map(|card| card.card.holder), Some(holder));
    let kept = [
        format!("{:?}", world.look_up::<Sessions>(session).instrument),
        format!("{:?}", world.look_up::<Payments>(payment).instrument),
    ];
    assert!(kept.iter().all(|instrument| instrument.contains("holder: None")), "{kept:?}");
}
