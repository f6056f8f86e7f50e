//! Staged records: what a merchant's state and rows will be once everything submitted is durable.

use lru::LruCache;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::Arc;
use till_domain::apply::{apply_rows, apply_state};
use till_domain::event::Mutation;
use till_domain::ids::MerchantId;
use till_domain::records::{AnyKey, AnyRow, MerchantState, Records, Rows, RowsMut, Table, Unreadable};
use till_storage::journal::{RowWrite, Sequence};
use till_storage::shapes::{self, Personal};

use crate::store::Store;

/// Durable rows that an actor keeps at hand.
const CACHED_ROWS_MAX: NonZeroUsize = NonZeroUsize::new(1_024).expect("more than zero");

/// The largest document that is kept at hand: the size of a usual row.
const KEPT_DOCUMENT_BYTES: usize = 1_024;

/// A row that is staged by the record `sequence`; no row when it removes one.
#[derive(Debug)]
struct StagedRow {
    sequence: Sequence,
    row: Option<Box<AnyRow>>,
}

/// A merchant's records as the next decision sees them: staged rows first, then rows kept at hand, then
/// the store.
pub(crate) struct StagedRecords<P> {
    merchant_id: MerchantId,
    store: Arc<dyn Store>,
    pub(crate) personal: P,
    pub(crate) state: MerchantState,
    staged: HashMap<AnyKey, StagedRow>,
    /// Which keys each staged record changed, oldest first.
    by_record: VecDeque<(Sequence, Vec<AnyKey>)>,
    cached: RefCell<LruCache<AnyKey, Option<AnyRow>>>,
}

/// The rows that one mutation changes, not yet staged. In boxes: a mutation may change hundreds of thousands of
/// small rows, and the space of one is that of the largest kind.
pub(crate) struct Changes {
    rows: BTreeMap<AnyKey, Option<Box<AnyRow>>>,
}

impl Changes {
    /// The keys that get a row.
    pub(crate) fn written(&self) -> impl Iterator<Item = &AnyKey> {
        self.rows.iter().filter(|(_, row)| row.is_some()).map(|(key, _)| key)
    }
}

impl<P: Personal> StagedRecords<P> {
    pub(crate) fn new(merchant_id: MerchantId, store: Arc<dyn Store>, personal: P, state: MerchantState) -> Self {
        StagedRecords {
            merchant_id,
            store,
            personal,
            state,
            staged: HashMap::new(),
            by_record: VecDeque::new(),
            cached: RefCell::new(LruCache::new(CACHED_ROWS_MAX)),
        }
    }

    /// Keeps so many durable rows at hand from now on.
    pub(crate) fn keep_at_hand(&mut self, rows: NonZeroUsize) {
        self.cached.get_mut().resize(rows);
    }

    /// What `mutation` changes, without staging it.
    ///
    /// # Errors
    /// [`Unreadable`] when a row that it changes cannot be read: then nothing may be submitted.
    pub(crate) fn changes(&self, mutation: &Mutation) -> Result<Changes, Unreadable> {
        let mut changing = Changing { records: self, rows: BTreeMap::new() };
        apply_rows(mutation, &mut changing)?;
        Ok(Changes { rows: changing.rows })
    }

    /// The changes as they go to disk.
    ///
    /// # Errors
    /// [`Unreadable`] when the key of the person whose data a row holds cannot be read.
    pub(crate) fn encode(&mut self, changes: &Changes) -> Result<Vec<RowWrite>, Unreadable> {
        let mut writes = Vec::with_capacity(changes.rows.len());
        for (key, row) in &changes.rows {
            let (family, key_bytes) = shapes::row_key(self.merchant_id, key, &self.personal);
            let value = match row {
                Some(row) => Some(shapes::encode_row(row, key, &mut self.personal)?),
                None => None,
            };
            writes.push(RowWrite { family, key: key_bytes, value });
        }
        Ok(writes)
    }

    /// Stages a mutation that was submitted as the record `sequence`.
    pub(crate) fn stage(&mut self, mutation: &Mutation, changes: Changes, sequence: Sequence) {
        apply_state(mutation, &mut self.state);
        let mut keys = Vec::with_capacity(changes.rows.len());
        for (key, row) in changes.rows.into_iter().filter(|(key, _)| is_ever_read(key)) {
            keys.push(key.clone());
            self.staged.insert(key, StagedRow { sequence, row });
        }
        self.by_record.push_back((sequence, keys));
    }

