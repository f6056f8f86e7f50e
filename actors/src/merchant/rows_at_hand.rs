//! Reads for one loaded merchant: those on its actor's thread do not wait for the disk, those on a loader thread may.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use till_storage::family::Family;
use till_storage::rows::{ReadAtHand, RowError, RowRange, RowReader, Visit};

use crate::store::Store;

/// The store as a loaded merchant reads it. One thread at a time uses it.
pub(crate) struct RowsAtHand {
    store: Arc<dyn Store>,
    may_wait: AtomicBool,
    missed: AtomicBool,
}

impl RowsAtHand {
    /// Reads that may wait, until [`RowsAtHand::may_wait`] says otherwise.
    pub(crate) fn new(store: Arc<dyn Store>) -> Arc<RowsAtHand> {
        Arc::new(RowsAtHand { store, may_wait: AtomicBool::new(true), missed: AtomicBool::new(false) })
    }

    /// Says if reads may wait from now on. Where they may not, a read that would fails, and is remembered.
    pub(crate) fn may_wait(&self, may_wait: bool) {
        self.may_wait.store(may_wait, Ordering::Relaxed);
    }

    /// True when a read failed because it would have waited, since the last call of [`RowsAtHand::take_missed`].
    pub(crate) fn has_missed(&self) -> bool {
        self.missed.load(Ordering::Relaxed)
    }

    /// Returns what [`RowsAtHand::has_missed`] returns, and forgets those reads.
    pub(crate) fn take_missed(&self) -> bool {
        self.has_missed() && self.missed.swap(false, Ordering::Relaxed)
    }
}

impl RowReader for RowsAtHand {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
        if self.may_wait.load(Ordering::Relaxed) {
            return self.store.get(family, key);
        }
        match self.store.get_at_hand(family, key) {
            ReadAtHand::Value(value) => Ok(value),
            ReadAtHand::WouldWait => {
                self.missed.store(true, Ordering::Relaxed);
                Err(RowError::Unreadable { family, reason: "the row is not in memory".to_owned() })
            }
        }
    }

    /// May wait: decisions read by key only.
    fn visit(&self, range: RowRange<'_>, visit: &mut Visit<'_>) -> Result<(), RowError> {
        self.store.visit(range, visit)
    }
}
