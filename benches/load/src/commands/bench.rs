//! `till-bench`

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand};
use jiff::Timestamp;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::output::{print, say};
use crate::plan::{
    FailIf, Filter, ListWork, LoadMode, MetadataWork, Plan, Scenario, ScenarioKind, SearchGoal, Skew, Sweep, Webhooks,
    Weights, parse_rate, parse_share, parse_span,
};
use crate::report::{Comparison, Document, comparison_page, comparison_text, run_page, run_text};
use crate::run::{Bench, BenchResult, RunProgress};
use crate::target::{OwnServer, ServerAddress, ServerSetting, TargetServer, Trust, program_beside, server_address};
use till::{Configuration, ExitCode, Secrets};

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
    Initiate(InitiateArguments),
    /// From the card to the settled ledger entry
    Flow(LoadArguments),
    /// capture-payment, whole and in part, with authorized payments made beforehand, and whether the captures keep up
    Capture(ChangeArguments),
    /// void-payment, with authorized payments made beforehand
    Void(ChangeArguments),
    /// refund-payment, several of each payment, with captured payments made beforehand
    Refund(ChangeArguments),
    /// send-payout, of balances that were filled beforehand
    Payout(LoadArguments),
    /// add-to-metadata-set
    Metadata(MetadataArguments),
    /// list-activity-logs
    Activity(ActivityArguments),
    /// balance-history
    Balance(BalanceArguments),
    /// Several of these at once
    Mixed(MixedArguments),
    /// Compares reports that --json wrote: two, or several of each side, with their spread
    Compare(CompareArguments),
}

/// The load, the server, and the destinations of the results.
#[derive(Debug, Clone, Args)]
pub struct LoadArguments {
    /// The server to be measured, as http://HOST:PORT or https://HOST:PORT; without it, one is started for the run and removed again
    #[arg(long, value_name = "URL")]
    pub target: Option<String>,
    /// Its admin listener, as http://HOST:PORT or https://HOST:PORT [default: where --admin-listen says]
    #[arg(long, value_name = "URL", requires = "target")]
    pub admin: Option<String>,
    /// The certificates, in PEM form, to trust a server with TLS by [default: those that the system trusts]
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// Allow a server on another machine
    #[arg(long)]
    pub allow_remote: bool,
    /// The program of a server of our own [default: till beside this program]
    #[arg(long, value_name = "FILE", conflicts_with = "target")]
    pub till: Option<PathBuf>,
    /// The parent of the directory of a server of our own [default: the system's temporary directory]
    #[arg(long, value_name = "DIR", conflicts_with = "target")]
    pub server_directory: Option<PathBuf>,
    /// A setting of a server of our own, as archive_directory=DIR; may be repeated
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "target")]
    pub server_setting: Vec<ServerSetting>,
    /// Merchants that are called
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub merchants: usize,
    /// The distribution of calls over merchants: uniform, zipf:EXPONENT or hot:SHARE
    #[arg(long, default_value = "uniform")]
    pub skew: Skew,
    /// Connections that are open at once
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub connections: usize,
    /// Threads of the load tester; on a small machine each takes its processor from the server
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub threads: usize,
    /// The time that is measured; of a search, by each step
    #[arg(long, value_name = "SPAN", default_value = "10s", value_parser = parse_span)]
    pub duration: Duration,
    /// The time before the measurement in which calls are made and not counted
    #[arg(long, value_name = "SPAN", default_value = "2s", value_parser = parse_span)]
    pub warm_up: Duration,
    /// Calls a second at fixed times (an open loop); of a search, the first rate. Without it, each connection makes its
    /// next call as soon as it has its answer (a closed loop)
    #[arg(long, value_name = "CALLS", value_parser = parse_rate)]
    pub rate: Option<f64>,
    /// The time that a call of an open loop waits for a free connection before it is given up and counted as never
    /// made, as callers do that are independent of each other
    #[arg(long, value_name = "SPAN", value_parser = parse_span, requires = "rate", conflicts_with = "search")]
    pub patience: Option<Duration>,
    /// Search for the highest rate that meets --p99-below
    #[arg(long, requires = "p99_below")]
    pub search: bool,
    /// The bound of a search: the 99th percentile of its latencies stays below it
    #[arg(long, value_name = "SPAN", value_parser = parse_span, requires = "search")]
    pub p99_below: Option<Duration>,
    /// Measure for several values: merchants=1,4,16 or connections=1,8,64
    #[arg(long, value_name = "KNOB=VALUES")]
    pub sweep: Option<Sweep>,
    /// Webhooks of the merchants, for all events of a scenario that pays
    #[arg(long, value_name = "KIND", value_enum, default_value = "none")]
    pub webhooks: Webhooks,
    /// Counts the run as failed (exit code 5) when this holds, as 'p99>50ms', 'rate<1000' or 'errors>0'; may be repeated
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<FailIf>,
    /// Write the report as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the report as a page with pictures
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// `initiate`
#[derive(Debug, Clone, Args)]
pub struct InitiateArguments {
    /// The load.
    #[command(flatten)]
    pub load: LoadArguments,
    /// The sessions that are made beforehand.
    #[command(flatten)]
    pub sessions: SessionArguments,
}

