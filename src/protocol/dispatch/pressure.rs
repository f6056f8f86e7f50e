//! Whether there are too many places for calls or too few, by what the calls took since this was last judged.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often it is judged.
const JUDGED_EVERY: Duration = Duration::from_millis(100);

/// How long a call that changes something may be worked on on average, beside two commits: the one that was under way when
/// it came, and its own. Above this, calls wait for one another, and fewer at once are as fast.
const WORK_MAX: Duration = Duration::from_millis(8);

/// How long it may take the web server's threads on average to go on with a call that was given a place. Above this, they
/// have more to do than they can, and every call waits for them several times; fewer at once keep them as busy.
const DELAY_MAX: Duration = Duration::from_millis(5);

/// Tells what was done for calls so far.
pub type EffortSoFar = Box<dyn Fn() -> Effort + Send + Sync>;

/// What was done for calls that change something. All of it only grows.
#[derive(Debug, Clone, Copy, Default)]
pub struct Effort {
    /// How many commits there were, and how long they took together.
    pub commits: (u64, Duration),
    /// How many calls were worked on, and how long that took together: from their hand-over until they could be
    /// answered. How long it takes the web server's threads to hand them over, and to write their answers, is left out:
    /// that grows with the number of those who ask, and with places only when these are far too many.
    pub calls: (u64, Duration),
}

/// How long it took threads to go on with calls that were given a place.
#[derive(Debug, Default)]
pub(super) struct Delays {
    count: AtomicU64,
    nanos: AtomicU64,
}

impl Delays {
    pub(super) fn note(&self, delay: Duration) {
        self.nanos.fetch_add(u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn so_far(&self) -> (u64, Duration) {
        (self.count.load(Ordering::Relaxed), Duration::from_nanos(self.nanos.load(Ordering::Relaxed)))
    }
}

/// How many places there should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Fewer than there are, but for the least number.
    Fewer,
    /// Fewer than there are, if there are many.
    NotMany,
    /// As many.
    AsMany,
    /// More.
    More,
}

/// What was seen since it was last judged.
pub(super) struct Window {
    since: Instant,
    /// What had been done by then.
    effort: Effort,
    delays: (u64, Duration),
    /// Whether somebody found no place.
    pub(super) was_full: bool,
}

impl Window {
    pub(super) const fn begin(since: Instant, effort: Effort, delays: (u64, Duration)) -> Window {
        Window { since, effort, delays, was_full: false }
    }

    /// Whether it is time to judge.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) >= JUDGED_EVERY
    }

    /// Judges by what was done by now. As long as all find a place, their number is right, and one that nothing was worked
    /// on in tells nothing.
    pub(super) fn verdict(&self, effort: Effort, delays: (u64, Duration)) -> Verdict {
        let work_max = WORK_MAX + 2 * mean_since(self.effort.commits, effort.commits);
        let is_slow = mean_since(self.effort.calls, effort.calls) > work_max;
        let is_busy = mean_since(self.delays, delays) > DELAY_MAX;
        match self.was_full && effort.calls.0 > self.effort.calls.0 {
            false => Verdict::AsMany,
            true if is_slow => Verdict::Fewer,
            true if is_busy => Verdict::NotMany,
            true => Verdict::More,
        }
    }
}

/// What each took between two counts.
fn mean_since(before: (u64, Duration), now: (u64, Duration)) -> Duration {
    let count = u32::try_from(now.0.saturating_sub(before.0)).unwrap_or(u32::MAX);
    now.1.saturating_sub(before.1) / count.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Judges two calls that took so many milliseconds each, two commits of two each, and a delay.
    fn judged(was_full: bool, call_millis: u64, delay_millis: u64) -> Verdict {
        let millis = Duration::from_millis;
        let before = Effort { commits: (7, millis(700)), calls: (5, millis(900)) };
        let window = Window { was_full, ..Window::begin(Instant::now(), before, (3, millis(1_000))) };
        let calls = (7, millis(900 + 2 * call_millis));
        window.verdict(Effort { commits: (9, millis(704)), calls }, (4, millis(1_000 + delay_millis)))
    }

    #[test]
    fn calls_that_take_longer_than_two_commits_and_a_bit_want_fewer_places_and_others_more() {
        assert_eq!((judged(true, 12, 0), judged(true, 13, 0)), (Verdict::More, Verdict::Fewer));
    }

    #[test]
    fn threads_that_take_long_to_go_on_want_not_many_places() {
        assert_eq!((judged(true, 1, 5), judged(true, 1, 6)), (Verdict::More, Verdict::NotMany));
    }

    #[test]
    fn where_all_found_a_place_or_nothing_was_done_their_number_stays() {
        assert_eq!((judged(false, 99, 0), judged(false, 1, 0)), (Verdict::AsMany, Verdict::AsMany));
        let effort = Effort { commits: (1, Duration::ZERO), calls: (2, Duration::ZERO) };
        let window = Window { was_full: true, ..Window::begin(Instant::now(), effort, (0, Duration::ZERO)) };
        assert_eq!(window.verdict(effort, (0, Duration::ZERO)), Verdict::AsMany);
    }

    #[test]
    fn it_is_judged_every_so_often() {
        let (start, effort) = (Instant::now(), Effort::default());
        let window = Window::begin(start, effort, (0, Duration::ZERO));
        assert!(!window.is_over(start + JUDGED_EVERY / 2) && window.is_over(start + JUDGED_EVERY));
    }
}
