//! Ranges of a table by typed keys, and the pages of lists.

use std::ops::{Bound, ControlFlow, RangeBounds};

use till_domain::ids::{Id, MerchantId, RawId};
use till_domain::open_call::OpenCall;
use till_domain::records::{AnyKey, Effects, Table, Timers, Unreadable};
use till_domain::time::Millis;

use crate::family::Family;
use crate::keys::KeyRange;
use crate::rows::{Beside, RowPair, RowRange, RowReader, ScanDirection};
use till_domain::cursor::Cursor;

use super::keys::{self, KeyError, all_timers_range, open_calls_range, row_key, table_range};
use super::reader::MerchantReader;
use super::rows::{decode_row, decode_row_of};
use super::tables::{KeyParts, StoredTable, TableKind};

/// Limit of the keys that are read at once where all are wanted.
const PAGE_LEN: usize = 1_024;

/// A row with its key.
pub type KeyedRow<T> = (<T as Table>::Key, <T as Table>::Row);

impl<R: RowReader> MerchantReader<R> {
    /// At most `limit` rows of a table by a range of keys, in the order of the keys or in reverse.
    ///
    /// # Errors
    /// [`Unreadable`] when a row cannot be read.
    pub fn scan<T: StoredTable>(
        &self,
        range: impl RangeBounds<T::Key>,
        direction: ScanDirection,
        limit: usize,
    ) -> Result<Vec<KeyedRow<T>>, Unreadable> {
        self.decode_all::<T>(&self.pairs::<T>(range, direction, limit)?)
    }

    /// The same for a limit of at least one, unless these rows have more than `bytes_max` bytes: then no more than that
    /// are read, and none decoded.
    ///
    /// # Errors
    /// [`Unreadable`] when a row cannot be read.
    pub fn scan_within<T: StoredTable>(
        &self,
        range: impl RangeBounds<T::Key>,
        direction: ScanDirection,
        limit: usize,
        bytes_max: usize,
    ) -> Result<Option<Vec<KeyedRow<T>>>, Unreadable> {
        let (lower, upper) = self.key_range::<T>(&range);
        let (mut pairs, mut left) = (Vec::new(), Some(bytes_max));
        self.rows.visit(
            RowRange { family: T::KIND.family(), lower: &lower, upper: &upper, direction },
            &mut |key, value| {
                left = left.and_then(|left: usize| left.checked_sub(value.len()));
                if left.is_some() {
                    pairs.push((key.to_vec(), value.to_vec()));
                }
                if left.is_some() && pairs.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            },
        )?;
        left.map(|_| self.decode_all::<T>(&pairs)).transpose()
    }

    /// The rows under some keys, in their order, unless they have more than `bytes_max` bytes: then none is decoded. A
    /// row that is missing cannot be read.
    ///
    /// # Errors
    /// [`Unreadable`] when a row cannot be read.
    pub fn rows_within<T: StoredTable>(
        &self,
        keys: impl IntoIterator<Item = T::Key>,
        bytes_max: usize,
    ) -> Result<Option<Vec<KeyedRow<T>>>, Unreadable> {
        let missing = || Unreadable { reason: "an index names a row that is not there".to_owned() };
        let (mut pairs, mut left) = (Vec::new(), bytes_max);
        for key in keys {
            let (family, key) = row_key(self.merchant_id(), &T::key(key), self);
            let value = self.rows.get(family, &key)?.ok_or_else(missing)?;
            let Some(less) = left.checked_sub(value.len()) else { return Ok(None) };
            left = less;
            pairs.push((key, value));
        }
        self.decode_all::<T>(&pairs).map(Some)
    }

    /// The keys of such rows alone.
    ///
    /// # Errors
    /// [`Unreadable`] when a key cannot be read.
    pub fn scan_keys<T: StoredTable>(
        &self,
        range: impl RangeBounds<T::Key>,
        direction: ScanDirection,
        limit: usize,
    ) -> Result<Vec<T::Key>, Unreadable> {
        let pairs = self.pairs::<T>(range, direction, limit)?;
        pairs.iter().map(|(key, _)| decode_key::<T>(key)).collect()
    }

    /// Every key of a table, in their order. They are read in pages.
    pub fn all_keys<T: StoredTable>(self) -> impl Iterator<Item = Result<T::Key, Unreadable>> {
        in_pages(move |after: Option<T::Key>| {
            let range = (after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded);
            self.scan_keys::<T>(range, ScanDirection::Forward, PAGE_LEN)
        })
    }

