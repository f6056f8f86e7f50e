//! Changes of rows that must exist because an event says so, and of indexes by values that not every object has.

use crate::records::{AnyKey, RowsMut, Table, Unreadable};

/// Changes a row that must exist.
pub(super) fn change<T: Table>(
    rows: &mut impl RowsMut,
    key: T::Key,
    change: impl FnOnce(&mut T::Row),
) -> Result<(), Unreadable> {
    let mut row = take_row::<T>(key.clone(), rows)?;
    change(&mut row);
    rows.put::<T>(key, row);
    Ok(())
}

/// A row that must exist, as an owned value to be changed and written again.
pub(super) fn take_row<T: Table>(key: T::Key, rows: &mut impl RowsMut) -> Result<T::Row, Unreadable> {
    rows.take::<T>(key.clone())?.ok_or_else(|| missing(&T::key(key)))
}

/// A row that must exist.
pub(super) fn existing_row<T: Table>(key: T::Key, rows: &impl RowsMut) -> Result<T::Row, Unreadable> {
    rows.get::<T>(key.clone())?.ok_or_else(|| missing(&T::key(key)))
}

/// Puts the row of an index under the value that an object may have.
pub(super) fn index<T: Table>(value: Option<&T::Key>, row: T::Row, rows: &mut impl RowsMut) {
    if let Some(key) = value {
        rows.put::<T>(key.clone(), row);
    }
}

/// Removes the row of an index under the value that an object may have had.
pub(super) fn unindex<T: Table>(value: Option<&T::Key>, rows: &mut impl RowsMut) {
    if let Some(key) = value {
        rows.remove::<T>(key.clone());
    }
}

fn missing(key: &AnyKey) -> Unreadable {
    Unreadable { reason: format!("{key:?} is not there, though an event changes it") }
}