    /// Forgets rows that were written past the staging, as replay does.
    pub(crate) fn forget_cached(&mut self, changes: &Changes) {
        for key in changes.rows.keys() {
            self.cached.get_mut().pop(key);
        }
    }

    /// Moves what is durable now from the staged rows to those kept at hand.
    pub(crate) fn prune(&mut self, durable: Sequence) {
        while self.by_record.front().is_some_and(|(sequence, _)| *sequence <= durable) {
            let Some((sequence, keys)) = self.by_record.pop_front() else { return };
            for key in keys {
                // A later record may have changed the row again: then it stays staged.
                if self.staged.get(&key).is_some_and(|staged| staged.sequence == sequence)
                    && let Some(staged) = self.staged.remove(&key)
                {
                    keep(self.cached.get_mut(), key, staged.row.map(|row| *row));
                }
            }
        }
    }

    fn read(&self, key: &AnyKey) -> Result<Option<AnyRow>, Unreadable> {
        if let Some(staged) = self.staged.get(key) {
            return Ok(staged.row.as_deref().cloned());
        }
        if let Some(row) = self.cached.borrow_mut().get(key) {
            return Ok(row.clone());
        }
        let (family, bytes) = shapes::row_key(self.merchant_id, key, &self.personal);
        let stored = self.store.get(family, &bytes).map_err(|error| Unreadable { reason: error.to_string() })?;
        let row = stored.map(|bytes| shapes::decode_row(key, &bytes, &self.personal)).transpose()?;
        keep(&mut self.cached.borrow_mut(), key.clone(), row.clone());
        Ok(row)
    }
}

/// Whether a decision or a fold ever reads rows of the kind. Those of items by position are for lists only.
fn is_ever_read(key: &AnyKey) -> bool {
    !matches!(key, AnyKey::MetadataPositions(_))
}

/// Keeps a row at hand, or forgets what was kept of it: what no decision reads, or what would take more room
/// than hundreds of usual rows, is left to the store.
fn keep(cached: &mut LruCache<AnyKey, Option<AnyRow>>, key: AnyKey, row: Option<AnyRow>) {
    let is_swept = row.is_none() && matches!(key, AnyKey::MetadataItems(_) | AnyKey::MetadataSets(_));
    let is_large = match &row {
        Some(AnyRow::MetadataDocuments(document)) => document.as_str().len() > KEPT_DOCUMENT_BYTES,
        Some(_) | None => false,
    };
    if is_swept || is_large || !is_ever_read(&key) {
        cached.pop(&key);
    } else {
        cached.put(key, row);
    }
}

impl<P: Personal> Rows for StagedRecords<P> {
    fn get<T: Table>(&self, key: T::Key) -> Result<Option<T::Row>, Unreadable> {
        Ok(self.read(&T::key(key))?.and_then(T::unwrap))
    }
}

impl<P: Personal> Records for StagedRecords<P> {
    fn state(&self) -> &MerchantState {
        &self.state
    }
}

/// Rows in the course of one mutation.
struct Changing<'a, P> {
    records: &'a StagedRecords<P>,
    rows: BTreeMap<AnyKey, Option<Box<AnyRow>>>,
}

impl<P: Personal> Rows for Changing<'_, P> {
    fn get<T: Table>(&self, key: T::Key) -> Result<Option<T::Row>, Unreadable> {
        let key = T::key(key);
        let row = match self.rows.get(&key) {
            Some(changed) => changed.as_deref().cloned(),
            None => self.records.read(&key)?,
        };
        Ok(row.and_then(T::unwrap))
    }
}

impl<P: Personal> RowsMut for Changing<'_, P> {
    fn put<T: Table>(&mut self, key: T::Key, row: T::Row) {
        self.rows.insert(T::key(key), Some(Box::new(T::wrap(row))));
    }

    fn remove<T: Table>(&mut self, key: T::Key) {
        self.rows.insert(T::key(key), None);
    }
}