/// Sessions that are made beforehand.
#[derive(Debug, Clone, Copy, Args)]
pub struct SessionArguments {
    /// Payment sessions made beforehand [default: the number that the run is likely to use]
    #[arg(long, value_name = "N")]
    pub sessions: Option<usize>,
}

/// `capture`, `void`, `refund`
#[derive(Debug, Clone, Args)]
pub struct ChangeArguments {
    /// The load.
    #[command(flatten)]
    pub load: LoadArguments,
    /// The payments that are made beforehand.
    #[command(flatten)]
    pub payments: PaymentArguments,
}

/// Payments that are made beforehand.
#[derive(Debug, Clone, Copy, Args)]
pub struct PaymentArguments {
    /// Payments of each kind made beforehand: to capture or void, and to refund [default: the number that is likely used]
    #[arg(long, value_name = "N")]
    pub payments: Option<usize>,
}

/// `metadata`
#[derive(Debug, Clone, Args)]
pub struct MetadataArguments {
    /// The load.
    #[command(flatten)]
    pub load: LoadArguments,
    /// The sets that are added to.
    #[command(flatten)]
    pub sets: SetArguments,
}

/// Sets that are added to.
#[derive(Debug, Clone, Copy, Args)]
pub struct SetArguments {
    /// The share of additions that name a version
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = parse_share)]
    pub versioned: f64,
    /// The share of additions that change nothing: the item is there already, or the version is old
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = parse_share)]
    pub conflict_rate: f64,
    /// Items in each set beforehand
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub set_size: usize,
}

/// `activity`
#[derive(Debug, Clone, Args)]
pub struct ActivityArguments {
    /// The load.
    #[command(flatten)]
    pub load: LoadArguments,
    /// The pages that are read.
    #[command(flatten)]
    pub pages: PageArguments,
    /// The filter of the entries.
    #[command(flatten)]
    pub filter: FilterArguments,
}

/// `balance`
#[derive(Debug, Clone, Args)]
pub struct BalanceArguments {
    /// The load.
    #[command(flatten)]
    pub load: LoadArguments,
    /// The pages that are read.
    #[command(flatten)]
    pub pages: PageArguments,
}

/// Pages of lists.
#[derive(Debug, Clone, Copy, Args)]
pub struct PageArguments {
    /// Entries of each merchant beforehand
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub entries: usize,
    /// Entries before the page that is asked for [default: a random number]
    #[arg(long, value_name = "N")]
    pub depth: Option<usize>,
    /// Entries to a page
    #[arg(long, value_name = "N", default_value_t = 25)]
    pub per_page: usize,
}

/// The filter of activity.
#[derive(Debug, Clone, Copy, Args)]
pub struct FilterArguments {
    /// The filter of the activity log
    #[arg(long, value_enum, default_value = "none")]
    pub filter: Filter,
}

