//! How the process ends.

use std::io::Write;

/// What the process tells whoever started it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitCode(u8);

impl ExitCode {
    /// Everything was done.
    pub const SUCCESS: ExitCode = ExitCode(0);
    /// It was refused, or failed.
    pub const FAILURE: ExitCode = ExitCode(1);

    /// Ends the process now, with everything printed, and whatever its threads are doing.
    ///
    /// RocksDB may be opening a database still on a thread that was given up after `open_seconds_max`. A usual end would
    /// take away what that thread works with (the destructors of C++ statics), and it would crash.
    pub fn end_process(self) -> ! {
        // Whoever reads neither any more wants no more.
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
