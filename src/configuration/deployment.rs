//! The place of the server's log, and its consequences for settings and commands.

use super::journal::JournalConfiguration;

/// The place of the log. A start asks for it once.
#[derive(Debug, Clone)]
pub enum Deployment {
    /// The data directory.
    Embedded,
    /// A database, of whose log the data directory is a replica.
    Journal(Box<JournalConfiguration>),
}

impl Deployment {
    /// The database of the log, for the commands that are about it; None when it is in the data directory.
    #[must_use]
    pub fn journal(&self) -> Option<&JournalConfiguration> {
        match self {
            Deployment::Embedded => None,
            Deployment::Journal(journal) => Some(journal),
        }
    }

    /// True when the server may keep a vault key of its own in the data directory, which is no place for it when the
    /// directory may be thrown away.
    #[must_use]
    pub fn keeps_vault_key(&self) -> bool {
        self.journal().is_none()
    }

    /// Refuses a command that the tools of a database stand in for: `instead` says which.
    ///
    /// # Errors
    /// The refusal, in words for an operator.
    pub fn check_command(&self, instead: Option<&'static str>) -> Result<(), String> {
        match (self.journal(), instead) {
            (Some(_), Some(instead)) => Err(format!("the log is in a database: {instead} (docs/postgresql.md)")),
            _ => Ok(()),
        }
    }
}
