//! The one thread that writes the sandbox's book: all waiting requests become one synced write, and are answered after
//! it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::book::{Book, BookError, BookLine, BookOperation, PayoutOutcome};
use tokio::sync::oneshot;

use super::cards::Handling;
use super::judgement::{BookRequest, PendingEnd, TakenMoney, end_refund, ended_payout, has_failed_by};
use super::queue::{Answered, BookTask, Job, Recorded, RequestQueue};
use till_actors::acquirer::AcquirerUnavailable;

/// Milliseconds since the Unix epoch.
pub(super) type MillisClock = Box<dyn Fn() -> u64 + Send>;

/// Called when the book has failed for good.
pub(super) type OnBroken = Box<dyn Fn(String) + Send>;

/// Carries requests out until the queue is closed, or the book fails for good.
pub(super) fn run<B: Book>(queue: &Arc<RequestQueue>, mut book: B, clock: &MillisClock, on_broken: &OnBroken) {
    // When this thread ends for any reason, no caller may wait for it afterwards.
    let _abandon = AbandonWhenDropped(Arc::clone(queue));
    while let Some(jobs) = queue.next_group() {
        if let Err(error) = carry_out(jobs, &mut book, clock()) {
            tracing::error!(error = &error as &dyn std::error::Error, "the sandbox stops: its book failed");
            on_broken(in_words(&error));
            return;
        }
    }
}

/// An error with its source, as text.
fn in_words(error: &BookError) -> String {
    let source = std::error::Error::source(error).map(|source| format!(": {source}"));
    format!("{error}{}", source.unwrap_or_default())
}

struct AbandonWhenDropped(Arc<RequestQueue>);

impl Drop for AbandonWhenDropped {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// Judges a group, writes it, answers it. An error means that the book must not be written any more.
fn carry_out<B: Book>(jobs: Vec<Job>, book: &mut B, now_ms: u64) -> Result<(), BookError> {
    let mut group = Group { book, staged: BTreeMap::new() };
    let mut answers: Vec<(oneshot::Sender<Recorded>, Recorded)> = Vec::with_capacity(jobs.len());
    for Job { since: _, request, reply } in jobs {
        let recorded = match group.answer(request, now_ms) {
            Ok(recorded) => recorded,
            Err(error) => Err(unavailable(error)?),
        };
        answers.push((reply, recorded));
    }
    let lines: Vec<BookLine> = group.staged.into_values().collect();
    // A group of nothing but repeated requests has nothing to write.
    let written = if lines.is_empty() { Ok(()) } else { book.write(&lines) };
    let failure = written.map_err(unavailable).err().transpose()?;
    for (reply, recorded) in answers {
        // A caller that no longer waits asks again later.
        let _ = reply.send(failure.clone().map_or(recorded, Err));
    }
    Ok(())
}

/// The answer to the callers after an error, when the book can still be used.
fn unavailable(error: BookError) -> Result<AcquirerUnavailable, BookError> {
    match error {
        BookError::TimedOut => Ok(AcquirerUnavailable::because("the sandbox's book did not answer in time")),
        BookError::NotWritten { .. } => {
            tracing::warn!(error = &error as &dyn std::error::Error, "the sandbox cannot write to its book now");
            Ok(AcquirerUnavailable::because("the sandbox cannot write to its book now"))
        }
        BookError::Damaged { .. } | BookError::UnknownFormat { .. } => {
            tracing::error!(error = &error as &dyn std::error::Error, "the sandbox cannot read its book");
            Ok(AcquirerUnavailable::because("the sandbox cannot read its book"))
        }
        BookError::Broken(_) => Err(error),
    }
}

/// The book with the lines that a group adds.
struct Group<'a, B> {
    book: &'a B,
    staged: BTreeMap<String, BookLine>,
}

