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

impl JournalConfiguration {
    /// Puts the settings together, and reads the password.
    ///
    /// # Errors
    /// The setting at fault, and the reason.
    pub(super) fn new(
        (address, schema, patience): (&str, &str, Duration),
        password_file: Option<PathBuf>,
        ca_file: Option<PathBuf>,
        may_be_unreplicated: bool,
    ) -> Result<JournalConfiguration, String> {
        let settings = JournalSettings::new(address, schema, patience);
        let mut database = settings.map_err(|error| format!("journal: {error}"))?.with_ca_file(ca_file);
        if let Some(file) = password_file {
            database = database.with_password_file(&file).map_err(|error| format!("journal_password_file: {error}"))?;
        }
        Ok(JournalConfiguration { database, may_be_unreplicated })
    }
}
