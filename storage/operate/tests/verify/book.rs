//! The sandbox's book.

use std::sync::Arc;

use crate::filled::{Filled, ONE, fault, name};
use crate::shop::{FilledMerchant, person};
use till_domain::command::{AuthorizationResult, CallResult, Command, RecordOperation};
use till_domain::effect::EffectId;
use till_domain::ids::PaymentId;
use till_domain::payment::{CaptureMode, Failure, OperationKind, PENDING_LIFETIME_SECONDS, Payment, PaymentStatus};
use till_domain::records::AnyKey;
use till_operate::acquirer_book::AcquirerBook;
use till_operate::verify::{FaultLocation, Wrong};
use till_sandbox::book::{AuthorizationState, AuthorizeOutcome, Book, BookOperation, MemoryBook};

#[test]
fn an_authorization_without_a_result_needs_an_open_effect() {
    let (filled, payment_id) = Filled::one(|shop, book| {
        shop.trade(2, book);
        let payment_id = shop.pay(&person("c@example.com"), CaptureMode::Automatic);
        shop.note_in_book(payment_id, true, book);
        payment_id
    });
    filled.names(&[]);
    let (family, key, _) = filled.row(&AnyKey::Effects(EffectId::operation(payment_id)));
    filled.store.lose(family, &key);
    filled.names(&[
        fault(ONE, FaultLocation::Row(name(family, &key)), Wrong::Missing),
        fault(ONE, line(payment_id), Wrong::NoResult),
    ]);
}

#[test]
fn differences_between_book_and_payments_are_reported() {
    let (mut filled, ()) = Filled::one(|shop, book| {
        shop.trade(2, book);
        let forgotten = shop.pay(&person("c@example.com"), CaptureMode::Automatic);
        shop.answer(forgotten, true, &mut MemoryBook::new());
    });
    let report = filled.report();
    assert_eq!(report.fault_count, 1, "{:?}", report.faults);
    let shown = report.faults[0].to_string();
    let expected = format!(
        "{ONE}: the sandbox's book holds 4 captures of 40000 minor units, the log 5 captures of 50000 minor units"
    );
    assert_eq!(shown, expected);

    let other: Vec<_> = filled.book.entries().map(|line| line.expect("readable")).collect();
    let mut stranger = other[0].clone();
    (stranger.payment, stranger.reference) = (Some(PaymentId::from_bytes([5; 16])), "stranger".to_owned());
    let mut more = other.iter().find(|line| line.money == other[0].money).expect("the first").clone();
    more.money.amount = till_domain::money::AmountMinor::new(77).expect("in range");
    let changed = FaultLocation::BookLine { reference: more.reference.clone() };
    filled.book.write(&[stranger, more]).expect("in memory");
    let report = filled.report();
    let places: Vec<(&FaultLocation, &Wrong)> =
        report.faults.iter().map(|fault| (&fault.location, &fault.wrong)).collect();
    assert_eq!(report.fault_count, 3, "{places:?}");
    assert!(places.contains(&(&changed, &Wrong::OtherResult)), "{places:?}");
    let stranger = FaultLocation::BookLine { reference: "stranger".to_owned() };
    assert!(places.contains(&(&stranger, &Wrong::NoPayment)), "{places:?}");
}

#[test]
fn a_payment_that_had_ended_agrees_with_a_line_of_either_answer() {
    let (filled, ()) = Filled::one(|shop, book| {
        for approves in [true, false] {
            let payment_id = shop.pay(&person("c@example.com"), CaptureMode::Automatic);
            shop.wait_seconds(PENDING_LIFETIME_SECONDS);
            shop.record(Command::ExpirePayment(payment_id));
            shop.answer(payment_id, approves, book);
            shop.record(Command::RecordGivenBack(payment_id, CallResult::Done));
            assert_eq!(shop.payment(payment_id).status, PaymentStatus::Expired);
        }
    });
    filled.names(&[]);
}

#[test]
fn a_payment_whose_capture_failed_agrees_with_an_approved_line() {
    let Filled { store, keyring, mut book, scratch } = Filled::empty();
    let mut shop = FilledMerchant::open(&store, &keyring, 1);
    let payment_id = shop.pay(&person("c@example.com"), CaptureMode::Automatic);
    shop.note_in_book(payment_id, true, &mut book);
    let mut line = book.entries().next().expect("one line").expect("readable");
    if let BookOperation::Authorize { outcome, .. } = &mut line.operation {
        *outcome = AuthorizeOutcome::Approved(AuthorizationState {
            voided_minor: line.money.amount.get(),
            ..AuthorizationState::default()
        });
    }
    book.write(&[line]).expect("in memory");
    let acquirer_reference = "sandbox-1".to_owned();
    let approved = AuthorizationResult::Approved {
        acquirer_reference,
        captured: false,
        settles_at_once: false,
        is_disputed: false,
    };
    shop.record(Command::RecordAuthorization(payment_id, approved));
    let failure = Failure { code: "capture_failed".to_owned(), message: "Refused.".to_owned() };
    let answers = [(OperationKind::Capture, CallResult::Declined(failure)), (OperationKind::Void, CallResult::Done)];
    for (attempt, (kind, result)) in (1..).zip(answers) {
        let record = RecordOperation { payment_id, kind, attempt, settles_at_once: false, is_disputed: false, result };
        shop.record(Command::RecordOperation(record));
    }
    Filled { store, keyring, book, scratch }.names(&[]);
}

#[test]
fn a_book_that_is_made_anew_has_no_refund_that_is_pending() {
    let Filled { store, keyring, mut book, scratch: _scratch } = Filled::empty();
    let mut shop = FilledMerchant::open(&store, &keyring, 1);
    let payment_id = shop.pay(&person("c@example.com"), CaptureMode::Automatic);
    shop.answer(payment_id, true, &mut book);
    let payment = Payment { refunded_minor: 300, confirmed_refund_minor: 100, ..shop.payment(payment_id) };
    let mut anew = MemoryBook::new();
    anew.record(&[(ONE, Arc::new(payment))]).expect("in memory");
    let line = anew.entries().next().expect("one line").expect("readable");
    let BookOperation::Authorize { outcome: AuthorizeOutcome::Approved(state), .. } = line.operation else {
        panic!("{line:?}")
    };
    assert_eq!(state.refunded_minor, 100);
}

fn line(payment_id: PaymentId) -> FaultLocation {
    FaultLocation::BookLine { reference: format!("{payment_id}/authorize") }
}
