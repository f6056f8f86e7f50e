//! Reads of a running store: a damaged table that one of them meets is noted beside the database.

use crate::family::Family;
use crate::rows::{RowError, RowReader, ScanDirection, Visit};

use super::store::Engine;

/// A reader of a running store.
pub(super) struct Noting<'a, R> {
    pub(super) reader: R,
    pub(super) engine: &'a Engine,
}

impl<R> Noting<'_, R> {
    fn noted<T>(&self, read: Result<T, RowError>) -> Result<T, RowError> {
        if let Err(RowError::Unreadable { reason, .. }) = &read {
            self.engine.note_damage(reason);
        }
        read
    }
}

impl<R: RowReader> RowReader for Noting<'_, R> {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
        self.noted(self.reader.get(family, key))
    }

    fn get_many(&self, family: Family, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, RowError> {
        self.noted(self.reader.get_many(family, keys))
    }

    fn visit(
        &self,
        family: Family,
        lower: &[u8],
        upper: &[u8],
        direction: ScanDirection,
        visit: &mut Visit<'_>,
    ) -> Result<(), RowError> {
        self.noted(self.reader.visit(family, lower, upper, direction, visit))
    }
}
