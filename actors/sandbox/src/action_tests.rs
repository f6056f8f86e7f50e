//! The customer's part of a payment: challenges, bank pages and QR codes, by card and by amount.

use till_actors::acquirer::{
    Acquirer, AcquirerCall, ApprovedAuthorization, AuthorizeRequest, Awaited, CallAnswer, CallDone, CancelRequest,
    Instrument, LateAnswer, NamedCall, PaymentStep,
};
use till_domain::command::{AuthenticationResult, RequiredAction};
use till_domain::customer_action::{AuthenticationFlow, AuthenticationStatus, CustomerStep};
use till_domain::ids::MerchantId;
use till_domain::payment::CaptureMode;
use till_domain::text::ActionAddress;
use tokio::sync::mpsc;

use super::behaviour_tests::{
    Calls, MERCHANT, NOW_MS, RETURN_PATH, action_id, authorize, card, follow_up, frictionless, is_done, payment, thb,
    wait,
};
use super::card_tests::ManualClock;
use super::queue::BookTask;
use super::{ActResult, ActionOutcome, ActionPage, PlayedAcquirer, SandboxAcquirer, ShownAction};
use crate::book::{MemoryBook, MerchantTotals, RocksBook, totals_by_merchant};

const CHALLENGE: &str = "4000002760003184";
const LATE_MS: u64 = 5_000;
/// The answer to an authorization that nobody is asked for, and that is not decided.
const PROCESSING: CallAnswer = CallAnswer::Pending(Awaited::Time);
/// The answer to a cancellation that is not too late.
const CANCELED: CallAnswer = CallAnswer::Done(CallDone::Canceled);

/// A sandbox over a book, its time, and the answers that it sends.
struct World {
    book: MemoryBook,
    clock: ManualClock,
    sandbox: SandboxAcquirer,
    sent: mpsc::Receiver<LateAnswer>,
}

impl World {
    fn new() -> World {
        World::with_book(MemoryBook::new(), ManualClock::new())
    }

    fn with_book(book: MemoryBook, clock: ManualClock) -> World {
        let sandbox = clock.start(&book);
        let (sender, sent) = mpsc::channel(64);
        sandbox.send_late_answers(sender);
        World { book, clock, sandbox, sent }
    }

    /// The same book and time after the end of the process.
    fn restarted(self) -> World {
        let World { book, clock, sandbox, sent: _ } = self;
        drop(sandbox);
        World::with_book(book, clock)
    }

    fn ask(&self, request: AuthorizeRequest) -> CallAnswer {
        wait(self.sandbox.authorize(request)).expect("an answer")
    }

    /// The action of a payment that asks for one.
    fn asked(&self, request: AuthorizeRequest) -> RequiredAction {
        match self.ask(request) {
            CallAnswer::NeedsAction(required) => required,
            other => panic!("{other:?} asks for nothing"),
        }
    }

    fn act(&self, required: &RequiredAction, outcome: ActionOutcome) -> ActResult {
        let id = match &required.step {
            CustomerStep::Redirect(_) | CustomerStep::AcquirerPage => action_id(required),
            CustomerStep::DisplayQr(text) => {
                wait(self.sandbox.find_bill(text.as_str())).expect("an answer").expect("a bill").id
            }
        };
        wait(self.sandbox.act_on_page(id, outcome)).expect("an answer")
    }

    fn complete(&self, number: u8, outcome: ActionOutcome) -> ActResult {
        wait(self.sandbox.complete_action(MERCHANT, payment(number), outcome)).expect("an answer")
    }

    fn cancel(&self, number: u8, deadline_passed: bool) -> CallAnswer {
        let (reference, merchant, payment) = (step(number, PaymentStep::Cancel), MERCHANT, payment(number));
        let request = CancelRequest { reference, merchant, payment, money: thb(100), deadline_passed, prepared: None };
        wait(self.sandbox.act(AcquirerCall::Cancel(request))).expect("an answer")
    }

