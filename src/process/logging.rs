//! Log lines: their output and format, and the line of a panic.

use std::backtrace::Backtrace;
use std::fmt;
use std::fs;
use std::io::{IsTerminal, stderr};
use std::os::unix::fs::MetadataExt;
use std::panic;
use std::path::{Path, PathBuf};

use jiff::Zoned;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::configuration::{Configuration, LogFormat};

/// The variable that asks programs not to use colours (<https://no-color.org>).
const NO_COLOR: &str = "NO_COLOR";

/// The time of day in this machine's zone: a person at a terminal knows the date.
struct TimeOfDay;

impl FormatTime for TimeOfDay {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer, "{}", Zoned::now().strftime("%H:%M:%S"))
    }
}

/// Starts logging to standard error, and returns the format. Without a configured format, a terminal gets text and
/// everything else JSON. Only a terminal gets colours.
///
/// # Errors
/// Fails when logging has been started before in this process.
pub(crate) fn start(configuration: &Configuration) -> anyhow::Result<LogFormat> {
    let is_terminal = stderr().is_terminal();
    let has_colours = wants_colours(&stderr());
    let format = configuration.log_format.unwrap_or(if is_terminal { LogFormat::Text } else { LogFormat::Json });
    let lines = tracing_subscriber::fmt::layer().with_writer(stderr).with_ansi(has_colours);
    let registry = tracing_subscriber::registry().with(EnvFilter::new(&configuration.log_filter));
    match format {
        LogFormat::Json => registry.with(lines.json().flatten_event(true).with_span_list(false)).try_init()?,
        LogFormat::Text if is_terminal => {
            registry.with(lines.compact().with_target(false).with_timer(TimeOfDay)).try_init()?;
        }
        LogFormat::Text => registry.with(lines).try_init()?,
    }
    log_panics();
    Ok(format)
}

/// True when the output is a terminal, and colours are not disabled.
pub(crate) fn wants_colours(output: &impl IsTerminal) -> bool {
    output.is_terminal() && std::env::var_os(NO_COLOR).is_none_or(|value| value.is_empty())
}

/// The link of Linux to the file that is standard error.
const STANDARD_ERROR: &str = "/proc/self/fd/2";

/// The file that the log goes to, where standard error is one.
#[derive(Debug)]
pub(crate) struct LogFile {
    path: PathBuf,
    identity: FileIdentity,
}

/// The device and the inode of a file.
type FileIdentity = (u64, u64);

impl LogFile {
    /// The file that standard error is now; none where it is a terminal, a pipe or the journal.
    #[must_use]
    pub(crate) fn of_standard_error() -> Option<LogFile> {
        let path = fs::read_link(STANDARD_ERROR).ok()?;
        let is_file = fs::metadata(STANDARD_ERROR).is_ok_and(|metadata| metadata.is_file());
        let identity = identity(Path::new(STANDARD_ERROR)).filter(|_| is_file)?;
        Some(LogFile { path, identity })
    }

    /// True when the file was moved away or deleted: lines go on into it, and nobody finds them under its name.
    #[must_use]
    pub(crate) fn is_gone(&self) -> bool {
        identity(&self.path) != Some(self.identity)
    }
}

fn identity(file: &Path) -> Option<FileIdentity> {
    fs::metadata(file).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Logs the place of a panic. Its message is logged only when it is a constant of the program, since a formatted
/// message may contain a caller's data.
fn log_panics() {
    panic::set_hook(Box::new(|panic| {
        let message = panic.payload().downcast_ref::<&'static str>().copied().unwrap_or("(withheld: it was formatted)");
        let location = panic.location().map(ToString::to_string);
        let backtrace = Backtrace::capture();
        tracing::error!(message, location, %backtrace, "panicked");
    }));
}
