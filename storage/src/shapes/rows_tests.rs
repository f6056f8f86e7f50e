use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq};
use proptest::proptest;
use till_domain::card::{Card, Token};
use till_domain::customer::Contact;
use till_domain::effect::EffectId;
use till_domain::event::Event;
use till_domain::ids::PaymentId;
use till_domain::metadata::{CanonicalJson, DOCUMENT_BYTES_MAX, Document, VALUE_BYTES_MAX};
use till_domain::payment::Payment;
use till_domain::preparation::Preparation;
use till_domain::records::{self, Table};
use till_domain::session::Instrument;
use till_domain::text::ActionAddress;

use super::super::drawn::Draw;
use super::super::mutation::{EventV1, decode_mutation, encode_mutation};
use super::super::samples::{self, TestPersonal};
use super::super::state::{decode_state, encode_state};
use super::super::tables::{FIRST_ROW_FORMAT, ROW_FORMAT};
use super::*;
use crate::vault::SubjectId;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_row_reads_back_and_gives_the_same_bytes_again(choices in vec(any::<u64>(), 0..120)) {
        let (key, row) = Draw::new(choices).row();
        let mut personal = TestPersonal::default();
        let bytes = encode_row(&row, &key, &mut personal).expect("a row under its key");
        prop_assert!((FIRST_ROW_FORMAT..=ROW_FORMAT).contains(&bytes[0]));
        let read = decode_row(&key, &bytes, &personal).expect("just encoded");
        prop_assert_eq!(&read, &row);
        prop_assert_eq!(encode_row(&read, &key, &mut personal).expect("as before"), bytes);
    }

    #[test]
    fn every_mutation_reads_back_and_gives_the_same_bytes_again(choices in vec(any::<u64>(), 0..400)) {
        let mutation = Draw::new(choices).mutation();
        let mut personal = TestPersonal::default();
        let bytes = encode_mutation(&mutation, &mut personal).expect("small");
        let read = decode_mutation(&bytes, &personal).expect("just encoded");
        prop_assert_eq!(&read, &mutation);
        prop_assert_eq!(encode_mutation(&read, &mut personal).expect("small"), bytes);
    }

    #[test]
    fn every_state_reads_back_and_gives_the_same_bytes_again(choices in vec(any::<u64>(), 0..200)) {
        let state = Draw::new(choices).state();
        let bytes = encode_state(&state).expect("small");
        prop_assert_eq!(decode_state(&bytes), Ok(state.clone()));
        prop_assert_eq!(encode_state(&state).expect("small"), bytes);
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(bytes in vec(any::<u8>(), 0..200)) {
        // Random bytes contain no valid sealed fields, so only shapes without personal data are read.
        let bytes = [[1].as_slice(), &bytes].concat();
        let _ = decode_state(&bytes);
        for table in TableKind::ALL.iter().copied().filter(|table| !has_personal_data(*table)) {
            let _ = decode_row_of(table, &bytes, &TestPersonal::default());
        }
    }

    #[test]
    fn a_truncated_body_is_refused(choices in vec(any::<u64>(), 0..200), at in any::<proptest::sample::Index>()) {
        let bytes = encode_mutation(&Draw::new(choices).mutation(), &mut TestPersonal::default()).expect("small");
        prop_assert!(decode_mutation(&bytes[..at.index(bytes.len())], &TestPersonal::default()).is_err());
    }
}

fn erased(subject: SubjectId) -> TestPersonal {
    TestPersonal { erased: [subject].into() }
}

fn encoded(key: &AnyKey, row: &AnyRow) -> Vec<u8> {
    encode_row(row, key, &mut TestPersonal::default()).expect("a row under its key")
}

fn payment_row(payment: Payment) -> (AnyKey, AnyRow) {
    (AnyKey::Payments(payment.id), records::Payments::wrap(payment))
}

#[test]
fn a_row_of_an_erased_customer_keeps_all_but_personal_data() {
    let customer = samples::customer();
    let (key, row) = (AnyKey::Customers(customer.id), records::Customers::wrap(customer.clone()));
    let nobody = erased(SubjectId::customer(customer.id));
    let read = decode_row(&key, &encoded(&key, &row), &nobody);
    let left =
        till_domain::customer::Customer { email: None, mobile: None, name: None, other_emails: Vec::new(), ..customer };
    assert_eq!(read, Ok(records::Customers::wrap(left)));
}

