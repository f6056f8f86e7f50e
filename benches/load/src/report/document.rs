//! The report for machines. `docs/benchmarking.md` describes every member.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::machine::{Machine, Program};
use super::notes::notes;
use super::verdict::{Verdict, verdicts};
use crate::plan::{ListWork, LoadMode, MetadataWork, Plan, Scenario, ScenarioKind, SearchGoal, Sweep, Webhooks};
use crate::run::{BenchResult, Point, SearchResult};
use crate::target::TargetServer;

/// The name of the schema.
const SCHEMA: &str = "till-bench";

/// The version of the schema: it grows with every change that a reader of the former version cannot handle.
const SCHEMA_VERSION: u32 = 1;

/// A report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// `till-bench`.
    pub schema: String,
    /// 1.
    pub schema_version: u32,
    /// The time at which the command began.
    pub started_at: String,
    /// The load tester; the server as well, when the load tester started it.
    pub till: Program,
    /// The machine of the load tester.
    pub machine: Machine,
    /// The server.
    pub server: Origin,
    /// The parameters of the command.
    pub parameters: Parameters,
    /// The results for each value of a sweep, else of the only run; none when a search found no rate.
    pub points: Vec<Point>,
    /// The search, when there was one.
    pub search: Option<SearchResult>,
    /// The time and the reason at which the server could not be measured any more; null when it was measured to the end.
    #[serde(default)]
    pub ended_early: Option<String>,
    /// The result of each `--fail-if` at each point.
    #[serde(default)]
    pub fail_if: Vec<Verdict>,
    /// Sentences that a reader of the figures must know.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// The server that was called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// True when the load tester started the server for the run, from the same build.
    pub own: bool,
    /// True when the server ran on the load tester's machine, and so shared its processors.
    pub same_machine: bool,
    /// True when it was called with TLS.
    #[serde(default)]
    pub tls: bool,
    /// Its settings, where they are known.
    pub settings: BTreeMap<String, String>,
    /// The file system of its data, where it is known.
    pub data_filesystem: Option<String>,
}

/// The parameters of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// The scenario and its weights.
    pub scenario: Scenario,
    /// Merchants.
    pub merchants: usize,
    /// The distribution of calls over merchants.
    pub skew: String,
    /// Connections.
    pub connections: usize,
    /// Threads of the load tester.
    pub threads: usize,
    /// The planned time of the measurement, in seconds; of a search, that of each step.
    pub duration_seconds: f64,
    /// The time before the measurement in which calls were made, in seconds.
    pub warm_up_seconds: f64,
    /// `closed`, `open` or `search`.
    pub mode: String,
    /// Calls a second of an open loop.
    pub rate: Option<f64>,
    /// The time after which a call of an open loop that waited for a connection was given up, in microseconds; null
    /// without a limit.
    #[serde(default)]
    pub patience_micros: Option<u64>,
    /// The bound of a search for the 99th percentile, in microseconds.
    pub p99_below_micros: Option<u64>,
    /// The sweep.
    pub sweep: Option<Sweep>,
    /// The parameters of `metadata`.
    pub metadata: Option<MetadataWork>,
    /// `none`, `receiver` or `dead`.
    #[serde(default)]
    pub webhooks: Webhooks,
    /// The parameters of `activity` and `balance`.
    pub lists: Option<ListWork>,
}

/// The reason that a report cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadFault {
    /// The file cannot be read.
    #[error("{file}: {reason}")]
    File {
        /// The file.
        file: String,
        /// The reason.
        reason: String,
    },
    /// The file is not a report, or a report of another version.
    #[error("{file}: is not a report of `till-bench --json` of schema version {SCHEMA_VERSION}: {reason}")]
    OtherSchema {
        /// The file.
        file: String,
        /// The difference from a report.
        reason: String,
    },
}

/// The members that are read first.
#[derive(Deserialize)]
struct Envelope {
    schema: String,
    schema_version: u32,
}

