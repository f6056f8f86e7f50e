//! The effective configuration.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread;
use std::time::Duration;
use till_actors::CallTimes;
use till_actors::outgoing::check_base_url;
use till_actors::webhooks::{AllowedNetworks, RetrySchedule};
use till_domain::payment::Lifetimes;

use actix_web::http::header::{FORWARDED, HeaderName};
use secrecy::SecretString;
use till_protocol::connection::ForwardedHeader;
use url::Url;

use super::archive::ArchiveSettings;
use super::deployment::Deployment;
use super::journal::JournalConfiguration;
use super::layers::{Layers, Origin};
use super::settings::{self, Setting};

/// The effective configuration, checked as a whole.
#[derive(Debug, Clone)]
pub struct Configuration {
    /// The data directory.
    pub data: PathBuf,
    /// The address of the public listener, for merchants and devices.
    pub listen: SocketAddr,
    /// The address of the admin listener, for the operator.
    pub admin_listen: SocketAddr,
    /// The host of `admin_listen` as it was written: the name that its certificate must have.
    pub admin_host: String,
    /// The certificate of the public listener; HTTP without TLS when absent.
    pub tls: Option<TlsFiles>,
    /// The certificate of the admin listener; HTTP without TLS when absent.
    pub admin_tls: Option<TlsFiles>,
    /// The certificates by which the operator's commands trust the admin listener.
    pub admin_ca_file: Option<PathBuf>,
    /// The address under which callers reach `listen`, without a slash at its end.
    pub public_url: Option<String>,
    /// The seconds without a request after which a member's session ends.
    pub dashboard_idle_seconds: u64,
    /// The address of Stripe's API.
    pub stripe_url: String,
    /// The times of calls to acquirers.
    pub call_times: CallTimes,
    /// Threads that take requests.
    pub http_threads: NonZeroUsize,
    /// Limits on connections and calls.
    pub limits: Limits,
    /// The proxies in front of the public listener.
    pub proxies: ProxySettings,
    /// The times that payments wait for an answer, and authorizations for a capture.
    pub lifetimes: Lifetimes,
    /// Free disk space below which writes are refused.
    pub disk_reserve_bytes: u64,
    /// Settings of the delivery of events to webhooks.
    pub webhooks: WebhookSettings,
    /// The longest time that opening the database may take.
    pub open_time_max: Duration,
    /// Acknowledged commits up to this number may be missing.
    pub accept_loss_up_to: Option<u64>,
    /// The schedule of checkpoints, and the directory that they are kept in.
    pub checkpoints: CheckpointSettings,
    /// The time in which all tables at rest are read once; none when they are not.
    pub scrub_every: Option<Duration>,
    /// The settings of the archive.
    pub archive: ArchiveSettings,
    /// The place of the log.
    pub deployment: Deployment,
    /// The form of log lines; when absent, text on a terminal and JSON elsewhere.
    pub log_format: Option<LogFormat>,
    /// The filter of log lines, in the syntax of `tracing`.
    pub log_filter: String,
    /// True when the log's lines of calls show the addresses of callers.
    pub log_caller_addresses: bool,
    pub(super) admin_token: Option<SecretString>,
    pub(super) admin_token_file: Option<PathBuf>,
    pub(super) vault_key: Option<SecretString>,
    pub(super) vault_key_file: Option<PathBuf>,
    printed: String,
    /// The settings that are not left at their defaults, as `key = "value"`.
    pub given: Vec<String>,
}

/// Limits on connections and calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once on the public listener.
    pub connections_max: NonZeroUsize,
    /// Connections at once from one address, of IPv6 from one network (/64).
    pub connections_per_address_max: NonZeroUsize,
    /// Calls a second of one API key or member; any number when absent.
    pub key_calls_per_second: Option<NonZeroU32>,
    /// Calls a second of one address for one installation.
    pub sdk_calls_per_second: NonZeroU32,
    /// SDK calls and pages a second of one address, for all installations together; no limit when absent.
    pub sdk_calls_per_second_per_address: Option<NonZeroU32>,
    /// Calls a second of one address that write without a key.
    pub sdk_writes_per_second_per_address: NonZeroU32,
    /// Such calls a second for one installation.
    pub sdk_writes_per_second_per_installation: NonZeroU32,
    /// The time after which a connection without useful activity is closed.
    pub idle_max: Duration,
}

