//! Every kind of call is made once, whatever is lost on the way: it is looked up before it is made again.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use till_actors::acquirer::{NamedCall, PaymentStep};
use till_actors::{CallTimes, DecidedCalls, OpenEffects, call_kinds};
use till_domain::card::TokenUsage;
use till_domain::command::{Caller, CapturePayment, ChallengeDispute, Command, OpenDispute, RefundPayment, SendPayout};
use till_domain::dispute::DisputeStatus;
use till_domain::event::Answer;
use till_domain::ids::{PaymentId, RefundId};
use till_domain::money::AmountMinor;
use till_domain::payment::{PENDING_LIFETIME_SECONDS, PaymentRef, PaymentStatus};
use till_domain::payout::PayoutStatus;
use till_domain::records::{Disputes, Payouts, Refunds};
use till_domain::refund::RefundStatus;
use till_domain::text::Evidence;
use till_sandbox::{PendingEnd, PlayedAcquirer};
use till_storage::family::Family;

use crate::acquirer::{CallTreatment, Preparing};
use crate::promises::CallFault;
use crate::shop::{TestShop, by, initiate, topup};
use crate::world::{EngineWorld, Settings, done, eventually};

const ASKING: &str = "4000002760003184";
const REFUND_WAITS: &str = "4000000000007726";

/// A merchant of one engine, whose next call of a kind goes wrong.
struct Loss<'a> {
    world: &'a EngineWorld,
    shop: TestShop,
    fault: CallFault,
}

impl Loss<'_> {
    /// Opens a call of this kind, and returns once Till has recorded its result.
    async fn carry_out(&self, kind: &str) {
        match kind {
            "authorize" => {
                self.lose("authorize");
                self.paid(PaymentStatus::Successful).await;
            }
            "cancel" => {
                let asked = self.asked().await;
                self.lose("cancel");
                self.command(Command::VoidPayment(PaymentRef::Own(asked))).await;
            }
            "capture" => self.operate("capture", PaymentStatus::Authorized, PaymentStatus::Successful).await,
            "void" => self.operate("void", PaymentStatus::Authorized, PaymentStatus::Voided).await,
            "reverse" => self.operate("refund", PaymentStatus::Successful, PaymentStatus::Reversed).await,
            "refund" => {
                let payment = PaymentRef::Own(self.paid(PaymentStatus::Successful).await);
                self.lose("refund");
                let refund = self.refund(payment, 1_000).await;
                let status = || self.world.find::<Refunds>(&self.shop, refund).map(|refund| refund.status);
                eventually("it is refunded", || status() == Some(RefundStatus::Successful)).await;
            }
            "void_late" => self.return_late("void", false).await,
            "refund_late" => self.return_late("refund", true).await,
            "payout" => self.pay_out().await,
            "evidence" => self.win_dispute().await,
            other => panic!("how is a call of the kind {other} opened?"),
        }
        eventually("no call is open", || self.world.count(Family::Effects, &self.shop) == 0).await;
    }

    fn lose(&self, word: &'static str) {
        self.world.script.next_of(word, self.fault);
    }

    async fn command(&self, command: Command) -> Answer {
        done(self.world.submit(self.shop.merchant_id, by(Caller::Operator, command)).await)
    }

    async fn start(&self, captured: bool) -> Answer {
        self.world.pay(&self.shop, |words| if captured { words } else { words.authorize_only() }).await
    }

    /// A payment that gets this status.
    async fn paid(&self, status: PaymentStatus) -> PaymentId {
        let answer = self.start(status == PaymentStatus::Successful).await;
        self.world.settles_down_as(&self.shop, answer, status).await.id
    }

    /// A payment that waits for its customer.
    async fn asked(&self) -> PaymentId {
        let token = self.world.token_of(&self.shop, TokenUsage::Single, ASKING).await;
        let session = self.world.session_of(&self.shop, token).await;
        let answer = done(self.world.submit(self.shop.merchant_id, initiate(session).by(&self.shop)).await);
        let is_asked = || self.world.payment(&self.shop, answer).open_action_until().is_some();
        eventually("the customer is asked", is_asked).await;
        self.world.payment(&self.shop, answer).id
    }

    async fn operate(&self, word: &'static str, from: PaymentStatus, to: PaymentStatus) {
        let id = self.paid(from).await;
        self.lose(word);
        let payment = PaymentRef::Own(id);
        let command = match (word, from) {
            ("capture", _) => Command::CapturePayment(CapturePayment { payment, amount: None }),
            ("void", _) => Command::VoidPayment(payment),
            _ => Command::ReversePayment(payment),
        };
        self.command(command).await;
        self.world.settles_down_as(&self.shop, Answer::Payment(id), to).await;
    }

    async fn refund(&self, payment: PaymentRef, minor: u64) -> RefundId {
        let amount = AmountMinor::new(minor);
        let command = RefundPayment { payment, amount, external_id: None, reason: None };
        let Answer::Refund(id) = self.command(Command::RefundPayment(command)).await else { panic!("no refund") };
        id
    }

    /// A payment that is authorized when it has expired, so that its money is given back.
    async fn return_late(&self, word: &'static str, captured: bool) {
        self.world.script.do_not_answer(Some(self.shop.merchant_id));
        let payment = self.start(captured).await;
        self.world.clock.pass_seconds(PENDING_LIFETIME_SECONDS);
        self.world.settles_down_as(&self.shop, payment, PaymentStatus::Expired).await;
        self.lose(word);
        self.world.script.do_not_answer(None);
        let late = || self.world.payment(&self.shop, payment).late_success;
        eventually("it is given back", || late().is_some_and(|late| late.returned_at.is_some())).await;
    }

    async fn pay_out(&self) {
        done(self.world.submit(self.shop.merchant_id, topup(1_000)).await);
        self.lose("payout");
        let amount = AmountMinor::new(500).expect("an amount");
        let command = Command::SendPayout(SendPayout { amount, external_id: None, description: None });
        let Answer::Payout(id) = self.command(command).await else { panic!("no payout") };
        let status = || self.world.find::<Payouts>(&self.shop, id).map(|payout| payout.status);
        eventually("it is paid", || status() == Some(PayoutStatus::Successful)).await;
    }

    async fn win_dispute(&self) {
        let payment = PaymentRef::Own(self.paid(PaymentStatus::Successful).await);
        let open = Command::OpenDispute(OpenDispute { payment, amount: None, reason: None });
        let Answer::Dispute(dispute_id) = self.command(open).await else { panic!("no dispute") };
        self.lose("evidence");
        let evidence = Evidence::new("winning_evidence").expect("evidence");
        let challenge = Command::ChallengeDispute(ChallengeDispute { dispute_id, evidence });
        done(self.world.submit(self.shop.merchant_id, by(Caller::ApiKey(self.shop.key_id), challenge)).await);
        let status = || self.world.find::<Disputes>(&self.shop, dispute_id).map(|dispute| dispute.status);
        eventually("it is won", || status() == Some(DisputeStatus::Won)).await;
    }
}

