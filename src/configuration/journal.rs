//! The settings of a log in a database.

use std::path::PathBuf;
use std::time::Duration;

use till_shared::JournalSettings;

/// The log in a database, as the operator has set it.
#[derive(Debug, Clone)]
pub struct JournalConfiguration {
    /// The database.
    pub database: JournalSettings,
    /// True when the server may start although the database has no synchronous standby.
    pub may_be_unreplicated: bool,
}

/// The settings of the database, not yet put together.
pub(super) struct JournalParts {
    pub(super) address: String,
    pub(super) password_file: Option<PathBuf>,
    pub(super) ca_file: Option<PathBuf>,
    pub(super) schema: String,
    pub(super) patience: Duration,
    pub(super) may_be_unreplicated: bool,
}

impl JournalParts {
    /// Puts them together, and reads the password.
    ///
    /// # Errors
    /// The setting at fault, and the reason.
    pub(super) fn configuration(self) -> Result<JournalConfiguration, String> {
        let JournalParts { address, password_file, ca_file, schema, patience, may_be_unreplicated } = self;
        let mut database =
            JournalSettings::new(&address, &schema, patience).map_err(|error| format!("journal: {error}"))?;
        if let Some(file) = password_file {
            database = database.with_password_file(&file).map_err(|error| format!("journal_password_file: {error}"))?;
        }
        if let Some(file) = ca_file {
            database = database.with_ca_file(file);
        }
        Ok(JournalConfiguration { database, may_be_unreplicated })
    }
}
