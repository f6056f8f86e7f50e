//! The load tester and the generator: see `till-bench --help`.

use clap::FromArgMatches;
use till_bench::commands::{Arguments, grammar, run};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ! {
    let arguments = Arguments::from_arg_matches(&grammar().get_matches());
    run(&arguments.unwrap_or_else(|error| error.exit())).end_process()
}