impl Document {
    /// The report of a command's results.
    #[must_use]
    pub fn new(
        plan: &Plan,
        server: &TargetServer,
        started_at: Timestamp,
        machine: Machine,
        result: BenchResult,
    ) -> Document {
        let document = Document {
            schema: SCHEMA.to_owned(),
            schema_version: SCHEMA_VERSION,
            started_at: started_at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            till: Program::this(),
            machine,
            server: Origin {
                own: server.is_own,
                same_machine: server.is_on_this_machine(),
                tls: server.public.tls().is_some(),
                settings: server.settings.clone(),
                data_filesystem: server.data_filesystem.clone(),
            },
            parameters: Parameters::new(plan),
            points: result.points,
            search: result.search,
            ended_early: result.ended_early,
            fail_if: Vec::new(),
            notes: Vec::new(),
        };
        let (fail_if, notes) = (verdicts(&plan.fail_if, &document), notes(&document));
        Document { fail_if, notes, ..document }
    }

    /// The machine that this is, for [`Document::new`]; to be asked before the run. Watches it for a moment.
    #[must_use]
    pub fn machine() -> Machine {
        Machine::watched()
    }

    /// Reads a report.
    ///
    /// # Errors
    /// Fails when the file cannot be read, or is not a report of this version.
    pub fn read(path: &Path) -> Result<Document, ReadFault> {
        let file = path.display().to_string();
        let fault = |reason: String| ReadFault::File { file: file.clone(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| fault(error.to_string()))?;
        let other = |reason: String| ReadFault::OtherSchema { file: file.clone(), reason };
        let envelope: Envelope = serde_json::from_str(&text).map_err(|error| other(error.to_string()))?;
        if (envelope.schema.as_str(), envelope.schema_version) != (SCHEMA, SCHEMA_VERSION) {
            return Err(other(format!("it says {} {}", envelope.schema, envelope.schema_version)));
        }
        serde_json::from_str(&text).map_err(|error| other(error.to_string()))
    }

    /// The report as JSON, with a line feed at its end.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("all of it can be written as JSON") + "\n"
    }

    /// True when one of the conditions of `--fail-if` holds.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        self.fail_if.iter().any(|verdict| verdict.failed)
    }

    /// The number of wrong answers of all runs.
    #[must_use]
    pub fn wrong(&self) -> u64 {
        self.points.iter().map(|point| point.wrong.count).sum()
    }
}

impl Parameters {
    fn new(plan: &Plan) -> Parameters {
        let (mode, rate, goal): (_, _, Option<SearchGoal>) = match plan.load {
            LoadMode::Closed => ("closed", None, None),
            LoadMode::Open { rate, patience: _ } => ("open", Some(rate), None),
            LoadMode::Search(goal) => ("search", None, Some(goal)),
        };
        let has_lists = plan.scenario.has(ScenarioKind::Activity) || plan.scenario.has(ScenarioKind::Balance);
        Parameters {
            scenario: plan.scenario.clone(),
            merchants: plan.merchants,
            skew: plan.skew.to_string(),
            connections: plan.connections,
            threads: plan.threads,
            duration_seconds: plan.duration.as_secs_f64(),
            warm_up_seconds: plan.warm_up.as_secs_f64(),
            mode: mode.to_owned(),
            rate,
            patience_micros: match plan.load {
                LoadMode::Open { patience, .. } => patience.map(micros),
                LoadMode::Closed | LoadMode::Search(_) => None,
            },
            p99_below_micros: goal.map(|goal| micros(goal.p99_below)),
            sweep: plan.sweep.clone(),
            webhooks: plan.webhooks,
            metadata: plan.scenario.has(ScenarioKind::Metadata).then_some(plan.metadata),
            lists: has_lists.then_some(plan.lists),
        }
    }

