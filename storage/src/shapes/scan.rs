//! Ranges of a table by typed keys, and the pages of lists.

use std::ops::{Bound, RangeBounds};

use till_domain::ids::Id;
use till_domain::records::{Table, Unreadable};

use crate::keys::KeyRange;
use crate::rows::{Beside, Cursor, Direction, RowPair, RowReader};

use super::keys::{KeyError, row_key, table_range};
use super::reader::MerchantReader;
use super::rows::decode_row;
use super::tables::StoredTable;

/// A row with its key.
pub type KeyedRow<T> = (<T as Table>::Key, <T as Table>::Row);

impl<R: RowReader> MerchantReader<R> {
    /// At most `limit` rows of a table that are found by keys of a range, in their order or the other way round.
    ///
    /// # Errors
    /// [`Unreadable`] when a row cannot be read.
    pub fn scan<T: StoredTable>(
        &self,
        range: impl RangeBounds<T::Key>,
        direction: Direction,
        limit: usize,
    ) -> Result<Vec<KeyedRow<T>>, Unreadable> {
        self.decode_all::<T>(&self.pairs::<T>(range, direction, limit)?)
    }

    /// Their keys alone.
    ///
    /// # Errors
    /// [`Unreadable`] when a key cannot be read.
    pub fn scan_keys<T: StoredTable>(
        &self,
        range: impl RangeBounds<T::Key>,
        direction: Direction,
        limit: usize,
    ) -> Result<Vec<T::Key>, Unreadable> {
        let pairs = self.pairs::<T>(range, direction, limit)?;
        pairs.iter().map(|(key, _)| decode_key::<T>(key)).collect()
    }

    /// Whether there is a row in a range.
    ///
    /// # Errors
    /// [`Unreadable`] when that cannot be told.
    pub fn has_any<T: StoredTable>(&self, range: impl RangeBounds<T::Key>) -> Result<bool, Unreadable> {
        Ok(!self.pairs::<T>(range, Direction::Forward, 1)?.is_empty())
    }

    /// The page at a cursor, or the newest one, of a list that is ordered by ids; newest first. An id that names no row
    /// stands for its place in time.
    ///
    /// # Errors
    /// [`Unreadable`] when a row of the page cannot be read.
    pub fn page<T: StoredTable<Key: Id>>(
        &self,
        size: usize,
        cursor: Option<Cursor<T::Key>>,
    ) -> Result<(Vec<KeyedRow<T>>, Beside), Unreadable> {
        use Bound::{Excluded, Unbounded};
        let (range, direction) = match cursor {
            None => ((Unbounded, Unbounded), Direction::Backward),
            Some(Cursor::After(id)) => ((Unbounded, Excluded(id)), Direction::Backward),
            Some(Cursor::Before(id)) => ((Excluded(id), Unbounded), Direction::Forward),
        };
        // One row more than the page has tells whether the list goes on; it is not decoded.
        let mut pairs = self.pairs::<T>(range, direction, size.saturating_add(1))?;
        let goes_on = pairs.len() > size;
        pairs.truncate(size);
        if direction == Direction::Forward {
            pairs.reverse();
        }
        let rows = self.decode_all::<T>(&pairs)?;
        let beside = match cursor {
            None => Beside { newer: false, older: goes_on },
            Some(cursor @ Cursor::After(_)) => {
                let newest = rows.first().map_or(cursor.vacancy(), |(id, _)| *id);
                Beside { newer: self.has_any::<T>((Excluded(newest), Unbounded))?, older: goes_on }
            }
            Some(cursor @ Cursor::Before(_)) => {
                let oldest = rows.last().map_or(cursor.vacancy(), |(id, _)| *id);
                Beside { newer: goes_on, older: self.has_any::<T>((Unbounded, Excluded(oldest)))? }
            }
        };
        Ok((rows, beside))
    }

    fn pairs<T: StoredTable>(
        &self,
        range: impl RangeBounds<T::Key>,
        direction: Direction,
        limit: usize,
    ) -> Result<Vec<RowPair>, Unreadable> {
        let (lower, upper) = self.key_range::<T>(&range);
        Ok(self.rows.scan(T::KIND.family(), &lower, &upper, direction, limit)?)
    }

    fn key_range<T: StoredTable>(&self, range: &impl RangeBounds<T::Key>) -> KeyRange {
        let (first, end) = table_range(self.merchant_id(), T::KIND);
        let at = |key: &T::Key| row_key(self.merchant_id(), &T::key(key.clone()), self).1;
        let after = |key: &T::Key| {
            let mut bytes = at(key);
            bytes.push(0); // The smallest key that is greater.
            bytes
        };
        let lower = match range.start_bound() {
            Bound::Included(key) => at(key),
            Bound::Excluded(key) => after(key),
            Bound::Unbounded => first,
        };
        let upper = match range.end_bound() {
            Bound::Included(key) => after(key),
            Bound::Excluded(key) => at(key),
            Bound::Unbounded => end,
        };
        (lower, upper)
    }

    fn decode_all<T: StoredTable>(&self, pairs: &[RowPair]) -> Result<Vec<KeyedRow<T>>, Unreadable> {
        let decode = |(key, value): &RowPair| {
            let key = decode_key::<T>(key)?;
            let row = T::unwrap(decode_row(&T::key(key.clone()), value, self)?);
            Ok((key, row.ok_or_else(malformed::<T>)?))
        };
        pairs.iter().map(decode).collect()
    }
}

/// The key with these bytes, which are of the table's range.
pub(super) fn decode_key<T: StoredTable>(bytes: &[u8]) -> Result<T::Key, Unreadable> {
    let rest = bytes.get(T::KIND.head_len()..).unwrap_or_default();
    T::decode_key(rest).ok_or_else(malformed::<T>)
}

fn malformed<T: StoredTable>() -> Unreadable {
    Unreadable { reason: KeyError::Malformed { table: T::KIND }.to_string() }
}