/// The proxies in front of the public listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxySettings {
    /// The networks that the proxies are in. The limit of connections per address does not apply to their addresses.
    pub networks: AllowedNetworks,
    /// The header in which they name the address of a caller; no header is trusted when absent.
    pub forwarded: Option<ForwardedHeader>,
}

/// The certificate of a listener and its private key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// Its certificates, the listener's own first, PEM.
    pub certificate: PathBuf,
    /// The private key of the first of them, PEM.
    pub key: PathBuf,
}

/// The schedule of checkpoints, and the directory that they are kept in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointSettings {
    /// The directory of all checkpoints.
    pub directory: PathBuf,
    /// The interval at which the server takes one by itself; never when absent.
    pub every: Option<Duration>,
    /// The number of its own checkpoints that the server keeps.
    pub kept: NonZeroUsize,
}

/// Settings of the delivery of events to webhooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookSettings {
    /// Networks that may be called though they are not public.
    pub allowed_networks: AllowedNetworks,
    /// The delays between attempts.
    pub retry_schedule: RetrySchedule,
}

/// The form of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object a line, for machines.
    Json,
    /// Text, for people.
    Text,
}

/// Everything that is wrong with a configuration, a line each.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the configuration is not usable:\n  {}", .0.join("\n  "))]
pub struct ConfigurationFaults(Vec<String>);

impl Configuration {
    /// Checks the settings as a whole.
    ///
    /// # Errors
    /// All faults at once, each naming the setting where it was said. No message shows a secret.
    pub fn from_layers(mut layers: Layers) -> Result<Configuration, ConfigurationFaults> {
        let faults = std::mem::take(&mut layers.faults);
        let (printed, given) = (printed(&layers), given_settings(&layers));
        let (admin_token, vault_key) = (layers.admin_token.take(), layers.vault_key.take());
        let mut reader = SettingsReader { layers: &layers, faults };
        let data = reader.required(&settings::DATA, path);
        let (listen, admin_listen, are_known) = reader.listeners();
        let configuration = Configuration {
            listen,
            admin_listen,
            admin_host: reader.required(&settings::ADMIN_LISTEN, host),
            tls: reader.tls(&settings::TLS_CERTIFICATE_FILE, &settings::TLS_KEY_FILE),
            admin_tls: reader.tls(&settings::ADMIN_TLS_CERTIFICATE_FILE, &settings::ADMIN_TLS_KEY_FILE),
            admin_ca_file: reader.optional(&settings::ADMIN_CA_FILE, path),
            public_url: reader.optional(&settings::PUBLIC_URL, web_address),
            dashboard_idle_seconds: reader.short_seconds(&settings::DASHBOARD_IDLE_SECONDS),
            stripe_url: reader.required(&settings::STRIPE_URL, acquirer_address),
            call_times: reader.call_times(),
            http_threads: reader.optional(&settings::HTTP_THREADS, number("threads")).unwrap_or_else(processors),
            limits: reader.limits(),
            proxies: reader.proxies(),
            lifetimes: reader.lifetimes(),
            webhooks: reader.webhooks(),
            disk_reserve_bytes: reader.required(&settings::DISK_RESERVE_BYTES, number("bytes")),
            open_time_max: reader.seconds(&settings::OPEN_SECONDS_MAX),
            accept_loss_up_to: reader.optional(&settings::ACCEPT_LOSS_UP_TO, number("commits")),
            checkpoints: reader.checkpoints(&data),
            scrub_every: reader.scrub_every(),
            archive: reader.archive(),
            deployment: reader.journal().map_or(Deployment::Embedded, |journal| Deployment::Journal(Box::new(journal))),
            log_format: reader.optional(&settings::LOG_FORMAT, log_format),
            log_filter: reader.required(&settings::LOG_FILTER, log_filter),
            log_caller_addresses: reader.required(&settings::LOG_CALLER_ADDRESSES, yes_or_no),
            admin_token_file: reader.optional(&settings::ADMIN_TOKEN_FILE, path),
            vault_key_file: reader.optional(&settings::VAULT_KEY_FILE, path),
            data,
            admin_token,
            vault_key,
            printed,
            given,
        };
        if are_known {
            reader.check_addresses(listen, admin_listen);
        }
        if reader.faults.is_empty() { Ok(configuration) } else { Err(ConfigurationFaults(reader.faults)) }
    }
}

