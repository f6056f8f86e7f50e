//! One run: threads are started, begin together, and their results are added up.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};

use super::feed::{Feed, LastSecond};
use super::progress::RunProgress;
use super::result::{Point, StepLatency};
use super::worker::{Begin, ThreadNumber, Worked, work};
use crate::plan::Plan;
use crate::recording::{Interval, Latency, MeasuredStep, RunTally, Timeline, Wrong};
use crate::scenarios::{Baseline, Deliveries, Ending, FollowUp, RunContext, Settling};

/// The time between the signal to begin and the first call, so that every thread has received it.
const HEAD_START: Duration = Duration::from_millis(5);

/// The pause between two updates of the progress.
const SHOW_EVERY: Duration = Duration::from_millis(200);

/// The results of one run.
pub(super) struct Measured {
    tally: RunTally,
    timeline: Timeline,
    never_made: u64,
    ending: Option<Ending>,
    start: Instant,
    /// The time at which the last counted operation ended.
    last: Instant,
}

/// Runs a plan once.
pub(super) fn measure(world: &Arc<RunContext>, progress: &RunProgress, feed: &Feed) -> anyhow::Result<Measured> {
    let threads = world.plan.threads.min(world.plan.connections);
    let begin =
        Arc::new(Begin { ready: Barrier::new(threads + 1), has_failed: AtomicBool::new(false), at: OnceLock::new() });
    let (sender, intervals) = channel();
    let started: Result<Vec<_>, _> = (0..threads)
        .map(|thread| {
            let (world, begin, sender) = (Arc::clone(world), Arc::clone(&begin), sender.clone());
            let work = move || work(&world, ThreadNumber { thread, threads }, &begin, sender);
            thread::Builder::new().name(format!("till-bench-{thread}")).spawn(work)
        })
        .collect();
    let started = started.context("failed to start a thread")?;
    drop(sender);
    begin.ready.wait();
    let at = Instant::now() + HEAD_START;
    begin.at.set(at).expect("it is named once");
    begin.ready.wait();
    let start = at + *world.plan.warm_up;
    let timeline = collect_intervals(&intervals, &world.plan, start, progress, feed);
    let mut worked = Vec::new();
    for thread in started {
        worked.push(thread.join().map_err(|_| anyhow!("a thread of the load tester panicked"))??);
    }
    Ok(Measured { ending: world.ending().cloned(), ..add_up(worked, timeline, start) })
}

