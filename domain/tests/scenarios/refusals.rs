//! Every reason for which initiate-payment-flow is refused: contract, section 4.

use crate::words::*;
use crate::world::{ScenarioWorld, raw_id};
use till_domain::card::TokenUsage;
use till_domain::command::Selection;
use till_domain::ids::{CardId, CustomerId, SessionId};
use till_domain::merchant::PaymentMethod;
use till_domain::money::AMOUNT_MAX_MINOR;
use till_domain::refusal::Refusal;
use till_domain::session::InterestBearer;

const NOT_ACTIVE: Refusal = Refusal::SessionNotActive { payment_id: None };

#[test]
fn an_unknown_session_is_not_found() {
    let mut world = ScenarioWorld::open();
    world.when(initiate(raw_id(9, SessionId::from_raw))).refused(NOT_ACTIVE);
}

#[test]
fn a_session_of_another_merchant_is_not_found() {
    let mut other = ScenarioWorld::open();
    other.after_seconds(1);
    let session = other.card_session();
    ScenarioWorld::open().when(initiate(session)).refused(NOT_ACTIVE);
}

#[test]
fn an_expired_session_is_not_found() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    world.after_seconds(1_800);
    world.when(initiate(session)).refused(NOT_ACTIVE);
}

#[test]
fn a_used_session_is_not_found_and_names_its_payment() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let payment_id = world.payment(initiate(session));
    world.when(initiate(session)).refused(Refusal::SessionNotActive { payment_id: Some(payment_id) });
}

#[test]
fn a_used_session_names_its_payment_after_it_would_have_expired() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let payment_id = world.payment(initiate(session));
    world.after_seconds(1_801);
    world.when(initiate(session)).refused(Refusal::SessionNotActive { payment_id: Some(payment_id) });
}

#[test]
fn an_amount_other_than_the_sessions_is_a_conflict() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    for minor in [PRICE_MINOR - 1, PRICE_MINOR + 1] {
        world.when(initiate(session).money(thb(minor))).refused(differs(thb(minor)));
    }
}

#[test]
fn a_currency_other_than_the_sessions_is_a_conflict() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    world.when(initiate(session).money(usd(PRICE_MINOR))).refused(differs(usd(PRICE_MINOR)));
}

#[test]
fn authorization_only_is_refused_where_the_method_captures() {
    let mut world = ScenarioWorld::open();
    world.given(configure(PaymentMethod::Card, always_capturing()));
    let session = world.card_session();
    world.when(initiate(session).authorize_only()).refused(Refusal::AuthorizationOnlyNotSupported);
    world.when(initiate(session)).takes_effect();
}

#[test]
fn authorization_only_is_judged_by_the_sessions_own_method() {
    let mut world = ScenarioWorld::open();
    world.given(configure(PaymentMethod::Installment, always_capturing()));
    let session = world.card_session();
    world.when(initiate(session).authorize_only()).takes_effect();
}

#[test]
fn a_method_disabled_since_its_selection_is_not_supported() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    world.given(configure(PaymentMethod::Card, disabled()));
    world.when(initiate(session)).refused(Refusal::MethodNotEnabled);
    world.when(initiate(session).authorize_only()).refused(Refusal::MethodNotEnabled);
}

#[test]
fn an_instalment_session_asks_for_its_interest_bearer() {
    let mut world = ScenarioWorld::open();
    let session = world.session(select_installment(InterestBearer::Merchant));
    let fixed = InterestBearer::Merchant;
    world.when(initiate(session)).refused(Refusal::InterestBearerMissing { fixed });
}

#[test]
fn an_instalment_session_accepts_only_its_own_interest_bearer() {
    let mut world = ScenarioWorld::open();
    for (fixed, other) in
        [(InterestBearer::Merchant, InterestBearer::Customer), (InterestBearer::Customer, InterestBearer::Merchant)]
    {
        let session = world.session(select_installment(fixed));
        world.when(initiate(session).bearer(other)).refused(Refusal::InterestBearerMismatch { fixed });
        world.when(initiate(session).bearer(fixed)).takes_effect();
    }
}

#[test]
fn a_card_session_ignores_the_interest_bearer() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let payment = world.when(initiate(session).bearer(InterestBearer::Merchant)).pays();
    assert_eq!(payment.instrument.interest_bearer(), None);
}

