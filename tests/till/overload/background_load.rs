//! Payments that the load tester initiates at a running server while a test does other work.

use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::harness::{Client, KilledOnDrop, Server, directory};

/// The longest time for making the sessions, or for the end of a load.
const PATIENCE: Duration = Duration::from_secs(600);

/// The metric of the answered initiations.
const INITIATED: &str = "till_http_requests_total{code=\"OK\",endpoint=\"initiate-payment-flow\"} ";

/// A running load.
pub(super) struct BackgroundLoad {
    child: KilledOnDrop,
    directory: TempDir,
}

impl BackgroundLoad {
    /// Starts `till-bench initiate` with these arguments against a server, and returns once one of its payments
    /// is answered.
    pub(super) fn begin(server: &Server, arguments: &[String]) -> BackgroundLoad {
        let (directory, before) = (directory(), initiated(server));
        let mut command = server.load_tester();
        command.args(["initiate", "--target", server.public(), "--admin", server.admin_address(), "--json"]);
        command.arg(report_in(&directory)).args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        let mut load =
            BackgroundLoad { child: KilledOnDrop(command.spawn().expect("the binary can be started")), directory };
        let until = Instant::now() + PATIENCE;
        while initiated(server) == before {
            assert!(load.is_running() && Instant::now() < until, "the load does not begin");
            thread::sleep(Duration::from_millis(20));
        }
        load
    }

    /// True while the load runs.
    pub(super) fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child can be waited for").is_none()
    }

    /// Waits for the end, which may be early when the sessions are used up, and checks that every answer was right.
    pub(super) fn end(mut self) {
        let status = self.child.wait().expect("a child can be waited for");
        assert!(status.success(), "{status}");
        let report = std::fs::read_to_string(report_in(&self.directory)).expect("it was written");
        let report: Value = serde_json::from_str(&report).expect("it is JSON");
        let point = &report["points"][0];
        assert_eq!(point["wrong"]["count"], 0, "{point}");
    }
}

fn report_in(directory: &TempDir) -> PathBuf {
    directory.path().join("report.json")
}

/// The number of initiations that the server has accepted.
pub(super) fn initiated(server: &Server) -> u64 {
    initiated_at(server.admin_address())
}

/// The number of accepted initiations of the server with this admin listener.
pub(super) fn initiated_at(admin_address: &str) -> u64 {
    let Value::String(metrics) = Client::new(admin_address).get("/metrics").body else { return 0 };
    metrics.lines().find_map(|line| line.strip_prefix(INITIATED)?.parse().ok()).unwrap_or(0)
}
