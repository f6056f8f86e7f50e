//! Whether there are too many places for calls or too few, and whether more is asked than can be done, by what was seen
//! since this was last judged.

use std::time::{Duration, Instant};

/// How often it is judged.
const JUDGED_EVERY: Duration = Duration::from_millis(100);

/// How long a call may hold its place on average, beside two commits: the one that was under way when it came, and its
/// own. Above this, calls wait for one another or for a thread, and fewer at once are as fast.
const HELD_MAX: Duration = Duration::from_millis(2);

/// How long calls may wait for a place on average, whatever comes of it.
const WAIT_MAX: Duration = Duration::from_millis(16);

/// How many times as long as they hold a place they may wait for one.
const WAIT_MAX_OF_HELD: u32 = 2;

/// Tells how many commits there were so far, and how long they took together. Both only grow.
pub type CommitsSoFar = Box<dyn Fn() -> (u64, Duration) + Send + Sync>;

/// How many places there should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Fewer than there are.
    Fewer,
    /// As many.
    AsMany,
    /// More.
    More,
}

/// Times of one kind, and their sum.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    count: u32,
    sum: Duration,
}

/// What was seen since it was last judged.
pub(super) struct Window {
    since: Instant,
    /// What had been committed by then.
    commits: (u64, Duration),
    held: Times,
    waits: Times,
    /// Whether somebody found no place.
    pub(super) was_full: bool,
}

impl Times {
    fn add(&mut self, time: Duration) {
        self.count = self.count.saturating_add(1);
        self.sum = self.sum.saturating_add(time);
    }

    fn mean(self) -> Duration {
        self.sum / self.count.max(1)
    }
}

impl Window {
    pub(super) fn begin(since: Instant, commits: (u64, Duration)) -> Window {
        Window { since, commits, held: Times::default(), waits: Times::default(), was_full: false }
    }

    /// A place was given back that was held for so long.
    pub(super) fn note_held(&mut self, time: Duration) {
        self.held.add(time);
    }

    /// A place was given to somebody who had waited for so long.
    pub(super) fn note_wait(&mut self, time: Duration) {
        self.waits.add(time);
    }

    /// Whether it is time to judge.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) >= JUDGED_EVERY
    }

    /// Judges the number of places, by the commits so far. As long as all find a place, it is right, and a window in which
    /// nothing was given back tells nothing.
    pub(super) fn verdict(&self, commits: (u64, Duration)) -> Verdict {
        let held_max = HELD_MAX + 2 * mean_since(self.commits, commits);
        match self.was_full && self.held.count > 0 {
            false => Verdict::AsMany,
            true if self.held.mean() > held_max => Verdict::Fewer,
            true => Verdict::More,
        }
    }

    /// Whether those who got a place had waited for too long: for far longer than they are then worked on.
    pub(super) fn was_slow(&self) -> bool {
        self.waits.mean() > WAIT_MAX.max(self.held.mean() * WAIT_MAX_OF_HELD)
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

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn window(was_full: bool, held: &[u64], waits: &[u64]) -> Window {
        let mut window = Window { was_full, ..Window::begin(Instant::now(), (7, millis(700))) };
        held.iter().for_each(|time| window.note_held(millis(*time)));
        waits.iter().for_each(|time| window.note_wait(millis(*time)));
        window
    }

    /// Judges after two commits of two milliseconds each.
    fn judged(was_full: bool, held: &[u64]) -> Verdict {
        window(was_full, held, &[]).verdict((9, millis(704)))
    }

    #[test]
    fn calls_that_hold_places_for_longer_than_two_commits_and_a_bit_want_fewer_and_others_more() {
        assert_eq!((judged(true, &[6, 6]), judged(true, &[6, 7])), (Verdict::More, Verdict::Fewer));
    }

    #[test]
    fn where_all_found_a_place_or_nothing_was_given_back_their_number_stays() {
        let judged = [judged(false, &[99]), judged(false, &[1]), judged(true, &[])];
        assert_eq!(judged, [Verdict::AsMany; 3]);
    }

    #[test]
    fn waits_are_too_long_when_their_mean_is_above_a_bound_and_far_above_the_time_of_work() {
        let was_slow = |held: &[u64], waits: &[u64]| window(true, held, waits).was_slow();
        assert!(!was_slow(&[], &[]) && !was_slow(&[1], &[16, 16]) && !was_slow(&[20], &[40, 40]));
        assert!(was_slow(&[1], &[16, 17]) && was_slow(&[20], &[40, 41]) && !was_slow(&[1], &[0, 0, 48]));
    }

    #[test]
    fn it_is_judged_every_so_often() {
        let start = Instant::now();
        let window = Window::begin(start, (1, Duration::ZERO));
        assert!(!window.is_over(start + JUDGED_EVERY / 2) && window.is_over(start + JUDGED_EVERY));
    }
}
