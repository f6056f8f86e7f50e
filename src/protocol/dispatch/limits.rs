//! Bounds that a gate or an endpoint is built from.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota};
use parking_lot::{Mutex, MutexGuard, RwLock};

use crate::protocol::api_error::ApiError;

/// When to come back after being turned away for too much work, in seconds.
const RETRY_AFTER_SECONDS: u32 = 1;

/// Keys that are remembered before those that have been quiet are forgotten.
const KEYS_BEFORE_SWEEP: usize = 10_000;

/// Keys that are remembered at most, some 20 MB. When more than these call within a second, all are forgotten, and
/// each may call as after a pause.
const KEYS_MAX: usize = 200_000;

/// How many calls each of many has under way at once. Only those with a call are remembered.
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
    pub fn enter(&self, key: K) -> Result<PlaceOf<K>, ApiError> {
        let mut now = locked(&self.now);
        let count = now.entry(key.clone()).or_default();
        if *count >= self.limit {
            return Err(ApiError::overloaded(RETRY_AFTER_SECONDS));
        }
        *count += 1;
        let standing = Standing { calls: *count, callers: now.len() };
        Ok(PlaceOf { key, standing, now: Arc::clone(&self.now) })
    }
}

/// How many calls a caller has under way, and how many callers there are that have some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Its calls.
    pub calls: usize,
    /// The callers, itself included.
    pub callers: usize,
}

impl Standing {
    /// Whether it has at most half of its even share of so many places. All such calls together take half of them at
    /// most, however many callers there are.
    #[must_use]
    pub const fn is_modest(self, places: usize) -> bool {
        self.calls.saturating_mul(self.callers).saturating_mul(2) <= places
    }
}

/// A place of one key's. Dropping it gives it back.
#[derive(Debug)]
pub struct PlaceOf<K: Clone + Ord> {
    key: K,
    /// How it stood when this was taken.
    standing: Standing,
    now: Arc<Mutex<BTreeMap<K, usize>>>,
}

impl<K: Clone + Ord> PlaceOf<K> {
    /// How its caller stood when it was taken, this call included.
    #[must_use]
    pub const fn standing(&self) -> Standing {
        self.standing
    }
}

impl<K: Clone + Ord> Drop for PlaceOf<K> {
    fn drop(&mut self) {
        if let Entry::Occupied(mut place) = locked(&self.now).entry(self.key.clone()) {
            match place.get().saturating_sub(1) {
                0 => {
                    place.remove();
                }
                left => *place.get_mut() = left,
            }
        }
    }
}

/// A count is whole between any two steps, so a panic elsewhere has not broken it.
fn locked<K>(now: &Mutex<BTreeMap<K, usize>>) -> MutexGuard<'_, BTreeMap<K, usize>> {
    now.lock()
}

/// How often each of many may call. Keys are whatever tells them apart: an installation and an address.
pub struct CallsPerSecond<K: Clone + Hash + Eq> {
    limiter: RwLock<DefaultKeyedRateLimiter<K>>,
    quota: Quota,
    /// The merchant whose calls a key stands for, as its caller is told.
    of: &'static str,
    clock: DefaultClock,
    /// Keys at which the quiet ones are looked for: twice those that were left the last time, so that looking costs
    /// little however many there are.
    sweep_at: AtomicUsize,
}

impl<K: Clone + Hash + Eq> CallsPerSecond<K> {
    /// So many a second, and as many at once after a pause. A caller that is turned away is told that they were calls
    /// `of` one of these.
    #[must_use]
    pub fn new(calls: NonZeroU32, of: &'static str) -> CallsPerSecond<K> {
        let quota = Quota::per_second(calls);
        CallsPerSecond {
            limiter: RwLock::new(DefaultKeyedRateLimiter::keyed(quota)),
            quota,
            of,
            clock: DefaultClock::default(),
            sweep_at: AtomicUsize::new(KEYS_BEFORE_SWEEP),
        }
    }

    /// Counts one call.
    ///
    /// # Errors
    /// `RATE_LIMITED`, with the whole seconds until the next may come.
    pub fn count(&self, key: &K) -> Result<(), ApiError> {
        let limiter = self.limiter.read();
        let has_too_many = limiter.len() >= self.sweep_at.load(Ordering::Relaxed) && !self.sweep(&limiter);
        let counted = limiter.check_key(key).map_err(|not_until| {
            let wait = not_until.wait_time_from(self.clock.now());
            let seconds = u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1);
            ApiError::rate_limited(self.quota.burst_size().get(), self.of, seconds)
        });
        drop(limiter);
        if has_too_many {
            *self.limiter.write() = DefaultKeyedRateLimiter::keyed(self.quota);
            self.sweep_at.store(KEYS_BEFORE_SWEEP, Ordering::Relaxed);
        }
        counted
    }

    /// Forgets keys that have been quiet; whether that was enough.
    fn sweep(&self, limiter: &DefaultKeyedRateLimiter<K>) -> bool {
        limiter.retain_recent();
        let left = limiter.len();
        self.sweep_at.store((2 * left).clamp(KEYS_BEFORE_SWEEP, KEYS_MAX), Ordering::Relaxed);
        left < KEYS_MAX
    }
}

/// What of an address tells callers apart: all of one of IPv4, of one of IPv6 the network, since whoever has one
/// has 2^64 addresses in it.
#[must_use]
pub fn address_group(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::api_error::Code;

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
    fn a_place_knows_how_its_caller_stood_among_the_others() {
        let calls = CallsInFlightPerKey::new(3);
        let held: Vec<_> = ["a", "a", "b", "a"].into_iter().filter_map(|key| calls.enter(key).ok()).collect();
        let standings: Vec<_> = held.iter().map(PlaceOf::standing).collect();
        assert_eq!(standings, [(1, 1), (2, 1), (1, 2), (3, 2)].map(|(calls, callers)| Standing { calls, callers }));
    }

    #[test]
    fn all_calls_of_the_modest_take_half_of_the_places_at_most() {
        for (calls, callers, places) in [(32, 1, 64), (16, 2, 64), (1, 32, 64)] {
            let standing = Standing { calls, callers };
            assert!(standing.is_modest(places) && !standing.is_modest(places - 1), "{standing:?}");
            assert!(!Standing { calls: calls + 1, callers }.is_modest(places), "{standing:?}");
            assert!(!Standing { calls, callers: callers + 1 }.is_modest(places), "{standing:?}");
        }
        assert!(!Standing { calls: usize::MAX, callers: usize::MAX }.is_modest(64));
    }

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

    #[test]
    fn addresses_of_one_network_of_ipv6_are_one_caller() {
        let group = |text: &str| text.parse().map(address_group);
        assert_eq!(group("2001:db8::1"), group("2001:db8::ffff:1:2:3"));
        assert_ne!(group("2001:db8::1"), group("2001:db8:0:1::1"));
        assert_ne!(group("192.0.2.1"), group("192.0.2.2"));
        assert_eq!(group("::ffff:192.0.2.1"), group("192.0.2.1"));
    }
}
