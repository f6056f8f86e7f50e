//! The cards by which the sandbox plays a provider that is slow, fails later or does not answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use till_actors::acquirer::{
    Acquirer, AcquirerAnswer, AcquirerCall, Awaited, CallAnswer, CallDone, FollowUpRequest, LateAnswer, LookedUp,
    NamedCall, PaymentStep,
};
use till_domain::failure::FailureCode;
use till_domain::ids::{MerchantId, RefundId};
use till_domain::payment::CaptureMode;
use tokio::sync::mpsc;

use super::behaviour_tests::{
    Calls, ClockGate, MERCHANT, NOW_MS, approved, authorize, card, decline_code, follow_up, is_done, lines, payment,
    wait,
};
use super::{PendingEnd, PlayedAcquirer, SandboxAcquirer};
use crate::book::{Book, BookOperation, MemoryBook, MerchantTotals, totals_by_merchant};

const REFUND_WAITS: &str = "4000000000007726";
const REFUND_FAILS_LATER: &str = "4000000000005126";
const CAPTURE_FAILS: &str = "4000000000003055";
const TIMES_OUT_DONE: &str = "4000000000003063";
const TIMES_OUT_UNDONE: &str = "4000000000003097";
const ANSWERS_LATE: &str = "4000000000003238";
const ANSWERS_TWICE: &str = "4000000000003220";

/// The sandbox's time, which a test moves.
#[derive(Clone)]
pub(super) struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    pub(super) fn new() -> ManualClock {
        ManualClock(Arc::new(AtomicU64::new(NOW_MS)))
    }

    pub(super) fn set(&self, now_ms: u64) {
        self.0.store(now_ms, Ordering::SeqCst);
    }

    pub(super) fn start(&self, book: &(impl Book + Clone)) -> SandboxAcquirer {
        let clock = self.clone();
        SandboxAcquirer::start_with_clock(book.clone(), move || clock.0.load(Ordering::SeqCst)).expect("a thread")
    }
}

fn start(book: &MemoryBook) -> SandboxAcquirer {
    ManualClock::new().start(book)
}

/// A sandbox with a new book.
fn started() -> (MemoryBook, SandboxAcquirer) {
    let book = MemoryBook::new();
    let sandbox = start(&book);
    (book, sandbox)
}

/// A sandbox that has captured a payment of 100 with this card.
fn captured(digits: &str) -> (MemoryBook, SandboxAcquirer) {
    let (book, sandbox) = started();
    assert_eq!(wait(sandbox.authorize(authorize(1, card(digits), CaptureMode::Automatic))), approved(1, true));
    (book, sandbox)
}

fn refund_step(number: u8) -> PaymentStep {
    PaymentStep::Refund(RefundId::from_bytes([number; 16]))
}

fn refund(number: u8, minor: u64) -> FollowUpRequest {
    follow_up(1, refund_step(number), minor)
}

fn reference(step: PaymentStep) -> NamedCall {
    NamedCall::first(payment(1), step)
}

fn is_pending(answer: AcquirerAnswer<'_, CallAnswer>) -> bool {
    matches!(wait(answer), Ok(CallAnswer::Pending(_)))
}

/// What has become of a refund.
fn found(sandbox: &SandboxAcquirer, request: FollowUpRequest) -> LookedUp {
    wait(sandbox.look_up(&AcquirerCall::Refund(request))).expect("an answer")
}

fn totals(book: &MemoryBook) -> MerchantTotals {
    totals_by_merchant(book).expect("agrees")[&MERCHANT]
}

