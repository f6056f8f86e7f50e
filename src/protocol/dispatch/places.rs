//! How many calls are worked on at once: as many as keep their waiting short, however many ask.
//!
//! A call that finds no place waits for one in the crowd: the one that came first goes first. A crowd alone is no
//! overload: as many callers as fill a few commits wait for some milliseconds each, for as long as they come. When those
//! whose turn it is have waited long for a while, more is asked than can be done: then a call that finds no place soon
//! has no hope any more. So those who are answered are answered soon. Who has no hope is refused a moment later, and the
//! later the more there are, so that callers who come again at once cannot take the processor from the calls that are
//! worked on.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::protocol::api_error::ApiError;

/// Places that there are at least, unless the operator allows fewer: what fills a commit or two.
const PLACES_MIN: usize = 64;

/// Places at the start.
const PLACES_FIRST: usize = 128;

/// How often it is judged whether there are too many places or too few.
const JUDGED_EVERY: Duration = Duration::from_millis(100);

/// How long a call that changes something may take on average, beside two commits: the one that was under way when it
/// came, and its own. Above this, calls wait for one another, and fewer at once are as fast.
const WORK_MAX: Duration = Duration::from_millis(4);

/// How long a call may hope for a place: as long as a disk that stops for a moment, and what piles up meanwhile, may
/// take.
const HOPE_MAX: Duration = Duration::from_secs(1);

/// How long it may while more is asked than can be done.
const HOPE_IN_OVERLOAD_MAX: Duration = Duration::from_millis(20);

/// How long a call may have waited when its turn comes: some thousand calls at once are no overload on a small machine.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// When everybody has waited longer than that for this long, more is asked than can be done.
const SLOW_MAX: Duration = Duration::from_millis(200);

/// When nobody has lost hope for this long, it is over.
const OVERLOAD_GONE: Duration = Duration::from_millis(200);

/// How long after it lost hope a call is refused, in a small crowd.
const REFUSED_AFTER: Duration = Duration::from_millis(80);

/// The same in the largest crowd.
const REFUSED_AFTER_MAX: Duration = Duration::from_secs(2);

/// Refusals a second that a large crowd comes to: each takes some ten microseconds of a processor, for reading the
/// request and writing the answer.
const REFUSALS_PER_SECOND: u64 = 4_000;

/// When to come back after being turned away, in seconds.
const RETRY_AFTER_SECONDS: u32 = 1;

/// How many commits there were, and how long they took together.
pub type CommitTimes = Box<dyn Fn() -> (u64, Duration) + Send + Sync>;

/// The places, and the crowd that waits for one.
#[derive(Clone)]
pub struct Places {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    places_max: usize,
    commit_times: CommitTimes,
    /// Calls that will be refused.
    without_hope: AtomicUsize,
}

struct State {
    /// How many places there are now.
    places: usize,
    taken: usize,
    crowd: VecDeque<Waiter>,
    /// Since when everybody has waited too long.
    slow_since: Option<Instant>,
    /// When somebody lost hope last, or it began, while more is asked than can be done.
    overloaded: Option<Instant>,
    window: Window,
    /// Commits by the begin of the window.
    commits: (u64, Duration),
}

struct Waiter {
    called: oneshot::Sender<Place>,
    since: Instant,
}

/// What was seen since it was last judged.
struct Window {
    since: Instant,
    calls: u32,
    time: Duration,
    /// Whether somebody found no place.
    was_full: bool,
}

/// What is worked on: whether its time says how long commits are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// It waits for a commit.
    Change,
    /// It does not.
    Read,
}

/// A place that was taken. Dropping it gives it to the next one.
struct Place {
    of: Option<Arc<Shared>>,
}

/// A place with the time since which a call has it. Dropping it notes how long that was, and gives the place back.
pub struct Working {
    place: Place,
    work: Work,
    since: Instant,
}

impl Places {
    /// As many places as keep the waiting short, at most `places_max`.
    #[must_use]
    pub fn new(places_max: usize, commit_times: CommitTimes) -> Places {
        let state = State {
            places: PLACES_FIRST.min(places_max),
            taken: 0,
            crowd: VecDeque::new(),
            slow_since: None,
            overloaded: None,
            window: Window::begin(Instant::now()),
            commits: (0, Duration::ZERO),
        };
        let (state, without_hope) = (Mutex::new(state), AtomicUsize::new(0));
        Places { shared: Arc::new(Shared { state, places_max, commit_times, without_hope }) }
    }

