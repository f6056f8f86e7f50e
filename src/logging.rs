//! Log lines: where they go, and what a panic leaves there.

use std::backtrace::Backtrace;
use std::panic;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::configuration::{Configuration, LogFormat};

/// Starts logging to standard error.
///
/// # Errors
/// When logging was started before in this process.
pub fn start(configuration: &Configuration) -> anyhow::Result<()> {
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry().with(EnvFilter::new(&configuration.log_filter));
    match configuration.log_format {
        LogFormat::Json => registry.with(lines.json().flatten_event(true).with_span_list(false)).try_init()?,
        LogFormat::Text => registry.with(lines).try_init()?,
    }
    log_panics();
    Ok(())
}

/// Logs where a panic happened, and its message only when the program's text holds it as it is: a formatted
/// one may repeat a caller's data.
fn log_panics() {
    panic::set_hook(Box::new(|panic| {
        let message = panic.payload().downcast_ref::<&'static str>().copied().unwrap_or("(withheld: it was formatted)");
        let location = panic.location().map(ToString::to_string);
        let backtrace = Backtrace::capture();
        tracing::error!(message, location, %backtrace, "panicked");
    }));
}