#[test]
fn a_refund_is_pending_until_the_operator_completes_it() {
    let (book, sandbox) = captured(REFUND_WAITS);
    assert!(is_pending(sandbox.refund(refund(8, 60))));
    assert!(is_pending(sandbox.refund(refund(8, 60))), "asked again");
    drop(sandbox);
    let sandbox = start(&book);
    assert!(is_pending(sandbox.refund(refund(8, 60))), "asked again of the sandbox of the next process");
    let pending = CallAnswer::Pending(Awaited::Decision);
    assert_eq!(found(&sandbox, refund(8, 60)), LookedUp::Found(pending));
    assert_eq!(totals(&book).refunded_minor, 0, "no money has moved");
    let end = |merchant, number| sandbox.end_pending(merchant, reference(refund_step(number)), PendingEnd::Completed);
    assert_eq!(wait(end(MerchantId::from_bytes([9; 16]), 8)), Ok(false), "of another merchant");
    assert_eq!(wait(end(MERCHANT, 9)), Ok(false), "one that was never asked for");
    assert_eq!(wait(end(MERCHANT, 8)), Ok(true));
    assert!(is_done(sandbox.refund(refund(8, 60))));
    assert_eq!(totals(&book).refunded_minor, 60);
    assert_eq!(wait(end(MERCHANT, 8)), Ok(false), "it has ended");
    assert_eq!(totals(&book).refunded_minor, 60);
}

#[test]
fn after_a_refund_that_the_operator_fails_another_may_follow() {
    let (book, sandbox) = captured(REFUND_WAITS);
    let end = |number, end| wait(sandbox.end_pending(MERCHANT, reference(refund_step(number)), end));
    assert!(is_pending(sandbox.refund(refund(8, 100))));
    assert_eq!(end(8, PendingEnd::Failed), Ok(true));
    assert_eq!(decline_code(sandbox.refund(refund(8, 100))), "refund_failed");
    assert_eq!(end(8, PendingEnd::Completed), Ok(false), "it has ended");
    assert!(is_pending(sandbox.refund(refund(9, 100))));
    assert_eq!(end(9, PendingEnd::Completed), Ok(true));
    assert!(is_done(sandbox.refund(refund(9, 100))));
    let totals = totals(&book);
    assert_eq!((totals.refunded_minor, totals.follow_ups_declined), (100, 1));
}

#[test]
fn pending_refunds_never_give_back_more_than_was_captured() {
    let (book, sandbox) = captured(REFUND_WAITS);
    assert_eq!(decline_code(sandbox.refund(refund(7, 101))), "wrong_amount");
    for number in [8, 9] {
        assert!(is_pending(sandbox.refund(refund(number, 60))));
    }
    for number in [8, 9] {
        let end = sandbox.end_pending(MERCHANT, reference(refund_step(number)), PendingEnd::Completed);
        assert_eq!(wait(end), Ok(true));
    }
    assert!(is_done(sandbox.refund(refund(8, 60))));
    assert_eq!(decline_code(sandbox.refund(refund(9, 60))), "wrong_amount");
    assert_eq!(totals(&book).refunded_minor, 60);
}

#[test]
fn a_refund_that_fails_later_is_pending_for_a_second() {
    let (book, clock) = (MemoryBook::new(), ManualClock::new());
    let sandbox = clock.start(&book);
    wait(sandbox.authorize(authorize(1, card(REFUND_FAILS_LATER), CaptureMode::Automatic))).expect("an answer");
    assert!(is_pending(sandbox.refund(refund(8, 60))));
    assert!(is_pending(sandbox.refund(refund(9, 40))));
    clock.set(NOW_MS + 999);
    assert!(is_pending(sandbox.refund(refund(8, 60))));
    clock.set(NOW_MS + 1_000);
    assert_eq!(decline_code(sandbox.refund(refund(8, 60))), "refund_failed");
    let LookedUp::Found(CallAnswer::Declined { failure, .. }) = found(&sandbox, refund(9, 40)) else {
        panic!("it fails without being asked again")
    };
    assert_eq!(failure.code, FailureCode::RefundFailed);
    clock.set(NOW_MS);
    assert_eq!(decline_code(sandbox.refund(refund(9, 40))), "refund_failed", "also when the clock steps back");
    assert_eq!(totals(&book).refunded_minor, 0);
}

