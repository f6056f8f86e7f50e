//! Each kind of difference, and what is none.

use till_domain::acquirer::{AcquirerName, AcquirerRef};
use till_domain::activity::Actor;
use till_domain::customer_action::LateSuccess;
use till_domain::effect::{Effect, EffectKind};
use till_domain::failure::FailureCode;
use till_domain::ids::{AcquirerId, MerchantId, SessionId, TransactionId};
use till_domain::merchant::PaymentMethod;
use till_domain::payment::{Authorization, Capture};
use till_domain::records::{MemoryRows, RowsMut};
use till_domain::session::Instrument;
use till_domain::text::ReturnUrl;

use super::*;
use crate::acquirer::NamedCall;
use crate::reconciliation::Compared;

const ACCOUNT: AcquirerRef = AcquirerRef::Account(AcquirerName::Stripe, AcquirerId::from_bytes([9; 16]));
const PAYMENT: PaymentId = PaymentId::from_bytes([1; 16]);
const REFUND: RefundId = RefundId::from_bytes([2; 16]);
const HOUR: u64 = 3_600_000;
/// The first instant of the range, which has one day; it is compared ten days later.
const FROM: u64 = 1_790_000 * 1_000_000;
const NOON: Millis = Millis(FROM + 12 * HOUR);
const UNTIL: Millis = Millis(FROM + 24 * HOUR);

fn thb(minor: u64) -> Money {
    Money { amount: AmountMinor::new(minor).expect("an amount"), currency: "THB".parse().expect("a currency") }
}

/// A comparison of rows of Till's.
struct Day {
    rows: MemoryRows,
    comparison: BalanceComparison,
}

fn day() -> Day {
    let (currency, now) = (thb(1).currency, Millis(FROM + 240 * HOUR));
    let merchant_id = MerchantId::from_bytes([3; 16]);
    let range = ReconciledRange { merchant_id, account: ACCOUNT, currency, from: Millis(FROM), until: UNTIL, now };
    Day { rows: MemoryRows::default(), comparison: BalanceComparison::new(range) }
}

/// A payment of 1,000 that the acquirer declined.
fn failed() -> Payment {
    let (session_id, instrument) = (SessionId::from_bytes([4; 16]), Instrument::PromptPay);
    let return_url = ReturnUrl::new("https://shop.example/done").expect("a URL");
    let payment = Payment::of_session(PAYMENT, (session_id, thb(1_000), instrument), ACCOUNT, return_url, NOON);
    assert_eq!(payment.instrument.method(), PaymentMethod::PromptPay);
    Payment { status: PaymentStatus::Failed, ..payment }
}

fn authorized() -> Payment {
    let authorization = Authorization { acquirer_reference: "pi_1".to_owned(), at: NOON, lapses_at: None };
    Payment { authorization: Some(authorization), status: PaymentStatus::Authorized, ..failed() }
}

fn captured_at(at: Millis) -> Payment {
    let transaction_id = TransactionId::from_bytes([5; 16]);
    let capture = Capture { amount_minor: 1_000, fee_minor: 0, transaction_id, at, settles_at: Millis(at.0 + HOUR) };
    Payment { capture: Some(capture), status: PaymentStatus::Successful, ..authorized() }
}

fn captured() -> Payment {
    captured_at(NOON)
}

/// A payment that had failed when its money was taken; it was given back an hour later.
fn given_back() -> Payment {
    let late_success = LateSuccess { received_at: NOON, returned_at: Some(Millis(NOON.0 + HOUR)) };
    Payment { late_success: Some(late_success), status: PaymentStatus::Failed, ..authorized() }
}

fn refund(status: RefundStatus) -> Refund {
    Refund {
        id: REFUND,
        external_id: None,
        payment_id: PAYMENT,
        status,
        money: thb(300),
        is_full: false,
        reason: None,
        failure: (status == RefundStatus::Failed).then(|| FailureCode::RefundFailed.into()),
        requested_by: Actor::System,
        transaction_id: TransactionId::from_bytes([6; 16]),
        acquirer_reference: None,
        created_at: NOON,
        refunded_at: (status == RefundStatus::Successful).then_some(NOON),
    }
}

