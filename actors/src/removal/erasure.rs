//! Erasure from the disk: a key that was deleted in the vault is still in table files and in RocksDB's log until those
//! are rewritten. After the removal of a customer they are rewritten soon, instead of at some later compaction.

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use till_domain::event::{Event, Mutation};
use till_domain::ids::MerchantId;
use till_storage::family::Family;
use till_storage::vault::{CardNumberOf, SubjectId, VaultKey};
use tokio::sync::Notify;

use crate::store::Store;

/// The delay before a round, so that it covers further removals: each round flushes the store.
const ROUND_DELAY: Duration = Duration::from_secs(5);

/// The keys of the vault that were deleted with customers and are still to be erased from the files.
#[derive(Debug, Default)]
pub(crate) struct Erasures {
    keys: Mutex<Vec<Vec<u8>>>,
    changed: Notify,
}

impl Erasures {
    /// Adds deletions that are durable.
    pub(crate) fn add(&self, keys: Vec<Vec<u8>>) {
        if !keys.is_empty() {
            self.keys.lock().extend(keys);
            self.changed.notify_one();
        }
    }
}

/// The keys of the vault that are deleted with the customers whom a record removes, and with their tokens and open
/// checkouts. Customer fields of checkouts that have ended are erased by time, and their keys at some later compaction.
pub(crate) fn erased_by(merchant: MerchantId, mutation: &Mutation) -> Vec<Vec<u8>> {
    let mut keys = Vec::new();
    let removes = mutation.events.iter().any(|event| matches!(event, Event::CustomerRemoved { .. }));
    for event in &mutation.events {
        if let Event::CheckoutCustomerErased { checkout_id } = event
            && removes
        {
            keys.push(VaultKey::SubjectKey { merchant, subject: SubjectId::checkout(*checkout_id) });
        }
        if let Event::CustomerRemoved { customer_id, card_ids, at: _ } = event {
            keys.push(VaultKey::SubjectKey { merchant, subject: SubjectId::customer(*customer_id) });
            let numbers = card_ids.iter().map(|card_id| CardNumberOf::Card(*card_id));
            keys.extend(numbers.map(|of| VaultKey::CardNumber { merchant, of }));
        }
        if let Event::TokensErased { token_ids } | Event::CustomerTokensErased { token_ids, .. } = event {
            for token_id in token_ids {
                keys.push(VaultKey::SubjectKey { merchant, subject: SubjectId::token(*token_id) });
                keys.push(VaultKey::CardNumber { merchant, of: CardNumberOf::Token(*token_id) });
            }
        }
    }
    keys.into_iter().map(|key| key.encode().to_vec()).collect()
}

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
