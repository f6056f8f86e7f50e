//! Keys that were deleted in the vault, and are to leave the files soon.

use parking_lot::Mutex;
use till_domain::event::{Event, Mutation};
use till_domain::ids::MerchantId;
use till_storage::vault::{CardNumberOf, SubjectId, VaultKey};
use tokio::sync::Notify;

/// The keys of the vault that were deleted with customers and are still to be erased from the files.
#[derive(Debug, Default)]
pub(crate) struct Erasures {
    pub(crate) keys: Mutex<Vec<Vec<u8>>>,
    pub(crate) changed: Notify,
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
