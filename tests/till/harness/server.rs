//! A running server for one test.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::{ApiAnswer, Client};
use super::waiting::{holds_within, wait_until};

/// The admin token of every test server: it opens nothing else.
pub(super) const ADMIN_TOKEN: &str = "admin-token-of-a-test";
/// The vault key of every test server.
pub(crate) const VAULT_KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
/// The longest time that the test waits for a start or a stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// The environment and the options of a server's start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Start {
    variables: Vec<(String, String)>,
    removed: Vec<String>,
    record: Option<PathBuf>,
    trusted: Option<PathBuf>,
    limit: Option<Duration>,
    shell: Option<String>,
}

impl Start {
    /// Sets an environment variable, such as `TILL_CALLS_IN_FLIGHT_MAX`.
    #[must_use]
    pub(crate) fn with(mut self, variable: &str, value: &str) -> Start {
        self.variables.push((variable.to_owned(), value.to_owned()));
        self
    }

    /// Removes an environment variable of every test server, such as `TILL_VAULT_KEY`.
    #[must_use]
    pub(crate) fn without(mut self, variable: &str) -> Start {
        self.removed.push(variable.to_owned());
        self
    }

    /// Callers of the server trust these certificates, and no others.
    #[must_use]
    pub(crate) fn trusting(mut self, certificates: &Path) -> Start {
        self.trusted = Some(certificates.to_owned());
        self
    }

    /// Writes the standard error of the server to this file, over restarts.
    #[must_use]
    pub(crate) fn recording(mut self, file: &Path) -> Start {
        self.record = Some(file.to_owned());
        self
    }

    /// Kills a server that takes longer than this until it listens; its exit status then names the signal.
    #[must_use]
    pub(crate) fn within(mut self, limit: Duration) -> Start {
        self.limit = Some(limit);
        self
    }

    /// Starts a server after these commands of a shell, such as `umask 000`.
    #[must_use]
    pub(crate) fn behind(mut self, words: &str) -> Start {
        self.shell = Some(words.to_owned());
        self
    }