/// Every setting as a line of the configuration file, with its origin. Of a secret it only says whether the environment
/// gives one.
impl fmt::Display for Configuration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.printed)
    }
}

/// Reads settings and collects their faults.
struct SettingsReader<'l> {
    layers: &'l Layers,
    faults: Vec<String>,
}

impl SettingsReader<'_> {
    /// The value of a setting that has a default, which stands in for a faulty one.
    fn required<T>(&mut self, setting: &Setting, parse: impl Fn(&str) -> Result<T, String>) -> T {
        let default = || setting.default.and_then(|default| parse(default).ok());
        self.optional(setting, &parse).or_else(default).expect("the default of a setting is valid")
    }

    fn optional<T>(&mut self, setting: &Setting, parse: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let (text, origin) = self.layers.value(setting)?;
        match parse(text) {
            Ok(value) => Some(value),
            Err(message) => {
                self.faults.push(format!("{}: {message}", origin.name_of(setting)));
                None
            }
        }
    }

    /// The times of calls to acquirers: shorter ones only for an acquirer that is played on this machine, since no
    /// other is called over http.
    fn call_times(&mut self) -> CallTimes {
        let divisor = self.optional(&settings::ACQUIRER_TIMES_DIVIDED_BY, number::<NonZeroU32>("times"));
        let is_played = self.layers.value(&settings::STRIPE_URL).is_some_and(|(url, _)| url.starts_with("http://"));
        if divisor.is_some() && !is_played {
            let name = settings::ACQUIRER_TIMES_DIVIDED_BY.key;
            self.faults.push(format!("{name}: stripe_url must be an http address, at loopback: it is for tests only"));
        }
        divisor.map_or(CallTimes::default(), |divisor| CallTimes::default().divided_by(divisor))
    }

    /// The addresses of both listeners, and whether they are those that the operator gave.
    fn listeners(&mut self) -> (SocketAddr, SocketAddr, bool) {
        let faults = self.faults.len();
        let listen = self.required(&settings::LISTEN, address);
        let admin_listen = self.required(&settings::ADMIN_LISTEN, address);
        (listen, admin_listen, self.faults.len() == faults)
    }

    /// A time of whole seconds, above zero.
    fn seconds(&mut self, setting: &Setting) -> Duration {
        Duration::from_secs(self.required(setting, number::<NonZeroU64>("seconds")).get())
    }

    /// Seconds above zero, of at most 32 bits.
    fn short_seconds(&mut self, setting: &Setting) -> u64 {
        self.required(setting, number::<NonZeroU32>("seconds")).get().into()
    }

    fn limits(&mut self) -> Limits {
        let connections_max = self.required(&settings::CONNECTIONS_MAX, number("connections"));
        let per_address = self.optional(&settings::CONNECTIONS_PER_ADDRESS_MAX, number("connections"));
        Limits {
            connections_max,
            connections_per_address_max: per_address.unwrap_or_else(|| a_quarter(connections_max)),
            key_calls_per_second: self.optional(&settings::KEY_CALLS_PER_SECOND, number("calls a second")),
            sdk_calls_per_second: self.required(&settings::SDK_CALLS_PER_SECOND, number("calls a second")),
            sdk_calls_per_second_per_address: self
                .optional(&settings::SDK_CALLS_PER_SECOND_PER_ADDRESS, number("calls a second")),
            sdk_writes_per_second_per_address: self
                .required(&settings::SDK_WRITES_PER_SECOND_PER_ADDRESS, number("calls a second")),
            sdk_writes_per_second_per_installation: self
                .required(&settings::SDK_WRITES_PER_SECOND_PER_INSTALLATION, number("calls a second")),
            idle_max: Duration::from_secs(self.short_seconds(&settings::IDLE_SECONDS_MAX)),
        }
    }

    /// Without `proxy_networks` any caller could claim any address, so the header alone is a fault.
    fn proxies(&mut self) -> ProxySettings {
        let networks = self.optional(&settings::PROXY_NETWORKS, parsed::<AllowedNetworks>);
        let forwarded_header = self.optional(&settings::FORWARDED_HEADER, header_name);
        if forwarded_header.is_some() && self.layers.value(&settings::PROXY_NETWORKS).is_none() {
            let fault =
                "forwarded_header: proxy_networks must be set too; the header is believed of proxies there only";
            self.faults.push(fault.to_owned());
        }
        let networks = networks.unwrap_or_default();
        let forwarded = forwarded_header.map(|name| ForwardedHeader { name, proxies: networks.networks().to_vec() });
        ProxySettings { networks, forwarded }
    }

    fn lifetimes(&mut self) -> Lifetimes {
        Lifetimes {
            pending_seconds: self.short_seconds(&settings::PENDING_SECONDS_MAX),
            authorization_seconds: self.short_seconds(&settings::AUTHORIZED_SECONDS_MAX),
        }
    }

    fn webhooks(&mut self) -> WebhookSettings {
        let allowed_networks = self.optional(&settings::WEBHOOK_ALLOWED_NETWORKS, parsed::<AllowedNetworks>);
        WebhookSettings {
            allowed_networks: allowed_networks.unwrap_or_default(),
            retry_schedule: self.required(&settings::WEBHOOK_RETRY_SECONDS, parsed::<RetrySchedule>),
        }
    }

    fn checkpoints(&mut self, data: &Path) -> CheckpointSettings {
        let directory = self.optional(&settings::CHECKPOINT_DIRECTORY, path);
        let every_seconds = self.optional(&settings::CHECKPOINT_EVERY_SECONDS, number::<NonZeroU64>("seconds"));
        CheckpointSettings {
            directory: directory.unwrap_or_else(|| data.join("checkpoints")),
            every: every_seconds.map(|seconds| Duration::from_secs(seconds.get())),
            kept: self.required(&settings::CHECKPOINTS_KEPT, number("checkpoints")),
        }
    }

    fn scrub_every(&mut self) -> Option<Duration> {
        let seconds = self.required(&settings::SCRUB_EVERY_SECONDS, number::<u64>("seconds"));
        Some(seconds).filter(|seconds| *seconds > 0).map(Duration::from_secs)
    }

    /// A certificate and its key are only useful together.
    fn tls(&mut self, certificate: &Setting, key: &Setting) -> Option<TlsFiles> {
        match (self.optional(certificate, path), self.optional(key, path)) {
            (Some(certificate), Some(key)) => Some(TlsFiles { certificate, key }),
            (None, None) => None,
            (found, _) => {
                let missing = if found.is_some() { key } else { certificate };
                self.faults.push(format!("{} and {}: give both; {} is missing", certificate.key, key.key, missing.key));
                None
            }
        }
    }

    fn archive(&mut self) -> ArchiveSettings {
        let settings = ArchiveSettings {
            directory: self.optional(&settings::ARCHIVE_DIRECTORY, path),
            segment_bytes: self.required(&settings::ARCHIVE_SEGMENT_BYTES, number("bytes")),
            segment_age: self.seconds(&settings::ARCHIVE_SEGMENT_SECONDS),
            every: Duration::from_millis(
                self.required(&settings::ARCHIVE_EVERY_MILLISECONDS, number::<NonZeroU64>("milliseconds")).get(),
            ),
            before_acknowledged: self.required(&settings::ARCHIVE_BEFORE_ACKNOWLEDGED, yes_or_no),
        };
        if settings.before_acknowledged && settings.directory.is_none() {
            self.faults.push("archive_before_acknowledged: archive_directory must be set too".to_owned());
        }
        settings
    }

    /// A log in a database is kept and copied by the tools of that database, so that settings of the embedded store's
    /// are faults.
    fn journal(&mut self) -> Option<JournalConfiguration> {
        let schema = self.required(&settings::JOURNAL_SCHEMA, |text| Ok(text.to_owned()));
        let patience = self.seconds(&settings::JOURNAL_SECONDS_MAX);
        let password_file = self.optional(&settings::JOURNAL_PASSWORD_FILE, path);
        let ca_file = self.optional(&settings::JOURNAL_CA_FILE, path);
        let may_be_unreplicated = self.required(&settings::JOURNAL_UNREPLICATED, yes_or_no);
        let address = self.optional(&settings::JOURNAL, |text| Ok::<_, String>(text.to_owned()))?;
        for setting in settings::ALL.iter().filter(|setting| settings::is_replaced_by_journal(setting)) {
            if self.layers.value(setting).is_some_and(|(_, origin)| origin != Origin::Default) {
                let reason = "does not go with journal: back the database up instead, with pgBackRest";
                self.faults.push(format!("{}: {reason}", setting.key));
            }
        }
        let database = (address.as_str(), schema.as_str(), patience);
        let journal = JournalConfiguration::new(database, password_file, ca_file, may_be_unreplicated);
        journal.map_err(|fault| self.faults.push(fault)).ok()
    }

    /// Two listeners on one port would be one listener, and would make the operator's calls public.
    fn check_addresses(&mut self, listen: SocketAddr, admin_listen: SocketAddr) {
        if listen == admin_listen && listen.port() != 0 {
            self.faults
                .push("admin_listen: must not be the address of listen, which is the public listener's".to_owned());
        }
    }
}

