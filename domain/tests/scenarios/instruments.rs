//! The instrument that pays: tokens, saved cards, a card that the merchant names, instalments.

use crate::words::*;
use crate::world::{ScenarioWorld, raw_id};
use till_domain::card::{SINGLE_TOKEN_LIFETIME_SECONDS, TokenUsage};
use till_domain::command::Selection;
use till_domain::customer::CardRef;
use till_domain::event::{Answer, VaultWrite};
use till_domain::ids::{CardId, InstallationId, TokenId};
use till_domain::merchant::PaymentMethod;
use till_domain::records::{Payments, Tokens};
use till_domain::refusal::Refusal;
use till_domain::session::{Instrument, InterestBearer};

#[test]
fn every_tokenization_makes_a_token_of_its_own() {
    let (mut world, token_id) = ScenarioWorld::open_with(|world| world.token(1, TokenUsage::Single));
    assert_ne!(token_id, world.token(1, TokenUsage::Single));
}

#[test]
fn the_vault_keeps_the_number_under_the_token() {
    let mut world = ScenarioWorld::open();
    let (answer, vault) = world.when(tokenize(2, TokenUsage::Multiple)).writes_to_the_vault();
    let token_id = world.all::<Tokens>()[0].id;
    assert_eq!((answer, vault), (Answer::Token(token_id), vec![VaultWrite::KeepTokenNumber(token_id)]));
}

#[test]
fn an_unknown_token_is_not_found() {
    let mut world = ScenarioWorld::open();
    world.when(select_token(raw_id(9, TokenId::from_raw))).refused(Refusal::TokenNotFound);
}

#[test]
fn a_single_token_is_used_up_by_its_first_selection() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(1, TokenUsage::Single));
    world.when(select_token(token)).takes_effect();
    world.when(select_token(token)).refused(Refusal::TokenAlreadyUsed);
}

#[test]
fn a_single_token_is_not_used_up_by_a_selection_that_is_refused() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(1, TokenUsage::Single));
    world.when(select_token(token).money(usd(1))).refused(Refusal::CurrencyNotConfigured { currency: thb(1).currency });
    world.when(select_token(token)).takes_effect();
}

#[test]
fn a_multiple_token_can_be_selected_again_and_again() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(1, TokenUsage::Multiple));
    for _ in 0..3 {
        let session = world.session(select_token(token));
        world.when(initiate(session)).takes_effect();
        world.after_seconds(SINGLE_TOKEN_LIFETIME_SECONDS);
    }
}

#[test]
fn a_single_token_lives_for_half_an_hour_to_the_millisecond() {
    let (mut world, early) = ScenarioWorld::open_with(|world| world.token(1, TokenUsage::Single));
    let late = world.token(2, TokenUsage::Single);
    let made_at = world.clock;
    world.clock.0 = made_at.0 + SINGLE_TOKEN_LIFETIME_SECONDS * 1_000 - 1;
    world.when(select_token(early)).takes_effect();
    world.clock.0 = made_at.0 + SINGLE_TOKEN_LIFETIME_SECONDS * 1_000;
    world.when(select_token(late)).refused(Refusal::TokenNotFound);
}

#[test]
fn a_used_single_token_says_so_also_after_its_end() {
    let (mut world, token) = ScenarioWorld::open_with(|world| world.token(1, TokenUsage::Single));
    world.session(select_token(token));
    world.after_seconds(SINGLE_TOKEN_LIFETIME_SECONDS);
    world.when(select_token(token)).refused(Refusal::TokenAlreadyUsed);
}

#[test]
fn a_selection_in_another_currency_is_refused() {
    let mut world = ScenarioWorld::open();
    world
        .when(select(Selection::UnnamedCard).money(usd(100)))
        .refused(Refusal::CurrencyNotConfigured { currency: thb(1).currency });
}

#[test]
fn a_disabled_method_cannot_be_selected_and_the_other_can() {
    let mut world = ScenarioWorld::open();
    world.given(configure(PaymentMethod::Card, disabled()));
    world.when(select(Selection::UnnamedCard)).refused(Refusal::MethodNotEnabled);
    world.when(select_installment(InterestBearer::Customer)).takes_effect();
}

