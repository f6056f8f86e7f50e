//! The sandbox as its callers see it, over a book in memory.

use std::time::Duration;

use crate::book::{Book, BookInstrument, BookLine, BookOperation, MemoryBook, NextWrite, totals_by_merchant};
use till_domain::address_secret::AddressSecret;
use till_domain::card::CardExpiry;
use till_domain::command::{AuthenticationResult, EvidenceResult, RequiredAction};
use till_domain::customer_action::{AuthenticationFlow, AuthenticationStatus, CustomerStep};
use till_domain::failure::FailureCode;
use till_domain::ids::{DisputeId, MerchantId, PaymentId, RefundId, SessionId};
use till_domain::money::{AmountMinor, Currency, Money};
use till_domain::payment::CaptureMode;
use till_domain::session::InstallmentPlan;
use till_domain::text::Evidence;
use till_domain::time::Millis;
use till_storage::vault::CardNumber;

use super::promises::{CallFault, Conformance};
use super::{ActionId, ActionOutcome, PendingEnd, PlayedAcquirer, SandboxAcquirer};
use till_actors::acquirer::{
    Acquirer, AcquirerAnswer, AcquirerCall, AcquirerUnavailable, ApprovedAuthorization, AuthorizeRequest, CallAnswer,
    CallDone, EvidenceRequest, FollowUpRequest, Instrument, LookedUp, MovedMoney, NamedCall, PaymentStep, ReturnPath,
    UnansweredOutcome,
};
use till_actors::security_codes::SecurityCode;

pub(super) const MERCHANT: MerchantId = MerchantId::from_bytes([1; 16]);
const GOOD_CARD: &str = "4242424242424242";
pub(super) const RETURN_PATH: ReturnPath = ReturnPath {
    merchant: MERCHANT,
    session: SessionId::from_bytes([9; 16]),
    secret: AddressSecret::from_bytes([8; 16]),
};
pub(super) const NOW_MS: u64 = 1_700_000_000_000;

/// Long enough for any machine; an answer that never comes is a failure and not a hang.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn payment(number: u8) -> PaymentId {
    PaymentId::from_bytes([number; 16])
}

pub(super) fn thb(minor: u64) -> Money {
    Money { amount: AmountMinor::new(minor).expect("an amount"), currency: Currency::from_bytes(*b"THB") }
}

fn start(book: &MemoryBook) -> SandboxAcquirer {
    SandboxAcquirer::start_with_clock(book.clone(), || NOW_MS).expect("a thread")
}

/// A sandbox with a new book.
fn started() -> (MemoryBook, SandboxAcquirer) {
    let book = MemoryBook::new();
    let sandbox = start(&book);
    (book, sandbox)
}

/// The calls by their requests.
pub(super) trait Calls {
    fn authorize(&self, request: AuthorizeRequest) -> AcquirerAnswer<'_, CallAnswer>;
    fn capture(&self, request: FollowUpRequest) -> AcquirerAnswer<'_, CallAnswer>;
    fn void(&self, request: FollowUpRequest) -> AcquirerAnswer<'_, CallAnswer>;
    fn refund(&self, request: FollowUpRequest) -> AcquirerAnswer<'_, CallAnswer>;
}

impl Calls for SandboxAcquirer {
    fn authorize(&self, request: AuthorizeRequest) -> AcquirerAnswer<'_, CallAnswer> {
        self.act(AcquirerCall::Authorize(request))
    }

    fn capture(&self, request: FollowUpRequest) -> AcquirerAnswer<'_, CallAnswer> {
        self.act(AcquirerCall::Capture(request))
    }

    fn void(&self, request: FollowUpRequest) -> AcquirerAnswer<'_, CallAnswer> {
        self.act(AcquirerCall::Void(request))
    }

    fn refund(&self, request: FollowUpRequest) -> AcquirerAnswer<'_, CallAnswer> {
        self.act(AcquirerCall::Refund(request))
    }
}

