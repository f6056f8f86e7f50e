//! The exit code of the process.

use std::io::Write;

/// The exit code of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitCode(u8);

impl ExitCode {
    /// Everything was done.
    pub const SUCCESS: ExitCode = ExitCode(0);
    /// The command was refused, or failed.
    pub const FAILURE: ExitCode = ExitCode(1);

    /// Ends the process now, with all output flushed, whatever its threads are doing.
    ///
    /// After `open_seconds_max`, an abandoned thread may still be opening a database. A usual exit would run the
    /// destructors of C++ statics that this thread uses, and it would crash.
    pub fn end_process(self) -> ! {
        // A reader that has closed its end wants no more.
        let _ = std::io::stdout().flush();
        let _ = std::io::stderr().flush();
        signal_hook::low_level::exit(self.0.into())
    }
}

impl From<u8> for ExitCode {
    fn from(code: u8) -> ExitCode {
        ExitCode(code)
    }
}
