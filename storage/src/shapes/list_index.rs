//! Ranges of a list's indexes. The keys of a range are one value, then the id of an entry, so that the order of the
//! keys is the order of the list. See `tables`.

use std::fmt::Debug;
use std::ops::ControlFlow;

use till_domain::ids::{Id, MerchantId, RawId};
use till_domain::records::{Table, Unreadable};

use crate::family::Family;
use crate::keys::KeyRange;
use crate::rows::{RowRange, RowReader, ScanDirection};

use super::codec::ShapeError;
use super::key_bytes::ID_LEN;
use super::keys::table_range;
use super::reader::MerchantReader;
use super::rows::decode_row;
use super::scan::KeyedRow;
use super::tables::{StoredTable, TableKind};

/// One value of one index of a list, or the list itself.
pub trait ListIndex: Clone + PartialEq + Debug {
    /// The table of the list.
    type List: StoredTable<Key: Id + Ord>;

    /// The list itself.
    const ALL: Self;

    /// The table of the range.
    fn table(&self) -> TableKind;

    /// Pushes the part of the keys between the table and the id.
    fn push_value(&self, bytes: &mut Vec<u8>);

    /// The oldest and the newest id that are wanted of the range, where its value limits them.
    fn ends(&self) -> Option<(ListKey<Self>, ListKey<Self>)> {
        None
    }
}

/// The id of an entry of a list.
pub type ListKey<I> = <<I as ListIndex>::List as Table>::Key;

/// An entry of an index, with its stored row where the index is the list itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListEntry<K> {
    /// The entry's id.
    pub id: K,
    row: Option<Vec<u8>>,
}

impl<K> ListEntry<K> {
    /// An entry whose id is known from elsewhere.
    pub const fn new(id: K) -> ListEntry<K> {
        ListEntry { id, row: None }
    }
}

impl<R: RowReader> MerchantReader<R> {
    /// At most `limit` entries that an index has from `oldest` to `newest`, both included.
    ///
    /// # Errors
    /// [`Unreadable`] when they cannot be read.
    pub fn index_entries<I: ListIndex>(
        &self,
        index: &I,
        (oldest, newest): (ListKey<I>, ListKey<I>),
        direction: ScanDirection,
        limit: usize,
    ) -> Result<Vec<ListEntry<ListKey<I>>>, Unreadable> {
        let (family, (lower, upper)) = id_range(index, self.merchant_id(), oldest, newest);
        let (key_len, is_list) = (lower.len(), *index == I::ALL);
        let mut entries = Vec::new();
        self.rows.visit(RowRange { family, lower: &lower, upper: &upper, direction }, &mut |key, row| {
            // A longer key is that of something else about an entry, such as the open effect of a payment's refund.
            if let Some(id) = key.last_chunk::<ID_LEN>().filter(|_| key.len() == key_len) {
                let id = ListKey::<I>::from_raw(RawId::from_bytes(*id));
                entries.push(ListEntry { id, row: is_list.then(|| row.to_vec()) });
            }
            if entries.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(entries)
    }

    /// True when an index has an entry.
    ///
    /// # Errors
    /// [`Unreadable`] when that cannot be read.
    pub fn index_has<I: ListIndex>(&self, index: &I, id: ListKey<I>) -> Result<bool, Unreadable> {
        if index.ends().is_some_and(|(oldest, newest)| id < oldest || newest < id) {
            return Ok(false);
        }
        let (family, (key, _)) = id_range(index, self.merchant_id(), id, id);
        Ok(self.rows.get(family, &key)?.is_some())
    }

    /// The rows of entries with their ids, in their order.
    ///
    /// # Errors
    /// [`Unreadable`] when one cannot be read, or is not there.
    pub fn list_rows<I: ListIndex>(
        &self,
        entries: Vec<ListEntry<ListKey<I>>>,
    ) -> Result<Vec<KeyedRow<I::List>>, Unreadable> {
        let row_key = |id| id_range(&I::ALL, self.merchant_id(), id, id).1.0;
        let missing = entries.iter().filter(|entry| entry.row.is_none());
        let keys: Vec<Vec<u8>> = missing.map(|entry| row_key(entry.id)).collect();
        let mut rows = self.rows.get_many(I::List::KIND.family(), &keys)?.into_iter();
        let keyed_row = |entry: ListEntry<ListKey<I>>| {
            let row = entry.row.or_else(|| rows.next().flatten());
            let row = row.ok_or(ShapeError::Empty { what: "row of an indexed entry" })?;
            let row = decode_row(&I::List::key(entry.id), &row, self)?;
            let row = I::List::unwrap(row).ok_or(ShapeError::OtherKey { table: I::List::KIND.name() })?;
            Ok((entry.id, row))
        };
        entries.into_iter().map(keyed_row).collect()
    }
}

/// The keys of a merchant's entries with one value, from `oldest` to `newest`, both included.
pub(super) fn id_range<I: ListIndex>(
    index: &I,
    merchant: MerchantId,
    oldest: ListKey<I>,
    newest: ListKey<I>,
) -> (Family, KeyRange) {
    let (oldest, newest) = index.ends().map_or((oldest, newest), |(first, last)| (oldest.max(first), newest.min(last)));
    let (mut prefix, _) = table_range(merchant, index.table());
    index.push_value(&mut prefix);
    let lower = [prefix.as_slice(), &oldest.to_raw().to_bytes()].concat();
    let mut upper = [prefix.as_slice(), &newest.to_raw().to_bytes()].concat();
    upper.push(0); // The smallest key that is greater.
    (index.table().family(), (lower, upper))
}
