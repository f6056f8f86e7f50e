//! Runs `till-bench` and reads its output and reports.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::harness::{directory, load_tester};

/// The load tester, with a directory of its own for the files that it writes.
pub(super) struct Tester {
    pub(super) directory: TempDir,
}

/// The output and the exit code of a run.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) code: i32,
    pub(super) output: String,
    pub(super) errors: String,
}

impl Tester {
    pub(super) fn new() -> Tester {
        Tester { directory: directory() }
    }

    /// A file that a run writes.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The command, without the variables of the test's own environment that could change its result.
    pub(super) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(load_tester());
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("TILL_")) {
            command.env_remove(name);
        }
        command.env("TILL_DISK_RESERVE_BYTES", "16777216").current_dir(self.directory.path());
        command.args(line.split(' ')).stdin(Stdio::null());
        command
    }

    /// Runs the load tester until it exits.
    pub(super) fn run(&self, line: &str) -> Ended {
        Ended::of(self.command(line).output().expect("the binary can be started"))
    }

    /// Runs a short measurement and returns its report.
    #[track_caller]
    pub(super) fn report(&self, line: &str) -> Value {
        let ended = self.run(&format!("{line} --json report.json --html report.html"));
        assert_eq!(ended.code, 0, "{ended:?}");
        self.json("report.json")
    }

    /// A report that was written.
    pub(super) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).expect("it is JSON")
    }

    /// What the script of a page shows: the report, or the comparison.
    pub(super) fn page_data(&self, name: &str) -> Value {
        let page = self.text(name);
        let data = page.split_once("id=\"data\">").and_then(|(_, rest)| rest.split_once("</script>"));
        serde_json::from_str(data.expect("the page has data").0).expect("it is JSON")
    }

    /// A file that was written.
    pub(super) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).expect("it was written")
    }
}

impl Ended {
    pub(super) fn of(output: Output) -> Ended {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it is UTF-8");
        let code = output.status.code().expect("no signal ended it");
        Ended { code, output: text(output.stdout), errors: text(output.stderr) }
    }
}

/// The arguments of a short run.
pub(super) const SHORT: &str = "--merchants 2 --connections 4 --duration 300ms --warm-up 50ms";