    fn find_shown(&self, number: u8) -> Option<ShownAction> {
        wait(self.sandbox.find_shown(BookTask::Find(step(number, PaymentStep::Authorize).to_string())))
            .expect("an answer")
    }

    /// The results of authorizations that were sent since the last look.
    fn sent(&mut self) -> Vec<CallAnswer> {
        // A call is answered after what was due before it is sent.
        self.find_shown(99);
        let sent = std::iter::from_fn(|| self.sent.try_recv().ok());
        sent.map(|sent| sent.answer).collect()
    }

    fn totals(&self) -> MerchantTotals {
        totals_by_merchant(&self.book).expect("agrees")[&MERCHANT]
    }
}

fn step(number: u8, step: PaymentStep) -> NamedCall {
    NamedCall::first(payment(number), step)
}

fn of_card(digits: &str) -> AuthorizeRequest {
    authorize(1, card(digits), CaptureMode::Automatic)
}

fn saved(digits: &str) -> AuthorizeRequest {
    let mut request = of_card(digits);
    if let Some(Instrument::Card { is_saved, security_code, .. }) = &mut request.instrument {
        (*is_saved, *security_code) = (true, None);
    }
    request
}

fn paying(instrument: Instrument, minor: u64) -> AuthorizeRequest {
    AuthorizeRequest { money: thb(minor), ..authorize(1, instrument, CaptureMode::Automatic) }
}

/// Both methods that ask by amount.
fn methods(minor: u64) -> [AuthorizeRequest; 2] {
    [paying(Instrument::PromptPay, minor), paying(Instrument::MobileBanking, minor)]
}

fn repeat_request(request: &AuthorizeRequest) -> AuthorizeRequest {
    let instrument = match &request.instrument {
        Some(Instrument::PromptPay) => Instrument::PromptPay,
        _ => Instrument::MobileBanking,
    };
    paying(instrument, request.money.amount.get())
}

/// An approval with this authentication.
fn approval(authentication: Option<AuthenticationResult>) -> CallAnswer {
    super::behaviour_tests::approval(1, true, authentication)
}

fn authenticated(
    flow: AuthenticationFlow,
    status: AuthenticationStatus,
    eci: Option<u8>,
) -> Option<AuthenticationResult> {
    Some(AuthenticationResult { flow, status, eci, version: None })
}

fn passed() -> Option<AuthenticationResult> {
    authenticated(AuthenticationFlow::Challenge, AuthenticationStatus::Authenticated, Some(5))
}

fn not_passed() -> Option<AuthenticationResult> {
    authenticated(AuthenticationFlow::Challenge, AuthenticationStatus::NotAuthenticated, None)
}

/// The code and the authentication of a decline.
fn declined(result: CallAnswer) -> (&'static str, Option<AuthenticationResult>) {
    match result {
        CallAnswer::Declined { failure, authentication } => (failure.code.name(), authentication),
        other => panic!("{other:?} is no decline"),
    }
}

#[test]
fn cards_that_ask_are_authorized_or_declined_once_the_challenge_is_passed() {
    for (digits, code) in [
        (CHALLENGE, None),
        ("4000003800000446", None),
        ("4000002500003155", None),
        ("4000008260003178", Some("insufficient_funds")),
        ("4000008400001629", Some("card_declined")),
    ] {
        let mut world = World::new();
        let required = world.asked(of_card(digits));
        assert!(required.authenticates);
        assert_eq!(required.lifetime_seconds, 600);
        assert_eq!(world.asked(of_card(digits)), required, "a repeated call asks for the same");
        assert_eq!(world.act(&required, ActionOutcome::Succeed), ActResult::Recorded);
        let result = world.ask(of_card(digits));
        match code {
            None => assert_eq!(result, approval(passed()), "{digits}"),
            Some(code) => assert_eq!(declined(result.clone()), (code, passed()), "{digits}"),
        }
        assert_eq!(world.sent(), [world.ask(of_card(digits))], "{digits}");
    }
}