    /// The command line, without the variables of the test's own environment that could change its result.
    pub(crate) fn command(&self, data: &Path) -> Command {
        let mut command = self.command_without_addresses(data);
        command.args(["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]);
        command
    }

    /// The same command line of the load tester and generator.
    pub(crate) fn load_tester(&self, data: &Path) -> Command {
        let mut command = self.program(load_tester(), data);
        command.args(["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]);
        command
    }

    fn command_without_addresses(&self, data: &Path) -> Command {
        self.program(Path::new(env!("CARGO_BIN_EXE_till")), data)
    }

    fn program(&self, program: &Path, data: &Path) -> Command {
        let mut command = Command::new(program);
        command.arg("--data").arg(data);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("TILL_")) {
            command.env_remove(name);
        }
        command.env("TILL_ADMIN_TOKEN", ADMIN_TOKEN).env("TILL_VAULT_KEY", VAULT_KEY);
        command.env("TILL_LOG_FILTER", "warn").env("TILL_LOG_FORMAT", "text");
        command.env("TILL_SDK_CALLS_PER_SECOND", "1000000").env("TILL_DISK_RESERVE_BYTES", "16777216");
        command.env("TILL_SDK_WRITES_PER_SECOND_PER_ADDRESS", "1000000");
        command.env("TILL_SDK_WRITES_PER_SECOND_PER_INSTALLATION", "1000000");
        for (name, value) in journal_of(data) {
            command.env(name, value);
        }
        command.envs(self.variables.iter().cloned());
        for variable in &self.removed {
            command.env_remove(variable);
        }
        command
    }

    /// Starts a server on a new data directory.
    pub(crate) fn server(&self) -> Server {
        let directory = Arc::new(TempDir::new().expect("a temporary directory can be made"));
        let data = directory.path().join("data");
        self.server_on(&data, Some(directory))
    }

    /// The same, and a merchant of it.
    pub(crate) fn server_with_shop(&self) -> (Server, super::Shop) {
        let server = self.server();
        let shop = server.shop();
        (server, shop)
    }

    /// Starts a server on a data directory that the test keeps.
    pub(crate) fn server_in(&self, data: &Path) -> Server {
        self.server_on(data, None)
    }

    fn server_on(&self, data: &Path, directory: Option<Arc<TempDir>>) -> Server {
        self.try_server_on(data, directory).unwrap_or_else(|error| panic!("the server does not start: {error}"))
    }

    /// Makes the log in the database when it is new. Everything that the data directory repeats of it is removed, so
    /// that each start fetches the whole log.
    fn begin_with_the_log_alone(&self, data: &Path) {
        let migrated = self.command(data).args(["journal", "migrate"]).output().expect("the binary can be started");
        assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
        for repeated in ["db", "sandbox", "webhooks", "high-water"] {
            let path = data.join(repeated);
            let _not_there = std::fs::remove_dir_all(&path).or_else(|_| std::fs::remove_file(&path));
        }
    }

    /// Starts a server on `data`, or returns the output of a refused start.
    pub(crate) fn try_server_on(&self, data: &Path, directory: Option<Arc<TempDir>>) -> Result<Server, String> {
        if JOURNAL.is_some() {
            self.begin_with_the_log_alone(data);
        }
        let mut command = self.command(data);
        command.arg("serve");
        if let Some(words) = &self.shell {
            command = limited(&command, words);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary can be started");
        let watch = kill_unless_dropped(child.id(), self.limit.unwrap_or(PATIENCE));
        let mut lines = BufReader::new(child.stdout.take().expect("its output is piped")).lines();
        let mut address =
            |prefix: &str| -> Option<String> { lines.next()?.ok()?.strip_prefix(prefix).map(str::to_owned) };
        let public = address("listening on ");
        let admin = address("admin listening on ");
        drop(watch);
        let errors = collect_errors(&mut child, self.record.clone());
        let (Some(public), Some(admin)) = (public, admin) else {
            let status = child.wait().expect("it can be waited for");
            return Err(format!("{status}: {}", errors.join().unwrap_or_default()));
        };
        let server =
            Server { child: Some(child), public, admin, data: data.to_owned(), directory, start: self.clone() };
        server.wait_until_ready();
        Ok(server)
    }
}

/// The database that has the logs of all servers of this run, each in a schema of its own.
static JOURNAL: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("TILL_TEST_JOURNAL").ok());

/// True when each start of a server fetches its whole log from the database.
pub(crate) fn fetches_its_log() -> bool {
    JOURNAL.is_some()
}

/// The settings of a server whose log is in the database.
fn journal_of(data: &Path) -> Vec<(&'static str, String)> {
    let Some(address) = JOURNAL.as_ref() else { return Vec::new() };
    let schema = format!("t{}", &blake3::hash(data.as_os_str().as_encoded_bytes()).to_hex()[..16]);
    vec![
        ("TILL_JOURNAL", address.clone()),
        ("TILL_JOURNAL_SCHEMA", schema),
        ("TILL_JOURNAL_UNREPLICATED", "true".to_owned()),
    ]
}

/// The program of the load tester, which the build of the whole workspace puts beside the server.
pub(crate) fn load_tester() -> &'static Path {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
        let program = Path::new(env!("CARGO_BIN_EXE_till")).with_file_name("till-bench");
        assert!(program.exists(), "{} is missing: cargo build -p till-bench", program.display());
        program
    });
    &PROGRAM
}

/// The same command, which cannot write a byte to any file, as on a full disk.
pub(crate) fn without_room(command: &Command) -> Command {
    limited(command, "trap '' XFSZ; ulimit -f 0")
}

/// The same command after these commands of a shell.
pub(crate) fn limited(command: &Command, limits: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{limits}; exec \"$0\" \"$@\"")).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

/// The sum of two adjacent fields of a process's `stat`; fields are counted from the one after the program's name.
pub(crate) fn ticks(file: &str, field: usize) -> u64 {
    let stat = std::fs::read_to_string(file).expect("it runs, on Linux");
    let fields = stat.rsplit_once(')').expect("a name in brackets").1.split_whitespace();
    fields.skip(field).take(2).map(|ticks| ticks.parse::<u64>().expect("a number")).sum()
}

