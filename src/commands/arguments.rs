//! The grammar of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::archive::ArchiveCommand;
use super::checkpoint::CheckpointCommand;
use super::export::ExportArguments;
use super::inspect::InspectArguments;
use super::journal::JournalCommand;
use super::manual::{CompletionsArguments, ManualArguments};
use super::operate::OperatorCall;
use super::repair::RepairCommand;
use super::restore::RestoreArguments;
use super::rotate::{AdminTokenCommand, VaultCommand};
use super::serve::ServeArguments;
use super::status::StatusArguments;
use super::trigger::TriggerArguments;
use super::verify::VerifyArguments;
use super::webhook::WebhookCommand;
use crate::configuration::{Configuration, ConfigurationFaults, Layers};
use crate::process::VERSION;

/// A payments server for merchants: one binary, one data directory.
#[derive(Debug, Parser)]
#[command(name = "till", version = VERSION, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub(super) command: TillCommand,
    #[command(flatten)]
    pub(super) settings: Settings,
}

/// Settings that any command may be given; the environment (TILL_DATA and so on) and the configuration file
/// give the rest.
#[derive(Debug, Clone, Default, Args)]
pub struct Settings {
    /// The data directory [default: ./data]
    #[arg(long, global = true, value_name = "DIR")]
    pub data: Option<String>,
    /// The address that merchants and devices call [default: 127.0.0.1:8080]
    #[arg(long, global = true, value_name = "HOST:PORT")]
    pub listen: Option<String>,
    /// The address that the operator calls; never a public address [default: 127.0.0.1:9090]
    #[arg(long, global = true, value_name = "HOST:PORT")]
    pub admin_listen: Option<String>,
    /// The address of a PostgreSQL database that has the log [default: the log is in the data directory]
    #[arg(long, global = true, value_name = "postgres://...")]
    pub journal: Option<String>,
    /// The configuration file (TOML)
    #[arg(long, global = true, value_name = "FILE", env = "TILL_CONFIG")]
    pub config: Option<PathBuf>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum TillCommand {
    /// Runs the server
    Serve(ServeArguments),
    /// Shows the state of a running server on one screen. Exit code 1 when the condition of an alert holds
    Status(StatusArguments),
    /// Replays every merchant's log and compares what was derived from it, with the server stopped
    Verify(VerifyArguments),
    /// Repairs what can be repaired without a copy, with the server stopped
    #[command(subcommand)]
    Repair(RepairCommand),
    /// Copies of the whole data: taken by a running server, checked and removed
    #[command(subcommand)]
    Checkpoint(CheckpointCommand),
    /// The log in a PostgreSQL database: its tables and its state
    #[command(subcommand)]
    Journal(JournalCommand),
    /// The archive of commits: listed, checked, and rid of segments that no checkpoint needs
    #[command(subcommand)]
    Archive(ArchiveCommand),
    /// Makes a data directory from a checkpoint, and from an archive up to a point in time
    Restore(RestoreArguments),
    /// Writes payments, ledger entries, activity and the log as JSON Lines, from a stopped server's data or a
    /// checkpoint
    Export(ExportArguments),
    /// Shows the records of a merchant's log, from a stopped server's data or a checkpoint
    Inspect(InspectArguments),
    /// Replaces the admin token of a running server
    #[command(subcommand)]
    AdminToken(AdminTokenCommand),
    /// Replaces the vault key of a running server
    #[command(subcommand)]
    Vault(VaultCommand),
    /// Prints the effective settings and their sources, without secrets
    Configuration {
        /// Prints the table of all settings and their meanings instead
        #[arg(long)]
        markdown: bool,
    },
    /// Webhooks received on a developer's machine
    #[command(subcommand)]
    Webhook(WebhookCommand),
    /// Causes one event by payments of play money at a running server, and prints it
    Trigger(TriggerArguments),
    /// Prints the completions for a shell
    Completions(CompletionsArguments),
    /// Writes the manual pages
    Manual(ManualArguments),
    /// Calls of the operator to a running server
    #[command(flatten)]
    Operate(OperatorCall),
}

impl TillCommand {
    /// The tool of the database that does the work of a command, when the log is in one.
    pub(super) const fn replaced_by_journal(&self) -> Option<&'static str> {
        match self {
            TillCommand::Checkpoint(_) => Some("back it up instead of taking checkpoints, with pgBackRest"),
            TillCommand::Archive(_) => Some("archive its write-ahead log instead, with pgBackRest"),
            TillCommand::Restore(_) => Some("restore it with pgBackRest, and run till journal accept-loss"),
            TillCommand::Repair(_) => Some("remove the data directory, and the next start fetches it again"),
            _ => None,
        }
    }

    /// True for a command that calls a running server, or none, and does not read the server's files.
    pub(super) const fn calls_a_server(&self) -> bool {
        match self {
            TillCommand::Webhook(_)
            | TillCommand::Completions(_)
            | TillCommand::Manual(_)
            | TillCommand::Trigger(_)
            | TillCommand::Operate(_)
            | TillCommand::Status(_)
            | TillCommand::Checkpoint(CheckpointCommand::Create { .. }) => true,
            TillCommand::Serve(_)
            | TillCommand::Verify(_)
            | TillCommand::Repair(_)
            | TillCommand::Checkpoint(
                CheckpointCommand::List | CheckpointCommand::Verify { .. } | CheckpointCommand::Prune { .. },
            )
            | TillCommand::Archive(_)
            | TillCommand::Journal(_)
            | TillCommand::Restore(_)
            | TillCommand::Export(_)
            | TillCommand::Inspect(_)
            | TillCommand::AdminToken(_)
            | TillCommand::Vault(_)
            | TillCommand::Configuration { .. } => false,
        }
    }
}

impl Settings {
    /// The configuration that results from these settings, the environment and the file. A `TILL_` variable that is no
    /// setting is a fault, since a misspelt setting would be ignored silently.
    ///
    /// # Errors
    /// All faults of the configuration.
    pub fn configuration(&self) -> Result<Configuration, ConfigurationFaults> {
        self.configuration_with(|_| true)
    }

    /// The same for a command that calls a server: it may run in the environment of a merchant's own program, whose
    /// variables it leaves alone.
    pub(super) fn configuration_of_caller(&self) -> Result<Configuration, ConfigurationFaults> {
        self.configuration_with(Layers::reads)
    }

    fn configuration_with(&self, is_read: impl Fn(&str) -> bool) -> Result<Configuration, ConfigurationFaults> {
        let layers = match &self.config {
            Some(file) => Layers::new().with_file(file),
            None => Layers::new(),
        };
        let readable =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let layers = layers.with_environment(readable.filter(|(name, _)| is_read(name)));
        let layers = layers.with_flag("data", self.data.clone()).with_flag("listen", self.listen.clone());
        let layers = layers.with_flag("journal", self.journal.clone());
        Configuration::from_layers(layers.with_flag("admin_listen", self.admin_listen.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Arguments {
        Arguments::try_parse_from(line.split(' ')).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }

    #[test]
    fn serve_takes_its_flags() {
        let arguments = parsed("till serve --data /d --listen 127.0.0.1:1 --admin-listen 127.0.0.1:2 --config /c");
        assert!(matches!(arguments.command, TillCommand::Serve(ServeArguments { demo: false })));
        assert_eq!(arguments.settings.data.as_deref(), Some("/d"));
        assert_eq!(
            (arguments.settings.listen.as_deref(), arguments.settings.admin_listen.as_deref()),
            (Some("127.0.0.1:1"), Some("127.0.0.1:2"))
        );
    }
}