#[test]
fn the_failure_of_a_refund_that_fails_later_is_sent() {
    for restarts in [false, true] {
        let (book, clock) = (MemoryBook::new(), ManualClock::new());
        let mut sandbox = clock.start(&book);
        wait(sandbox.authorize(authorize(1, card(REFUND_FAILS_LATER), CaptureMode::Automatic))).expect("an answer");
        assert!(is_pending(sandbox.refund(refund(8, 60))));
        if restarts {
            drop(sandbox);
            sandbox = clock.start(&book);
            assert_eq!(found(&sandbox, refund(8, 60)), LookedUp::Found(CallAnswer::Pending(Awaited::Time)));
        }
        let (sender, mut late) = mpsc::channel(8);
        sandbox.send_late_answers(sender);
        clock.set(NOW_MS + 1_000);
        // A look-up of another call is answered after what was due before it is sent.
        assert_eq!(found(&sandbox, refund(9, 40)), LookedUp::NotDone);
        let sent = late.try_recv().expect("it is sent").answer;
        assert!(
            matches!(&sent, CallAnswer::Declined { failure, .. } if failure.code == FailureCode::RefundFailed),
            "{sent:?}"
        );
        assert!(late.try_recv().is_err(), "once");
    }
}

#[test]
fn the_card_whose_capture_fails_is_authorized_and_can_be_voided() {
    let (book, sandbox) = started();
    for (number, mode) in [(1, CaptureMode::Automatic), (2, CaptureMode::Manual)] {
        let call = || sandbox.authorize(authorize(number, card(CAPTURE_FAILS), mode));
        assert_eq!(wait(call()), approved(number, false));
        assert_eq!(decline_code(sandbox.capture(follow_up(number, PaymentStep::Capture, 100))), "capture_failed");
        assert!(is_done(sandbox.void(follow_up(number, PaymentStep::Void, 100))));
        assert_eq!(wait(call()), approved(number, false), "the answer stays the first one");
    }
    let totals = totals(&book);
    assert_eq!((totals.captured_minor, totals.voided_minor), (0, 200));
}

#[test]
fn each_first_call_times_out_and_has_been_done() {
    let (book, sandbox) = started();
    let call = |number| sandbox.authorize(authorize(number, card(TIMES_OUT_DONE), CaptureMode::Manual));
    for number in [1, 2] {
        wait(call(number)).expect_err("a time-out");
        assert_eq!(wait(call(number)), approved(number, false));
    }
    wait(sandbox.capture(follow_up(1, PaymentStep::Capture, 100))).expect_err("a time-out");
    assert_eq!(totals(&book).captured_minor, 100, "it has been done");
    assert!(is_done(sandbox.capture(follow_up(1, PaymentStep::Capture, 100))));
    wait(sandbox.refund(refund(8, 60))).expect_err("a time-out");
    let found = found(&sandbox, refund(8, 60));
    assert!(matches!(found, LookedUp::Found(CallAnswer::Done(CallDone::Moved(_)))), "{found:?}");
    wait(sandbox.void(follow_up(2, PaymentStep::Void, 100))).expect_err("a time-out");
    let totals = totals(&book);
    assert_eq!((totals.captured_minor, totals.refunded_minor, totals.voided_minor), (100, 60, 100));
}

#[test]
fn each_first_call_times_out_and_has_not_been_done() {
    let (book, sandbox) = started();
    let call = |number| authorize(number, card(TIMES_OUT_UNDONE), CaptureMode::Manual);
    wait(sandbox.authorize(call(1))).expect_err("a time-out");
    let found = wait(sandbox.look_up(&AcquirerCall::Authorize(call(1))));
    assert_eq!(found, Ok(LookedUp::NotDone), "it has not been done");
    drop(sandbox);
    let sandbox = start(&book);
    assert_eq!(wait(sandbox.authorize(call(1))), approved(1, false), "also the call of the next process is the second");
    wait(sandbox.authorize(call(2))).expect_err("a time-out");
    assert_eq!(wait(sandbox.authorize(call(2))), approved(2, false));
    wait(sandbox.capture(follow_up(1, PaymentStep::Capture, 100))).expect_err("a time-out");
    assert_eq!(totals(&book).captured_minor, 0);
    assert!(is_done(sandbox.capture(follow_up(1, PaymentStep::Capture, 100))));
    wait(sandbox.refund(refund(8, 60))).expect_err("a time-out");
    assert!(is_done(sandbox.refund(refund(8, 60))));
    wait(sandbox.void(follow_up(2, PaymentStep::Void, 100))).expect_err("a time-out");
    assert!(is_done(sandbox.void(follow_up(2, PaymentStep::Void, 100))));
    let totals = totals(&book);
    assert_eq!((totals.captured_minor, totals.refunded_minor, totals.voided_minor), (100, 60, 100));
}

