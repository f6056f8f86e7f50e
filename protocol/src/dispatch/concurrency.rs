//! A limit on the calls that run at once, with a bounded wait queue and a fair share for each caller.
//!
//! A call takes a permit and returns it when it is answered. When no permit is free, or its caller holds its limit of
//! permits, the call waits. Permits go to the waiting callers in rotation, and to the calls of one caller in the order
//! of their arrival (fair queueing), so a caller with few calls waits for few others, however many calls another caller
//! makes.
//!
//! A call is refused when it has waited for as long as the limit says. A call that finds the queue full, while its
//! caller already has its share of the queue, is not queued; its refusal is sent after the same time. So callers that
//! ignore `Retry-After` and retry at once make one call a second on each connection, and the
//! processor is left to the others.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::api_error::ApiError;
use crate::connection::ShareOf;

/// The longest wait of a call for a permit. A stall of the disk of less than a second refuses no call.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(1);

/// The advised delay before a retry after a refusal, in seconds.
const RETRY_AFTER_SECONDS: u32 = 1;

/// The numbers of a [`ConcurrencyLimit`].
#[derive(Debug, Clone, Copy)]
pub struct Concurrency {
    /// Permits in all.
    pub permits: usize,
    /// The limit of permits of one caller.
    pub permits_per_caller: usize,
    /// The limit of waiting calls. When it is reached, a caller may still queue its even share: this number divided by
    /// the number of callers with a call.
    pub queue: usize,
    /// The longest wait for a permit, and the delay of the refusal of a call that is not queued.
    pub wait_max: Duration,
}

/// Hands out permits. Clones share them.
#[derive(Clone)]
pub struct ConcurrencyLimit {
    shared: Arc<SharedLimit>,
}

struct SharedLimit {
    numbers: Concurrency,
    state: Mutex<LimitState>,
}

struct LimitState {
    free: usize,
    /// Calls in all queues.
    waiting: usize,
    /// Callers with a permit or a waiting call.
    callers: BTreeMap<ShareOf, CallerQueue>,
    /// Callers that wait and may hold one permit more, each once, in the order of their turns.
    turns: VecDeque<ShareOf>,
}

/// The calls of one caller.
#[derive(Default)]
struct CallerQueue {
    held: usize,
    waiting: VecDeque<oneshot::Sender<Permit>>,
    is_in_turns: bool,
}

/// The right to run. Dropping it gives it to the next call.
#[must_use]
pub struct Permit {
    of: Option<(Arc<SharedLimit>, ShareOf)>,
}

/// The permit of a call, which the call can give back before its end. Clones share it.
#[derive(Clone)]
pub(super) struct HeldPermit(Rc<Cell<Option<Permit>>>);

impl HeldPermit {
    /// Holds a permit.
    pub(super) fn new(permit: Permit) -> HeldPermit {
        HeldPermit(Rc::new(Cell::new(Some(permit))))
    }

    /// Gives the permit back, unless that was done already.
    pub(super) fn give_back(&self) {
        drop(self.0.take());
    }
}

/// The calls of a [`ConcurrencyLimit`], for the operator's tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallCount {
    /// Calls that hold a permit.
    pub in_flight: usize,
    /// Calls that wait for one.
    pub waiting: usize,
}

/// The state of a call that has asked for a permit.
enum PermitRequest {
    Granted(Permit),
    Queued(oneshot::Receiver<Permit>),
    QueueFull,
}

impl ConcurrencyLimit {
    /// A limit with these numbers, which include at least one permit.
    #[must_use]
    pub fn new(numbers: Concurrency) -> ConcurrencyLimit {
        let state =
            LimitState { free: numbers.permits.max(1), waiting: 0, callers: BTreeMap::new(), turns: VecDeque::new() };
        ConcurrencyLimit { shared: Arc::new(SharedLimit { numbers, state: Mutex::new(state) }) }
    }

    /// Takes a permit, or waits for one.
    ///
    /// # Errors
    /// `UNAVAILABLE` (`not_done`) when no permit was free in time, or the queue is full.
    pub async fn acquire(&self, caller: ShareOf) -> Result<Permit, ApiError> {
        match self.shared.request(caller) {
            PermitRequest::Granted(permit) => return Ok(permit),
            PermitRequest::Queued(turn) => {
                if let Ok(Ok(permit)) = tokio::time::timeout(self.shared.numbers.wait_max, turn).await {
                    return Ok(permit);
                }
            }
            PermitRequest::QueueFull => tokio::time::sleep(self.shared.numbers.wait_max).await,
        }
        Err(ApiError::overloaded(RETRY_AFTER_SECONDS))
    }

