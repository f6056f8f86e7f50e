//! The sandbox as an acquirer.

use std::io;
use std::sync::{Arc, OnceLock};
use std::thread::{Builder, JoinHandle};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::book::{ActionId, ActionOutcome, ActionPage, Book, BookAction, BookInstrument, FollowUp};
use till_domain::ids::{Entropy, MerchantId, PaymentId};
use till_domain::money::Money;

use super::actions::{ActResult, ShownAction};
use super::acts::Act;
use super::answers::{OWN_PREFIX, call_answer, send_late};
use super::book_thread::{self, MillisClock, OnBroken};
use super::cards::{AuthorizationPlan, Behaviour, Handling};
use super::judgement::{BookRequest, BookRequestKind, PendingEnd, by_evidence};
use super::played::{PlayedAcquirer, PlayedAnswer};
use super::queue::{Answered, BookTask, PendingAnswer, RequestQueue};
use till_actors::acquirer::{
    Acquirer, AcquirerCall, AcquirerUnavailable, AuthorizeRequest, CallAnswer, CallDone, CancelRequest,
    FollowUpRequest, Instrument, LateAnswers, LookedUp, NamedCall, PaymentStep, PayoutRequest,
};
use till_actors::clock::OsEntropy;

/// The built-in acquirer: it behaves by card number, and keeps a book of requests and their results.
///
/// Every answer is on disk before it is given. A request is under way when its method returns, even if its future is
/// never polled. Dropping the acquirer carries out the requests, then closes the book.
pub struct SandboxAcquirer {
    queue: Arc<RequestQueue>,
    thread: Option<JoinHandle<()>>,
    late_answers: Arc<OnceLock<LateAnswers>>,
}

impl SandboxAcquirer {
    /// Starts the sandbox over its book, on a thread of its own.
    ///
    /// # Errors
    /// The operating system's, when it starts no thread.
    pub fn start(book: impl Book) -> io::Result<SandboxAcquirer> {
        SandboxAcquirer::start_with_clock(book, now_ms)
    }

    /// Starts the sandbox with a clock of the caller's, in milliseconds since the Unix epoch.
    ///
    /// # Errors
    /// The operating system's, when it starts no thread.
    pub fn start_with_clock(book: impl Book, clock: impl Fn() -> u64 + Send + 'static) -> io::Result<SandboxAcquirer> {
        SandboxAcquirer::spawn(book, || Ok(()), Box::new(clock), Box::new(|_| {}))
    }

    /// Starts the sandbox; `on_broken` is called once, with the reason, when its book has failed for good. Nothing is
    /// answered then until the book is opened again, which reads the lines that reached the disk: the callback is
    /// expected to end the process.
    ///
    /// # Errors
    /// The operating system's, when it starts no thread.
    ///
    /// The thread fills the book first, while requests wait for it. A failure to do so is one of the book.
    pub fn start_or_end(
        book: impl Book,
        fill: impl FnOnce() -> Result<(), String> + Send + 'static,
        on_broken: impl Fn(String) + Send + 'static,
    ) -> io::Result<SandboxAcquirer> {
        SandboxAcquirer::spawn(book, fill, Box::new(now_ms), Box::new(on_broken))
    }

    fn spawn(
        book: impl Book,
        fill: impl FnOnce() -> Result<(), String> + Send + 'static,
        clock: MillisClock,
        on_broken: OnBroken,
    ) -> io::Result<SandboxAcquirer> {
        let queue = Arc::new(RequestQueue::new());
        let waiting = Arc::clone(&queue);
        let late_answers: Arc<OnceLock<LateAnswers>> = Arc::default();
        let sent_to = Arc::clone(&late_answers);
        let run = move || book_thread::run(&waiting, book, fill, &clock, &sent_to, &on_broken);
        let thread = Builder::new().name("sandbox-book".to_owned()).spawn(run)?;
        Ok(SandboxAcquirer { queue, thread: Some(thread), late_answers })
    }

    fn record_act(&self, act: Act) -> PlayedAnswer<ActResult> {
        let waiting = self.queue.push(BookTask::Act(act));
        Box::pin(async move {
            let is_recorded = wait_for_answer(waiting).await?.line.is_some();
            Ok(if is_recorded { ActResult::Recorded } else { ActResult::Nothing })
        })
    }

    pub(super) fn find_shown(&self, task: BookTask) -> PlayedAnswer<Option<ShownAction>> {
        let waiting = self.queue.push(task);
        Box::pin(async move { Ok(ShownAction::of(&wait_for_answer(waiting).await?)) })
    }

