//! A PostgreSQL server of a test's own: in a temporary directory, on a port that the system chooses, ended with it.

#![expect(dead_code, reason = "every test file takes what it needs")]

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A running server. Its user and database are called `till`.
pub(crate) struct Postgres {
    directory: TempDir,
    port: u16,
}

impl Postgres {
    /// Makes a database cluster and starts a server on it.
    pub(crate) fn start() -> Postgres {
        let directory = tempfile::Builder::new().prefix("till-postgres-").tempdir().expect("a temporary directory");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
        let server = Postgres { directory, port };
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(server.directory.path()));
        }
        let data = server.data();
        run(server.tool("initdb").args(["--auth", "trust", "--username", "till", "--no-sync", "-D"]).arg(&data));
        let settings = format!(
            "listen_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = ''\nfsync = off\n\
             shared_buffers = 32MB\nmax_connections = 40\nlogging_collector = off\n"
        );
        let file = data.join("postgresql.conf");
        let before = fs::read_to_string(&file).expect("initdb has written it");
        fs::write(&file, before + &settings).expect("it can be written");
        server.run();
        server.psql("postgres", "create database till");
        server
    }

    /// Starts the server on its cluster.
    pub(crate) fn run(&self) {
        let log = self.data().join("log");
        run(self.tool("pg_ctl").args(["start", "-w", "-s", "-l"]).arg(log).arg("-D").arg(self.data()));
    }

    /// Ends the server in the way of `pg_ctl`: `fast`, or `immediate` as in a crash.
    pub(crate) fn stop(&self, mode: &str) {
        run(self.tool("pg_ctl").args(["stop", "-w", "-s", "-m", mode, "-D"]).arg(self.data()));
    }

    /// The address of the database.
    pub(crate) fn address(&self) -> String {
        format!("postgres://till@127.0.0.1:{}/till", self.port)
    }

    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// Carries statements out, and returns what they print.
    pub(crate) fn sql(&self, statements: &str) -> String {
        self.psql("till", statements)
    }

    fn psql(&self, database: &str, statements: &str) -> String {
        let port = self.port.to_string();
        let mut psql = self.tool("psql");
        psql.args(["-h", "127.0.0.1", "-p", &port, "-U", "till", "-d", database, "-v", "ON_ERROR_STOP=1", "-Atqc"]);
        let output = run(psql.arg(statements));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// A program of PostgreSQL, which refuses to run as root.
    fn tool(&self, name: &str) -> Command {
        let path = programs().join(name);
        let mut command = if is_root() { Command::new("setpriv") } else { Command::new(&path) };
        if is_root() {
            command.args(["--reuid", "postgres", "--regid", "postgres", "--clear-groups"]).arg(&path);
        }
        command.current_dir(self.directory.path()).stdin(Stdio::null());
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let _stopped_already =
            self.tool("pg_ctl").args(["stop", "-w", "-s", "-m", "immediate", "-D"]).arg(self.data()).output();
    }
}

/// The directory of the newest PostgreSQL of Debian, or the one that `TILL_POSTGRES` names.
fn programs() -> PathBuf {
    if let Some(directory) = std::env::var_os("TILL_POSTGRES") {
        return directory.into();
    }
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions.map(|entry| entry.path().join("bin")).filter(|bin| bin.join("initdb").exists()).max();
    newest.expect("PostgreSQL is installed: tools/ensure-postgres installs it, or says how")
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

#[track_caller]
fn run(command: &mut Command) -> Output {
    let output = command.output().expect("the program can be started");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}
