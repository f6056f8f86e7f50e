//! The settings of the database of the log.

use std::collections::HashSet;
use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{SharedJournalError, words};
use crate::tls;

/// The mode bits that give access to those who are neither the owner nor of the group.
const OTHERS: u32 = 0o007;

/// The reason why settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The address is malformed.
    #[error("the address is none of a PostgreSQL database: {0}")]
    Address(String),
    /// The address has a password, which would be seen in lists of processes and in logs.
    #[error("the address has a password; put it into a file of its own")]
    Password,
    /// A file cannot be read.
    #[error("{path} cannot be read: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The message of the system.
        source: std::io::Error,
    },
    /// Everybody on the machine can read the file with the password.
    #[error("every user of this machine can read {}: chmod o-rwx {}", .path.display(), .path.display())]
    Open {
        /// The file.
        path: PathBuf,
    },
    /// The name of the schema could be misread.
    #[error("a schema is named by lower-case letters, digits and _, at most 48 of them, and begins with a letter")]
    Schema,
}

/// The place of the log, and how it is spoken to.
#[derive(Clone)]
pub struct JournalSettings {
    pub(crate) config: Config,
    /// The certificates that are trusted; none: those of the system.
    ca_file: Option<PathBuf>,
    /// The connector that trusts them, once they were read.
    connector: Arc<OnceLock<MakeRustlsConnect>>,
    pub(crate) schema: String,
    pub(crate) patience: Duration,
    /// The warnings of the database that were logged.
    pub(crate) told: Arc<Mutex<HashSet<String>>>,
}

/// Shows no password.
impl std::fmt::Debug for JournalSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let JournalSettings { config, schema, .. } = self;
        write!(f, "JournalSettings({:?} {:?}, schema {schema})", config.get_hosts(), config.get_dbname())
    }
}

impl JournalSettings {
    /// The settings of an address such as `postgres://till@db1,db2/till?target_session_attrs=read-write`. An answer may
    /// take as long as `patience`.
    ///
    /// # Errors
    /// [`SettingsError`] names what cannot be used.
    pub fn new(address: &str, schema: &str, patience: Duration) -> Result<JournalSettings, SettingsError> {
        let mut config = Config::from_str(address).map_err(|error| SettingsError::Address(words(&error)))?;
        if config.get_password().is_some() {
            return Err(SettingsError::Password);
        }
        check_hosts(&config).map_err(|reason| SettingsError::Address(reason.to_owned()))?;
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let begins = schema.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
        if !begins || schema.len() > 48 || !schema.bytes().all(is_plain) {
            return Err(SettingsError::Schema);
        }
        // A connection goes to `hostaddr`; the name beside it is only compared with the certificate.
        let is_on_this_machine = match config.get_hostaddrs() {
            [] => config.get_hosts().iter().all(is_loopback),
            addresses => addresses.iter().all(IpAddr::is_loopback),
        };
        if config.get_ssl_mode() == SslMode::Prefer {
            // To another machine TLS must be, since whoever is in between could otherwise say that there is none.
            config.ssl_mode(if is_on_this_machine { SslMode::Disable } else { SslMode::Require });
        }
        config.application_name("till").connect_timeout(patience).tcp_user_timeout(patience);
        let (schema, connector, told) = (schema.to_owned(), Arc::default(), Arc::default());
        Ok(JournalSettings { config, ca_file: None, connector, schema, patience, told })
    }

    /// The names of the hosts, each with settings for it alone, in their order.
    pub(crate) fn each_host(&self) -> Vec<(String, Config)> {
        let all = &self.config;
        let name = |place: usize| match all.get_hosts().get(place) {
            Some(Host::Tcp(name)) => name.clone(),
            Some(Host::Unix(path)) => path.display().to_string(),
            None => all.get_hostaddrs().get(place).map(ToString::to_string).unwrap_or_default(),
        };
        let count = all.get_hosts().len().max(all.get_hostaddrs().len());
        (0..count).map(|place| (name(place), of_host(all, place))).collect()
    }

    /// The same with the password in a file, whose last line end does not count.
    ///
    /// # Errors
    /// [`SettingsError::File`], [`SettingsError::Open`].
    pub fn with_password_file(mut self, path: &Path) -> Result<JournalSettings, SettingsError> {
        let file = fs::metadata(path).and_then(|metadata| Ok((metadata.mode(), fs::read_to_string(path)?)));
        let (mode, text) = file.map_err(|source| SettingsError::File { path: path.to_owned(), source })?;
        if mode & OTHERS != 0 {
            return Err(SettingsError::Open { path: path.to_owned() });
        }
        self.config.password(text.trim_end_matches(['\r', '\n']));
        Ok(self)
    }

    /// The same with these certificates of authorities, in PEM; none: the system's.
    #[must_use]
    pub fn with_ca_file(self, ca_file: Option<PathBuf>) -> JournalSettings {
        JournalSettings { ca_file, connector: Arc::default(), ..self }
    }

    /// The connector of TLS. The certificates are read for the first connection, and not where none uses them.
    pub(crate) fn connector(&self) -> Result<MakeRustlsConnect, SharedJournalError> {
        if let Some(connector) = self.connector.get() {
            return Ok(connector.clone());
        }
        let is_plain = self.config.get_ssl_mode() == SslMode::Disable;
        let connector = if is_plain { tls::no_connector() } else { tls::connector(self.ca_file.as_deref()) }?;
        Ok(self.connector.get_or_init(|| connector).clone())
    }
}

