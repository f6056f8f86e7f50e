//! Linking a payment to a customer: contract, section 4.1.

use crate::words::*;
use crate::world::{ScenarioWorld, raw_id};
use till_domain::customer::{Customer, CustomerFields, OTHER_EMAILS_MAX};
use till_domain::ids::CustomerId;
use till_domain::payment::Payment;
use till_domain::records::{Customers, CustomersByEmail, CustomersByMobile, CustomersByOtherEmail};
use till_domain::refusal::Refusal;

const SOMCHAI: &str = "somchai@example.com";
const MALEE: &str = "malee@example.com";
const NUMBER: &str = "+66812345678";
const OTHER_NUMBER: &str = "+66898765432";

/// Pays with these fields, and returns the payment with its customer.
fn pay(world: &mut ScenarioWorld, fields: CustomerFields) -> (Payment, Customer) {
    let payment = world.payment_by(fields);
    let customer = world.customer_row(payment.customer_id.expect("the fields name a customer"));
    (payment, customer)
}

fn customers(world: &ScenarioWorld) -> usize {
    world.all::<Customers>().len()
}

#[test]
fn without_any_field_there_is_no_customer() {
    let (world, payment) = ScenarioWorld::open_with(|world| world.payment_by(customer_fields()));
    assert_eq!((payment.customer_id, customers(&world)), (None, 0));
}

#[test]
fn a_name_alone_stays_with_the_payment_and_makes_no_customer() {
    let (world, payment) = ScenarioWorld::open_with(|world| world.payment_by(customer_fields().called("Somchai")));
    assert_eq!((payment.customer_id, customers(&world)), (None, 0));
    assert_eq!(payment.contact.name, Some(person("Somchai")));
}

#[test]
fn an_own_id_decides_alone() {
    let (mut world, somchai) = ScenarioWorld::open_with(|world| world.customer(customer_fields().email(SOMCHAI)));
    world.customer(customer_fields().email(MALEE));
    let (payment, customer) = pay(&mut world, customer_fields().own(somchai).email(MALEE));
    assert_eq!(customer.id, somchai);
    assert_eq!(customer.email, Some(email(SOMCHAI)), "another customer's address stays there");
    assert_eq!(payment.contact.email, Some(email(MALEE)), "the payment keeps what was given");
}

#[test]
fn an_own_id_that_nobody_has_is_not_found() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    let fields = customer_fields().own(raw_id(9, CustomerId::from_raw));
    world.when(initiate(session).customer(fields)).refused(Refusal::CustomerNotFound);
}

#[test]
fn an_unknown_identifier_in_the_form_of_an_id_is_not_found() {
    let (mut world, session) = ScenarioWorld::open_with(ScenarioWorld::card_session);
    for text in ["ctc_", "ctc_1", "ctc_01h2e8kqvbfwea724h75qc655"] {
        let fields = customer_fields().known_as(text).email(SOMCHAI);
        world.when(initiate(session).customer(fields)).refused(Refusal::CustomerNotFound);
    }
}

#[test]
fn an_identifier_that_only_begins_like_an_id_is_the_merchants() {
    let mut world = ScenarioWorld::open();
    for text in ["ctc", "ctc-1", "CTC_1", "xctc_1"] {
        let (_, customer) = pay(&mut world, customer_fields().known_as(text));
        assert_eq!(customer.external_id, Some(external(text)));
    }
}

#[test]
fn an_external_id_finds_its_customer_and_decides_alone() {
    let (mut world, known) = ScenarioWorld::open_with(|world| world.customer(customer_fields().known_as("c-1")));
    world.customer(customer_fields().email(MALEE));
    let (_, customer) = pay(&mut world, customer_fields().known_as("c-1").email(MALEE));
    assert_eq!((customer.id, customer.email), (known, None));
}

#[test]
fn an_external_id_that_nobody_has_creates_a_customer_under_it() {
    let mut world = ScenarioWorld::open();
    let (_, customer) =
        pay(&mut world, customer_fields().known_as("c-1").email(SOMCHAI).mobile(NUMBER).called("Somchai"));
    assert_eq!(customer.external_id, Some(external("c-1")));
    assert_eq!(customer.email, Some(email(SOMCHAI)));
    assert_eq!(customer.mobile, Some(mobile(NUMBER)));
    assert_eq!(customer.name, Some(person("Somchai")));
    assert_eq!(customers(&world), 1);
}

