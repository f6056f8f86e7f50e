//! The command line.

mod admin_client;
mod archive;
mod arguments;
mod checkpoint;
mod exit_code;
mod export;
mod head;
mod inspect;
mod listening;
mod operate;
mod progress;
mod repair;
mod restore;
mod rotate;
mod run;
mod serve;
mod trigger;
mod verify;
mod verify_report;
mod webhook;

pub use admin_client::{AdminCallError, AdminClient};
pub use archive::ArchiveCommand;
pub use arguments::{Arguments, Command, ServeArguments, Settings};
pub use checkpoint::CheckpointCommand;
pub use exit_code::ExitCode;
pub use export::ExportArguments;
pub use head::HeadArguments;
pub use inspect::InspectArguments;
pub use operate::OperatorCall;
pub use repair::RepairCommand;
pub use restore::RestoreArguments;
pub use rotate::{AdminTokenCommand, VaultCommand};
pub use run::run;
pub use trigger::TriggerArguments;
pub use verify::VerifyArguments;
pub use webhook::WebhookCommand;