/// The calls that were made, look-ups and preparations left out.
fn acts(world: &EngineWorld) -> Vec<String> {
    let is_act = |call: &String| !call.starts_with("look up") && !call.starts_with("prepare");
    world.script.calls_made().into_iter().filter(is_act).collect()
}

const FAULTS: [CallFault; 4] =
    [CallFault::AnswerLost, CallFault::FailureStored, CallFault::RequestLost, CallFault::NotSent];

/// Carries a call of this kind out once although something is lost, at an acquirer that prepares authorizations or not.
async fn check_carried_out_once(kind: &str, fault: CallFault, preparing: Option<Preparing>) {
    let world = EngineWorld::start();
    if let Some(preparing) = preparing {
        world.script.prepare(preparing);
    }
    let shop = world.open_shop().await;
    Loss { world: &world, shop, fault }.carry_out(kind).await;
    let carried_out = world.script.carried_out();
    let once: BTreeSet<_> = carried_out.iter().collect();
    assert_eq!(once.len(), carried_out.len(), "{kind}, {fault:?}: {:?}", world.script.calls_made());
    let lost = acts(&world).len() - carried_out.len();
    let is_as_played = match fault {
        CallFault::AnswerLost | CallFault::FailureStored => lost == 0 || kind.ends_with("_late"),
        CallFault::RequestLost | CallFault::NotSent => lost > 0,
    };
    assert!(is_as_played, "{kind}, {fault:?}: {:?}", world.script.calls_made());
    assert_eq!(world.script.prepared().is_empty(), preparing.is_none() || kind == "payout", "{kind}, {fault:?}");
}