fn given_settings(layers: &Layers) -> Vec<String> {
    let is_given = |origin| origin != Origin::Default;
    let text =
        |setting: &Setting| layers.value(setting).filter(|(_, origin)| is_given(*origin)).map(|(value, _)| value);
    settings::ALL.iter().filter_map(|setting| Some(format!("{} = {:?}", setting.key, text(setting)?))).collect()
}

fn printed(layers: &Layers) -> String {
    let line = |setting: &Setting| match layers.value(setting) {
        Some((value, origin)) => format!("{} = {value:?} # {origin}\n", setting.key),
        None => format!("# {} is not set\n", setting.key),
    };
    let secret = |name: &str, value: &Option<SecretString>| match value {
        Some(_) => format!("# {name} is given by the environment\n"),
        None => format!("# {name} is not given by the environment\n"),
    };
    let is_shown = |setting: &&Setting| !setting.is_hidden() || layers.value(setting).is_some();
    let settings: String = settings::ALL.iter().filter(is_shown).map(line).collect();
    let admin_token = secret(settings::ADMIN_TOKEN_VARIABLE, &layers.admin_token);
    settings + &admin_token + &secret(settings::VAULT_KEY_VARIABLE, &layers.vault_key)
}

/// The processors that this process may run on.
pub(crate) fn processors() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

