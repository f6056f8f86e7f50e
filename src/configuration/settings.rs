//! All settings, each declared once.

/// A setting: its key in the file, and its default.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting {
    pub(super) key: &'static str,
    /// The value when no source gives one; None for a setting that may be absent.
    pub(super) default: Option<&'static str>,
}

impl Setting {
    const fn with_default(key: &'static str, default: &'static str) -> Setting {
        Setting { key, default: Some(default) }
    }

    const fn optional(key: &'static str) -> Setting {
        Setting { key, default: None }
    }

    /// The name of its environment variable.
    pub(super) fn variable(&self) -> String {
        format!("TILL_{}", self.key.to_uppercase())
    }
}

/// The data directory.
pub(super) const DATA: Setting = Setting::with_default("data", "./data");
/// The address of the public listener, for merchants and devices.
pub(super) const LISTEN: Setting = Setting::with_default("listen", "127.0.0.1:8080");
/// The address of the admin listener, for the operator. Never a public address.
pub(super) const ADMIN_LISTEN: Setting = Setting::with_default("admin_listen", "127.0.0.1:9090");
/// The URL under which callers reach `listen`; documents show it.
pub(super) const PUBLIC_URL: Setting = Setting::optional("public_url");
/// Number of threads that process requests; the number of processors when absent.
pub(super) const HTTP_THREADS: Setting = Setting::optional("http_threads");
/// Limit of simultaneous connections on the public listener.
pub(super) const CONNECTIONS_MAX: Setting = Setting::with_default("connections_max", "8192");
/// Limit of simultaneous connections from one address; a quarter of `connections_max` when absent.
pub(super) const CONNECTIONS_PER_ADDRESS_MAX: Setting = Setting::optional("connections_per_address_max");
/// Networks of proxies in CIDR notation, separated by commas; none when absent.
pub(super) const PROXY_NETWORKS: Setting = Setting::optional("proxy_networks");
/// The header in which these proxies name the address of a caller; no header is trusted when absent.
pub(super) const FORWARDED_HEADER: Setting = Setting::optional("forwarded_header");
/// Limit of calls per second with one API key; no limit when absent.
pub(super) const KEY_CALLS_PER_SECOND: Setting = Setting::optional("key_calls_per_second");
/// Limit of SDK calls per second from one address for one installation.
pub(super) const SDK_CALLS_PER_SECOND: Setting = Setting::with_default("sdk_calls_per_second", "50");
/// Limit of SDK calls per second from one address, for all installations together; no limit when absent.
pub(super) const SDK_CALLS_PER_SECOND_PER_ADDRESS: Setting = Setting::optional("sdk_calls_per_second_per_address");
/// The time after which a connection without useful activity is closed.
pub(super) const IDLE_SECONDS_MAX: Setting = Setting::with_default("idle_seconds_max", "75");
/// Seconds after which a payment that the acquirer has not answered expires.
pub(super) const PENDING_SECONDS_MAX: Setting = Setting::with_default("pending_seconds_max", "3600");
/// Seconds after which an authorization that was not captured lapses.
pub(super) const AUTHORIZED_SECONDS_MAX: Setting = Setting::with_default("authorized_seconds_max", "604800");
/// Otherwise refused networks in which webhooks may be called, in CIDR notation, separated by commas; none when absent.
pub(super) const WEBHOOK_ALLOWED_NETWORKS: Setting = Setting::optional("webhook_allowed_networks");
/// Seconds between the attempts of a delivery to a webhook, separated by commas.
pub(super) const WEBHOOK_RETRY_SECONDS: Setting =
    Setting::with_default("webhook_retry_seconds", "5,300,1800,7200,18000,36000,50400,72000,86400");
