//! The load tester and the generator: see `till-bench --help`.

use clap::Parser;
use till_bench::commands::{Arguments, run};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ! {
    run(&Arguments::parse()).end_process()
}
