//! The one binary: see `till --help`.

use till::{parse, run};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ! {
    run(&parse()).end_process()
}