/// A change that the acquirer lists at noon, with the reference of a step of the payment.
fn listed(step: PaymentStep, amount_minor: i64) -> BalanceChange {
    BalanceChange {
        id: "txn_1".to_owned(),
        kind: "charge".to_owned(),
        amount_minor,
        fee_minor: 30,
        currency: "THB".to_owned(),
        at: NOON,
        source: Some("ch_1".to_owned()),
        payment: Some("pi_1".to_owned()),
        reference: Some(NamedCall::first(PAYMENT, step).to_string()),
    }
}

fn charge() -> BalanceChange {
    listed(PaymentStep::Authorize, 1_000)
}

fn refunded() -> BalanceChange {
    listed(PaymentStep::Refund(REFUND), -300)
}

impl Day {
    /// Till has a payment.
    fn with(mut self, payment: Payment) -> Day {
        self.rows.put::<Payments>(payment.id, payment);
        self
    }

    fn with_refund(mut self, status: RefundStatus) -> Day {
        self.rows.put::<Refunds>(REFUND, refund(status));
        self
    }

    /// The call of the payment is open.
    fn with_open(mut self, kind: EffectKind) -> Day {
        let effect = Effect { payment_id: PAYMENT, kind, opened_at: NOON };
        self.rows.put::<Effects>(effect.id(), effect);
        self
    }

    /// The acquirer lists these, the newest first.
    fn listing<const N: usize>(mut self, changes: [BalanceChange; N]) -> Day {
        for change in changes {
            self.comparison.list(&change, &self.rows).expect("rows in memory");
        }
        self
    }

    fn found(mut self) -> Reconciliation {
        if let Some(payment) = self.rows.get::<Payments>(PAYMENT).expect("rows in memory") {
            self.comparison.capture(&payment);
        }
        if let Some(refund) = self.rows.get::<Refunds>(REFUND).expect("rows in memory") {
            self.comparison.refund(&refund, &self.rows).expect("rows in memory");
        }
        self.comparison.found
    }

    /// The kinds of all differences, and the number of what is under way.
    fn kinds(self) -> (Vec<&'static str>, u64) {
        let found = self.found();
        assert_eq!(found.count(), u64::try_from(found.differences.len()).expect("few"));
        (found.differences.iter().map(|difference| difference.kind.name()).collect(), found.under_way)
    }
}

#[test]
fn what_both_sides_have_is_summed_up() {
    let day = day().with(captured()).with_refund(RefundStatus::Successful).listing([refunded(), charge()]);
    let found = day.found();
    let compared = Compared { captures: 1, captured_minor: 1_000, refunds: 1, refunded_minor: 300 };
    assert_eq!(found, Reconciliation { compared, acquirer_fees_minor: 60, ..Reconciliation::default() });
}

#[test]
fn what_the_acquirer_does_not_list_is_missing() {
    let found = day().with(captured()).with_refund(RefundStatus::Successful).found();
    let [capture, refund] = found.differences.as_slice() else { panic!("{found:?}") };
    assert_eq!((capture.kind, capture.amount_minor), (DifferenceKind::MissingAtAcquirer, Some(1_000)));
    assert_eq!((capture.payment_id, capture.acquirer_reference.as_deref()), (Some(PAYMENT), Some("pi_1")));
    assert_eq!((refund.kind, refund.refund_id), (DifferenceKind::MissingAtAcquirer, Some(REFUND)));
    assert_eq!(day().with(failed()).kinds(), (vec![], 0));
}