#[test]
fn an_external_id_alone_is_enough_to_create_a_customer() {
    let (_, customer) = pay(&mut ScenarioWorld::open(), customer_fields().known_as("c-1"));
    assert_eq!((customer.external_id, customer.email), (Some(external("c-1")), None));
}

#[test]
fn the_customer_found_by_email_receives_a_new_external_id() {
    let (mut world, somchai) = ScenarioWorld::open_with(|world| world.customer(customer_fields().email(SOMCHAI)));
    let (_, customer) = pay(&mut world, customer_fields().known_as("c-1").email(SOMCHAI));
    assert_eq!((customer.id, customer.external_id), (somchai, Some(external("c-1"))));
    let (_, again) = pay(&mut world, customer_fields().known_as("c-1"));
    assert_eq!(again.id, somchai, "and is found by it from now on");
}

#[test]
fn a_mobiles_customer_gets_the_external_id_if_no_email_matches() {
    let (mut world, somchai) = ScenarioWorld::open_with(|world| world.customer(customer_fields().mobile(NUMBER)));
    let (_, customer) = pay(&mut world, customer_fields().known_as("c-1").email(SOMCHAI).mobile(NUMBER));
    assert_eq!((customer.id, customer.external_id), (somchai, Some(external("c-1"))));
    assert_eq!(customer.email, Some(email(SOMCHAI)), "the other fields update the customer");
}

#[test]
fn a_new_external_id_goes_to_the_emails_customer_first() {
    let (mut world, by_email) = ScenarioWorld::open_with(|world| world.customer(customer_fields().email(SOMCHAI)));
    let by_mobile = world.customer(customer_fields().mobile(NUMBER));
    let (_, customer) = pay(&mut world, customer_fields().known_as("c-1").email(SOMCHAI).mobile(NUMBER));
    assert_eq!((customer.id, customer.mobile), (by_email, None));
    assert_eq!(world.customer_row(by_mobile).external_id, None);
}

#[test]
fn a_customer_keeps_its_external_id_and_a_new_one_is_created() {
    let mut world = ScenarioWorld::open();
    let first = world.customer(customer_fields().known_as("c-1").email(SOMCHAI));
    let (payment, second) = pay(&mut world, customer_fields().known_as("c-2").email(SOMCHAI));
    assert_ne!(second.id, first);
    assert_eq!((second.external_id, second.email), (Some(external("c-2")), None));
    assert_eq!(payment.contact.email, Some(email(SOMCHAI)), "the payment keeps what was given");
    assert_eq!(world.customer_row(first).external_id, Some(external("c-1")));
    assert_eq!(world.look_up::<CustomersByEmail>(email(SOMCHAI)), first);
}

#[test]
fn an_emails_customer_with_another_external_id_ends_the_search() {
    let mut world = ScenarioWorld::open();
    world.customer(customer_fields().known_as("c-1").email(SOMCHAI));
    let by_mobile = world.customer(customer_fields().mobile(NUMBER));
    let (_, customer) = pay(&mut world, customer_fields().known_as("c-2").email(SOMCHAI).mobile(NUMBER));
    assert_ne!(customer.id, by_mobile, "the customer found is the one of the e-mail, who has an identifier");
    assert_eq!((customer.email, customer.mobile), (None, None));
}

#[test]
fn an_email_finds_its_customer() {
    let (mut world, somchai) = ScenarioWorld::open_with(|world| world.customer(customer_fields().email(SOMCHAI)));
    let (_, customer) = pay(&mut world, customer_fields().email(SOMCHAI));
    assert_eq!((customer.id, customers(&world)), (somchai, 1));
}

#[test]
fn an_email_that_nobody_has_creates_a_customer() {
    let mut world = ScenarioWorld::open();
    world.customer(customer_fields().email(SOMCHAI));
    let (_, customer) = pay(&mut world, customer_fields().email(MALEE));
    assert_eq!((customer.email, customers(&world)), (Some(email(MALEE)), 2));
}

#[test]
fn a_mobile_finds_its_customer_unless_an_email_matches() {
    let (mut world, somchai) = ScenarioWorld::open_with(|world| world.customer(customer_fields().mobile(NUMBER)));
    assert_eq!(pay(&mut world, customer_fields().mobile(NUMBER)).1.id, somchai);
    let (_, customer) = pay(&mut world, customer_fields().email(SOMCHAI).mobile(NUMBER));
    assert_eq!((customer.id, customer.email), (somchai, Some(email(SOMCHAI))));
}

