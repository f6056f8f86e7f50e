//! The sandbox as an acquirer.

use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::book::{AuthorizeOutcome, Book, BookInstrument, BookLine, Deed, FollowUp};
use till_domain::ids::MerchantId;
use till_domain::payment::CaptureMode;

use super::book_thread::{self, Clock, OnBroken};
use super::cards::{Behaviour, code_and_message};
use super::judgement::{Ask, RefundEnd, What};
use super::queue::{Answered, Queue, Request, Waiting};
use till_actors::acquirer::{
    Acquirer, AcquirerAnswer, AcquirerUnavailable, Authorization, AuthorizeRequest, Completion, FollowUpRequest, Found,
    Instrument, Reference,
};

/// What stands before our reference in the sandbox's own.
const OWN_PREFIX: &str = "sandbox:";

/// The built-in acquirer: it behaves by card number, and keeps a book of what it was asked and what it did.
///
/// Every answer is on disk before it is given. A request is under way when its method returns, whether or
/// not its future is polled. Dropping the acquirer carries out what was asked, then closes the book.
pub struct SandboxAcquirer {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

impl SandboxAcquirer {
    /// Starts the sandbox over its book, on a thread of its own.
    ///
    /// # Errors
    /// The operating system's, when it gives no thread.
    pub fn start(book: impl Book) -> io::Result<SandboxAcquirer> {
        SandboxAcquirer::start_with_clock(book, now_ms)
    }

    /// Starts the sandbox with a clock of the caller's, in milliseconds since the Unix epoch.
    ///
    /// # Errors
    /// The operating system's, when it gives no thread.
    pub fn start_with_clock(book: impl Book, clock: impl Fn() -> u64 + Send + 'static) -> io::Result<SandboxAcquirer> {
        SandboxAcquirer::spawn(book, Box::new(clock), Box::new(|_| {}))
    }

    /// Starts the sandbox; `on_broken` is told, once, why its book failed for good. Until the book is opened again,
    /// which reads what reached the disk, nothing is answered any more: it is expected to end the process.
    ///
    /// # Errors
    /// The operating system's, when it gives no thread.
    pub fn start_or_end(book: impl Book, on_broken: impl Fn(String) + Send + 'static) -> io::Result<SandboxAcquirer> {
        SandboxAcquirer::spawn(book, Box::new(now_ms), Box::new(on_broken))
    }

    fn spawn(book: impl Book, clock: Clock, on_broken: OnBroken) -> io::Result<SandboxAcquirer> {
        let queue = Arc::new(Queue::new());
        let waiting = Arc::clone(&queue);
        let run = move || book_thread::run(&waiting, book, &clock, &on_broken);
        let thread = Builder::new().name("sandbox-book".to_owned()).spawn(run)?;
        Ok(SandboxAcquirer { queue, thread: Some(thread) })
    }

    /// Ends a merchant's refund that is pending, as the provider would; false when there is none under the reference.
    ///
    /// # Errors
    /// [`AcquirerUnavailable`] by the answer: it may be ended or still pending.
    pub fn end_refund(&self, merchant: MerchantId, reference: Reference, end: RefundEnd) -> AcquirerAnswer<bool> {
        let waiting = self.queue.push(Request::EndRefund { merchant, reference: reference.into_text(), end });
        Box::pin(async move { Ok(line_of(waiting).await?.is_some()) })
    }

    fn follow_up(&self, what: FollowUp, request: FollowUpRequest) -> AcquirerAnswer<Completion> {
        // A reference that is not the sandbox's own names no line, and is declined as unknown.
        let authorization = request.acquirer_reference.strip_prefix(OWN_PREFIX).unwrap_or_default().to_owned();
        let what = What::FollowUp { what, authorization };
        let FollowUpRequest { reference, merchant, payment, money, .. } = request;
        self.answer(Ask { reference: reference.into_text(), merchant, payment, money, what }, completion)
    }

    fn answer<T: 'static>(&self, ask: Ask, read: fn(&BookLine) -> Option<T>) -> AcquirerAnswer<T> {
        let waiting = self.queue.push(ask);
        Box::pin(async move {
            let read = line_of(waiting).await?.as_ref().and_then(read);
            let other = "the sandbox recorded something else than was asked";
            read.ok_or_else(|| AcquirerUnavailable::because(other))
        })
    }
}

/// The line that a request is answered with, when it is time to answer.
async fn line_of(waiting: Waiting) -> Result<Option<BookLine>, AcquirerUnavailable> {
    let stopped = |_| AcquirerUnavailable::because("the sandbox stopped before it answered");
    let Answered { line, delay } = waiting?.await.map_err(stopped)??;
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    Ok(line)
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
        let what = What::Authorize { instrument, capture: request.capture, behaviour };
        let AuthorizeRequest { reference, merchant, payment, money, .. } = request;
        self.answer(Ask { reference: reference.into_text(), merchant, payment, money, what }, authorization)
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

    fn find(&self, merchant: MerchantId, reference: Reference) -> AcquirerAnswer<Option<Found>> {
        let waiting = self.queue.push(Request::Find(reference.into_text()));
        Box::pin(async move { Ok(line_of(waiting).await?.filter(|line| line.merchant == merchant).and_then(found)) })
    }
}

impl Drop for SandboxAcquirer {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so itself, and those who waited were told.
            let _ = thread.join();
        }
    }
}

/// The answer that an authorization's line gives, the same however often it is asked for.
fn authorization(line: &BookLine) -> Option<Authorization> {
    let Deed::Authorize { capture, outcome, .. } = &line.deed else { return None };
    Some(match outcome {
        AuthorizeOutcome::Approved(standing) => Authorization::Approved {
            acquirer_reference: own_reference(line),
            // A later capture must not change the first answer. What was not captured when it was asked to never is.
            captured: *capture == CaptureMode::Automatic && standing.captured_minor > 0,
            settles_at_once: standing.settles_at_once,
        },
        AuthorizeOutcome::Declined(reason) => {
            let (code, message) = code_and_message(*reason);
            Authorization::Declined { code: code.to_owned(), message: message.to_owned() }
        }
    })
}

fn completion(line: &BookLine) -> Option<Completion> {
    let declined = match &line.deed {
        Deed::FollowUp { declined, .. } => declined,
        Deed::PendingRefund { .. } => return Some(Completion::Pending),
        Deed::Authorize { .. } | Deed::TimedOut => return None,
    };
    Some(match declined {
        None => Completion::Done { acquirer_reference: own_reference(line) },
        Some(reason) => {
            let (code, message) = code_and_message(*reason);
            Completion::Declined { code: code.to_owned(), message: message.to_owned() }
        }
    })
}

fn found(line: BookLine) -> Option<Found> {
    authorization(&line).map(Found::Authorization).or_else(|| completion(&line).map(Found::Completion))
}

fn own_reference(line: &BookLine) -> String {
    [OWN_PREFIX, &line.reference].concat()
}

fn now_ms() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
}
