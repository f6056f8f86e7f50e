//! The charts of a report.

use super::axis::Scale;
use super::chart::{Axis, Chart, ChartLine};
use crate::plan::Knob;
use crate::recording::TimelinePoint;
use crate::report::text;
use crate::run::{Miss, Point, SearchResult, Tried};

/// The points of a report, with the name under which they are drawn.
pub(super) type NamedPoints<'a> = (String, &'a [Point]);

/// The rate of successful operations over time: a line for each of the named points.
#[expect(clippy::cast_precision_loss, reason = "a run has few milliseconds")]
pub(super) fn rate_over_time(points: &[(String, &Point)]) -> Chart {
    let value = |moment: &TimelinePoint| (moment.at_millis as f64 / 1e3, moment.rate);
    let mut lines: Vec<ChartLine> = points.iter().map(|(name, point)| over_time(name, point, value)).collect();
    for (name, point) in points.iter().filter(|(_, point)| point.failed() > 0) {
        let failed = |moment: &TimelinePoint| (moment.at_millis as f64 / 1e3, moment.failure_rate);
        lines.push(over_time(&format!("{name}, failed"), point, failed));
    }
    Chart { title: "Throughput over time".to_owned(), x: seconds(), y: rates(), lines, bound: None }
}

/// Percentiles of each interval, over time.
#[expect(clippy::cast_precision_loss, reason = "latencies are far below 2^53 microseconds")]
pub(super) fn latency_over_time(point: &Point) -> Chart {
    let line = |name: &str, value: fn(&TimelinePoint) -> u64| {
        over_time(name, point, move |moment: &TimelinePoint| (moment.at_millis as f64 / 1e3, value(moment) as f64))
    };
    let lines =
        vec![line("p50", |moment| moment.p50), line("p99", |moment| moment.p99), line("max", |moment| moment.max)];
    Chart { title: "Latency over time".to_owned(), x: seconds(), y: latencies("latency"), lines, bound: None }
}

/// The 99th percentile of each interval, of several runs.
#[expect(clippy::cast_precision_loss, reason = "latencies are far below 2^53 microseconds")]
pub(super) fn p99_over_time(points: &[(String, &Point)]) -> Chart {
    let value = |moment: &TimelinePoint| (moment.at_millis as f64 / 1e3, moment.p99 as f64);
    let lines = points.iter().map(|(name, point)| over_time(name, point, value)).collect();
    Chart { title: "p99 over time".to_owned(), x: seconds(), y: latencies("p99"), lines, bound: None }
}

/// Latencies by percentile.
#[expect(clippy::cast_precision_loss, reason = "latencies are far below 2^53 microseconds")]
pub(super) fn latency_by_percentile(points: &[(String, &Point)]) -> Chart {
    let line = |(name, point): &(String, &Point)| {
        let points = point.percentiles.iter().map(|at| (at.percentile, at.micros as f64));
        ChartLine { name: name.clone(), points: points.collect(), dots: false, joined: true }
    };
    let x = Axis { scale: Scale::Nines, title: "percentile".to_owned(), name: percentile, only: None };
    let lines = points.iter().map(line).collect();
    Chart { title: "Latency by percentile".to_owned(), x, y: latencies("latency"), lines, bound: None }
}

