//! The container of deliveries: keys in the order of their bytes, with values.

use super::contract::DeliveriesError;
use crate::keys::KeyRange;
use crate::rows::{ScanDirection, Visit};

/// Keys and values that are written together.
pub(super) trait SortedRows: Send + Sync {
    /// Reads of the present moment, unaffected by later writes.
    fn view(&self) -> Box<dyn SortedView + '_>;

    /// Writes a group, all of it or nothing.
    ///
    /// # Errors
    /// [`DeliveriesError::NotWritten`], [`DeliveriesError::Broken`].
    fn write(&self, changes: Changes) -> Result<(), DeliveriesError>;

    /// Checks that a group can be written now.
    ///
    /// # Errors
    /// [`DeliveriesError::NotWritten`].
    fn check_room(&self) -> Result<(), DeliveriesError>;
}

/// Reads of one moment.
pub(super) trait SortedView {
    /// The value under a key.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, DeliveriesError>;

    /// Visits the pairs of a range, until `visit` ends the visit.
    fn visit(&self, range: &KeyRange, direction: ScanDirection, visit: &mut Visit<'_>) -> Result<(), DeliveriesError>;
}

/// Changes that are written together: removals first, so that a key that is both removed and put is present.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) removed: Vec<Vec<u8>>,
    pub(super) put: Vec<(Vec<u8>, Vec<u8>)>,
}