fn path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() { Err("must not be empty".to_owned()) } else { Ok(PathBuf::from(text)) }
}

/// `HOST:PORT`. A name is resolved, and its first address is taken.
fn address(text: &str) -> Result<SocketAddr, String> {
    let Some((host, port)) = text.rsplit_once(':') else {
        return Err(format!("must be HOST:PORT, such as 127.0.0.1:8080; it is {text:?}"));
    };
    if port.parse::<u16>().is_err() {
        return Err(format!("must be HOST:PORT with a port from 0 to 65535; it is {text:?}"));
    }
    let found = text.to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
    found.ok_or_else(|| format!("the host {host:?} cannot be found: write an address of this machine, or a name of it"))
}

/// The host of `HOST:PORT`. Faults of the whole are reported by [`address`].
fn host(text: &str) -> Result<String, String> {
    Ok(text.rsplit_once(':').map_or(text, |(host, _)| host).to_owned())
}

fn web_address(text: &str) -> Result<String, String> {
    let is_web = |url: &Url| {
        matches!(url.scheme(), "http" | "https") && url.has_host() && url.query().is_none() && url.fragment().is_none()
    };
    let url = Url::parse(text).ok().filter(is_web);
    url.map(|_| text.trim_end_matches('/').to_owned())
        .ok_or_else(|| "is not an http or https address without query".to_owned())
}