    fn answer(&self, request: BookRequest) -> PlayedAnswer<CallAnswer> {
        let waiting = self.queue.push(request);
        let late_answers = Arc::clone(&self.late_answers);
        Box::pin(async move {
            let answered = wait_for_answer(waiting).await?;
            if answered.handling == Handling::AnswersTwice {
                send_late(&late_answers, &answered);
            }
            call_answer(&answered).ok_or_else(other_request)
        })
    }
}

fn other_request() -> AcquirerUnavailable {
    AcquirerUnavailable::unknown("the sandbox recorded another request under the reference")
}

/// Waits for the answer to a request, and for its delay.
async fn wait_for_answer(waiting: PendingAnswer) -> Result<Answered, AcquirerUnavailable> {
    let stopped = |_| AcquirerUnavailable::unknown("the sandbox stopped before it answered");
    let answered = waiting?.await.map_err(stopped)??;
    let delay = answered.handling.answer_delay();
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    Ok(answered)
}

impl Acquirer for SandboxAcquirer {
    fn act(&self, call: AcquirerCall) -> PlayedAnswer<CallAnswer> {
        match asked(call) {
            Ok(request) => self.answer(request),
            Err(answer) => Box::pin(async { answer }),
        }
    }

    fn look_up(&self, call: &AcquirerCall) -> PlayedAnswer<LookedUp> {
        let waiting = self.queue.push(BookTask::Find(call.reference().to_string()));
        let (merchant, object) = (call.merchant(), object(call));
        Box::pin(async move {
            let answered = wait_for_answer(waiting).await?;
            let Some(line) = answered.line.as_ref().filter(|line| line.merchant == merchant) else {
                return Ok(LookedUp::NotDone);
            };
            let is_this_call = object == Some((line.payment, line.money));
            call_answer(&answered).filter(|_| is_this_call).map(LookedUp::Found).ok_or_else(other_request)
        })
    }

    fn is_in_process(&self) -> bool {
        true
    }

    fn send_late_answers(&self, to: LateAnswers) {
        // A sandbox serves one engine; any other engine has to ask for answers.
        let _is_the_first = self.late_answers.set(to);
    }
}

impl PlayedAcquirer for SandboxAcquirer {
    fn end_pending(&self, merchant: MerchantId, reference: NamedCall, end: PendingEnd) -> PlayedAnswer<bool> {
        let waiting = self.queue.push(BookTask::EndPending { merchant, reference: reference.to_string(), end });
        let late_answers = Arc::clone(&self.late_answers);
        Box::pin(async move {
            let answered = wait_for_answer(waiting).await?;
            send_late(&late_answers, &answered);
            Ok(answered.line.is_some())
        })
    }

    fn find_action(&self, id: ActionId) -> PlayedAnswer<Option<ShownAction>> {
        let found = self.find_shown(BookTask::Find(id.authorization()));
        Box::pin(async move { Ok(found.await?.filter(|action| action.id == id)) })
    }

    fn find_action_of_same_payment(&self, id: ActionId) -> PlayedAnswer<Option<ShownAction>> {
        self.find_shown(BookTask::Find(id.authorization()))
    }

    fn find_authorization(&self, merchant: MerchantId, payment: PaymentId) -> PlayedAnswer<Option<CallAnswer>> {
        let reference = NamedCall::first(payment, PaymentStep::Authorize).to_string();
        let waiting = self.queue.push(BookTask::Find(reference));
        Box::pin(async move {
            let answered = wait_for_answer(waiting).await?;
            let is_the_merchants = answered.line.as_ref().is_some_and(|line| line.merchant == merchant);
            Ok(call_answer(&answered).filter(|_| is_the_merchants))
        })
    }

    fn find_bill(&self, qr_text: &str) -> PlayedAnswer<Option<ShownAction>> {
        self.find_shown(BookTask::FindBill(qr_text.to_owned()))
    }

    fn act_on_page(&self, id: ActionId, outcome: ActionOutcome) -> PlayedAnswer<ActResult> {
        self.record_act(Act::OnPage(id, outcome))
    }

    fn complete_action(
        &self,
        merchant: MerchantId,
        payment: PaymentId,
        outcome: ActionOutcome,
    ) -> PlayedAnswer<ActResult> {
        self.record_act(Act::ByOperator(merchant, payment, outcome))
    }
}

impl Drop for SandboxAcquirer {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has reported it itself, and its callers were told.
            let _ = thread.join();
        }
    }
}