#[test]
fn a_payments_contact_is_sealed_for_its_customer_or_itself() {
    let with = samples::payment();
    let without = samples::payment_without_customer();
    let customer = erased(SubjectId::customer(with.customer_id.expect("the sample has one")));
    let own = erased(SubjectId::payment(without.id));
    for (payment, personal, is_left) in
        [(&with, &customer, false), (&with, &own, true), (&without, &customer, true), (&without, &own, false)]
    {
        let (key, row) = payment_row(payment.clone());
        let contact = if is_left { payment.contact.clone() } else { Contact::default() };
        let read = decode_row(&key, &encoded(&key, &row), personal);
        assert_eq!(read, Ok(records::Payments::wrap(Payment { contact, ..payment.clone() })));
    }
}

#[test]
fn the_customer_fields_of_a_session_are_sealed_for_it() {
    let session = samples::session();
    let (key, row) = (AnyKey::Sessions(session.id), records::Sessions::wrap(session.clone()));
    let Ok(AnyRow::Sessions(read)) = decode_row(&key, &encoded(&key, &row), &erased(SubjectId::session(session.id)))
    else {
        panic!("a session reads back as one");
    };
    assert_eq!(read.customer.contact, Contact::default());
    assert_eq!(read.customer.id, session.customer.id, "the merchant's own identifier is not personal");
}

#[test]
fn a_holder_is_sealed_for_the_token_or_the_cards_customer() {
    let (token, card) = (samples::token(), samples::card());
    let tokens = (AnyKey::Tokens(token.id), records::Tokens::wrap(token.clone()));
    let cards = (AnyKey::Cards(card.id), records::Cards::wrap(card.clone()));
    let without_token = Token { card: token.card.clone().without_holder(), ..token.clone() };
    let without_card = Card { card: card.card.clone().without_holder(), ..card.clone() };
    let [of_token, of_customer] = [SubjectId::token(token.id), SubjectId::customer(card.customer_id)].map(erased);
    for ((key, row), personal, left) in [
        (&tokens, &of_token, records::Tokens::wrap(without_token)),
        (&tokens, &of_customer, tokens.1.clone()),
        (&cards, &of_customer, records::Cards::wrap(without_card)),
        (&cards, &of_token, cards.1.clone()),
    ] {
        let stored = encoded(key, row);
        assert_eq!(decode_row(key, &stored, personal), Ok(left.clone()));
        assert_eq!(is_same_row(key, &stored, &encoded(key, &left), personal), Ok(true), "except for the erased person");
    }
}

#[test]
fn a_session_or_payment_with_a_holder_is_not_written() {
    let card = samples::card();
    let instrument = Instrument::SavedCard { card_id: card.id, owner: card.customer_id, card: card.card };
    let (key, row) = payment_row(Payment { instrument, ..samples::payment() });
    assert!(encode_row(&row, &key, &mut TestPersonal::default()).is_err());
}

#[test]
fn personal_data_is_never_in_clear() {
    let rows: Vec<Vec<u8>> = samples::rows().iter().map(|(key, row)| encoded(key, row)).collect();
    // Keys with the addresses of dashboard users, which are in clear; the sample's is that of a customer.
    let is_of_users = |key: &AnyKey| {
        matches!(key, AnyKey::ActivitiesByEmail(_) | AnyKey::ActivitiesByActorEmail(_) | AnyKey::ActivityEmails(_))
    };
    let keys = samples::rows()
        .into_iter()
        .filter(|(key, _)| !is_of_users(key))
        .map(|(key, _)| super::super::keys::row_key(samples::MERCHANT, &key, &TestPersonal::default()).1);
    let body = encode_mutation(&samples::mutation(samples::events()), &mut TestPersonal::default()).expect("small");
    for bytes in rows.into_iter().chain(keys).chain([body]) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        for personal in ["somchai@example.com", "+66812345678", "Somchai Jaidee", "S JAIDEE"] {
            assert!(!text.contains(personal), "{text:?}");
        }
    }
}

#[test]
fn a_row_under_another_key_is_neither_written_nor_read() {
    let (key, row) = payment_row(samples::payment());
    let bytes = encoded(&key, &row);
    let other = AnyKey::Payments(PaymentId::from_bytes([0x77; 16]));
    assert_eq!(decode_row(&other, &bytes, &TestPersonal::default()), Err(ShapeError::OtherKey { table: "Payments" }));
    assert!(encode_row(&row, &other, &mut TestPersonal::default()).is_err());
    let other_table = AnyKey::Effects(EffectId::operation(samples::payment().id));
    assert!(encode_row(&row, &other_table, &mut TestPersonal::default()).is_err());
}

#[test]
fn a_row_of_another_format_is_refused_as_unknown() {
    let (key, row) = payment_row(samples::payment());
    let mut bytes = encoded(&key, &row);
    bytes[0] = 2;
    let read = decode_row(&key, &bytes, &TestPersonal::default());
    assert_eq!(read, Err(ShapeError::UnknownFormat { what: "Payments", found: 2 }));
}

