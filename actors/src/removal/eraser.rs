//! Erasure from the disk: a key that was deleted in the vault is still in table files and in RocksDB's log until those
//! are rewritten. After the removal of a customer they are rewritten soon, instead of at some later compaction.

use std::sync::Arc;
use std::time::Duration;
use till_storage::family::Family;

use crate::outbox::Erasures;
use crate::store::Store;

/// The delay before a round, so that it covers further removals: each round flushes the store.
const ROUND_DELAY: Duration = Duration::from_secs(5);

/// Makes RocksDB rewrite the files. If a crash prevents it, RocksDB does so by itself within a day.
pub(crate) struct Eraser {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) erasures: Arc<Erasures>,
}

impl Eraser {
    /// Erases until the service stops.
    pub(crate) async fn run(self) {
        loop {
            self.erasures.changed.notified().await;
            tokio::time::sleep(ROUND_DELAY).await;
            let keys = std::mem::take(&mut *self.erasures.keys.lock());
            let store = Arc::clone(&self.store);
            let purge = move || store.purge(Family::Vault, &keys).map_err(|error| error.to_string());
            let purged = tokio::task::spawn_blocking(purge).await;
            match purged {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tracing::warn!(%error, "removed customers are erased from the files later, within a day");
                }
                Err(error) => tracing::error!(%error, "the erasure of removed customers from the files ended early"),
            }
        }
    }
}
