//! `till-bench` with a scenario: a measurement, and the destinations of its results.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, ensure};
use clap::{Args, Subcommand};
use jiff::Timestamp;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::comparing::{CompareArguments, compare};
use super::output::{print, say, write};
use super::server::ServerArguments;
use crate::plan::{Knob, Plan, Scenario, ScenarioKind, Stages};
use crate::report::{self, Document, Machine, run_page, run_text};
use crate::run::{Bench, BenchResult, Feed, RunProgress};
use crate::target::OwnServer;
use till::{Configuration, ExitCode};

/// The exit code when an answer was wrong.
const WRONG_ANSWERS: u8 = 3;

/// The exit code when the server could not be measured to the end. The report has the results up to then.
const ENDED_EARLY: u8 = 4;

/// The exit code when a condition of `--fail-if` holds.
const CONDITION_HOLDS: u8 = 5;

/// The scenario that is measured, or a comparison.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// get-balance, the cheapest call with a key
    Ping(LoadArguments),
    /// initiate-payment-flow, with sessions made beforehand, and whether the captures keep up
    Initiate(LoadArguments),
    /// From the card to the settled ledger entry
    Flow(LoadArguments),
    /// A checkout: start-checkout, its page, and its payment by card
    Checkout(LoadArguments),
    /// capture-payment, whole and in part, with authorized payments made beforehand, and whether the captures keep up
    Capture(LoadArguments),
    /// refund-payment, several of each payment, with captured payments made beforehand
    Refund(LoadArguments),
    /// add-to-metadata-set
    Metadata(LoadArguments),
    /// list-activity-logs
    Activity(LoadArguments),
    /// balance-history
    Balance(LoadArguments),
    /// Several of these at once
    Mixed(MixedArguments),
    /// Compares reports that --json wrote: two, or several of each side, with their spread
    Compare(CompareArguments),
}

/// The load, the server, and the destinations of the results.
#[derive(Debug, Clone, Args)]
pub struct LoadArguments {
    /// The load.
    #[command(flatten)]
    pub plan: Plan,
    /// The server.
    #[command(flatten)]
    pub server: ServerArguments,
    /// Write the report as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the report as a page with pictures
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write a line of JSON for each second while the run lasts; with - to standard output, and the table to standard
    /// error
    #[arg(long, value_name = "FILE")]
    pub feed: Option<PathBuf>,
}

/// `mixed`
#[derive(Debug, Clone, Args)]
pub struct MixedArguments {
    /// The weight of each kind of work: of the scenarios, and of void and payout
    #[arg(long, value_name = "KIND=WEIGHT,...", default_value = "initiate=5,metadata=3,activity=1,balance=1")]
    pub weights: Scenario,
    /// The load.
    #[command(flatten)]
    pub load: LoadArguments,
}

/// Runs a measurement, or compares reports.
pub(super) fn bench(configuration: &Configuration, command: &BenchCommand) -> anyhow::Result<ExitCode> {
    let (scenario, load) = match command {
        BenchCommand::Ping(load) => (ScenarioKind::Ping.into(), load),
        BenchCommand::Initiate(load) => (ScenarioKind::Initiate.into(), load),
        BenchCommand::Flow(load) => (ScenarioKind::Flow.into(), load),
        BenchCommand::Checkout(load) => (ScenarioKind::Checkout.into(), load),
        BenchCommand::Capture(load) => (ScenarioKind::Capture.into(), load),
        BenchCommand::Refund(load) => (ScenarioKind::Refund.into(), load),
        BenchCommand::Metadata(load) => (ScenarioKind::Metadata.into(), load),
        BenchCommand::Activity(load) => (ScenarioKind::Activity.into(), load),
        BenchCommand::Balance(load) => (ScenarioKind::Balance.into(), load),
        BenchCommand::Mixed(mixed) => (mixed.weights.clone(), &mixed.load),
        BenchCommand::Compare(arguments) => return compare(arguments),
    };
    measure(configuration, load, &plan(scenario, load)?)
}

/// The whole plan, checked.
fn plan(scenario: Scenario, arguments: &LoadArguments) -> anyhow::Result<Plan> {
    let mut plan = Plan { scenario, ..arguments.plan.clone() };
    plan.duration = plan.stages.as_ref().map_or(plan.duration, Stages::span);
    if arguments.server.key.is_some() {
        plan.merchants = 1;
        let has_ids = arguments.server.merchant.is_some();
        ensure!(
            has_ids || !plan.scenario.uses_sessions(),
            "--key: customers pay, which needs --merchant and --installation"
        );
        let is_swept = plan.sweep.as_ref().is_some_and(|sweep| sweep.knob == Knob::Merchants);
        ensure!(!is_swept, "--sweep: there is one merchant with --key");
    }
    plan.check()?;
    Ok(plan)
}

fn measure(configuration: &Configuration, arguments: &LoadArguments, plan: &Plan) -> anyhow::Result<ExitCode> {
    let (started_at, machine, progress) = (Timestamp::now(), Machine::watched(), RunProgress::new());
    let interrupted = interrupted()?;
    let feed = arguments.feed.as_deref().map(Feed::open).transpose()?.unwrap_or_default();
    let (mut own, server) = arguments.server.find(configuration, plan.webhooks)?;
    let bench = Bench::new(plan, &server, &progress, &feed, Arc::clone(&interrupted));
    let result = bench.and_then(|bench| bench.run());
    progress.finish();
    // A server that got the same signal as the load tester has not failed.
    let result = match &mut own {
        Some(own) if !interrupted.load(Ordering::Relaxed) => explained(own, result)?,
        Some(_) | None => result?,
    };
    drop(own);
    let document = report::document(plan, &server, started_at, machine, result);
    let is_fed_to_output = arguments.feed.as_ref().is_some_and(|feed| feed.as_os_str() == "-");
    if is_fed_to_output {
        say(&run_text(&document))
    } else {
        print(&run_text(&document))
    }
    write(arguments.json.as_deref(), || document.to_json())?;
    write(arguments.html.as_deref(), || run_page(&document))?;
    Ok(exit_code(&document))
}

/// Adds the end of the server's log to a result, when the server has ended: that is the reason of any other error.
fn explained(own: &mut OwnServer, result: anyhow::Result<BenchResult>) -> anyhow::Result<BenchResult> {
    let fault = own.has_ended().then(|| own.failed("the server that was started for this run has ended by itself"));
    match (result, fault) {
        (Ok(mut result), Some(fault)) => {
            say(&format!("till-bench: {fault:#}"));
            result.ended_early.get_or_insert("the server has ended by itself".to_owned());
            Ok(result)
        }
        (Ok(result), None) => Ok(result),
        (Err(_), Some(fault)) => Err(fault),
        (Err(error), None) => Err(own.failed(&format!("{error:#}"))),
    }
}

/// A flag that the first signal sets; the second ends the process at once.
fn interrupted() -> anyhow::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        let conditional = signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&flag));
        conditional.context("failed to listen for signals")?;
        signal_hook::flag::register(signal, Arc::clone(&flag)).context("failed to listen for signals")?;
    }
    Ok(flag)
}

fn exit_code(document: &Document) -> ExitCode {
    let has_result = document.search.is_some() || document.points.iter().any(|point| point.operations > 0);
    if document.wrong() > 0 {
        ExitCode::from(WRONG_ANSWERS)
    } else if document.ended_early.is_some() {
        ExitCode::from(ENDED_EARLY)
    } else if !has_result {
        ExitCode::FAILURE
    } else if document.is_failed() {
        ExitCode::from(CONDITION_HOLDS)
    } else {
        ExitCode::SUCCESS
    }
}