#[test]
fn a_mobile_that_nobody_has_creates_a_customer() {
    let (_, customer) = pay(&mut ScenarioWorld::open(), customer_fields().mobile(NUMBER));
    assert_eq!((customer.mobile, customer.email), (Some(mobile(NUMBER)), None));
}

#[test]
fn the_email_decides_and_the_mobile_stays_with_its_customer() {
    let (mut world, by_email) = ScenarioWorld::open_with(|world| world.customer(customer_fields().email(SOMCHAI)));
    let by_mobile = world.customer(customer_fields().mobile(NUMBER));
    let (payment, customer) = pay(&mut world, customer_fields().email(SOMCHAI).mobile(NUMBER));
    assert_eq!((customer.id, customer.mobile), (by_email, None));
    assert_eq!(payment.contact.mobile, Some(mobile(NUMBER)));
    assert_eq!(world.customer_row(by_mobile).mobile, Some(mobile(NUMBER)));
}

#[test]
fn the_given_fields_update_the_customer_and_free_old_values() {
    let mut world = ScenarioWorld::open();
    let somchai = world.customer(customer_fields().known_as("c-1").email(SOMCHAI).mobile(NUMBER).called("Somchai"));
    world.after_seconds(5);
    let (_, customer) =
        pay(&mut world, customer_fields().known_as("c-1").email(MALEE).mobile(OTHER_NUMBER).called("Malee"));
    assert_eq!(customer.id, somchai);
    assert_eq!((customer.email, customer.mobile), (Some(email(MALEE)), Some(mobile(OTHER_NUMBER))));
    assert_eq!(customer.name, Some(person("Malee")));
    assert_eq!(customer.updated_at, world.clock);
    assert_eq!(world.find::<CustomersByEmail>(email(SOMCHAI)), None);
    assert_eq!(world.find::<CustomersByMobile>(mobile(NUMBER)), None);
}

#[test]
fn a_missing_field_is_copied_from_the_customer_to_the_payment() {
    let mut world = ScenarioWorld::open();
    world.customer(customer_fields().known_as("c-1").email(SOMCHAI).mobile(NUMBER).called("Somchai"));
    let (payment, customer) = pay(&mut world, customer_fields().known_as("c-1"));
    assert_eq!((customer.email, customer.mobile), (Some(email(SOMCHAI)), Some(mobile(NUMBER))));
    assert_eq!(payment.contact.email, Some(email(SOMCHAI)));
    assert_eq!(payment.contact.mobile, Some(mobile(NUMBER)));
    assert_eq!(payment.contact.name, Some(person("Somchai")));
}

#[test]
fn a_customer_that_nothing_changes_is_not_touched() {
    let mut world = ScenarioWorld::open();
    let before = world.customer(customer_fields().email(SOMCHAI).called("Somchai"));
    let before = world.customer_row(before);
    world.after_seconds(60);
    let (_, after) = pay(&mut world, customer_fields().email(SOMCHAI).called("Somchai"));
    assert_eq!(after, before);
}

#[test]
fn a_later_change_of_the_customer_does_not_change_its_payments() {
    let mut world = ScenarioWorld::open();
    let (payment, _) = pay(&mut world, customer_fields().known_as("c-1").email(SOMCHAI));
    pay(&mut world, customer_fields().known_as("c-1").email(MALEE));
    assert_eq!(world.payment_row(payment.id).contact.email, Some(email(SOMCHAI)));
}

#[test]
fn a_value_that_a_customer_gave_up_can_be_given_to_another() {
    let mut world = ScenarioWorld::open();
    let first = world.customer(customer_fields().known_as("c-1").email(SOMCHAI));
    pay(&mut world, customer_fields().known_as("c-1").email(MALEE));
    let (_, second) = pay(&mut world, customer_fields().email(SOMCHAI));
    assert_ne!(second.id, first);
    assert_eq!(world.look_up::<CustomersByEmail>(email(SOMCHAI)), second.id);
}

