//! Prometheus' text form, version 0.0.4, of numbers that somebody else counts.
//!
//! Source: <https://prometheus.io/docs/instrumenting/exposition_formats/>.

use std::fmt::Write as _;
use std::time::Duration;

use till_storage::commit::{BUCKETS, Histogram};

/// What the values of a histogram are, and so how its buckets are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Microseconds, written as seconds: from 16 microseconds to half a minute.
    Micros,
    /// Things, as many as there are: up to 2,047.
    Count,
}

impl Unit {
    /// The buckets that are written, by the number of bits of the values that they take.
    const fn bits(self) -> std::ops::RangeInclusive<usize> {
        match self {
            Unit::Micros => 4..=25,
            Unit::Count => 1..=11,
        }
    }

    /// The largest value of a bucket. A microsecond that has begun counts as the one before.
    fn bound(self, end: u64) -> String {
        match self {
            Unit::Micros => seconds(end),
            Unit::Count => (end - 1).to_string(),
        }
    }

    fn written(self, sum: u64) -> String {
        match self {
            Unit::Micros => seconds(sum),
            Unit::Count => sum.to_string(),
        }
    }
}

/// Metrics, one after the other.
#[derive(Debug, Default)]
pub struct Text(String);

impl Text {
    /// Behind what is written already.
    #[must_use]
    pub fn behind(text: String) -> Text {
        Text(text)
    }

    /// A number that goes up and down.
    pub fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.single(name, help, "gauge", &value.to_string());
    }

    /// A time that goes up and down, in seconds.
    pub fn gauge_seconds(&mut self, name: &str, help: &str, value: Duration) {
        self.single(name, help, "gauge", &seconds(micros(value)));
    }

    /// A number that only grows.
    pub fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.single(name, help, "counter", &value.to_string());
    }

    /// A time that only grows, in seconds.
    pub fn counter_seconds(&mut self, name: &str, help: &str, value: Duration) {
        self.single(name, help, "counter", &seconds(micros(value)));
    }

    /// A 1 that carries a label.
    pub fn labelled_one(&mut self, name: &str, help: &str, label: &str, value: &str) {
        self.head(name, help, "gauge");
        self.line(format_args!("{name}{{{label}=\"{value}\"}} 1"));
    }

    /// How often which values occurred.
    pub fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram, unit: Unit) {
        self.head(name, help, "histogram");
        let counts: [u64; BUCKETS] = histogram.counts();
        let up_to = |bits: usize| counts[..=bits].iter().sum::<u64>();
        for bits in unit.bits() {
            let end = Histogram::bucket_end(bits).expect("only the last bucket has no end, and it is not written");
            self.line(format_args!("{name}_bucket{{le=\"{}\"}} {}", unit.bound(end), up_to(bits)));
        }
        let all = up_to(BUCKETS - 1);
        self.line(format_args!("{name}_bucket{{le=\"+Inf\"}} {all}"));
        self.line(format_args!("{name}_sum {}", unit.written(histogram.sum())));
        self.line(format_args!("{name}_count {all}"));
    }

    /// What was written.
    #[must_use]
    pub fn finish(self) -> String {
        self.0
    }

    fn single(&mut self, name: &str, help: &str, kind: &str, value: &str) {
        self.head(name, help, kind);
        self.line(format_args!("{name} {value}"));
    }

    fn head(&mut self, name: &str, help: &str, kind: &str) {
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.0, "{line}").expect("writing to a string cannot fail");
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Microseconds as seconds, exactly.
fn seconds(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

#[cfg(test)]
mod tests {
    use till_storage::commit::CommitStats;

    use super::*;

    #[test]
    fn times_are_written_as_seconds_without_rounding() {
        let mut text = Text::default();
        text.gauge_seconds("a_seconds", "How long.", Duration::from_micros(61_000_007));
        text.counter("b_total", "How many.", 3);
        let expected = "# HELP a_seconds How long.\n# TYPE a_seconds gauge\na_seconds 61.000007\n\
                        # HELP b_total How many.\n# TYPE b_total counter\nb_total 3\n";
        assert_eq!(text.finish(), expected);
    }

    #[test]
    fn a_histogram_ends_in_a_bucket_for_all_and_its_bounds_grow() {
        let stats = CommitStats::default();
        for unit in [Unit::Micros, Unit::Count] {
            let mut text = Text::default();
            text.histogram("h", "How.", stats.group_batches(), unit);
            let text = text.finish();
            let bound = |line: &str| line.strip_prefix("h_bucket{le=\"")?.split('"').next()?.parse::<f64>().ok();
            let bounds: Vec<f64> = text.lines().filter_map(bound).collect();
            assert!(bounds.len() > 10 && bounds.is_sorted() && bounds.ends_with(&[f64::INFINITY]), "{text}");
            assert!(text.ends_with("_count 0\n"), "{text}");
        }
        assert_eq!((Unit::Micros.bound(1_024), Unit::Count.bound(8)), ("0.001024".to_owned(), "7".to_owned()));
    }
}
