//! The sandbox's book.

use crate::filled::Filled;
use crate::filled::ONE;
use crate::filled::fault;
use crate::filled::name;
use crate::shop::Shop;
use crate::shop::person;
use till_domain::effect::EffectId;
use till_domain::ids::PaymentId;
use till_domain::payment::CaptureMode;
use till_domain::records::AnyKey;
use till_operate::verify::Place;
use till_operate::verify::Wrong;
use till_sandbox::book::Book;
use till_sandbox::book::MemoryBook;

#[test]
fn an_authorization_in_the_book_without_a_result_is_allowed_only_while_its_effect_is_open() {
    let Filled { store, keyring, mut book, scratch } = Filled::empty();
    let mut shop = Shop::open(&store, &keyring, 1);
    shop.trade(2, &mut book);
    let payment_id = shop.pay(&person("c@example.com"), CaptureMode::Automatic);
    shop.note_in_book(payment_id, true, &mut book);
    let filled = Filled { store, keyring, book, scratch };
    filled.names(&[]);
    let (family, key, _) = filled.row(&AnyKey::Effects(EffectId::operation(payment_id)));
    filled.store.lose(family, &key);
    filled.names(&[
        fault(ONE, Place::Row(name(family, &key)), Wrong::Missing),
        fault(ONE, line(payment_id), Wrong::NoResult),
    ]);
}

#[test]
fn a_book_that_lacks_a_capture_holds_another_result_or_a_payment_of_nobody_is_named() {
    let Filled { store, keyring, mut book, scratch } = Filled::empty();
    let mut shop = Shop::open(&store, &keyring, 1);
    shop.trade(2, &mut book);
    let forgotten = shop.pay(&person("c@example.com"), CaptureMode::Automatic);
    shop.answer(forgotten, true, &mut MemoryBook::new());
    let filled = Filled { store, keyring, book, scratch };
    let report = filled.report();
    assert_eq!(report.fault_count, 1, "{:?}", report.faults);
    let shown = report.faults[0].to_string();
    let expected = format!(
        "{ONE}: the sandbox's book holds 4 captures of 40000 minor units, the log 5 captures of 50000 minor units"
    );
    assert_eq!(shown, expected);

    let Filled { store, keyring, mut book, scratch } = filled;
    let other: Vec<_> = book.entries().map(|line| line.expect("readable")).collect();
    let mut stranger = other[0].clone();
    (stranger.payment, stranger.reference) = (PaymentId::from_bytes([5; 16]), "stranger".to_owned());
    let mut more = other.iter().find(|line| line.money == other[0].money).expect("the first").clone();
    more.money.amount = till_domain::money::AmountMinor::new(77).expect("in range");
    let changed = Place::BookLine(more.reference.clone());
    book.write(&[stranger, more]).expect("in memory");
    let report = Filled { store, keyring, book, scratch }.report();
    let places: Vec<(&Place, &Wrong)> = report.faults.iter().map(|fault| (&fault.place, &fault.wrong)).collect();
    assert_eq!(report.fault_count, 3, "{places:?}");
    assert!(places.contains(&(&changed, &Wrong::OtherResult)), "{places:?}");
    assert!(places.contains(&(&Place::BookLine("stranger".to_owned()), &Wrong::NoPayment)), "{places:?}");
}

fn line(payment_id: PaymentId) -> Place {
    Place::BookLine(format!("{payment_id}/authorize"))
}