#[test]
fn a_challenge_that_is_failed_or_canceled_declines_the_payment() {
    for (outcome, code) in
        [(ActionOutcome::Fail, "authentication_failed"), (ActionOutcome::Cancel, "canceled_by_customer")]
    {
        let mut world = World::new();
        let required = world.asked(of_card(CHALLENGE));
        assert_eq!(world.act(&required, outcome), ActResult::Recorded);
        assert_eq!(declined(world.ask(of_card(CHALLENGE))), (code, not_passed()));
        assert_eq!(world.sent(), [world.ask(of_card(CHALLENGE))]);
    }
}

#[test]
fn cards_that_cannot_be_authenticated_are_declined_at_once() {
    let flow = AuthenticationFlow::Frictionless;
    for (digits, code, status) in [
        ("4000008400001280", "authentication_unavailable", AuthenticationStatus::Unavailable),
        ("4000008400001611", "authentication_rejected", AuthenticationStatus::Rejected),
    ] {
        let expected = (code, authenticated(flow, status, None));
        assert_eq!(declined(World::new().ask(of_card(digits))), expected);
        assert_eq!(declined(World::new().ask(saved(digits))), expected);
    }
}

#[test]
fn every_other_card_is_frictionless_and_one_is_not_enrolled() {
    assert_eq!(World::new().ask(of_card("378282246310005")), approval(None));
    assert_eq!(World::new().ask(of_card("5555555555554444")), approval(frictionless()));
    let refused = World::new().ask(of_card("4000000000000002"));
    assert_eq!(declined(refused), ("card_declined", frictionless()));
}

#[test]
fn one_card_asks_with_a_token_and_not_when_it_is_saved() {
    let digits = "4000002500003155";
    World::new().asked(of_card(digits));
    assert_eq!(World::new().ask(saved(digits)), approval(frictionless()));
    World::new().asked(saved(CHALLENGE));
}

#[test]
fn bank_pages_and_qr_codes_are_paid_declined_or_canceled() {
    for request in methods(1_000) {
        for (outcome, code) in [
            (ActionOutcome::Succeed, None),
            (ActionOutcome::Fail, Some("payment_declined")),
            (ActionOutcome::Cancel, Some("canceled_by_customer")),
        ] {
            let is_wallet = matches!(request.instrument, Some(Instrument::PromptPay));
            let mut world = World::new();
            let required = world.asked(repeat_request(&request));
            assert!(!required.authenticates);
            assert_eq!(required.lifetime_seconds, if is_wallet { 900 } else { 1_800 });
            if is_wallet && outcome == ActionOutcome::Cancel {
                assert_eq!(world.act(&required, outcome), ActResult::Nothing, "a wallet has no such button");
                assert_eq!(world.complete(1, outcome), ActResult::Recorded, "but the operator may say so");
            } else {
                assert_eq!(world.act(&required, outcome), ActResult::Recorded);
            }
            let result = world.ask(repeat_request(&request));
            match code {
                None => assert_eq!(result, approval(None)),
                Some(code) => assert_eq!(declined(result.clone()), (code, None)),
            }
            assert_eq!(world.sent(), [world.ask(repeat_request(&request))]);
        }
    }
}

#[test]
fn amounts_that_end_in_91_ask_five_seconds_late() {
    for request in methods(1_091) {
        let mut world = World::new();
        assert_eq!(world.ask(repeat_request(&request)), PROCESSING);
        assert_eq!(world.complete(1, ActionOutcome::Succeed), ActResult::Nothing, "nobody was asked yet");
        world.clock.set(NOW_MS + LATE_MS - 1);
        assert_eq!((world.find_shown(1), world.sent()), (None, vec![]));
        let mut world = world.restarted();
        assert_eq!(world.ask(repeat_request(&request)), PROCESSING);
        world.clock.set(NOW_MS + LATE_MS);
        let required = world.asked(repeat_request(&request));
        assert_eq!(world.sent(), [CallAnswer::NeedsAction(required.clone())]);
        assert_eq!(world.act(&required, ActionOutcome::Succeed), ActResult::Recorded);
        assert_eq!(world.ask(repeat_request(&request)), approval(None));
    }
}