#[test]
fn an_amount_that_the_domain_does_not_allow_is_damage() {
    let (key, row) = payment_row(samples::payment_without_customer());
    let bytes = encoded(&key, &row);
    let amount = [251, 0x27, 0x10]; // 10,000
    let at = bytes.windows(3).position(|window| window == amount).expect("the row contains the amount");
    let zeroed = [&bytes[..at], &[0], &bytes[at + 3..]].concat();
    let read = decode_row(&key, &zeroed, &TestPersonal::default());
    assert_eq!(read, Err(ShapeError::OutOfRange { what: "an amount" }));
}

#[test]
fn a_stored_row_equals_its_replay_except_for_an_erased_person() {
    let payment = samples::payment();
    let (key, row) = payment_row(payment.clone());
    let stored = encoded(&key, &row);
    let everybody = TestPersonal::default();
    assert_eq!(is_same_row(&key, &stored, &stored, &everybody), Ok(true));
    let replayed = encoded(&key, &payment_row(Payment { contact: Contact::default(), ..payment.clone() }).1);
    let nobody = erased(SubjectId::customer(payment.customer_id.expect("the sample has one")));
    assert_eq!(is_same_row(&key, &stored, &replayed, &nobody), Ok(true));
    assert_eq!(is_same_row(&key, &stored, &replayed, &everybody), Ok(false));
    let other = Payment { contact: Contact::default(), refunded_minor: payment.refunded_minor + 1, ..payment };
    let replayed = encoded(&key, &payment_row(other).1);
    assert_eq!(is_same_row(&key, &stored, &replayed, &nobody), Ok(false));
}

#[test]
fn a_stored_preparation_equals_its_replay_after_its_page_was_forgotten() {
    let page = ActionAddress::new("https://acquirer.example/pay").expect("an address");
    let payment_id = samples::payment().id;
    let prepared = Preparation { payment_id, acquirer_reference: "cs_1".to_owned(), page: Some(page) };
    let row = |prepared: &Preparation| {
        encoded(&AnyKey::Preparations(payment_id), &records::Preparations::wrap(prepared.clone()))
    };
    let (stored, replayed) = (row(&prepared), row(&Preparation { page: None, ..prepared }));
    let forgotten = erased(SubjectId::acquirer_page(payment_id));
    assert_eq!(is_same_row(&AnyKey::Preparations(payment_id), &stored, &replayed, &forgotten), Ok(true));
}

#[test]
fn a_mutation_too_large_to_be_read_back_is_not_written() {
    let of = |count| samples::mutation(vec![Event::BalanceOpened; count]);
    let bytes = encode_mutation(&of(5_000), &mut TestPersonal::default()).expect("fits");
    assert_eq!(decode_mutation(&bytes, &TestPersonal::default()), Ok(of(5_000)));
    assert!(encode_mutation(&of(100_000), &mut TestPersonal::default()).is_err());
}

#[test]
fn the_largest_change_of_metadata_fits_a_record() {
    let [saved, formed] = ["MetadataSaved", "MetadataSetFormed"]
        .map(|name| EventV1::VARIANTS.iter().position(|variant| *variant == name).expect("a kind of event"));
    let events = samples::events();
    let (
        Event::MetadataSaved { key, record, timer_was, garbage_below, .. },
        Event::MetadataSetFormed { id, number, set, .. },
    ) = (&events[saved], &events[formed])
    else {
        panic!("an event has another name")
    };
    let text = |bytes: u64| "x".repeat(usize::try_from(bytes).expect("some MiB"));
    // One half of a document of the largest size becomes a set, to which the largest value is added.
    let half = DOCUMENT_BYTES_MAX / 2;
    let value = u64::try_from(VALUE_BYTES_MAX).expect("a MiB");
    let (id, number, set, position) = (*id, *number, *set, 0);
    let mutation = samples::mutation(vec![
        Event::MetadataSaved {
            key: key.clone(),
            record: *record,
            timer_was: *timer_was,
            document: Some(Document::from_stored(text(half + value))),
            garbage_below: *garbage_below,
        },
        Event::MetadataSetFormed { id, number, set, items: CanonicalJson::from_canonical(text(half)) },
        Event::MetadataItemAdded { id, number, set, position, item: CanonicalJson::from_canonical(text(value)) },
    ]);
    let bytes = encode_mutation(&mutation, &mut TestPersonal::default()).expect("fits");
    assert!(bytes.len() <= crate::journal::record::BODY_LEN_MAX);
    assert_eq!(decode_mutation(&bytes, &TestPersonal::default()), Ok(mutation));
}
