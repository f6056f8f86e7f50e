//! Histograms of latencies, in microseconds.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The longest latency that a histogram records, in microseconds: ten minutes. A longer one is recorded as this.
const MICROS_MAX: u64 = 600_000_000;

/// Significant digits of a run's latencies: an error of at most 0.1 %.
const RUN_DIGITS: u8 = 3;

/// Significant digits of an interval's: an error of at most 1 %, for a tenth of the memory.
const INTERVAL_DIGITS: u8 = 2;

/// A histogram for a whole run.
pub(super) fn of_a_run() -> Histogram<u64> {
    Histogram::new_with_bounds(1, MICROS_MAX, RUN_DIGITS).expect("the bounds are sound")
}

/// A histogram for an interval.
pub(super) fn of_an_interval() -> Histogram<u64> {
    Histogram::new_with_bounds(1, MICROS_MAX, INTERVAL_DIGITS).expect("the bounds are sound")
}

/// Records a latency.
pub(super) fn record(histogram: &mut Histogram<u64>, latency: Duration) {
    histogram.saturating_record(u64::try_from(latency.as_micros()).unwrap_or(MICROS_MAX).max(1));
}

/// A summary of latencies, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    /// The number of latencies.
    pub count: u64,
    /// The least latency.
    pub min: u64,
    /// The mean, rounded.
    pub mean: u64,
    /// Half of all are at most this.
    pub p50: u64,
    /// 90 % are at most this.
    pub p90: u64,
    /// 99 % are at most this.
    pub p99: u64,
    /// 99.9 % are at most this.
    pub p999: u64,
    /// The greatest latency.
    pub max: u64,
}

impl Latency {
    /// The summary of a histogram.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a mean is below its maximum")]
    pub(crate) fn of(histogram: &Histogram<u64>) -> Latency {
        Latency {
            count: histogram.len(),
            min: histogram.min(),
            mean: histogram.mean().round() as u64,
            p50: histogram.value_at_quantile(0.5),
            p90: histogram.value_at_quantile(0.9),
            p99: histogram.value_at_quantile(0.99),
            p999: histogram.value_at_quantile(0.999),
            max: histogram.max(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(latencies: impl IntoIterator<Item = u64>) -> Histogram<u64> {
        let mut histogram = of_a_run();
        latencies.into_iter().for_each(|micros| record(&mut histogram, Duration::from_micros(micros)));
        histogram
    }

    #[test]
    fn a_thousand_latencies_have_the_percentiles_that_they_have() {
        let latency = Latency::of(&histogram(1..=1000));
        assert_eq!((latency.count, latency.min, latency.max), (1000, 1, 1000));
        assert_eq!((latency.p50, latency.p90, latency.p99, latency.p999), (500, 900, 990, 999));
        assert_eq!(Latency::of(&of_a_run()), Latency::default());
    }

    #[test]
    fn a_latency_above_the_limit_is_recorded_as_the_limit() {
        let latency = Latency::of(&histogram([MICROS_MAX * 3]));
        assert!(latency.count == 1 && latency.max >= MICROS_MAX);
    }

    #[test]
    fn histograms_of_several_threads_merge_into_one() {
        let (mut even, odd) = (histogram((2..=1000).step_by(2)), histogram((1..=999).step_by(2)));
        assert!(even.add(&odd).is_ok());
        assert_eq!(Latency::of(&even), Latency::of(&histogram(1..=1000)));
    }
}
