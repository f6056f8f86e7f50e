//! The commit thread.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use till_domain::ids::MerchantId;

use crate::journal::{Append, AppendVerdict, Journal};
use crate::positions::Head;

use super::queue::{Queued, Rejected, SubmissionQueue, Urgency};
use super::stats::CommitStats;
use super::submission::{AppendCompletion, BarrierCompletion, BarrierVerdict, Submission};

type OnFatal = Box<dyn Fn(String) + Send>;

/// Owns the commit thread. Dropping it stops the thread after the last submission.
pub struct Committer {
    queue: Arc<SubmissionQueue>,
    stats: Arc<CommitStats>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Committer {
    /// Starts the commit thread. Background writes wait up to `delay`, usually [`super::GROUP_COMMIT_DELAY`], so that
    /// several share one sync: see [`Urgency`]. `on_fatal` is called after an uncertain write, after the completions of
    /// its group. It is expected to end the process, which also ends when `on_fatal` panics. Nothing is written any
    /// more in either case.
    ///
    /// # Errors
    /// Fails when the system cannot start a thread.
    pub fn start(journal: Arc<dyn Journal>, delay: Duration, on_fatal: OnFatal) -> std::io::Result<Committer> {
        let stats = Arc::new(CommitStats::default());
        let queue = Arc::new(SubmissionQueue::new(delay, Arc::clone(&stats)));
        let worker = Worker { journal, on_fatal, queue: Arc::clone(&queue), stats: Arc::clone(&stats), stopped: None };
        let thread = std::thread::Builder::new().name("commit".to_owned()).spawn(move || worker.run())?;
        Ok(Committer { queue, stats, thread: Mutex::new(Some(thread)) })
    }

    /// Queues a batch or a barrier. Those of one caller keep their order.
    ///
    /// # Errors
    /// [`Rejected`] returns the submission, whose completion is not called.
    pub fn submit(&self, submission: Submission, urgency: Urgency) -> Result<(), Box<Rejected>> {
        self.queue.push(submission, urgency)
    }

    /// Refuses everything that waits for the thread: nothing of it is written. What the thread is writing goes on.
    pub fn refuse_waiting(&self, reason: &str) {
        for queued in self.queue.take_all() {
            self.stats.staged_records.fetch_sub(queued.submission.record_count(), Relaxed);
            match queued.submission {
                Submission::Append { completion, .. } => {
                    self.stats.unavailable.fetch_add(1, Relaxed);
                    completion(&AppendVerdict::Unavailable(reason.to_owned()));
                }
                Submission::Barrier { completion, .. } => completion(BarrierVerdict::Unknown(reason.to_owned())),
            }
        }
    }

    /// The statistics of the thread.
    #[must_use]
    pub fn stats(&self) -> Arc<CommitStats> {
        Arc::clone(&self.stats)
    }

    /// Rejects new submissions from now on, and returns when all earlier ones are completed. Must not be
    /// called from a completion.
    pub fn stop(&self) {
        self.queue.close();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            // The thread catches panics of the functions that it calls. If it died nevertheless, there is nothing to
            // wait for.
            drop(thread.join());
        }
    }
}

impl Drop for Committer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The rest of a submission while its group is with the journal.
enum Pending {
    Append(PendingAppend),
    Barrier { merchant_id: MerchantId, expected_head: Head, completion: BarrierCompletion },
}

struct PendingAppend {
    /// The instant since which a caller waits for it; none for a background write.
    waited_for_since: Option<Instant>,
    record_count: u64,
    merchant_id: MerchantId,
    new_head: Head,
    completion: AppendCompletion,
}

struct Worker {
    journal: Arc<dyn Journal>,
    on_fatal: OnFatal,
    queue: Arc<SubmissionQueue>,
    stats: Arc<CommitStats>,
    stopped: Option<String>,
}

impl Worker {
    fn run(mut self) {
        while let Some(group) = self.queue.take_group() {
            let (appends, pending) = split(group);
            let mut heads = self.heads_before(&pending);
            let verdicts = self.write(appends);
            let ambiguous = verdicts.iter().find_map(|verdict| match verdict {
                AppendVerdict::Ambiguous(reason) => Some(reason.clone()),
                AppendVerdict::Committed(_)
                | AppendVerdict::Fenced
                | AppendVerdict::Stale { .. }
                | AppendVerdict::Unavailable(_)
                | AppendVerdict::Unknown(_) => None,
            });
            self.complete(pending, verdicts, &mut heads);
            if let Some(reason) = ambiguous {
                self.stop_permanently(reason);
            }
        }
    }

    /// The durable heads of the merchants that have a barrier in the group.
    fn heads_before(&self, pending: &[Pending]) -> HashMap<MerchantId, Result<Head, String>> {
        let mut heads = HashMap::new();
        for submission in pending {
            if let Pending::Barrier { merchant_id, .. } = submission {
                heads.entry(*merchant_id).or_insert_with(|| self.head(*merchant_id));
            }
        }
        heads
    }

    /// The durable head of a merchant. It is unknown after an uncertain write.
    fn head(&self, merchant_id: MerchantId) -> Result<Head, String> {
        match &self.stopped {
            Some(reason) => Err(reason.clone()),
            None => self.journal.head(merchant_id).map_err(|error| error.to_string()),
        }
    }