/// Refuses an address whose hosts cannot be tried one after the other.
fn check_hosts(config: &Config) -> Result<(), &'static str> {
    let (hosts, addresses, ports) = (config.get_hosts().len(), config.get_hostaddrs().len(), config.get_ports().len());
    match () {
        () if hosts.max(addresses) == 0 => Err("it names no host"),
        () if hosts > 0 && addresses > 0 && hosts != addresses => Err("it has not as many hostaddr as hosts"),
        () if ports > 1 && ports != hosts.max(addresses) => Err("it has not as many ports as hosts"),
        () => Ok(()),
    }
}

/// The settings for one of the hosts.
fn of_host(all: &Config, place: usize) -> Config {
    let mut one = Config::new();
    match all.get_hosts().get(place) {
        Some(Host::Tcp(name)) => _ = one.host(name),
        Some(Host::Unix(path)) => _ = one.host_path(path),
        None => {}
    }
    // One port is that of all hosts.
    let port = all.get_ports().get(place).or_else(|| all.get_ports().first());
    all.get_hostaddrs().get(place).into_iter().for_each(|address| _ = one.hostaddr(*address));
    port.into_iter().for_each(|port| _ = one.port(*port));
    all.get_user().into_iter().for_each(|user| _ = one.user(user));
    all.get_password().into_iter().for_each(|password| _ = one.password(password));
    all.get_dbname().into_iter().for_each(|name| _ = one.dbname(name));
    all.get_options().into_iter().for_each(|options| _ = one.options(options));
    all.get_application_name().into_iter().for_each(|name| _ = one.application_name(name));
    all.get_connect_timeout().into_iter().for_each(|limit| _ = one.connect_timeout(*limit));
    all.get_tcp_user_timeout().into_iter().for_each(|limit| _ = one.tcp_user_timeout(*limit));
    all.get_keepalives_interval().into_iter().for_each(|interval| _ = one.keepalives_interval(interval));
    all.get_keepalives_retries().into_iter().for_each(|retries| _ = one.keepalives_retries(retries));
    one.keepalives(all.get_keepalives()).keepalives_idle(all.get_keepalives_idle());
    one.ssl_mode(all.get_ssl_mode()).ssl_negotiation(all.get_ssl_negotiation());
    one.target_session_attrs(all.get_target_session_attrs()).channel_binding(all.get_channel_binding());
    one
}

/// True for an address of this machine.
fn is_loopback(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback()),
        Host::Unix(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use tokio_postgres::config::TargetSessionAttrs;

    use super::*;

    fn settings(address: &str) -> Result<JournalSettings, SettingsError> {
        JournalSettings::new(address, "till", Duration::from_secs(5))
    }

    #[test]
    fn a_password_in_the_address_is_refused() {
        assert!(matches!(settings("postgres://till:secret@db/till"), Err(SettingsError::Password)));
        assert!(matches!(settings("not an address"), Err(SettingsError::Address(_))));
    }

    #[test]
    fn another_machine_is_spoken_to_by_tls_unless_the_address_says_otherwise() {
        let mode = |address| settings(address).expect("it is one").config.get_ssl_mode();
        assert_eq!(mode("postgres://till@db1,db2/till"), SslMode::Require);
        assert_eq!(mode("postgres://till@127.0.0.1/till"), SslMode::Disable);
        assert_eq!(mode("postgres://till@localhost/till?sslmode=require"), SslMode::Require);
        assert_eq!(mode("postgres://till@127.0.0.1,db2/till"), SslMode::Require);
        assert_eq!(mode("postgres://till@db1/till?sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("host=localhost hostaddr=10.0.0.1 dbname=till"), SslMode::Require);
        assert_eq!(mode("host=db1 hostaddr=127.0.0.1 dbname=till"), SslMode::Disable);
    }

    #[test]
    fn a_password_file_that_everybody_can_read_is_refused() {
        let file = tempfile::NamedTempFile::new().expect("a file can be made");
        for (mode, is_taken) in [(0o600, true), (0o640, true), (0o604, false), (0o666, false)] {
            fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).expect("it is ours");
            let read = settings("postgres://till@db/till").expect("it is one").with_password_file(file.path());
            assert_eq!(read.is_ok(), is_taken, "{mode:o}: {read:?}");
        }
    }

    #[test]
    fn each_host_has_its_own_port_and_the_settings_of_all() {
        let hosts =
            settings("postgres://till@db1:1,db2:2/log?target_session_attrs=read-write").expect("it is one").each_host();
        let told: Vec<_> = hosts.iter().map(|(name, one)| (name.as_str(), one.get_ports(), one.get_dbname())).collect();
        assert_eq!(told, [("db1", &[1][..], Some("log")), ("db2", &[2][..], Some("log"))]);
        assert!(hosts.iter().all(|(_, one)| one.get_hosts().len() == 1 && one.get_ssl_mode() == SslMode::Require));
        assert!(hosts.iter().all(|(_, one)| one.get_target_session_attrs() == TargetSessionAttrs::ReadWrite));
        let misspelt = settings("postgres://till@db/till?target_session_attr=any").expect_err("no such setting");
        assert!(misspelt.to_string().contains("target_session_attr"), "{misspelt}");
        for (address, words) in [
            ("dbname=till", "no host"),
            ("host=db1,db2 hostaddr=10.0.0.1", "hostaddr"),
            ("host=db1,db2 port=1,2,3", "ports"),
        ] {
            let refused = settings(address).expect_err(address).to_string();
            assert!(refused.contains(words), "{address}: {refused}");
        }
    }

    #[test]
    fn a_schema_is_a_plain_name() {
        for name in ["", "Till", "1till", "ti\"ll", "till;drop"] {
            let named = JournalSettings::new("postgres://till@db/till", name, Duration::from_secs(5));
            assert!(matches!(named, Err(SettingsError::Schema)), "{name}");
        }
    }
}
