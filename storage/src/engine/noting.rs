//! Reads of a running store: a damaged table that one of them meets is noted beside the database.

use std::path::Path;

use crate::family::Family;
use crate::rows::{RowError, RowRange, RowReader, Visit};

use super::table_damage;

/// The line about a damaged table of the store.
const TABLE_IS_DAMAGED: &str = "a table is damaged, and no checkpoint is taken: stop the server and run `till verify`; \
    when rows are affected, run `till repair rows`, or restore the directory (docs/repair.md, \"A damaged table\")";

/// A reader of a running store.
pub(super) struct DamageReportingReader<'a, R> {
    pub(super) reader: R,
    /// The data directory.
    pub(super) directory: &'a Path,
}

impl<R> DamageReportingReader<'_, R> {
    fn noted<T>(&self, read: Result<T, RowError>) -> Result<T, RowError> {
        if let Err(RowError::Unreadable { reason, .. }) = &read {
            note_damage(self.directory, reason);
        }
        read
    }
}

impl<R: RowReader> RowReader for DamageReportingReader<'_, R> {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
        self.noted(self.reader.get(family, key))
    }

    fn get_many(&self, family: Family, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, RowError> {
        self.noted(self.reader.get_many(family, keys))
    }

    fn visit(&self, range: RowRange<'_>, visit: &mut Visit<'_>) -> Result<(), RowError> {
        self.noted(self.reader.visit(range, visit))
    }
}

/// Notes a damaged table beside the database, if the message of a refusal names one.
pub(super) fn note_damage(directory: &Path, reason: &str) {
    if !table_damage::is_cause_of(reason) {
        return;
    }
    match table_damage::note_of_store(directory, reason) {
        Ok(true) => tracing::error!(reason, "{TABLE_IS_DAMAGED}"),
        Ok(false) => {}
        Err(error) => tracing::error!(%error, "the note about a damaged table could not be written"),
    }
}
