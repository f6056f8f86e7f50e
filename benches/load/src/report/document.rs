//! The report for machines. `docs/benchmarking.md` describes every member.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, anyhow};
use serde::{Deserialize, Serialize};

use super::machine::{Machine, Program};
use super::verdict::Verdict;
use crate::plan::Plan;
use crate::run::{Point, SearchResult};

/// The name of the schema.
pub(super) const SCHEMA: &str = "till-bench";

/// The version of the schema: it grows with every change that a reader of the former version cannot handle.
pub(super) const SCHEMA_VERSION: u32 = 2;

/// A report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// `till-bench`.
    pub schema: String,
    /// 2.
    pub schema_version: u32,
    /// A short description of the command.
    pub title: String,
    /// The time at which the command began.
    pub started_at: String,
    /// The load tester; the server as well, when the load tester started it.
    pub till: Program,
    /// The machine of the load tester.
    pub machine: Machine,
    /// The server.
    pub server: Origin,
    /// The parameters of the command.
    pub parameters: Plan,
    /// The results for each value of a sweep, else of the only run; none when a search found no rate.
    pub points: Vec<Point>,
    /// The search, when there was one.
    pub search: Option<SearchResult>,
    /// The time and the reason at which the server could not be measured any more; null when it was measured to the
    /// end.
    pub ended_early: Option<String>,
    /// The result of each `--fail-if` at each point.
    pub fail_if: Vec<Verdict>,
    /// Sentences that a reader of the figures must know.
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
    pub tls: bool,
    /// Its settings, where they are known.
    pub settings: BTreeMap<String, String>,
    /// The file system of its data, where it is known.
    pub data_filesystem: Option<String>,
}

/// The members that are read first.
#[derive(Deserialize)]
struct Envelope {
    schema: String,
    schema_version: u32,
}

impl Document {
    /// Reads a report.
    ///
    /// # Errors
    /// Fails when the file cannot be read, or is not a report of this version.
    pub fn read(path: &Path) -> anyhow::Result<Document> {
        let file = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("failed to read {file}"))?;
        let other = || format!("{file}: is not a report of `till-bench --json` of schema version {SCHEMA_VERSION}");
        let Envelope { schema, schema_version } = serde_json::from_str(&text).with_context(other)?;
        if (schema.as_str(), schema_version) != (SCHEMA, SCHEMA_VERSION) {
            return Err(anyhow!("it says {schema} {schema_version}").context(other()));
        }
        serde_json::from_str(&text).with_context(other)
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

#[cfg(test)]
mod tests {
    use super::super::examples::document;
    use super::*;

    #[test]
    fn a_report_reads_back_as_it_was_written() {
        let file = tempfile::NamedTempFile::new().unwrap_or_else(|error| panic!("{error}"));
        assert!(std::fs::write(file.path(), document().to_json()).is_ok());
        assert_eq!(Document::read(file.path()).map_err(|fault| format!("{fault:#}")), Ok(document()));
    }

    #[test]
    fn a_file_that_is_no_report_of_this_version_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap_or_else(|error| panic!("{error}"));
        let newer = document().to_json().replace("\"schema_version\": 2", "\"schema_version\": 3");
        for text in ["", "{}", newer.as_str(), "{\"schema\":\"till-bench\",\"schema_version\":2}"] {
            assert!(std::fs::write(file.path(), text).is_ok());
            let refused = Document::read(file.path()).map_err(|fault| fault.to_string());
            assert!(refused.is_err_and(|fault| fault.contains("is not a report of `till-bench --json`")), "{text}");
        }
        let missing = Document::read(Path::new("/nonexistent/report")).map_err(|fault| fault.to_string());
        assert_eq!(missing, Err("failed to read /nonexistent/report".to_owned()));
    }
}
