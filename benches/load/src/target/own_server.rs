//! A server of the load tester's own: the program `till` as a child process, on a directory that is removed.

use std::collections::BTreeMap;
#[cfg(target_os = "linux")]
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::str::FromStr;

use anyhow::{Context, bail};
use secrecy::SecretString;
use tempfile::TempDir;

use super::address::server_address;
use super::server::{Access, OperatorAccess, TargetServer};
use super::trust::Trust;
use till::{Configuration, Layers, fresh_key};

/// Variables of the environment that concern other servers, or that our server gets as flags instead. Our server writes
/// into no directory of theirs, removes none of their checkpoints, and speaks HTTP only.
const NOT_PASSED_ON: [&str; 7] = [
    "TILL_CONFIG",
    "TILL_DATA",
    "TILL_ADMIN_TOKEN",
    "TILL_VAULT_KEY",
    "TILL_ACCEPT_LOSS_UP_TO",
    "TILL_CHECKPOINT_EVERY_SECONDS",
    "TILL_ARCHIVE_BEFORE_ACKNOWLEDGED",
];

/// The ends of the names of further ones, which are places: paths and addresses.
const PLACES: [&str; 4] = ["_DIRECTORY", "_FILE", "LISTEN", "_URL"];

/// Settings of our own server that the environment can change: no log line for every request, and no limit to the calls
/// and connections of one address, because all customers call from this machine.
const TOLD: [(&str, &str); 5] = [
    ("TILL_LOG_FILTER", "warn"),
    ("TILL_SDK_CALLS_PER_SECOND", "1000000"),
    ("TILL_SDK_WRITES_PER_SECOND_PER_ADDRESS", "1000000"),
    ("TILL_SDK_WRITES_PER_SECOND_PER_INSTALLATION", "1000000"),
    ("TILL_CONNECTIONS_PER_ADDRESS_MAX", "1000000"),
];

/// The hidden subcommand with which this program becomes the server.
pub const BECOME_SERVER: &str = "become-server";

/// Lines of the server's log that are shown when it fails.
const LINES_SHOWN: usize = 12;

/// A setting of our server from the command line, such as `archive_directory=DIR`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSetting {
    key: String,
    value: String,
}

impl ServerSetting {
    /// Lets the server deliver to webhooks on this machine, by http.
    #[must_use]
    pub fn webhooks_to_this_machine() -> ServerSetting {
        ServerSetting { key: "webhook_allowed_networks".to_owned(), value: "127.0.0.0/8".to_owned() }
    }

    /// True when both give the same setting.
    #[must_use]
    pub fn has_key_of(&self, other: &ServerSetting) -> bool {
        self.key == other.key
    }
}

impl FromStr for ServerSetting {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<ServerSetting, &'static str> {
        let (key, value) = text.split_once('=').ok_or("is not KEY=VALUE")?;
        Ok(ServerSetting { key: key.to_owned(), value: value.to_owned() })
    }
}

/// A running server of ours. Dropping it ends the process and removes the directory.
#[derive(Debug)]
pub struct OwnServer {
    child: Child,
    directory: TempDir,
}

impl OwnServer {
    /// Starts the program beside this one in a new directory below `parent`, with these settings beside those of the
    /// environment. A server that they give certificates is trusted by `trust`.
    ///
    /// # Errors
    /// The settings are invalid, or the server does not start: then its log is kept, and the error names it.
    pub fn start(parent: &Path, given: &[ServerSetting], trust: &Trust) -> anyhow::Result<(OwnServer, TargetServer)> {
        check(given)?;
        let program = program_beside()?;
        let directory = tempfile::Builder::new().prefix("till-bench-").tempdir_in(parent);
        let directory = directory.with_context(|| format!("failed to make a directory in {}", parent.display()))?;
        let (token, settings) = (fresh_key().to_string(), settings(given));
        let mut child = spawn(&program, directory.path(), &token, &settings)?;
        let printed = child.stdout.take().expect("its output is piped");
        let (process_id, own) = (Some(child.id()), OwnServer { child, directory });
        let Some((public, admin)) = addresses(printed) else {
            return Err(own.failed("the server that was started for this run does not start"));
        };
        let server = TargetServer {
            public: server_address(&public, false, trust)?,
            access: Access::Operator(OperatorAccess {
                admin: server_address(&admin, false, trust)?,
                token: SecretString::from(token),
            }),
            is_own: true,
            process_id,
            settings,
            data_filesystem: filesystem(own.directory.path()),
        };
        Ok((own, server))
    }

    /// True when the server ended by itself.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// An error that shows the end of the server's log and names where all of it is kept.
    #[must_use]
    pub fn failed(&self, what: &str) -> anyhow::Error {
        let log = std::fs::read_to_string(log_file(self.directory.path())).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let shown = lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n  ");
        let kept = std::env::temp_dir().join(format!("till-bench-server-{}.log", std::process::id()));
        match std::fs::copy(log_file(self.directory.path()), &kept) {
            Ok(_) => anyhow::anyhow!("{what}; its log is kept in {}\n  {shown}", kept.display()),
            Err(_) => anyhow::anyhow!("{what}\n  {shown}"),
        }
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        let _already_ended = self.child.kill(); // Its data is thrown away: there is nothing to close.
        let _reaped = self.child.wait();
    }
}

fn spawn(program: &Path, directory: &Path, token: &str, settings: &BTreeMap<String, String>) -> anyhow::Result<Child> {
    let log = File::create(log_file(directory)).context("failed to make the server's log")?;
    let mut command = command_that_ends_with_us(program)?;
    command.arg("serve").args(["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--data"]);
    command.arg(directory.join("data")).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    for (variable, _) in std::env::vars_os() {
        if variable.to_str().is_some_and(|name| name.starts_with("TILL_") && !is_passed_on(name)) {
            command.env_remove(variable);
        }
    }
    command.env("TILL_ADMIN_TOKEN", token).envs(settings);
    command.spawn().with_context(|| format!("failed to start a server: {}", program.display()))
}

