//! The one binary: see `till --help`.

use clap::Parser;
use till::{Arguments, run};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ! {
    run(&Arguments::parse()).end_process()
}
