//! Reads of metadata: records, items of sets, the list. All reads for one answer see the same snapshot.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::{Bound, Range};

use till_domain::ids::{MerchantId, MetadataId};
use till_domain::metadata::{Document, MetadataRecord, SetNumber};
use till_domain::records::{Metadata, MetadataByCreation, MetadataDocuments, MetadataPositions, Rows, Unreadable};
use till_domain::text::MetadataKey;
use till_domain::time::Millis;
use till_protocol::api_error::ApiError;
use till_protocol::request_thread;
use till_storage::rows::ScanDirection;
use till_storage::shapes::MerchantView;

use crate::service::submission::Service;

/// The limit of items of a set on one page: contract, section 5.
pub(crate) const PAGE_ITEMS_MAX: usize = 10_000;

/// The limit of bytes of items on a page, which has one item at least.
const PAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Rows of one scan.
const SCANNED_AT_ONCE: usize = 512;

/// The key of an item: its record, its set, and its position in the set.
type ItemKey = (MetadataId, SetNumber, u64);

/// A live record.
pub struct FoundMetadata {
    pub key: MetadataKey,
    /// The stored record.
    pub record: MetadataRecord,
    /// Its value, without the items of its sets.
    pub document: Document,
}

/// A range of items of a set, by their positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemRange {
    /// The first items.
    First,
    /// The items after a position.
    After(u64),
    /// The last items before a position.
    Before(u64),
}

impl ItemRange {
    /// The position of an empty page: items with a lower position are before it, all others after it. The item at the
    /// cursor itself, if there is one, is on the side that the caller came from.
    pub fn vacancy(self) -> Option<u64> {
        match self {
            ItemRange::First => None,
            ItemRange::After(position) => Some(position.saturating_add(1)),
            ItemRange::Before(position) => Some(position),
        }
    }
}

/// Items of a set with their positions, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ItemPage {
    /// The items in canonical form.
    pub items: Vec<(u64, String)>,
    /// True when there are items before them.
    pub earlier: bool,
    /// True when there are items after them.
    pub later: bool,
}

impl ItemPage {
    /// A page of an array that has not become a set: positions are indexes of the array.
    pub fn of_array<'a>(items: impl Iterator<Item = &'a str>, range: ItemRange, limit: usize) -> ItemPage {
        let all: Vec<(u64, String)> = (0..).zip(items.map(str::to_owned)).collect();
        let count = all.len();
        let place = |position: u64| usize::try_from(position).unwrap_or(usize::MAX).min(count);
        let (from, to) = match range {
            ItemRange::First => (0, limit.min(count)),
            ItemRange::After(position) => {
                let from = place(position.saturating_add(1));
                (from, from.saturating_add(limit).min(count))
            }
            ItemRange::Before(position) => (place(position).saturating_sub(limit), place(position)),
        };
        let items = all.into_iter().skip(from).take(to.saturating_sub(from)).collect();
        ItemPage { items, earlier: from > 0, later: to < count }
    }
}

/// Reads of one merchant's metadata, in one snapshot.
pub struct MetadataReader<'a> {
    view: MerchantView<'a>,
    now: Millis,
    /// Bytes of the records whose values have been read.
    read_bytes: Cell<u64>,
}

impl Service {
    /// A reader of a merchant's metadata.
    ///
    /// # Errors
    /// `UNAVAILABLE` when the rows lag behind the log and cannot be brought up to it now, or the last record cannot be
    /// read.
    pub async fn metadata(&self, merchant_id: MerchantId) -> Result<MetadataReader<'_>, ApiError> {
        let reader = self.reader(merchant_id).await?;
        let now = self.merchant_now(merchant_id)?;
        Ok(MetadataReader { view: reader.view(), now, read_bytes: Cell::new(0) })
    }
}

