//! Standard output and standard error.

use std::io::Write;

/// Writes a result.
pub(super) fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes()); // A reader that has gone away wants no more.
}

/// Writes a line for a person.
pub(super) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}"); // A reader that has gone away wants no more.
}
