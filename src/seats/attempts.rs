//! Limits on wrong attempts to sign in: contract, section 13.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use till_protocol::api_error::ApiError;
use till_protocol::connection::address_group;

/// The time for which failures count, from the first of them on.
const WINDOW: Duration = Duration::from_secs(15 * 60);

/// Failures of one name from one address.
const OF_NAME_MAX: u32 = 10;

/// Failures of one address.
const OF_ADDRESS_MAX: u32 = 50;

/// The limit of counts: about 8 MiB. Above it those that are over are dropped, then all.
const COUNTS_MAX: usize = 65_536;

/// An address, and the digest of a name for the count of both together.
type Counted = (IpAddr, Option<[u8; 16]>);

struct Failures {
    count: u32,
    until: Instant,
}

/// Counts of failures. An attempt counts as one until it has succeeded, so that attempts at the same time are no more.
#[derive(Default)]
pub(crate) struct Attempts(Mutex<HashMap<Counted, Failures>>);

impl Attempts {
    /// Begins an attempt to sign in under a name, from an address.
    ///
    /// # Errors
    /// `RATE_LIMITED` until the failures of both, or of the address, are over.
    pub(crate) fn begin(&self, address: IpAddr, name: &str) -> Result<(), ApiError> {
        self.begin_at(address, name, Instant::now())
    }

    fn begin_at(&self, address: IpAddr, name: &str, now: Instant) -> Result<(), ApiError> {
        let mut counts = self.0.lock();
        if counts.len() >= COUNTS_MAX {
            counts.retain(|_, failures| failures.until > now);
            if counts.len() >= COUNTS_MAX {
                counts.clear();
            }
        }
        let both = counted(address, name).into_iter().zip([OF_ADDRESS_MAX, OF_NAME_MAX]);
        let is_over =
            |(counted, max)| counts.get(&counted).filter(|failures| failures.until > now && failures.count >= max);
        if let Some(wait) = both.clone().filter_map(is_over).map(|failures| failures.until - now).max() {
            let seconds = u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1);
            return Err(ApiError::too_many("Too many attempts to sign in failed.", seconds));
        }
        for (counted, _) in both {
            let failures = counts.entry(counted).or_insert(Failures { count: 0, until: now + WINDOW });
            if failures.until <= now {
                *failures = Failures { count: 0, until: now + WINDOW };
            }
            failures.count += 1;
        }
        Ok(())
    }

    /// Ends an attempt that succeeded.
    pub(crate) fn succeeded(&self, address: IpAddr, name: &str) {
        let mut counts = self.0.lock();
        for counted in counted(address, name) {
            if let Some(failures) = counts.get_mut(&counted) {
                failures.count = failures.count.saturating_sub(1);
            }
        }
    }
}

fn counted(address: IpAddr, name: &str) -> [Counted; 2] {
    let address = address_group(address);
    let digest = blake3::hash(name.to_lowercase().as_bytes());
    [(address, None), (address, digest.as_bytes().first_chunk().copied())]
}

#[cfg(test)]
mod tests {
    use till_protocol::api_error::Code;

    use super::*;

    const HOME: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const AWAY: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    #[test]
    fn the_eleventh_failure_of_a_name_from_an_address_waits_for_15_minutes() {
        let (attempts, begun) = (Attempts::default(), Instant::now());
        let begin =
            |address, name: &str, seconds| attempts.begin_at(address, name, begun + Duration::from_secs(seconds));
        (0..10).for_each(|_| assert!(begin(HOME, "a@b.example", 0).is_ok()));
        let refused = begin(HOME, "A@b.example", 1).expect_err("the eleventh");
        assert_eq!((refused.code(), refused.retry_after_seconds()), (Code::RateLimited, Some(900)));
        assert!(begin(AWAY, "a@b.example", 1).is_ok() && begin(HOME, "c@b.example", 1).is_ok());
        assert!(begin(HOME, "a@b.example", 899).is_err() && begin(HOME, "a@b.example", 900).is_ok());
    }

    #[test]
    fn fifty_failures_of_an_address_are_the_last() {
        let attempts = Attempts::default();
        for name in 0..50 {
            assert!(attempts.begin(HOME, &name.to_string()).is_ok());
        }
        assert!(attempts.begin(HOME, "another").is_err() && attempts.begin(AWAY, "another").is_ok());
    }

    #[test]
    fn attempts_that_succeed_are_no_failures() {
        let attempts = Attempts::default();
        for _ in 0..100 {
            assert!(attempts.begin(HOME, "a").is_ok());
            attempts.succeeded(HOME, "a");
        }
    }

    #[test]
    fn no_more_counts_are_kept_than_the_limit() {
        let attempts = Attempts::default();
        for name in 0..u32::try_from(COUNTS_MAX).expect("few") {
            let address = IpAddr::V4(std::net::Ipv4Addr::from_bits(name));
            assert!(attempts.begin(address, "a").is_ok());
        }
        assert!(attempts.0.lock().len() <= COUNTS_MAX);
    }
}
