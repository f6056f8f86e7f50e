//! The command line.

mod arguments;
mod bench;
mod generate;
mod run;

pub use arguments::{Arguments, Command};
pub use bench::BenchCommand;
pub use generate::GenerateArguments;
pub use run::run;
