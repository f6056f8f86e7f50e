//! The one binary: see `till --help`.

use std::process::ExitCode;

use clap::Parser;
use till::commands::{Arguments, run};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    run(&Arguments::parse())
}
