//! Writes the manual pages and the shell completions of `till-bench` into the folder that is given: what
//! `tools/package` puts beside the binaries. `till` writes its own.

use std::path::Path;

use clap::Command;
use clap_complete::{Shell, generate_to};

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).expect("the folder to write to is the one argument");
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    write(till_bench::commands::grammar(), folder)
}

/// Writes a page for a program and for each command below it, such as `till-checkpoint-create.1`, and its completions.
fn write(program: Command, folder: &Path) -> std::io::Result<()> {
    let name = program.get_name().to_owned();
    let mut program = program.disable_help_subcommand(true);
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        generate_to(shell, &mut program, &name, folder)?;
    }
    clap_mangen::generate_to(program, folder)
}