#[test]
fn a_line_keeps_the_time_of_the_call_that_timed_out() {
    let (book, clock) = (MemoryBook::new(), ManualClock::new());
    let sandbox = clock.start(&book);
    let call = || sandbox.authorize(authorize(1, card(TIMES_OUT_UNDONE), CaptureMode::Manual));
    wait(call()).expect_err("a time-out");
    assert_eq!(lines(&book)[0].operation, BookOperation::TimedOut);
    clock.set(NOW_MS + 1);
    wait(call()).expect("an answer");
    assert_eq!(lines(&book)[0].asked_at_ms, NOW_MS);
}

#[test]
fn of_waiting_calls_only_the_first_under_a_reference_times_out() {
    for digits in [TIMES_OUT_DONE, TIMES_OUT_UNDONE] {
        let (book, gate) = (MemoryBook::new(), ClockGate::default());
        let sandbox = SandboxAcquirer::start_with_clock(book.clone(), gate.clock()).expect("a thread");
        let call = || sandbox.authorize(authorize(1, card(digits), CaptureMode::Automatic));
        let before = sandbox.authorize(authorize(2, card("4242424242424242"), CaptureMode::Manual));
        gate.wait_until_reached();
        let (first, second, third) = (call(), call(), call());
        gate.open();
        wait(before).expect("an answer");
        wait(first).expect_err("a time-out");
        assert_eq!(wait(second), approved(1, true));
        assert_eq!(wait(third), approved(1, true));
        assert_eq!(totals(&book).captured_minor, 100);
    }
}

#[test]
fn the_slow_card_delays_only_its_own_answers() {
    let (book, sandbox) = started();
    let start = Instant::now();
    let slow = sandbox.authorize(authorize(1, card(ANSWERS_LATE), CaptureMode::Automatic));
    wait(sandbox.authorize(authorize(2, card("4242424242424242"), CaptureMode::Manual))).expect("an answer");
    let slow_refund = sandbox.refund(refund(8, 60));
    assert_eq!(totals(&book).captured_minor, 100, "it is carried out at once");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    std::thread::scope(|scope| {
        let refunded = scope.spawn(|| is_done(slow_refund));
        assert_eq!(wait(slow), approved(1, true));
        assert!(refunded.join().expect("no panic"), "what comes after an authorization is as slow");
    });
    assert!(start.elapsed() >= Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn repeated_answers_and_results_of_pending_refunds_are_sent() {
    for (digits, sent) in [("4242424242424242", 0), (ANSWERS_LATE, 0), (ANSWERS_TWICE, 2), (REFUND_WAITS, 1)] {
        let (_book, sandbox) = started();
        let (sender, mut late) = mpsc::channel(8);
        sandbox.send_late_answers(sender);
        assert_eq!(wait(sandbox.authorize(authorize(1, card(digits), CaptureMode::Automatic))), approved(1, true));
        let refunded = wait(sandbox.refund(refund(8, 60)));
        assert_eq!(wait(sandbox.end_pending(MERCHANT, reference(refund_step(8)), PendingEnd::Completed)), {
            Ok(refunded == Ok(CallAnswer::Pending(Awaited::Decision)))
        });
        let late: Vec<LateAnswer> = std::iter::from_fn(|| late.try_recv().ok()).collect();
        assert_eq!(late.len(), sent, "{digits}");
        if let Some(last) = late.last() {
            let ended = found(&sandbox, refund(8, 60));
            let last = (last.merchant, last.reference.clone(), LookedUp::Found(last.answer.clone()));
            assert_eq!(last, (MERCHANT, reference(refund_step(8)).to_string(), ended));
        }
    }
}
