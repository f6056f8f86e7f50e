//! Folds a mutation into the stored rows of its merchant, as a replay of the log does with each record.

use till_domain::apply::apply_rows;
use till_domain::event::Mutation;
use till_domain::ids::MerchantId;
use till_domain::records::{AnyKey, AnyRow, ChangedRows, Rows, Unreadable};

use crate::family::Family;

use super::keys::row_key;
use super::personal::Personal;
use super::rows::{decode_row, encode_row};

/// A row that a mutation changed.
pub struct ChangedRow {
    /// Its family.
    pub family: Family,
    /// Its key.
    pub key: Vec<u8>,
    /// Its bytes; none when it was removed.
    pub value: Option<Vec<u8>>,
    /// The row of those bytes.
    pub row: Option<AnyRow>,
}

/// Returns the bytes that are stored under a key, if there are any.
pub type Stored<'a> = &'a dyn Fn(Family, &[u8]) -> Result<Option<Vec<u8>>, Unreadable>;

/// The rows that a mutation changes, in the order of their keys. `stored` returns the bytes under a key.
///
/// # Errors
/// [`Unreadable`]: a row that is needed cannot be read, or the vault cannot be.
pub fn fold_mutation(
    merchant_id: MerchantId,
    mutation: &Mutation,
    personal: &mut dyn Personal,
    stored: Stored<'_>,
) -> Result<Vec<ChangedRow>, Unreadable> {
    let rows = DecodedRows { merchant_id, personal, stored };
    let mut rows = ChangedRows::new(&rows);
    apply_rows(mutation, &mut rows)?;
    let changed = rows.into_changed().into_iter().map(|(key, row)| {
        let (family, bytes) = row_key(merchant_id, &key, personal);
        let value = row.as_ref().map(|row| encode_row(row, &key, personal)).transpose()?;
        Ok(ChangedRow { family, key: bytes, value, row })
    });
    changed.collect()
}

/// The rows, decoded from the stored bytes.
struct DecodedRows<'a> {
    merchant_id: MerchantId,
    personal: &'a dyn Personal,
    stored: Stored<'a>,
}

impl Rows for DecodedRows<'_> {
    fn read(&self, key: &AnyKey) -> Result<Option<AnyRow>, Unreadable> {
        let (family, bytes) = row_key(self.merchant_id, key, self.personal);
        let stored = (self.stored)(family, &bytes)?;
        Ok(stored.map(|bytes| decode_row(key, &bytes, self.personal)).transpose()?)
    }
}