    /// True when each connection sends its next call only after the answer.
    pub(super) fn is_closed_loop(&self) -> bool {
        self.mode == "closed"
    }

    /// A short description of the command.
    #[must_use]
    pub fn title(&self) -> String {
        let mode = match (self.rate, self.p99_below_micros) {
            (Some(rate), _) => format!("open loop, {rate:.0} calls/s"),
            (None, Some(_)) => "search for the highest rate".to_owned(),
            (None, None) => "closed loop".to_owned(),
        };
        let swept = self.sweep.as_ref().map(|sweep| format!(", sweep over {}", sweep.knob.word()));
        format!("{}, {mode}{}", self.scenario.word, swept.unwrap_or_default())
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
pub(crate) mod examples {
    use super::*;
    use crate::plan::parameters::examples::plan;
    use crate::recording::{Latency, Percentile, TimelinePoint};
    use crate::run::{StepLatency, Wrong};
    use crate::target::ServerAddress;

    /// A report that tests vary.
    pub(crate) fn document() -> Document {
        let server = TargetServer {
            public: ServerAddress::without_tls(std::net::SocketAddr::from(([127, 0, 0, 1], 1))),
            admin: ServerAddress::without_tls(std::net::SocketAddr::from(([127, 0, 0, 1], 2))),
            admin_token: "token".to_owned().into(),
            is_own: true,
            process_id: None,
            settings: BTreeMap::new(),
            data_filesystem: Some("ext4".to_owned()),
        };
        let result = BenchResult { points: vec![point()], search: None, ended_early: None };
        Document::new(&plan(ScenarioKind::Ping), &server, Timestamp::UNIX_EPOCH, Machine::here(), result)
    }

    /// A point that tests vary.
    pub(crate) fn point() -> Point {
        let latency = Latency { count: 100, min: 80, mean: 120, p50: 110, p90: 150, p99: 300, p999: 900, max: 1_200 };
        let moment =
            |at_millis| TimelinePoint { at_millis, rate: 50.0, failure_rate: 0.0, p50: 110, p99: 300, max: 1_200 };
        Point {
            merchants: 4,
            connections: 8,
            intended_rate: None,
            seconds: 2.0,
            operations: 100,
            rate: 50.0,
            failures: BTreeMap::new(),
            wrong: Wrong::default(),
            never_made: 0,
            rate_kept: None,
            ended_early: None,
            latency_micros: latency,
            refused_micros: Latency::default(),
            steps: vec![StepLatency { name: "get-balance".to_owned(), latency_micros: latency }],
            percentiles: vec![
                Percentile { percentile: 0.0, micros: 80 },
                Percentile { percentile: 50.0, micros: 110 },
                Percentile { percentile: 99.0, micros: 300 },
            ],
            interval_millis: 1_000,
            timeline: vec![moment(0), moment(1_000)],
            follow_up: None,
            deliveries: None,
            others_busy: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::examples::document;
    use super::*;

    #[test]
    fn a_report_reads_back_as_it_was_written() {
        let file = tempfile::NamedTempFile::new().unwrap_or_else(|error| panic!("{error}"));
        assert!(std::fs::write(file.path(), document().to_json()).is_ok());
        assert_eq!(Document::read(file.path()).map_err(|fault| fault.to_string()), Ok(document()));
    }

    #[test]
    fn a_file_that_is_no_report_of_this_version_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap_or_else(|error| panic!("{error}"));
        let newer = document().to_json().replace("\"schema_version\": 1", "\"schema_version\": 2");
        for text in ["", "{}", newer.as_str(), "{\"schema\":\"till-bench\",\"schema_version\":1}"] {
            assert!(std::fs::write(file.path(), text).is_ok());
            assert!(matches!(Document::read(file.path()), Err(ReadFault::OtherSchema { .. })), "{text}");
        }
        assert!(matches!(Document::read(Path::new("/nonexistent/report")), Err(ReadFault::File { .. })));
    }
}
