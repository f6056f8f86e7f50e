//! The command line's grammar.

use clap::{Parser, Subcommand};
use till::commands::Settings;

use super::bench::BenchCommand;
use super::generate::GenerateArguments;

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