#[test]
fn amounts_that_end_in_92_fail_at_once() {
    for request in methods(1_092) {
        assert_eq!(declined(World::new().ask(request)), ("method_unavailable", None));
    }
}

#[test]
fn amounts_that_end_in_93_answer_five_seconds_after_the_customer_paid() {
    for request in methods(1_093) {
        let mut world = World::new();
        let required = world.asked(repeat_request(&request));
        world.clock.set(NOW_MS + 10);
        assert_eq!(world.act(&required, ActionOutcome::Succeed), ActResult::Recorded);
        assert_eq!(world.sent(), [PROCESSING], "nothing is asked any more");
        world.clock.set(NOW_MS + 10 + LATE_MS - 1);
        assert_eq!(world.ask(repeat_request(&request)), PROCESSING);
        let mut world = world.restarted();
        assert_eq!(world.ask(repeat_request(&request)), PROCESSING);
        world.clock.set(NOW_MS + 10 + LATE_MS);
        assert_eq!(world.sent(), [approval(None)]);
        assert_eq!(world.ask(repeat_request(&request)), approval(None));
        assert_eq!((world.totals().captured_minor, world.sent()), (1_093, vec![]), "once");
    }
}

#[test]
fn a_cancellation_finds_the_success_of_a_customer_who_paid() {
    let request = &methods(1_093)[1];
    let world = World::new();
    let required = world.asked(repeat_request(request));
    world.act(&required, ActionOutcome::Succeed);
    assert_eq!(world.cancel(1, true), approval(None));
    assert_eq!(world.cancel(1, true), approval(None), "asked again");
    assert_eq!(world.ask(repeat_request(request)), approval(None));
}

#[test]
fn amounts_that_end_in_94_succeed_five_seconds_after_the_deadline() {
    for request in methods(1_094) {
        let mut world = World::new();
        world.asked(repeat_request(&request));
        assert_eq!(world.cancel(1, true), CANCELED);
        world.clock.set(NOW_MS + LATE_MS - 1);
        assert_eq!(world.sent(), []);
        assert_eq!(world.totals().canceled, 1);
        let mut world = world.restarted();
        world.clock.set(NOW_MS + LATE_MS);
        assert_eq!(world.sent(), [approval(None)], "also by the next process, which nobody asks");
        assert_eq!(world.cancel(1, true), CANCELED, "the answer stays the first one");
        let totals = world.totals();
        assert_eq!((totals.approved, totals.approved_late, totals.canceled), (1, 1, 0));
    }
}

#[test]
fn a_late_success_is_sent_until_its_money_is_given_back() {
    let request = &methods(1_094)[0];
    let mut world = World::new();
    world.asked(repeat_request(request));
    world.cancel(1, true);
    for sends in 1..=3 {
        world.clock.set(NOW_MS + sends * LATE_MS);
        assert_eq!(world.sent(), [approval(None)], "{sends}");
    }
    assert!(is_done(world.sandbox.refund(follow_up(1, PaymentStep::Reverse, 1_094))));
    for sends in 4..=5 {
        world.clock.set(NOW_MS + sends * LATE_MS);
        assert_eq!(world.sent(), [], "{sends}");
    }
    let mut world = world.restarted();
    assert_eq!(world.sent(), []);
}

#[test]
fn amounts_that_end_in_94_are_canceled_for_good_before_the_deadline() {
    let request = &methods(1_094)[1];
    let mut world = World::new();
    world.asked(repeat_request(request));
    assert_eq!(world.cancel(1, false), CANCELED);
    world.clock.set(NOW_MS + 2 * LATE_MS);
    assert_eq!((world.sent(), world.totals().canceled), (vec![], 1));
}

