//! All runs of one command.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};

use super::measure::measure;
use super::progress::Progress;
use super::result::Point;
use super::search::{Next, Search};
use crate::plan::{Load, Plan, SearchGoal};
use crate::scenarios::{Baseline, Delivering, FollowUp, Stock, World};
use crate::target::Server;
use crate::webhooks::Endpoint;

/// Latencies that a step of a search has at least, unless that takes too long: ten of them are above the 99th
/// percentile then.
const LATENCIES_OF_A_STEP: f64 = 1_000.0;

/// The longest step of a search.
const STEP_MAX: Duration = Duration::from_secs(60);

/// A step in which less than this share of the rate is reached is not passed, whatever its latencies.
const RATE_REACHED: f64 = 0.97;

/// How often it is looked whether the run is to be broken off.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A command on its way.
pub struct Bench<'a> {
    plan: &'a Plan,
    server: &'a Server,
    progress: &'a Progress,
    interrupted: Arc<AtomicBool>,
    endpoint: Endpoint,
    runtime: tokio::runtime::Runtime,
}

/// What a command comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchResult {
    /// One for each value of a sweep, else one.
    pub points: Vec<Point>,
    /// The search, when there was one.
    pub search: Option<SearchResult>,
}

/// What a search comes to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchResult {
    /// What the 99th percentile had to stay below, in microseconds.
    pub p99_below_micros: u64,
    /// The highest rate with which it did, in calls a second; null when there is none.
    pub highest_rate: Option<f64>,
    /// All rates that were tried, in order.
    pub tried: Vec<Tried>,
}

/// A rate that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Calls a second that were meant to be made.
    pub rate: f64,
    /// Calls a second that ended well.
    pub reached: f64,
    /// The 99th percentile, in microseconds.
    pub p99: u64,
    /// Whether it passed.
    pub passed: bool,
}

