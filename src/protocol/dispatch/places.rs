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

use super::pressure::{Delays, Effort, EffortSoFar, Verdict, Window};
use crate::protocol::api_error::ApiError;

/// Places at the start, and at least, unless the operator allows fewer: what fills a few commits.
const PLACES_MIN: usize = 128;

/// Places that there may be however busy the threads are: those of a machine that others use as well are always late, and
/// few places would leave the disk with nothing to do.
const PLACES_MANY: usize = 384;

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
const OVERLOAD_GONE: Duration = Duration::from_secs(1);

/// How long after it lost hope a call is refused, in a small crowd.
const REFUSED_AFTER: Duration = Duration::from_millis(80);

/// The same in the largest crowd.
const REFUSED_AFTER_MAX: Duration = Duration::from_secs(2);

/// Refusals a second that a large crowd comes to: each takes some ten microseconds of a processor, for reading the
/// request and writing the answer.
const REFUSALS_PER_SECOND: u64 = 2_000;

/// When to come back after being turned away, in seconds.
const RETRY_AFTER_SECONDS: u32 = 1;

/// The places, and the crowd that waits for one.
#[derive(Clone)]
pub struct Places {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    places_max: usize,
    effort: EffortSoFar,
    delays: Delays,
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
    pub fn new(places_max: usize, effort: EffortSoFar) -> Places {
        let state = State {
            places: PLACES_MIN.min(places_max),
            taken: 0,
            crowd: VecDeque::new(),
            slow_since: None,
            overloaded: None,
            window: Window::begin(Instant::now(), effort(), (0, Duration::ZERO)),
        };
        let (state, delays, without_hope) = (Mutex::new(state), Delays::default(), AtomicUsize::new(0));
        Places { shared: Arc::new(Shared { state, places_max, effort, delays, without_hope }) }
    }