/// What a call asks of the book, or the answer to a call that the book keeps nothing of.
fn asked(call: AcquirerCall) -> Result<BookRequest, Result<CallAnswer, AcquirerUnavailable>> {
    let (what, reference, merchant, payment, money) = match call {
        AcquirerCall::Authorize(request) => {
            let AuthorizeRequest { reference, merchant, payment, money, instrument, capture, return_path, .. } =
                request;
            let no_means = || Err(AcquirerUnavailable::not_sent("there is no means of payment"));
            let (instrument, plan) = instrument.as_ref().and_then(|it| planned(it, money)).ok_or_else(no_means)?;
            let asked = |page| BookAction::asked(page, secret(), payment, money, return_path.to_string());
            let action = plan.asks.map(asked).map(Box::new);
            let what = BookRequestKind::Authorize { instrument, capture, plan, action };
            (what, reference, merchant, Some(payment), money)
        }
        AcquirerCall::Cancel(request) => {
            let CancelRequest { reference, merchant, payment, money, deadline_passed, prepared: _ } = request;
            let authorization = NamedCall::first(payment, PaymentStep::Authorize).to_string();
            let what = BookRequestKind::CancelAction { authorization, deadline_passed };
            (what, reference, merchant, Some(payment), money)
        }
        AcquirerCall::Capture(request) => follow_up(FollowUp::Capture, request),
        AcquirerCall::Void(request) => follow_up(FollowUp::Void, request),
        AcquirerCall::Refund(request) => follow_up(FollowUp::Refund, request),
        AcquirerCall::Payout(PayoutRequest { reference, merchant, money }) => {
            (BookRequestKind::Payout, reference, merchant, None, money)
        }
        // The text alone decides, so the book keeps nothing of it.
        AcquirerCall::Evidence(request) => {
            let result = by_evidence(request.evidence.as_str());
            return Err(Ok(CallAnswer::Done(CallDone::EvidenceTaken(result))));
        }
    };
    Ok(BookRequest { reference: reference.to_string(), merchant, payment, money, what })
}

fn follow_up(
    what: FollowUp,
    request: FollowUpRequest,
) -> (BookRequestKind, NamedCall, MerchantId, Option<PaymentId>, Money) {
    // A reference that is not the sandbox's own names no line, and is declined as unknown.
    let authorization = request.acquirer_reference.strip_prefix(OWN_PREFIX).unwrap_or_default().to_owned();
    let FollowUpRequest { reference, merchant, payment, money, .. } = request;
    (BookRequestKind::FollowUp { what, authorization }, reference, merchant, Some(payment), money)
}

/// The payment and the amount of a call that the book keeps.
const fn object(call: &AcquirerCall) -> Option<(Option<PaymentId>, Money)> {
    match call {
        AcquirerCall::Authorize(request) => Some((Some(request.payment), request.money)),
        AcquirerCall::Cancel(request) => Some((Some(request.payment), request.money)),
        AcquirerCall::Capture(request) | AcquirerCall::Void(request) | AcquirerCall::Refund(request) => {
            Some((Some(request.payment), request.money))
        }
        AcquirerCall::Payout(request) => Some((None, request.money)),
        AcquirerCall::Evidence(_) => None,
    }
}

/// The means of payment as the book keeps it, and the plan of the authorization; none for a card page, which the
/// sandbox does not have.
fn planned(instrument: &Instrument, money: Money) -> Option<(BookInstrument, AuthorizationPlan)> {
    Some(match instrument {
        Instrument::Card { number, expiry: _, security_code: _, is_saved } => {
            let (first_six, last_four) = (number.first_six(), number.last_four());
            (BookInstrument::Card { first_six, last_four }, AuthorizationPlan::of_card(number, *is_saved))
        }
        Instrument::Installment { plan } => (
            BookInstrument::Installment { plan: plan.id().to_owned() },
            AuthorizationPlan::unauthenticated(Behaviour::Approve),
        ),
        Instrument::PromptPay => (BookInstrument::PromptPay, AuthorizationPlan::of_method(ActionPage::Wallet, money)),
        Instrument::MobileBanking => {
            (BookInstrument::MobileBanking, AuthorizationPlan::of_method(ActionPage::Bank, money))
        }
        Instrument::AcquirerPage { locale: _ } => return None,
    })
}

/// The random part of an action's id.
fn secret() -> [u8; 16] {
    let mut entropy = OsEntropy::default();
    let mut secret = [0; 16];
    secret[..8].copy_from_slice(&entropy.next_u64().to_be_bytes());
    secret[8..].copy_from_slice(&entropy.next_u64().to_be_bytes());
    secret
}

fn now_ms() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
}
