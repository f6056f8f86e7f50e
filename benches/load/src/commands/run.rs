//! Carries a command out.

use till::commands::ExitCode;
use till::owner_only::{keep_memory_to_the_process, make_files_for_the_owner_only};

use super::arguments::{Arguments, Command};
use super::output::{print, say};
use super::{bench, generate};

/// Does what the command line says. Results go to standard output, everything else to standard error.
pub fn run(arguments: &Arguments) -> ExitCode {
    carry_out(arguments).unwrap_or_else(|error| {
        say(&format!("till-bench: {error:#}"));
        ExitCode::FAILURE
    })
}

fn carry_out(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    keep_memory_to_the_process()?;
    let configuration = arguments.settings.configuration()?;
    match &arguments.command {
        // Its reports hold no data of anybody, and are made as the umask says.
        Command::Bench(command) => bench::bench(&configuration, command),
        Command::Generate(options) => {
            make_files_for_the_owner_only();
            let summary = generate::generate(&configuration, *options)?;
            print(&format!("{summary}\n"));
            Ok(ExitCode::SUCCESS)
        }
    }
}