/// Free disk space below which writes are refused, so that the database never runs into a full disk.
pub(super) const DISK_RESERVE_BYTES: Setting = Setting::with_default("disk_reserve_bytes", "1073741824");
/// The longest time that opening the database may take before the start gives up.
pub(super) const OPEN_SECONDS_MAX: Setting = Setting::with_default("open_seconds_max", "60");
/// Acknowledged commits up to this number may be missing: the operator's explicit consent after a refused start.
pub(super) const ACCEPT_LOSS_UP_TO: Setting = Setting::optional("accept_loss_up_to");
/// The directory of checkpoints; `checkpoints` in the data directory when absent.
pub(super) const CHECKPOINT_DIRECTORY: Setting = Setting::optional("checkpoint_directory");
/// Seconds between two checkpoints that the server takes by itself; none when absent.
pub(super) const CHECKPOINT_EVERY_SECONDS: Setting = Setting::optional("checkpoint_every_seconds");
/// Number of checkpoints taken by itself that the server keeps.
pub(super) const CHECKPOINTS_KEPT: Setting = Setting::with_default("checkpoints_kept", "3");
/// Seconds within which the scrub reads all table files once; 0 for never.
pub(super) const SCRUB_EVERY_SECONDS: Setting = Setting::with_default("scrub_every_seconds", "604800");
/// The directory of the archive; nothing is archived when absent.
pub(super) const ARCHIVE_DIRECTORY: Setting = Setting::optional("archive_directory");
/// A segment of the archive is closed once it has this many bytes.
pub(super) const ARCHIVE_SEGMENT_BYTES: Setting = Setting::with_default("archive_segment_bytes", "67108864");
/// A segment of the archive is closed once it is this old.
pub(super) const ARCHIVE_SEGMENT_SECONDS: Setting = Setting::with_default("archive_segment_seconds", "3600");
/// The interval at which the archiver looks for new commits.
pub(super) const ARCHIVE_EVERY_MILLISECONDS: Setting = Setting::with_default("archive_every_milliseconds", "1000");
/// True when commits are archived before they are acknowledged.
pub(super) const ARCHIVE_BEFORE_ACKNOWLEDGED: Setting = Setting::with_default("archive_before_acknowledged", "false");
/// `json` or `text`; when absent, `text` on a terminal and `json` elsewhere.
pub(super) const LOG_FORMAT: Setting = Setting::optional("log_format");
/// The filter of log lines, in the syntax of `tracing`.
pub(super) const LOG_FILTER: Setting = Setting::with_default("log_filter", "info,actix_server=warn");
/// True when the log's lines of calls show the addresses of callers.
pub(super) const LOG_CALLER_ADDRESSES: Setting = Setting::with_default("log_caller_addresses", "false");
/// A file with the admin token.
pub(super) const ADMIN_TOKEN_FILE: Setting = Setting::optional("admin_token_file");
/// A file with the vault key.
pub(super) const VAULT_KEY_FILE: Setting = Setting::optional("vault_key_file");
/// The certificates of the public listener, PEM; HTTP without TLS when absent.
pub(super) const TLS_CERTIFICATE_FILE: Setting = Setting::optional("tls_certificate_file");
/// The private key that belongs to them, PEM.
pub(super) const TLS_KEY_FILE: Setting = Setting::optional("tls_key_file");
/// The certificates of the admin listener, PEM; HTTP without TLS when absent.
pub(super) const ADMIN_TLS_CERTIFICATE_FILE: Setting = Setting::optional("admin_tls_certificate_file");
/// The private key that belongs to them, PEM.
pub(super) const ADMIN_TLS_KEY_FILE: Setting = Setting::optional("admin_tls_key_file");
/// Certificates by which the operator's commands verify the admin listener, PEM.
pub(super) const ADMIN_CA_FILE: Setting = Setting::optional("admin_ca_file");

/// All settings, in the order in which they are printed.
pub(super) const ALL: [Setting; 39] = [
    DATA,
    LISTEN,
    ADMIN_LISTEN,
    PUBLIC_URL,
    HTTP_THREADS,
    CONNECTIONS_MAX,
    CONNECTIONS_PER_ADDRESS_MAX,
    PROXY_NETWORKS,
    FORWARDED_HEADER,
    KEY_CALLS_PER_SECOND,
    SDK_CALLS_PER_SECOND,
    SDK_CALLS_PER_SECOND_PER_ADDRESS,
    IDLE_SECONDS_MAX,
    PENDING_SECONDS_MAX,
    AUTHORIZED_SECONDS_MAX,
    WEBHOOK_ALLOWED_NETWORKS,
    WEBHOOK_RETRY_SECONDS,
    DISK_RESERVE_BYTES,
    OPEN_SECONDS_MAX,
    ACCEPT_LOSS_UP_TO,
    CHECKPOINT_DIRECTORY,
    CHECKPOINT_EVERY_SECONDS,
    CHECKPOINTS_KEPT,
    SCRUB_EVERY_SECONDS,
    ARCHIVE_DIRECTORY,
    ARCHIVE_SEGMENT_BYTES,
    ARCHIVE_SEGMENT_SECONDS,
    ARCHIVE_EVERY_MILLISECONDS,
    ARCHIVE_BEFORE_ACKNOWLEDGED,
    LOG_FORMAT,
    LOG_FILTER,
    LOG_CALLER_ADDRESSES,
    ADMIN_TOKEN_FILE,
    VAULT_KEY_FILE,
    TLS_CERTIFICATE_FILE,
    TLS_KEY_FILE,
    ADMIN_TLS_CERTIFICATE_FILE,
    ADMIN_TLS_KEY_FILE,
    ADMIN_CA_FILE,
];

/// The environment variable with the path of the configuration file.
pub(super) const CONFIG_VARIABLE: &str = "TILL_CONFIG";
/// The admin token itself, which may be given in the environment only.
pub(super) const ADMIN_TOKEN_VARIABLE: &str = "TILL_ADMIN_TOKEN";
/// The vault key itself, which may be given in the environment only.
pub(super) const VAULT_KEY_VARIABLE: &str = "TILL_VAULT_KEY";
/// Secrets of webhooks, for `till webhook listen` only.
pub(super) const WEBHOOK_SECRET_VARIABLE: &str = "TILL_WEBHOOK_SECRET";
