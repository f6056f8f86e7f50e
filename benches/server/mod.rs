//! The server of the benches over HTTP, and calls to it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use ureq::Agent;

/// The admin token of the bench's server: it opens nothing else.
pub(crate) const ADMIN_TOKEN: &str = "admin-token-of-a-bench";

/// A directory that is removed when it is dropped, beside the build: the system's may be in memory, which would make
/// syncs free.
pub(crate) fn temporary() -> TempDir {
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory can be made")
}

/// A server of the bench's own.
pub(crate) struct BenchServer {
    child: Child,
    pub(crate) public: String,
    pub(crate) admin: String,
}

impl BenchServer {
    /// Starts a server with its data in a directory.
    pub(crate) fn start_in(directory: &Path) -> BenchServer {
        let mut child = program("till")
            .arg("serve")
            .args(["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--data"])
            .arg(directory.join("data"))
            .env("TILL_ADMIN_TOKEN", ADMIN_TOKEN)
            .env("TILL_LOG_FILTER", "error")
            .env("TILL_SDK_CALLS_PER_SECOND", "1000000")
            .env("TILL_SDK_WRITES_PER_SECOND_PER_ADDRESS", "1000000")
            .env("TILL_SDK_WRITES_PER_SECOND_PER_INSTALLATION", "1000000")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary can be started");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut address = |prefix: &str| -> String {
            let line = lines.next().expect("the server says where it is").expect("text");
            line.strip_prefix(prefix).expect("its address").to_owned()
        };
        let public = address("listening on ");
        let admin = address("admin listening on ");
        BenchServer { child, public, admin }
    }
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        let _already_ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// A program of this build, `till` or `till-bench`, without the bench's own variables: it refuses variables that are
/// not settings.
pub(crate) fn program(name: &str) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_till")).with_file_name(name);
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TILL_BENCH_")) {
        command.env_remove(name);
    }
    command
}

/// A client with connections of its own.
pub(crate) fn agent() -> Agent {
    Agent::config_builder().timeout_global(Some(Duration::from_secs(60))).build().into()
}

/// The JSON in the answer of a call that must succeed.
pub(crate) fn post(agent: &Agent, url: &str, bearer: &str, body: &Value) -> Value {
    let request = agent.post(url).header("Content-Type", "application/json");
    let mut response =
        request.header("Authorization", format!("Bearer {bearer}")).send(body.to_string()).expect("a 200");
    let text = response.body_mut().read_to_string().expect("text");
    serde_json::from_str(&text).expect("JSON")
}
