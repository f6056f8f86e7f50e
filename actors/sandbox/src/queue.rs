//! The queue between callers and the book's thread: bounded, in order, taken in groups.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::book::BookLine;
use till_domain::ids::MerchantId;
use tokio::sync::oneshot;

use super::acts::Act;
use super::cards::Handling;
use super::judgement::{BookRequest, PendingEnd};
use till_actors::acquirer::AcquirerUnavailable;

/// Limit of the requests that wait: 20 MB, at some 300 bytes each. The callers have far lower limits of their own.
const WAITING_MAX: usize = 65_536;
/// Limit of the requests answered by one write, so that no group grows without end.
const GROUP_MAX: usize = 1_024;

/// Delay of a request until its write, so that others can share it: 2 ms, far less than a real acquirer takes.
const GROUP_DELAY: Duration = Duration::from_millis(2);
/// Number of waiting requests at which they are written without further delay.
const FULL_GROUP: usize = 128;

/// The answer to a request.
#[derive(Debug)]
pub(super) struct Answered {
    /// The line that records it; none when a look-up finds none.
    pub(super) line: Option<BookLine>,
    /// The way in which the answer is given.
    pub(super) handling: Handling,
    /// The line of the authorization that it is about, after the request.
    pub(super) authorization: Option<BookLine>,
    /// The sandbox's time, in milliseconds since the Unix epoch.
    pub(super) at_ms: u64,
}

/// The answer to a request, or the reason why there is none.
pub(super) type Recorded = Result<Answered, AcquirerUnavailable>;

/// A pending answer, or the reason why the queue refused the request.
pub(super) type PendingAnswer = Result<oneshot::Receiver<Recorded>, AcquirerUnavailable>;

/// A task of the book's thread.
pub(super) enum BookTask {
    /// Carry out a request, unless it was carried out before.
    CarryOut(BookRequest),
    /// Look up the line under a reference.
    Find(String),
    /// End a merchant's pending refund or payout under a reference.
    EndPending { merchant: MerchantId, reference: String, end: PendingEnd },
    /// Look up the line of the authorization that the text of a QR code is the bill of.
    FindBill(String),
    /// Record what a customer did. The answer has no line when that changes nothing.
    Act(Act),
}

impl From<BookRequest> for BookTask {
    fn from(request: BookRequest) -> BookTask {
        BookTask::CarryOut(request)
    }
}

/// A request and the sender of its answer.
pub(super) struct Job {
    pub(super) since: Instant,
    pub(super) request: BookTask,
    pub(super) reply: oneshot::Sender<Recorded>,
}

/// Requests that wait for the book's thread.
pub(super) struct RequestQueue {
    delay: Duration,
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    waiting: VecDeque<Job>,
    closed: bool,
}

impl RequestQueue {
    /// An empty queue whose requests are delayed by [`GROUP_DELAY`].
    pub(super) fn new() -> RequestQueue {
        RequestQueue::with_delay(GROUP_DELAY)
    }