    /// Counts the calls.
    #[must_use]
    pub(super) fn count(&self) -> CallCount {
        let state = self.shared.state.lock();
        CallCount { in_flight: self.shared.numbers.permits.max(1) - state.free, waiting: state.waiting }
    }
}

impl Permit {
    /// A permit that counts against no limit.
    pub(super) const fn unlimited() -> Permit {
        Permit { of: None }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some((shared, caller)) = self.of.take() {
            shared.give_back(caller);
        }
    }
}

impl SharedLimit {
    fn request(self: &Arc<Self>, caller: ShareOf) -> PermitRequest {
        let mut state = self.state.lock();
        let is_any_free = state.free > 0;
        let queue = state.callers.entry(caller).or_default();
        if is_any_free && self.may_hold_more(queue) {
            queue.held += 1;
            state.free -= 1;
            return PermitRequest::Granted(self.permit(caller));
        }
        let (cancelled, waits) = (queue.drop_cancelled(), queue.waiting.len());
        state.waiting -= cancelled;
        let share = self.numbers.queue / state.callers.len();
        if state.waiting >= self.numbers.queue && waits >= share.max(1) {
            return PermitRequest::QueueFull;
        }
        let (turn, receiver) = oneshot::channel();
        state.waiting += 1;
        state.callers.entry(caller).or_default().waiting.push_back(turn);
        self.enqueue_caller(&mut state, caller);
        PermitRequest::Queued(receiver)
    }

    fn give_back(self: &Arc<Self>, caller: ShareOf) {
        let mut state = self.state.lock();
        state.free += 1;
        if let Some(queue) = state.callers.get_mut(&caller) {
            queue.held -= 1;
        }
        self.enqueue_caller(&mut state, caller);
        self.grant_permits(&mut state);
    }

    /// Puts a caller that waits and may hold one more permit at the end of the rotation, and forgets a caller without
    /// any call.
    fn enqueue_caller(&self, state: &mut LimitState, caller: ShareOf) {
        let Some(queue) = state.callers.get_mut(&caller) else { return };
        if queue.waiting.is_empty() {
            if queue.held == 0 && !queue.is_in_turns {
                state.callers.remove(&caller);
            }
        } else if !queue.is_in_turns && self.may_hold_more(queue) {
            queue.is_in_turns = true;
            state.turns.push_back(caller);
        }
    }

    /// Gives free permits to the callers that wait, in rotation.
    fn grant_permits(self: &Arc<Self>, state: &mut LimitState) {
        while state.free > 0 {
            let Some(caller) = state.turns.pop_front() else { return };
            let Some(queue) = state.callers.get_mut(&caller) else { continue };
            queue.is_in_turns = false;
            let waited = queue.waiting.len();
            state.free -= usize::from(queue.grant(|| self.permit(caller)));
            state.waiting -= waited - queue.waiting.len();
            self.enqueue_caller(state, caller);
        }
    }

    fn may_hold_more(&self, queue: &CallerQueue) -> bool {
        queue.held < self.numbers.permits_per_caller.max(1)
    }

    fn permit(self: &Arc<Self>, caller: ShareOf) -> Permit {
        Permit { of: Some((Arc::clone(self), caller)) }
    }
}

impl CallerQueue {
    /// Gives a permit to the earliest call that still waits; false when none does.
    fn grant(&mut self, permit: impl Fn() -> Permit) -> bool {
        while let Some(turn) = self.waiting.pop_front() {
            match turn.send(permit()) {
                Ok(()) => {
                    self.held += 1;
                    return true;
                }
                Err(mut permit) => permit.of = None, // The call was cancelled: the permit was not granted.
            }
        }
        false
    }