pub(super) fn wait<T>(answer: AcquirerAnswer<'_, T>) -> Result<T, AcquirerUnavailable> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async { tokio::time::timeout(PATIENCE, answer).await.expect("an answer in time") })
}

pub(super) fn card(digits: &str) -> Instrument {
    Instrument::Card {
        number: CardNumber::parse(digits).expect("a card number"),
        expiry: CardExpiry { year: 2030, month: 12 },
        security_code: Some(SecurityCode::parse("987").expect("a security code")),
        is_saved: false,
    }
}

pub(super) fn authorize(number: u8, instrument: Instrument, capture: CaptureMode) -> AuthorizeRequest {
    let reference = NamedCall::first(payment(number), PaymentStep::Authorize);
    AuthorizeRequest {
        reference,
        merchant: MERCHANT,
        payment: payment(number),
        money: thb(100),
        instrument: Some(instrument),
        capture,
        return_path: RETURN_PATH,
        description: None,
        email: None,
        created_at: Millis(0),
        prepared: None,
    }
}

fn manual(number: u8) -> AuthorizeRequest {
    authorize(number, card(GOOD_CARD), CaptureMode::Manual)
}

pub(super) fn follow_up(number: u8, step: PaymentStep, minor: u64) -> FollowUpRequest {
    FollowUpRequest {
        reference: NamedCall::first(payment(number), step),
        acquirer_reference: format!("sandbox:{}", NamedCall::first(payment(number), PaymentStep::Authorize)),
        merchant: MERCHANT,
        payment: payment(number),
        money: thb(minor),
    }
}

pub(super) fn approved(number: u8, captured: bool) -> Result<CallAnswer, AcquirerUnavailable> {
    Ok(approval(number, captured, frictionless()))
}

/// An approval with this authentication.
pub(super) fn approval(number: u8, captured: bool, authentication: Option<AuthenticationResult>) -> CallAnswer {
    let acquirer_reference = follow_up(number, PaymentStep::Capture, 1).acquirer_reference;
    let (settles_at_once, is_disputed) = (false, false);
    CallAnswer::Done(CallDone::Approved(ApprovedAuthorization {
        acquirer_reference,
        captured,
        settles_at_once,
        is_disputed,
        authentication,
        capture_before: None,
        card: None,
    }))
}

/// The approval of an authorization.
fn approval_of(answer: AcquirerAnswer<'_, CallAnswer>) -> ApprovedAuthorization {
    match wait(answer).expect("an answer") {
        CallAnswer::Done(CallDone::Approved(approved)) => approved,
        other => panic!("{other:?} is no approval"),
    }
}

/// The authentication of a card that is asked nothing.
pub(super) fn frictionless() -> Option<AuthenticationResult> {
    let (flow, status) = (AuthenticationFlow::Frictionless, AuthenticationStatus::Authenticated);
    Some(AuthenticationResult { flow, status, eci: Some(5), version: None })
}

/// The id in the address of the page that a customer is sent to.
pub(super) fn action_id(required: &RequiredAction) -> ActionId {
    let CustomerStep::Redirect(address) = &required.step else { panic!("{required:?} is no address") };
    let (_, id) = address.as_str().rsplit_once('/').expect("a path");
    id.parse().expect("the id of an action")
}

pub(super) fn is_done(answer: AcquirerAnswer<'_, CallAnswer>) -> bool {
    matches!(wait(answer), Ok(CallAnswer::Done(CallDone::Moved(_))))
}

