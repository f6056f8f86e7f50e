//! Rates that change in the course of a run.

use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::units::{Span, parse_rate};

/// A rate at a time; between two stages it changes evenly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Stage {
    at_seconds: f64,
    rate: f64,
}

/// The stages of `--stages 0:100,30s:1000,60s:1000`: the first at 0, the last above it, at least one rate above 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stages(Vec<Stage>);

impl Stages {
    /// The time of the last stage, which is the duration of the measurement.
    #[must_use]
    pub fn span(&self) -> Span {
        Span(Duration::from_secs_f64(self.0[self.0.len() - 1].at_seconds))
    }
}

impl FromStr for Stages {
    type Err = String;

    fn from_str(text: &str) -> Result<Stages, String> {
        let wrong = || {
            format!(
                "{text}: write times with rates, the first at 0, each later than the one before: 0:100,30s:1000,60s:0"
            )
        };
        let stage = |part: &str| {
            let (at, rate) = part.split_once(':')?;
            let at_seconds = if at == "0" { 0.0 } else { at.parse::<Span>().ok()?.as_secs_f64() };
            Some(Stage { at_seconds, rate: if rate == "0" { 0.0 } else { parse_rate(rate).ok()? } })
        };
        let stages: Option<Vec<Stage>> = text.split(',').map(stage).collect();
        let is_whole = |stages: &Vec<Stage>| {
            stages[0].at_seconds == 0.0
                && stages.len() > 1
                && stages.is_sorted_by(|one, next| one.at_seconds < next.at_seconds)
                && stages.iter().any(|stage| stage.rate > 0.0)
        };
        stages.filter(is_whole).map(Stages).ok_or_else(wrong)
    }
}

/// The rate at which calls are due, in calls a second, from the first call on.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates(Vec<Stage>);

impl Rates {
    /// One rate all the time.
    #[must_use]
    pub fn steady(rate: f64) -> Rates {
        Rates(vec![Stage { at_seconds: 0.0, rate }])
    }

    /// The rates of stages that begin after a warm-up, in which calls are made at the rate of the first stage.
    #[must_use]
    pub fn staged(stages: &Stages, warm_up: Duration) -> Rates {
        let first = Stage { at_seconds: 0.0, rate: stages.0[0].rate };
        let later = |stage: &Stage| Stage { at_seconds: stage.at_seconds + warm_up.as_secs_f64(), rate: stage.rate };
        let warm_up = (!warm_up.is_zero()).then_some(first);
        Rates(warm_up.into_iter().chain(stages.0.iter().map(later)).collect())
    }

    /// The highest rate.
    #[must_use]
    pub fn highest(&self) -> f64 {
        self.0.iter().map(|stage| stage.rate).fold(0.0, f64::max)
    }

    /// The number of calls that are due in the first seconds.
    #[must_use]
    pub fn due_within(&self, seconds: f64) -> f64 {
        let due = |(from, length, slope): (Stage, f64, f64)| {
            let passed = (seconds - from.at_seconds).clamp(0.0, length);
            from.rate * passed + slope * passed * passed / 2.0
        };
        self.parts().map(due).sum()
    }

    /// The time, in seconds, at which the call of this number, counted from 0, is due; infinite when it never is.
    #[must_use]
    pub fn due_at(&self, number: f64) -> f64 {
        let mut left = number;
        for (from, length, slope) in self.parts() {
            let all = if length.is_finite() { (from.rate + slope * length / 2.0) * length } else { f64::INFINITY };
            // No call is due while the rate is zero.
            let has_calls = from.rate.max(slope) > 0.0;
            if has_calls && left <= 0.0 {
                return from.at_seconds;
            }
            if has_calls && left <= all {
                // The root of rate * t + slope * t² / 2 = left, in the form that loses no digits.
                let root = (from.rate * from.rate + 2.0 * slope * left).max(0.0).sqrt();
                return from.at_seconds + (2.0 * left / (from.rate + root)).min(length);
            }
            left -= all;
        }
        f64::INFINITY
    }

    /// The parts in which the rate changes evenly: their begin, their length in seconds and their slope.
    fn parts(&self) -> impl Iterator<Item = (Stage, f64, f64)> {
        let next = self.0.iter().skip(1).map(Some).chain([None]);
        self.0.iter().zip(next).map(|(from, to)| match to {
            Some(to) => {
                let length = to.at_seconds - from.at_seconds;
                (*from, length, (to.rate - from.rate) / length)
            }
            None => (*from, f64::INFINITY, 0.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn staged(text: &str, warm_up: u64) -> Rates {
        Rates::staged(&text.parse().unwrap_or_else(|fault| panic!("{fault}")), Duration::from_secs(warm_up))
    }

    #[test]
    fn stages_are_times_with_rates() {
        assert_eq!("0:100,30s:1000,1m:0".parse::<Stages>().map(|stages| stages.span().as_secs()), Ok(60));
        for text in ["", "0:100", "1s:1,2s:1", "0:1,2s:1,1s:1", "0:1,1s", "0:0,1s:0", "0:1,10:1", "0:-1,1s:1"] {
            assert!(text.parse::<Stages>().is_err_and(|fault| fault.contains("0:100,30s:1000")), "{text}");
        }
    }

    #[test]
    fn calls_are_due_by_the_rate_of_each_moment() {
        let ramp = staged("0:0,10s:100,20s:100,30s:0", 0);
        assert_eq!(
            [5.0, 10.0, 20.0, 30.0, 40.0].map(|at| ramp.due_within(at)),
            [125.0, 500.0, 1_500.0, 2_000.0, 2_000.0]
        );
        for (number, at) in [(0.0, 0.0), (125.0, 5.0), (500.0, 10.0), (1_000.0, 15.0), (2_000.0, 30.0)] {
            assert!((ramp.due_at(number) - at).abs() < 1e-9, "{number}: {}", ramp.due_at(number));
        }
        assert_eq!((ramp.due_at(2_001.0), ramp.highest()), (f64::INFINITY, 100.0));
        assert_eq!((Rates::steady(4.0).due_at(3.0), Rates::steady(4.0).due_within(0.75)), (0.75, 3.0));
    }

    #[test]
    fn the_warm_up_has_the_rate_of_the_first_stage() {
        let rates = staged("0:10,1s:20", 2);
        assert_eq!((rates.due_within(2.0), rates.due_within(3.0)), (20.0, 35.0));
        assert_eq!((rates.due_at(10.0), staged("0:0,1s:20", 2).due_at(0.0)), (1.0, 2.0));
    }
}
