//! The one thread that writes the sandbox's book: whatever waits becomes one synced write, and is answered
//! after it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::book::{Book, BookError, BookLine};
use tokio::sync::oneshot;

use super::judgement::Ask;
use super::queue::{Job, Queue, Recorded, Request};
use till_actors::acquirer::AcquirerUnavailable;

/// Milliseconds since the Unix epoch.
pub(super) type Clock = Box<dyn Fn() -> u64 + Send>;

/// What to do when the book has failed for good.
pub(super) type OnBroken = Box<dyn Fn(String) + Send>;

/// Carries requests out until the queue is closed, or the book fails for good.
pub(super) fn run<B: Book>(queue: &Arc<Queue>, mut book: B, clock: &Clock, on_broken: &OnBroken) {
    // However this thread ends, nobody may wait for it afterwards.
    let _abandon = AbandonWhenDropped(Arc::clone(queue));
    while let Some(jobs) = queue.next_group() {
        if let Err(error) = carry_out(jobs, &mut book, clock()) {
            tracing::error!(error = &error as &dyn std::error::Error, "the sandbox stops: its book failed");
            on_broken(in_words(&error));
            return;
        }
    }
}

/// An error with its source.
fn in_words(error: &BookError) -> String {
    let source = std::error::Error::source(error).map(|source| format!(": {source}"));
    format!("{error}{}", source.unwrap_or_default())
}

struct AbandonWhenDropped(Arc<Queue>);

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

/// What a book's error means to those who asked, when the book can be used afterwards.
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

/// The book with what a group adds to it in front.
struct Group<'a, B> {
    book: &'a B,
    staged: BTreeMap<String, BookLine>,
}

impl<B: Book> Group<'_, B> {
    fn answer(&mut self, request: Request, now_ms: u64) -> Result<Recorded, BookError> {
        match request {
            Request::CarryOut(ask) => self.record(ask, now_ms),
            Request::Find(reference) => Ok(Ok(self.line(&reference)?)),
        }
    }

    /// The line that records a request: the one that stands, or a new one staged here.
    fn record(&mut self, ask: Ask, now_ms: u64) -> Result<Recorded, BookError> {
        if let Some(line) = self.line(&ask.reference)? {
            return Ok(repeated(&ask, line));
        }
        let authorization = ask.authorization().map(|reference| self.line(reference)).transpose()?.flatten();
        let (line, changed) = ask.judge(authorization.as_ref(), now_ms);
        for line in changed.into_iter().chain([line.clone()]) {
            self.staged.insert(line.reference.clone(), line);
        }
        Ok(Ok(Some(line)))
    }

    fn line(&self, reference: &str) -> Result<Option<BookLine>, BookError> {
        match self.staged.get(reference) {
            Some(line) => Ok(Some(line.clone())),
            None => self.book.line(reference),
        }
    }
}

fn repeated(ask: &Ask, line: BookLine) -> Recorded {
    if ask.is_recorded_by(&line) {
        return Ok(Some(line));
    }
    // Neither done nor declined would be true. Unknown keeps the payment open until somebody looks.
    tracing::error!(reference = ask.reference, "the sandbox was asked for something else under a used reference");
    Err(AcquirerUnavailable::because("the reference names another request"))
}
