//! A mutation folded into the rows of its merchant as they are stored: what a replay of the log does with each record.

use std::collections::BTreeMap;

use till_domain::apply::apply_rows;
use till_domain::event::Mutation;
use till_domain::ids::MerchantId;
use till_domain::records::{AnyKey, AnyRow, Rows, RowsMut, Table, Unreadable};

use crate::family::Family;

use super::keys::row_key;
use super::personal::Personal;
use super::rows::{decode_row, encode_row};

/// A row that a mutation changed.
pub(crate) struct ChangedRow {
    pub(crate) family: Family,
    pub(crate) key: Vec<u8>,
    /// Its bytes; none when it was removed.
    pub(crate) value: Option<Vec<u8>>,
    /// What they say.
    pub(crate) row: Option<AnyRow>,
}

/// Gives the bytes that are stored under a key; none when there are none.
pub(crate) type Stored<'a> = &'a dyn Fn(Family, &[u8]) -> Result<Option<Vec<u8>>, Unreadable>;

/// The rows that a mutation changes, in the order of their keys. `stored` gives the bytes under a key.
///
/// # Errors
/// [`Unreadable`]: a row that is needed cannot be read, or the vault cannot be.
pub(crate) fn fold_mutation(
    merchant_id: MerchantId,
    mutation: &Mutation,
    personal: &mut dyn Personal,
    stored: Stored<'_>,
) -> Result<Vec<ChangedRow>, Unreadable> {
    let mut folding = Folding { merchant_id, personal, stored, changed: BTreeMap::new() };
    apply_rows(mutation, &mut folding)?;
    let changed = folding.changed.into_iter().map(|(key, row)| {
        let (family, bytes) = row_key(merchant_id, &key, personal);
        let value = row.as_ref().map(|row| encode_row(row, &key, personal)).transpose()?;
        Ok(ChangedRow { family, key: bytes, value, row })
    });
    changed.collect()
}

/// Rows in the course of one mutation.
struct Folding<'a> {
    merchant_id: MerchantId,
    personal: &'a dyn Personal,
    stored: Stored<'a>,
    changed: BTreeMap<AnyKey, Option<AnyRow>>,
}

impl Folding<'_> {
    fn read(&self, key: &AnyKey) -> Result<Option<AnyRow>, Unreadable> {
        let (family, bytes) = row_key(self.merchant_id, key, self.personal);
        let stored = (self.stored)(family, &bytes)?;
        Ok(stored.map(|bytes| decode_row(key, &bytes, self.personal)).transpose()?)
    }
}

impl Rows for Folding<'_> {
    fn get<T: Table>(&self, key: T::Key) -> Result<Option<T::Row>, Unreadable> {
        let key = T::key(key);
        let row = match self.changed.get(&key) {
            Some(changed) => changed.clone(),
            None => self.read(&key)?,
        };
        Ok(row.and_then(T::unwrap))
    }
}

impl RowsMut for Folding<'_> {
    fn put<T: Table>(&mut self, key: T::Key, row: T::Row) {
        self.changed.insert(T::key(key), Some(T::wrap(row)));
    }

    fn remove<T: Table>(&mut self, key: T::Key) {
        self.changed.insert(T::key(key), None);
    }
}
