//! The times at which calls are meant to be made.

use std::time::{Duration, Instant};

use crate::plan::Rates;

/// The rate of one thread, in calls a second, above which it does not wake for each call.
const DENSE: f64 = 20_000.0;

/// The delay with which it may wake then.
const DENSE_SLACK: Duration = Duration::from_millis(1);

/// Calls at fixed times. Each of n threads makes every n-th call.
#[derive(Debug, Clone)]
pub(crate) struct CallSchedule {
    /// The time at which the first call of all threads is meant to be made.
    pub(crate) start: Instant,
    /// The end of the time in which calls are meant to be made, exclusive.
    pub(crate) end: Instant,
    /// The rates of all threads together.
    pub(crate) rates: Rates,
    /// The number of threads.
    pub(crate) threads: u64,
    /// The index of this thread.
    pub(crate) thread: u64,
}

impl CallSchedule {
    /// The time at which this thread's call of this number is meant to be made; None after the end.
    pub(crate) fn intended(&self, number: u64) -> Option<Instant> {
        self.due_at(number).filter(|at| *at < self.end)
    }

    /// The number of this thread's calls that are meant to be made before a time.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "numbers of calls are far below 2^53, and times after the start are not negative"
    )]
    pub(crate) fn due_before(&self, time: Instant) -> u64 {
        let time = time.min(self.end);
        let passed = time.saturating_duration_since(self.start);
        let of_all_threads = self.rates.due_within(passed.as_secs_f64()) as u64;
        let about = of_all_threads.saturating_sub(self.thread).div_ceil(self.threads);
        // The inverse computation may be off by one.
        let is_not_before = |number: &u64| self.due_at(*number).is_none_or(|at| at >= time);
        (about.saturating_sub(1)..).find(is_not_before).unwrap_or(about)
    }

    /// The longest time after a call is due at which its thread may wake: zero, unless calls are so dense that waking
    /// for each would leave the thread no time to make them.
    #[expect(clippy::cast_precision_loss, reason = "a number of threads is far below 2^53")]
    pub(crate) fn slack(&self) -> Duration {
        if self.rates.highest() > DENSE * self.threads as f64 { DENSE_SLACK } else { Duration::ZERO }
    }

    /// The time is computed from the number each time, so that rounding errors do not add up. None when it never comes.
    #[expect(clippy::cast_precision_loss, reason = "numbers of calls are far below 2^53")]
    fn due_at(&self, number: u64) -> Option<Instant> {
        let seconds = self.rates.due_at((number * self.threads + self.thread) as f64);
        self.start.checked_add(Duration::try_from_secs_f64(seconds).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(rate: f64, threads: u64, thread: u64) -> CallSchedule {
        let (start, rates) = (Instant::now(), Rates::steady(rate));
        CallSchedule { start, end: start + Duration::from_secs(1), rates, threads, thread }
    }

    fn offsets(pace: &CallSchedule) -> Vec<u128> {
        (0..).map_while(|number| pace.intended(number)).map(|at| (at - pace.start).as_micros()).collect()
    }

    #[test]
    fn calls_are_meant_to_be_made_at_equal_distances_up_to_the_end() {
        assert_eq!(offsets(&pace(4.0, 1, 0)), [0, 250_000, 500_000, 750_000]);
    }

    #[test]
    fn threads_take_turns() {
        assert_eq!(offsets(&pace(4.0, 2, 0)), [0, 500_000]);
        assert_eq!(offsets(&pace(4.0, 2, 1)), [250_000, 750_000]);
    }

    #[test]
    fn the_number_of_due_calls_agrees_with_their_times() {
        for (rate, threads) in [(3.0, 1), (7.0, 2), (30_000.0, 3)] {
            let pace = pace(rate, threads, threads - 1);
            for millis in [0, 1, 333, 500, 999, 5_000] {
                let time = pace.start + Duration::from_millis(millis);
                let counted = (0..).map_while(|number| pace.intended(number)).filter(|at| *at < time).count();
                assert_eq!(usize::try_from(pace.due_before(time)), Ok(counted), "{millis} ms of {rate}");
            }
        }
    }

    #[test]
    fn a_rising_rate_brings_calls_closer_together() {
        let rates = Rates::staged(&"0:0,1s:8".parse().unwrap_or_else(|fault| panic!("{fault}")), Duration::ZERO);
        let pace = CallSchedule { rates, ..pace(1.0, 1, 0) };
        assert_eq!(offsets(&pace), [0, 500_000, 707_106, 866_025]);
        assert_eq!(pace.due_before(pace.start + Duration::from_millis(600)), 2);
    }

    #[test]
    fn distances_that_are_no_whole_number_do_not_add_up_to_a_drift() {
        let offsets = offsets(&pace(3.0, 1, 0));
        assert_eq!(offsets, [0, 333_333, 666_666]);
        assert_eq!(pace(30_000.0, 1, 0).intended(29_999).map(|_| ()), Some(()));
        assert_eq!(pace(30_000.0, 1, 0).intended(30_000), None);
    }
}