#[test]
fn a_saved_card_that_does_not_exist_cannot_be_selected() {
    let mut world = ScenarioWorld::open();
    world.when(select_saved(raw_id(9, CardId::from_raw))).refused(Refusal::CardNotFound);
    world.when(select(Selection::SavedCard(CardRef::External(external("card-9"))))).refused(Refusal::CardNotFound);
}

#[test]
fn a_client_of_an_unknown_installation_can_do_nothing() {
    let mut world = ScenarioWorld::open();
    let asks = [tokenize(1, TokenUsage::Single), select(Selection::UnnamedCard).into()];
    let stranger = TestCaller::ClientOf(raw_id(9, InstallationId::from_raw));
    for ask in asks {
        world.when(ask.by(stranger)).refused(Refusal::InstallationNotFound);
    }
}

#[test]
fn a_session_with_a_token_ignores_card_id() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let payment = world.when(initiate(session).card(raw_id(9, CardId::from_raw))).pays();
    assert!(matches!(payment.instrument, Instrument::Token { .. }));
}

#[test]
fn a_session_with_a_saved_card_ignores_card_id() {
    let (mut world, card) = ScenarioWorld::open_with(|world| world.saved_card(1, "owner@example.com"));
    let other = world.saved_card(2, "owner@example.com");
    let session = world.session(select_saved(card));
    let payment =
        world.when(initiate(session).card(other).customer(customer_fields().email("owner@example.com"))).pays();
    assert!(matches!(payment.instrument, Instrument::SavedCard { card_id, .. } if card_id == card));
}

#[test]
fn an_instalment_session_ignores_card_id() {
    let mut world = ScenarioWorld::open();
    let session = world.session(select_installment(InterestBearer::Customer));
    let ask = initiate(session).bearer(InterestBearer::Customer).card(raw_id(9, CardId::from_raw));
    let payment = world.when(ask).pays();
    assert_eq!(payment.instrument.interest_bearer(), Some(InterestBearer::Customer));
}

#[test]
fn without_a_customer_the_named_cards_owner_is_the_customer() {
    let (mut world, card) = ScenarioWorld::open_with(|world| world.saved_card(1, "owner@example.com"));
    let owner = world.look_up::<till_domain::records::Cards>(card).customer_id;
    let session = world.session(select(Selection::UnnamedCard));
    let payment = world.when(initiate(session).card(card)).pays();
    assert_eq!(payment.customer_id, Some(owner));
    assert_eq!(payment.contact.email, Some(email("owner@example.com")));
}

#[test]
fn a_name_alone_does_not_rename_the_named_cards_owner() {
    let (mut world, card) = ScenarioWorld::open_with(|world| world.saved_card(1, "owner@example.com"));
    let session = world.session(select(Selection::UnnamedCard));
    let payment = world.when(initiate(session).card(card).customer(customer_fields().called("Guest"))).pays();
    let owner = world.customer_row(payment.customer_id.expect("the card has an owner"));
    assert_eq!((payment.contact.name, owner.name), (Some(person("Guest")), None));
}

#[test]
fn the_owner_of_a_named_card_may_get_an_external_id_by_the_call() {
    let (mut world, card) = ScenarioWorld::open_with(|world| world.saved_card(1, "owner@example.com"));
    let session = world.session(select(Selection::UnnamedCard));
    let fields = customer_fields().known_as("c-1").email("owner@example.com");
    let payment = world.when(initiate(session).card(card).customer(fields)).pays();
    let owner = world.customer_row(payment.customer_id.expect("the owner was named"));
    assert_eq!(owner.external_id, Some(external("c-1")));
}

#[test]
fn a_payment_starts_pending_with_everything_that_was_asked_for() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let ask = initiate(session).external_id("order-1").customer(customer_fields().email("somchai@example.com"));
    let id = world.payment(ask);
    let payment = world.look_up::<Payments>(id);
    assert_eq!(payment.status, till_domain::payment::PaymentStatus::Pending);
    assert_eq!((payment.session_id, payment.money), (session, thb(PRICE_MINOR)));
    assert_eq!(payment.external_id, Some(external("order-1")));
    assert_eq!(payment.created_at, world.clock);
    assert_eq!(payment.instrument.display_name(), "Visa 0042");
}