    /// Removes cancelled calls from the front of the queue, and counts them.
    fn drop_cancelled(&mut self) -> usize {
        let before = self.waiting.len();
        while self.waiting.front().is_some_and(oneshot::Sender::is_closed) {
            self.waiting.pop_front();
        }
        before - self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::api_error::Code;

    const A: ShareOf = ShareOf::Merchant([1; 16]);
    const B: ShareOf = ShareOf::Merchant([2; 16]);

    fn limit(permits: usize, permits_per_caller: usize, queue: usize) -> ConcurrencyLimit {
        ConcurrencyLimit::new(Concurrency { permits, permits_per_caller, queue, wait_max: WAIT_MAX })
    }

    impl ConcurrencyLimit {
        /// A permit that is free.
        fn granted(&self, caller: ShareOf) -> Permit {
            match self.shared.request(caller) {
                PermitRequest::Granted(permit) => permit,
                PermitRequest::Queued(_) | PermitRequest::QueueFull => panic!("a permit is free"),
            }
        }

        /// A call that has to wait.
        fn queued(&self, caller: ShareOf) -> oneshot::Receiver<Permit> {
            match self.shared.request(caller) {
                PermitRequest::Queued(turn) => turn,
                PermitRequest::Granted(_) | PermitRequest::QueueFull => panic!("a call that finds no permit waits"),
            }
        }

        fn is_full_for(&self, caller: ShareOf) -> bool {
            matches!(self.shared.request(caller), PermitRequest::QueueFull)
        }

        fn counts(&self) -> (usize, usize) {
            let CallCount { in_flight, waiting } = self.count();
            (in_flight, waiting)
        }
    }

    #[tokio::test]
    async fn a_call_without_a_permit_gets_the_first_that_is_given_back() {
        let limit = limit(1, 1, 8);
        let held = limit.granted(A);
        let mut waits = Box::pin(limit.acquire(A));
        assert!((&mut waits).now_or_never().is_none());
        assert_eq!(limit.counts(), (1, 1));
        drop(held);
        let got = waits.await;
        assert!(got.is_ok() && limit.counts() == (1, 0));
        drop(got);
        assert_eq!(limit.counts(), (0, 0));
        assert!(limit.shared.state.lock().callers.is_empty(), "nothing is kept of callers without a call");
    }

    #[tokio::test]
    async fn a_call_waits_for_a_second_and_is_refused() {
        let limit = limit(1, 1, 1);
        let _held = limit.granted(A);
        let begun = std::time::Instant::now();
        let (queued, full) = tokio::join!(limit.acquire(A), limit.acquire(A));
        for refused in [queued, full] {
            assert!(refused.is_err_and(|error| error.code() == Code::Unavailable && error.is_overload()));
        }
        assert!(begun.elapsed() >= WAIT_MAX);
    }

    #[test]
    fn permits_go_to_the_callers_that_wait_in_rotation() {
        let limit = limit(1, 2, 8);
        let held = limit.granted(A);
        let mut of_a: Vec<_> = (0..3).map(|_| limit.queued(A)).collect();
        let mut of_b = limit.queued(B);
        drop(held);
        let first = of_a[0].try_recv();
        assert!(first.is_ok() && of_b.try_recv().is_err(), "A was first");
        drop(first);
        let second = of_b.try_recv();
        assert!(second.is_ok() && of_a[1].try_recv().is_err(), "it is B's turn");
        drop(second);
        assert!(of_a[1].try_recv().is_ok() && of_a[2].try_recv().is_ok(), "A goes on");
    }

    #[test]
    fn one_caller_cannot_hold_all_permits() {
        let limit = limit(3, 2, 8);
        let mut held = vec![limit.granted(A), limit.granted(A)];
        let mut third = limit.queued(A);
        let of_b = limit.granted(B);
        drop(of_b);
        assert!(third.try_recv().is_err(), "a free permit is not for a caller that holds as many as it may");
        drop(held.pop());
        assert!(third.try_recv().is_ok());
    }

    #[test]
    fn a_full_queue_still_has_room_for_the_share_of_a_caller() {
        let limit = limit(1, 1, 4);
        let _held = limit.granted(A);
        let mut waiting: Vec<_> = (0..4).map(|_| limit.queued(A)).collect();
        assert!(limit.is_full_for(A));
        waiting.extend((0..2).map(|_| limit.queued(B)));
        assert!(limit.is_full_for(B), "an even share of four calls for two callers is two");
        waiting.drain(..1);
        assert!(limit.is_full_for(A), "A is above its share as long as the queue is full");
        assert_eq!(limit.counts(), (1, 5), "a call that has given up is counted no longer");
    }

    #[test]
    fn a_call_that_has_given_up_holds_nothing() {
        let limit = limit(1, 1, 8);
        let held = limit.granted(A);
        drop(limit.queued(A));
        let mut live = limit.queued(A);
        drop(held);
        assert!(live.try_recv().is_ok());
        assert_eq!(limit.counts(), (0, 0));
        let held = limit.granted(A);
        let granted = limit.queued(B);
        drop(held);
        drop(granted); // The permit was granted, but not taken yet.
        assert_eq!(limit.counts(), (0, 0));
        assert!(limit.shared.state.lock().turns.is_empty());
    }

    #[test]
    fn in_a_full_queue_every_caller_has_one_waiting_call() {
        let limit = limit(1, 1, 2);
        let _held = limit.granted(A);
        let caller = |number: u8| ShareOf::Address(std::net::IpAddr::from([127, 0, 0, number]));
        let _waiting: Vec<_> = (0..9).map(|number| limit.queued(caller(number))).collect();
        assert!((0..9).all(|number| limit.is_full_for(caller(number))));
    }
}
