//! Writes the manual pages and the shell completions of `till` into the folder that is given: what `tools/package` puts
//! beside the binary. An example of the package, so that the server itself does not carry what writes them.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate_to};
use till::commands::Arguments;

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).expect("the folder to write to is the one argument");
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let command = Arguments::command().disable_help_subcommand(true);
    write_pages(&command, folder)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        generate_to(shell, &mut command.clone(), "till", folder)?;
    }
    Ok(())
}

/// Writes `till.1`, and a page for each command below it, such as `till-checkpoint-create.1`.
fn write_pages(command: &Command, folder: &Path) -> std::io::Result<()> {
    clap_mangen::generate_to(command.clone(), folder)
}