pub(super) fn decline_code(answer: AcquirerAnswer<'_, CallAnswer>) -> &'static str {
    match wait(answer).expect("an answer") {
        CallAnswer::Declined { failure, authentication: None } => failure.code.name(),
        other => panic!("{other:?} is no decline"),
    }
}

pub(super) fn lines(book: &MemoryBook) -> Vec<BookLine> {
    book.entries().map(|line| line.expect("in memory")).collect()
}

#[test]
fn it_keeps_the_promises_of_an_acquirer() {
    let (book, sandbox) = started();
    let seen = std::cell::Cell::new(0);
    let conformance = Conformance {
        acquirer: &sandbox,
        merchant: MERCHANT,
        money: thb(100),
        new_payment: &|| payment(seen.replace(seen.get() + 1)),
        approved: &|| card(GOOD_CARD),
        declined: &|| card("4000000000009995"),
        asking: &|| card("4000002760003184"),
        pending: &|| card("4000000000007726"),
        act: &|required| {
            let acted = sandbox.act_on_page(action_id(required), ActionOutcome::Succeed);
            Box::pin(async move { acted.await.map(|_| ()) })
        },
        end_refund: &|reference| {
            let ended = sandbox.end_pending(MERCHANT, reference, PendingEnd::Completed);
            Box::pin(async move { ended.await.map(|_| ()) })
        },
        pays_out: true,
        next_fault: &|fault| {
            let write = match fault {
                CallFault::AnswerLost => NextWrite::TimesOutDone,
                CallFault::RequestLost => NextWrite::TimesOutUndone,
                // The sandbox keeps no failures.
                CallFault::FailureStored => return false,
                CallFault::NotSent => NextWrite::IsRefused,
            };
            book.plan_writes([write]);
            true
        },
        // It knows every call for ever.
        end_keys: &|| {},
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(conformance.check()).expect("kept");
}

#[test]
fn a_call_of_another_merchant_is_not_found() {
    let sandbox = start(&MemoryBook::new());
    wait(sandbox.authorize(manual(1))).expect("an answer");
    let find = |merchant| {
        let call = AcquirerCall::Authorize(AuthorizeRequest { merchant, ..manual(1) });
        wait(sandbox.look_up(&call)).expect("an answer")
    };
    assert_eq!(find(MerchantId::from_bytes([9; 16])), LookedUp::NotDone);
    assert_eq!(find(MERCHANT), LookedUp::Found(approval(1, false, frictionless())));
}

#[test]
fn an_authorization_is_found_without_its_means_of_payment_and_not_made() {
    let (book, sandbox) = started();
    let call = || AuthorizeRequest { instrument: None, ..manual(1) };
    let refused = wait(sandbox.authorize(call())).expect_err("there is no card");
    assert_eq!((refused.outcome, lines(&book).len()), (UnansweredOutcome::NotSent, 0));
    wait(sandbox.authorize(manual(1))).expect("an answer");
    let found = wait(sandbox.look_up(&AcquirerCall::Authorize(call())));
    assert_eq!(found, Ok(LookedUp::Found(approval(1, false, frictionless()))));
}

#[test]
fn a_good_card_is_authorized_and_captured_when_asked_to() {
    let (book, sandbox) = started();
    assert_eq!(wait(sandbox.authorize(manual(1))), approved(1, false));
    assert_eq!(wait(sandbox.authorize(authorize(2, card(GOOD_CARD), CaptureMode::Automatic))), approved(2, true));
    let totals = totals_by_merchant(&book).expect("agrees")[&MERCHANT];
    assert_eq!((totals.authorized_minor, totals.captured_minor), (200, 100));
}

#[test]
fn a_bad_card_is_declined_with_its_code() {
    let sandbox = start(&MemoryBook::new());
    let answer = wait(sandbox.authorize(authorize(1, card("4000000000009995"), CaptureMode::Automatic)));
    let failure = FailureCode::InsufficientFunds.into();
    let declined = CallAnswer::Declined { failure, authentication: frictionless() };
    assert_eq!(answer, Ok(declined));
}

#[test]
fn the_card_that_settles_at_once_says_so() {
    let sandbox = start(&MemoryBook::new());
    let approved = approval_of(sandbox.authorize(authorize(1, card("4000000000000077"), CaptureMode::Automatic)));
    assert!(approved.settles_at_once && approved.captured);
}

#[test]
fn the_card_that_is_disputed_says_so_with_either_capture() {
    let sandbox = start(&MemoryBook::new());
    let approved = approval_of(sandbox.authorize(authorize(1, card("4000000000000259"), CaptureMode::Automatic)));
    assert!(approved.is_disputed && approved.captured);
    let approved = approval_of(sandbox.authorize(authorize(2, card("4000000000000259"), CaptureMode::Manual)));
    assert!(!approved.captured);
    let answer = wait(sandbox.capture(follow_up(2, PaymentStep::Capture, 100)));
    let is_disputed = matches!(answer, Ok(CallAnswer::Done(CallDone::Moved(MovedMoney { is_disputed: true, .. }))));
    assert!(is_disputed, "{answer:?}");
}

#[test]
fn evidence_decides_by_its_text() {
    let sandbox = start(&MemoryBook::new());
    let decided = |text: &str| {
        let dispute = DisputeId::from_bytes([9; 16]);
        let call = || {
            AcquirerCall::Evidence(EvidenceRequest {
                reference: NamedCall::Evidence(dispute),
                acquirer_reference: "sandbox:1".to_owned(),
                merchant: MERCHANT,
                evidence: Evidence::new(text).expect("evidence"),
            })
        };
        let answer = wait(sandbox.act(call()));
        assert_eq!(wait(sandbox.look_up(&call())), Ok(LookedUp::NotDone), "nothing is kept of it");
        answer
    };
    let taken = |result| Ok(CallAnswer::Done(CallDone::EvidenceTaken(result)));
    assert_eq!(decided("winning_evidence"), taken(EvidenceResult::Won));
    assert_eq!(decided("losing_evidence"), taken(EvidenceResult::Lost));
    assert_eq!(decided("anything else"), taken(EvidenceResult::Taken));
}

#[test]
fn instalments_always_succeed() {
    let book = MemoryBook::new();
    let instrument = Instrument::Installment { plan: InstallmentPlan::SandboxThreeMonths };
    let answer = wait(start(&book).authorize(authorize(1, instrument, CaptureMode::Automatic)));
    assert_eq!(answer, Ok(approval(1, true, None)));
    let plan = InstallmentPlan::SandboxThreeMonths.id().to_owned();
    let recorded = BookInstrument::Installment { plan };
    assert!(
        matches!(&lines(&book)[0].operation, BookOperation::Authorize { instrument, .. } if *instrument == recorded)
    );
}

#[test]
fn the_book_keeps_only_the_card_digits_that_may_be_shown() {
    let book = MemoryBook::new();
    wait(start(&book).authorize(manual(1))).expect("an answer");
    let line = &lines(&book)[0];
    assert_eq!((line.merchant, line.payment, line.money), (MERCHANT, Some(payment(1)), thb(100)));
    assert_eq!((line.reference.clone(), line.asked_at_ms), (format!("{}/authorize", payment(1)), NOW_MS));
    let shown = BookInstrument::Card { first_six: *b"424242", last_four: *b"4242" };
    assert!(matches!(&line.operation, BookOperation::Authorize { instrument, .. } if *instrument == shown));
}

#[test]
fn a_repeated_request_gets_the_first_answer_and_writes_nothing() {
    let (book, sandbox) = started();
    let first = wait(sandbox.authorize(manual(1)));
    let writes = book.writes();
    assert_eq!(wait(sandbox.authorize(manual(1))), first);
    drop(sandbox);
    assert_eq!(wait(start(&book).authorize(manual(1))), first, "also by the sandbox of the next process");
    assert_eq!((book.writes(), lines(&book).len()), (writes, 1));
}

#[test]
fn a_repetition_without_the_security_code_is_the_same_request() {
    let sandbox = start(&MemoryBook::new());
    let first = wait(sandbox.authorize(manual(1)));
    let mut again = manual(1);
    if let Some(Instrument::Card { security_code, .. }) = &mut again.instrument {
        *security_code = None;
    }
    assert_eq!(wait(sandbox.authorize(again)), first);
}

#[test]
fn later_changes_do_not_change_the_first_answer() {
    let sandbox = start(&MemoryBook::new());
    let first = wait(sandbox.authorize(manual(1)));
    assert!(is_done(sandbox.capture(follow_up(1, PaymentStep::Capture, 100))));
    assert_eq!(wait(sandbox.authorize(manual(1))), first);
}

#[test]
fn another_request_under_a_used_reference_is_unknown() {
    let (book, sandbox) = started();
    wait(sandbox.authorize(manual(1))).expect("an answer");
    let before = lines(&book);
    let mut other = manual(1);
    other.money = thb(99);
    let call = AcquirerCall::Authorize(AuthorizeRequest { money: thb(99), ..manual(1) });
    assert_eq!(wait(sandbox.look_up(&call)).expect_err("unknown").outcome, UnansweredOutcome::Unknown);
    let refused = wait(sandbox.authorize(other)).expect_err("unknown");
    assert_eq!(refused, AcquirerUnavailable::unknown("the reference names another request"));
    assert_eq!(lines(&book), before);
}

#[test]
fn an_authorization_is_captured_once_and_refunded_up_to_that() {
    let (book, sandbox) = started();
    wait(sandbox.authorize(manual(1))).expect("an answer");
    assert!(is_done(sandbox.capture(follow_up(1, PaymentStep::Capture, 80))));
    assert!(is_done(sandbox.capture(follow_up(1, PaymentStep::Capture, 80))), "asked again, done once");
    assert!(is_done(sandbox.refund(follow_up(1, PaymentStep::Refund(RefundId::from_bytes([8; 16])), 50))));
    assert_eq!(
        decline_code(sandbox.refund(follow_up(1, PaymentStep::Refund(RefundId::from_bytes([9; 16])), 31))),
        "wrong_amount"
    );
    assert_eq!(decline_code(sandbox.void(follow_up(1, PaymentStep::Void, 100))), "already_captured");
    let totals = totals_by_merchant(&book).expect("agrees")[&MERCHANT];
    assert_eq!((totals.captured_minor, totals.refunded_minor, totals.follow_ups_declined), (80, 50, 2));
}

#[test]
fn a_voided_authorization_cannot_be_captured() {
    let sandbox = start(&MemoryBook::new());
    wait(sandbox.authorize(manual(1))).expect("an answer");
    assert!(is_done(sandbox.void(follow_up(1, PaymentStep::Void, 100))));
    assert_eq!(decline_code(sandbox.capture(follow_up(1, PaymentStep::Capture, 100))), "already_voided");
}

#[test]
fn a_declined_follow_up_stays_declined_under_its_reference() {
    let sandbox = start(&MemoryBook::new());
    assert_eq!(decline_code(sandbox.capture(follow_up(1, PaymentStep::Capture, 100))), "unknown_authorization");
    wait(sandbox.authorize(manual(1))).expect("an answer");
    assert_eq!(decline_code(sandbox.capture(follow_up(1, PaymentStep::Capture, 100))), "unknown_authorization");
}

#[test]
fn a_foreign_acquirer_reference_is_unknown() {
    let sandbox = start(&MemoryBook::new());
    wait(sandbox.authorize(manual(1))).expect("an answer");
    let foreign = NamedCall::first(payment(1), PaymentStep::Authorize).to_string();
    let request = FollowUpRequest { acquirer_reference: foreign, ..follow_up(1, PaymentStep::Capture, 100) };
    assert_eq!(decline_code(sandbox.capture(request)), "unknown_authorization");
}

#[test]
fn a_request_that_times_out_is_carried_out_once() {
    for how in [NextWrite::TimesOutUndone, NextWrite::TimesOutDone] {
        let (book, sandbox) = started();
        book.plan_writes([how]);
        let automatic = || authorize(1, card(GOOD_CARD), CaptureMode::Automatic);
        wait(sandbox.authorize(automatic())).expect_err("unknown");
        assert_eq!(lines(&book).len(), usize::from(how == NextWrite::TimesOutDone));
        assert_eq!(wait(sandbox.authorize(automatic())), approved(1, true));
        assert_eq!(totals_by_merchant(&book).expect("agrees")[&MERCHANT].captured_minor, 100, "{how:?}");
    }
}

#[test]
fn a_refund_that_timed_out_after_it_was_done_is_not_done_again() {
    let (book, sandbox) = started();
    wait(sandbox.authorize(authorize(1, card(GOOD_CARD), CaptureMode::Automatic))).expect("an answer");
    book.plan_writes([NextWrite::TimesOutDone]);
    let refund = || follow_up(1, PaymentStep::Refund(RefundId::from_bytes([8; 16])), 60);
    wait(sandbox.refund(refund())).expect_err("unknown");
    assert!(is_done(sandbox.refund(refund())));
    assert_eq!(totals_by_merchant(&book).expect("agrees")[&MERCHANT].refunded_minor, 60);
}

#[test]
fn a_book_that_fails_for_good_stops_the_sandbox() {
    let (book, sandbox) = started();
    book.plan_writes([NextWrite::Breaks]);
    let (first, second) = (sandbox.authorize(manual(1)), sandbox.authorize(manual(2)));
    wait(first).expect_err("unknown");
    wait(second).expect_err("unknown");
    wait(sandbox.authorize(manual(3))).expect_err("unknown");
    assert_eq!((book.writes(), lines(&book).len()), (1, 0), "nothing is written after a failure");
}

#[test]
fn requests_that_wait_together_are_one_write_and_see_each_other() {
    let book = MemoryBook::new();
    let gate = ClockGate::default();
    let sandbox = SandboxAcquirer::start_with_clock(book.clone(), gate.clock()).expect("a thread");
    // The first request is a group of its own; the others gather while the gate holds it.
    let mut answers = vec![sandbox.authorize(manual(1))];
    gate.wait_until_reached();
    answers.extend((2..=200).map(|number| sandbox.authorize(manual(number))));
    let again = sandbox.authorize(manual(200));
    let capture = sandbox.capture(follow_up(200, PaymentStep::Capture, 100));
    gate.open();
    assert!(is_done(capture), "a capture sees the authorization of its own group");
    assert_eq!(wait(again), approved(200, false));
    assert!(answers.into_iter().all(|answer| wait(answer).is_ok()));
    assert_eq!((book.writes(), lines(&book).len()), (2, 201));
}

#[test]
fn a_request_whose_answer_is_dropped_is_carried_out() {
    let (book, sandbox) = started();
    drop(sandbox.authorize(manual(1)));
    drop(sandbox);
    assert_eq!(lines(&book).len(), 1, "dropping the sandbox carries out what was asked");
}

/// Holds the book's thread at its first look at the clock.
#[derive(Clone, Default)]
pub(super) struct ClockGate(std::sync::Arc<(std::sync::Mutex<(bool, bool)>, std::sync::Condvar)>);

impl ClockGate {
    pub(super) fn clock(&self) -> impl Fn() -> u64 + Send + use<> {
        let gate = self.clone();
        move || {
            let (state, changed) = &*gate.0;
            let mut state = state.lock().expect("no panic");
            state.0 = true;
            changed.notify_all();
            drop(changed.wait_while(state, |(_, open)| !*open).expect("no panic"));
            NOW_MS
        }
    }

    pub(super) fn wait_until_reached(&self) {
        let (state, changed) = &*self.0;
        let state = state.lock().expect("no panic");
        drop(changed.wait_while(state, |(reached, _)| !*reached).expect("no panic"));
    }

    pub(super) fn open(&self) {
        let (state, changed) = &*self.0;
        state.lock().expect("no panic").1 = true;
        changed.notify_all();
    }
}