/// Kills a process of the test after a time, unless the returned sender is dropped before.
fn kill_unless_dropped(id: u32, limit: Duration) -> Sender<()> {
    let (watch, dropped) = channel();
    std::thread::spawn(move || {
        if dropped.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            let killed = Command::new("kill").args(["-KILL", &id.to_string()]).status();
            assert!(killed.is_ok_and(|status| status.success()), "a server that hangs can be killed");
        }
    });
    watch
}

/// Copies the standard error of the server to the test's output, and keeps the beginning.
fn collect_errors(child: &mut Child, record: Option<PathBuf>) -> std::thread::JoinHandle<String> {
    let open = |path| File::options().append(true).create(true).open(path).expect("a record can be kept");
    let mut record = record.map(open);
    let errors = BufReader::new(child.stderr.take().expect("its errors are piped"));
    std::thread::spawn(move || {
        let mut kept = String::new();
        for line in errors.lines().map_while(Result::ok) {
            match &mut record {
                Some(file) => writeln!(file, "{line}").expect("a record can be kept"),
                None => eprintln!("server: {line}"),
            }
            if kept.len() < 100_000 {
                kept.push_str(&line);
                kept.push('\n');
            }
        }
        kept
    })
}

/// A running server. Dropping it kills it.
pub(crate) struct Server {
    child: Option<Child>,
    public: String,
    admin: String,
    data: PathBuf,
    directory: Option<Arc<TempDir>>,
    start: Start,
}

impl Server {
    /// Starts a server on a new data directory.
    pub(crate) fn start() -> Server {
        Start::default().server()
    }

    /// The same, and what `make` makes of it.
    pub(crate) fn with<T>(make: impl FnOnce(&Server) -> T) -> (Server, T) {
        let server = Server::start();
        let made = make(&server);
        (server, made)
    }

    /// The same, and a merchant of it.
    pub(crate) fn with_shop() -> (Server, super::Shop) {
        Server::with(Server::shop)
    }

    /// The same, and two merchants of it.
    pub(crate) fn with_shops() -> (Server, super::Shop, super::Shop) {
        let (server, shop) = Server::with_shop();
        let other = server.shop();
        (server, shop, other)
    }

    /// The base address of the public listener.
    pub(crate) fn public(&self) -> &str {
        &self.public
    }

    /// The base address of the admin listener.
    pub(crate) fn admin_address(&self) -> &str {
        &self.admin
    }