#[test]
fn what_till_does_not_have_is_unknown_and_named() {
    let dispute = BalanceChange { reference: None, kind: "adjustment".to_owned(), ..listed(PaymentStep::Void, -500) };
    let restored = day().listing([refunded(), charge(), dispute]).found();
    let unknown = DifferenceKind::UnknownToTill;
    assert_eq!(restored.counts, [(unknown, 3)].into());
    let named = |difference: &Difference| (difference.payment_id, difference.refund_id);
    let names: Vec<_> = restored.differences.iter().map(named).collect();
    assert_eq!(names, [(Some(PAYMENT), Some(REFUND)), (Some(PAYMENT), None), (None, None)]);
    let other = AcquirerRef::Account(AcquirerName::Stripe, AcquirerId::from_bytes([8; 16]));
    assert_eq!(day().with(Payment { acquirer: other, ..captured() }).listing([charge()]).kinds().0, [unknown.name()]);
}

#[test]
fn amounts_and_currencies_that_differ_are_told() {
    let partial = BalanceChange { amount_minor: 999, ..charge() };
    assert_eq!(day().with(captured()).listing([partial]).kinds().0, ["amount"]);
    let dollars = BalanceChange { currency: "USD".to_owned(), ..charge() };
    let found = day().with(captured()).listing([dollars]).found();
    assert_eq!((found.counts, found.acquirer_fees_minor), ([(DifferenceKind::Currency, 1)].into(), 0));
}

#[test]
fn a_part_that_was_captured_is_the_amount() {
    let mut payment = captured();
    payment.capture = payment.capture.map(|capture| Capture { amount_minor: 400, ..capture });
    assert_eq!(day().with(payment).listing([listed(PaymentStep::Authorize, 400)]).kinds(), (vec![], 0));
}

#[test]
fn money_that_moved_without_till_is_a_wrong_status() {
    assert_eq!(day().with(failed()).listing([charge()]).kinds(), (vec!["status"], 0));
    assert_eq!(day().with(failed()).with_open(EffectKind::Authorize).listing([charge()]).kinds(), (vec![], 1));
    let refused = |day: Day| day.with(captured()).with_refund(RefundStatus::Failed);
    assert_eq!(refused(day()).listing([refunded(), charge()]).kinds(), (vec!["status"], 0));
    let pending = day().with(captured()).with_refund(RefundStatus::Pending);
    assert_eq!(pending.listing([refunded(), charge()]).kinds(), (vec![], 1));
    let reversed = listed(PaymentStep::Reverse, -1_000);
    assert_eq!(day().with(captured()).listing([reversed, charge()]).kinds(), (vec!["status"], 0));
}

#[test]
fn a_refund_that_came_back_has_failed() {
    let back = || BalanceChange { kind: "refund_failure".to_owned(), ..listed(PaymentStep::Refund(REFUND), 300) };
    let day = |status| day().with(captured()).with_refund(status);
    assert_eq!(day(RefundStatus::Failed).listing([back(), refunded(), charge()]).kinds(), (vec![], 0));
    let later = BalanceChange { at: UNTIL, ..back() };
    assert_eq!(day(RefundStatus::Failed).listing([later, refunded(), charge()]).kinds(), (vec![], 0));
    let successful = day(RefundStatus::Successful).listing([back(), refunded(), charge()]);
    assert_eq!(successful.kinds(), (vec!["status"], 0));
}

#[test]
fn a_late_success_must_have_been_given_back() {
    let reversed = || listed(PaymentStep::Reverse, -1_000);
    let found = day().with(given_back()).listing([reversed(), charge()]).found();
    assert_eq!((found.count(), found.compared.captures, found.compared.refunds), (0, 1, 1));
    assert_eq!(day().with(given_back()).listing([charge()]).kinds(), (vec!["missing_at_acquirer"], 0));
    let kept = || Payment { late_success: Some(LateSuccess { received_at: NOON, returned_at: None }), ..given_back() };
    assert_eq!(day().with(kept()).listing([charge()]).kinds(), (vec!["status"], 0));
    assert_eq!(day().with(kept()).with_open(EffectKind::RefundLate).listing([charge()]).kinds(), (vec![], 1));
}