impl<B: Book> Group<'_, B> {
    fn answer(&mut self, request: BookTask, now_ms: u64) -> Result<Recorded, BookError> {
        match request {
            BookTask::CarryOut(request) => self.record(request, now_ms),
            BookTask::Find(reference) => {
                let line = self.current(&reference, now_ms)?.filter(|line| line.operation != BookOperation::TimedOut);
                self.answer_of(line)
            }
            BookTask::EndPending { merchant, reference, end } => {
                let line = self.current(&reference, now_ms)?.filter(|line| line.merchant == merchant);
                let ended = line.map(|line| self.end_pending(&line, end)).transpose()?.flatten();
                self.answer_of(ended)
            }
        }
    }

    /// The answer to a call that was made before.
    fn answer_of(&self, line: Option<BookLine>) -> Result<Recorded, BookError> {
        let authorization = line.as_ref().and_then(|line| line.operation.authorization());
        let authorization = authorization.map(|reference| self.line(reference)).transpose()?.flatten();
        let taken = authorization.as_ref().map_or(TakenMoney::default(), TakenMoney::of);
        Ok(Ok(Answered { line, handling: Handling::AtOnce, taken }))
    }

    /// The line that records a request: the one that is there, or a new one staged here.
    fn record(&mut self, request: BookRequest, now_ms: u64) -> Result<Recorded, BookError> {
        let authorization = request.authorization().map(|reference| self.line(reference)).transpose()?.flatten();
        let handling = request.handling(authorization.as_ref());
        let taken = authorization.as_ref().map_or(TakenMoney::default(), TakenMoney::of);
        let first_asked_at_ms = match self.current(&request.reference, now_ms)? {
            Some(line) if line.operation != BookOperation::TimedOut => {
                return Ok(repeated(&request, line, handling, taken));
            }
            timed_out => timed_out.map(|line| line.asked_at_ms),
        };
        let is_first = first_asked_at_ms.is_none();
        if is_first && handling == Handling::FirstCallTimesOutUndone {
            self.stage([request.timed_out(now_ms)]);
            return Ok(Err(timed_out()));
        }
        let (mut line, changed) = request.judge(authorization.as_ref(), now_ms);
        line.asked_at_ms = first_asked_at_ms.unwrap_or(now_ms);
        self.stage(changed.into_iter().chain([line.clone()]));
        if is_first && handling == Handling::FirstCallTimesOutDone {
            return Ok(Err(timed_out()));
        }
        Ok(Ok(Answered { line: Some(line), handling, taken }))
    }

    /// The line under a reference as of now: a refund whose time to fail has come has failed.
    fn current(&mut self, reference: &str, now_ms: u64) -> Result<Option<BookLine>, BookError> {
        match self.line(reference)? {
            Some(line) if has_failed_by(&line, now_ms) => self.end_pending(&line, PendingEnd::Failed),
            line => Ok(line),
        }
    }

    /// The line of a refund or payout after its end; nothing when it is not pending.
    fn end_pending(&mut self, line: &BookLine, end: PendingEnd) -> Result<Option<BookLine>, BookError> {
        if line.operation == BookOperation::Payout(PayoutOutcome::Pending) {
            let ended = ended_payout(line, end);
            self.stage([ended.clone()]);
            return Ok(Some(ended));
        }
        let BookOperation::PendingRefund { authorization, .. } = &line.operation else { return Ok(None) };
        let authorized = self.line(authorization)?;
        let (ended, changed) = end_refund(line, authorization, authorized.as_ref(), end);
        self.stage(changed.into_iter().chain([ended.clone()]));
        Ok(Some(ended))
    }

    fn stage(&mut self, lines: impl IntoIterator<Item = BookLine>) {
        self.staged.extend(lines.into_iter().map(|line| (line.reference.clone(), line)));
    }

    fn line(&self, reference: &str) -> Result<Option<BookLine>, BookError> {
        match self.staged.get(reference) {
            Some(line) => Ok(Some(line.clone())),
            None => self.book.line(reference),
        }
    }
}

fn timed_out() -> AcquirerUnavailable {
    AcquirerUnavailable::because("the first call for this card times out")
}

fn repeated(request: &BookRequest, line: BookLine, handling: Handling, taken: TakenMoney) -> Recorded {
    if request.is_recorded_by(&line) {
        return Ok(Answered { line: Some(line), handling, taken });
    }
    // Neither done nor declined would be true. Unknown keeps the payment open until an operator looks.
    tracing::error!(reference = request.reference, "the sandbox was sent another request under a used reference");
    Err(AcquirerUnavailable::because("the reference names another request"))
}
