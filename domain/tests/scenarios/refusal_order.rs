//! The order of the checks of initiate-payment-flow: of two faults at once, the one that comes earlier in the contract,
//! section 4, is answered.

use crate::words::*;
use crate::world::{ScenarioWorld, raw_id};
use till_domain::card::TokenUsage;
use till_domain::command::Selection;
use till_domain::ids::{CardId, CustomerId, PaymentId, SessionId};
use till_domain::merchant::PaymentMethod;
use till_domain::money::AMOUNT_MAX_MINOR;
use till_domain::refusal::Refusal;
use till_domain::session::InterestBearer;

const UNKNOWN_SESSION: Refusal = Refusal::SessionNotActive { payment_id: None };

/// A merchant whose payment `order-1` exists.
fn with_order_1() -> (ScenarioWorld, PaymentId) {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let payment_id = world.payment(initiate(session).external_id("order-1"));
    (world, payment_id)
}

#[test]
fn a_dead_key_is_refused_before_a_reused_idempotency_key() {
    let (mut world, _) = with_order_1();
    let session = world.card_session();
    world.payment(initiate(session).named("call-1"));
    world.given(revoke_key(world.first_key()));
    world.when(initiate(session).external_id("other").named("call-1")).refused(Refusal::CallerNotLive);
}

#[test]
fn a_reused_idempotency_key_is_refused_before_a_suspension() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    world.payment(initiate(session).named("call-1"));
    world.given(suspend());
    world.when(initiate(session).external_id("other").named("call-1")).refused(Refusal::IdempotencyKeyReused);
}

#[test]
fn a_suspended_merchant_is_refused_before_its_session_is_read() {
    let mut world = ScenarioWorld::open();
    world.given(suspend());
    world.when(initiate(raw_id(9, SessionId::from_raw))).refused(Refusal::MerchantSuspended);
}

#[test]
fn a_reused_idempotency_key_is_refused_before_a_bad_session() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    world.payment(initiate(session).named("call-1"));
    let unknown = initiate(raw_id(9, SessionId::from_raw));
    world.when(unknown.named("call-1")).refused(Refusal::IdempotencyKeyReused);
}

#[test]
fn an_answer_is_replayed_before_its_session_is_found_used() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let answer = world.given(initiate(session).named("call-1"));
    world.after_seconds(3_600);
    world.when(initiate(session).named("call-1")).replays(answer);
}

#[test]
fn an_inactive_session_is_refused_before_another_amount() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    world.after_seconds(1_800);
    world.when(initiate(session).money(thb(1))).refused(UNKNOWN_SESSION);
}

#[test]
fn a_used_session_is_refused_before_another_amount() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let payment_id = world.payment(initiate(session));
    let ask = initiate(session).money(thb(1));
    world.when(ask).refused(Refusal::SessionNotActive { payment_id: Some(payment_id) });
}

#[test]
fn another_amount_is_refused_before_authorization_only() {
    let mut world = ScenarioWorld::open();
    world.given(configure(PaymentMethod::Card, always_capturing()));
    let session = world.card_session();
    world.when(initiate(session).money(thb(1)).authorize_only()).refused(differs(thb(1)));
}

#[test]
fn another_amount_is_refused_before_a_disabled_method() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    world.given(configure(PaymentMethod::Card, disabled()));
    world.when(initiate(session).money(thb(1))).refused(differs(thb(1)));
}

#[test]
fn authorization_only_is_refused_before_the_interest_bearer() {
    let mut world = ScenarioWorld::open();
    world.given(configure(PaymentMethod::Installment, always_capturing()));
    let session = world.session(select_installment(InterestBearer::Merchant));
    let refusal = Refusal::AuthorizationOnlyNotSupported;
    world.when(initiate(session).authorize_only()).refused(refusal);
    world.when(initiate(session).authorize_only().bearer(InterestBearer::Customer)).refused(refusal);
}

