//! What one run comes to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::recording::{Failure, Latency, Moment, Percentile};
use crate::scenarios::{Deliveries, FollowUp};

/// A rate of which less than this share is reached is not kept.
const RATE_REACHED: f64 = 0.97;

/// The results of one run: of one value of a sweep, or of a search's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Merchants that were called.
    pub merchants: usize,
    /// Connections.
    pub connections: usize,
    /// Calls a second that were meant to be made; null in a closed loop.
    pub intended_rate: Option<f64>,
    /// How long was measured, in seconds.
    pub seconds: f64,
    /// What ended well in that time.
    pub operations: u64,
    /// The same a second.
    pub rate: f64,
    /// What failed, by code.
    pub failures: BTreeMap<String, Failure>,
    /// Answers that are wrong.
    pub wrong: Wrong,
    /// Calls that were due and never made, since no connection was free in time.
    pub never_made: u64,
    /// Whether the rate was reached over the whole time; null in a closed loop.
    #[serde(default)]
    pub rate_kept: Option<bool>,
    /// Why it ended before its time, when it did.
    pub ended_early: Option<String>,
    /// Latencies of all that ended well, in microseconds.
    pub latency_micros: Latency,
    /// Latencies of answers that refused the call, in microseconds.
    #[serde(default)]
    pub refused_micros: Latency,
    /// Those of what ended well by step, in the order of a flow.
    pub steps: Vec<StepLatency>,
    /// Latencies by percentile.
    pub percentiles: Vec<Percentile>,
    /// How long an interval is, in milliseconds.
    pub interval_millis: u64,
    /// Interval by interval.
    pub timeline: Vec<Moment>,
    /// How what followed from payments came along; null when none were made.
    pub follow_up: Option<FollowUp>,
    /// The deliveries of events; null without a receiver of webhooks.
    #[serde(default)]
    pub deliveries: Option<Deliveries>,
    /// The share of the processors' time, from 0 to 1, that processes other than the load tester and its own server
    /// took during the run; null where it is not known.
    #[serde(default)]
    pub others_busy: Option<f64>,
}

/// Wrong answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrong {
    /// How many.
    pub count: u64,
    /// Some of them.
    pub examples: Vec<String>,
}

/// The latencies of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepLatency {
    /// What it is.
    pub name: String,
    /// Its latencies, in microseconds.
    pub latency_micros: Latency,
}

impl Point {
    /// Whether a rate was reached, by calls that were all made, over the whole time.
    #[must_use]
    pub fn keeps_rate(&self, rate: f64) -> bool {
        self.reaches_rate(rate) && self.never_made == 0 && self.ended_early.is_none()
    }

    /// Whether a rate was reached.
    #[must_use]
    pub fn reaches_rate(&self, rate: f64) -> bool {
        self.rate >= rate * RATE_REACHED
    }

    /// What failed, of all codes.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failures.values().map(|failure| failure.count).sum()
    }

    /// Whether payments were made whose captures did not keep up over the whole time.
    #[must_use]
    pub fn lags(&self) -> bool {
        self.follow_up.is_some_and(|follow_up| !follow_up.kept_up)
    }

    /// Payments a second, counted until the last of them was captured: what can be kept up for ever.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a run is not as long as 2^53 microseconds")]
    pub fn rate_with_captures(&self) -> Option<f64> {
        let after = self.follow_up?.last_captured_after_micros?;
        Some(self.operations as f64 / (self.seconds + after as f64 / 1e6))
    }
}