    /// Such rows alone, of a table whose keys do not tell an address.
    ///
    /// # Errors
    /// [`Unreadable`] when a row cannot be read.
    pub fn scan_rows<T: StoredTable>(
        &self,
        range: impl RangeBounds<T::Key>,
        direction: ScanDirection,
        limit: usize,
    ) -> Result<Vec<T::Row>, Unreadable> {
        let pairs = self.pairs::<T>(range, direction, limit)?;
        let row = |(_, value): &RowPair| T::unwrap(decode_row_of(T::KIND, value, self)?).ok_or_else(malformed::<T>);
        pairs.iter().map(row).collect()
    }

    /// Returns true when there is a row in a range.
    ///
    /// # Errors
    /// [`Unreadable`] when the range cannot be read.
    pub fn has_any<T: StoredTable>(&self, range: impl RangeBounds<T::Key>) -> Result<bool, Unreadable> {
        Ok(!self.pairs::<T>(range, ScanDirection::Forward, 1)?.is_empty())
    }

    /// The page at a cursor, or the newest one, of a list that is ordered by ids; newest first. An id that names no row
    /// represents its position in time.
    ///
    /// # Errors
    /// [`Unreadable`] when a row of the page cannot be read.
    pub fn page<T: StoredTable<Key: Id>>(
        &self,
        size: usize,
        cursor: Option<Cursor<T::Key>>,
    ) -> Result<(Vec<KeyedRow<T>>, Beside), Unreadable> {
        self.page_within::<T, T::Key>((|id| id, |key| *key), size, cursor)
    }

    /// The page at a cursor, or the newest one, of the ids that an index has under `first`; newest first.
    ///
    /// # Errors
    /// [`Unreadable`] when a key of the page cannot be read.
    pub fn index_page<T, F, K>(
        &self,
        first: F,
        size: usize,
        cursor: Option<Cursor<K>>,
    ) -> Result<(Vec<K>, Beside), Unreadable>
    where
        T: StoredTable<Key = (F, K)>,
        F: Clone,
        K: Id,
    {
        let key_of = |id| (first.clone(), id);
        let (rows, beside) = self.page_within::<T, K>((key_of, |(_, id)| *id), size, cursor)?;
        Ok((rows.into_iter().map(|((_, id), _)| id).collect(), beside))
    }

    fn page_within<T: StoredTable, K: Id>(
        &self,
        (key_of, id_of): (impl Fn(K) -> T::Key, impl Fn(&T::Key) -> K),
        size: usize,
        cursor: Option<Cursor<K>>,
    ) -> Result<(Vec<KeyedRow<T>>, Beside), Unreadable> {
        let [first, last] = [u8::MIN, u8::MAX].map(|byte| K::from_raw(RawId::from_bytes([byte; 16])));
        let older = |id: K| (Bound::Included(key_of(first)), Bound::Excluded(key_of(id)));
        let newer = |id: K| (Bound::Excluded(key_of(id)), Bound::Included(key_of(last)));
        let (range, direction) = match cursor {
            None => ((Bound::Included(key_of(first)), Bound::Included(key_of(last))), ScanDirection::Backward),
            Some(Cursor::After(id)) => (older(id), ScanDirection::Backward),
            Some(Cursor::Before(id)) => (newer(id), ScanDirection::Forward),
        };
        // One row more than the page has tells if the list continues; it is not decoded.
        let mut pairs = self.pairs::<T>(range, direction, size.saturating_add(1))?;
        let goes_on = pairs.len() > size;
        pairs.truncate(size);
        if direction == ScanDirection::Forward {
            pairs.reverse();
        }
        let rows = self.decode_all::<T>(&pairs)?;
        let beside = match cursor {
            None => Beside { newer: false, older: goes_on },
            Some(cursor @ Cursor::After(_)) => {
                let newest = rows.first().map_or(cursor.vacancy(), |(key, _)| id_of(key));
                Beside { newer: self.has_any::<T>(newer(newest))?, older: goes_on }
            }
            Some(cursor @ Cursor::Before(_)) => {
                let oldest = rows.last().map_or(cursor.vacancy(), |(key, _)| id_of(key));
                Beside { newer: goes_on, older: self.has_any::<T>(older(oldest))? }
            }
        };
        Ok((rows, beside))
    }

