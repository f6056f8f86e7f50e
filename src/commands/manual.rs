//! `till completions` and `till manual`: what shells and `man` read, written by the program itself.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Command};
use clap_complete::{Shell, generate};

/// The shell of the completions.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// The place of the manual pages.
#[derive(Debug, Args)]
pub(super) struct ManualArguments {
    /// The directory to write them to; it is made when it is not there
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

/// Prints the completions.
pub(super) fn completions(arguments: CompletionsArguments, mut grammar: Command) {
    generate(arguments.shell, &mut grammar, "till", &mut io::stdout());
}

/// Writes a page for the program and for each command below it, such as `till-checkpoint-create.1`.
pub(super) fn manual(arguments: &ManualArguments, grammar: Command) -> anyhow::Result<()> {
    write(&arguments.to, grammar).with_context(|| format!("failed to write to {}", arguments.to.display()))
}

fn write(directory: &Path, grammar: Command) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    clap_mangen::generate_to(grammar.disable_help_subcommand(true), directory)
}
