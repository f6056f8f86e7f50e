//! Standard output, standard error, and files of reports.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

/// Writes a result.
pub(super) fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes()); // The reader may have closed its end.
}

/// Writes a line for a person.
pub(super) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}"); // The reader may have closed its end.
}

/// Writes a report into a file, if one is named.
pub(super) fn write(file: Option<&Path>, text: impl FnOnce() -> String) -> anyhow::Result<()> {
    let Some(file) = file else { return Ok(()) };
    std::fs::write(file, text()).with_context(|| format!("failed to write {}", file.display()))
}
