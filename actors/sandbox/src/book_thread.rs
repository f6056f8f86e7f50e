//! The one thread that writes the sandbox's book: all waiting requests become one synced write, and are answered after
//! it.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::book::{Book, BookError, BookLine, BookOperation, PayoutOutcome, bill_key, named_bill_key};
use tokio::sync::oneshot;

use super::acts::{self, Act, LATE_PREFIX};
use super::answers::send_late;
use super::cards::Handling;
use super::due_answers::{DueAnswers, SEND_AGAIN_AFTER_MS};
use super::judgement::{BookRequest, PendingEnd, end_refund, ended_payout, has_failed_by};
use super::queue::{Answered, BookTask, Job, Recorded, RequestQueue};
use till_actors::acquirer::{AcquirerUnavailable, LateAnswers, NamedCall, PaymentStep};

/// Milliseconds since the Unix epoch.
pub(super) type MillisClock = Box<dyn Fn() -> u64 + Send>;

/// Called when the book has failed for good.
pub(super) type OnBroken = Box<dyn Fn(String) + Send>;

/// Fills the book, carries requests out until the queue is closed, or the book fails for good, and sends the answers
/// that are due.
pub(super) fn run<B: Book>(
    queue: &Arc<RequestQueue>,
    mut book: B,
    fill: impl FnOnce() -> Result<(), String>,
    clock: &MillisClock,
    late_answers: &OnceLock<LateAnswers>,
    on_broken: &OnBroken,
) {
    // When this thread ends for any reason, no caller may wait for it afterwards.
    let _abandon = AbandonWhenDropped(Arc::clone(queue));
    if let Err(error) = fill() {
        return on_broken(error);
    }
    let mut due = DueAnswers::left_in(&book);
    while let Some(jobs) = queue.next_group(due.wait(clock)) {
        if let Err(error) = carry_out(jobs, &mut book, &mut due, late_answers, clock()) {
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

/// Judges a group, writes it, sends what is due, and answers it. An error means that the book must not be written any
/// more.
fn carry_out<B: Book>(
    jobs: Vec<Job>,
    book: &mut B,
    due: &mut DueAnswers,
    late_answers: &OnceLock<LateAnswers>,
    now_ms: u64,
) -> Result<(), BookError> {
    let mut group = Group { book, staged: BTreeMap::new(), due };
    let mut answers: Vec<(oneshot::Sender<Recorded>, Recorded)> = Vec::with_capacity(jobs.len());
    for Job { since: _, request, reply } in jobs {
        let recorded = match group.answer(request, now_ms) {
            Ok(recorded) => recorded,
            Err(error) => Err(unavailable(error)?),
        };
        answers.push((reply, recorded));
    }
    let sent = group.due_answers(now_ms)?;
    let lines: Vec<BookLine> = group.staged.into_values().collect();
    // A group of nothing but repeated requests has nothing to write.
    let written = if lines.is_empty() { Ok(()) } else { book.write(&lines) };
    let failure = written.map_err(unavailable).err().transpose()?;
    for answered in sent {
        match (&failure, &answered.line) {
            (Some(_), Some(line)) => due.add(now_ms.saturating_add(SEND_AGAIN_AFTER_MS), line.reference.clone()),
            (None | Some(_), _) => send_late(late_answers, &answered),
        }
    }
    for (reply, recorded) in answers {
        // A caller that no longer waits asks again later.
        let _ = reply.send(failure.clone().map_or(recorded, Err));
    }
    Ok(())
}

/// The answer to the callers after an error, when the book can still be used.
fn unavailable(error: BookError) -> Result<AcquirerUnavailable, BookError> {
    match error {
        BookError::TimedOut => Ok(AcquirerUnavailable::unknown("the sandbox's book did not answer in time")),
        BookError::NotWritten { .. } => {
            tracing::warn!(error = &error as &dyn std::error::Error, "the sandbox cannot write to its book now");
            Ok(AcquirerUnavailable::not_sent("the sandbox cannot write to its book now"))
        }
        BookError::Damaged { .. } | BookError::UnknownFormat { .. } => {
            tracing::error!(error = &error as &dyn std::error::Error, "the sandbox cannot read its book");
            Ok(AcquirerUnavailable::unknown("the sandbox cannot read its book"))
        }
        BookError::Broken(_) => Err(error),
    }
}

/// The book with the lines that a group adds.
struct Group<'a, B> {
    book: &'a B,
    staged: BTreeMap<String, BookLine>,
    due: &'a mut DueAnswers,
}

impl<B: Book> Group<'_, B> {
    fn answer(&mut self, request: BookTask, now_ms: u64) -> Result<Recorded, BookError> {
        match request {
            BookTask::CarryOut(request) => self.record(request, now_ms),
            BookTask::Find(reference) => {
                let line = self.current(&reference, now_ms)?.filter(|line| line.operation != BookOperation::TimedOut);
                line.iter().for_each(|line| self.remember(line, now_ms));
                self.answer_of(line, now_ms)
            }
            BookTask::FindBill(text) => {
                let line = self.billed(&text, now_ms)?;
                self.answer_of(line, now_ms)
            }
            BookTask::Act(act) => {
                let line = self.act(act, now_ms)?;
                self.answer_of(line, now_ms)
            }
            BookTask::EndPending { merchant, reference, end } => {
                let line = self.current(&reference, now_ms)?.filter(|line| line.merchant == merchant);
                let ended = line.map(|line| self.end_pending(&line, end)).transpose()?.flatten();
                self.answer_of(ended, now_ms)
            }
        }
    }

    /// The answer to a call that was made before.
    fn answer_of(&self, line: Option<BookLine>, at_ms: u64) -> Result<Recorded, BookError> {
        let authorization = line.as_ref().and_then(|line| line.operation.authorization());
        let authorization = authorization.map(|reference| self.line(reference)).transpose()?.flatten();
        Ok(Ok(Answered { line, handling: Handling::AtOnce, authorization, at_ms }))
    }

    /// The line of the authorization that the text of a QR code is the bill of.
    fn billed(&mut self, text: &str, now_ms: u64) -> Result<Option<BookLine>, BookError> {
        let bill = named_bill_key(text).map(|key| self.line(&key)).transpose()?.flatten();
        let authorization = bill.as_ref().and_then(|bill| bill.operation.authorization());
        let line = authorization.map(|reference| self.current(reference, now_ms)).transpose()?.flatten();
        let has_text = |line: &BookLine| {
            let action = line.operation.action();
            action.is_some_and(|action| action.qr_text.as_deref() == Some(text) && action.given_at_ms <= now_ms)
        };
        Ok(line.filter(has_text))
    }

    /// The line of an authorization after an act of its customer; none when the act changes nothing.
    fn act(&mut self, act: Act, now_ms: u64) -> Result<Option<BookLine>, BookError> {
        let reference = match act {
            Act::OnPage(id, _) => id.authorization(),
            Act::ByOperator(_, payment, _) => NamedCall::first(payment, PaymentStep::Authorize).to_string(),
        };
        let acted = self.current(&reference, now_ms)?.and_then(|line| acts::act(&line, act, now_ms));
        if let Some(line) = &acted {
            self.stage_authorization(line.clone(), now_ms);
            self.due.add(now_ms, reference);
        }
        Ok(acted)
    }

    /// The answers that are due now.
    fn due_answers(&mut self, now_ms: u64) -> Result<Vec<Answered>, BookError> {
        let mut sent = Vec::new();
        for reference in self.due.take(now_ms) {
            match self.due_answer(&reference, now_ms) {
                Ok(answered) => sent.extend(answered),
                Err(error) => {
                    self.due.add(now_ms.saturating_add(SEND_AGAIN_AFTER_MS), reference);
                    unavailable(error)?;
                }
            }
        }
        Ok(sent)
    }

    fn due_answer(&mut self, reference: &str, now_ms: u64) -> Result<Option<Answered>, BookError> {
        let Some(line) = self.current(reference, now_ms)? else { return Ok(None) };
        if line.operation.action().is_some_and(|action| action.canceled_at_ms.is_some()) {
            if !acts::is_approved(&line) {
                self.remember(&line, now_ms); // Its success may be to come. Otherwise nobody waits for an answer.
                return Ok(None);
            }
            if acts::is_given_back(&line) {
                self.stage([late_approval(&line, true)]);
                return Ok(None);
            }
            self.due.add(now_ms.saturating_add(SEND_AGAIN_AFTER_MS), reference.to_owned());
        }
        Ok(self.answer_of(Some(line), now_ms)?.ok())
    }

    /// The line that records a request: the one that is there, or a new one staged here.
    fn record(&mut self, request: BookRequest, now_ms: u64) -> Result<Recorded, BookError> {
        let authorization = request.authorization().map(|reference| self.line(reference)).transpose()?.flatten();
        let handling = request.handling(authorization.as_ref());
        let first_asked_at_ms = match self.current(&request.reference, now_ms)? {
            Some(line) if line.operation != BookOperation::TimedOut => {
                self.remember(&line, now_ms);
                return Ok(repeated(&request, Answered { line: Some(line), handling, authorization, at_ms: now_ms }));
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
        for line in changed.iter().chain([&line]) {
            self.stage_authorization(line.clone(), now_ms);
        }
        if is_first && handling == Handling::FirstCallTimesOutDone {
            return Ok(Err(timed_out()));
        }
        Ok(Ok(Answered { line: Some(line), handling, authorization: changed.or(authorization), at_ms: now_ms }))
    }

    /// The line under a reference as of now: a refund whose time to fail has come has failed, and a success whose time
    /// has come is there.
    fn current(&mut self, reference: &str, now_ms: u64) -> Result<Option<BookLine>, BookError> {
        let Some(line) = self.line(reference)? else { return Ok(None) };
        if has_failed_by(&line, now_ms) {
            return self.end_pending(&line, PendingEnd::Failed);
        }
        let Some(ended) = acts::after_success(&line, now_ms) else { return Ok(Some(line)) };
        self.stage_authorization(ended.clone(), now_ms);
        Ok(Some(ended))
    }

    /// Stages a line, and with that of an authorization what the book keeps beside it.
    fn stage_authorization(&mut self, line: BookLine, now_ms: u64) {
        self.remember(&line, now_ms);
        let is_bill = line.operation.action().is_some_and(|action| action.qr_text.is_some());
        let bill = line.payment.filter(|_| is_bill).map(|payment| BookLine {
            reference: bill_key(payment),
            operation: BookOperation::Bill { authorization: line.reference.clone() },
            ..line.clone()
        });
        let late = acts::succeeds_late(&line).then(|| late_approval(&line, acts::is_given_back(&line)));
        self.stage(bill);
        self.stage(late);
        self.stage([line]);
    }

    /// Remembers when there is something to say of a call.
    fn remember(&mut self, line: &BookLine, now_ms: u64) {
        if let Some(due_ms) = acts::next_due_ms(line, now_ms) {
            self.due.add(due_ms, line.reference.clone());
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
    AcquirerUnavailable::unknown("the first call for this card times out")
}

fn late_approval(line: &BookLine, is_given_back: bool) -> BookLine {
    BookLine {
        reference: [LATE_PREFIX, &line.reference].concat(),
        operation: BookOperation::LateApproval { authorization: line.reference.clone(), is_given_back },
        ..line.clone()
    }
}

fn repeated(request: &BookRequest, answered: Answered) -> Recorded {
    if answered.line.as_ref().is_some_and(|line| request.is_recorded_by(line)) {
        return Ok(answered);
    }
    // Neither done nor declined would be true. Unknown keeps the payment open until an operator looks.
    tracing::error!(reference = request.reference, "the sandbox was sent another request under a used reference");
    Err(AcquirerUnavailable::unknown("the reference names another request"))
}