fn acquirer_address(text: &str) -> Result<String, String> {
    check_base_url(text).map(|()| text.to_owned()).map_err(|refused| refused.to_string())
}

/// A type of whole numbers that settings have.
trait WholeNumber: FromStr {
    /// The numbers that it has, for a message.
    const RANGE: &str;
}

impl WholeNumber for u64 {
    const RANGE: &str = "0 or more";
}

impl WholeNumber for NonZeroU64 {
    const RANGE: &str = "1 or more";
}

impl WholeNumber for NonZeroUsize {
    const RANGE: &str = "1 or more";
}

impl WholeNumber for NonZeroU32 {
    const RANGE: &str = "1 to 4294967295";
}

/// Reads a whole number of such units, above zero when its type says so.
fn number<T: WholeNumber>(unit: &str) -> impl Fn(&str) -> Result<T, String> {
    move |text| {
        let fault = |_| format!("must be a whole number of {unit}, {}, in digits alone; it is {text:?}", T::RANGE);
        text.parse().map_err(fault)
    }
}

/// A quarter of the connections, at least one.
fn a_quarter(connections: NonZeroUsize) -> NonZeroUsize {
    NonZeroUsize::new(connections.get() / 4).unwrap_or(NonZeroUsize::MIN)
}

/// Refuses the header of RFC 7239: it has parameters around its addresses, which the server does not read.
fn header_name(text: &str) -> Result<HeaderName, String> {
    let name = text.parse::<HeaderName>().ok().filter(|name| *name != FORWARDED);
    name.ok_or_else(|| "is not the name of a header that has addresses only, such as X-Forwarded-For".to_owned())
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "must be true or false".to_owned())
}

fn parsed<T: FromStr<Err: fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn log_format(text: &str) -> Result<LogFormat, String> {
    match text {
        "json" => Ok(LogFormat::Json),
        "text" => Ok(LogFormat::Text),
        _ => Err("must be json or text".to_owned()),
    }
}

