//! Failures of the database, by what is known afterwards.

use till_storage::journal::JournalError;
use tokio_postgres::Error;
use tokio_postgres::error::{Severity, SqlState};

/// The name of the key of the table of records, as the database gives it.
const RECORD_KEY: &str = "record_pkey";

/// A statement failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SharedJournalError {
    /// Nothing was sent.
    #[error("the database of the log cannot be reached: {0}")]
    Unreachable(String),
    /// The database refused the statement, and nothing was changed.
    #[error("the database of the log refused: {0}")]
    Refused(String),
    /// Nothing was changed, and the same statement may succeed when it is sent again.
    #[error("the database of the log asks to try again: {0}")]
    TryAgain(String),
    /// The database has a record that was to be appended, or another one in its place; nothing was changed.
    #[error("the log has a record that the local store lacks: {0}")]
    RecordThere(String),
    /// The statement may have taken effect, now or later.
    #[error("the outcome of a statement is unknown: {0}")]
    Unknown(String),
    /// Another process has claimed the log.
    #[error("another server has claimed the log")]
    Fenced,
    /// The database has lost commits that it acknowledged.
    #[error(
        "the database of the log has lost commits of this shard, or has others (docs/postgresql.md, \"Lost commits\")"
    )]
    Lost,
    /// The log has another shape than this program expects.
    #[error("{0}")]
    Schema(String),
}

impl SharedJournalError {
    /// The failure of a statement that was sent. An error that ends the session, FATAL or PANIC, leaves the outcome
    /// open whatever its code: a server whose disk fails while it commits says so, and may have the commit once it has
    /// recovered. Of the others class 08 and 40003 do (PostgreSQL, appendix A); the rest is sent after the transaction
    /// was undone.
    pub(crate) fn of(error: &Error) -> SharedJournalError {
        let Some(database) = error.as_db_error() else { return SharedJournalError::Unknown(words(error)) };
        let code = database.code();
        let message = format!("{} ({})", database.message(), code.code());
        let tries_again = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
        let is_open = database.parsed_severity() != Some(Severity::Error)
            || code.code().starts_with("08")
            || *code == SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN;
        match () {
            () if is_open => SharedJournalError::Unknown(message),
            () if tries_again.contains(code) => SharedJournalError::TryAgain(message),
            () if database.constraint() == Some(RECORD_KEY) => SharedJournalError::RecordThere(message),
            () => SharedJournalError::Refused(message),
        }
    }
}

impl From<SharedJournalError> for JournalError {
    fn from(error: SharedJournalError) -> JournalError {
        JournalError::Unreadable { reason: error.to_string() }
    }
}

/// The message of an error with its causes: the driver's own says little.
pub(crate) fn words(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |error| error.source());
    causes.fold(error.to_string(), |words, cause| format!("{words}: {cause}"))
}
