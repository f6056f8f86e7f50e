//! Reads of background work, which let other work of their runtime go on while they wait for the disk.

use till_storage::family::Family;
use till_storage::rows::{ReadAtHand, RowError, RowRange, RowReader, Visit};
use tokio::task::block_in_place;

use crate::store::Store;

/// The store as background work reads it, on a thread of a runtime that has several: when a read waits, another thread
/// takes over what else the runtime has to do.
#[derive(Clone, Copy)]
pub(crate) struct BackgroundRows<'a>(pub(crate) &'a dyn Store);

impl RowReader for BackgroundRows<'_> {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
        match self.0.get_at_hand(family, key) {
            ReadAtHand::Value(value) => Ok(value),
            ReadAtHand::WouldWait => block_in_place(|| self.0.get(family, key)),
        }
    }

    fn visit(&self, range: RowRange<'_>, visit: &mut Visit<'_>) -> Result<(), RowError> {
        block_in_place(|| self.0.visit(range, visit))
    }
}
