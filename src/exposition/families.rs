//! Metrics of numbers that other parts of the program count, collected for each request of `/metrics`.

use std::time::Duration;

use prometheus::core::Collector;
use prometheus::proto::{Bucket, Histogram as Buckets, LabelPair, Metric, MetricFamily, MetricType};
use prometheus::{Counter, Gauge, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, TextEncoder};

use till_storage::commit::{BUCKETS, Histogram};

const VALID: &str = "names are valid";

/// The unit of a histogram, which determines its buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Microseconds, shown as seconds: from 16 microseconds to half a minute.
    Micros,
    /// Counts, up to 2,047.
    Count,
}

impl Unit {
    /// The exposed buckets, by the number of bits of their values.
    const fn bits(self) -> std::ops::RangeInclusive<usize> {
        match self {
            Unit::Micros => 4..=25,
            Unit::Count => 1..=11,
        }
    }

    /// The largest value of a bucket. A started microsecond counts as the previous one.
    fn bound(self, end: u64) -> f64 {
        match self {
            Unit::Micros => self.sample_value(end),
            Unit::Count => self.sample_value(end - 1),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a sample is a double by its format, and exact up to 2^53")]
    fn sample_value(self, value: u64) -> f64 {
        match self {
            Unit::Micros => Duration::from_micros(value).as_secs_f64(),
            Unit::Count => value as f64,
        }
    }
}

/// Metrics with their samples.
#[derive(Debug, Default)]
pub(crate) struct Families(Vec<MetricFamily>);

impl Families {
    /// The metrics that are counted for the whole process.
    #[must_use]
    pub(crate) fn counted() -> Families {
        Families(prometheus::gather())
    }

    /// Adds a gauge.
    pub(crate) fn gauge(&mut self, name: &str, help: &str, value: u64) {
        let gauge = IntGauge::new(name, help).expect(VALID);
        gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        self.add(&gauge);
    }

    /// Adds a gauge of a time, in seconds.
    pub(crate) fn gauge_seconds(&mut self, name: &str, help: &str, value: Duration) {
        let gauge = Gauge::new(name, help).expect(VALID);
        gauge.set(value.as_secs_f64());
        self.add(&gauge);
    }

    /// Adds a gauge of 1 with a label.
    pub(crate) fn labelled_one(&mut self, name: &str, help: &str, label: &str, value: &str) {
        let gauge = IntGauge::with_opts(Opts::new(name, help).const_label(label, value)).expect(VALID);
        gauge.set(1);
        self.add(&gauge);
    }

    /// Adds a counter.
    pub(crate) fn counter(&mut self, name: &str, help: &str, value: u64) {
        let counter = IntCounter::new(name, help).expect(VALID);
        counter.inc_by(value);
        self.add(&counter);
    }

    /// Adds counters by the values of a label.
    pub(crate) fn counters<const N: usize>(&mut self, name: &str, help: &str, label: &str, values: [(&str, u64); N]) {
        self.counters_by(name, help, [label], values.map(|(of, value)| ([of], value)));
    }

    /// Adds counters by the values of labels.
    pub(crate) fn counters_by<'v, const L: usize>(
        &mut self,
        name: &str,
        help: &str,
        labels: [&str; L],
        values: impl IntoIterator<Item = ([&'v str; L], u64)>,
    ) {
        let counters = IntCounterVec::new(Opts::new(name, help), &labels).expect(VALID);
        values.into_iter().for_each(|(of, value)| counters.with_label_values(&of).inc_by(value));
        self.add(&counters);
    }

    /// Adds gauges by the values of a label.
    pub(crate) fn gauges<const N: usize>(&mut self, name: &str, help: &str, label: &str, values: [(&str, u64); N]) {
        let gauges = IntGaugeVec::new(Opts::new(name, help), &[label]).expect(VALID);
        for (of, value) in values {
            gauges.with_label_values(&[of]).set(i64::try_from(value).unwrap_or(i64::MAX));
        }
        self.add(&gauges);
    }

    /// Adds a counter of a time, in seconds.
    pub(crate) fn counter_seconds(&mut self, name: &str, help: &str, value: Duration) {
        let counter = Counter::new(name, help).expect(VALID);
        counter.inc_by(value.as_secs_f64());
        self.add(&counter);
    }

    /// Adds a histogram.
    pub(crate) fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram, unit: Unit) {
        self.histograms(name, help, [], [([], histogram)], unit);
    }

    /// Adds histograms by the values of labels, if there are any.
    pub(crate) fn histograms<'v, 'h, const L: usize>(
        &mut self,
        name: &str,
        help: &str,
        labels: [&str; L],
        histograms: impl IntoIterator<Item = ([&'v str; L], &'h Histogram)>,
        unit: Unit,
    ) {
        let metric = |(of, histogram): ([&str; L], &Histogram)| {
            let mut metric = buckets_of(histogram, unit);
            metric.set_label(labels.into_iter().zip(of).map(|(name, value)| label(name, value)).collect());
            metric
        };
        let metrics: Vec<Metric> = histograms.into_iter().map(metric).collect();
        let mut family = MetricFamily::default();
        family.set_name(name.to_owned());
        family.set_help(help.to_owned());
        family.set_field_type(MetricType::HISTOGRAM);
        family.set_metric(metrics);
        self.add_sampled([family]);
    }

    /// The values of a gauge or a counter, one for each of its series. A name may end in the value of one label, as in
    /// `till_acquirer_accounts{state="READY"}`: then of its series alone.
    pub(crate) fn values(&self, selector: &str) -> impl Iterator<Item = f64> {
        let (name, selected) = selector.split_once('{').unwrap_or((selector, ""));
        let selected =
            selected.trim_end_matches('}').split_once('=').map(|(label, value)| (label, value.trim_matches('"')));
        let is_selected = move |metric: &&Metric| {
            let has =
                |(label, value)| metric.get_label().iter().any(|pair| (pair.name(), pair.value()) == (label, value));
            selected.is_none_or(has)
        };
        let families = self.0.iter().filter(move |family| family.name() == name);
        families.flat_map(move |family| {
            let is_counter = family.get_field_type() == MetricType::COUNTER;
            let value = move |metric: &Metric| {
                if is_counter { metric.get_counter().get_value() } else { metric.get_gauge().get_value() }
            };
            family.get_metric().iter().filter(is_selected).map(value)
        })
    }

    /// All metrics in Prometheus' text format, version 0.0.4.
    #[must_use]
    pub(crate) fn text(&self) -> String {
        TextEncoder::new().encode_to_string(&self.0).expect("each has a name and a sample")
    }

    fn add(&mut self, metric: &impl Collector) {
        self.add_sampled(metric.collect());
    }

    /// Adds metrics, without those that have no sample yet.
    fn add_sampled(&mut self, families: impl IntoIterator<Item = MetricFamily>) {
        self.0.extend(families.into_iter().filter(|family| !family.get_metric().is_empty()));
    }
}

fn label(name: &str, value: &str) -> LabelPair {
    let mut label = LabelPair::default();
    label.set_name(name.to_owned());
    label.set_value(value.to_owned());
    label
}

fn buckets_of(histogram: &Histogram, unit: Unit) -> Metric {
    let counts: [u64; BUCKETS] = histogram.counts();
    let bucket = |bits: usize| {
        let end = Histogram::bucket_end(bits).expect("only the last bucket has no end, and it is not shown");
        let mut bucket = Bucket::default();
        bucket.set_upper_bound(unit.bound(end));
        bucket.set_cumulative_count(counts[..=bits].iter().sum());
        bucket
    };
    let mut buckets = Buckets::default();
    buckets.set_bucket(unit.bits().map(bucket).collect());
    buckets.set_sample_count(counts.iter().sum());
    buckets.set_sample_sum(unit.sample_value(histogram.sum()));
    let mut metric = Metric::default();
    metric.set_histogram(buckets);
    metric
}

#[cfg(test)]
mod tests {
    use till_storage::commit::CommitStats;

    use super::*;

    #[test]
    fn metrics_have_help_and_type_and_times_are_in_seconds() {
        let mut families = Families::default();
        families.gauge_seconds("a_seconds", "How long.", Duration::from_micros(61_000_007));
        families.counter("b_total", "How many.", 3);
        families.counters("c_total", "By kind.", "kind", [("one", 1), ("other", 0)]);
        families.gauges("d", "By age.", "seconds", [("60", 7)]);
        let mut lines: Vec<String> = families.text().lines().map(str::to_owned).collect();
        lines[6..10].sort_unstable();
        let expected = [
            "# HELP a_seconds How long.",
            "# TYPE a_seconds gauge",
            "a_seconds 61.000007",
            "# HELP b_total How many.",
            "# TYPE b_total counter",
            "b_total 3",
            "# HELP c_total By kind.",
            "# TYPE c_total counter",
            "c_total{kind=\"one\"} 1",
            "c_total{kind=\"other\"} 0",
            "# HELP d By age.",
            "# TYPE d gauge",
            "d{seconds=\"60\"} 7",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_histogram_ends_in_a_bucket_for_all_and_its_bounds_grow() {
        let stats = CommitStats::default();
        for unit in [Unit::Micros, Unit::Count] {
            let mut families = Families::default();
            families.histogram("h", "How.", stats.group_batches(), unit);
            let text = families.text();
            let bound = |line: &str| line.strip_prefix("h_bucket{le=\"")?.split('"').next()?.parse::<f64>().ok();
            let bounds: Vec<f64> = text.lines().filter_map(bound).collect();
            assert!(bounds.len() > 10 && bounds.is_sorted() && bounds.ends_with(&[f64::INFINITY]), "{text}");
            assert!(text.ends_with("_count 0\n"), "{text}");
        }
        assert_eq!((Unit::Micros.bound(1_024), Unit::Count.bound(8)), (0.001_024, 7.0));
    }

    #[test]
    fn bounds_in_seconds_are_written_without_rounding() {
        for bits in Unit::Micros.bits() {
            let micros = Histogram::bucket_end(bits).expect("it has an end");
            let exact = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
            assert_eq!(Unit::Micros.bound(micros).to_string(), exact);
        }
    }
}
