//! The rows that result from a log: in memory while they are few, and beyond that in a scratch database.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::path::PathBuf;

use till_domain::event::Mutation;
use till_domain::ids::MerchantId;
use till_domain::records::Unreadable;
use till_storage::family::Family;
use till_storage::rows::RowPair;
use till_storage::shapes::fold_mutation;

use super::personal::ReplayPersonal;
use super::scratch::{Scratch, ScratchError};
use super::walk::prefix_range;

/// Approximate size of a row in memory without key and value.
const ROW_OVERHEAD_BYTES: usize = 96;

/// Replayed rows by family (its index, 1 byte) and key, as bytes.
pub(super) struct Replayed {
    /// The rows written last; none where a row was removed.
    recent: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    recent_bytes: usize,
    memory_bytes_max: usize,
    older: Option<Scratch>,
    directory: PathBuf,
}

/// The reason that a mutation could not be replayed.
pub(super) enum ReplayError {
    /// The log itself does not allow it.
    Log(Unreadable),
    /// The scratch directory failed.
    Scratch(ScratchError),
}

impl Replayed {
    /// No rows yet.
    pub(super) fn new(memory_bytes_max: usize, directory: PathBuf) -> Replayed {
        Replayed { recent: BTreeMap::new(), recent_bytes: 0, memory_bytes_max, older: None, directory }
    }

    /// Folds a mutation in.
    pub(super) fn fold(
        &mut self,
        merchant_id: MerchantId,
        mutation: &Mutation,
        personal: &mut ReplayPersonal<'_>,
    ) -> Result<(), ReplayError> {
        let scratch_failed = RefCell::new(None);
        let stored = |family, key: &[u8]| {
            self.get(&slot(family, key)).map_err(|error| {
                let reason = error.to_string();
                scratch_failed.borrow_mut().get_or_insert(error);
                Unreadable { reason }
            })
        };
        let folded = fold_mutation(merchant_id, mutation, personal, &stored);
        if let Some(error) = scratch_failed.into_inner() {
            return Err(ReplayError::Scratch(error));
        }
        for changed in folded.map_err(ReplayError::Log)? {
            self.set(slot(changed.family, &changed.key), changed.value).map_err(ReplayError::Scratch)?;
        }
        Ok(())
    }

    fn set(&mut self, slot: Vec<u8>, value: Option<Vec<u8>>) -> Result<(), ScratchError> {
        self.recent_bytes += slot.len() + value.as_ref().map_or(0, Vec::len) + ROW_OVERHEAD_BYTES;
        if value.is_none() && self.older.is_none() {
            self.recent.remove(&slot);
        } else {
            self.recent.insert(slot, value);
        }
        if self.recent_bytes > self.memory_bytes_max { self.spill() } else { Ok(()) }
    }

    /// Moves what is in memory to the scratch database.
    fn spill(&mut self) -> Result<(), ScratchError> {
        if self.older.is_none() {
            self.older = Some(Scratch::make(&self.directory)?);
        }
        if let Some(older) = &self.older {
            older.write(self.recent.iter())?;
        }
        self.recent.clear();
        self.recent_bytes = 0;
        Ok(())
    }

    fn get(&self, slot: &[u8]) -> Result<Option<Vec<u8>>, ScratchError> {
        match (self.recent.get(slot), &self.older) {
            (Some(value), _) => Ok(value.clone()),
            (None, Some(older)) => older.get(slot),
            (None, None) => Ok(None),
        }
    }

    /// Ends the replay: from now on rows are read in order.
    pub(super) fn finish(&mut self) -> Result<(), ScratchError> {
        if self.older.is_some() { self.spill() } else { Ok(()) }
    }

    /// The rows of a family, in order.
    pub(super) fn cursor(&self, family: Family) -> ReplayedCursor<'_> {
        let (lower, upper) = prefix_range(&[family_byte(family)]);
        let rows: Box<dyn Iterator<Item = ReplayedRow>> = match &self.older {
            Some(older) => Box::new(older.rows(lower, upper)),
            None => Box::new(
                self.recent.range(lower..upper).filter_map(|(slot, value)| Some(Ok((slot.clone(), value.clone()?)))),
            ),
        };
        let rows: Box<dyn Iterator<Item = ReplayedRow>> = Box::new(rows.map(without_family));
        ReplayedCursor(rows.peekable())
    }
}

type ReplayedRow = Result<RowPair, ScratchError>;

/// Removes the byte of the family from a row's key.
fn without_family(row: ReplayedRow) -> ReplayedRow {
    row.map(|(mut slot, value)| (slot.split_off(1), value))
}

/// Reads replayed rows of a family in order.
pub(super) struct ReplayedCursor<'a>(Peekable<Box<dyn Iterator<Item = ReplayedRow> + 'a>>);

impl ReplayedCursor<'_> {
    /// Takes the next row, when its key is before `key`.
    pub(super) fn take_before(&mut self, key: Option<&[u8]>) -> Result<Option<RowPair>, ScratchError> {
        self.take_if(|next| key.is_none_or(|key| next < key))
    }

    /// Takes the next row, when its key is `key`.
    pub(super) fn take_at(&mut self, key: &[u8]) -> Result<Option<RowPair>, ScratchError> {
        self.take_if(|next| next == key)
    }

    fn take_if(&mut self, is_wanted: impl Fn(&[u8]) -> bool) -> Result<Option<RowPair>, ScratchError> {
        self.0.next_if(|row| row.as_ref().map_or(true, |(key, _)| is_wanted(key))).transpose()
    }
}

fn family_byte(family: Family) -> u8 {
    u8::try_from(family.index()).expect("there are nine families")
}

fn slot(family: Family, key: &[u8]) -> Vec<u8> {
    [[family_byte(family)].as_slice(), key].concat()
}
