//! `till journal migrate|status|verify|import|export|accept-loss`

mod loss;
mod moving;

use std::path::PathBuf;

use anyhow::Context;
use clap::Subcommand;
use till_shared::{Migrated, migrate, note_exported, status};

use super::exit_code::ExitCode;
use super::progress::print;
use crate::configuration::Configuration;

/// Commands on the log in a database.
#[derive(Debug, Subcommand)]
pub(super) enum JournalCommand {
    /// Makes the tables of the log, or brings them to the version of this program
    Migrate {
        /// Parts of the log that can be claimed separately, given once and for good [default: 64]
        #[arg(long, value_name = "N")]
        shards: Option<u16>,
    },
    /// Prints the state of the database and of the log in it
    Status,
    /// Copies the log into a temporary directory, and verifies it there as `till verify` does; the server may run
    /// meanwhile. The directory that TMPDIR names needs room for the whole data
    Verify,
    /// Copies the log of the data directory, with its server stopped, into an empty log. Afterwards only a server that
    /// uses this log starts on the directory
    Import,
    /// Makes an embedded store of the log, in the data directory, which must not exist. A server that uses the log is
    /// stopped by it, and none starts on the log any more
    Export {
        /// Makes a copy beside a running server, for `till inspect` and `till export`. A server on the copy starts
        /// paused
        #[arg(long, conflicts_with = "undo")]
        copy: bool,
        /// Lets servers start on the log again, when none will run on the embedded store that was made of it
        #[arg(long)]
        undo: bool,
    },
    /// Goes on after the database has lost commits. Without --yes it only prints which the data directory has
    AcceptLoss {
        /// The file to make, with the records that the data directory has and the database has lost
        #[arg(long, value_name = "FILE", requires = "yes")]
        to: Option<PathBuf>,
        /// Do it
        #[arg(long)]
        yes: bool,
    },
}

/// Carries the command out.
pub(super) fn journal(configuration: &Configuration, command: &JournalCommand) -> anyhow::Result<ExitCode> {
    let journal = configuration.deployment.journal();
    let journal = journal.context("no database is named: give --journal postgres://..., or set journal")?;
    match command {
        JournalCommand::Migrate { shards } => {
            let Migrated { is_new, shards } = migrate(&journal.database, *shards)?;
            let is_there = if is_new { "was made" } else { "is there already" };
            Ok(print(&format!("the log {is_there}, in {shards} shards")))
        }
        JournalCommand::Status => Ok(print(&serde_json::to_string_pretty(&status(&journal.database)?)?)),
        JournalCommand::Verify => moving::verify(configuration, journal),
        JournalCommand::Import => moving::import(configuration, journal),
        JournalCommand::Export { copy: true, .. } => moving::copy(configuration, journal),
        JournalCommand::Export { undo: true, .. } => {
            note_exported(&journal.database, None)?;
            Ok(print("servers start on the log again"))
        }
        JournalCommand::Export { .. } => moving::export(configuration, journal),
        JournalCommand::AcceptLoss { to, yes } => loss::accept(configuration, journal, to.as_deref(), *yes),
    }
}
