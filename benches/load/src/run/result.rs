//! The results of one run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::recording::{CustomerCounts, FailureCount, Latency, TimelinePoint, Wrong};
use crate::scenarios::{Deliveries, FollowUp};

/// A rate counts as reached from this share of it on.
const RATE_REACHED: f64 = 0.97;

/// The results of one run: of one value of a sweep, or of a search's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Merchants that were called.
    pub merchants: usize,
    /// Connections.
    pub connections: usize,
    /// Calls a second that were meant to be made, the mean of stages; null in a closed loop.
    pub intended_rate: Option<f64>,
    /// The time that was measured, in seconds.
    pub seconds: f64,
    /// Operations that succeeded in that time.
    pub operations: u64,
    /// Operations that succeeded, per second.
    pub rate: f64,
    /// Operations that failed, by code.
    pub failures: BTreeMap<String, FailureCount>,
    /// The wrong answers.
    pub wrong: Wrong,
    /// Calls that were due and never made, because no connection was free in time.
    pub never_made: u64,
    /// True when the rate was reached over the whole time; null in a closed loop.
    pub rate_kept: Option<bool>,
    /// The reason that the run ended early; null when it did not.
    pub ended_early: Option<String>,
    /// Latencies of all operations that succeeded, in microseconds.
    pub latency_micros: Latency,
    /// Latencies of answers that refused the call, in microseconds.
    pub refused_micros: Latency,
    /// Latencies of successful operations by step, in the order of a flow.
    pub steps: Vec<StepLatency>,
    /// The length of an interval, in milliseconds.
    pub interval_millis: u64,
    /// The results interval by interval.
    pub timeline: Vec<TimelinePoint>,
    /// The progress of the captures that follow from payments; null when no payments were made.
    pub follow_up: Option<FollowUp>,
    /// Payments that asked their customers; null where the plan has no share of them.
    pub customers: Option<CustomerCounts>,
    /// The deliveries of events; null without a receiver of webhooks.
    pub deliveries: Option<Deliveries>,
    /// The share of the processors' time, from 0 to 1, that processes other than the load tester and its own server
    /// took during the run; null where it is not known.
    pub others_busy: Option<f64>,
    /// Sentences that a reader of these figures must know.
    pub remarks: Vec<String>,
}

/// The latencies of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepLatency {
    /// The name of the step.
    pub name: String,
    /// Its latencies, in microseconds.
    pub latency_micros: Latency,
}

impl Point {
    /// True when a rate was reached over the whole time, and all calls were made.
    #[must_use]
    pub fn keeps_rate(&self, rate: f64) -> bool {
        self.reaches_rate(rate) && self.never_made == 0 && self.ended_early.is_none()
    }

    /// True when a rate was reached.
    #[must_use]
    pub fn reaches_rate(&self, rate: f64) -> bool {
        self.rate >= rate * RATE_REACHED
    }

    /// The number of operations that failed, of all codes.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failures.values().map(|failure| failure.count).sum()
    }

    /// True when payments were made whose captures did not keep up over the whole time.
    #[must_use]
    pub fn lags(&self) -> bool {
        self.follow_up.is_some_and(|follow_up| !follow_up.kept_up)
    }

    /// Payments a second, counted until the last of them was captured: the rate that the server can sustain.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a run is not as long as 2^53 microseconds")]
    pub fn rate_with_captures(&self) -> Option<f64> {
        let after = self.follow_up?.last_captured_after_micros?;
        Some(self.operations as f64 / (self.seconds + after as f64 / 1e6))
    }
}
