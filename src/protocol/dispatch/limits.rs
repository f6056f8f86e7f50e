//! Bounds that a gate or an endpoint is built from.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota};

use super::hooks::Permit;
use crate::protocol::api_error::{ApiError, Outcome};

/// When to come back after being turned away for too much work, in seconds.
const RETRY_AFTER_SECONDS: u32 = 1;

/// Keys that are remembered before those that have been quiet are forgotten.
const KEYS_BEFORE_SWEEP: usize = 10_000;

/// How many calls are worked on at once.
#[derive(Debug, Clone)]
pub struct CallsInFlight {
    now: Arc<AtomicUsize>,
    limit: usize,
}

impl CallsInFlight {
    /// At most `limit` at once.
    #[must_use]
    pub fn new(limit: usize) -> CallsInFlight {
        CallsInFlight { now: Arc::default(), limit }
    }

    /// Takes a place.
    ///
    /// # Errors
    /// `UNAVAILABLE` (`not_done`) when all are taken.
    pub fn enter(&self) -> Result<Permit, ApiError> {
        let place = Place(Arc::clone(&self.now));
        if self.now.fetch_add(1, Ordering::Relaxed) >= self.limit {
            return Err(ApiError::unavailable(Outcome::NotDone, RETRY_AFTER_SECONDS)); // Dropping the place gives it back.
        }
        Ok(Permit::holding(place))
    }
}

struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How many calls of each of many are worked on at once, so that one cannot take all places. Only those with
/// a call are remembered.
#[derive(Debug, Clone)]
pub struct CallsInFlightPerKey<K> {
    now: Arc<Mutex<BTreeMap<K, usize>>>,
    limit: usize,
}

impl<K: Clone + Ord + 'static> CallsInFlightPerKey<K> {
    /// At most `limit` at once for each.
    #[must_use]
    pub fn new(limit: usize) -> CallsInFlightPerKey<K> {
        CallsInFlightPerKey { now: Arc::default(), limit }
    }

    /// Takes a place of `key`'s.
    ///
    /// # Errors
    /// `UNAVAILABLE` (`not_done`) when all of them are taken.
    pub fn enter(&self, key: K) -> Result<Permit, ApiError> {
        let mut now = locked(&self.now);
        let count = now.entry(key.clone()).or_default();
        if *count >= self.limit {
            return Err(ApiError::unavailable(Outcome::NotDone, RETRY_AFTER_SECONDS));
        }
        *count += 1;
        Ok(Permit::holding(PlaceOf { key, now: Arc::clone(&self.now) }))
    }
}

struct PlaceOf<K: Ord> {
    key: K,
    now: Arc<Mutex<BTreeMap<K, usize>>>,
}

impl<K: Ord> Drop for PlaceOf<K> {
    fn drop(&mut self) {
        let mut now = locked(&self.now);
        let left = now.get_mut(&self.key).map_or(0, |count| {
            *count = count.saturating_sub(1);
            *count
        });
        if left == 0 {
            now.remove(&self.key);
        }
    }
}

/// A count is whole between any two steps, so a panic elsewhere has not broken it.
fn locked<K>(now: &Mutex<BTreeMap<K, usize>>) -> MutexGuard<'_, BTreeMap<K, usize>> {
    now.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How often each of many may call. Keys are whatever tells them apart: an installation and an address.
pub struct CallsPerSecond<K: Clone + Hash + Eq> {
    limiter: DefaultKeyedRateLimiter<K>,
    clock: DefaultClock,
}

impl<K: Clone + Hash + Eq> CallsPerSecond<K> {
    /// So many a second, and as many at once after a pause.
    #[must_use]
    pub fn new(calls: NonZeroU32) -> CallsPerSecond<K> {
        CallsPerSecond {
            limiter: DefaultKeyedRateLimiter::keyed(Quota::per_second(calls)),
            clock: DefaultClock::default(),
        }
    }

    /// Counts one call.
    ///
    /// # Errors
    /// `RATE_LIMITED`, with the whole seconds until the next may come.
    pub fn count(&self, key: &K) -> Result<(), ApiError> {
        if self.limiter.len() > KEYS_BEFORE_SWEEP {
            self.limiter.retain_recent();
        }
        self.limiter.check_key(key).map_err(|not_until| {
            let wait = not_until.wait_time_from(self.clock.now());
            ApiError::rate_limited(u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::api_error::Code;

    #[test]
    fn a_place_is_free_again_once_its_permit_is_dropped() {
        let calls = CallsInFlight::new(1);
        let first = calls.enter();
        assert!(first.is_ok());
        for _ in 0..3 {
            assert!(calls.enter().is_err_and(|error| error.code() == Code::Unavailable));
        }
        drop(first);
        assert!(calls.enter().is_ok());
    }

    #[test]
    fn places_are_counted_for_each_key_and_forgotten_when_free() {
        let calls = CallsInFlightPerKey::new(1);
        let first = calls.enter("a");
        assert!(first.is_ok() && calls.enter("b").is_ok());
        assert!(calls.enter("a").is_err_and(|error| error.code() == Code::Unavailable));
        drop(first);
        assert!(locked(&calls.now).is_empty());
        assert!(calls.enter("a").is_ok());
    }

    #[test]
    fn each_key_is_counted_for_itself() {
        let calls = CallsPerSecond::new(NonZeroU32::MIN);
        assert!(calls.count(&"a").is_ok());
        let refused = calls.count(&"a");
        assert!(
            refused.is_err_and(|error| error.code() == Code::RateLimited && error.retry_after_seconds() >= Some(1))
        );
        assert!(calls.count(&"b").is_ok());
    }
}
