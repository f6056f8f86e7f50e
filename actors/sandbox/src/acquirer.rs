//! The sandbox as an acquirer.

use std::io;
use std::sync::{Arc, OnceLock};
use std::thread::{Builder, JoinHandle};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::book::{AuthorizeOutcome, Book, BookInstrument, BookLine, BookOperation, FollowUp, PayoutOutcome};
use till_domain::command::EvidenceResult;
use till_domain::ids::MerchantId;
use till_domain::payment::CaptureMode;

use super::book_thread::{self, MillisClock, OnBroken};
use super::cards::{Behaviour, Handling};
use super::judgement::{BookRequest, BookRequestKind, PendingEnd, TakenMoney, by_evidence};
use super::queue::{Answered, BookTask, PendingAnswer, RequestQueue};
use till_actors::acquirer::{
    Acquirer, AcquirerAnswer, AcquirerUnavailable, Authorization, AuthorizeRequest, Awaited, Completion,
    EvidenceRequest, FollowUpRequest, FoundCall, Instrument, LateAnswer, LateAnswers, PayoutRequest, Reference,
};

/// Prefix of our reference in the sandbox's own.
const OWN_PREFIX: &str = "sandbox:";

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
        SandboxAcquirer::spawn(book, Box::new(clock), Box::new(|_| {}))
    }

    /// Starts the sandbox; `on_broken` is called once, with the reason, when its book has failed for good. Nothing is
    /// answered then until the book is opened again, which reads the lines that reached the disk: the callback is
    /// expected to end the process.
    ///
    /// # Errors
    /// The operating system's, when it starts no thread.
    pub fn start_or_end(book: impl Book, on_broken: impl Fn(String) + Send + 'static) -> io::Result<SandboxAcquirer> {
        SandboxAcquirer::spawn(book, Box::new(now_ms), Box::new(on_broken))
    }

    fn spawn(book: impl Book, clock: MillisClock, on_broken: OnBroken) -> io::Result<SandboxAcquirer> {
        let queue = Arc::new(RequestQueue::new());
        let waiting = Arc::clone(&queue);
        let run = move || book_thread::run(&waiting, book, &clock, &on_broken);
        let thread = Builder::new().name("sandbox-book".to_owned()).spawn(run)?;
        Ok(SandboxAcquirer { queue, thread: Some(thread), late_answers: Arc::default() })
    }

    /// Ends a merchant's pending refund or payout, as the provider would, and sends the result; the answer is false
    /// when none is pending under the reference.
    ///
    /// # Errors
    /// [`AcquirerUnavailable`] in the answer: it may be ended or still pending.
    pub fn end_pending(&self, merchant: MerchantId, reference: Reference, end: PendingEnd) -> AcquirerAnswer<bool> {
        let waiting = self.queue.push(BookTask::EndPending { merchant, reference: reference.into_text(), end });
        let late_answers = Arc::clone(&self.late_answers);
        Box::pin(async move {
            let answered = answered(waiting).await?;
            send_late(&late_answers, &answered);
            Ok(answered.line.is_some())
        })
    }

    fn follow_up(&self, what: FollowUp, request: FollowUpRequest) -> AcquirerAnswer<Completion> {
        // A reference that is not the sandbox's own names no line, and is declined as unknown.
        let authorization = request.acquirer_reference.strip_prefix(OWN_PREFIX).unwrap_or_default().to_owned();
        let what = BookRequestKind::FollowUp { what, authorization };
        let FollowUpRequest { reference, merchant, payment, money, .. } = request;
        let payment = Some(payment);
        self.answer(BookRequest { reference: reference.into_text(), merchant, payment, money, what }, completion)
    }

    fn answer<T: 'static>(&self, request: BookRequest, read: fn(&Answered) -> Option<T>) -> AcquirerAnswer<T> {
        let waiting = self.queue.push(request);
        let late_answers = Arc::clone(&self.late_answers);
        Box::pin(async move {
            let answered = answered(waiting).await?;
            if answered.handling == Handling::AnswersTwice {
                send_late(&late_answers, &answered);
            }
            let read = read(&answered);
            let other = "the sandbox recorded another request under the reference";
            read.ok_or_else(|| AcquirerUnavailable::because(other))
        })
    }
}

/// Waits for the answer to a request, and for its delay.
async fn answered(waiting: PendingAnswer) -> Result<Answered, AcquirerUnavailable> {
    let stopped = |_| AcquirerUnavailable::because("the sandbox stopped before it answered");
    let answered = waiting?.await.map_err(stopped)??;
    let delay = answered.handling.answer_delay();
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    Ok(answered)
}

/// Sends an answer that no call waits for. If it cannot be sent, the caller asks again.
fn send_late(late_answers: &OnceLock<LateAnswers>, answered: &Answered) {
    let (Some(late_answers), Some(line), Some(found)) = (late_answers.get(), &answered.line, found(answered)) else {
        return;
    };
    let _asked_again =
        late_answers.try_send(LateAnswer { merchant: line.merchant, reference: line.reference.clone(), found });
}