    fn pairs<T: StoredTable>(
        &self,
        range: impl RangeBounds<T::Key>,
        direction: ScanDirection,
        limit: usize,
    ) -> Result<Vec<RowPair>, Unreadable> {
        let (lower, upper) = self.key_range::<T>(&range);
        Ok(self.rows.scan(RowRange { family: T::KIND.family(), lower: &lower, upper: &upper, direction }, limit)?)
    }

    fn key_range<T: StoredTable>(&self, range: &impl RangeBounds<T::Key>) -> KeyRange {
        let (first, end) = table_range(self.merchant_id(), T::KIND);
        let at = |key: &T::Key| row_key(self.merchant_id(), &T::key(key.clone()), self).1;
        let after = |key: &T::Key| {
            let mut bytes = at(key);
            bytes.push(0); // The smallest greater key.
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

/// The open calls of a merchant, or of every merchant: of each merchant those about payments, in the order of payment
/// and refund, and then those of the other kinds. They are read in pages.
pub fn open_calls<R: RowReader + ?Sized>(
    rows: &R,
    of: Option<MerchantId>,
) -> impl Iterator<Item = Result<(MerchantId, OpenCall), Unreadable>> + use<'_, R> {
    in_pages(move |after| {
        let (lower, upper) = open_calls_range(of, after);
        let pairs = rows.scan(RowRange::forward(Family::Effects, &lower, &upper), PAGE_LEN)?;
        pairs.iter().map(|(key, _)| open_call(key).ok_or_else(malformed::<Effects>)).collect()
    })
}

fn open_call(key: &[u8]) -> Option<(MerchantId, OpenCall)> {
    let Ok((Some(merchant_id), KeyParts::Row(key))) = keys::decode_key(Family::Effects, key) else { return None };
    Some((merchant_id, OpenCall::of(&key)?))
}

/// Every item of a list; `read` returns at most [`PAGE_LEN`] items after one.
fn in_pages<T: Clone>(
    mut read: impl FnMut(Option<T>) -> Result<Vec<T>, Unreadable>,
) -> impl Iterator<Item = Result<T, Unreadable>> {
    let (mut page, mut after, mut is_last) = (Vec::new().into_iter(), None, false);
    std::iter::from_fn(move || {
        if page.len() == 0 && !is_last {
            let next = read(after.take());
            is_last = next.as_ref().map_or(true, |next| next.len() < PAGE_LEN);
            match next {
                Ok(next) => (after, page) = (next.last().cloned(), next.into_iter()),
                Err(error) => return Some(Err(error)),
            }
        }
        page.next().map(Ok)
    })
}

/// The first merchant after one that has a timer set or metadata garbage, with the instant of its first timer.
///
/// # Errors
/// [`Unreadable`] when it cannot be read.
pub fn next_merchant_with_timers(
    rows: &(impl RowReader + ?Sized),
    after: Option<MerchantId>,
) -> Result<Option<(MerchantId, Option<Millis>)>, Unreadable> {
    let (mut lower, upper) = all_timers_range();
    if let Some(merchant_id) = after {
        // The last table of the family.
        lower = table_range(merchant_id, TableKind::MetadataGarbage).1;
    }
    let first = rows.scan(RowRange::forward(Family::Timers, &lower, &upper), 1)?.pop();
    let Some((key, _)) = first else { return Ok(None) };
    match keys::decode_key(Family::Timers, &key) {
        Ok((Some(merchant_id), KeyParts::Row(AnyKey::Timers(timer)))) => Ok(Some((merchant_id, Some(timer.due)))),
        Ok((Some(merchant_id), KeyParts::Row(AnyKey::MetadataGarbage(_)))) => Ok(Some((merchant_id, None))),
        Ok(_) | Err(_) => Err(malformed::<Timers>()),
    }
}

/// The key with these bytes, which are in the table's range.
pub(super) fn decode_key<T: StoredTable>(bytes: &[u8]) -> Result<T::Key, Unreadable> {
    let rest = bytes.get(T::KIND.head_len()..).unwrap_or_default();
    T::decode_key(rest).ok_or_else(malformed::<T>)
}

fn malformed<T: StoredTable>() -> Unreadable {
    Unreadable { reason: KeyError::Malformed { table: T::KIND }.to_string() }
}

#[cfg(test)]
mod tests {
    use till_domain::ids::{ActivityId, EntryId, MetadataId};
    use till_domain::key::KeyDigest;
    use till_domain::ledger::Entry;
    use till_domain::metadata::{ItemHash, SetNumber};
    use till_domain::records::{Entries, MerchantDirectory, MetadataItems, MetadataPositions, MetadataSets};

    use super::super::rows::encode_row;
    use super::super::samples::{self, MERCHANT, OTHER_MERCHANT, TestPersonal};
    use super::*;
    use crate::memory::MemoryStore;

    /// A store with these keys, whose values cannot be decoded.
    fn store(keys: impl IntoIterator<Item = (MerchantId, AnyKey)>) -> MemoryStore {
        let store = MemoryStore::new();
        for (merchant, key) in keys {
            let (family, key) = row_key(merchant, &key, &TestPersonal::default());
            store.damage(family, &key, b"");
        }
        store
    }

    fn entry(number: u8) -> EntryId {
        EntryId::from_bytes([number; 16])
    }

    fn sample<T: Table>() -> T::Row {
        samples::rows().into_iter().find_map(|(_, row)| T::unwrap(row)).expect("there is one of each kind")
    }

    #[test]
    fn a_range_has_its_merchants_keys_between_its_ends() {
        let own = (0..=9).map(|number| (MERCHANT, AnyKey::Entries(entry(number))));
        let activity = AnyKey::Activities(ActivityId::from_bytes([4; 16]));
        let store = store(own.chain([(OTHER_MERCHANT, AnyKey::Entries(entry(4))), (MERCHANT, activity)]));
        let rows = MerchantReader::new(MERCHANT, None, &store);
        let scan = |range: (Bound<u8>, Bound<u8>), direction, limit| {
            let range = (range.0.map(entry), range.1.map(entry));
            let keys = rows.scan_keys::<Entries>(range, direction, limit).expect("readable");
            keys.iter().map(|id| id.to_bytes()[0]).collect::<Vec<u8>>()
        };
        use Bound::{Excluded, Included, Unbounded};
        assert_eq!(scan((Excluded(3), Excluded(6)), ScanDirection::Forward, 99), [4, 5]);
        assert_eq!(scan((Included(3), Included(6)), ScanDirection::Backward, 99), [6, 5, 4, 3]);
        assert_eq!(scan((Unbounded, Unbounded), ScanDirection::Forward, 99), (0..=9).collect::<Vec<u8>>());
        assert_eq!(scan((Unbounded, Unbounded), ScanDirection::Backward, 2), [9, 8]);
        assert!(scan((Excluded(6), Excluded(3)), ScanDirection::Forward, 99).is_empty());
        assert_eq!(rows.has_any::<Entries>(entry(9)..), Ok(true));
        assert_eq!(rows.has_any::<Entries>((Excluded(entry(9)), Unbounded)), Ok(false));
    }

    #[test]
    fn rows_are_read_within_a_number_of_bytes() {
        let store = MemoryStore::new();
        let mut bytes = 0;
        for number in 1..=3 {
            let (key, row) = (AnyKey::Entries(entry(number)), Entry { id: entry(number), ..sample::<Entries>() });
            let value = encode_row(&Entries::wrap(row), &key, &mut TestPersonal::default()).expect("samples encode");
            let (family, key) = row_key(MERCHANT, &key, &TestPersonal::default());
            bytes = value.len();
            store.damage(family, &key, &value);
        }
        let rows = MerchantReader::new(MERCHANT, None, &store);
        let scan = |limit, bytes_max| {
            let rows = rows.scan_within::<Entries>(.., ScanDirection::Backward, limit, bytes_max).expect("readable");
            rows.map(|rows| rows.iter().map(|(id, _)| id.to_bytes()[0]).collect::<Vec<u8>>())
        };
        assert_eq!((scan(9, 3 * bytes), scan(2, 2 * bytes)), (Some(vec![3, 2, 1]), Some(vec![3, 2])));
        assert_eq!((scan(9, 3 * bytes - 1), scan(2, 2 * bytes - 1)), (None, None));
        let named = |bytes_max| rows.rows_within::<Entries>([entry(2), entry(1)], bytes_max).expect("readable");
        assert_eq!(named(2 * bytes).expect("few").iter().map(|(id, _)| *id).collect::<Vec<_>>(), [entry(2), entry(1)]);
        assert!(named(2 * bytes - 1).is_none());
        assert!(rows.rows_within::<Entries>([entry(9)], bytes).is_err(), "it is missing");
    }

    #[test]
    fn a_range_of_sets_excludes_later_sets_and_other_records() {
        let (id, other) = (MetadataId::from_bytes([1; 16]), MetadataId::from_bytes([2; 16]));
        let keys = [(id, 2), (id, 3), (id, 255), (id, 256), (other, 3)].into_iter().flat_map(|(id, number)| {
            let number = SetNumber(number);
            let item = AnyKey::MetadataItems((id, number, ItemHash([0xff; 32])));
            [AnyKey::MetadataSets((id, number)), item, AnyKey::MetadataPositions((id, number, u64::MAX))]
        });
        let store = store(keys.map(|key| (MERCHANT, key)));
        let rows = MerchantReader::new(MERCHANT, None, &store);
        let (from, below, direction) = (SetNumber(3), SetNumber(256), ScanDirection::Forward);
        let inside = [(id, SetNumber(3)), (id, SetNumber(255))];
        assert_eq!(rows.scan_keys::<MetadataSets>((id, from)..(id, below), direction, 9).expect("readable"), inside);
        let none = ItemHash([0; 32]);
        let items = rows.scan_keys::<MetadataItems>((id, from, none)..(id, below, none), direction, 9);
        assert_eq!(items.expect("readable").iter().map(|key| (key.0, key.1)).collect::<Vec<_>>(), inside);
        let positions = rows.scan_keys::<MetadataPositions>((id, from, 0)..(id, below, 0), direction, 9);
        assert_eq!(positions.expect("readable").iter().map(|key| (key.0, key.1)).collect::<Vec<_>>(), inside);
    }

    #[test]
    fn the_list_of_merchants_goes_on_after_a_merchant() {
        let merchant = |merchant| (merchant, AnyKey::MerchantDirectory(merchant));
        let digest = AnyKey::KeyDirectory(KeyDigest([0xff; 32]));
        let store = store([merchant(MERCHANT), merchant(OTHER_MERCHANT), (MERCHANT, digest)]);
        let rows = MerchantReader::of_all_merchants(&store);
        let after = |bound| rows.scan_keys::<MerchantDirectory>((bound, Bound::Unbounded), ScanDirection::Forward, 9);
        assert_eq!(after(Bound::Unbounded), Ok(vec![MERCHANT, OTHER_MERCHANT]));
        assert_eq!(after(Bound::Excluded(MERCHANT)), Ok(vec![OTHER_MERCHANT]));
    }

    #[test]
    fn pages_lead_from_the_newest_row_to_the_oldest_and_back() {
        let store = MemoryStore::new();
        for number in 1..=5 {
            let (key, row) = (AnyKey::Entries(entry(number)), Entry { id: entry(number), ..sample::<Entries>() });
            let value = encode_row(&Entries::wrap(row), &key, &mut TestPersonal::default()).expect("samples encode");
            let (family, key) = row_key(MERCHANT, &key, &TestPersonal::default());
            store.damage(family, &key, &value);
        }
        let rows = MerchantReader::new(MERCHANT, None, &store);
        let page = |cursor| {
            let (rows, Beside { newer, older }) = rows.page::<Entries>(2, cursor).expect("readable");
            assert!(rows.iter().all(|(id, row)| *id == row.id));
            (rows.iter().map(|(id, _)| id.to_bytes()[0]).collect::<Vec<u8>>(), newer, older)
        };
        let (after, before) =
            (|number| Some(Cursor::After(entry(number))), |number| Some(Cursor::Before(entry(number))));
        assert_eq!(page(None), (vec![5, 4], false, true));
        assert_eq!(page(after(4)), (vec![3, 2], true, true));
        assert_eq!(page(after(2)), (vec![1], true, false));
        assert_eq!(page(before(1)), (vec![3, 2], true, true));
        assert_eq!(page(before(3)), (vec![5, 4], false, true));
        assert_eq!(page(after(1)), (vec![], true, false), "the cursor's own row is newer than its place");
        assert_eq!(page(before(5)), (vec![], false, true), "the cursor's own row is older than its place");
    }
}
