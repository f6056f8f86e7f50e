//! A run cut into intervals.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::latency;

/// The possible lengths of an interval, in milliseconds: a run uses the shortest that gives at most [`INTERVALS_MAX`].
const LENGTHS_MILLIS: [u64; 8] = [50, 100, 250, 500, 1_000, 5_000, 15_000, 60_000];

/// A chart cannot show more points than this apart.
const INTERVALS_MAX: u128 = 120;

/// The number of calls from which on their 99th percentile is another one than their maximum, with some to spare.
const CALLS_OF_AN_INTERVAL: u64 = 200;

/// The results of one thread in one interval.
#[derive(Debug, Clone)]
pub(crate) struct Interval {
    /// The number of the interval from the begin of the measurement.
    pub(crate) index: u64,
    /// Latencies of the operations that succeeded in it.
    pub(crate) latencies: Histogram<u64>,
    /// The number of operations that failed in it.
    pub(crate) failures: u64,
}

impl Interval {
    /// An empty interval.
    pub(crate) fn new(index: u64) -> Interval {
        Interval { index, latencies: latency::of_an_interval(), failures: 0 }
    }

    /// Adds the results of another interval.
    pub(crate) fn merge(&mut self, other: &Interval) {
        self.latencies.add(&other.latencies).expect("all intervals have the same bounds");
        self.failures += other.failures;
    }

    /// The length of the intervals of a run, as threads send them: a second at most.
    pub(crate) fn length(duration: Duration) -> Duration {
        shown_length(duration).min(Duration::from_secs(1))
    }
}

/// The length of the intervals of a run, as reports show them.
fn shown_length(duration: Duration) -> Duration {
    let fits = |millis: &u64| duration.as_millis() <= u128::from(*millis) * INTERVALS_MAX;
    Duration::from_millis(LENGTHS_MILLIS.into_iter().find(fits).unwrap_or(60_000))
}

/// The results of all threads, interval by interval.
#[derive(Debug)]
pub(crate) struct Timeline {
    pub(crate) length: Duration,
    /// The number of intervals of threads in one of these.
    parts: u64,
    intervals: BTreeMap<u64, Interval>,
}

/// The results of one interval as reports show them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TimelinePoint {
    /// The interval's begin, in milliseconds from the begin of the measurement.
    pub at_millis: u64,
    /// Operations that succeeded in it, per second.
    pub rate: f64,
    /// Operations that failed in it, per second.
    pub failure_rate: f64,
    /// The median latency, in microseconds.
    pub p50: u64,
    /// The 99th percentile, in microseconds.
    pub p99: u64,
    /// The greatest latency, in microseconds.
    pub max: u64,
}

impl Timeline {
    /// The timeline of a run that takes so long.
    pub(crate) fn new(duration: Duration) -> Timeline {
        let length = shown_length(duration);
        let parts = length.as_millis() / Interval::length(duration).as_millis();
        Timeline { length, parts: u64::try_from(parts).expect("an interval is short"), intervals: BTreeMap::new() }
    }

    /// Adds an interval of one thread.
    pub(crate) fn add(&mut self, interval: &Interval) {
        let index = interval.index / self.parts;
        self.intervals.entry(index).or_insert_with(|| Interval::new(index)).merge(interval);
    }

    /// The same with intervals that are so long that each has at least [`CALLS_OF_AN_INTERVAL`] on average, as far as
    /// ten are left.
    pub(crate) fn with_calls(&self, duration: Duration) -> Timeline {
        let calls: u64 = self.intervals.values().map(|interval| interval.latencies.len()).sum();
        let count = u64::try_from(duration.as_millis() / self.length.as_millis().max(1)).unwrap_or(u64::MAX);
        let factor = (CALLS_OF_AN_INTERVAL * count).div_ceil(calls.max(1)).clamp(1, (count / 10).max(1));
        let length = self.length * u32::try_from(factor).unwrap_or(u32::MAX);
        let mut longer = Timeline { length, parts: factor, intervals: BTreeMap::new() };
        self.intervals.values().for_each(|interval| longer.add(interval));
        longer
    }