/// Throughput by the values of a sweep.
pub(super) fn rate_by_value(knob: Knob, reports: &[NamedPoints<'_>]) -> Chart {
    let title = format!("Throughput by {}", number_of(knob));
    Chart { title, y: rates(), ..by_value(knob, reports, |point| point.rate) }
}

/// The 99th percentile by the values of a sweep.
#[expect(clippy::cast_precision_loss, reason = "latencies are far below 2^53 microseconds")]
pub(super) fn p99_by_value(knob: Knob, reports: &[NamedPoints<'_>]) -> Chart {
    let title = format!("p99 by {}", number_of(knob));
    Chart { title, y: latencies("p99"), ..by_value(knob, reports, |point| point.latency_micros.p99 as f64) }
}

/// The rates that a search tried.
#[expect(clippy::cast_precision_loss, reason = "latencies are far below 2^53 microseconds")]
pub(super) fn search(search: &SearchResult) -> Chart {
    let line = |name: &str, is_of: fn(&Tried) -> bool| {
        let tried = search.tried.iter().filter(|tried| is_of(tried));
        let points = tried.map(|tried| (tried.rate, tried.p99 as f64)).collect();
        ChartLine { name: name.to_owned(), points, dots: true, joined: false }
    };
    // A dot below the bound that is none of those that passed needs its reason beside it.
    let mut lines = vec![
        line("passed", |tried| tried.passed),
        line("p99 not below the bound", |tried| !tried.passed && is_above_bound(tried)),
        line("below the bound, but the rate was not reached", is_too_slow),
        line("below the bound, but calls failed or captures did not keep up", |tried| {
            !tried.passed && !is_above_bound(tried) && !is_too_slow(tried)
        }),
    ];
    lines.retain(|line| !line.points.is_empty());
    let bound = (search.p99_below_micros as f64, format!("bound, {}", text::latency(search.p99_below_micros)));
    Chart {
        title: "Rates that were tried".to_owned(),
        x: Axis { scale: Scale::Logarithmic, title: "calls a second".to_owned(), name: rate_name, only: None },
        y: latencies("p99"),
        lines,
        bound: Some(bound),
    }
}

/// Reports of before say only that a rate did not pass, which then was most often the bound.
fn is_above_bound(tried: &Tried) -> bool {
    tried.missed.is_empty() || tried.missed.contains(&Miss::P99)
}

fn is_too_slow(tried: &Tried) -> bool {
    !is_above_bound(tried) && (tried.missed.contains(&Miss::Rate) || tried.missed.contains(&Miss::NeverMade))
}

fn over_time(name: &str, point: &Point, value: impl Fn(&TimelinePoint) -> (f64, f64)) -> ChartLine {
    ChartLine { name: name.to_owned(), points: point.timeline.iter().map(value).collect(), dots: false, joined: true }
}

#[expect(clippy::cast_precision_loss, reason = "there are few merchants and connections")]
fn by_value(knob: Knob, reports: &[NamedPoints<'_>], value: impl Fn(&Point) -> f64) -> Chart {
    let number = |point: &Point| match knob {
        Knob::Merchants => point.merchants as f64,
        Knob::Connections => point.connections as f64,
    };
    let line = |(name, points): &NamedPoints<'_>| {
        let mut points: Vec<(f64, f64)> = points.iter().map(|point| (number(point), value(point))).collect();
        points.sort_by(|first, second| first.0.total_cmp(&second.0));
        ChartLine { name: name.clone(), points, dots: true, joined: true }
    };
    let only = reports.first().map(|(_, points)| points.iter().map(number).collect());
    let x = Axis { scale: Scale::Logarithmic, title: number_of(knob), name: |value| format!("{value:.0}"), only };
    Chart { title: String::new(), x, y: rates(), lines: reports.iter().map(line).collect(), bound: None }
}

fn number_of(knob: Knob) -> String {
    format!("number of {}", knob.word())
}

fn seconds() -> Axis {
    let name = |value: f64| format!("{} s", (value * 100.0).round() / 100.0);
    Axis { scale: Scale::Linear, title: "time".to_owned(), name, only: None }
}

fn rates() -> Axis {
    Axis { scale: Scale::Linear, title: "calls a second".to_owned(), name: rate_name, only: None }
}

fn latencies(title: &str) -> Axis {
    Axis { scale: Scale::Logarithmic, title: title.to_owned(), name: latency_name, only: None }
}

fn rate_name(rate: f64) -> String {
    match rate {
        _ if rate >= 1e6 => format!("{} M", short(rate / 1e6)),
        _ if rate >= 1e4 => format!("{} k", short(rate / 1e3)),
        _ => short(rate),
    }
}

fn latency_name(micros: f64) -> String {
    match micros {
        _ if micros >= 999_999.5 => format!("{} s", short(micros / 1e6)),
        _ if micros >= 999.5 => format!("{} ms", short(micros / 1e3)),
        _ => format!("{} µs", short(micros)),
    }
}

fn percentile(value: f64) -> String {
    format!("{} %", (value * 1e4).round() / 1e4)
}

/// A number without insignificant digits.
fn short(number: f64) -> String {
    format!("{}", (number * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dots_of_a_search_say_what_each_rate_missed() {
        let tried = |rate, p99, missed: &[Miss]| Tried {
            rate,
            reached: rate,
            p99,
            passed: missed.is_empty(),
            missed: missed.to_vec(),
            others_busy: None,
        };
        let tried = vec![
            tried(100.0, 500, &[]),
            tried(200.0, 400, &[Miss::Rate]),
            tried(300.0, 2_000, &[Miss::P99, Miss::Rate]),
        ];
        let chart = search(&SearchResult { p99_below_micros: 1_000, highest_rate: Some(100.0), tried });
        let names: Vec<(&str, usize)> =
            chart.lines.iter().map(|line| (line.name.as_str(), line.points.len())).collect();
        let expected =
            [("passed", 1), ("p99 not below the bound", 1), ("below the bound, but the rate was not reached", 1)];
        assert_eq!(names, expected);
    }

    #[test]
    fn values_of_axes_are_named_shortly() {
        assert_eq!([500.0, 20_000.0, 2.5e6].map(rate_name), ["500", "20 k", "2.5 M"]);
        assert_eq!([50.0, 1_000.0, 20_000.0, 1e6].map(latency_name), ["50 µs", "1 ms", "20 ms", "1 s"]);
        assert_eq!([0.0, 99.0, 99.99].map(percentile), ["0 %", "99 %", "99.99 %"]);
    }
}
