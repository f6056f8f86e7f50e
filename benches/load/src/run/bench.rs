//! All runs of one command.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};

use super::feed::Feed;
use super::measure::{Measured, measure};
use super::progress::RunProgress;
use super::result::Point;
use super::search::{Next, Search, TRIES_MAX};
use crate::plan::{Plan, Span};
use crate::recording::ProcessorTime;
use crate::scenarios::{Baseline, Deliveries, Delivering, FollowUp, RunContext, Stock};
use crate::target::TargetServer;
use crate::webhooks::WebhookReceiver;

/// The least number of latencies of a step of a search, unless that takes too long: ten of them are then above the
/// 99th percentile.
const LATENCIES_OF_A_STEP: f64 = 1_000.0;

/// The longest step of a search.
const STEP_MAX: Duration = Duration::from_secs(60);

/// The first rate of a search, unless it is given.
const FIRST_RATE: f64 = 200.0;

/// The pause between two checks for an interruption of the run.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The runs of a command.
pub struct Bench<'a> {
    plan: &'a Plan,
    server: &'a TargetServer,
    progress: &'a RunProgress,
    feed: &'a Feed,
    interrupted: Arc<AtomicBool>,
    receiver: Option<WebhookReceiver>,
    runtime: tokio::runtime::Runtime,
}

/// The results of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchResult {
    /// The results for each value of a sweep, else of the only run.
    pub points: Vec<Point>,
    /// The search, when there was one.
    pub search: Option<SearchResult>,
    /// The time and the reason at which the measurement of the server broke off.
    pub ended_early: Option<String>,
}

/// The results of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchResult {
    /// The bound for the 99th percentile, in microseconds.
    pub p99_below_micros: u64,
    /// The highest rate that stayed below the bound, in calls a second; null when there is none.
    pub highest_rate: Option<f64>,
    /// All rates that were tried, in order.
    pub tried: Vec<Tried>,
}

/// The longest time that a search takes.
fn search_length(plan: &Plan) -> String {
    let run = *plan.warm_up + *plan.duration;
    let whole = u32::try_from(TRIES_MAX).map_or(Duration::MAX, |tries| run.saturating_mul(tries));
    let (run, minutes) = (run.as_secs_f64(), (whole.as_secs_f64() / 60.0).ceil());
    let low_rate = LATENCIES_OF_A_STEP / plan.duration.as_secs_f64();
    let longest = *plan.warm_up + plan.duration.max(STEP_MAX);
    let longer = match *plan.duration < STEP_MAX {
        true => format!("; below {low_rate:.0} calls/s a run takes longer, {:.0} s at most", longest.as_secs_f64()),
        false => String::new(),
    };
    format!(
        "searching: at most {TRIES_MAX} runs of {run:.1} s, {minutes:.0} min in all, and usually a third of \
            them{longer}. What is made before each run and waited for after it comes on top"
    )
}

/// A rate that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Calls a second that were meant to be made.
    pub rate: f64,
    /// Calls a second that succeeded.
    pub reached: f64,
    /// The 99th percentile, in microseconds.
    pub p99: u64,
    /// True when the rate passed.
    pub passed: bool,
    /// The reasons why it did not pass; empty when it passed.
    pub missed: Vec<String>,
    /// The share of the processors' time that other processes took, as in [`Point::others_busy`].
    pub others_busy: Option<f64>,
}