    fn with_delay(delay: Duration) -> RequestQueue {
        RequestQueue { delay, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Adds a request, and returns the receiver of its answer.
    pub(super) fn push(&self, request: impl Into<BookTask>) -> PendingAnswer {
        let mut state = self.lock();
        if state.closed {
            return Err(AcquirerUnavailable::not_sent("the sandbox has stopped"));
        }
        if state.waiting.len() >= WAITING_MAX {
            return Err(AcquirerUnavailable::not_sent("too many requests wait for the sandbox"));
        }
        let (reply, answer) = oneshot::channel();
        state.waiting.push_back(Job { since: Instant::now(), request: request.into(), reply });
        let wakes = state.waiting.len() == 1 || state.waiting.len() == FULL_GROUP;
        drop(state);
        // Otherwise the thread is at work or delays a group, and reads the queue again by itself. Waking it costs a
        // system call.
        if wakes {
            self.changed.notify_one();
        }
        Ok(answer)
    }

    /// The waiting requests, at least one and at most a group, when the first has waited long enough or there are
    /// enough of them; no request when there is none for `idle_max`, and none at all once the queue is closed and
    /// empty.
    pub(super) fn next_group(&self, idle_max: Option<Duration>) -> Option<Vec<Job>> {
        let idle = |state: &mut QueueState| state.waiting.is_empty() && !state.closed;
        let mut state = self.lock();
        match idle_max {
            None => self.changed.wait_while(&mut state, idle),
            Some(idle_max) => {
                self.changed.wait_while_for(&mut state, idle, idle_max);
                if idle(&mut state) {
                    return Some(Vec::new());
                }
            }
        }
        let first = state.waiting.front()?.since;
        self.wait_until_full(&mut state, self.delay.saturating_sub(first.elapsed()));
        let count = state.waiting.len().min(GROUP_MAX);
        Some(state.waiting.drain(..count).collect())
    }

    fn wait_until_full(&self, state: &mut MutexGuard<'_, QueueState>, at_most: Duration) {
        let may_grow = |state: &mut QueueState| state.waiting.len() < FULL_GROUP && !state.closed;
        self.changed.wait_while_for(state, may_grow, at_most);
    }

    /// Refuses further requests; waiting ones are still carried out.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Refuses further requests and drops the waiting ones: their callers learn that there is no answer.
    pub(super) fn abandon(&self) {
        self.close();
        let forgotten = std::mem::take(&mut self.lock().waiting);
        drop(forgotten);
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock()
    }
}

#[cfg(test)]
mod tests {
    use crate::book::FollowUp;
    use till_domain::ids::PaymentId;
    use till_domain::money::{AmountMinor, Currency, Money};

    use super::super::judgement::BookRequestKind;
    use super::*;

    fn request(number: usize) -> BookRequest {
        BookRequest {
            reference: number.to_string(),
            merchant: MerchantId::from_bytes([1; 16]),
            payment: Some(PaymentId::from_bytes([1; 16])),
            money: Money { amount: AmountMinor::new(1).expect("an amount"), currency: Currency::from_bytes(*b"THB") },
            what: BookRequestKind::FollowUp { what: FollowUp::Void, authorization: String::new() },
        }
    }

    #[test]
    fn requests_leave_in_order_at_most_a_group_at_once() {
        let queue = RequestQueue::new();
        for number in 0..GROUP_MAX + 1 {
            queue.push(request(number)).expect("there is room");
        }
        let reference = |job: Job| match job.request {
            BookTask::CarryOut(request) => request.reference,
            BookTask::Find(reference) | BookTask::EndPending { reference, .. } => reference,
            BookTask::FindBill(_) | BookTask::Act(_) => panic!("it was not asked for"),
        };
        let references = |group: Vec<Job>| group.into_iter().map(reference).collect::<Vec<_>>();
        let first = references(queue.next_group(None).expect("a group"));
        assert_eq!(first, (0..GROUP_MAX).map(|number| number.to_string()).collect::<Vec<_>>());
        assert_eq!(references(queue.next_group(None).expect("a group")), [GROUP_MAX.to_string()]);
    }

    #[test]
    fn a_full_queue_refuses_as_unavailable() {
        let queue = RequestQueue::new();
        for number in 0..WAITING_MAX {
            queue.push(request(number)).expect("there is room");
        }
        let refused = queue.push(request(WAITING_MAX)).expect_err("full");
        assert_eq!(refused.reason, "too many requests wait for the sandbox");
    }

    #[test]
    fn a_closed_queue_returns_waiting_requests_and_takes_no_more() {
        let queue = RequestQueue::new();
        queue.push(request(1)).expect("there is room");
        queue.close();
        assert_eq!(queue.push(request(2)).expect_err("closed").reason, "the sandbox has stopped");
        assert_eq!(queue.next_group(None).map(|group| group.len()), Some(1));
        assert!(queue.next_group(None).is_none());
    }

    #[test]
    fn callers_of_an_abandoned_queue_learn_that_no_answer_comes() {
        let queue = RequestQueue::new();
        let mut answer = queue.push(request(1)).expect("there is room");
        queue.abandon();
        assert_eq!(answer.try_recv().expect_err("no answer"), oneshot::error::TryRecvError::Closed);
        assert!(queue.next_group(None).is_none());
    }

    #[test]
    fn an_idle_queue_gives_no_request_after_its_time() {
        let queue = RequestQueue::new();
        assert_eq!(queue.next_group(Some(Duration::from_millis(5))).map(|group| group.len()), Some(0));
        queue.push(request(1)).expect("there is room");
        assert_eq!(queue.next_group(Some(FOR_EVER)).map(|group| group.len()), Some(1));
        queue.close();
        assert!(queue.next_group(Some(FOR_EVER)).is_none());
    }

    /// Longer than any test that passes.
    const FOR_EVER: Duration = Duration::from_secs(20);

    #[test]
    fn a_lone_request_leaves_after_its_delay() {
        let at_most = Duration::from_millis(50);
        for (queue, delay) in [(RequestQueue::with_delay(at_most), at_most), (RequestQueue::new(), GROUP_DELAY)] {
            let start = Instant::now();
            queue.push(request(1)).expect("there is room");
            assert_eq!(queue.next_group(None).map(|group| group.len()), Some(1));
            assert!(start.elapsed() >= delay, "{:?}", start.elapsed());
        }
    }

    #[test]
    fn a_full_group_leaves_without_further_delay() {
        let queue = RequestQueue::with_delay(FOR_EVER);
        std::thread::scope(|scope| {
            let start = Instant::now();
            let group = scope.spawn(|| queue.next_group(None));
            queue.push(request(0)).expect("there is room");
            std::thread::sleep(Duration::from_millis(50)); // Until the thread delays a group.
            for number in 1..FULL_GROUP {
                queue.push(request(number)).expect("there is room");
            }
            assert_eq!(group.join().expect("no panic").map(|group| group.len()), Some(FULL_GROUP));
            assert!(start.elapsed() < FOR_EVER, "it was not woken");
        });
    }

    #[test]
    fn closing_the_queue_ends_the_delay_of_a_request() {
        let queue = RequestQueue::with_delay(FOR_EVER);
        let start = Instant::now();
        queue.push(request(1)).expect("there is room");
        std::thread::scope(|scope| {
            let group = scope.spawn(|| queue.next_group(None));
            queue.close();
            assert_eq!(group.join().expect("no panic").map(|group| group.len()), Some(1));
        });
        assert!(start.elapsed() < FOR_EVER, "the delay did not end");
    }
}
