//! Counts of the last minute.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use till_actors::PaymentCounts;

use crate::counted::{calls_answered, connections_refused};
use crate::service::{Service, Shared};

/// The time that is counted, at least; less only when the server has not run for as long.
const MINUTE: Duration = Duration::from_secs(60);

/// The time between two samples of the totals.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(5);

/// Totals since the start of the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Totals {
    calls: u64,
    connections_refused: u64,
    payments: PaymentCounts,
}

impl Totals {
    fn of(service: &Service) -> Totals {
        let connections_refused = connections_refused();
        Totals { calls: calls_answered(), connections_refused, payments: service.engine().counts().records().payments }
    }
}

/// The counts of the last minute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MinuteCounts {
    /// Calls for each second, rounded up: 0 means none at all.
    pub calls_per_second: u64,
    pub connections_refused: u64,
    pub payments: PaymentCounts,
}

/// Samples of the totals, taken every few seconds.
#[derive(Debug, Default)]
pub(super) struct LastMinute {
    /// The oldest first: the last one that is at least a minute old, and those after it.
    samples: Mutex<VecDeque<(Instant, Totals)>>,
}

impl LastMinute {
    /// Takes samples of a service's counts until the service has ended. Must be called within an actix system.
    #[must_use]
    pub(super) fn start(service: &Shared) -> Arc<LastMinute> {
        let last_minute = Arc::new(LastMinute::default());
        last_minute.keep(Instant::now(), Totals::of(service));
        actix_web::rt::spawn(take_samples(Arc::clone(&last_minute), Arc::downgrade(service)));
        last_minute
    }

    /// The counts until now.
    #[must_use]
    pub(super) fn counts(&self, service: &Service) -> MinuteCounts {
        self.count_until(Instant::now(), Totals::of(service))
    }

    fn keep(&self, now: Instant, totals: Totals) {
        let mut samples = self.samples.lock();
        samples.push_back((now, totals));
        while samples.get(1).is_some_and(|(at, _)| now.saturating_duration_since(*at) >= MINUTE) {
            samples.pop_front();
        }
    }

    fn count_until(&self, now: Instant, totals: Totals) -> MinuteCounts {
        let samples = self.samples.lock();
        let Some((at, earlier)) = samples.front() else { return MinuteCounts::default() };
        let seconds = now.saturating_duration_since(*at).as_secs().max(1);
        let calls_per_second = totals.calls.saturating_sub(earlier.calls).div_ceil(seconds);
        let connections_refused = totals.connections_refused.saturating_sub(earlier.connections_refused);
        MinuteCounts {
            calls_per_second,
            connections_refused,
            payments: totals.payments.increase_since(&earlier.payments),
        }
    }
}

async fn take_samples(last_minute: Arc<LastMinute>, service: Weak<Service>) {
    loop {
        tokio::time::sleep(SAMPLE_INTERVAL).await;
        let Some(service) = service.upgrade() else { return };
        last_minute.keep(Instant::now(), Totals::of(&service));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(calls: u64) -> Totals {
        Totals {
            calls,
            connections_refused: calls,
            payments: PaymentCounts { successful: calls / 2, ..PaymentCounts::default() },
        }
    }

    #[test]
    fn counts_are_those_of_the_last_minute_or_since_the_start() {
        let (last_minute, start) = (LastMinute::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        last_minute.keep(start, totals(0));
        let counts = last_minute.count_until(at(10), totals(31));
        assert_eq!((counts.calls_per_second, counts.payments.successful), (4, 15), "31 calls in 10 s, rounded up");
        for sample in 1..=40_u64 {
            last_minute.keep(at(5 * sample), totals(100 * sample));
        }
        let counts = last_minute.count_until(at(200), totals(4_000));
        assert_eq!((counts.calls_per_second, counts.payments.successful), (20, 600), "1,200 calls in 60 s");
        assert!(last_minute.samples.lock().len() <= 13, "older samples are dropped");
    }
}
