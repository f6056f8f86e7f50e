//! Limits on the rate of calls.

use std::hash::Hash;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota};
use parking_lot::RwLock;

use crate::api_error::ApiError;

/// The number of remembered keys at which idle ones are first removed.
const KEYS_BEFORE_SWEEP: usize = 10_000;

/// The limit of remembered keys, some 20 MB. When more keys than this call within the time of a burst, all are
/// forgotten, and each may call as after a pause.
const KEYS_MAX: usize = 200_000;

/// A rate limit for each of many keys. A key is any value that tells callers apart, such as an installation and an
/// address.
pub struct CallsPerSecond<K: Clone + Hash + Eq> {
    limiter: RwLock<DefaultKeyedRateLimiter<K>>,
    quota: Quota,
    calls: NonZeroU32,
    /// The owner of the calls, for the message to a refused caller.
    of: &'static str,
    clock: DefaultClock,
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
        let quota = Quota::per_second(calls).allow_burst(burst);
        CallsPerSecond {
            limiter: RwLock::new(DefaultKeyedRateLimiter::keyed(quota)),
            quota,
            calls,
            of,
            clock: DefaultClock::default(),
            sweep_at: AtomicUsize::new(KEYS_BEFORE_SWEEP),
        }
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
        let limiter = self.limiter.read();
        let has_too_many = limiter.len() >= self.sweep_at.load(Ordering::Relaxed) && !self.sweep(&limiter);
        let counted = limiter.check_key_n(key, calls.min(self.quota.burst_size())).unwrap_or(Ok(()));
        let counted = counted.map_err(|not_until| {
            let wait = not_until.wait_time_from(self.clock.now());
            let seconds = u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1);
            ApiError::rate_limited(self.calls.get(), self.of, seconds)
        });
        drop(limiter);
        if has_too_many {
            *self.limiter.write() = DefaultKeyedRateLimiter::keyed(self.quota);
            self.sweep_at.store(KEYS_BEFORE_SWEEP, Ordering::Relaxed);
        }
        counted
    }

    /// Forgets idle keys. Returns true when enough of them were removed.
    fn sweep(&self, limiter: &DefaultKeyedRateLimiter<K>) -> bool {
        limiter.retain_recent();
        let left = limiter.len();
        self.sweep_at.store((2 * left).clamp(KEYS_BEFORE_SWEEP, KEYS_MAX), Ordering::Relaxed);
        left < KEYS_MAX
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
        assert!(locked_len(&calls) < KEYS_MAX, "{}", locked_len(&calls));
        assert!(calls.count(&0).is_ok() && calls.count(&0).is_err(), "it goes on counting");
    }

    fn locked_len(calls: &CallsPerSecond<usize>) -> usize {
        calls.limiter.read().len()
    }
}
