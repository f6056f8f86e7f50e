//! Shapes of rows, by table.
//!
//! ```text
//! 0 format (1) = 1 to 3 | 1 the table's shape of that format, see `codec` and `tables`
//! ```
//! A row is written in the lowest format that can hold it, so that a replay of the log gives the stored bytes,
//! whichever program wrote them. All formats are read.

use till_domain::records::{AnyKey, AnyRow, Unreadable};

use super::codec::ShapeError;
use super::personal::Personal;
use super::tables::{TableKind, belongs, decode_value, push_value};

/// The initial capacity for a row that is not an entry of an index, in bytes.
const USUAL_ROW_BYTES: usize = 448;

/// The bytes of a row to be stored under `key`: equal rows give equal bytes. Personal texts are sealed;
/// keys that are made for them must be stored in the same write.
///
/// # Errors
/// [`Unreadable`] when a key to seal with cannot be read or made, or when the row does not belong under
/// `key`. Nothing may be written then.
pub fn encode_row(row: &AnyRow, key: &AnyKey, personal: &mut dyn Personal) -> Result<Vec<u8>, Unreadable> {
    let mut bytes = Vec::with_capacity(USUAL_ROW_BYTES);
    push_row(row, key, personal, &mut bytes)?;
    Ok(bytes)
}

/// As [`encode_row`], appended to existing bytes.
///
/// # Errors
/// As [`encode_row`]; a part of the row may have been appended then.
pub fn push_row(
    row: &AnyRow,
    key: &AnyKey,
    personal: &mut dyn Personal,
    bytes: &mut Vec<u8>,
) -> Result<(), Unreadable> {
    if !belongs(key, row) {
        return Err(ShapeError::OtherKey { table: TableKind::of(key).name() }.into());
    }
    push_value(row, personal, bytes)
}

/// The row with these bytes under `key`. Sealed texts of an erased person are absent.
///
/// # Errors
/// [`ShapeError::UnknownFormat`] means "derive the rows again, or upgrade the program";
/// [`ShapeError::OtherKey`] that the row was stored under a wrong key; every other error that the bytes are
/// damaged, or that the vault cannot be read.
pub fn decode_row(key: &AnyKey, bytes: &[u8], personal: &dyn Personal) -> Result<AnyRow, ShapeError> {
    let table = TableKind::of(key);
    let row = decode_value(table, bytes, personal)?;
    belongs(key, &row).then_some(row).ok_or(ShapeError::OtherKey { table: table.name() })
}

/// As [`decode_row`], for a row whose key cannot be recovered from its bytes.
///
/// # Errors
/// As [`decode_row`], without the check of the key.
pub fn decode_row_of(table: TableKind, bytes: &[u8], personal: &dyn Personal) -> Result<AnyRow, ShapeError> {
    decode_value(table, bytes, personal)
}

/// Returns true when the bytes on disk equal those of a row replayed from the log, except for fields of a
/// person who was erased since they were written, which a replay does not have.
///
/// # Errors
/// As [`decode_row`].
pub fn is_same_row(key: &AnyKey, stored: &[u8], replayed: &[u8], personal: &dyn Personal) -> Result<bool, ShapeError> {
    if stored == replayed {
        return Ok(true);
    }
    let (stored, again) = (decode_row(key, stored, personal)?, decode_row(key, replayed, personal)?);
    Ok(has_personal_data(TableKind::of(key)) && stored == again)
}

/// Returns true when rows of a table contain sealed fields.
const fn has_personal_data(table: TableKind) -> bool {
    matches!(
        table,
        TableKind::Customers
            | TableKind::Sessions
            | TableKind::Payments
            | TableKind::Tokens
            | TableKind::Cards
            | TableKind::Preparations
    )
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
