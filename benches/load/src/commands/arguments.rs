//! The command line's grammar.

#[cfg(target_os = "linux")]
use std::{ffi::OsString, path::PathBuf};

use clap::{Parser, Subcommand};
use till::Settings;

use super::bench::BenchCommand;
use super::generate::GenerateArguments;
#[cfg(target_os = "linux")]
use crate::target::BECOME_SERVER;

/// Measures a Till server under load and checks every answer, or generates a store to test against.
#[derive(Debug, Parser)]
#[command(name = "till-bench", version, arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Where the server and its data are.
    #[command(flatten)]
    pub settings: Settings,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measures a server, or compares two reports
    #[command(flatten)]
    Bench(Box<BenchCommand>),
    /// Fills the data directory with merchants that have traded for long, to test against; with the server stopped
    Generate(GenerateArguments),
    /// Becomes the server of a run, to end with the load tester that started it
    #[cfg(target_os = "linux")]
    #[command(name = BECOME_SERVER, hide = true)]
    BecomeServer {
        /// The process id of the load tester.
        load_tester: u32,
        /// The program of the server.
        program: PathBuf,
        /// What it is told.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
