//! Carries a command out.

use anyhow::ensure;
use till::{Configuration, ExitCode, keep_memory_to_the_process, make_files_for_the_owner_only};

use super::arguments::{Arguments, LoadTesterCommand};
use super::output::{print, say};
use super::{bench, generate};
#[cfg(target_os = "linux")]
use crate::target::become_server;

/// Runs the command of the command line. Results go to standard output, everything else to standard error.
pub fn run(arguments: &Arguments) -> ExitCode {
    carry_out(arguments).unwrap_or_else(|error| {
        say(&format!("till-bench: {error:#}"));
        ExitCode::FAILURE
    })
}

fn carry_out(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        // The umask decides who may read the reports: they hold no personal data.
        LoadTesterCommand::Bench(command) => {
            ensure!(
                arguments.settings.journal.is_none(),
                "--journal: start the server, and name it with --target; or give a server of the run --server-setting \
                 journal=..., vault_key_file=... and what else its log needs"
            );
            bench::bench(&configuration(arguments)?, command)
        }
        LoadTesterCommand::Generate(options) => {
            let configuration = configuration(arguments)?;
            make_files_for_the_owner_only();
            let summary = generate::generate(&configuration, options)?;
            print(&format!("{summary}\n"));
            Ok(ExitCode::SUCCESS)
        }
        // The settings of the environment are those of the server.
        #[cfg(target_os = "linux")]
        LoadTesterCommand::BecomeServer { load_tester, program, arguments } => {
            Err(become_server(*load_tester, program, arguments))
        }
    }
}

fn configuration(arguments: &Arguments) -> anyhow::Result<Configuration> {
    keep_memory_to_the_process()?;
    Ok(arguments.settings.configuration()?)
}
