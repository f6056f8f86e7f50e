//! The queue in front of the commit thread: first in, first out, and bounded.

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::{CommitStats, Submission};

/// Submissions that may wait. The actors bound their work in flight well below it; it is what keeps a fault
/// there from filling the memory.
pub const QUEUE_SUBMISSIONS_MAX: usize = 65_536;

/// Bytes that may wait: 256 MiB, 32 of the largest records or some 100,000 usual batches.
pub const QUEUE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Batches and barriers of one group: past some hundreds a larger group gains nothing (one sync is spread
/// over all of them already) and the first of it waits for the last.
pub(super) const GROUP_SUBMISSIONS_MAX: usize = 1_024;

/// Bytes of one group: 16 MiB, which a slow disk writes in a fraction of a second.
pub(super) const GROUP_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Why a submission was turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RejectedBecause {
    /// [`QUEUE_SUBMISSIONS_MAX`] or [`QUEUE_BYTES_MAX`] is reached.
    #[error("the commit queue is full")]
    Full,
    /// The commit thread was stopped, or stopped itself after an uncertain write.
    #[error("the commit thread has stopped")]
    Stopped,
}

/// A submission that was turned away, with its completion not called.
pub struct Rejected {
    /// Why.
    pub because: RejectedBecause,
    /// What was submitted.
    pub submission: Submission,
}

impl std::fmt::Debug for Rejected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rejected({:?})", self.because)
    }
}

/// A submission, and since when it waits.
pub(super) type Queued = (Instant, Submission);

#[derive(Default)]
struct Waiting {
    submissions: VecDeque<(usize, Queued)>,
    byte_count: usize,
    closed: bool,
}

#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
    stats: Arc<CommitStats>,
}

impl Queue {
    pub(super) fn new(stats: Arc<CommitStats>) -> Queue {
        Queue { stats, ..Queue::default() }
    }

    pub(super) fn push(&self, submission: Submission) -> Result<(), Box<Rejected>> {
        let byte_count = submission.byte_count();
        let mut waiting = self.lock();
        if let Some(because) = waiting.refusal(byte_count) {
            drop(waiting);
            self.stats.rejected.fetch_add(1, Relaxed);
            return Err(Box::new(Rejected { because, submission }));
        }
        let was_empty = waiting.submissions.is_empty();
        waiting.byte_count += byte_count;
        self.stats.staged_records.fetch_add(submission.record_count(), Relaxed);
        waiting.submissions.push_back((byte_count, (Instant::now(), submission)));
        self.publish(&waiting);
        drop(waiting);
        if was_empty {
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// Waits until something is there, then takes a group of it, in order. Nothing once the queue is closed
    /// and empty.
    pub(super) fn take_group(&self) -> Option<Vec<Queued>> {
        let idle = |waiting: &mut Waiting| waiting.submissions.is_empty() && !waiting.closed;
        let mut waiting = self.arrived.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
        let group = waiting.take_group();
        self.publish(&waiting);
        (!group.is_empty()).then_some(group)
    }

    /// Turns away what comes from now on. What is waiting stays.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_all();
    }

    fn publish(&self, waiting: &Waiting) {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        self.stats.queued.store(count(waiting.submissions.len()), Relaxed);
        self.stats.queued_bytes.store(count(waiting.byte_count), Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn refusal(&self, byte_count: usize) -> Option<RejectedBecause> {
        if self.closed {
            return Some(RejectedBecause::Stopped);
        }
        let full = self.submissions.len() >= QUEUE_SUBMISSIONS_MAX || self.byte_count + byte_count > QUEUE_BYTES_MAX;
        full.then_some(RejectedBecause::Full)
    }

    fn take_group(&mut self) -> Vec<Queued> {
        let mut group = Vec::with_capacity(self.submissions.len().min(GROUP_SUBMISSIONS_MAX));
        let mut group_bytes: usize = 0;
        while let Some((byte_count, _)) = self.submissions.front() {
            group_bytes += byte_count;
            let full = group.len() >= GROUP_SUBMISSIONS_MAX || group_bytes > GROUP_BYTES_MAX;
            if full && !group.is_empty() {
                break;
            }
            if let Some((byte_count, queued)) = self.submissions.pop_front() {
                self.byte_count -= byte_count;
                group.push(queued);
            }
        }
        group
    }
}