#[test]
fn a_second_act_changes_nothing() {
    for (first, second) in [
        (ActionOutcome::Succeed, ActionOutcome::Fail),
        (ActionOutcome::Fail, ActionOutcome::Succeed),
        (ActionOutcome::Cancel, ActionOutcome::Succeed),
    ] {
        let mut world = World::new();
        let required = world.asked(of_card(CHALLENGE));
        world.act(&required, first);
        let result = world.ask(of_card(CHALLENGE));
        world.sent();
        let mut world = world.restarted();
        assert_eq!(world.act(&required, second), ActResult::Nothing);
        assert_eq!(world.complete(1, second), ActResult::Nothing);
        assert_eq!((world.ask(of_card(CHALLENGE)), world.sent()), (result, vec![]));
    }
}

#[test]
fn an_act_on_the_page_after_a_cancellation_changes_nothing() {
    let mut world = World::new();
    let required = world.asked(of_card(CHALLENGE));
    assert_eq!(world.cancel(1, false), CANCELED);
    for outcome in ActionOutcome::ALL {
        assert_eq!(world.act(&required, outcome), ActResult::Nothing);
    }
    assert!(!world.find_shown(1).expect("it is there").is_open);
    assert_eq!(declined(world.ask(of_card(CHALLENGE))), ("customer_action_timed_out", not_passed()));
    assert_eq!((world.sent(), world.totals().canceled), (vec![], 1));
}

#[test]
fn the_operator_completes_an_action_late_and_its_success_is_sent_until_it_is_given_back() {
    let mut world = World::new();
    world.asked(of_card(CHALLENGE));
    world.cancel(1, true);
    assert_eq!(world.complete(1, ActionOutcome::Succeed), ActResult::Recorded);
    assert_eq!(world.complete(1, ActionOutcome::Succeed), ActResult::Nothing);
    assert_eq!(world.sent(), [approval(passed())]);
    let mut world = world.restarted();
    // The receiver is there only after the first look of the next process, which tries again.
    world.clock.set(NOW_MS + LATE_MS);
    assert_eq!(world.sent(), [approval(passed())]);
    assert_eq!(world.totals().approved_late, 1);
}

#[test]
fn the_operator_fails_an_action_late_and_nothing_changes() {
    for outcome in [ActionOutcome::Fail, ActionOutcome::Cancel] {
        let mut world = World::new();
        world.asked(of_card(CHALLENGE));
        world.cancel(1, true);
        assert_eq!(world.complete(1, outcome), ActResult::Recorded);
        assert_eq!(world.complete(1, ActionOutcome::Succeed), ActResult::Nothing, "the customer has acted");
        assert_eq!((world.sent(), world.totals().canceled), (vec![], 1));
    }
}

#[test]
fn only_the_operator_of_the_merchant_acts_for_a_customer_who_was_asked() {
    let world = World::new();
    world.ask(authorize(2, card("4242424242424242"), CaptureMode::Automatic));
    assert_eq!(world.complete(2, ActionOutcome::Succeed), ActResult::Nothing, "nobody was asked");
    assert_eq!(world.complete(3, ActionOutcome::Succeed), ActResult::Nothing, "there is no such payment");
    world.asked(of_card(CHALLENGE));
    let other = MerchantId::from_bytes([9; 16]);
    let acted = wait(world.sandbox.complete_action(other, payment(1), ActionOutcome::Succeed));
    assert_eq!(acted, Ok(ActResult::Nothing));
    assert_eq!(world.complete(1, ActionOutcome::Succeed), ActResult::Recorded);
}

