//! The command line.

mod admin_client;
mod arguments;
mod generate;
mod bench;
mod operate;
mod run;
mod serve;
mod verify;

pub use admin_client::{AdminCallError, AdminClient};
pub use arguments::{Arguments, Command, ServeArguments, Settings};
pub use bench::BenchCommand;
pub use generate::GenerateArguments;
pub use operate::OperatorCall;
pub use run::run;
