//! Limits on the rate of calls.

use std::hash::Hash;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dashmap::DashMap;

use crate::api_error::ApiError;

/// The number of remembered keys at which idle ones are first removed.
const KEYS_BEFORE_SWEEP: usize = 10_000;

/// The limit of remembered keys, some 20 MB. When more keys than this call within the time of a burst, all are
/// forgotten, and each may call as after a pause.
const KEYS_MAX: usize = 200_000;

/// A rate limit for each of many keys. A key is any value that tells callers apart, such as an installation and an
/// address.
pub struct CallsPerSecond<K: Clone + Hash + Eq> {
    /// The instant up to which the calls of each key use up its rate (the generic cell rate algorithm, ITU-T I.371).
    used_until: DashMap<K, Instant>,
    calls: NonZeroU32,
    burst: NonZeroU32,
    /// The owner of the calls, for the message to a refused caller.
    of: &'static str,
    /// The number of keys at which idle ones are removed: twice the number that was left the last time, so that the
    /// cost per key stays small.
    sweep_at: AtomicUsize,
}

impl<K: Clone + Hash + Eq> CallsPerSecond<K> {
    /// Allows so many calls a second, and the same number at once after a pause. The message to a refused caller names
    /// the owner `of` the calls.
    #[must_use]
    pub fn new(calls: NonZeroU32, of: &'static str) -> CallsPerSecond<K> {
        CallsPerSecond::with_burst(calls, calls, of)
    }

    /// Allows so many calls a second, and `burst` at once after a pause.
    #[must_use]
    pub fn with_burst(calls: NonZeroU32, burst: NonZeroU32, of: &'static str) -> CallsPerSecond<K> {
        let sweep_at = AtomicUsize::new(KEYS_BEFORE_SWEEP);
        CallsPerSecond { used_until: DashMap::new(), calls, burst, of, sweep_at }
    }

    /// Counts one call.
    ///
    /// # Errors
    /// `RATE_LIMITED`, with the whole seconds until the next call may come.
    pub fn count(&self, key: &K) -> Result<(), ApiError> {
        self.count_as(key, NonZeroU32::MIN)
    }

    /// Counts one call as so many, at most as those of a burst.
    ///
    /// # Errors
    /// Like [`CallsPerSecond::count`].
    pub fn count_as(&self, key: &K, calls: NonZeroU32) -> Result<(), ApiError> {
        let now = Instant::now();
        if self.used_until.len() >= self.sweep_at.load(Ordering::Relaxed) {
            self.sweep(now);
        }
        let interval = Duration::from_secs(1) / self.calls.get();
        let mut used_until = self.used_until.entry(key.clone()).or_insert(now);
        let used_by_call = (*used_until).max(now) + interval * calls.min(self.burst).get();
        let wait = used_by_call.saturating_duration_since(now + interval * self.burst.get());
        if wait.is_zero() {
            *used_until = used_by_call;
            return Ok(());
        }
        let seconds = u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1);
        Err(ApiError::rate_limited(self.calls.get(), self.of, seconds))
    }

    /// Forgets idle keys, or all when too few are idle.
    fn sweep(&self, now: Instant) {
        self.used_until.retain(|_, used_until| *used_until > now);
        if self.used_until.len() >= KEYS_MAX {
            self.used_until.clear();
        }
        self.sweep_at.store((2 * self.used_until.len()).clamp(KEYS_BEFORE_SWEEP, KEYS_MAX), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api_error::Code;

    #[test]
    fn each_key_is_counted_for_itself() {
        let calls = CallsPerSecond::new(NonZeroU32::MIN, "one letter");
        assert!(calls.count(&"a").is_ok());
        let Err(refused) = calls.count(&"a") else { panic!("the second call within a second was let in") };
        assert!(refused.code() == Code::RateLimited && refused.retry_after_seconds() >= Some(1));
        assert!(
            refused.message().starts_with("The calls of one letter are limited to 1 a second."),
            "{}",
            refused.message()
        );
        assert!(calls.count(&"b").is_ok());
    }

    #[test]
    fn no_more_keys_are_remembered_than_the_limit_however_many_call() {
        let calls = CallsPerSecond::new(NonZeroU32::MIN, "one number");
        for key in 0..=KEYS_MAX {
            assert!(calls.count(&key).is_ok(), "{key}");
        }
        assert!(calls.used_until.len() < KEYS_MAX, "{}", calls.used_until.len());
        assert!(calls.count(&0).is_ok() && calls.count(&0).is_err(), "it goes on counting");
    }

    #[test]
    fn a_key_may_call_as_often_as_its_burst_at_once_and_then_at_the_rate() {
        let number = |number| NonZeroU32::new(number).expect("not 0");
        let calls = CallsPerSecond::with_burst(number(5), number(100), "one letter");
        assert!(calls.count_as(&"a", number(99)).is_ok() && calls.count_as(&"a", number(10)).is_err());
        assert!(calls.count(&"a").is_ok() && calls.count_as(&"a", number(50)).is_err());
        assert!(calls.count_as(&"b", number(1_000)).is_ok(), "it counts as those of a burst");
        std::thread::sleep(Duration::from_millis(200));
        assert!(calls.count(&"b").is_ok(), "a fifth of a second is over");
    }
}
