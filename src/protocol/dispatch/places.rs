//! How many calls are worked on at once: as many as keep their waiting short, however many ask.
//!
//! A call that finds no place waits for one in the crowd: the one that came first goes first. A crowd alone is no
//! overload: as many callers as fill a few commits wait for some milliseconds each, for as long as they come. When calls
//! have waited for far longer than they are then worked on, and that lasts, more is asked than can be done: then the crowd
//! is kept small, and a call that finds it full has no hope any more, unless its caller has few others: nobody can take
//! all places for themselves. So those who are answered are answered soon, and what the server touches at once stays
//! small. Who has no hope is refused a moment later, and the later the more there are, so that callers who come again at
//! once cannot take the processor from the calls that are worked on.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

use super::limits::Standing;
use super::pressure::{CommitsSoFar, Verdict, Window};
use crate::protocol::api_error::ApiError;

/// Places at the start, and at least, unless the operator allows fewer: what fills a few commits.
const PLACES_MIN: usize = 128;

/// How long a call may hope for a place: as long as a disk that stops for a moment, and what piles up meanwhile, may
/// take.
const HOPE_MAX: Duration = Duration::from_secs(1);

/// When calls have waited too long for this long, more is asked than can be done. Some ten thousand that come at once, or
/// that a stop of the disk has held up, are worked off sooner.
const SLOW_MAX: Duration = Duration::from_millis(1_500);

/// When few have been without hope for this long, it is over.
const OVERLOAD_GONE: Duration = Duration::from_secs(1);

/// How many times as many places as waiters there are while more is asked than can be done.
const PLACES_PER_WAITER: usize = 8;

/// Waiters that there may be then, however few places there are.
const WAITERS_MIN: usize = 16;

/// How long after it lost hope a call is refused, in a small crowd.
const REFUSED_AFTER: Duration = Duration::from_millis(80);

/// The same in the largest crowd.
const REFUSED_AFTER_MAX: Duration = Duration::from_secs(5);

/// Refusals a second that a large crowd comes to. Each takes at least as much of a processor as a call that is answered,
/// since nothing of a connection that was still for long is near the processor.
const REFUSALS_PER_SECOND: u64 = 200;

/// When to come back after being turned away, in seconds.
const RETRY_AFTER_SECONDS: u32 = 1;

/// The places, and the crowd that waits for one.
#[derive(Clone)]
pub struct Places {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    commits: CommitsSoFar,
    /// Calls that will be refused.
    without_hope: AtomicUsize,
}

struct State {
    /// How many places there are now.
    places: usize,
    places_max: usize,
    taken: usize,
    crowd: VecDeque<Waiter>,
    /// Since when calls have waited too long.
    slow_since: Option<Instant>,
    /// When many were without hope last, or it began, while more is asked than can be done.
    overloaded: Option<Instant>,
    window: Window,
}

/// What a call finds that asks for a place.
enum Found {
    Free(Place),
    /// It comes when it is the call's turn.
    Queued(oneshot::Receiver<Place>),
    NoHope,
}

struct Waiter {
    called: oneshot::Sender<Place>,
    since: Instant,
}

/// A place that was taken. Dropping it gives it to the next one.
pub struct Place {
    of: Option<Arc<Shared>>,
    /// When it was given.
    since: Instant,
}

impl Places {
    /// As many places as keep the waiting short, at most `places_max`.
    #[must_use]
    pub fn new(places_max: usize, commits: CommitsSoFar) -> Places {
        let state = State {
            places: PLACES_MIN.min(places_max),
            places_max,
            taken: 0,
            crowd: VecDeque::new(),
            slow_since: None,
            overloaded: None,
            window: Window::begin(Instant::now(), commits()),
        };
        let (state, without_hope) = (Mutex::new(state), AtomicUsize::new(0));
        Places { shared: Arc::new(Shared { state, commits, without_hope }) }
    }

    /// Takes a place, or waits for one as long as there is hope, which whoever has few calls has always. None when others
    /// were chosen.
    pub async fn enter(&self, standing: Option<Standing>) -> Option<Place> {
        match self.shared.find(standing) {
            Found::Free(place) => Some(place),
            Found::Queued(called) => tokio::time::timeout(HOPE_MAX, called).await.ok()?.ok(),
            Found::NoHope => None,
        }
    }