#[test]
fn a_reversed_payment_was_given_back_before_it_settled() {
    let payment = || Payment { status: PaymentStatus::Reversed, ..captured() };
    let reversed = listed(PaymentStep::Reverse, -1_000);
    assert_eq!(day().with(payment()).listing([reversed, charge()]).kinds(), (vec![], 0));
    assert_eq!(day().with(payment()).listing([charge()]).kinds(), (vec!["missing_at_acquirer"], 0));
    let charged_back = Payment { charged_back_minor: 1_000, ..payment() };
    assert_eq!(day().with(charged_back).listing([charge()]).kinds(), (vec![], 0));
    let mut settles_later = payment();
    settles_later.capture = settles_later.capture.map(|capture| Capture { settles_at: Millis(u64::MAX), ..capture });
    assert_eq!(day().with(settles_later).listing([charge()]).kinds(), (vec![], 0));
}

#[test]
fn what_moved_twice_is_told_also_across_the_ends_of_the_range() {
    assert_eq!(day().with(captured()).listing([charge(), charge()]).kinds(), (vec!["twice"], 0));
    let twice = [refunded(), refunded(), charge()];
    let day_with_refund = day().with(captured()).with_refund(RefundStatus::Successful);
    assert_eq!(day_with_refund.listing(twice).kinds(), (vec!["twice"], 0));
    let before = BalanceChange { at: Millis(FROM - HOUR), ..charge() };
    assert_eq!(day().with(captured()).listing([charge(), before]).kinds(), (vec!["twice"], 0));
    let other = BalanceChange { payment: Some("pi_2".to_owned()), ..charge() };
    assert_eq!(day().with(captured()).listing([other, charge()]).kinds(), (vec!["twice"], 0), "of another intent");
}

#[test]
fn the_ends_of_the_range_make_no_differences() {
    let late = || captured_at(Millis(UNTIL.0 - 1));
    let next_day = BalanceChange { at: UNTIL, ..charge() };
    assert_eq!(day().with(late()).listing([next_day]).kinds(), (vec![], 0), "listed after midnight");
    let early = captured_at(Millis(FROM - 1));
    let found = day().with(early).listing([charge()]).found();
    assert_eq!((found.count(), found.compared.captures), (0, 1), "recorded before midnight");
    let learnt_late = BalanceChange { at: Millis(FROM - HOUR), ..charge() };
    assert_eq!(day().with(captured()).listing([learnt_late]).kinds(), (vec![], 0));
    let strange = BalanceChange { reference: None, ..charge() };
    for at in [Millis(FROM - 1), UNTIL] {
        let changes = [BalanceChange { at, ..strange.clone() }, BalanceChange { at, ..charge() }];
        assert_eq!(day().listing(changes).kinds(), (vec![], 0));
    }
    assert_eq!(day().comparison.range.listed(), (Millis(FROM - 24 * HOUR), Millis(UNTIL.0 + 2 * HOUR)));
}

#[test]
fn a_refund_that_is_confirmed_after_the_list_ends_is_not_judged() {
    let mut rows = day().with(captured());
    let confirmed = |at| Refund { refunded_at: Some(at), ..refund(RefundStatus::Successful) };
    let (_, end) = rows.comparison.range.listed();
    rows.comparison.refund(&confirmed(end), &rows.rows).expect("rows in memory");
    assert_eq!(rows.comparison.found.count(), 0);
    rows.comparison.refund(&confirmed(Millis(end.0 - 1)), &rows.rows).expect("rows in memory");
    assert_eq!(rows.comparison.found.count(), 1);
}

#[test]
fn the_last_fifteen_minutes_are_under_way() {
    let (mut known, mut unknown) = (day().with(captured()), day());
    for day in [&mut known, &mut unknown] {
        day.comparison.range.now = Millis(NOON.0 + HOUR / 4 - 1);
    }
    assert_eq!((known.kinds(), unknown.listing([charge()]).kinds()), ((vec![], 1), (vec![], 1)));
}

#[test]
fn all_differences_are_counted_and_the_first_are_kept() {
    let mut day = day();
    for _ in 0..=DIFFERENCES_MAX {
        day = day.listing([BalanceChange { reference: None, payment: None, ..charge() }]);
    }
    let found = day.found();
    assert_eq!((found.count(), found.differences.len()), (1_001, 1_000));
}
