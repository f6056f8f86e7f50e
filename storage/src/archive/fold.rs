//! Folding a record into the rows of a store that is being restored, as its actor did when it was written.

use std::collections::BTreeMap;
use std::sync::Arc;

use till_domain::apply::apply_rows;
use till_domain::event::Mutation;
use till_domain::ids::MerchantId;
use till_domain::payment::Payment;
use till_domain::records::{AnyKey, AnyRow, Rows, RowsMut, Table, Unreadable};

use crate::rows::RowReader;
use crate::shapes::{ReadPersonal, StoredRows, decode_row, encode_row, row_key};

use super::overlay::Overlay;

/// Writes the rows that a mutation changes, and gives the payments among them.
pub(super) fn fold(
    overlay: &Overlay,
    merchant_id: MerchantId,
    mutation: &Mutation,
    personal: &mut ReadPersonal<StoredRows<'_>>,
) -> Result<Vec<Arc<Payment>>, Unreadable> {
    let mut folding = Folding { overlay, merchant_id, personal, changed: BTreeMap::new() };
    apply_rows(mutation, &mut folding)?;
    let Folding { changed, .. } = folding;
    let mut payments = Vec::new();
    for (key, row) in changed {
        if let Some(AnyRow::Payments(payment)) = &row {
            payments.push(Arc::clone(payment));
        }
        let (family, bytes) = row_key(merchant_id, &key, personal);
        let value = row.map(|row| encode_row(&row, &key, personal)).transpose()?;
        overlay.set(family, bytes, value);
    }
    Ok(payments)
}

/// Rows in the course of one mutation.
struct Folding<'a, 'p> {
    overlay: &'a Overlay,
    merchant_id: MerchantId,
    personal: &'a ReadPersonal<StoredRows<'p>>,
    changed: BTreeMap<AnyKey, Option<AnyRow>>,
}

impl Folding<'_, '_> {
    fn read(&self, key: &AnyKey) -> Result<Option<AnyRow>, Unreadable> {
        let (family, bytes) = row_key(self.merchant_id, key, self.personal);
        let stored = self.overlay.get(family, &bytes).map_err(|error| Unreadable { reason: error.to_string() })?;
        Ok(stored.map(|bytes| decode_row(key, &bytes, self.personal)).transpose()?)
    }
}

impl Rows for Folding<'_, '_> {
    fn get<T: Table>(&self, key: T::Key) -> Result<Option<T::Row>, Unreadable> {
        let key = T::key(key);
        let row = match self.changed.get(&key) {
            Some(changed) => changed.clone(),
            None => self.read(&key)?,
        };
        Ok(row.and_then(T::unwrap))
    }
}

impl RowsMut for Folding<'_, '_> {
    fn put<T: Table>(&mut self, key: T::Key, row: T::Row) {
        self.changed.insert(T::key(key), Some(T::wrap(row)));
    }

    fn remove<T: Table>(&mut self, key: T::Key) {
        self.changed.insert(T::key(key), None);
    }
}
