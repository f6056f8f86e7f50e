//! How batches of a merchant that is filled reach the journal.

use std::sync::Arc;

use till_storage::commit::{Submission, Urgency};
use till_storage::journal::{Append, Sequence, Verdict};

use super::loader::{BulkLoader, BulkMode};
use super::written::{Written, denied};
use crate::reply::Denied;

/// Batches that are appended together where nothing lasts before the end: so many that rows which change with each of
/// them are written once for all, and so few that their bytes are still in the processor's cache.
const APPENDED_AT_ONCE: usize = 1_024;

/// Bytes of them, about.
const APPENDED_BYTES: usize = 16 * 1024 * 1024;

/// One merchant's way to the journal.
pub(super) enum Writer {
    /// Through the commit thread, and known to be on the disk afterwards.
    Committing(Arc<Written>),
    /// By whoever fills.
    Appending(Batches),
}

/// Batches that wait to be appended together.
pub(super) struct Batches {
    waiting: Vec<Append>,
    waiting_bytes: usize,
    /// The last record that the journal has.
    appended: Sequence,
    /// Whether some were not taken: what is staged stands on them.
    has_failed: bool,
}

impl Writer {
    /// For a merchant whose log ends at `head`.
    pub(super) fn new(mode: BulkMode, head: Sequence) -> Writer {
        match mode {
            BulkMode::Durable => Writer::Committing(Arc::new(Written::up_to(head))),
            BulkMode::AllOrNothing => {
                Writer::Appending(Batches { waiting: Vec::new(), waiting_bytes: 0, appended: head, has_failed: false })
            }
        }
    }

    /// Waits until another batch may be written behind `head`, and says up to where all can be read.
    pub(super) fn make_room(&self, head: Sequence) -> Result<Sequence, Denied> {
        match self {
            Writer::Committing(written) => written.make_room(head),
            Writer::Appending(batches) => Ok(batches.appended),
        }
    }

    /// Sends a batch on its way.
    pub(super) fn write(&mut self, append: Append, loader: &BulkLoader) -> Result<(), Denied> {
        match self {
            Writer::Committing(written) => {
                let (sequence, written) = (append.new_head.sequence, Arc::clone(written));
                let completion = Box::new(move |verdict: &Verdict| written.note(sequence, verdict));
                let submitted = loader.committer.submit(Submission::Append { append, completion }, Urgency::AtOnce);
                submitted.map_err(|rejected| Denied::not_done(rejected.because.to_string()))
            }
            Writer::Appending(batches) => batches.add(append, loader),
        }
    }

    /// Waits until everything up to `head` can be read, and is as durable as it will be for now.
    pub(super) fn wait_for(&mut self, head: Sequence, loader: &BulkLoader) -> Result<(), Denied> {
        match self {
            Writer::Committing(written) => written.wait_for(head).map(drop),
            Writer::Appending(batches) => batches.append(loader),
        }
    }
}

impl Batches {
    fn add(&mut self, append: Append, loader: &BulkLoader) -> Result<(), Denied> {
        if self.has_failed {
            return Err(Denied::not_done("a write before it failed"));
        }
        self.waiting_bytes += append.byte_count();
        self.waiting.push(append);
        let is_full = self.waiting.len() >= APPENDED_AT_ONCE || self.waiting_bytes >= APPENDED_BYTES;
        if is_full { self.append(loader) } else { Ok(()) }
    }

    fn append(&mut self, loader: &BulkLoader) -> Result<(), Denied> {
        let Some(last) = self.waiting.last() else { return Ok(()) };
        let last = last.new_head.sequence;
        self.waiting_bytes = 0;
        let verdicts = loader.store.append(std::mem::take(&mut self.waiting));
        if let Some(denied) = verdicts.iter().find_map(denied) {
            self.has_failed = true;
            return Err(denied);
        }
        self.appended = last;
        Ok(())
    }
}
