//! The feed of a run: a line of JSON for each second, as long as it lasts.

use std::cell::RefCell;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde::Serialize;

use crate::plan::Plan;
use crate::recording::{Interval, Latency};

/// Time between two lines.
const EVERY: Duration = Duration::from_secs(1);

/// The output of a feed, if there is one.
#[derive(Default)]
pub struct Feed(Option<RefCell<Box<dyn Write>>>);

/// What became known of a run since the line before.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct FeedLine {
    /// The time, in seconds from the begin of the measurement.
    at_seconds: f64,
    /// The time since the line before.
    seconds: f64,
    merchants: usize,
    connections: usize,
    pub(super) rate: f64,
    pub(super) failures: u64,
    latency_micros: Latency,
}

/// The results since the last line.
pub(super) struct LastSecond {
    since: Instant,
    start: Instant,
    interval: Interval,
}

impl Feed {
    /// Begins a feed into a file, or to standard output when it is `-`.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn open(file: &Path) -> anyhow::Result<Feed> {
        let output: Box<dyn Write> = match file.to_str() {
            Some("-") => Box::new(std::io::stdout()),
            _ => Box::new(File::create(file).with_context(|| format!("failed to write {}", file.display()))?),
        };
        Ok(Feed(Some(RefCell::new(output))))
    }

    pub(super) fn write(&self, line: &FeedLine) {
        let Some(output) = &self.0 else { return };
        let text = serde_json::to_string(line).expect("all of it can be written as JSON") + "\n";
        let _ = output.borrow_mut().write_all(text.as_bytes()); // The reader may have closed its end.
    }
}

impl FeedLine {
    pub(super) const fn p99_micros(&self) -> u64 {
        self.latency_micros.p99
    }
}

impl LastSecond {
    /// Begins with the measurement.
    pub(super) fn from(start: Instant) -> LastSecond {
        LastSecond { since: start, start, interval: Interval::new(0) }
    }

    pub(super) fn add(&mut self, interval: &Interval) {
        self.interval.merge(interval);
    }

    /// The line of a second that is over.
    pub(super) fn ended_line(&mut self, plan: &Plan) -> Option<FeedLine> {
        let now = Instant::now();
        (now.saturating_duration_since(self.since) >= EVERY).then(|| self.line(plan, now))
    }

    /// The line of what is left at the end; None when that is nothing.
    pub(super) fn rest(&mut self, plan: &Plan) -> Option<FeedLine> {
        let is_empty = self.interval.latencies.is_empty() && self.interval.failures == 0;
        (!is_empty).then(|| self.line(plan, Instant::now()))
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    fn line(&mut self, plan: &Plan, now: Instant) -> FeedLine {
        let Interval { latencies, failures, .. } = std::mem::replace(&mut self.interval, Interval::new(0));
        let seconds = now.saturating_duration_since(self.since).max(Duration::from_millis(1)).as_secs_f64();
        self.since = now;
        FeedLine {
            at_seconds: now.saturating_duration_since(self.start).as_secs_f64(),
            seconds,
            merchants: plan.merchants,
            connections: plan.connections,
            rate: latencies.len() as f64 / seconds,
            failures,
            latency_micros: Latency::of(&latencies),
        }
    }
}