/// `mixed`
#[derive(Debug, Clone, Args)]
pub struct MixedArguments {
    /// The load.
    #[command(flatten)]
    pub load: LoadArguments,
    /// The weight of each kind of work
    #[arg(long, value_name = "KIND=WEIGHT,...", default_value = "initiate=5,metadata=3,activity=1,balance=1")]
    pub weights: Weights,
    /// The sessions that are made beforehand.
    #[command(flatten)]
    pub sessions: SessionArguments,
    /// The payments that are made beforehand.
    #[command(flatten)]
    pub payments: PaymentArguments,
    /// The sets that are added to.
    #[command(flatten)]
    pub sets: SetArguments,
    /// The pages that are read.
    #[command(flatten)]
    pub pages: PageArguments,
    /// The filter of the activity log.
    #[command(flatten)]
    pub filter: FilterArguments,
}

/// Reports of one side, as they are written on the command line.
#[derive(Debug, Clone)]
pub struct ReportFiles(Vec<PathBuf>);

/// `compare`
#[derive(Debug, Clone, Args)]
pub struct CompareArguments {
    /// The reports of the first side: files with a comma between them, or a directory
    pub first: ReportFiles,
    /// The reports of the second side, in the same form
    pub second: ReportFiles,
    /// Write the comparison as a page with pictures
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// The arguments of a command beside its load. A scenario does not use the members that its command cannot set.
struct ScenarioArguments {
    scenario: Scenario,
    sessions: Option<usize>,
    payments: Option<usize>,
    metadata: MetadataWork,
    lists: ListWork,
}

impl ScenarioArguments {
    fn of(kind: ScenarioKind) -> ScenarioArguments {
        ScenarioArguments {
            scenario: Scenario::of(kind),
            sessions: None,
            payments: None,
            metadata: MetadataWork { versioned_share: 0.0, conflict_rate: 0.0, set_size: 0 },
            lists: ListWork { entries: 1, depth: None, per_page: 25, filter: Filter::None },
        }
    }
}

impl ChangeArguments {
    fn work(&self, kind: ScenarioKind) -> (&LoadArguments, ScenarioArguments) {
        (&self.load, ScenarioArguments { payments: self.payments.payments, ..ScenarioArguments::of(kind) })
    }
}

impl SetArguments {
    const fn work(self) -> MetadataWork {
        let SetArguments { versioned, conflict_rate, set_size } = self;
        MetadataWork { versioned_share: versioned, conflict_rate, set_size }
    }
}

impl PageArguments {
    const fn work(self, filter: Filter) -> ListWork {
        let PageArguments { entries, depth, per_page } = self;
        ListWork { entries, depth, per_page, filter }
    }
}

impl LoadArguments {
    fn plan(&self, work: ScenarioArguments) -> Plan {
        let load = match (self.p99_below, self.rate) {
            (Some(p99_below), rate) => LoadMode::Search(SearchGoal { p99_below, first_rate: rate.unwrap_or(200.0) }),
            (None, Some(rate)) => LoadMode::Open { rate, patience: self.patience },
            (None, None) => LoadMode::Closed,
        };
        Plan {
            scenario: work.scenario,
            merchants: self.merchants,
            skew: self.skew,
            connections: self.connections,
            threads: self.threads,
            duration: self.duration,
            warm_up: self.warm_up,
            load,
            sweep: self.sweep.clone(),
            sessions: work.sessions,
            payments: work.payments,
            webhooks: self.webhooks,
            metadata: work.metadata,
            lists: work.lists,
            fail_if: self.fail_if.clone(),
        }
    }
}

/// Runs a measurement, or compares two reports.
pub(super) fn bench(configuration: &Configuration, command: &BenchCommand) -> anyhow::Result<ExitCode> {
    let (load, work) = match command {
        BenchCommand::Compare(arguments) => return compare(arguments),
        BenchCommand::Ping(load) => (load, ScenarioArguments::of(ScenarioKind::Ping)),
        BenchCommand::Flow(load) => (load, ScenarioArguments::of(ScenarioKind::Flow)),
        BenchCommand::Payout(load) => (load, ScenarioArguments::of(ScenarioKind::Payout)),
        BenchCommand::Initiate(InitiateArguments { load, sessions }) => {
            (load, ScenarioArguments { sessions: sessions.sessions, ..ScenarioArguments::of(ScenarioKind::Initiate) })
        }
        BenchCommand::Capture(arguments) => arguments.work(ScenarioKind::Capture),
        BenchCommand::Void(arguments) => arguments.work(ScenarioKind::Void),
        BenchCommand::Refund(arguments) => arguments.work(ScenarioKind::Refund),
        BenchCommand::Metadata(MetadataArguments { load, sets }) => {
            (load, ScenarioArguments { metadata: sets.work(), ..ScenarioArguments::of(ScenarioKind::Metadata) })
        }
        BenchCommand::Activity(ActivityArguments { load, pages, filter }) => (
            load,
            ScenarioArguments { lists: pages.work(filter.filter), ..ScenarioArguments::of(ScenarioKind::Activity) },
        ),
        BenchCommand::Balance(BalanceArguments { load, pages }) => (
            load,
            ScenarioArguments { lists: pages.work(Filter::None), ..ScenarioArguments::of(ScenarioKind::Balance) },
        ),
        BenchCommand::Mixed(MixedArguments { load, weights, sessions, payments, sets, pages, filter }) => {
            let (sessions, payments) = (sessions.sessions, payments.payments);
            let (metadata, lists) = (sets.work(), pages.work(filter.filter));
            (
                load,
                ScenarioArguments { scenario: Scenario::mixed(weights.clone()), sessions, payments, metadata, lists },
            )
        }
    };
    measure(configuration, load, &load.plan(work))
}

fn measure(configuration: &Configuration, arguments: &LoadArguments, plan: &Plan) -> anyhow::Result<ExitCode> {
    plan.check()?;
    let (started_at, machine, progress) = (Timestamp::now(), Document::machine(), RunProgress::new());
    let interrupted = interrupted()?;
    let (mut own, server) = server(configuration, arguments)?;
    ensure!(
        server.is_on_this_machine() || plan.webhooks == Webhooks::None,
        "--webhooks: needs a server on this machine, since the webhooks lead to 127.0.0.1"
    );
    let result = Bench::new(plan, &server, &progress, Arc::clone(&interrupted)).and_then(|bench| bench.run());
    progress.finish();
    // A server that got the same signal as the load tester has not failed.
    let result = match &mut own {
        Some(own) if !interrupted.load(Ordering::Relaxed) => explained(own, result)?,
        Some(_) | None => result?,
    };
    drop(own);
    let document = Document::new(plan, &server, started_at, machine, result);
    print(&run_text(&document));
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

/// The server to be measured, and the process of our own server, which must be kept alive meanwhile.
fn server(
    configuration: &Configuration,
    arguments: &LoadArguments,
) -> anyhow::Result<(Option<OwnServer>, TargetServer)> {
    let trust = arguments.ca_file.clone().map_or(Trust::System, Trust::File);
    let (own, server) = called(configuration, arguments, &trust)?;
    let has_tls = server.public.tls().is_some() || server.admin.tls().is_some();
    ensure!(
        has_tls || arguments.ca_file.is_none(),
        "--ca-file: needs a server with TLS, as --target https://HOST:PORT"
    );
    Ok((own, server))
}

fn called(
    configuration: &Configuration,
    arguments: &LoadArguments,
    trust: &Trust,
) -> anyhow::Result<(Option<OwnServer>, TargetServer)> {
    let Some(target) = &arguments.target else {
        let parent = arguments.server_directory.clone().unwrap_or_else(std::env::temp_dir);
        let program = arguments.till.clone().map_or_else(program_beside, Ok)?;
        let (own, server) = OwnServer::start(&program, &parent, &server_settings(arguments), trust)?;
        return Ok((Some(own), server));
    };
    let admin = admin_address(configuration, arguments, trust)?;
    let server = TargetServer {
        public: server_address(target, arguments.allow_remote, trust)?,
        admin,
        admin_token: Secrets::find_admin_token(configuration)?,
        is_own: false,
        process_id: None,
        settings: std::collections::BTreeMap::new(),
        data_filesystem: None,
    };
    Ok((None, server))
}

/// The admin listener. The certificates that the operator's commands trust it by count before `trust`; with them, the
/// listener that the configuration describes speaks TLS.
fn admin_address(
    configuration: &Configuration,
    arguments: &LoadArguments,
    trust: &Trust,
) -> anyhow::Result<ServerAddress> {
    let own = configuration.admin_tls.as_ref().map(|files| &files.certificate);
    let certificates = configuration.admin_ca_file.as_ref().or(own).cloned();
    let of_configuration = certificates.map(Trust::File);
    Ok(match (&arguments.admin, of_configuration) {
        (Some(admin), of_configuration) => {
            server_address(admin, arguments.allow_remote, of_configuration.as_ref().unwrap_or(trust))?
        }
        (None, Some(of_configuration)) => {
            let text = format!("https://{}:{}", configuration.admin_host, configuration.admin_listen.port());
            server_address(&text, true, &of_configuration)?
        }
        (None, None) => ServerAddress::without_tls(configuration.admin_listen),
    })
}

/// The settings of a server of our own: it calls webhooks on this machine only when it is told to.
fn server_settings(arguments: &LoadArguments) -> Vec<ServerSetting> {
    let mut settings = arguments.server_setting.clone();
    let calls_this_machine = ServerSetting::webhooks_to_this_machine();
    let is_given = settings.iter().any(|setting| setting.has_key_of(&calls_this_machine));
    if arguments.webhooks != Webhooks::None && !is_given {
        settings.push(calls_this_machine);
    }
    settings
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

fn compare(arguments: &CompareArguments) -> anyhow::Result<ExitCode> {
    let (first, second) = (arguments.first.paths()?, arguments.second.paths()?);
    if let Some(path) = given_twice(&first, &second) {
        bail!("{}: is given twice", path.display());
    }
    let read = |paths: Vec<PathBuf>| paths.iter().map(|path| Document::read(path)).collect::<Result<Vec<_>, _>>();
    let comparison = Comparison::new(read(first)?, read(second)?)?;
    print(&comparison_text(&comparison));
    write(arguments.html.as_deref(), || comparison_page(&comparison))?;
    Ok(ExitCode::SUCCESS)
}

impl FromStr for ReportFiles {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<ReportFiles, &'static str> {
        // A comma may be a part of a name.
        let is_one = Path::new(text).exists();
        let parts = if is_one { vec![text] } else { text.split(',').collect() };
        if parts.contains(&"") {
            Err("is not a list of files")
        } else {
            Ok(ReportFiles(parts.into_iter().map(PathBuf::from).collect()))
        }
    }
}

impl ReportFiles {
    /// The files; of a directory those whose names end in `.json`, in the order of their names.
    fn paths(&self) -> anyhow::Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for part in &self.0 {
            if part.is_dir() {
                let found = reports_in(part).with_context(|| format!("failed to read {}", part.display()))?;
                ensure!(!found.is_empty(), "{}: holds no file whose name ends in .json", part.display());
                paths.extend(found);
            } else {
                paths.push(part.clone());
            }
        }
        Ok(paths)
    }
}

fn reports_in(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = entries.collect::<Result<Vec<_>, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    Ok(paths)
}

/// The first file that is given twice: a run that counts twice would narrow no range, and seem to.
fn given_twice<'p>(first: &'p [PathBuf], second: &'p [PathBuf]) -> Option<&'p PathBuf> {
    let mut seen = BTreeSet::new();
    first.iter().chain(second).find(|path| !seen.insert(path.canonicalize().unwrap_or_else(|_| (*path).clone())))
}

fn write(file: Option<&Path>, text: impl FnOnce() -> String) -> anyhow::Result<()> {
    let Some(file) = file else { return Ok(()) };
    std::fs::write(file, text()).with_context(|| format!("failed to write {}", file.display()))
}