/// Collects intervals until all threads have ended, and shows the progress.
fn collect_intervals(
    intervals: &Receiver<Interval>,
    plan: &Plan,
    start: Instant,
    progress: &RunProgress,
    feed: &Feed,
) -> Timeline {
    let (mut timeline, mut second, mut last) = (Timeline::new(*plan.duration), LastSecond::from(start), None);
    loop {
        match intervals.recv_timeout(SHOW_EVERY) {
            Ok(interval) => {
                second.add(&interval);
                timeline.add(&interval);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if let Some(line) = second.ended_line(plan) {
            feed.write(&line);
            last = Some(line);
        }
        progress.show(Instant::now().checked_duration_since(start), *plan.duration, last.as_ref());
    }
    second.rest(plan).iter().for_each(|line| feed.write(line));
    timeline
}

fn add_up(worked: Vec<Worked>, timeline: Timeline, start: Instant) -> Measured {
    let mut measured = Measured { tally: RunTally::new(), timeline, never_made: 0, ending: None, start, last: start };
    for Worked { tally, last, never_made } in worked {
        measured.tally.merge(tally);
        measured.last = measured.last.max(last);
        measured.never_made += never_made;
    }
    measured
}

impl Measured {
    /// The time that was measured: as planned, longer when the last answers came late, until the last answer when the
    /// run ended early.
    fn span(&self, plan: &Plan) -> Duration {
        let until_last = self.last.saturating_duration_since(self.start);
        let span = match self.ending {
            Some(Ending::UsedUp | Ending::Unreachable(_)) => until_last,
            Some(Ending::Unchecked(_)) | None => until_last.max(*plan.duration),
        };
        span.max(Duration::from_millis(1))
    }

    /// True when the server answered to the end.
    pub(super) const fn is_answered(&self) -> bool {
        matches!(self.ending, None | Some(Ending::UsedUp))
    }

    /// Records the reason that the run's calls could not be checked afterwards.
    pub(super) fn unchecked(&mut self, reason: String) {
        self.ending = Some(Ending::Unchecked(reason));
    }

    /// The time of the last answer, to an operation or to a customer.
    pub(super) fn last_answer(&self) -> Instant {
        self.tally.last_customer.map_or(self.last, |customer| customer.max(self.last))
    }

    /// The settlement that is waited for after the run.
    pub(super) fn settling(&self, plan: &Plan, before: Baseline) -> Settling {
        Settling {
            before,
            payments: self.tally.payments,
            paid_minor: self.tally.paid_minor,
            given_minor: self.tally.given_minor,
            uncertain: self.tally.uncertain,
            last_answer: self.last_answer(),
            span: self.span(plan),
        }
    }

    /// Adds answers that the checks after the run found wrong.
    pub(super) fn add_wrong(&mut self, examples: Vec<String>) {
        examples.into_iter().for_each(|example| self.tally.add_wrong(example));
    }

    /// The results as reports have them.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub(super) fn into_point(
        self,
        plan: &Plan,
        mut follow_up: Option<FollowUp>,
        deliveries: Option<Deliveries>,
    ) -> Point {
        let span = self.span(plan);
        let ended_early = self.ending.as_ref().map(|ending| ended_early(ending, span, plan));
        if let Some(follow_up) = &mut follow_up {
            follow_up.kept_up &= ended_early.is_none();
        }
        let Measured { tally, timeline, never_made, .. } = self;
        let (operations, timeline) = (tally.latencies.len(), timeline.with_calls(span));
        let step = |(step, histogram): (&MeasuredStep, &_)| StepLatency {
            name: step.name(),
            latency_micros: Latency::of(histogram),
        };
        let point = Point {
            merchants: plan.merchants,
            connections: plan.connections,
            intended_rate: plan.intended_rate(),
            rate_kept: None,
            seconds: span.as_secs_f64(),
            operations,
            rate: operations as f64 / span.as_secs_f64(),
            wrong: wrong(&tally, follow_up),
            never_made,
            ended_early,
            latency_micros: Latency::of(&tally.latencies),
            refused_micros: Latency::of(&tally.refused),
            steps: tally.steps.iter().map(step).collect(),
            interval_millis: u64::try_from(timeline.length.as_millis()).expect("an interval is short"),
            timeline: timeline.moments(span),
            failures: tally.failures,
            customers: plan.action_share.map(|_| tally.customers),
            follow_up,
            deliveries,
            others_busy: None,
            remarks: Vec::new(),
        };
        Point { rate_kept: point.intended_rate.map(|rate| point.keeps_rate(rate)), ..point }
    }
}

/// The time and the reason at which a run ended early.
fn ended_early(ending: &Ending, span: Duration, plan: &Plan) -> String {
    let after = format!("after {:.2} s of {:.2} s", span.as_secs_f64(), plan.duration.as_secs_f64());
    match ending {
        Ending::UsedUp => format!(
            "{after} all sessions or payments made beforehand were used up; --sessions or --payments makes more"
        ),
        Ending::Unreachable(reason) => format!("{after} the server did not answer any more: {reason}"),
        Ending::Unchecked(reason) => format!("all calls were made, but could not be checked: {reason}"),
    }
}

/// The wrong answers, with one more when the balances contain money that no payment explains.
fn wrong(tally: &RunTally, follow_up: Option<FollowUp>) -> Wrong {
    let mut wrong = tally.wrong.clone();
    if let Some(unexplained) = follow_up.map(|follow_up| follow_up.unexplained_minor).filter(|minor| *minor > 0) {
        wrong.count += 1;
        wrong.examples.push(format!("the balances hold {unexplained} minor units that no payment explains"));
    }
    wrong
}
