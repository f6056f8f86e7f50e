//! Standard output and standard error.

use std::io::Write;

/// Writes a result.
pub(super) fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes()); // The reader may have closed its end.
}

/// Writes a line for a person.
pub(super) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}"); // The reader may have closed its end.
}