impl<'a> Bench<'a> {
    /// The runs of a command, which `interrupted` breaks off.
    ///
    /// # Errors
    /// The system gives no runtime, or no port for webhooks.
    pub fn new(
        plan: &'a Plan,
        server: &'a TargetServer,
        progress: &'a RunProgress,
        feed: &'a Feed,
        interrupted: Arc<AtomicBool>,
    ) -> anyhow::Result<Bench<'a>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let receiver = plan.webhooks.then(WebhookReceiver::start).transpose()?;
        let runtime = runtime.context("failed to start a runtime")?;
        Ok(Bench { plan, server, progress, feed, interrupted, receiver, runtime })
    }

    /// Creates the merchants and their data, and measures.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses a call of the preparation.
    pub fn run(&self) -> anyhow::Result<BenchResult> {
        let tell = |text: &str| self.progress.tell(text);
        let webhook_address = self.receiver.as_ref().map(WebhookReceiver::address);
        let stock = Arc::new(self.wait(Stock::prepare(self.plan, self.server, webhook_address, &tell))?);
        match (&self.plan.p99_below, &self.plan.sweep) {
            (Some(p99_below), _) => self.search(&stock, *p99_below),
            (None, None) => self.points(&stock, [self.plan.clone()]),
            (None, Some(sweep)) => {
                self.points(&stock, sweep.values.iter().map(|value| self.plan.with_value(sweep.knob, *value)))
            }
        }
    }

    /// Measures one plan after the other, as long as the server answers.
    fn points(&self, stock: &Arc<Stock>, plans: impl IntoIterator<Item = Plan>) -> anyhow::Result<BenchResult> {
        let mut result = BenchResult { points: Vec::new(), search: None, ended_early: None };
        for (run, plan) in plans.into_iter().enumerate() {
            if self.plan.sweep.is_some() {
                self.progress.tell(&format!("merchants: {}, connections: {}", plan.merchants, plan.connections));
            }
            match self.point(stock, &plan, run) {
                Ok((point, ended_early)) => {
                    result.points.push(point);
                    result.ended_early = ended_early;
                }
                Err(error) => result.ended_early = Some(self.reason(error, !result.points.is_empty())?),
            }
            if result.ended_early.is_some() {
                break;
            }
        }
        Ok(result)
    }

    /// The reason that a command ends after its first measurement; an error when it has measured nothing, or is
    /// interrupted.
    fn reason(&self, error: anyhow::Error, has_measured: bool) -> anyhow::Result<String> {
        if has_measured && !self.is_interrupted() { Ok(format!("{error:#}")) } else { Err(error) }
    }

    /// Processor time up to now, where that of the run can be told from that of others.
    fn processor_time(&self) -> Option<ProcessorTime> {
        self.server.is_told_from_others().then(|| ProcessorTime::now(self.server.process_id)).flatten()
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Measures once. The second value is the reason that no further measurement is possible, if there is one.
    fn point(&self, stock: &Arc<Stock>, plan: &Plan, run: usize) -> anyhow::Result<(Point, Option<String>)> {
        let tell = |text: &str| self.progress.tell(text);
        let world = Arc::new(self.wait(RunContext::prepare(stock, plan, run, &self.interrupted, &tell))?);
        // The balance of a merchant that exists already has fees, and other calls may change it.
        let before = match plan.scenario.moves_money() && stock.is_made_for_the_run() {
            true => Some(self.wait(Baseline::read(stock, plan.merchants))?),
            false => None,
        };
        let delivering = match &self.receiver {
            Some(receiver) => Some(self.wait(Delivering::begin(stock, receiver))?),
            None => None,
        };
        tell(&format!("measuring for {:.1} s", plan.duration.as_secs_f64()));
        let before_measured = self.processor_time();
        let mut measured = measure(&world, self.progress, self.feed)?;
        let others_busy = before_measured.zip(self.processor_time()).map(|(before, now)| now.others_since(before));
        ensure!(!world.is_interrupted(), "interrupted");
        let mut checked = (None, None);
        if measured.is_answered() {
            match self.check(&world, &mut measured, before, delivering) {
                Ok(done) => checked = done,
                Err(error) => measured.unchecked(self.reason(error, true)?),
            }
        }
        let is_answered = measured.is_answered();
        let point = Point { others_busy, ..measured.into_point(plan, checked.0, checked.1) };
        let ended_early = point.ended_early.clone().filter(|_| !is_answered);
        Ok((point, ended_early))
    }

    /// Waits for the effects of a run's calls, and checks what the server shows of them.
    fn check(
        &self,
        world: &RunContext,
        measured: &mut Measured,
        before: Option<Baseline>,
        delivering: Option<Delivering<'_>>,
    ) -> anyhow::Result<(Option<FollowUp>, Option<Deliveries>)> {
        let (stock, plan) = (&world.stock, &world.plan);
        let follow_up = before.map(|before| self.wait(measured.settling(plan, before).wait(stock))).transpose()?;
        let deliveries =
            delivering.map(|delivering| self.wait(delivering.finish(measured.last_answer()))).transpose()?;
        measured.add_wrong(self.wait(world.unlike_acknowledged())?);
        if plan.scenario.pays() {
            return Ok((follow_up, deliveries));
        }
        measured.add_wrong(follow_up.iter().filter_map(FollowUp::unlike_acknowledged).collect());
        Ok((None, deliveries))
    }

    /// Waits for a future, unless the run is interrupted meanwhile.
    fn wait<T>(&self, future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
        let interrupted = async {
            while !self.is_interrupted() {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        self.runtime.block_on(async {
            tokio::select! {
                done = future => done,
                () = interrupted => bail!("interrupted"),
            }
        })
    }

    fn search(&self, stock: &Arc<Stock>, p99_below: Span) -> anyhow::Result<BenchResult> {
        let p99_below_micros = u64::try_from(p99_below.as_micros()).unwrap_or(u64::MAX);
        let mut search = Search::new(self.plan.rate.unwrap_or(FIRST_RATE));
        self.progress.tell(&search_length(self.plan));
        let (mut tried, mut best): (Vec<Tried>, Option<Point>) = (Vec::new(), None);
        let mut ended_early = None;
        let highest_rate = loop {
            let rate = match search.next() {
                Next::Try(rate) => rate,
                Next::Found(highest_rate) => break highest_rate,
            };
            let point = match self.point(stock, &self.step_plan(rate), tried.len()) {
                Ok((point, reason)) => {
                    ended_early = reason;
                    point
                }
                Err(error) => {
                    ended_early = Some(self.reason(error, !tried.is_empty())?);
                    break None;
                }
            };
            let outcome = Tried::of(&point, rate, p99_below_micros);
            self.tell_of(&outcome);
            let passed = outcome.passed;
            tried.push(outcome);
            search.record(passed);
            if point.wrong.count > 0 || ended_early.is_some() {
                // A search for the highest rate of a server that answers wrongly, or not at all, has no result.
                let result = SearchResult { p99_below_micros, highest_rate: None, tried };
                return Ok(BenchResult { points: vec![point], search: Some(result), ended_early });
            }
            best = if passed { Some(point) } else { best };
        };
        let points = best.filter(|best| highest_rate.is_some() && best.intended_rate == highest_rate);
        let result = SearchResult { p99_below_micros, highest_rate, tried };
        Ok(BenchResult { points: points.into_iter().collect(), search: Some(result), ended_early })
    }

    fn tell_of(&self, tried: &Tried) {
        let (rate, millis) = (tried.rate, Duration::from_micros(tried.p99).as_secs_f64() * 1000.0);
        self.progress.tell(&format!("{rate:.0}/s: p99 {millis:.2} ms, {}", tried.verdict()));
    }

    /// The run of one rate, long enough for a reliable 99th percentile.
    fn step_plan(&self, rate: f64) -> Plan {
        let enough = Duration::from_secs_f64((LATENCIES_OF_A_STEP / rate).min(STEP_MAX.as_secs_f64()));
        Plan { duration: Span(self.plan.duration.max(enough)), ..self.plan.at_rate(rate) }
    }
}

impl Tried {
    /// A rate passes when it was reached with latencies below the bound, without a failure, and the captures kept up.
    fn of(point: &Point, rate: f64, p99_below_micros: u64) -> Tried {
        let p99 = point.latency_micros.p99;
        let misses = [
            (p99 >= p99_below_micros, "p99 not below the bound"),
            (!point.reaches_rate(rate), "rate not reached"),
            (point.never_made > 0, "calls never made"),
            (point.failed() > 0, "calls failed"),
            (point.lags(), "captures did not keep up"),
            (point.ended_early.is_some(), "ended early"),
        ];
        let missed: Vec<String> =
            misses.iter().filter(|(is_missed, _)| *is_missed).map(|(_, miss)| (*miss).to_owned()).collect();
        Tried { rate, reached: point.rate, p99, passed: missed.is_empty(), missed, others_busy: point.others_busy }
    }

    /// True when it passed, and the bounds that it missed when it did not.
    #[must_use]
    pub fn verdict(&self) -> String {
        if self.passed { "passed".to_owned() } else { format!("not passed: {}", self.missed.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ScenarioKind;
    use crate::plan::examples::plan;
    use crate::report::examples::point;
    use crate::scenarios::FollowUp;

    #[test]
    fn a_search_says_how_long_it_takes_at_most() {
        let warm_up = Span(Duration::from_secs(2));
        let search = |duration| search_length(&Plan { duration: Span(duration), warm_up, ..plan(ScenarioKind::Ping) });
        let told = search(Duration::from_secs(10));
        assert!(told.starts_with("searching: at most 80 runs of 12.0 s, 16 min in all"), "{told}");
        assert!(told.contains("below 100 calls/s a run takes longer, 62 s at most"), "{told}");
        assert!(!search(Duration::from_secs(60)).contains("takes longer"));
    }

    #[test]
    fn a_rate_passes_only_in_time_without_failures_or_backlog() {
        // The example reaches 50 a second with a p99 of 300 microseconds.
        let passes = |point: &Point, rate, bound| Tried::of(point, rate, bound).passed;
        assert!(passes(&point(), 50.0, 301));
        assert!(!passes(&point(), 50.0, 300) && !passes(&point(), 60.0, 301));
        assert!(!passes(&Point { never_made: 1, ..point() }, 50.0, 301));
        assert_eq!(Tried::of(&point(), 60.0, 300).verdict(), "not passed: p99 not below the bound, rate not reached");
        assert_eq!(Tried::of(&point(), 60.0, 301).missed, ["rate not reached"]);
        assert_eq!(Tried::of(&point(), 50.0, 301).verdict(), "passed");
        assert!(!passes(&Point { ended_early: Some("all sessions were used up".to_owned()), ..point() }, 50.0, 301));
        let follow_up = FollowUp {
            payments: 100,
            backlog_at_end: 90,
            last_captured_after_micros: None,
            kept_up: false,
            unexplained_minor: 0,
        };
        assert!(!passes(&Point { follow_up: Some(follow_up), ..point() }, 50.0, 301));
    }
}