    fn write(&self, appends: Vec<Append>) -> Vec<AppendVerdict> {
        let count = appends.len();
        if count == 0 {
            return Vec::new();
        }
        if let Some(reason) = &self.stopped {
            return vec![AppendVerdict::Unavailable(reason.clone()); count];
        }
        let started = Instant::now();
        self.stats.begin_write();
        let verdicts = catch_unwind(AssertUnwindSafe(|| self.journal.append(appends)));
        self.stats.record_group(count, started.elapsed());
        let mut verdicts = verdicts.unwrap_or_default();
        // The journal panicked or gave too few verdicts, so the outcome of the other batches is unknown.
        verdicts.resize(count, AppendVerdict::Ambiguous("the journal gave no verdict".to_owned()));
        self.stats.end_write(verdicts.iter().all(is_failure));
        verdicts
    }

    /// Runs the completions in order. `heads` is updated with each durable batch before the next completion.
    fn complete(
        &self,
        pending: Vec<Pending>,
        verdicts: Vec<AppendVerdict>,
        heads: &mut HashMap<MerchantId, Result<Head, String>>,
    ) {
        let mut verdicts = verdicts.into_iter();
        for submission in pending {
            match submission {
                Pending::Append(append) => {
                    let Some(verdict) = verdicts.next() else { continue };
                    if let Some(head) = heads.get_mut(&append.merchant_id) {
                        advance(head, append.new_head, &verdict);
                    }
                    self.complete_append(append, &verdict);
                }
                Pending::Barrier { merchant_id, expected_head, completion } => {
                    self.stats.barriers.fetch_add(1, Relaxed);
                    let verdict = judge(heads.get(&merchant_id), expected_head);
                    self.call(|| completion(verdict));
                }
            }
        }
    }

    fn complete_append(&self, append: PendingAppend, verdict: &AppendVerdict) {
        self.count(verdict).fetch_add(1, Relaxed);
        if let Some(since) = append.waited_for_since {
            self.stats.record_commit(since.elapsed());
        }
        self.stats.staged_records.fetch_sub(append.record_count, Relaxed);
        self.call(|| (append.completion)(verdict));
    }

    /// Calls a completion. A panic in it must not end the thread, on which all other callers wait.
    fn call(&self, completion: impl FnOnce()) {
        if catch_unwind(AssertUnwindSafe(completion)).is_err() {
            tracing::error!("a completion panicked on the commit thread");
        }
    }

    fn count(&self, verdict: &AppendVerdict) -> &AtomicU64 {
        match verdict {
            AppendVerdict::Committed(_) => &self.stats.committed,
            AppendVerdict::Fenced => &self.stats.fenced,
            AppendVerdict::Stale { .. } => &self.stats.stale,
            AppendVerdict::Unavailable(_) => &self.stats.unavailable,
            AppendVerdict::Unknown(_) | AppendVerdict::Ambiguous(_) => &self.stats.ambiguous,
        }
    }

    fn stop_permanently(&mut self, reason: String) {
        self.queue.close();
        self.stopped = Some(format!("the outcome of an earlier write is unknown: {reason}"));
        // The callback should have ended the process. A process that stays alive would accept calls and carry out none.
        if catch_unwind(AssertUnwindSafe(|| (self.on_fatal)(reason))).is_err() {
            std::process::abort();
        }
    }
}

/// True when the store could not write a batch, or did not tell if it did.
const fn is_failure(verdict: &AppendVerdict) -> bool {
    match verdict {
        AppendVerdict::Unavailable(_) | AppendVerdict::Unknown(_) | AppendVerdict::Ambiguous(_) => true,
        AppendVerdict::Committed(_) | AppendVerdict::Fenced | AppendVerdict::Stale { .. } => false,
    }
}

/// Updates a merchant's durable head after an append.
fn advance(head: &mut Result<Head, String>, new_head: Head, verdict: &AppendVerdict) {
    match verdict {
        AppendVerdict::Committed(_) => *head = Ok(new_head),
        AppendVerdict::Unknown(reason) | AppendVerdict::Ambiguous(reason) => *head = Err(reason.clone()),
        AppendVerdict::Fenced | AppendVerdict::Stale { .. } | AppendVerdict::Unavailable(_) => {}
    }
}

fn split(group: Vec<Queued>) -> (Vec<Append>, Vec<Pending>) {
    let mut appends = Vec::with_capacity(group.len());
    let mut pending = Vec::with_capacity(group.len());
    for Queued { since, urgency, byte_count: _, submission } in group {
        let waited_for_since = (urgency == Urgency::Urgent).then_some(since);
        let record_count = submission.record_count();
        pending.push(match submission {
            Submission::Append { append, completion } => {
                let (merchant_id, new_head) = (append.merchant_id, append.new_head);
                appends.push(append);
                Pending::Append(PendingAppend { waited_for_since, record_count, merchant_id, new_head, completion })
            }
            Submission::Barrier { merchant_id, expected_head, completion } => {
                Pending::Barrier { merchant_id, expected_head, completion }
            }
        });
    }
    (appends, pending)
}

/// Since the queue is first in, first out, equality is the test: at the barrier's turn everything that the staged head
/// depends on has been judged, and nothing that was decided later.
fn judge(head: Option<&Result<Head, String>>, expected_head: Head) -> BarrierVerdict {
    match head {
        Some(Ok(durable)) if *durable == expected_head => BarrierVerdict::Passed,
        Some(Ok(durable)) => BarrierVerdict::Failed { durable: *durable },
        Some(Err(reason)) => BarrierVerdict::Unknown(reason.clone()),
        None => BarrierVerdict::Unknown("the head was not read".to_owned()),
    }
}