#[test]
fn authorization_only_is_refused_before_the_customer() {
    let (mut world, card) = ScenarioWorld::open_with(|world| world.saved_card(1, "owner@example.com"));
    world.given(configure(PaymentMethod::Card, always_capturing()));
    let session = world.session(select_saved(card));
    world.when(initiate(session).authorize_only()).refused(Refusal::AuthorizationOnlyNotSupported);
}

#[test]
fn the_interest_bearer_is_refused_before_an_unknown_customer() {
    let mut world = ScenarioWorld::open();
    let session = world.session(select_installment(InterestBearer::Merchant));
    let ask = initiate(session).customer(customer_fields().own(raw_id(9, CustomerId::from_raw)));
    let fixed = InterestBearer::Merchant;
    world.when(ask.clone()).refused(Refusal::InterestBearerMissing { fixed });
    world.when(ask.bearer(InterestBearer::Customer)).refused(Refusal::InterestBearerMismatch { fixed });
}

#[test]
fn an_unknown_customer_is_refused_before_a_mismatch() {
    let (mut world, card) = ScenarioWorld::open_with(|world| world.saved_card(1, "owner@example.com"));
    let session = world.session(select_saved(card));
    let customer = customer_fields().own(raw_id(9, CustomerId::from_raw)).email("stranger@example.com");
    world.when(initiate(session).customer(customer)).refused(Refusal::CustomerNotFound);
}

#[test]
fn an_unknown_customer_is_refused_before_a_bad_card() {
    let (mut world, session) = ScenarioWorld::open_with(|world| world.session(select(Selection::UnnamedCard)));
    let ask = initiate(session).customer(customer_fields().own(raw_id(9, CustomerId::from_raw)));
    world.when(ask.clone()).refused(Refusal::CustomerNotFound);
    world.when(ask.card(raw_id(9, CardId::from_raw))).refused(Refusal::CustomerNotFound);
}

#[test]
fn a_bad_owner_is_refused_before_a_taken_external_id() {
    let (mut world, _) = with_order_1();
    let card = world.saved_card(1, "owner@example.com");
    let session = world.session(select_saved(card));
    let ask = initiate(session).external_id("order-1");
    world.when(ask.clone()).refused(Refusal::CustomerRequired);
    world.when(ask.customer(customer_fields().email("stranger@example.com"))).refused(Refusal::CustomerMismatch);
}

#[test]
fn a_bad_card_is_refused_before_a_taken_external_id() {
    let (mut world, _) = with_order_1();
    let session = world.session(select(Selection::UnnamedCard));
    let ask = initiate(session).external_id("order-1");
    world.when(ask.clone()).refused(Refusal::CardIdMissing);
    world.when(ask.card(raw_id(9, CardId::from_raw))).refused(Refusal::CardNotFound);
}

#[test]
fn a_taken_external_id_is_refused_before_a_too_large_total() {
    let (mut world, payment_id) = with_order_1();
    let token = world.token(1, TokenUsage::Single);
    let session = world.session(select_token(token).money(thb(AMOUNT_MAX_MINOR)));
    let ask = initiate(session).money(thb(AMOUNT_MAX_MINOR));
    world
        .when(ask.clone().external_id("order-1"))
        .refused(Refusal::ExternalIdTaken { payment_id: Some(payment_id), checkout_id: None });
    world.when(ask.external_id("order-2")).refused(Refusal::TotalTooLarge);
}

#[test]
fn every_refused_call_leaves_the_session_usable() {
    let (mut world, payment_id) = with_order_1();
    let session = world.session(select(Selection::UnnamedCard));
    let card = world.saved_card(1, "owner@example.com");
    world.when(initiate(session).money(thb(1))).refused(differs(thb(1)));
    world.when(initiate(session)).refused(Refusal::CardIdMissing);
    let taken = initiate(session).card(card).external_id("order-1");
    world.when(taken).refused(Refusal::ExternalIdTaken { payment_id: Some(payment_id), checkout_id: None });
    world.when(initiate(session).card(card).external_id("order-2")).takes_effect();
}