    /// Refuses in its time (`UNAVAILABLE`, `not_done`): whoever is turned away at once comes again at once.
    pub async fn refuse(&self) -> ApiError {
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
    fn find(self: &Arc<Self>, standing: Option<Standing>) -> Found {
        let mut state = self.lock();
        let now = Instant::now();
        if state.taken < state.places {
            state.taken += 1;
            state.window.note_wait(Duration::ZERO);
            return Found::Free(Place { of: Some(Arc::clone(self)), since: now });
        }
        state.window.was_full = true;
        state.drop_the_gone();
        let is_modest = standing.is_some_and(|standing| standing.is_modest(state.places));
        if state.crowd.len() >= state.crowd_max(now) && !is_modest {
            return Found::NoHope;
        }
        let (called, receiver) = oneshot::channel();
        state.crowd.push_back(Waiter { called, since: now });
        Found::Queued(receiver)
    }

    /// Takes a place back that was held since then, and gives those that are free to whoever is next.
    fn give_back(self: &Arc<Self>, held_since: Instant, now: Instant) {
        let mut state = self.lock();
        state.taken -= 1;
        state.window.note_held(now.saturating_duration_since(held_since));
        if state.window.is_over(now) {
            state.judge((self.commits)(), now);
            state.judge_crowd(self.without_hope.load(Ordering::Relaxed), now);
        }
        // More than one when there are more places now: whoever waits comes before whoever comes.
        while state.taken < state.places {
            let Some(next) = state.next(now) else { break };
            match next.called.send(Place { of: Some(Arc::clone(self)), since: now }) {
                Ok(()) => state.taken += 1,
                Err(mut place) => place.of = None, // Whoever has gone has nothing to give back.
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Whole between any two steps, so a panic elsewhere has not broken it.
        self.state.lock()
    }
}

impl State {
    /// Who is next: who came first and is still there.
    fn next(&mut self, now: Instant) -> Option<Waiter> {
        self.drop_the_gone();
        let next = self.crowd.pop_front()?;
        self.window.note_wait(now.saturating_duration_since(next.since));
        Some(next)
    }

    /// How many may wait for a place.
    fn crowd_max(&self, now: Instant) -> usize {
        if self.is_overloaded(now) { self.small_crowd() } else { usize::MAX }
    }

    fn small_crowd(&self) -> usize {
        (self.places / PLACES_PER_WAITER).max(WAITERS_MIN)
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

    /// Sets how many places there are from now on, and whether calls have waited too long.
    fn judge(&mut self, commits: (u64, Duration), now: Instant) {
        let places = match self.window.verdict(commits) {
            Verdict::Fewer => self.places - self.places / 10,
            Verdict::AsMany => self.places,
            Verdict::More => self.places + (self.places / 20).max(1),
        };
        self.places = places.clamp(PLACES_MIN.min(self.places_max), self.places_max);
        self.slow_since = self.window.was_slow().then(|| self.slow_since.unwrap_or(now));
        self.window = Window::begin(now, commits);
    }

    /// Tells whether more is asked than can be done, with so many that will be refused.
    fn judge_crowd(&mut self, without_hope: usize, now: Instant) {
        self.crowd.retain(|waiter| !waiter.called.is_closed());
        let slow_for = self.slow_since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        if slow_for > SLOW_MAX || self.is_overloaded(now) && without_hope > self.small_crowd() {
            self.overloaded = Some(now);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(of) = self.of.take() {
            of.give_back(self.since, Instant::now());
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

    /// Longer than calls may wait.
    const WAITED_LONG: Duration = Duration::from_millis(17);

    /// What has a place at once or not at all.
    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        futures_util::FutureExt::now_or_never(future)
    }

    #[tokio::test]
    async fn a_call_that_finds_no_place_gets_the_first_one_that_is_free() {
        let places = places(1);
        let first = places.enter(None).await.expect("there is a place");
        let second = tokio::spawn({
            let places = places.clone();
            async move { places.enter(None).await.is_some() }
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
        let held = places.enter(None).await;
        assert!(places.enter(None).await.is_none());
        let asked = Instant::now();
        let refused = places.refuse().await;
        assert!(refused.code() == Code::Unavailable && refused.is_overload() && asked.elapsed() >= REFUSED_AFTER);
        drop(held);
        assert!(now(places.enter(None)).is_some_and(|entered| entered.is_some()));
        assert_eq!(places.count(), PlaceCount { places: 1, taken: 0, crowd: 0 });
    }

    #[test]
    fn a_caller_that_goes_away_with_its_place_gives_it_back() {
        let places = places(1);
        let held = places.shared.find(None);
        let called = places.shared.queue();
        drop(held);
        assert_eq!(places.count().taken, 1, "it was handed over");
        drop(called);
        assert_eq!(places.count(), PlaceCount { places: 1, taken: 0, crowd: 0 });
    }

    /// How many may wait when those who got their places meanwhile had waited for so long.
    fn judge_wait(places: &Places, waited: Duration, now: Instant) -> usize {
        let mut state = places.shared.lock();
        state.window.note_wait(waited);
        state.judge((0, Duration::ZERO), now);
        state.judge_crowd(0, now);
        state.crowd_max(now)
    }

    #[test]
    fn a_crowd_whose_turn_comes_soon_is_no_overload_however_long_it_lasts() {
        let (places, start) = (places(1), Instant::now());
        for millis in (0..60_000).step_by(100) {
            let allowed = judge_wait(&places, Duration::from_millis(16), start + Duration::from_millis(millis));
            assert_eq!(allowed, usize::MAX, "{millis}");
        }
    }

    #[test]
    fn a_crowd_that_waits_too_long_is_no_overload_when_it_is_soon_over() {
        let (places, start) = (places(1), Instant::now());
        for millis in (0..60_000).step_by(100) {
            let waited = if millis % 1_600 == 0 { Duration::ZERO } else { WAITED_LONG };
            assert_eq!(judge_wait(&places, waited, start + Duration::from_millis(millis)), usize::MAX, "{millis}");
        }
    }

    #[test]
    fn the_crowd_is_small_after_waits_were_too_long_for_a_while_until_few_are_without_hope() {
        let (places, start) = (places(1_000), Instant::now());
        let after = |millis| start + Duration::from_millis(millis);
        let small = PLACES_MIN / PLACES_PER_WAITER;
        for millis in (0..=1_500).step_by(100) {
            assert_eq!(judge_wait(&places, WAITED_LONG, after(millis)), usize::MAX, "{millis}");
        }
        assert_eq!(judge_wait(&places, WAITED_LONG, after(1_600)), small);
        assert_eq!(judge_wait(&places, Duration::ZERO, after(2_500)), small, "a small crowd is soon served");
        places.shared.lock().judge_crowd(small + 1, after(2_550));
        assert_eq!(judge_wait(&places, Duration::ZERO, after(3_540)), small, "many are without hope");
        places.shared.lock().judge_crowd(small, after(3_545));
        assert_eq!(judge_wait(&places, Duration::ZERO, after(3_550)), usize::MAX, "few are");
        places.shared.lock().judge_crowd(small + 1, after(3_600));
        assert_eq!(judge_wait(&places, Duration::ZERO, after(3_600)), usize::MAX, "that alone is none");
    }

    #[test]
    fn a_bound_below_the_usual_places_holds() {
        let places = places(8);
        assert_eq!([Duration::ZERO, Duration::from_secs(1)].map(|held| judge_held(&places, held)), [8, 8]);
    }

    #[tokio::test]
    async fn in_overload_a_caller_with_few_calls_waits_where_others_have_no_hope() {
        let places = places(64);
        places.shared.lock().overloaded = Some(Instant::now());
        let standing = |calls| Some(Standing { calls, callers: 2 });
        let mut held: Vec<_> = (0..64).map(|_| places.shared.find(None)).collect();
        let waiting: Vec<_> = (0..WAITERS_MIN).map(|_| places.shared.queue()).collect();
        assert!(now(places.enter(standing(17))).is_some_and(|entered| entered.is_none()), "a quarter and one more");
        let mut modest = Box::pin(places.enter(standing(16)));
        assert!(now(&mut modest).is_none());
        drop((held.pop(), waiting));
        assert!(now(modest).is_some_and(|entered| entered.is_some()), "its turn comes");
    }

    #[test]
    fn few_places_have_some_waiters_as_well() {
        let places = places(8);
        let mut state = places.shared.lock();
        state.overloaded = Some(Instant::now());
        assert_eq!(state.crowd_max(Instant::now()), WAITERS_MIN);
    }

    #[tokio::test]
    async fn in_overload_whoever_finds_the_crowd_full_has_no_hope_and_those_in_it_have() {
        let places = places(1);
        let held = places.enter(None).await;
        places.shared.lock().overloaded = Some(Instant::now());
        let mut waiting: Vec<_> = (0..WAITERS_MIN).map(|_| Box::pin(places.enter(None))).collect();
        assert!(waiting.iter_mut().all(|enter| now(enter).is_none()));
        assert!(now(places.enter(None)).is_some_and(|entered| entered.is_none()), "it does not wait among them");
        drop(held);
        assert!(now(&mut waiting[0]).is_some_and(|entered| entered.is_some()), "the first has its turn");
    }

    #[test]
    fn the_oldest_that_is_still_there_is_next() {
        let (places, now) = (places(1), Instant::now());
        let _held = places.shared.find(None);
        let mut receivers: Vec<_> = (0..3).map(|_| places.shared.queue()).collect();
        drop(receivers.remove(0));
        let next = places.shared.lock().next(now);
        assert!(next.is_some_and(|next| next.called.send(Place { of: None, since: now }).is_ok()));
        assert!(receivers[0].try_recv().is_ok(), "the second");
    }

    /// How many places there are after one was held for so long while somebody found none.
    fn judge_held(places: &Places, held: Duration) -> usize {
        let mut state = places.shared.lock();
        state.window.was_full = true;
        state.window.note_held(held);
        state.judge((0, Duration::ZERO), Instant::now());
        state.places
    }

    #[test]
    fn places_become_fewer_when_they_are_held_for_long_and_more_when_they_are_not_within_bounds() {
        let places = places(1_000);
        let (long, short) = (Duration::from_secs(1), Duration::ZERO);
        assert_eq!([short, short, long, short].map(|held| judge_held(&places, held)), [134, 140, 128, 134]);
        assert_eq!((0..100).map(|_| judge_held(&places, short)).max(), Some(1_000));
        assert_eq!((0..100).map(|_| judge_held(&places, long)).min(), Some(PLACES_MIN));
    }

    #[test]
    fn places_that_are_added_go_to_those_who_wait_and_not_to_whoever_comes_next() {
        let places = places(1_000);
        let mut held: Vec<_> = (0..PLACES_MIN).map(|_| places.shared.find(None)).collect();
        let mut waiting: Vec<_> = (0..8).map(|_| places.shared.queue()).collect();
        assert_eq!(judge_held(&places, Duration::ZERO), PLACES_MIN + 6);
        drop(held.pop());
        let called = waiting.iter_mut().filter_map(|called| called.try_recv().ok()).collect::<Vec<_>>();
        assert_eq!((called.len(), places.count().taken), (7, PLACES_MIN + 6));
        drop(places.shared.queue()); // One still waits.
    }

    #[test]
    fn a_larger_crowd_is_refused_later_within_bounds() {
        let expected = [REFUSED_AFTER, REFUSED_AFTER, Duration::from_secs(2), REFUSED_AFTER_MAX];
        assert_eq!([0, 16, 400, 100_000].map(refused_after), expected);
    }

    impl Shared {
        /// Waits for a place, of which none is free.
        fn queue(self: &Arc<Self>) -> oneshot::Receiver<Place> {
            match self.find(None) {
                Found::Queued(called) => called,
                Found::Free(_) | Found::NoHope => panic!("a call that finds no place waits"),
            }
        }
    }
}