    /// Takes a place, or waits for one as long as there is hope.
    ///
    /// # Errors
    /// `UNAVAILABLE` (`not_done`) when others were chosen.
    pub async fn enter(&self) -> Result<Place, ApiError> {
        match self.shared.take_or_queue() {
            Ok(place) => Ok(place),
            Err((called, hope_max)) => match tokio::time::timeout(hope_max, called).await {
                Ok(Ok(place)) => {
                    self.shared.delays.note(place.since.elapsed());
                    Ok(place)
                }
                Ok(Err(_)) | Err(_) => Err(self.refuse().await),
            },
        }
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
            return Ok(Place { of: Some(Arc::clone(self)), since: Instant::now() });
        }
        state.window.was_full = true;
        state.drop_the_gone();
        let ((called, receiver), since) = (oneshot::channel(), Instant::now());
        state.crowd.push_back(Waiter { called, since });
        Err((receiver, state.hope_max(since)))
    }

    /// Takes a place back, and gives those that are free to whoever is next.
    fn give_back(self: &Arc<Self>, now: Instant) {
        let mut state = self.lock();
        state.taken -= 1;
        if state.window.is_over(now) {
            state.judge((self.effort)(), self.delays.so_far(), self.places_max, now);
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

    fn fewer_than_now(&self, least: usize) -> usize {
        (self.places - self.places / 10).max(least.min(self.places))
    }

    /// Sets how many places there are from now on.
    fn judge(&mut self, effort: Effort, delays: (u64, Duration), places_max: usize, now: Instant) {
        self.places = match self.window.verdict(effort, delays) {
            Verdict::Fewer => self.fewer_than_now(PLACES_MIN),
            Verdict::NotMany => self.fewer_than_now(PLACES_MANY),
            Verdict::AsMany => self.places,
            Verdict::More => (self.places + (self.places / 20).max(1)).min(places_max),
        };
        self.crowd.retain(|waiter| !waiter.called.is_closed());
        self.window = Window::begin(now, effort, delays);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(of) = self.of.take() {
            of.give_back(Instant::now());
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
        Places::new(count, Box::new(Effort::default))
    }

    /// What has a place at once or not at all.
    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        futures_util::FutureExt::now_or_never(future)
    }

    #[tokio::test]
    async fn a_call_that_finds_no_place_gets_the_first_one_that_is_free() {
        let places = places(1);
        let first = places.enter().await.expect("there is a place");
        let second = tokio::spawn({
            let places = places.clone();
            async move { places.enter().await.is_ok() }
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
        let held = places.enter().await;
        let refused = places.enter().await;
        assert!(refused.is_err_and(|error| error.code() == Code::Unavailable && error.is_overload()));
        drop(held);
        assert!(now(places.enter()).is_some_and(|entered| entered.is_ok()));
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
        state.lose_hope(after(1_200));
        assert_eq!(state.hope_max(after(2_190)), HOPE_IN_OVERLOAD_MAX, "somebody lost hope");
        assert_eq!(state.hope_max(after(2_200)), HOPE_MAX, "nobody has for a while");
    }

    #[test]
    fn the_oldest_that_is_still_there_is_next() {
        let (mut state, now) = (places(1).shared.take_state(), Instant::now());
        let mut receivers: Vec<_> = (0..3).map(|_| state.queue(now)).collect();
        drop(receivers.remove(0));
        assert!(state.next(now).is_some_and(|next| next.called.send(Place { of: None, since: now }).is_ok()));
        assert!(receivers[0].try_recv().is_ok(), "the second");
    }

    /// Gives back what one call held, when what was done since the last judgement took so long.
    fn judged(places: &Places, work: Duration, delay: Duration) -> usize {
        let begun = Instant::now().checked_sub(Duration::from_secs(1)).expect("the machine runs for longer");
        let mut state = places.shared.lock();
        state.window = Window::begin(begun, Effort::default(), (0, Duration::ZERO));
        state.window.was_full = true;
        let effort = Effort { calls: (1, work), ..Effort::default() };
        state.judge(effort, (1, delay), places.shared.places_max, Instant::now());
        state.places
    }

    #[test]
    fn places_become_fewer_when_work_takes_long_and_more_when_it_does_not_within_bounds() {
        let places = places(1_000);
        let (long, short) = (Duration::from_secs(1), Duration::ZERO);
        assert_eq!([short, short, long, short].map(|work| judged(&places, work, short)), [134, 140, 128, 134]);
        assert_eq!((0..100).map(|_| judged(&places, short, short)).max(), Some(1_000));
        assert_eq!((0..100).map(|_| judged(&places, long, short)).min(), Some(PLACES_MIN));
    }

    #[test]
    fn busy_threads_take_places_away_as_long_as_there_are_many_and_add_none() {
        let places = places(1_000);
        let (late, soon) = (Duration::from_millis(20), Duration::ZERO);
        assert_eq!(judged(&places, soon, late), PLACES_MIN, "there are not many");
        assert_eq!((0..100).map(|_| judged(&places, soon, soon)).max(), Some(1_000));
        assert_eq!((0..100).map(|_| judged(&places, soon, late)).min(), Some(PLACES_MANY));
    }

    #[test]
    fn places_that_are_added_go_to_those_who_wait_and_not_to_whoever_comes_next() {
        let places = places(1_000);
        let mut held: Vec<_> = std::iter::from_fn(|| places.shared.take_or_queue().ok()).take(PLACES_MIN).collect();
        let mut waiting: Vec<_> =
            (0..8).map(|_| places.shared.take_or_queue().err().expect("all are taken").0).collect();
        assert_eq!(judged(&places, Duration::ZERO, Duration::ZERO), PLACES_MIN + 6);
        drop(held.pop());
        let called = waiting.iter_mut().filter_map(|called| called.try_recv().ok()).collect::<Vec<_>>();
        assert_eq!((called.len(), places.count().taken), (7, PLACES_MIN + 6));
        assert!(places.shared.take_or_queue().is_err(), "one still waits");
    }

    #[test]
    fn a_larger_crowd_is_refused_later_within_bounds() {
        let expected = [REFUSED_AFTER, REFUSED_AFTER, Duration::from_millis(500), REFUSED_AFTER_MAX];
        assert_eq!([0, 160, 1_000, 100_000].map(refused_after), expected);
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
            let window = Window::begin(Instant::now(), Effort::default(), (0, Duration::ZERO));
            let (places, crowd) = (state.places, VecDeque::new());
            let (slow_since, overloaded) = (None, None);
            std::mem::replace(&mut *state, State { places, taken: 0, crowd, slow_since, overloaded, window })
        }
    }
}
