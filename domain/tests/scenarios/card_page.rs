//! Cards that are entered at the acquirer's page: contract, section 20.

use crate::words::*;
use crate::world::{ScenarioWorld, raw_id};
use till_domain::acquirer::CardEntry;
use till_domain::card::{SaveCard, TokenUsage};
use till_domain::command::{CheckoutChoice, Selection};
use till_domain::customer::CardRef;
use till_domain::event::Answer;
use till_domain::ids::{AcquirerId, CardId, CustomerId, PaymentId, TokenId};
use till_domain::merchant::PaymentMethod;
use till_domain::payment::PaymentStatus;
use till_domain::records::{PaymentsByLastDigits, Sessions};
use till_domain::refusal::Refusal;
use till_domain::session::{Instrument, InterestBearer};
use till_domain::time::Millis;

const REFUSED: Refusal = Refusal::CardEnteredAtAcquirer;

/// From now on the merchant's cards are at an account, and entered at its page.
fn move_to_page(world: &mut ScenarioWorld) -> AcquirerId {
    let id = world.account();
    world.given(configure(PaymentMethod::Card, at_account(id)));
    world.given_card_entry(id, CardEntry::Page);
    id
}

/// A merchant whose cards are entered at the page, with an unused token and a saved card from before.
fn with_page() -> (ScenarioWorld, TokenId, CardId) {
    let mut world = ScenarioWorld::open();
    let (token, card_id) = (world.token(1, TokenUsage::Multiple), world.saved_card(2, "owner@example.com"));
    move_to_page(&mut world);
    (world, token, card_id)
}

/// A payment by a card that its customer is asked to enter at the page.
fn asked(world: &mut ScenarioWorld) -> PaymentId {
    let session = world.session(select(Selection::UnnamedCard));
    let id = world.payment(initiate(session).authorize_only());
    world.given(prepared_with_page(id, "cs_1"));
    world.given(result(id, page_required()));
    id
}

fn is_found(world: &ScenarioWorld, id: PaymentId, last_digits: [u8; 4]) -> bool {
    world.find::<PaymentsByLastDigits>((last_digits, id)).is_some()
}

#[test]
fn a_session_without_a_card_is_paid_at_the_page() {
    let (mut world, _, _) = with_page();
    let session = world.session(select(Selection::UnnamedCard));
    let payment = world.when(initiate(session)).pays();
    assert_eq!((payment.instrument, payment.customer_id), (Instrument::AcquirerPage { card: None }, None));
    assert_eq!(world.look_up::<Sessions>(session).payment_id, Some(payment.id));
}

#[test]
fn no_card_is_tokenized_or_selected_where_it_is_entered_at_the_page() {
    let (mut world, token, card_id) = with_page();
    world.when(tokenize(3, TokenUsage::Single)).refused(REFUSED);
    world.when(select_token(token)).refused(REFUSED);
    world.when(select_saved(card_id)).refused(REFUSED);
    world.given(configure(PaymentMethod::Card, disabled()));
    world.when(tokenize(3, TokenUsage::Single)).takes_effect();
}

#[test]
fn a_card_that_the_call_names_is_refused_with_the_fifth_step() {
    let (mut world, _, card_id) = with_page();
    let session = world.session(select(Selection::UnnamedCard));
    let named = initiate(session).card(card_id);
    world.when(named.clone()).refused(REFUSED);
    world.when(named.clone().money(thb(1))).refused(differs(thb(1)));
    let unknown = customer_fields().own(raw_id(9, CustomerId::from_raw));
    world.when(named.customer(unknown)).refused(REFUSED);
    let other = world.session(select_installment(InterestBearer::Merchant));
    world.when(initiate(other).bearer(InterestBearer::Merchant).card(card_id)).takes_effect();
}

#[test]
fn a_session_that_was_selected_with_a_card_before_is_refused() {
    let mut world = ScenarioWorld::open();
    let card_id = world.saved_card(2, "owner@example.com");
    let sessions = [world.card_session(), world.session(select_saved(card_id))];
    let account = move_to_page(&mut world);
    for session in sessions {
        world.when(initiate(session)).refused(REFUSED);
    }
    world.given_card_entry(account, CardEntry::Number);
    world.when(initiate(sessions[0])).takes_effect();
}

