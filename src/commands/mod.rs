//! The command line.

mod admin_client;
mod arguments;
mod generate;
mod bench;
mod checkpoint;
mod operate;
mod restore;
mod run;
mod serve;
mod verify;

pub use admin_client::{AdminCallError, AdminClient};
pub use arguments::{Arguments, Command, ServeArguments, Settings};
pub use bench::BenchCommand;
pub use checkpoint::CheckpointCommand;
pub use generate::GenerateArguments;
pub use operate::OperatorCall;
pub use restore::RestoreArguments;
pub use run::run;