#[test]
fn a_saved_card_session_asks_for_its_owner() {
    let (mut world, card) = ScenarioWorld::open_with(|world| world.saved_card(1, "owner@example.com"));
    let session = world.session(select_saved(card));
    world.when(initiate(session)).refused(Refusal::CustomerRequired);
    world.when(initiate(session).customer(customer_fields().called("Somchai"))).refused(Refusal::CustomerRequired);
}

#[test]
fn a_saved_card_session_takes_no_customer_but_the_owner() {
    let (mut world, card) = ScenarioWorld::open_with(|world| world.saved_card(1, "owner@example.com"));
    world.customer(customer_fields().email("other@example.com"));
    let session = world.session(select_saved(card));
    let other = initiate(session).customer(customer_fields().email("other@example.com"));
    world.when(other).refused(Refusal::CustomerMismatch);
}

#[test]
fn an_unknown_customer_id_is_not_found_with_any_kind_of_session() {
    let mut world = ScenarioWorld::open();
    let unknown = customer_fields().own(raw_id(9, CustomerId::from_raw));
    let card = world.saved_card(1, "owner@example.com");
    let sessions = [
        world.card_session(),
        world.session(select(Selection::UnnamedCard)),
        world.session(select_saved(card)),
        world.session(select_installment(InterestBearer::Customer)),
    ];
    for session in sessions {
        let ask = initiate(session).bearer(InterestBearer::Customer).customer(unknown.clone());
        world.when(ask).refused(Refusal::CustomerNotFound);
    }
}

#[test]
fn a_card_session_without_token_or_saved_card_asks_for_a_card() {
    let (mut world, session) = ScenarioWorld::open_with(|world| world.session(select(Selection::UnnamedCard)));
    world.when(initiate(session)).refused(Refusal::CardIdMissing);
}

#[test]
fn an_unknown_card_is_not_found() {
    let (mut world, session) = ScenarioWorld::open_with(|world| world.session(select(Selection::UnnamedCard)));
    world.when(initiate(session).card(raw_id(9, CardId::from_raw))).refused(Refusal::CardNotFound);
    world.when(initiate(session).card_known_as("card-9")).refused(Refusal::CardNotFound);
}

#[test]
fn a_card_of_another_customer_is_not_found() {
    let (mut world, card) = ScenarioWorld::open_with(|world| world.saved_card(1, "owner@example.com"));
    world.customer(customer_fields().email("other@example.com"));
    let session = world.session(select(Selection::UnnamedCard));
    let ask = initiate(session).card(card).customer(customer_fields().email("other@example.com"));
    world.when(ask).refused(Refusal::CardNotFound);
}

#[test]
fn a_card_is_not_found_for_a_customer_that_the_call_creates() {
    let (mut world, card) = ScenarioWorld::open_with(|world| world.saved_card(1, "owner@example.com"));
    let session = world.session(select(Selection::UnnamedCard));
    let ask = initiate(session).card(card).customer(customer_fields().email("new@example.com"));
    world.when(ask).refused(Refusal::CardNotFound);
}

#[test]
fn an_external_id_names_one_payment_and_the_refusal_says_which() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let payment_id = world.payment(initiate(session).external_id("order-1"));
    let session = world.card_session();
    let again = initiate(session).external_id("order-1");
    world.when(again).refused(Refusal::ExternalIdTaken { payment_id: Some(payment_id), checkout_id: None });
    world.when(initiate(session).external_id("order-2")).takes_effect();
}

#[test]
fn an_external_id_is_taken_by_a_payment_that_failed_too() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let payment_id = world.payment(initiate(session).external_id("order-1"));
    world.given(result(payment_id, declined()));
    let session = world.card_session();
    world
        .when(initiate(session).external_id("order-1"))
        .refused(Refusal::ExternalIdTaken { payment_id: Some(payment_id), checkout_id: None });
}

#[test]
fn an_external_id_is_compared_byte_by_byte() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    world.payment(initiate(session).external_id("order-1"));
    let session = world.card_session();
    world.when(initiate(session).external_id("Order-1")).takes_effect();
}

#[test]
fn an_amount_that_outgrows_the_ledgers_totals_is_refused() {
    let mut world = ScenarioWorld::open();
    world.given(topup(1));
    let token = world.token(1, TokenUsage::Single);
    let session = world.session(select_token(token).money(thb(AMOUNT_MAX_MINOR)));
    world.when(initiate(session).money(thb(AMOUNT_MAX_MINOR))).refused(Refusal::TotalTooLarge);
}