#[test]
fn the_fields_of_the_selection_are_defaults_field_by_field() {
    let chosen = customer_fields().known_as("c-1").email(SOMCHAI).mobile(NUMBER).called("Somchai");
    let given = [
        customer_fields(),
        customer_fields().known_as("c-2"),
        customer_fields().email(MALEE),
        customer_fields().mobile(OTHER_NUMBER),
        customer_fields().called("Malee"),
    ];
    for here in given {
        let mut world = ScenarioWorld::open();
        let token = world.token(1, till_domain::card::TokenUsage::Single);
        let session = world.session(select_token(token).customer(chosen.clone()));
        let payment = world.when(initiate(session).customer(here.clone())).pays();
        let expected = here.with_defaults(&chosen);
        assert_eq!(payment.contact, expected.contact);
        let customer = world.customer_row(payment.customer_id.expect("an identifier names a customer"));
        let named = if here.id.is_some() { external("c-2") } else { external("c-1") };
        assert_eq!(customer.external_id, Some(named));
    }
}

#[test]
fn a_device_does_not_name_another_customer_than_the_call() {
    let mut world = ScenarioWorld::open();
    let victim = world.customer(customer_fields().known_as("c-1").email(SOMCHAI).mobile(NUMBER));
    let before = world.customer_row(victim);
    let devices = [
        customer_fields().known_as("c-1"),
        customer_fields().own(victim),
        customer_fields().email(SOMCHAI),
        customer_fields().mobile(NUMBER),
    ];
    let calls =
        [customer_fields().email(MALEE), customer_fields().mobile(OTHER_NUMBER), customer_fields().known_as("c-2")];
    for (here, chosen) in calls.iter().flat_map(|here| devices.iter().map(move |chosen| (here, chosen))) {
        let token = world.token(1, till_domain::card::TokenUsage::Multiple);
        let session = world.session(select_token(token).customer(chosen.clone()));
        let payment = world.when(initiate(session).customer(here.clone())).pays();
        assert_ne!(payment.customer_id, Some(victim), "{here:?} {chosen:?}");
        assert_eq!(payment.contact.email, here.with_defaults(chosen).contact.email, "the payment keeps what was given");
        assert_eq!(world.customer_row(victim), before, "{here:?} {chosen:?}");
    }
}

#[test]
fn a_device_names_the_customer_unless_the_call_names_another() {
    let mut world = ScenarioWorld::open();
    let known = world.customer(customer_fields().known_as("c-1").email(SOMCHAI));
    for here in [
        customer_fields(),
        customer_fields().called("Malee"),
        customer_fields().email(SOMCHAI),
        customer_fields().known_as("c-1"),
    ] {
        let token = world.token(1, till_domain::card::TokenUsage::Single);
        let session = world.session(select_token(token).customer(customer_fields().known_as("c-1").mobile(NUMBER)));
        assert_eq!(world.when(initiate(session).customer(here)).pays().customer_id, Some(known));
    }
    assert_eq!(world.customer_row(known).mobile, Some(mobile(NUMBER)));
}

#[test]
fn an_unknown_id_of_a_device_is_refused_unless_overruled() {
    let mut world = ScenarioWorld::open();
    let unknown = customer_fields().own(raw_id(9, CustomerId::from_raw));
    let token = world.token(1, till_domain::card::TokenUsage::Single);
    let session = world.session(select_token(token).customer(unknown));
    world.when(initiate(session)).refused(Refusal::CustomerNotFound);
    world.when(initiate(session).customer(customer_fields().known_as("c-1"))).takes_effect();
}

#[test]
fn a_saved_card_sessions_owner_may_be_named_by_each_field_alone() {
    let mut world = ScenarioWorld::open();
    let owner = world.customer(customer_fields().known_as("c-1").email(SOMCHAI).mobile(NUMBER));
    let card = world.saved_card(1, SOMCHAI);
    for fields in [
        customer_fields().own(owner),
        customer_fields().known_as("c-1"),
        customer_fields().email(SOMCHAI),
        customer_fields().mobile(NUMBER),
    ] {
        let session = world.session(select_saved(card));
        let payment = world.when(initiate(session).customer(fields)).pays();
        assert_eq!(payment.customer_id, Some(owner));
    }
}

#[test]
fn a_saved_card_sessions_owner_may_be_named_at_selection() {
    let (mut world, card) = ScenarioWorld::open_with(|world| world.saved_card(1, SOMCHAI));
    let session = world.session(select_saved(card).customer(customer_fields().email(SOMCHAI)));
    let stranger = initiate(session).customer(customer_fields().email(MALEE));
    world.when(stranger).refused(Refusal::CustomerMismatch);
    world.when(initiate(session)).takes_effect();
    let session = world.session(select_saved(card).customer(customer_fields().email(MALEE)));
    world.when(initiate(session)).refused(Refusal::CustomerMismatch);
    world.when(initiate(session).customer(customer_fields().email(SOMCHAI))).takes_effect();
}