impl Acquirer for SandboxAcquirer {
    fn authorize(&self, request: AuthorizeRequest) -> AcquirerAnswer<Authorization> {
        let (instrument, behaviour) = match &request.instrument {
            Instrument::Card { number, .. } => {
                let (first_six, last_four) = (number.first_six(), number.last_four());
                (BookInstrument::Card { first_six, last_four }, Behaviour::of(number))
            }
            Instrument::Installment { plan } => {
                (BookInstrument::Installment { plan: plan.id().to_owned() }, Behaviour::Approve)
            }
        };
        let what = BookRequestKind::Authorize { instrument, capture: request.capture, behaviour };
        let AuthorizeRequest { reference, merchant, payment, money, .. } = request;
        let payment = Some(payment);
        self.answer(BookRequest { reference: reference.into_text(), merchant, payment, money, what }, authorization)
    }

    fn capture(&self, request: FollowUpRequest) -> AcquirerAnswer<Completion> {
        self.follow_up(FollowUp::Capture, request)
    }

    fn void(&self, request: FollowUpRequest) -> AcquirerAnswer<Completion> {
        self.follow_up(FollowUp::Void, request)
    }

    fn refund(&self, request: FollowUpRequest) -> AcquirerAnswer<Completion> {
        self.follow_up(FollowUp::Refund, request)
    }

    fn payout(&self, request: PayoutRequest) -> AcquirerAnswer<Completion> {
        let PayoutRequest { reference, merchant, payout: _, money } = request;
        let reference = reference.into_text();
        self.answer(
            BookRequest { reference, merchant, payment: None, money, what: BookRequestKind::Payout },
            completion,
        )
    }

    /// The text alone decides, so the book keeps nothing of it.
    fn evidence(&self, request: EvidenceRequest) -> AcquirerAnswer<EvidenceResult> {
        Box::pin(async move { Ok(by_evidence(request.evidence.as_str())) })
    }

    fn send_late_answers(&self, to: LateAnswers) {
        // A sandbox serves one engine; any other engine has to ask for answers.
        let _is_the_first = self.late_answers.set(to);
    }

    fn find(&self, merchant: MerchantId, reference: Reference) -> AcquirerAnswer<Option<FoundCall>> {
        let waiting = self.queue.push(BookTask::Find(reference.into_text()));
        Box::pin(async move {
            let answered = answered(waiting).await?;
            let is_the_merchants = answered.line.as_ref().is_some_and(|line| line.merchant == merchant);
            Ok(if is_the_merchants { found(&answered) } else { None })
        })
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

/// The answer in an authorization's line, which is the same for every repetition of the call.
fn authorization(answered: &Answered) -> Option<Authorization> {
    let line = answered.line.as_ref()?;
    let BookOperation::Authorize { capture, outcome, .. } = &line.operation else { return None };
    Some(match outcome {
        AuthorizeOutcome::Approved(state) => Authorization::Approved {
            acquirer_reference: own_reference(line),
            // A later capture must not change the first answer. An automatic capture that failed is never repeated.
            captured: *capture == CaptureMode::Automatic && state.captured_minor > 0,
            settles_at_once: state.settles_at_once,
            is_disputed: TakenMoney::of(line).is_disputed,
        },
        AuthorizeOutcome::Declined(reason) => Authorization::Declined(reason.failure()),
    })
}

fn completion(answered: &Answered) -> Option<Completion> {
    let line = answered.line.as_ref()?;
    let declined = match &line.operation {
        BookOperation::FollowUp { declined, .. } => declined,
        BookOperation::PendingRefund { authorization: _, fails_at_ms: Some(_) } => {
            return Some(Completion::Pending(Awaited::Time));
        }
        BookOperation::PendingRefund { authorization: _, fails_at_ms: None }
        | BookOperation::Payout(PayoutOutcome::Pending) => {
            return Some(Completion::Pending(Awaited::Decision));
        }
        BookOperation::Payout(PayoutOutcome::Paid) => &None,
        BookOperation::Payout(PayoutOutcome::Declined(reason)) => &Some(*reason),
        BookOperation::Authorize { .. } | BookOperation::TimedOut => return None,
    };
    Some(match declined {
        None => {
            let TakenMoney { settles_at_once, is_disputed } = answered.taken;
            Completion::Done { acquirer_reference: own_reference(line), settles_at_once, is_disputed }
        }
        Some(reason) => Completion::Declined(reason.failure()),
    })
}

fn found(answered: &Answered) -> Option<FoundCall> {
    authorization(answered).map(FoundCall::Authorization).or_else(|| completion(answered).map(FoundCall::Completion))
}

fn own_reference(line: &BookLine) -> String {
    [OWN_PREFIX, &line.reference].concat()
}

fn now_ms() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
}