    /// Its data directory.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    /// The highest resident memory so far, in bytes.
    pub(crate) fn resident_bytes_max(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.id())).expect("it runs, on Linux");
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux says so");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1_024
    }

    /// The processor time so far, with that of the kernel, in hundredths of a second.
    pub(crate) fn processor_ticks(&self) -> u64 {
        ticks(&format!("/proc/{}/stat", self.id()), 11)
    }

    /// The exit status when it has ended by itself.
    pub(crate) fn ended(&mut self) -> Option<std::process::ExitStatus> {
        self.child.as_mut()?.try_wait().expect("a child can be waited for")
    }

    /// Calls an operator's endpoint.
    pub(crate) fn admin(&self, endpoint: &str, body: &Value) -> ApiAnswer {
        let path = format!("/admin/{endpoint}");
        self.admin_client().post(&path, body)
    }

    /// Configures a payment method with the sandbox: enabled, also without capture, and free of fees, unless `more`
    /// says otherwise.
    pub(crate) fn configure(&self, shop: &super::Shop, method: &str, more: &Value) -> ApiAnswer {
        let body = json!({
            "merchant_id": shop.merchant_id, "payment_method": method, "acquirer": "sandbox", "enabled": true,
            "authorizes_without_capture": true,
        });
        self.admin("configure-payment-method", &super::merged(&body, more))
    }

    /// A client of the admin listener, with the token.
    pub(crate) fn admin_client(&self) -> Client {
        self.client_of(&self.admin).bearer(ADMIN_TOKEN)
    }

    /// A client of the public listener, without a key.
    pub(crate) fn client(&self) -> Client {
        self.client_of(&self.public)
    }

    fn client_of(&self, base: &str) -> Client {
        Client::trusting(base, self.start.trusted.as_deref())
    }

    /// Sends it a signal, such as `HUP`.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.as_ref().expect("it runs").id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().expect("kill can be started").success());
    }

    /// The command line of the binary with this server's data and addresses, for operator commands.
    pub(crate) fn command(&self) -> Command {
        self.with_addresses(self.start.command_without_addresses(&self.data))
    }

    /// The command line of the binary with this server's data and settings, at other addresses.
    pub(crate) fn start_command(&self) -> Command {
        self.start.command(&self.data)
    }

    /// The command line of the load tester and generator with this server's data and addresses.
    pub(crate) fn load_tester(&self) -> Command {
        self.with_addresses(self.start.program(load_tester(), &self.data))
    }

    fn with_addresses(&self, mut command: Command) -> Command {
        let host = |address: &str| address.split_once("://").map_or("", |(_, host)| host).to_owned();
        command.args(["--listen", &host(&self.public), "--admin-listen", &host(&self.admin)]);
        command
    }

    fn wait_until_ready(&self) {
        wait_until(PATIENCE, "the server did not become ready", || {
            self.client_of(&self.admin).get("/health/ready").status == 200
        });
    }

    /// Waits until every commit is in the archive.
    pub(crate) fn wait_until_archived(&self) {
        wait_until(PATIENCE, "not everything is archived", || self.metric("till_archive_lag_commits") == Some(0.0));
    }

    /// Waits until it has ended by itself; true when it did.
    pub(crate) fn ended_by_itself(&mut self, patience: Duration) -> bool {
        let Some(child) = &mut self.child else { return false };
        holds_within(patience, || child.try_wait().expect("a child can be waited for").is_some())
    }

    /// The text of all metrics.
    #[track_caller]
    pub(crate) fn metrics(&self) -> String {
        let Value::String(text) = self.client_of(&self.admin).get("/metrics").body else { panic!("text, not JSON") };
        text
    }

    /// The value of a metric without labels. None when there is none of this name.
    pub(crate) fn metric(&self, name: &str) -> Option<f64> {
        let Value::String(metrics) = self.client_of(&self.admin).get("/metrics").body else { return None };
        let value = |line: &str| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok();
        metrics.lines().find_map(value)
    }

    /// Kills it with SIGKILL, as a crash does, and returns once it has ended.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("a child can be killed");
            child.wait().expect("a child can be waited for");
        }
    }

    /// Stops it with SIGTERM; true when it ended without an error.
    pub(crate) fn stop(&mut self) -> bool {
        let Some(mut child) = self.child.take() else { return false };
        let id = child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status().expect("kill can be started");
        assert!(sent.success());
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = child.try_wait().expect("a child can be waited for") {
                return status.success();
            }
            assert!(Instant::now() < until, "the server did not stop");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Kills it, as a crash does, unless it has been stopped, and starts it again on the same data.
    pub(crate) fn restart(&mut self) {
        self.try_restart().unwrap_or_else(|error| panic!("the server does not start again: {error}"));
    }

    /// The same; returns a merchant of it on the new address.
    #[must_use]
    pub(crate) fn restart_with(&mut self, shop: &super::Shop) -> super::Shop {
        self.restart();
        shop.on(self)
    }

    /// Starts it again on the same data, or returns the output of a refused start.
    pub(crate) fn try_restart(&mut self) -> Result<(), String> {
        self.kill();
        let (data, directory) = (self.data.clone(), self.directory.clone());
        *self = self.start.clone().try_server_on(&data, directory)?;
        Ok(())
    }

    /// Creates a merchant with an installation, a key and an open balance.
    pub(crate) fn shop(&self) -> super::Shop {
        self.shop_with(json!({ "name": "Shop", "currency": "THB" }))
    }

    /// Creates such a merchant with this body.
    pub(crate) fn shop_with(&self, merchant: Value) -> super::Shop {
        super::Shop::create(&self.admin_client(), self.client(), &merchant)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