#[actix_rt::test]
async fn each_kind_of_call_is_carried_out_once_whatever_is_lost() {
    for kind in call_kinds() {
        for fault in FAULTS {
            check_carried_out_once(kind, fault, None).await;
        }
    }
}

/// What is prepared and not sent is canceled at the end of its payment, so that nothing is given back late.
#[actix_rt::test]
async fn each_kind_of_prepared_call_is_carried_out_once_whatever_is_lost() {
    for kind in call_kinds().filter(|kind| !kind.ends_with("_late")) {
        for fault in FAULTS {
            check_carried_out_once(kind, fault, Some(Preparing::WithPage)).await;
        }
    }
}

#[actix_rt::test]
async fn a_call_that_was_surely_not_sent_is_made_again_without_a_look_up() {
    let (world, shop) = EngineWorld::with_shop().await;
    world.script.next([CallTreatment::Fault(CallFault::NotSent), CallTreatment::Fault(CallFault::NotSent)]);
    let payment = world.pay(&shop, |words| words).await;
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    assert_eq!((acts(&world).len(), world.script.calls()), (3, 3), "{:?}", world.script.calls_made());
}

#[actix_rt::test]
async fn a_call_is_not_made_again_while_its_request_may_be_on_its_way() {
    let on_its_way = Duration::from_millis(1_200);
    let call_times = CallTimes { on_its_way, ..CallTimes::default() };
    let world = EngineWorld::start_with(Settings { call_times, ..Settings::default() });
    let shop = world.open_shop().await;
    world.script.next([CallTreatment::Fault(CallFault::RequestLost)]);
    let begin = Instant::now();
    let payment = world.pay(&shop, |words| words).await;
    eventually("it is looked up", || world.script.calls() > 3).await;
    assert_eq!(acts(&world).len(), 1);
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    assert!(begin.elapsed() >= on_its_way);
    assert_eq!(acts(&world).len(), 2, "{:?}", world.script.calls_made());
}

#[actix_rt::test]
async fn a_call_of_an_earlier_process_is_looked_up_before_it_is_made() {
    let (world, shop) = EngineWorld::with_shop().await;
    world.script.next([CallTreatment::Fault(CallFault::AnswerLost)]);
    let payment = world.pay(&shop, |words| words).await;
    eventually("it was made", || !world.script.carried_out().is_empty()).await;
    world.script.do_not_answer(Some(shop.merchant_id));
    let world = world.restart();
    world.settles_down_as(&shop, payment, PaymentStatus::Successful).await;
    assert_eq!(acts(&world), Vec::<String>::new(), "{:?}", world.script.calls_made());
    world.assert_book_equals_ledger(&shop);
}

#[actix_rt::test]
async fn a_pending_call_is_looked_up_after_a_minute_then_after_twice_as_long() {
    let (world, shop) = EngineWorld::with_shop().await;
    let token = world.token_of(&shop, TokenUsage::Single, REFUND_WAITS).await;
    let session = world.session_of(&shop, token).await;
    let payment = done(world.submit(shop.merchant_id, initiate(session).by(&shop)).await);
    let payment = world.settles_down_as(&shop, payment, PaymentStatus::Successful).await.id;
    let refund = Loss { world: &world, shop, fault: CallFault::NotSent }.refund(PaymentRef::Own(payment), 1_000).await;
    for (passes, asked) in [(0, 2), (59, 2), (1, 3), (119, 3), (1, 4), (239, 4), (1, 5)] {
        world.clock.pass_seconds(passes);
        eventually("it is asked", || world.script.calls() >= asked).await;
        actix_rt::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(world.script.calls(), asked, "{:?}", world.script.calls_made());
    }
    assert_eq!(acts(&world).len(), 2, "{:?}", world.script.calls_made());
    let open = world.engine.open_effects();
    assert_eq!((open.count, open.awaiting_customers, open.of(DecidedCalls::Refunds).count), (1, 0, 1));
    let reference = NamedCall::first(payment, PaymentStep::Refund(refund));
    assert_eq!(world.sandbox.end_pending(shop.merchant_id, reference, PendingEnd::Completed).await, Ok(true));
    eventually("its end is sent", || world.engine.open_effects() == OpenEffects::default()).await;
    assert_eq!(world.find::<Refunds>(&shop, refund).map(|refund| refund.status), Some(RefundStatus::Successful));
}
