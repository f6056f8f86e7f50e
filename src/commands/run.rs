//! Carries a command out.

use clap::{CommandFactory, FromArgMatches};

use super::arguments::{Arguments, TillCommand};
use super::exit_code::ExitCode;
use super::progress::{print, say};
use super::{
    archive, checkpoint, export, help, inspect, journal, manual, operate, repair, restore, rotate, serve, status,
    trigger, verify, webhook,
};
use crate::configuration::settings_in_markdown;
use crate::process::owner_only::{keep_memory_to_the_process, make_files_for_the_owner_only};

/// Reads the command line. Faults, help and version are printed, and end the process.
#[must_use]
pub fn parse() -> Arguments {
    let matches = help::command().get_matches();
    Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// Carries out the command. Results go to standard output, everything else to standard error.
pub fn run(arguments: &Arguments) -> ExitCode {
    match carry_out(arguments) {
        Ok(code) => code,
        Err(error) => {
            say(&format!("till: {error:#}"));
            let verifies = matches!(arguments.command, TillCommand::Verify(_));
            if verifies { ExitCode::from(verify::CANNOT_VERIFY) } else { ExitCode::FAILURE }
        }
    }
}

fn carry_out(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    keep_memory_to_the_process()?;
    make_files_for_the_owner_only();
    let configuration = if arguments.command.calls_a_server() {
        arguments.settings.configuration_of_caller()?
    } else {
        arguments.settings.configuration()?
    };
    configuration.deployment.check_command(arguments.command.replaced_by_journal()).map_err(anyhow::Error::msg)?;
    match &arguments.command {
        TillCommand::Serve(options) => serve::serve(&configuration, *options).map(|()| ExitCode::SUCCESS),
        TillCommand::Status(arguments) => {
            let (output, code) = status::status(&configuration, arguments)?;
            print(&output);
            Ok(code)
        }
        TillCommand::Verify(arguments) => verify::verify(&configuration, arguments),
        TillCommand::Repair(command) => repair::repair(&configuration, command),
        TillCommand::Checkpoint(command) => checkpoint::checkpoint(&configuration, command),
        TillCommand::Journal(command) => journal::journal(&configuration, command),
        TillCommand::Archive(command) => archive::archive(&configuration, command),
        TillCommand::Restore(arguments) => restore::restore(&configuration, arguments),
        TillCommand::Export(arguments) => Ok(print(&export::export(&configuration, arguments)?)),
        TillCommand::Inspect(arguments) => inspect::inspect(&configuration, arguments),
        TillCommand::AdminToken(command) => rotate::admin_token(&configuration, *command).map(|output| print(&output)),
        TillCommand::Vault(command) => rotate::vault(&configuration, command).map(|output| print(&output)),
        TillCommand::Configuration { markdown: true } => Ok(print(&settings_in_markdown())),
        TillCommand::Configuration { markdown: false } => Ok(print(&configuration.to_string())),
        TillCommand::Completions(arguments) => {
            manual::completions(*arguments, Arguments::command());
            Ok(ExitCode::SUCCESS)
        }
        TillCommand::Manual(arguments) => manual::manual(arguments, Arguments::command()).map(|()| ExitCode::SUCCESS),
        TillCommand::Webhook(command) => webhook::webhook(command, arguments.settings.listen.as_deref()),
        TillCommand::Trigger(arguments) => trigger::trigger(&configuration, arguments).map(|output| print(&output)),
        TillCommand::Operate(call) => operate::operate(&configuration, call),
    }
}
