//! The sandbox's book.

use std::sync::Arc;

use crate::filled::{Filled, ONE, fault, name};
use crate::shop::{FilledMerchant, person};
use till_domain::command::{
    ApprovedAuthorization, AuthorizationResult, CallResult, Cancellation, Command, MovedMoney, RecordOperation,
    RequiredAction,
};
use till_domain::customer_action::CustomerStep;
use till_domain::effect::EffectId;
use till_domain::failure::FailureCode;
use till_domain::ids::PaymentId;
use till_domain::payment::{CaptureMode, OperationKind, PENDING_LIFETIME_SECONDS, Payment, PaymentStatus};
use till_domain::records::AnyKey;
use till_domain::text::ActionAddress;
use till_operate::acquirer_book::AcquirerBook;
use till_operate::verify::{FaultLocation, Wrong};
use till_sandbox::book::{
    AuthorizationState, AuthorizeOutcome, Book, BookLine, BookOperation, MemoryBook, totals_by_merchant,
};
use till_storage::memory::MemoryStore;

/// The acquirer's success.
fn done() -> CallResult {
    CallResult::Done(MovedMoney::of("acquirer:1"))
}

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
            shop.record(Command::RecordGivenBack(payment_id, done()));
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
    let approved = AuthorizationResult::Approved(ApprovedAuthorization {
        acquirer_reference,
        captured: false,
        settles_at_once: false,
        is_disputed: false,
        authentication: None,
        capture_before: None,
        card: None,
    });
    shop.record(Command::RecordAuthorization(payment_id, approved));
    let refused = CallResult::Declined(FailureCode::CaptureFailed.into());
    let answers = [(OperationKind::Capture, refused), (OperationKind::Void, done())];
    for (attempt, (kind, result)) in (1..).zip(answers) {
        let record = RecordOperation { payment_id, kind, attempt, result };
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

#[test]
fn a_payment_that_asks_its_customer_agrees_with_a_line_that_waits() {
    let (mut filled, (open, over)) = Filled::one(|shop, book| {
        let over = asked(shop);
        note(shop, over, AuthorizeOutcome::Canceled, book);
        shop.wait_seconds(ACTION_SECONDS);
        shop.fire_due();
        shop.record(Command::RecordCancellation(over, Cancellation::Canceled));
        assert_eq!(shop.payment(over).status, PaymentStatus::Expired);
        let open = asked(shop);
        note(shop, open, AuthorizeOutcome::Waiting, book);
        (open, over)
    });
    filled.names(&[]);
    for (payment_id, outcome) in
        [(over, AuthorizeOutcome::Waiting), (over, AuthorizeOutcome::Approved(AuthorizationState::default()))]
    {
        let before = line_of(&filled.book, payment_id);
        let mut changed = before.clone();
        if let BookOperation::Authorize { outcome: had, .. } = &mut changed.operation {
            *had = outcome;
        }
        filled.book.write(&[changed]).expect("in memory");
        filled.names(&[fault(ONE, line(payment_id), Wrong::OtherResult)]);
        filled.book.write(&[before]).expect("in memory");
    }
    assert_ne!(open, over);
}

#[test]
fn a_late_success_that_was_given_back_agrees_with_its_line_and_with_a_book_made_anew() {
    let (filled, payment) = Filled::one(|shop, book| {
        let late = asked(shop);
        shop.wait_seconds(ACTION_SECONDS);
        shop.fire_due();
        shop.record(Command::RecordCancellation(late, Cancellation::Canceled));
        shop.answer(late, true, book);
        shop.record(Command::RecordGivenBack(late, done()));
        shop.payment(late)
    });
    filled.names(&[]);
    let amount = payment.money.amount.get();
    let mut anew = MemoryBook::new();
    anew.record(&[(ONE, Arc::new(payment))]).expect("in memory");
    let totals = totals_by_merchant(&anew).expect("the sums agree")[&ONE];
    assert_eq!((totals.captured_minor, totals.refunded_minor), (u128::from(amount), u128::from(amount)));
}

#[test]
fn a_book_that_is_brought_up_to_the_log_closes_the_actions_of_payments_that_ended() {
    let (filled, payment) = Filled::one(|shop, book| {
        let over = asked(shop);
        note(shop, over, AuthorizeOutcome::Waiting, book);
        shop.wait_seconds(ACTION_SECONDS);
        shop.fire_due();
        shop.record(Command::RecordCancellation(over, Cancellation::Canceled));
        shop.payment(over)
    });
    let (mut book, payment_id) = (filled.book.clone(), payment.id);
    book.record(&[(ONE, Arc::new(payment))]).expect("in memory");
    let BookOperation::Authorize { outcome, .. } = line_of(&book, payment_id).operation else { panic!("it is one") };
    assert_eq!(outcome, AuthorizeOutcome::Canceled);
    filled.names(&[]);
}

/// The time of a customer.
const ACTION_SECONDS: u64 = 600;

/// A payment whose customer must act.
fn asked(shop: &mut FilledMerchant<'_, MemoryStore>) -> PaymentId {
    let payment_id = shop.pay(&person("c@example.com"), CaptureMode::Automatic);
    let step = CustomerStep::Redirect(ActionAddress::new("/sandbox/challenge/1").expect("an address"));
    let required = RequiredAction { step, authenticates: true, lifetime_seconds: ACTION_SECONDS };
    shop.record(Command::RecordAuthorization(payment_id, AuthorizationResult::NeedsAction(required)));
    payment_id
}

/// Writes the sandbox's line of an authorization with this outcome.
fn note(
    shop: &FilledMerchant<'_, MemoryStore>,
    payment_id: PaymentId,
    outcome: AuthorizeOutcome,
    book: &mut MemoryBook,
) {
    shop.note_in_book(payment_id, true, book);
    let mut line = line_of(book, payment_id);
    if let BookOperation::Authorize { outcome: had, .. } = &mut line.operation {
        *had = outcome;
    }
    book.write(&[line]).expect("in memory");
}

fn line_of(book: &MemoryBook, payment_id: PaymentId) -> BookLine {
    book.line(&format!("{payment_id}/authorize")).expect("in memory").expect("it is there")
}

fn line(payment_id: PaymentId) -> FaultLocation {
    FaultLocation::BookLine { reference: format!("{payment_id}/authorize") }
}
