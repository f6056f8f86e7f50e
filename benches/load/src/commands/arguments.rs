//! The subcommands and arguments of the command line.

#[cfg(target_os = "linux")]
use std::{ffi::OsString, path::PathBuf};

use clap::{Parser, Subcommand};
use till::{Settings, VERSION};

use super::bench::BenchCommand;
use crate::generate::GenerationPlan;
#[cfg(target_os = "linux")]
use crate::target::BECOME_SERVER;

/// Measures a Till server under load and checks every answer, or generates a store to test against.
#[derive(Debug, Parser)]
#[command(name = "till-bench", version = VERSION, arg_required_else_help = true)]
pub struct Arguments {
    /// The subcommand.
    #[command(subcommand)]
    pub command: LoadTesterCommand,
    /// The settings of the server and its data.
    #[command(flatten)]
    pub settings: Settings,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum LoadTesterCommand {
    /// Measures a server, or compares two reports
    #[command(flatten)]
    Bench(Box<BenchCommand>),
    /// Fills the data directory with merchants that have traded for a long time, for tests. The server must be stopped
    Generate(GenerationPlan),
    /// Becomes the server of a run, which ends together with the load tester that started it
    #[cfg(target_os = "linux")]
    #[command(name = BECOME_SERVER, hide = true)]
    BecomeServer {
        /// The process id of the load tester.
        load_tester: u32,
        /// The program of the server.
        program: PathBuf,
        /// The arguments of the server.
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
