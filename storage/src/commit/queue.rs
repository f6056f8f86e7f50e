//! The queue in front of the commit thread: first in, first out, and bounded.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::stats::CommitStats;
use super::submission::Submission;

/// The maximum number of waiting submissions. The actors limit their calls in flight well below it; this limit keeps a
/// fault there from filling the memory.
pub const QUEUE_SUBMISSIONS_MAX: usize = 65_536;

/// The maximum number of waiting bytes: 256 MiB, 32 of the largest records or some 100,000 usual batches.
pub const QUEUE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Batches and barriers of one group: beyond some hundreds a larger group gains nothing (one sync is spread
/// over all of them already) and its first batch waits for the last.
pub(super) const GROUP_SUBMISSIONS_MAX: usize = 1_024;

/// Bytes of one group: 16 MiB, which a slow disk writes in a fraction of a second.
pub(super) const GROUP_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The usual group-commit delay of background writes: 2 ms. It is some cycles of a caller that pays in a loop, and
/// small compared with the time that an acquirer takes.
pub const GROUP_COMMIT_DELAY: Duration = Duration::from_millis(2);

/// The number of delayed submissions that ends the delay: they share a sync well enough, and more would only keep the
/// disk idle.
pub(super) const DELAYED_SUBMISSIONS_MAX: usize = 128;

/// The urgency of a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// A caller waits for it: it is written at once, with everything that was submitted before it.
    Urgent,
    /// No caller waits for it: it is delayed for a short time, to be written with other submissions.
    Background,
}

/// The reason for which a submission was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RejectedBecause {
    /// [`QUEUE_SUBMISSIONS_MAX`] or [`QUEUE_BYTES_MAX`] is reached.
    #[error("the commit queue is full")]
    Full,
    /// The commit thread was stopped, or stopped itself after an uncertain write.
    #[error("the commit thread has stopped")]
    Stopped,
}

/// A rejected submission, whose completion was not called.
pub struct Rejected {
    /// The reason.
    pub because: RejectedBecause,
    /// The submission.
    pub submission: Submission,
}

impl std::fmt::Debug for Rejected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rejected({:?})", self.because)
    }
}

/// A submission in the queue, or in the group that was taken from it.
pub(super) struct Queued {
    pub(super) since: Instant,
    pub(super) urgency: Urgency,
    pub(super) byte_count: usize,
    pub(super) submission: Submission,
}

/// The state of the commit thread while the queue is not locked.
#[derive(Debug, Clone, Copy, Default)]
enum Thread {
    /// It is working, or was woken, and looks at the queue before it sleeps.
    #[default]
    Awake,
    /// It sleeps until it is woken, or until an instant.
    Asleep(Option<Instant>),
}

#[derive(Default)]
struct QueueState {
    submissions: VecDeque<Queued>,
    /// The number of urgent submissions.
    urgent_count: usize,
    byte_count: usize,
    delay: Duration,
    thread: Thread,
    closed: bool,
}

#[derive(Default)]
pub(super) struct SubmissionQueue {
    waiting: Mutex<QueueState>,
    arrived: Condvar,
    stats: Arc<CommitStats>,
}

impl SubmissionQueue {
    pub(super) fn new(delay: Duration, stats: Arc<CommitStats>) -> SubmissionQueue {
        let waiting = Mutex::new(QueueState { delay, ..QueueState::default() });
        SubmissionQueue { waiting, stats, ..SubmissionQueue::default() }
    }

