//! Carries a command out.

use std::process::ExitCode;

use super::arguments::{Arguments, Command};
use super::{operate, serve, verify};

/// Does what the command line says. Results go to standard output, everything else to standard error.
pub fn run(arguments: &Arguments) -> ExitCode {
    match carry_out(arguments) {
        Ok(output) => {
            print(&output);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("till: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The text to print, none when empty.
fn carry_out(arguments: &Arguments) -> anyhow::Result<String> {
    let configuration = arguments.settings.configuration()?;
    match &arguments.command {
        Command::Serve(options) => serve::serve(&configuration, *options).map(|()| String::new()),
        Command::Verify => verify::verify(&configuration),
        Command::Configuration => Ok(configuration.to_string()),
        Command::Operate(call) => operate::operate(&configuration, call),
    }
}

fn print(output: &str) {
    use std::io::Write;
    let line = if output.is_empty() { String::new() } else { format!("{}\n", output.trim_end()) };
    let _ = std::io::stdout().write_all(line.as_bytes()); // A reader that has gone away wants no more.
}