    /// All intervals of the first `duration`, also those in which nothing ended. The last may be shorter than others;
    /// it is left out below half of their length, because its figures would be unreliable.
    pub(crate) fn moments(&self, duration: Duration) -> Vec<TimelinePoint> {
        let (length, length_millis) = (self.length, self.length.as_millis().max(1));
        let count = (duration.as_millis() + length_millis / 2) / length_millis;
        let count = u64::try_from(count.max(1)).expect("a run has few intervals");
        let span = |index: u64| length.min(duration.saturating_sub(length * u32::try_from(index).unwrap_or(u32::MAX)));
        (0..count).map(|index| self.moment(index, span(index))).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    fn moment(&self, index: u64, span: Duration) -> TimelinePoint {
        let empty = Interval::new(index);
        let Interval { index: _, latencies, failures } = self.intervals.get(&index).unwrap_or(&empty);
        let per_second = |count: u64| count as f64 / span.as_secs_f64().max(0.001);
        TimelinePoint {
            at_millis: index * u64::try_from(self.length.as_millis()).expect("an interval is short"),
            rate: per_second(latencies.len()),
            failure_rate: per_second(*failures),
            p50: latencies.value_at_quantile(0.5),
            p99: latencies.value_at_quantile(0.99),
            max: latencies.max(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(index: u64, micros: &[u64], failures: u64) -> Interval {
        let mut interval = Interval { failures, ..Interval::new(index) };
        micros.iter().for_each(|micros| latency::record(&mut interval.latencies, Duration::from_micros(*micros)));
        interval
    }

    #[test]
    fn intervals_of_threads_are_merged_and_empty_ones_are_there() {
        let mut timeline = Timeline::new(Duration::from_secs(12));
        timeline.add(&interval(0, &[10, 20], 0));
        timeline.add(&interval(2, &[40], 1));
        timeline.add(&interval(0, &[30], 2));
        let moments = timeline.moments(Duration::from_millis(250));
        let rates: Vec<f64> = moments.iter().map(|moment| moment.rate).collect();
        assert_eq!(rates, [30.0, 0.0, 20.0], "the last is half as long");
        assert_eq!((moments[0].failure_rate, moments[0].p50, moments[0].max), (20.0, 20, 30));
        assert_eq!(moments.iter().map(|moment| moment.at_millis).collect::<Vec<_>>(), [0, 100, 200]);
        assert_eq!(timeline.moments(Duration::from_millis(240)).len(), 2, "too short");
    }

    #[test]
    fn intervals_of_few_calls_are_made_longer_as_far_as_ten_are_left() {
        let lengths = |calls_of_each: usize| {
            let mut timeline = Timeline::new(Duration::from_secs(60));
            (0..120).for_each(|index| timeline.add(&interval(index, &vec![10; calls_of_each], 0)));
            let longer = timeline.with_calls(Duration::from_secs(60));
            let rates: Vec<f64> = longer.moments(Duration::from_secs(60)).iter().map(|moment| moment.rate).collect();
            assert!(rates.iter().all(|rate| (rate - rates[0]).abs() < 1e-9), "{rates:?}");
            (longer.length.as_millis(), rates.len())
        };
        assert_eq!([lengths(300), lengths(100), lengths(1)], [(500, 120), (1_000, 60), (6_000, 10)]);
    }

    #[test]
    fn a_long_run_shows_longer_intervals_than_its_threads_send() {
        let length = |seconds| Timeline::new(Duration::from_secs(seconds)).length.as_millis();
        assert_eq!([length(1), length(10), length(60), length(600)], [50, 100, 500, 5_000]);
        let mut timeline = Timeline::new(Duration::from_secs(600));
        (0..10).for_each(|second| timeline.add(&interval(second, &[10], 0)));
        let rates: Vec<f64> = timeline.moments(Duration::from_secs(10)).iter().map(|moment| moment.rate).collect();
        assert_eq!(rates, [1.0, 1.0]);
    }
}