#[test]
fn an_action_is_found_by_its_id_alone() {
    let world = World::new();
    let required = world.asked(of_card(CHALLENGE));
    let id = action_id(&required);
    let find = |id| wait(world.sandbox.find_action(id)).expect("an answer");
    let shown = find(id).expect("it is there");
    let (merchant, money, return_path) = (MERCHANT, thb(100), RETURN_PATH.to_string());
    let page = ActionPage::Challenge;
    let expected = ShownAction { id, page, merchant, payment: payment(1), money, return_path, is_open: true };
    assert_eq!(shown, expected);
    assert_eq!(required.step, CustomerStep::Redirect(ActionAddress::new(shown.path()).expect("an address")));
    let mut other = id;
    other.0[31] ^= 1;
    assert_eq!(find(other), None);
    assert_eq!(wait(world.sandbox.act_on_page(other, ActionOutcome::Succeed)), Ok(ActResult::Nothing));
    world.act(&required, ActionOutcome::Succeed);
    assert_eq!(find(id), Some(ShownAction { is_open: false, ..expected }));
}

#[test]
fn a_bill_is_found_by_its_whole_text_alone() {
    let world = World::new();
    let required = world.asked(paying(Instrument::PromptPay, 1_000));
    let CustomerStep::DisplayQr(text) = &required.step else { panic!("{required:?} shows no code") };
    let find = |text: &str| wait(world.sandbox.find_bill(text)).expect("an answer");
    let shown = find(text.as_str()).expect("it is there");
    assert_eq!(
        (shown.page, shown.payment, shown.path()),
        (ActionPage::Wallet, payment(1), world.find_shown(1).expect("it is there").path())
    );
    for other in
        ["", "pay_1", &text.as_str()[1..], &format!("{} ", text.as_str()), &text.as_str().replace("10.00", "11.00")]
    {
        assert_eq!(find(other), None, "{other}");
    }
}

#[test]
fn an_answer_of_a_customer_is_there_after_a_restart_over_the_disk() {
    let directory = tempfile::tempdir().expect("a directory");
    let clock = ManualClock::new();
    let open = || clock.start(&RocksBook::open(directory.path()).expect("opens"));
    let sandbox = open();
    let asked = wait(sandbox.authorize(of_card(CHALLENGE))).expect("an answer");
    drop(sandbox);
    let sandbox = open();
    assert_eq!(wait(sandbox.authorize(of_card(CHALLENGE))), Ok(asked.clone()), "the same address");
    let CallAnswer::NeedsAction(required) = asked else { panic!("{asked:?} asks for nothing") };
    assert_eq!(wait(sandbox.act_on_page(action_id(&required), ActionOutcome::Succeed)), Ok(ActResult::Recorded));
    drop(sandbox);
    let sandbox = open();
    assert_eq!(wait(sandbox.act_on_page(action_id(&required), ActionOutcome::Fail)), Ok(ActResult::Nothing));
    assert_eq!(wait(sandbox.authorize(of_card(CHALLENGE))), Ok(approval(passed())));
}

#[test]
fn a_challenge_that_was_passed_is_captured_later_and_voided_as_any_other() {
    let world = World::new();
    let request = || authorize(1, card(CHALLENGE), CaptureMode::Manual);
    let required = world.asked(request());
    let early = wait(world.sandbox.capture(follow_up(1, PaymentStep::Capture, 100)));
    assert!(matches!(early, Ok(CallAnswer::Declined { .. })), "{early:?}");
    world.act(&required, ActionOutcome::Succeed);
    let answer = world.ask(request());
    let approved =
        matches!(&answer, CallAnswer::Done(CallDone::Approved(ApprovedAuthorization { captured: false, .. })));
    assert!(approved, "{answer:?}");
    assert!(is_done(world.sandbox.void(follow_up(1, PaymentStep::Void, 100))));
    assert_eq!(world.totals().voided_minor, 100);
}

#[test]
fn a_waiting_authorization_is_counted_as_one() {
    let world = World::new();
    world.asked(of_card(CHALLENGE));
    let totals = world.totals();
    assert_eq!((totals.waiting, totals.approved, totals.declined, totals.canceled), (1, 0, 0, 0));
}