    /// Takes a place, or waits for one as long as there is hope.
    ///
    /// # Errors
    /// `UNAVAILABLE` (`not_done`) when others were chosen.
    pub async fn enter(&self, work: Work) -> Result<Working, ApiError> {
        let place = match self.shared.take_or_queue() {
            Ok(place) => place,
            Err((called, hope_max)) => match tokio::time::timeout(hope_max, called).await {
                Ok(Ok(place)) => place,
                Ok(Err(_)) | Err(_) => return Err(self.refuse().await),
            },
        };
        Ok(Working { place, work, since: Instant::now() })
    }

    /// Refuses in its time.
    async fn refuse(&self) -> ApiError {
        self.shared.lock().lose_hope(Instant::now());
        let counted = WithoutHope::one(&self.shared);
        tokio::time::sleep(refused_after(counted.crowd)).await;
        ApiError::overloaded(RETRY_AFTER_SECONDS)
    }

    /// How it stands, for the operator's tools.
    #[must_use]
    pub fn count(&self) -> PlaceCount {
        let state = self.shared.lock();
        let crowd = state.crowd.len() + self.shared.without_hope.load(Ordering::Relaxed);
        PlaceCount { places: state.places, taken: state.taken, crowd }
    }
}

/// How it stands with the places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceCount {
    /// How many there are now.
    pub places: usize,
    /// How many are taken.
    pub taken: usize,
    /// Calls that wait for one.
    pub crowd: usize,
}

/// A call that will be refused, until it is.
struct WithoutHope {
    shared: Arc<Shared>,
    /// How many there are.
    crowd: usize,
}

impl WithoutHope {
    fn one(shared: &Arc<Shared>) -> WithoutHope {
        let crowd = shared.without_hope.fetch_add(1, Ordering::Relaxed) + 1;
        WithoutHope { shared: Arc::clone(shared), crowd }
    }
}