fn log_filter(text: &str) -> Result<String, String> {
    let filter = tracing_subscriber::EnvFilter::try_new(text);
    let remedy = "write error, warn, info, debug or trace, or parts such as till=debug with commas between them";
    filter.map(|_| text.to_owned()).map_err(|error| format!("{text:?} is not a filter ({error}): {remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn faults(layers: Layers) -> Vec<String> {
        match Configuration::from_layers(layers) {
            Ok(_) => Vec::new(),
            Err(ConfigurationFaults(faults)) => faults,
        }
    }

    #[test]
    fn nothing_said_gives_the_defaults() {
        let configuration = Configuration::from_layers(Layers::new()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(configuration.data, PathBuf::from("./data"));
        assert_eq!(
            (configuration.listen.to_string(), configuration.admin_listen.to_string()),
            ("127.0.0.1:8080".to_owned(), "127.0.0.1:9090".to_owned())
        );
        assert_eq!(configuration.log_format, None);
        let Limits { connections_max, connections_per_address_max, .. } = configuration.limits;
        assert_eq!((connections_max.get(), connections_per_address_max.get()), (8192, 2048));
        assert!(configuration.proxies.networks.is_empty() && configuration.proxies.forwarded.is_none());
        assert!(configuration.webhooks.allowed_networks.is_empty());
        assert_eq!(configuration.webhooks.retry_schedule, RetrySchedule::default());
    }

    #[test]
    fn faults_in_lists_of_networks_and_delays_name_the_entry() {
        let networks = |text: &str| environment(&[("TILL_WEBHOOK_ALLOWED_NETWORKS", text)]);
        let layers = Layers::new()
            .with_file_text("webhook_retry_seconds = 7")
            .with_environment(networks("127.0.0.0/8, fd00::/8"));
        let WebhookSettings { allowed_networks, retry_schedule } =
            Configuration::from_layers(layers).unwrap_or_else(|error| panic!("{error}")).webhooks;
        assert_eq!(Ok(allowed_networks), "127.0.0.0/8,fd00::/8".parse());
        assert_eq!(Ok(retry_schedule), "7".parse());
        let layers =
            Layers::new().with_file_text("webhook_retry_seconds = '5,0'").with_environment(networks("10.0.0.1/8"));
        let expected = [
            "TILL_WEBHOOK_ALLOWED_NETWORKS: 10.0.0.1/8 has bits after its prefix: write 10.0.0.0/8",
            "webhook_retry_seconds: \"0\" is not a delay: write whole seconds from 1 to 604800, separated by commas",
        ];
        assert_eq!(faults(layers), expected);
    }

    #[test]
    fn a_share_of_the_connections_is_at_least_one_and_may_be_named() {
        for (text, share) in
            [("connections_max = 3", 1), ("connections_max = 9", 2), ("connections_per_address_max = 7", 7)]
        {
            let configuration = Configuration::from_layers(Layers::new().with_file_text(text));
            let limits = configuration.unwrap_or_else(|error| panic!("{error}")).limits;
            assert_eq!(limits.connections_per_address_max.get(), share, "{text}");
        }
    }

    #[test]
    fn a_forwarding_header_is_believed_of_named_proxies_only() {
        let layers =
            Layers::new().with_file_text("forwarded_header = 'X-Forwarded-For'\nproxy_networks = '10.0.0.0/8'");
        let proxies = Configuration::from_layers(layers).unwrap_or_else(|error| panic!("{error}")).proxies;
        assert_eq!(proxies.forwarded.map(|header| header.name.to_string()), Some("x-forwarded-for".to_owned()));
        assert_eq!(Ok(proxies.networks), "10.0.0.0/8".parse());
        assert_eq!(
            faults(Layers::new().with_file_text("forwarded_header = 'X-Forwarded-For'")),
            ["forwarded_header: proxy_networks must be set too; the header is believed of proxies there only"]
        );
        for name in ["Forwarded", "X Forwarded", ""] {
            let text = format!("proxy_networks = '10.0.0.0/8'\nforwarded_header = '{name}'");
            assert_eq!(faults(Layers::new().with_file_text(&text)).len(), 1, "{name}");
        }
    }

    #[test]
    fn a_flag_overrides_the_environment_and_that_the_file() {
        let layers = Layers::new()
            .with_file_text("listen = '127.0.0.1:1'\nconnections_max = 7\ndata = '/file'")
            .with_environment(environment(&[
                ("TILL_LISTEN", "127.0.0.1:2"),
                ("TILL_DATA", "/environment"),
                ("HOME", "/root"),
            ]))
            .with_flag("listen", Some("127.0.0.1:3".to_owned()))
            .with_flag("data", None);
        let configuration = Configuration::from_layers(layers).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(configuration.listen.port(), 3);
        assert_eq!(configuration.data, PathBuf::from("/environment"));
        assert_eq!(configuration.limits.connections_max.get(), 7);
    }

    #[test]
    fn all_faults_come_at_once_and_name_the_place() {
        let layers = Layers::new()
            .with_file_text("lisen = 'x'\nconnections_max = 0\nlog_format = ['json']\nnothing_like_it = 1")
            .with_environment(environment(&[
                ("TILL_HTTP_THREADS", "-1"),
                ("TILL_VAULT_KEY", ""),
                ("TILL_DISK_RESERVE_BYTES", ""),
            ]))
            .with_flag("admin_listen", Some("nowhere".to_owned()));
        let faults = faults(layers);
        for expected in [
            "lisen: there is no such setting; did you mean listen?",
            "nothing_like_it: there is no such setting",
            "connections_max: must be a whole number of connections, 1 or more, in digits alone; it is \"0\"",
            "log_format: must be one string, number or boolean, and is a list: write its parts into one string, with \
                commas between them",
            "TILL_HTTP_THREADS: must be a whole number of threads, 1 or more, in digits alone; it is \"-1\"",
            "TILL_VAULT_KEY: is empty; give it a value or unset it",
            "TILL_DISK_RESERVE_BYTES: is empty; give it a value or unset it",
            "--admin-listen: must be HOST:PORT, such as 127.0.0.1:8080; it is \"nowhere\"",
        ] {
            assert!(faults.iter().any(|fault| fault == expected), "{expected} is not among {faults:?}");
        }
        assert_eq!(faults.len(), 8);
    }

    #[test]
    fn times_of_acquirers_are_shortened_at_a_loopback_address_only() {
        let divided = |url: &str| Layers::new().with_file_text(&format!("acquirer_times_divided_by = 100\n{url}"));
        let loopback = Configuration::from_layers(divided("stripe_url = 'http://127.0.0.1:9'"));
        let times = loopback.unwrap_or_else(|error| panic!("{error}")).call_times;
        assert_eq!((times.call.as_millis(), times.between_test_calls.as_micros()), (300, 500));
        let expected =
            "acquirer_times_divided_by: stripe_url must be an http address, at loopback: it is for tests only";
        for url in ["", "stripe_url = 'https://stripe.example'"] {
            assert_eq!(faults(divided(url)), [expected], "{url}");
        }
        assert!(!crate::settings_in_markdown().contains("divided_by"));
    }

    #[test]
    fn settings_that_contradict_each_other_are_refused() {
        assert_eq!(faults(Layers::new().with_file_text("admin_listen = '127.0.0.1:8080'")).len(), 1);
        assert_eq!(
            faults(Layers::new().with_file_text("listen = '127.0.0.1:0'\nadmin_listen = '127.0.0.1:0'")),
            Vec::<String>::new()
        );
        assert_eq!(
            faults(Layers::new().with_file_text("tls_certificate_file = '/c.pem'")),
            ["tls_certificate_file and tls_key_file: give both; tls_key_file is missing"]
        );
        assert_eq!(faults(Layers::new().with_file_text("listen =")).len(), 1);
        assert_eq!(faults(Layers::new().with_file(std::path::Path::new("/nonexistent/till.toml"))).len(), 1);
    }

    #[test]
    fn the_printed_configuration_shows_origins_but_no_secrets() {
        let layers = Layers::new()
            .with_environment(environment(&[("TILL_ADMIN_TOKEN", "hunter2"), ("TILL_LOG_FORMAT", "text")]));
        let configuration = Configuration::from_layers(layers).unwrap_or_else(|error| panic!("{error}"));
        let printed = configuration.to_string();
        assert!(printed.contains("log_format = \"text\" # environment\n"), "{printed}");
        assert!(printed.contains("# TILL_ADMIN_TOKEN is given by the environment\n"));
        assert!(!printed.contains("hunter2") && !format!("{configuration:?}").contains("hunter2"));
    }

    #[test]
    fn the_origin_of_a_default_is_the_default() {
        assert_eq!(Layers::new().value(&settings::DATA).map(|(_, origin)| origin), Some(Origin::Default));
    }
}
