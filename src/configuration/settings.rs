//! All settings, each declared once: `till configuration --markdown` prints them as the table of `docs/settings.md`.

/// A setting of the operator.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting {
    /// Its key in the file.
    pub(super) key: &'static str,
    /// The value when no source gives one; None for a setting that may be absent.
    pub(super) default: Option<&'static str>,
    /// Its meaning, in Markdown.
    meaning: &'static str,
}

impl Setting {
    /// The name of its environment variable.
    pub(super) fn variable(&self) -> String {
        format!("TILL_{}", self.key.to_uppercase())
    }

    /// True for a setting for tests, which no document has.
    pub(super) fn is_hidden(&self) -> bool {
        self.key == ACQUIRER_TIMES_DIVIDED_BY.key
    }

    fn row(&self) -> String {
        let default = self.default.map_or("not set".to_owned(), |default| format!("`{default}`"));
        format!("| `{}` | `{}` | {default} | {} |\n", self.key, self.variable(), self.meaning)
    }
}

/// The table of all settings in Markdown, as `docs/settings.md` has it.
#[must_use]
pub fn settings_in_markdown() -> String {
    let head = "| key | environment | default | meaning |\n|---|---|---|---|\n".to_owned();
    ALL.iter().filter(|setting| !setting.is_hidden()).fold(head, |table, setting| table + &setting.row())
}

/// Declares settings: a constant for each, and `ALL` in this order, in which they are printed. `NAME "key" = "default":
/// "meaning";`, without `= "default"` for a setting that may be absent.
macro_rules! settings {
    ($($name:ident $key:literal $(= $default:literal)?: $meaning:literal;)+) => {
        $(
            #[doc = $meaning]
            pub(super) const $name: Setting =
                Setting { key: $key, default: [$(Some($default),)? None][0], meaning: $meaning };
        )+
        /// All settings, in the order in which they are printed.
        pub(super) const ALL: &[Setting] = &[$($name),+];
    };
}

