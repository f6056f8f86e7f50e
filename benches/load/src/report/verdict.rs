//! The results of the conditions under which a run counts as failed.

use serde::{Deserialize, Serialize};

use super::text::{count, counted, latency, rate};
use crate::plan::{FailIf, Metric};
use crate::run::Point;

/// The result of one condition at one point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The condition as it was written.
    pub condition: String,
    /// Merchants of the point; null when a search found no rate.
    pub merchants: Option<usize>,
    /// Connections of the point; null when a search found no rate.
    pub connections: Option<usize>,
    /// The figure, latencies in microseconds; null when there is none.
    pub measured: Option<f64>,
    /// True when the run counts as failed by it. Without a figure it does.
    pub failed: bool,
    /// The sentence that says so.
    pub told: String,
}

/// The result of each condition at each point.
pub(super) fn verdicts(conditions: &[FailIf], points: &[Point]) -> Vec<Verdict> {
    let is_one_of_many = points.len() > 1;
    let of = |condition: &FailIf| match points {
        // A search that finds no rate has found that it is none.
        [] => vec![verdict(condition, None, (condition.metric == Metric::Rate).then_some(0.0), false)],
        points => {
            let judge = |point| verdict(condition, Some(point), figure(point, condition), is_one_of_many);
            points.iter().map(judge).collect()
        }
    };
    conditions.iter().flat_map(of).collect()
}

fn verdict(condition: &FailIf, point: Option<&Point>, measured: Option<f64>, is_one_of_many: bool) -> Verdict {
    let failed = measured.is_none_or(|measured| condition.holds(measured));
    let step = condition.step.map(|step| format!("{}.", step.name())).unwrap_or_default();
    let word = format!("{step}{}", condition.metric);
    let figure = match measured {
        Some(measured) => format!("{word} is {}", text_of(condition.metric, measured)),
        None => format!("{word} was not measured"),
    };
    let verdict = if failed { "FAILED" } else { "passed" };
    let place = point.filter(|_| is_one_of_many).map_or_else(String::new, |point| {
        format!(" with {} and {}", counted(point.merchants, "merchant"), counted(point.connections, "connection"))
    });
    Verdict {
        condition: condition.to_string(),
        merchants: point.map(|point| point.merchants),
        connections: point.map(|point| point.connections),
        measured,
        failed,
        told: format!("{verdict} --fail-if {condition}: {figure}{place}"),
    }
}

/// A figure of a run; none of a latency where nothing ended well.
#[expect(clippy::cast_precision_loss, reason = "latencies and counts are far below 2^53")]
fn figure(point: &Point, condition: &FailIf) -> Option<f64> {
    let latency = match condition.step {
        Some(step) => point.steps.iter().find(|found| found.name == step.name())?.latency_micros,
        None => point.latency_micros,
    };
    let micros = match condition.metric {
        Metric::P50 => latency.p50,
        Metric::P90 => latency.p90,
        Metric::P99 => latency.p99,
        Metric::P999 => latency.p999,
        Metric::Max => latency.max,
        Metric::Mean => latency.mean,
        Metric::Rate => return Some(point.rate),
        Metric::Errors => return Some(point.failed() as f64),
        Metric::NeverMade => return Some(point.never_made as f64),
    };
    (latency.count > 0).then_some(micros as f64)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number that was counted")]
fn text_of(metric: Metric, measured: f64) -> String {
    match metric {
        Metric::Rate => format!("{}/s", rate(measured)),
        Metric::Errors | Metric::NeverMade => count(measured as u64),
        Metric::P50 | Metric::P90 | Metric::P99 | Metric::P999 | Metric::Max | Metric::Mean => latency(measured as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::point;
    use super::*;
    use crate::recording::Latency;

    fn texts_of_verdicts(conditions: &[&str], points: &[Point]) -> Vec<(bool, String)> {
        let parse = |text: &&str| text.parse::<FailIf>().unwrap_or_else(|reason| panic!("{reason}"));
        let conditions: Vec<FailIf> = conditions.iter().map(parse).collect();
        verdicts(&conditions, points).into_iter().map(|verdict| (verdict.failed, verdict.told)).collect()
    }

    #[test]
    fn each_condition_says_what_was_measured() {
        // The example reaches 50 a second with a p99 of 300 microseconds and a maximum of 1,200.
        let lines = texts_of_verdicts(&["p99>299us", "max>1.2ms", "rate<50.5", "errors>0", "mean>=120us"], &[point()]);
        let expected = [
            (true, "FAILED --fail-if p99>299us: p99 is 300 µs"),
            (false, "passed --fail-if max>1.2ms: max is 1.20 ms"),
            (true, "FAILED --fail-if rate<50.5: rate is 50.0/s"),
            (false, "passed --fail-if errors>0: errors is 0"),
            (true, "FAILED --fail-if mean>=120us: mean is 120 µs"),
        ];
        assert_eq!(lines, expected.map(|(failed, told)| (failed, told.to_owned())));
    }

    #[test]
    fn each_point_of_a_sweep_is_judged_and_named() {
        let points = [point(), Point { connections: 1, rate: 60.0, ..point() }];
        let expected = [
            (true, "FAILED --fail-if rate<55: rate is 50.0/s with 4 merchants and 8 connections"),
            (false, "passed --fail-if rate<55: rate is 60.0/s with 4 merchants and 1 connection"),
        ];
        assert_eq!(texts_of_verdicts(&["rate<55"], &points), expected.map(|(failed, told)| (failed, told.to_owned())));
    }

    #[test]
    fn a_figure_that_was_not_measured_fails() {
        let nothing = Point { latency_micros: Latency::default(), ..point() };
        assert_eq!(texts_of_verdicts(&["p99>1s"], &[nothing])[0].1, "FAILED --fail-if p99>1s: p99 was not measured");
        assert_eq!(texts_of_verdicts(&["rate<1"], &[])[0].1, "FAILED --fail-if rate<1: rate is 0.00/s");
        assert!(texts_of_verdicts(&["errors>0"], &[])[0].0);
    }

    #[test]
    fn a_condition_of_a_step_is_judged_by_its_latencies() {
        let lines = texts_of_verdicts(&["get-balance.p99>299us", "send-payout.p99>1s"], &[point()]);
        assert_eq!(lines[0].1, "FAILED --fail-if get-balance.p99>299us: get-balance.p99 is 300 µs");
        assert_eq!(lines[1].1, "FAILED --fail-if send-payout.p99>1s: send-payout.p99 was not measured");
    }
}