#[test]
fn an_account_that_takes_numbers_keeps_the_rule_of_the_missing_card() {
    let mut world = ScenarioWorld::open();
    let card_id = world.saved_card(2, "owner@example.com");
    let account = move_to_page(&mut world);
    let session = world.session(select(Selection::UnnamedCard));
    world.given_card_entry(account, CardEntry::Number);
    world.when(initiate(session)).refused(Refusal::CardIdMissing);
    let paid = world.when(initiate(session).card(card_id)).pays();
    assert!(matches!(paid.instrument, Instrument::SavedCard { .. }), "{:?}", paid.instrument);
}

#[test]
fn the_card_is_known_from_the_approval_on() {
    let (mut world, _, _) = with_page();
    let id = asked(&mut world);
    assert_eq!((world.payment_row(id).instrument.card(), is_found(&world, id, *b"4242")), (None, false));
    let capture_before = Millis(world.clock.0 + 86_400_000);
    world.given(result(id, approved_on_page("4242", capture_before)));
    let payment = world.payment_row(id);
    let card = payment.instrument.card().expect("it was told");
    assert_eq!((card.first_digits, card.last_digits), (None, "4242"));
    assert_eq!(payment.instrument.display_name(), "Visa 4242");
    assert!(is_found(&world, id, *b"4242"));
    let authorization = payment.authorization.expect("it is authorized");
    assert_eq!(authorization.lapses_at, Some(capture_before), "the acquirer's time is the earlier one");
}

#[test]
fn an_authorization_lapses_no_later_than_without_the_acquirers_time() {
    let (mut world, _, _) = with_page();
    let id = asked(&mut world);
    world.given(result(id, approved_on_page("4242", Millis(u64::MAX))));
    let seconds = till_domain::payment::AUTHORIZATION_LIFETIME_SECONDS;
    let lapses_at = world.payment_row(id).authorization.and_then(|authorization| authorization.lapses_at);
    assert_eq!(lapses_at, Some(world.clock.plus_seconds(seconds)));
}

#[test]
fn the_card_of_a_late_approval_is_known_too() {
    let (mut world, _, _) = with_page();
    let id = asked(&mut world);
    world.given(void(id));
    world.given(canceled_too_late(id, approved_on_page("4242", Millis(u64::MAX))));
    let payment = world.payment_row(id);
    assert_eq!((payment.status, payment.late_success.is_some()), (PaymentStatus::Voided, true));
    assert!(is_found(&world, id, *b"4242"));
    world.when(result(id, approved_on_page("1881", Millis(u64::MAX)))).changes_nothing(Answer::Changed(false));
}

#[test]
fn a_card_that_was_entered_at_the_page_is_not_saved() {
    let (mut world, _, _) = with_page();
    let session = world.session(select(Selection::UnnamedCard));
    let customer = customer_fields().email("new@example.com");
    let payment = world.when(initiate(session).customer(customer).save(SaveCard::Add)).pays();
    world.given(result(payment.id, approved_on_page("4242", Millis(u64::MAX))));
    assert_eq!(world.payment_row(payment.id).status, PaymentStatus::Authorized);
    assert_eq!(world.cards_of(payment.customer_id.expect("an address names a customer")), []);
}

#[test]
fn a_checkout_is_paid_at_the_page_without_a_card() {
    let (mut world, token, card_id) = with_page();
    let owner = customer_fields().email("owner@example.com");
    let start = start_checkout(world.first_installation()).offered_to(owner);
    let id = world.checkout(start);
    world.when(pay_checkout(id, CheckoutChoice::Token(token))).refused(REFUSED);
    world.when(pay_checkout(id, CheckoutChoice::SavedCard(CardRef::Own(card_id)))).refused(REFUSED);
    let answer = world.given(pay_checkout(id, CheckoutChoice::AcquirerPage));
    let Answer::Session(session) = answer else { panic!("{answer:?} is no session") };
    let payment_id = world.look_up::<Sessions>(session).payment_id.expect("it is paid");
    assert_eq!(world.payment_row(payment_id).instrument, Instrument::AcquirerPage { card: None });
}

#[test]
fn a_checkout_elsewhere_is_not_paid_by_a_card_that_nobody_names() {
    let mut world = ScenarioWorld::open();
    let start = start_checkout(world.first_installation());
    let id = world.checkout(start);
    world.when(pay_checkout(id, CheckoutChoice::AcquirerPage)).refused(Refusal::CheckoutCardMissing);
}