settings! {
    DATA "data" = "./data":
        "The directory that holds everything that lasts.";
    LISTEN "listen" = "127.0.0.1:8080":
        "Where merchants and devices call.";
    ADMIN_LISTEN "admin_listen" = "127.0.0.1:9090":
        "Where the operator calls. Never a public address. A name in it is a `Host` that this listener \
            [answers](operations.md#listeners).";
    PUBLIC_URL "public_url":
        "The address under which callers reach `listen`, for documents and \
            [pages](operations.md#pages-for-customers). Not set: the `Host` of the request.";
    STRIPE_URL "stripe_url" = "https://api.stripe.com":
        "Where accounts at Stripe are called. `http` at a loopback address only.";
    ACQUIRER_TIMES_DIVIDED_BY "acquirer_times_divided_by":
        "For tests: the number by which the times of calls to acquirers are divided. No document has it.";
    HTTP_THREADS "http_threads":
        "Threads that take requests. Not set: one for each processor.";
    CONNECTIONS_MAX "connections_max" = "8192":
        "Connections at once on the public listener, in all: see [Connections](operations.md#connections).";
    CONNECTIONS_PER_ADDRESS_MAX "connections_per_address_max":
        "Connections at once from one address, of IPv6 from one network (/64). Not set: a quarter of \
            `connections_max`.";
    PROXY_NETWORKS "proxy_networks":
        "Networks in CIDR form, separated by commas, of proxies in front of the public listener. Their addresses have \
            no limit of connections of their own.";
    FORWARDED_HEADER "forwarded_header":
        "The header in which these proxies name the address of a caller, such as `X-Forwarded-For`. Needs \
            `proxy_networks`. Not set: none is believed.";
    KEY_CALLS_PER_SECOND "key_calls_per_second":
        "Calls a second of one API key or member. Not set: any number.";
    SDK_CALLS_PER_SECOND "sdk_calls_per_second" = "50":
        "Calls a second of one address for one installation.";
    SDK_CALLS_PER_SECOND_PER_ADDRESS "sdk_calls_per_second_per_address":
        "SDK calls and pages a second of one address, for all installations together, counted before the body is \
            read. Not set: any number.";
    SDK_WRITES_PER_SECOND_PER_ADDRESS "sdk_writes_per_second_per_address" = "5":
        "Calls a second of `tokenize-card` and `select-payment-method` by one address, of IPv6 by one network (/64), \
            for all installations together; after a pause those of ten seconds at once. See [Calls that write without \
            a key](limits.md#calls-that-write-without-a-key).";
    SDK_WRITES_PER_SECOND_PER_INSTALLATION "sdk_writes_per_second_per_installation" = "200":
        "The same calls for one installation, of all addresses together. Whoever makes most of them is refused first.";
    IDLE_SECONDS_MAX "idle_seconds_max" = "75":
        "How long a connection is kept on which nothing useful is done: see [Connections](operations.md#connections).";
    DASHBOARD_IDLE_SECONDS "dashboard_idle_seconds" = "1800":
        "Seconds without a request after which a member of a team must sign in again. After 12 hours it must in any \
            case.";
    PENDING_SECONDS_MAX "pending_seconds_max" = "3600":
        "Seconds after which a payment that the acquirer has not answered is `EXPIRED`. The acquirer is asked on; \
            what it authorized late is given back.";
    AUTHORIZED_SECONDS_MAX "authorized_seconds_max" = "604800":
        "Seconds after which an authorization that nobody captured is given up, of payments authorized from then on.";
    WEBHOOK_ALLOWED_NETWORKS "webhook_allowed_networks":
        "Networks in CIDR form, separated by commas, in which webhooks may be called, also over http: for \
            development. Otherwise private, loopback, link-local and metadata addresses are refused, also when a name \
            leads to them.";
    WEBHOOK_RETRY_SECONDS "webhook_retry_seconds" = "5,300,1800,7200,18000,36000,50400,72000,86400":
        "Seconds between the attempts of a delivery, each up to a fifth sooner or later.";
    DISK_RESERVE_BYTES "disk_reserve_bytes" = "1073741824":
        "Free disk space below which writes are refused.";
    OPEN_SECONDS_MAX "open_seconds_max" = "60":
        "How long opening the database may take before the start gives up.";
    ACCEPT_LOSS_UP_TO "accept_loss_up_to":
        "Acknowledged commits up to this number may be missing. For one start only: see [Giving up \
            commits](repair.md#giving-up-commits).";
    CHECKPOINT_DIRECTORY "checkpoint_directory":
        "Where checkpoints are kept. Not set: `checkpoints` in the data directory. On another file system they are \
            copies, and cost their whole size.";
    CHECKPOINT_EVERY_SECONDS "checkpoint_every_seconds":
        "Seconds between two checkpoints that the server takes by itself, across restarts; one that is due at the \
            start or failed is taken after five minutes. Not set: it takes none.";
    CHECKPOINTS_KEPT "checkpoints_kept" = "3":
        "How many of its own the server keeps. Those taken by hand are not counted, and not removed.";
    SCRUB_EVERY_SECONDS "scrub_every_seconds" = "604800":
        "Seconds in which all tables at rest are read once, slowly and past every cache, to find damage in them; see \
            [A damaged table](repair.md#a-damaged-table). `0`: they are not.";
    ARCHIVE_DIRECTORY "archive_directory":
        "Where commits are [archived](operations.md#archive-and-point-in-time). Not inside the data directory; \
            another disk is what it is for. Not set: nothing is archived.";
    ARCHIVE_SEGMENT_BYTES "archive_segment_bytes" = "67108864":
        "Bytes from which a segment of the archive is closed.";
    ARCHIVE_SEGMENT_SECONDS "archive_segment_seconds" = "3600":
        "Seconds after which a segment with something in it is closed.";
    ARCHIVE_EVERY_MILLISECONDS "archive_every_milliseconds" = "1000":
        "Milliseconds between two looks for commits to archive: about what is lost when the data directory is \
            destroyed.";
    ARCHIVE_BEFORE_ACKNOWLEDGED "archive_before_acknowledged" = "false":
        "`true`: nothing is acknowledged before it is archived, and nothing is lost. Each group of commits costs one \
            more sync: give the archive a disk that nothing else keeps busy.";
    JOURNAL "journal":
        "The address of a PostgreSQL database that has [the log](postgresql.md), such as \
            `postgres://till@db1,db2/till?target_session_attrs=read-write`. Not set: the log is in the data directory.";
    JOURNAL_PASSWORD_FILE "journal_password_file":
        "A file with the password of that database's user. Not set: none is sent.";
    JOURNAL_CA_FILE "journal_ca_file":
        "Certificates that the database is trusted by, PEM. Not set: those of the system.";
    JOURNAL_SCHEMA "journal_schema" = "till":
        "The schema of the log's tables.";
    JOURNAL_SECONDS_MAX "journal_seconds_max" = "5":
        "Seconds after which an answer of the database is not waited for any more.";
    JOURNAL_UNREPLICATED "journal_unreplicated" = "false":
        "`true`: the server starts although the database has no synchronous standby. What it acknowledged is lost \
            with the database's machine.";
    LOG_FORMAT "log_format":
        "`json` or `text`. Not set: `text` on a terminal, `json` elsewhere.";
    LOG_FILTER "log_filter" = "info,actix_server=warn":
        "What is logged, as `tracing` filters are written.";
    LOG_CALLER_ADDRESSES "log_caller_addresses" = "false":
        "`true`: the lines `answered` of the public listener show the caller's address. For `/sdk` that is a \
            customer's, and personal data.";
    ADMIN_TOKEN_FILE "admin_token_file":
        "A file with the admin token.";
    VAULT_KEY_FILE "vault_key_file":
        "A file with the vault key.";
    TLS_CERTIFICATE_FILE "tls_certificate_file":
        "The public listener's certificate and what vouches for it, PEM. Not set: HTTP without TLS.";
    TLS_KEY_FILE "tls_key_file":
        "The private key of the first of them, PEM.";
    ADMIN_TLS_CERTIFICATE_FILE "admin_tls_certificate_file":
        "The same for the admin listener.";
    ADMIN_TLS_KEY_FILE "admin_tls_key_file":
        "The private key of the first of them, PEM.";
    ADMIN_CA_FILE "admin_ca_file":
        "Certificates that the operator's commands trust the admin listener by, PEM. Not set: those in \
            `admin_tls_certificate_file`, if that is set.";
}

/// True for a setting of the embedded store for which the tools of a database stand in.
pub(super) fn is_replaced_by_journal(setting: &Setting) -> bool {
    ["accept_loss_", "checkpoint", "archive_"].iter().any(|beginning| setting.key.starts_with(beginning))
}

/// The environment variable with the path of the configuration file.
pub(super) const CONFIG_VARIABLE: &str = "TILL_CONFIG";
/// The admin token itself, which may be given in the environment only.
pub(super) const ADMIN_TOKEN_VARIABLE: &str = "TILL_ADMIN_TOKEN";
/// The vault key itself, which may be given in the environment only.
pub(super) const VAULT_KEY_VARIABLE: &str = "TILL_VAULT_KEY";
/// Secrets of webhooks, for `till webhook listen` only.
pub(super) const WEBHOOK_SECRET_VARIABLE: &str = "TILL_WEBHOOK_SECRET";