impl Drop for WithoutHope {
    fn drop(&mut self) {
        self.shared.without_hope.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Shared {
    fn take_or_queue(self: &Arc<Self>) -> Result<Place, (oneshot::Receiver<Place>, Duration)> {
        let mut state = self.lock();
        if state.taken < state.places {
            state.taken += 1;
            state.slow_since = None;
            return Ok(Place { of: Some(Arc::clone(self)) });
        }
        state.window.was_full = true;
        state.drop_the_gone();
        let ((called, receiver), since) = (oneshot::channel(), Instant::now());
        state.crowd.push_back(Waiter { called, since });
        Err((receiver, state.hope_max(since)))
    }

    /// A call that had a place has ended.
    fn end(self: &Arc<Self>, work: Work, since: Instant) {
        let now = Instant::now();
        let mut state = self.lock();
        if work == Work::Change {
            self.note(&mut state, now.saturating_duration_since(since), now);
        }
        self.give_back(state, now);
    }

    /// Gives a place to whoever is next, unless there are too many places now.
    fn give_back(self: &Arc<Self>, mut state: MutexGuard<'_, State>, now: Instant) {
        while state.taken <= state.places {
            let Some(next) = state.next(now) else { break };
            match next.called.send(Place { of: Some(Arc::clone(self)) }) {
                Ok(()) => return,
                Err(mut place) => place.of = None, // Whoever has gone has nothing to give back.
            }
        }
        state.taken -= 1;
    }

    /// A call has worked for so long.
    fn note(&self, state: &mut State, time: Duration, now: Instant) {
        state.window.calls += 1;
        state.window.time += time;
        if now.duration_since(state.window.since) >= JUDGED_EVERY {
            let commits = (self.commit_times)();
            state.judge(commits, self.places_max, now);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Whole between any two steps, so a panic elsewhere has not broken it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Who is next: who came first and is still there.
    fn next(&mut self, now: Instant) -> Option<Waiter> {
        self.drop_the_gone();
        let next = self.crowd.pop_front()?;
        self.note_wait(now.saturating_duration_since(next.since), now);
        Some(next)
    }

    /// Somebody's turn has come.
    fn note_wait(&mut self, waited: Duration, now: Instant) {
        if waited <= WAIT_MAX {
            self.slow_since = None;
        } else if now.saturating_duration_since(*self.slow_since.get_or_insert(now)) > SLOW_MAX {
            self.overloaded = Some(now);
        }
    }

    /// Somebody found no place.
    fn lose_hope(&mut self, now: Instant) {
        if self.is_overloaded(now) {
            self.overloaded = Some(now);
        }
    }

    /// How long somebody who has to wait may hope.
    fn hope_max(&self, now: Instant) -> Duration {
        if self.is_overloaded(now) { HOPE_IN_OVERLOAD_MAX } else { HOPE_MAX }
    }

    /// Whether more is asked than can be done.
    fn is_overloaded(&self, now: Instant) -> bool {
        self.overloaded.is_some_and(|last| now.saturating_duration_since(last) < OVERLOAD_GONE)
    }

    fn drop_the_gone(&mut self) {
        while self.crowd.front().is_some_and(|waiter| waiter.called.is_closed()) {
            self.crowd.pop_front();
        }
    }

    /// When there were too few places: fewer when calls take too long, else more.
    fn judge(&mut self, commits: (u64, Duration), places_max: usize, now: Instant) {
        let time_max = WORK_MAX + 2 * mean_since(self.commits, commits);
        self.commits = commits;
        let mean = self.window.time / self.window.calls.max(1);
        if self.window.was_full && mean > time_max {
            self.places = (self.places - self.places / 10).max(PLACES_MIN.min(places_max));
        } else if self.window.was_full {
            self.places = (self.places + (self.places / 20).max(1)).min(places_max);
        }
        self.crowd.retain(|waiter| !waiter.called.is_closed());
        self.window = Window::begin(now);
    }
}

/// What a commit took between two counts.
fn mean_since(before: (u64, Duration), now: (u64, Duration)) -> Duration {
    let count = u32::try_from(now.0.saturating_sub(before.0)).unwrap_or(u32::MAX);
    now.1.saturating_sub(before.1) / count.max(1)
}

impl Window {
    const fn begin(since: Instant) -> Window {
        Window { since, calls: 0, time: Duration::ZERO, was_full: false }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(of) = self.of.take() {
            of.give_back(of.lock(), Instant::now());
        }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        if let Some(of) = self.place.of.take() {
            of.end(self.work, self.since);
        }
    }
}

/// How long after its coming a call is refused, when this many are.
fn refused_after(crowd: usize) -> Duration {
    let crowd = u64::try_from(crowd).unwrap_or(u64::MAX);
    let in_turn = Duration::from_millis(crowd.saturating_mul(1_000) / REFUSALS_PER_SECOND);
    in_turn.clamp(REFUSED_AFTER, REFUSED_AFTER_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::api_error::Code;

    fn places(count: usize) -> Places {
        Places::new(count, Box::new(|| (0, Duration::ZERO)))
    }

    /// What has a place at once or not at all.
    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        futures_util::FutureExt::now_or_never(future)
    }

    #[tokio::test]
    async fn a_call_that_finds_no_place_gets_the_first_one_that_is_free() {
        let places = places(1);
        let first = places.enter(Work::Read).await.expect("there is a place");
        let second = tokio::spawn({
            let places = places.clone();
            async move { places.enter(Work::Read).await.is_ok() }
        });
        while places.count().crowd == 0 {
            tokio::task::yield_now().await;
        }
        drop(first);
        assert!(second.await.expect("it ends"));
        assert_eq!(places.count(), PlaceCount { places: 1, taken: 0, crowd: 0 });
    }

    #[tokio::test]
    async fn a_call_without_hope_is_refused_and_leaves_nothing_behind() {
        let places = places(1);
        let held = places.enter(Work::Read).await;
        let refused = places.enter(Work::Change).await;
        assert!(refused.is_err_and(|error| error.code() == Code::Unavailable && error.is_overload()));
        drop(held);
        assert!(now(places.enter(Work::Read)).is_some_and(|entered| entered.is_ok()));
        assert_eq!(places.count(), PlaceCount { places: 1, taken: 0, crowd: 0 });
    }

    #[test]
    fn a_caller_that_goes_away_with_its_place_gives_it_back() {
        let places = places(1);
        let held = places.shared.take_or_queue().unwrap_or_else(|_| panic!("there is a place"));
        let Err((called, _)) = places.shared.take_or_queue() else { panic!("there is one place") };
        drop(held);
        assert_eq!(places.count().taken, 1, "it was handed over");
        drop(called);
        assert_eq!(places.count(), PlaceCount { places: 1, taken: 0, crowd: 0 });
    }

    #[test]
    fn a_crowd_whose_turn_comes_soon_is_no_overload_however_long_it_lasts() {
        let (mut state, start) = (places(1).shared.take_state(), Instant::now());
        for millis in (0..60_000).step_by(50) {
            let now = start + Duration::from_millis(millis);
            state.note_wait(WAIT_MAX, now);
            assert_eq!(state.hope_max(now), HOPE_MAX, "{millis}");
        }
    }

    #[test]
    fn hope_is_short_when_everybody_has_waited_too_long_until_nobody_has_lost_it_for_a_while() {
        let (mut state, start) = (places(1).shared.take_state(), Instant::now());
        let after = |millis| start + Duration::from_millis(millis);
        for millis in (0..=200).step_by(40) {
            state.note_wait(WAIT_MAX * 2, after(millis));
            assert_eq!(state.hope_max(after(millis)), HOPE_MAX, "{millis}");
        }
        state.note_wait(WAIT_MAX * 2, after(240));
        assert_eq!(state.hope_max(after(250)), HOPE_IN_OVERLOAD_MAX);
        state.note_wait(Duration::ZERO, after(260));
        state.lose_hope(after(400));
        assert_eq!(state.hope_max(after(590)), HOPE_IN_OVERLOAD_MAX, "somebody lost hope");
        assert_eq!(state.hope_max(after(600)), HOPE_MAX, "nobody has for a while");
    }

    #[test]
    fn the_oldest_that_is_still_there_is_next() {
        let (mut state, now) = (places(1).shared.take_state(), Instant::now());
        let mut receivers: Vec<_> = (0..3).map(|_| state.queue(now)).collect();
        drop(receivers.remove(0));
        assert!(state.next(now).is_some_and(|next| next.called.send(Place { of: None }).is_ok()));
        assert!(receivers[0].try_recv().is_ok(), "the second");
    }

    #[test]
    fn places_become_fewer_when_work_takes_long_and_more_when_it_does_not_and_there_were_too_few() {
        let mut state = places(1_000).shared.take_state();
        let judged = |state: &mut State, millis: u64, was_full: bool| {
            state.window =
                Window { calls: 2, time: Duration::from_millis(2 * millis), was_full, ..Window::begin(Instant::now()) };
            let (count, time) = state.commits;
            state.judge((count + 2, time + Duration::from_millis(4)), 1_000, Instant::now());
            state.places
        };
        assert_eq!(judged(&mut state, 9, true), 116);
        assert_eq!((judged(&mut state, 8, false), judged(&mut state, 99, false)), (116, 116));
        assert_eq!(judged(&mut state, 8, true), 121);
        let fewest = (0..100).map(|_| judged(&mut state, 100, true)).min();
        assert_eq!(fewest, Some(PLACES_MIN));
        let most = (0..100).map(|_| judged(&mut state, 1, true)).max();
        assert_eq!(most, Some(1_000));
    }

    #[test]
    fn a_larger_crowd_is_refused_later_within_bounds() {
        let expected = [REFUSED_AFTER, REFUSED_AFTER, Duration::from_millis(500), REFUSED_AFTER_MAX];
        assert_eq!([0, 320, 2_000, 100_000].map(refused_after), expected);
    }

    impl State {
        fn queue(&mut self, since: Instant) -> oneshot::Receiver<Place> {
            let (called, receiver) = oneshot::channel();
            self.crowd.push_back(Waiter { called, since });
            receiver
        }
    }

    impl Shared {
        /// The state alone.
        fn take_state(&self) -> State {
            let mut state = self.lock();
            let (places, window) = (state.places, Window::begin(Instant::now()));
            let (crowd, commits) = (VecDeque::new(), (0, Duration::ZERO));
            let (slow_since, overloaded) = (None, None);
            std::mem::replace(&mut *state, State { places, taken: 0, crowd, slow_since, overloaded, window, commits })
        }
    }
}
