//! The command line.

mod output;
mod comparing;
mod server;
mod bench;
mod generate;
mod arguments;
mod grammar;
mod run;

pub use arguments::{Arguments, LoadTesterCommand};
pub use bench::BenchCommand;
pub use grammar::grammar;
pub use run::run;