impl MetadataReader<'_> {
    /// A record that has not expired.
    ///
    /// # Errors
    /// `UNAVAILABLE` when a row cannot be read.
    pub fn find(&self, key: MetadataKey) -> Result<Option<FoundMetadata>, ApiError> {
        let record = self.view.get::<Metadata>(key.clone())?;
        record.filter(|record| record.is_live(self.now)).map(|record| self.with_document(key, record)).transpose()
    }

    /// A record with its value.
    ///
    /// # Errors
    /// `UNAVAILABLE` when a row cannot be read; [`ApiError::for_worker_pool`] when the records are large and this
    /// thread reads requests.
    pub fn with_document(&self, key: MetadataKey, record: MetadataRecord) -> Result<FoundMetadata, ApiError> {
        self.read_bytes.set(self.read_bytes.get().saturating_add(record.bytesize));
        request_thread::check_bytes(self.read_bytes.get())?;
        let document = self.view.get::<MetadataDocuments>(record.id)?;
        Ok(FoundMetadata { key, record, document: document.ok_or_else(ApiError::unhandled)? })
    }

    /// Items of a set, at most `limit` and about [`PAGE_BYTES_MAX`].
    ///
    /// # Errors
    /// `UNAVAILABLE` when a row cannot be read.
    pub fn items(
        &self,
        id: MetadataId,
        number: SetNumber,
        range: ItemRange,
        limit: usize,
    ) -> Result<ItemPage, ApiError> {
        let at = |position: u64| (id, number, position);
        let (first, behind) = (at(0), (id, number.next(), 0));
        let (asked, direction) = match range {
            ItemRange::First => (first..behind, ScanDirection::Forward),
            ItemRange::After(position) => (at(position.saturating_add(1))..behind, ScanDirection::Forward),
            ItemRange::Before(position) => (first..at(position), ScanDirection::Backward),
        };
        let mut items = self.walk(asked, direction, limit)?;
        if direction == ScanDirection::Backward {
            items.reverse();
        }
        let begin = items.first().map(|(position, _)| *position).or(range.vacancy());
        let end = items.last().map(|(position, _)| position.saturating_add(1)).or(range.vacancy());
        let is_any = |range: Range<ItemKey>| self.view.has_any::<MetadataPositions>(range);
        Ok(ItemPage {
            earlier: begin.map_or(Ok(false), |begin| is_any(first..at(begin)))?,
            later: end.map_or(Ok(false), |end| is_any(at(end)..behind))?,
            items,
        })
    }

    /// The items of all sets of a record, which must have few items.
    ///
    /// # Errors
    /// `UNAVAILABLE` when a row cannot be read.
    pub fn all_items(&self, record: &MetadataRecord) -> Result<BTreeMap<SetNumber, Vec<String>>, ApiError> {
        let range = (record.id, record.sets_from, 0)..(record.id, record.sets_below, 0);
        let limit = usize::try_from(record.item_count).unwrap_or(usize::MAX);
        let mut items: BTreeMap<SetNumber, Vec<String>> = BTreeMap::new();
        for ((_, set, _), text) in self.view.scan::<MetadataPositions>(range, ScanDirection::Forward, limit)? {
            items.entry(set).or_default().push(text.as_str().to_owned());
        }
        Ok(items)
    }

    /// Items in the order of iteration, up to the limit of items or bytes.
    fn walk(
        &self,
        mut range: Range<ItemKey>,
        direction: ScanDirection,
        limit: usize,
    ) -> Result<Vec<(u64, String)>, Unreadable> {
        let mut items = Vec::new();
        let mut bytes = 0_usize;
        loop {
            let wanted = SCANNED_AT_ONCE.min(limit - items.len());
            let found = self.view.scan::<MetadataPositions>(range.clone(), direction, wanted)?;
            let ended = found.len() < wanted;
            for (key, text) in found {
                bytes += text.as_str().len();
                if bytes > PAGE_BYTES_MAX && !items.is_empty() {
                    return Ok(items);
                }
                let (id, set, position) = key;
                items.push((position, text.as_str().to_owned()));
                match direction {
                    ScanDirection::Forward => range.start = (id, set, position.saturating_add(1)),
                    ScanDirection::Backward => range.end = key,
                }
            }
            if ended || items.len() >= limit {
                return Ok(items);
            }
        }
    }

    /// Live records in the order of their creation, newest first or oldest first, starting after or before one of them:
    /// at most `limit`.
    ///
    /// # Errors
    /// `UNAVAILABLE` when a row cannot be read.
    pub fn records(
        &self,
        direction: ScanDirection,
        from: Option<MetadataId>,
        limit: usize,
    ) -> Result<Vec<(MetadataKey, MetadataRecord)>, ApiError> {
        let mut found = Vec::new();
        let mut from = from;
        while found.len() < limit {
            let next = from.map_or(Bound::Unbounded, Bound::Excluded);
            let range = match direction {
                ScanDirection::Forward => (next, Bound::Unbounded),
                ScanDirection::Backward => (Bound::Unbounded, next),
            };
            let listed = self.view.scan::<MetadataByCreation>(range, direction, SCANNED_AT_ONCE.min(limit.max(16)))?;
            let Some((last, _)) = listed.last() else { break };
            from = Some(*last);
            for (id, key) in listed {
                found.extend(self.live(id, key)?);
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    fn live(&self, id: MetadataId, key: MetadataKey) -> Result<Option<(MetadataKey, MetadataRecord)>, ApiError> {
        let record = self.view.get::<Metadata>(key.clone())?;
        Ok(record.filter(|record| record.id == id && record.is_live(self.now)).map(|record| (key, record)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(range: ItemRange, limit: usize) -> (Vec<u64>, bool, bool) {
        let page = ItemPage::of_array(["a", "b", "c", "d"].into_iter(), range, limit);
        (page.items.iter().map(|(position, _)| *position).collect(), page.earlier, page.later)
    }

    #[test]
    fn an_array_is_paged_by_its_places() {
        assert_eq!(page(ItemRange::First, 3), (vec![0, 1, 2], false, true));
        assert_eq!(page(ItemRange::First, 4), (vec![0, 1, 2, 3], false, false));
        assert_eq!(page(ItemRange::After(1), 1), (vec![2], true, true));
        assert_eq!(page(ItemRange::After(2), 5), (vec![3], true, false));
        assert_eq!(page(ItemRange::After(u64::MAX), 5), (vec![], true, false));
        assert_eq!(page(ItemRange::Before(3), 2), (vec![1, 2], true, true));
        assert_eq!(page(ItemRange::Before(1), 2), (vec![0], false, true));
        assert_eq!(page(ItemRange::Before(99), 9), (vec![0, 1, 2, 3], false, false));
    }
}