    pub(super) fn push(&self, submission: Submission, urgency: Urgency) -> Result<(), Box<Rejected>> {
        let byte_count = submission.byte_count();
        let mut waiting = self.lock();
        if let Some(because) = waiting.refusal(byte_count) {
            drop(waiting);
            self.stats.rejected.fetch_add(1, Relaxed);
            return Err(Box::new(Rejected { because, submission }));
        }
        self.stats.staged_records.fetch_add(submission.record_count(), Relaxed);
        waiting.add(Queued { since: Instant::now(), urgency, byte_count, submission });
        self.publish(&waiting);
        let wakes = waiting.wakes_thread();
        drop(waiting);
        if wakes {
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// Waits until a submission may not be delayed any more, then takes a group, in order. None once the
    /// queue is closed and empty.
    pub(super) fn take_group(&self) -> Option<Vec<Queued>> {
        let mut waiting = self.wait_until_due();
        let group = waiting.take_group();
        self.publish(&waiting);
        (!group.is_empty()).then_some(group)
    }

    /// Takes everything that waits.
    pub(super) fn take_all(&self) -> Vec<Queued> {
        let mut waiting = self.lock();
        let all = std::iter::from_fn(|| waiting.take_first()).collect();
        self.publish(&waiting);
        all
    }

    fn wait_until_due(&self) -> MutexGuard<'_, QueueState> {
        let mut waiting = self.lock();
        // After a group a background write usually follows. Its caller need not wake the thread then, which would cost
        // a system call and two thread switches.
        let mut look_again = Some(Instant::now() + waiting.delay);
        while !waiting.is_due() {
            let until = waiting.delayed_until().or_else(|| look_again.take());
            waiting.thread = Thread::Asleep(until);
            self.sleep(&mut waiting, until);
            waiting.thread = Thread::Awake;
        }
        waiting
    }

    fn sleep(&self, waiting: &mut MutexGuard<'_, QueueState>, until: Option<Instant>) {
        match until {
            None => self.arrived.wait(waiting),
            Some(until) => drop(self.arrived.wait_until(waiting, until)),
        }
    }

    /// Rejects new submissions from now on. The waiting ones stay, and are no longer delayed.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_all();
    }

    fn publish(&self, waiting: &QueueState) {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        self.stats.queued.store(count(waiting.submissions.len()), Relaxed);
        self.stats.queued_bytes.store(count(waiting.byte_count), Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.waiting.lock()
    }
}

impl QueueState {
    fn refusal(&self, byte_count: usize) -> Option<RejectedBecause> {
        if self.closed {
            return Some(RejectedBecause::Stopped);
        }
        let full = self.submissions.len() >= QUEUE_SUBMISSIONS_MAX || self.byte_count + byte_count > QUEUE_BYTES_MAX;
        full.then_some(RejectedBecause::Full)
    }

    fn add(&mut self, queued: Queued) {
        self.byte_count += queued.byte_count;
        self.urgent_count += usize::from(queued.urgency == Urgency::Urgent);
        self.submissions.push_back(queued);
    }

    /// Returns true when a group is to be taken now.
    fn is_due(&self) -> bool {
        let is_full = self.submissions.len() >= DELAYED_SUBMISSIONS_MAX || self.byte_count > GROUP_BYTES_MAX;
        let has_waited = || self.delayed_until().is_some_and(|until| until <= Instant::now());
        self.closed || self.urgent_count > 0 || is_full || has_waited()
    }

    /// The instant until which the first waiting submission is delayed.
    fn delayed_until(&self) -> Option<Instant> {
        self.submissions.front().map(|first| first.since + self.delay)
    }

    /// Returns true when the thread must be woken for a new submission. Once is enough: it looks at the whole queue.
    fn wakes_thread(&mut self) -> bool {
        let Thread::Asleep(until) = self.thread else { return false };
        let sleeps_too_long = until.is_none_or(|until| self.delayed_until().is_some_and(|due| due < until));
        let wakes = self.is_due() || sleeps_too_long;
        if wakes {
            self.thread = Thread::Awake;
        }
        wakes
    }

    fn take_group(&mut self) -> Vec<Queued> {
        let mut group = Vec::with_capacity(self.submissions.len().min(GROUP_SUBMISSIONS_MAX));
        let mut group_bytes: usize = 0;
        while let Some(first) = self.submissions.front() {
            group_bytes += first.byte_count;
            let full = group.len() >= GROUP_SUBMISSIONS_MAX || group_bytes > GROUP_BYTES_MAX;
            if full && !group.is_empty() {
                break;
            }
            group.extend(self.take_first());
        }
        group
    }

    fn take_first(&mut self) -> Option<Queued> {
        let first = self.submissions.pop_front()?;
        self.byte_count -= first.byte_count;
        self.urgent_count -= usize::from(first.urgency == Urgency::Urgent);
        Some(first)
    }
}
