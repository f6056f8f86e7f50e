//! Changes of rows that must exist because an event says so.

use crate::records::{AnyKey, RowsMut, Table, Unreadable};

/// Changes a row that must exist.
pub(super) fn change<T: Table>(
    rows: &mut impl RowsMut,
    key: T::Key,
    change: impl FnOnce(&mut T::Row),
) -> Result<(), Unreadable> {
    let mut row = taken::<T>(key.clone(), rows)?;
    change(&mut row);
    rows.put::<T>(key, row);
    Ok(())
}

/// A row that must exist, as an owned value to be changed and written again.
pub(super) fn taken<T: Table>(key: T::Key, rows: &mut impl RowsMut) -> Result<T::Row, Unreadable> {
    rows.take::<T>(key.clone())?.ok_or_else(|| missing(&T::key(key)))
}

/// A row that must exist.
pub(super) fn found<T: Table>(key: T::Key, rows: &impl RowsMut) -> Result<T::Row, Unreadable> {
    rows.get::<T>(key.clone())?.ok_or_else(|| missing(&T::key(key)))
}

fn missing(key: &AnyKey) -> Unreadable {
    Unreadable { reason: format!("{key:?} is not there, though an event changes it") }
}