/// A command of this program that the kernel ends together with the load tester, even when that is killed.
///
/// The kernel watches the thread that starts the process, so only the main thread may start it: it lives to the end.
#[cfg(target_os = "linux")]
fn command_that_ends_with_us(program: &Path) -> anyhow::Result<Command> {
    let own = std::env::current_exe().context("failed to find this program's own file")?;
    let mut command = Command::new(own);
    command.arg(BECOME_SERVER).arg(std::process::id().to_string()).arg(program);
    Ok(command)
}

#[cfg(not(target_os = "linux"))]
fn command_that_ends_with_us(program: &Path) -> anyhow::Result<Command> {
    Ok(Command::new(program))
}

/// Asks the kernel to kill this process when its parent, the load tester, ends, and becomes the server. Returns only
/// when that fails, with the reason.
#[cfg(target_os = "linux")]
#[must_use]
pub fn become_server(load_tester: u32, program: &Path, arguments: &[OsString]) -> anyhow::Error {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    use std::os::unix::process::CommandExt;
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return anyhow::Error::new(error).context("failed to tie the server to the life of the load tester");
    }
    // The load tester may have ended before the kernel was asked.
    let parent = getppid().map(|parent| parent.as_raw_nonzero().get().unsigned_abs());
    if parent != Some(load_tester) {
        return anyhow::anyhow!("the load tester has ended");
    }
    let error = Command::new(program).args(arguments).exec();
    anyhow::Error::new(error).context(format!("failed to start a server: {}", program.display()))
}

/// The program `till` in the directory of this one.
fn program_beside() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("failed to find this program's own file")?;
    let program = own.with_file_name("till");
    if !program.is_file() {
        bail!("there is no {}: build it, or measure a running server with --target", program.display());
    }
    Ok(program)
}

fn log_file(directory: &Path) -> PathBuf {
    directory.join("server.log")
}

/// Refuses names of unknown settings: a misspelt name would have no effect.
fn check(given: &[ServerSetting]) -> anyhow::Result<()> {
    let line = |setting: &ServerSetting| format!("{} = {}\n", setting.key, toml::Value::from(setting.value.as_str()));
    let layers = Layers::new().with_file_text(&given.iter().map(line).collect::<String>());
    Configuration::from_layers(layers).context("--server-setting").map(drop)
}

/// True when our server gets a variable of the environment as a setting.
fn is_passed_on(name: &str) -> bool {
    name.starts_with("TILL_") && !NOT_PASSED_ON.contains(&name) && !PLACES.iter().any(|end| name.ends_with(end))
}

/// The settings that the server gets: those of the environment, and those that were given, which win.
fn settings(given: &[ServerSetting]) -> BTreeMap<String, String> {
    let mut settings: BTreeMap<String, String> =
        TOLD.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let environment =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    settings.extend(environment.filter(|(name, _)| is_passed_on(name)));
    settings
        .extend(given.iter().map(|setting| (format!("TILL_{}", setting.key.to_uppercase()), setting.value.clone())));
    settings
}

/// The addresses of the server's listeners, which are the first two lines that it prints.
fn addresses(printed: ChildStdout) -> Option<(String, String)> {
    let mut lines = BufReader::new(printed).lines();
    let mut address = |prefix: &str| -> Option<String> { lines.next()?.ok()?.strip_prefix(prefix).map(str::to_owned) };
    Some((address("listening on ")?, address("admin listening on ")?))
}

/// The name of the file system that a directory is on; a sync in `tmpfs` costs nothing.
#[cfg(target_os = "linux")]
fn filesystem(directory: &Path) -> Option<String> {
    const KNOWN: [(u32, &str); 6] = [
        (0x0102_1994, "tmpfs"),
        (0xEF53, "ext4"),
        (0x5846_5342, "xfs"),
        (0x9123_683E, "btrfs"),
        (0x794C_7630, "overlay"),
        (0x2FC1_2FC1, "zfs"),
    ];
    let found = rustix::fs::statfs(directory).ok()?.f_type;
    let known = KNOWN.into_iter().find(|(magic, _)| i64::from(*magic) == found as i64);
    Some(known.map_or_else(|| format!("{found:#x}"), |(_, name)| name.to_owned()))
}

#[cfg(not(target_os = "linux"))]
fn filesystem(_directory: &Path) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_or_address_of_another_server_is_passed_on() {
        let configuration = Configuration::from_layers(Layers::new()).unwrap_or_else(|error| panic!("{error}"));
        let printed = configuration.to_string();
        let keys = printed.lines().filter_map(|line| line.trim_start_matches("# ").split(' ').next());
        let names_a_place = |key: &&str| ["_directory", "_file", "listen", "_url"].iter().any(|end| key.ends_with(end));
        let keys: Vec<&str> = keys.filter(names_a_place).collect();
        assert!(keys.len() > 10, "{keys:?}");
        for key in keys {
            assert!(!is_passed_on(&format!("TILL_{}", key.to_uppercase())), "{key}");
        }
    }

    #[test]
    fn a_given_setting_has_a_known_name_and_a_value() {
        let given = |text: &str| ServerSetting::from_str(text).map(|setting| check(&[setting]).is_ok());
        assert_eq!(given("archive_directory=/a b\"c"), Ok(true));
        assert_eq!(given("archive_directry=/a"), Ok(false), "there is none of that name");
        assert_eq!(given("http_threads=none"), Ok(false));
        assert_eq!(given("archive_directory"), Err("is not KEY=VALUE"));
    }
}
