//! A PostgreSQL server of a test's own: in a temporary directory, on a port that the system chooses, ended with it.

#![expect(dead_code, reason = "every test file takes what it needs")]

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A running server. Its user and database are called `till`.
pub(crate) struct Postgres {
    directory: TempDir,
    port: u16,
    /// True when its disk can be made to fail.
    can_fail: bool,
}

impl Postgres {
    /// Makes a database cluster and starts a server on it.
    pub(crate) fn start() -> Postgres {
        let server = Postgres::somewhere();
        let data = server.data();
        run(server.tool("initdb").args(["--auth", "trust", "--username", "till", "--no-sync", "-D"]).arg(&data));
        server.configure(
            "listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\nfsync = off\nshared_buffers = 32MB\n\
             max_connections = 60\nlogging_collector = off\nwal_receiver_timeout = 5s\nhot_standby_feedback = off\n",
        );
        server.run();
        server.psql("postgres", "create database till");
        server
    }

    /// Makes a server whose disk can be made to fail, which syncs what it writes.
    pub(crate) fn start_on_failing_disk() -> Postgres {
        let mut server = Postgres::start();
        server.stop("fast");
        server.prepare_to_fail();
        server.run();
        server
    }

    fn prepare_to_fail(&mut self) {
        self.can_fail = true;
        let source = self.directory.path().join("failing_disk.c");
        fs::write(&source, include_str!("failing_disk.c")).expect("it can be written");
        run(Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(self.shim()).arg(&source).arg("-ldl"));
        let configuration = self.data().join("postgresql.conf");
        let before = fs::read_to_string(&configuration).expect("it is there");
        fs::write(configuration, before + "fsync = on\nwal_sync_method = fdatasync\n").expect("it can be written");
    }

    fn shim(&self) -> PathBuf {
        self.directory.path().join("failing_disk.so")
    }

    /// Has the disk of the log fail for a while: `sync` or `full`. The server recovers by itself, or is started again.
    pub(crate) fn fail_disk(&self, fault: &str, lasts: std::time::Duration) {
        let sign = self.directory.path().join(fault);
        fs::write(&sign, "").expect("it can be written");
        std::thread::sleep(lasts);
        fs::remove_file(&sign).expect("it is there");
        while !self.is_up() {
            let status = self.tool("pg_ctl").args(["status", "-D"]).arg(self.data()).output();
            if !status.expect("the program can be started").status.success() {
                self.run();
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }

    fn is_up(&self) -> bool {
        let port = self.port.to_string();
        let asked = self.tool("pg_isready").args(["-q", "-h", "127.0.0.1", "-p", &port]).status();
        asked.expect("the program can be started").success()
    }

    /// A standby of this server, as of now, which follows it.
    pub(crate) fn standby(&self) -> Postgres {
        let mut standby = Postgres::somewhere();
        let port = self.port.to_string();
        let mut copy = standby.tool("pg_basebackup");
        copy.args(["-h", "127.0.0.1", "-p", &port, "-U", "till", "-R", "-X", "stream", "--no-sync", "-c", "fast"]);
        run(copy.arg("-D").arg(standby.data()));
        if self.can_fail {
            standby.prepare_to_fail();
        }
        standby.configure("");
        standby.run();
        standby
    }

    /// Commits wait for a standby from now on, or for none.
    pub(crate) fn wait_for_standby(&self, waits: bool) {
        let names = if waits { "*" } else { "" };
        self.psql("postgres", &format!("alter system set synchronous_standby_names = '{names}'"));
        self.psql("postgres", "select pg_reload_conf()");
        while waits
            && self.psql("postgres", "select count(*) from pg_stat_replication where sync_state = 'sync'") == "0"
        {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Makes a standby the primary.
    pub(crate) fn promote(&self) {
        run(self.tool("pg_ctl").args(["promote", "-w", "-s", "-D"]).arg(self.data()));
    }

    /// Talks by TLS alone from now on, with this certificate and key in PEM.
    pub(crate) fn require_tls(&self, certificate: &str, key: &str) {
        for (name, text) in [("server.crt", certificate), ("server.key", key)] {
            let file = self.data().join(name);
            fs::write(&file, text).expect("it can be written");
            fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("it is ours");
            if is_root() {
                run(Command::new("chown").arg("postgres").arg(&file));
            }
        }
        fs::write(self.data().join("pg_hba.conf"), "hostssl all all 127.0.0.1/32 trust\n").expect("it can be written");
        self.psql("postgres", "alter system set ssl = on");
        self.stop("fast");
        self.run();
    }

    /// A directory and a port of its own.
    fn somewhere() -> Postgres {
        let directory = tempfile::Builder::new().prefix("till-postgres-").tempdir().expect("a temporary directory");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
        let server = Postgres { directory, port, can_fail: false };
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(server.directory.path()));
        }
        server
    }

    /// Adds settings, and its port.
    fn configure(&self, settings: &str) {
        let (file, port) = (self.data().join("postgresql.conf"), self.port);
        let before = fs::read_to_string(&file).expect("initdb has written it");
        fs::write(&file, format!("{before}{settings}port = {port}\n")).expect("it can be written");
    }

    /// Starts the server on its cluster.
    pub(crate) fn run(&self) {
        let (log, mut start) = (self.data().join("log"), self.tool("pg_ctl"));
        if self.can_fail {
            start.env("LD_PRELOAD", self.shim()).env("TILL_FAILING_DISK", self.directory.path());
        }
        run(start.args(["start", "-w", "-s", "-l"]).arg(log).arg("-D").arg(self.data()));
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
