//! Deliveries in memory, for tests of the layers above.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::RwLock;

use super::contract::DeliveriesError;
use super::sorted::{Changes, SortedRows, SortedView};
use super::store::DeliveryStore;
use crate::keys::KeyRange;
use crate::rows::{ScanDirection, Visit};

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

/// Deliveries that end with the process.
pub type MemoryDeliveries = DeliveryStore<MemoryRows>;

impl MemoryDeliveries {
    /// A store without deliveries.
    #[must_use]
    pub fn new() -> MemoryDeliveries {
        DeliveryStore::of(MemoryRows::default())
    }

    /// Refuses writes from now on, as a disk without room.
    pub fn fill(&self) {
        self.rows().is_full.store(true, Ordering::SeqCst);
    }

    /// Writes again from now on.
    pub fn make_room(&self) {
        self.rows().is_full.store(false, Ordering::SeqCst);
    }
}

impl Default for MemoryDeliveries {
    fn default() -> MemoryDeliveries {
        MemoryDeliveries::new()
    }
}

/// The rows of deliveries in memory.
#[derive(Debug, Default)]
pub struct MemoryRows {
    rows: RwLock<Arc<Map>>,
    is_full: AtomicBool,
}

impl SortedRows for MemoryRows {
    fn view(&self) -> Box<dyn SortedView + '_> {
        Box::new(MemoryView(Arc::clone(&self.rows.read())))
    }

    fn write(&self, changes: Changes) -> Result<(), DeliveriesError> {
        self.check_room()?;
        let mut rows = self.rows.write();
        let rows = Arc::make_mut(&mut rows);
        for key in &changes.removed {
            rows.remove(key);
        }
        rows.extend(changes.put);
        Ok(())
    }

    fn check_room(&self) -> Result<(), DeliveriesError> {
        if self.is_full.load(Ordering::SeqCst) {
            return Err(DeliveriesError::NotWritten { reason: "the store in memory is full".to_owned() });
        }
        Ok(())
    }
}

struct MemoryView(Arc<Map>);

impl SortedView for MemoryView {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, DeliveriesError> {
        Ok(self.0.get(key).cloned())
    }

    fn visit(
        &self,
        (lower, upper): &KeyRange,
        direction: ScanDirection,
        visit: &mut Visit<'_>,
    ) -> Result<(), DeliveriesError> {
        if lower < upper {
            let mut rows = self.0.range::<Vec<u8>, _>(lower..upper);
            let next = || match direction {
                ScanDirection::Forward => rows.next(),
                ScanDirection::Backward => rows.next_back(),
            };
            let _ = std::iter::from_fn(next).try_for_each(|(key, value)| visit(key, value) as ControlFlow<()>);
        }
        Ok(())
    }
}