impl<'a> Bench<'a> {
    /// A command that `interrupted` breaks off.
    ///
    /// # Errors
    /// When the system gives no runtime, or no port for webhooks.
    pub fn new(
        plan: &'a Plan,
        server: &'a Server,
        progress: &'a Progress,
        interrupted: Arc<AtomicBool>,
    ) -> anyhow::Result<Bench<'a>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let (runtime, endpoint) = (runtime.context("failed to start a runtime")?, Endpoint::open(plan.webhooks)?);
        Ok(Bench { plan, server, progress, interrupted, endpoint, runtime })
    }

    /// Makes what is needed and measures.
    ///
    /// # Errors
    /// When the server cannot be reached, or refuses what is needed beforehand.
    pub fn run(&self) -> anyhow::Result<BenchResult> {
        let Server { public, admin, ref admin_token, .. } = *self.server;
        let tell = |text: &str| self.progress.tell(text);
        let webhook_address = self.endpoint.address()?;
        let stock = Stock::prepare(self.plan, public, admin, admin_token.clone(), webhook_address, &tell);
        let stock = Arc::new(self.wait(stock)?);
        match (&self.plan.load, &self.plan.sweep) {
            (Load::Search(goal), _) => self.search(&stock, *goal),
            (Load::Closed | Load::Open { .. }, None) => {
                Ok(BenchResult { points: vec![self.point(&stock, self.plan, 0)?], search: None })
            }
            (Load::Closed | Load::Open { .. }, Some(sweep)) => {
                let plans = sweep.values.iter().map(|value| self.plan.with_value(sweep.knob, *value));
                let points = plans.enumerate().map(|(run, plan)| self.told_point(&stock, &plan, run));
                Ok(BenchResult { points: points.collect::<anyhow::Result<_>>()?, search: None })
            }
        }
    }

    fn told_point(&self, stock: &Arc<Stock>, plan: &Plan, run: usize) -> anyhow::Result<Point> {
        self.progress.tell(&format!("merchants: {}, connections: {}", plan.merchants, plan.connections));
        self.point(stock, plan, run)
    }

    /// Measures once.
    fn point(&self, stock: &Arc<Stock>, plan: &Plan, run: usize) -> anyhow::Result<Point> {
        let tell = |text: &str| self.progress.tell(text);
        let world = Arc::new(self.wait(World::prepare(stock, plan, run, &self.interrupted, &tell))?);
        let before = match plan.scenario.moves_money() {
            true => Some(self.wait(Baseline::read(stock, plan.merchants))?),
            false => None,
        };
        let delivering = match self.endpoint.receiver() {
            Some(receiver) => Some(self.wait(Delivering::begin(stock, receiver))?),
            None => None,
        };
        tell(&format!("measuring for {:.1} s", plan.duration.as_secs_f64()));
        let mut measured = measure(&world, self.progress)?;
        ensure!(!world.is_interrupted(), "interrupted");
        let follow_up = before.map(|before| self.wait(measured.settling(plan, before).wait(stock))).transpose()?;
        let deliveries =
            delivering.map(|delivering| self.wait(delivering.finish(measured.last_answer()))).transpose()?;
        measured.add_wrong(self.wait(world.unlike_acknowledged())?);
        let follow_up = if plan.scenario.pays() {
            follow_up
        } else {
            measured.add_wrong(follow_up.iter().filter_map(FollowUp::unlike_acknowledged).collect());
            None
        };
        Ok(measured.into_point(plan, follow_up, deliveries))
    }

    /// Waits for something, unless the run is broken off meanwhile.
    fn wait<T>(&self, future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
        let interrupted = async {
            while !self.interrupted.load(Ordering::Relaxed) {
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

    fn search(&self, stock: &Arc<Stock>, goal: SearchGoal) -> anyhow::Result<BenchResult> {
        let p99_below_micros = u64::try_from(goal.p99_below.as_micros()).unwrap_or(u64::MAX);
        let mut search = Search::new(goal.first_rate);
        let (mut tried, mut best): (Vec<Tried>, Option<Point>) = (Vec::new(), None);
        let highest_rate = loop {
            let rate = match search.next() {
                Next::Try(rate) => rate,
                Next::Found(highest_rate) => break highest_rate,
            };
            let point = self.point(stock, &self.step_plan(rate), tried.len())?;
            let outcome = Tried::of(&point, rate, p99_below_micros);
            self.tell_of(outcome);
            tried.push(outcome);
            search.record(outcome.passed);
            if point.wrong.count > 0 {
                // There is nothing to be found of a server that answers wrongly.
                let result = SearchResult { p99_below_micros, highest_rate: None, tried };
                return Ok(BenchResult { points: vec![point], search: Some(result) });
            }
            best = if outcome.passed { Some(point) } else { best };
        };
        let points = best.filter(|best| highest_rate.is_some() && best.intended_rate == highest_rate);
        let result = SearchResult { p99_below_micros, highest_rate, tried };
        Ok(BenchResult { points: points.into_iter().collect(), search: Some(result) })
    }

    fn tell_of(&self, Tried { rate, reached: _, p99, passed }: Tried) {
        let millis = Duration::from_micros(p99).as_secs_f64() * 1000.0;
        let verdict = if passed { "passed" } else { "not passed" };
        self.progress.tell(&format!("{rate:.0}/s: p99 {millis:.2} ms, {verdict}"));
    }

    /// The run of one rate: long enough for its 99th percentile to say something.
    fn step_plan(&self, rate: f64) -> Plan {
        let enough = Duration::from_secs_f64((LATENCIES_OF_A_STEP / rate).min(STEP_MAX.as_secs_f64()));
        Plan { duration: self.plan.duration.max(enough), ..self.plan.at_rate(rate) }
    }
}

impl Tried {
    /// A rate passes when it was reached with latencies below the bound, without a failure, and what follows kept up.
    fn of(point: &Point, rate: f64, p99_below_micros: u64) -> Tried {
        let p99 = point.latency_micros.p99;
        let is_reached = point.rate >= rate * RATE_REACHED && point.never_made == 0;
        let passed = is_reached && p99 < p99_below_micros && point.failed() == 0 && !point.lags();
        Tried { rate, reached: point.rate, p99, passed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document_examples::point;
    use crate::scenarios::FollowUp;

    #[test]
    fn a_rate_passes_only_when_it_was_reached_in_time_without_failures_and_the_rest_kept_up() {
        // The example reaches 50 a second with a p99 of 300 microseconds.
        let passes = |point: &Point, rate, bound| Tried::of(point, rate, bound).passed;
        assert!(passes(&point(), 50.0, 301));
        assert!(!passes(&point(), 50.0, 300) && !passes(&point(), 60.0, 301));
        assert!(!passes(&Point { never_made: 1, ..point() }, 50.0, 301));
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