#[test]
fn every_field_that_does_not_name_the_cards_owner_mismatches() {
    let mut world = ScenarioWorld::open();
    let owner = world.customer(customer_fields().known_as("c-1").email(SOMCHAI).mobile(NUMBER));
    let other = world.customer(customer_fields().known_as("c-2").email(MALEE).mobile(OTHER_NUMBER));
    let card = world.saved_card(1, SOMCHAI);
    let session = world.session(select_saved(card));
    let mismatches = [
        customer_fields().own(other),
        customer_fields().known_as("c-2"),
        customer_fields().email(MALEE),
        customer_fields().mobile(OTHER_NUMBER),
        customer_fields().own(owner).email(MALEE),
        customer_fields().own(owner).mobile(OTHER_NUMBER),
        customer_fields().known_as("c-2").email(SOMCHAI),
        customer_fields().email(SOMCHAI).mobile(OTHER_NUMBER),
    ];
    for fields in mismatches {
        world.when(initiate(session).customer(fields)).refused(Refusal::CustomerMismatch);
    }
}

#[test]
fn a_field_that_matches_nobody_is_a_mismatch_with_a_saved_card() {
    let (mut world, owner) = ScenarioWorld::open_with(|world| world.customer(customer_fields().email(SOMCHAI)));
    let card = world.saved_card(1, SOMCHAI);
    let session = world.session(select_saved(card));
    let strangers = [
        customer_fields().known_as("c-9"),
        customer_fields().email("nobody@example.com"),
        customer_fields().mobile(OTHER_NUMBER),
        customer_fields().own(owner).email("nobody@example.com"),
        customer_fields().own(owner).mobile(OTHER_NUMBER),
        customer_fields().known_as("c-9").email(SOMCHAI),
    ];
    for fields in strangers {
        world.when(initiate(session).customer(fields)).refused(Refusal::CustomerMismatch);
    }
}

#[test]
fn a_name_given_with_the_owner_of_a_saved_card_renames_it() {
    let (mut world, card) = ScenarioWorld::open_with(|world| world.saved_card(1, SOMCHAI));
    let session = world.session(select_saved(card));
    let payment = world.when(initiate(session).customer(customer_fields().email(SOMCHAI).called("Somchai J"))).pays();
    let owner = world.customer_row(payment.customer_id.expect("the owner was named"));
    assert_eq!(owner.name, Some(person("Somchai J")));
}

#[test]
fn an_address_that_payments_may_show_leads_to_the_customer() {
    let mut world = ScenarioWorld::open();
    let first = world.customer(customer_fields().known_as("c-1").email(SOMCHAI));
    world.customer(customer_fields().known_as("c-2").email(MALEE));
    let (_, customer) = pay(&mut world, customer_fields().own(first).email(MALEE));
    assert_eq!(customer.other_emails, [email(MALEE)], "another customer's, which the payment shows");
    let (_, again) = pay(&mut world, customer_fields().own(first).email(MALEE));
    assert_eq!(again, customer, "an address that is known changes nothing");
    let (_, moved) = pay(&mut world, customer_fields().own(first).email("new@example.com"));
    assert_eq!(moved.other_emails, [email(MALEE), email(SOMCHAI)], "and a former one");
    let (_, back) = pay(&mut world, customer_fields().own(first).email(SOMCHAI));
    assert_eq!(back.other_emails, [email(MALEE), email("new@example.com")]);
    assert_eq!(world.all::<CustomersByOtherEmail>().len(), 2);
    assert!(world.find::<CustomersByOtherEmail>((email(MALEE), first)).is_some());
    world.given(remove_contact(first));
    assert!(world.all::<CustomersByOtherEmail>().is_empty());
}

#[test]
fn the_newest_addresses_of_a_customer_are_kept() {
    let mut world = ScenarioWorld::open();
    let id = world.customer(customer_fields().known_as("c-1").email("c0@example.com"));
    for number in 1..=OTHER_EMAILS_MAX + 1 {
        world.given(update_contact(id, &customer_fields().email(&format!("c{number}@example.com"))));
    }
    let kept = world.customer_row(id).other_emails;
    assert_eq!((kept.len(), &kept[0]), (OTHER_EMAILS_MAX, &email("c1@example.com")));
    assert_eq!(world.all::<CustomersByOtherEmail>().len(), OTHER_EMAILS_MAX);
}
