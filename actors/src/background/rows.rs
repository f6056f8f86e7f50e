//! Reads of background work, which let other work of their runtime go on while they wait for the disk.

use till_storage::family::Family;
use till_storage::rows::{ReadAtHand, RowError, RowRange, RowReader, Visit};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

use crate::store::Store;

/// The store as background work reads it, on a thread of a runtime that has several: when a read waits, another thread
/// takes over what else the runtime has to do. A call that reads the same way on its own thread waits there.
#[derive(Clone, Copy)]
pub(crate) struct BackgroundRows<'a>(pub(crate) &'a dyn Store);

impl RowReader for BackgroundRows<'_> {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
        match self.0.get_at_hand(family, key) {
            ReadAtHand::Value(value) => Ok(value),
            ReadAtHand::WouldWait => waiting(|| self.0.get(family, key)),
        }
    }

    fn visit(&self, range: RowRange<'_>, visit: &mut Visit<'_>) -> Result<(), RowError> {
        waiting(|| self.0.visit(range, visit))
    }
}

fn waiting<T>(read: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => block_in_place(read),
        Ok(_) | Err(_) => read(),
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use till_storage::memory::MemoryStore;

    use super::*;

    #[tokio::test]
    async fn a_read_on_a_runtime_of_one_thread_does_not_panic() {
        let mut visit = |_: &[u8], _: &[u8]| ControlFlow::Continue(());
        let range = RowRange::forward(Family::Journal, b"", b"x");
        BackgroundRows(&MemoryStore::new()).visit(range, &mut visit).expect("it can be read");
    }
}
