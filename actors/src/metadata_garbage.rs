//! Metadata garbage: removes rows of metadata that nobody can see any more, in chunks, as commands.
//!
//! When a metadata record ends or its value is replaced, the items of its sets are invisible at once and their
//! rows stay. Such rows cannot change any more, so what is read of the store is what there is.

use std::sync::Arc;
use std::time::Duration;

use till_domain::command::{Command, SweepMetadata};
use till_domain::event::Answer;
use till_domain::ids::{MerchantId, MetadataId};
use till_domain::metadata::{SetNumber, SweptItem};
use till_domain::records::{MetadataGarbage, MetadataItems, Rows, Unreadable};
use till_storage::shapes::MerchantReader;
use till_storage::vault::Keyring;

use crate::background::{AT_ONCE, Retry, Served, Work};
use crate::registry::Registry;
use crate::store::{Store, first_garbage, items_below, sets_below};

/// Rows that one command removes: bounds the size of its record, and how long it keeps its merchant.
const REMOVED_AT_ONCE: usize = 256;
/// Commands of one merchant before it is another's turn.
const COMMANDS_A_TURN: usize = 32;

/// Removes the metadata garbage of merchants.
pub(crate) struct GarbageCollector {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) keyring: Arc<Keyring>,
}

impl Work for GarbageCollector {
    type Subject = MerchantId;
    type Prepared = ();

    /// A few: nobody waits for it.
    const SERVED_MAX: usize = 4;
    const RETRY: Retry = Retry { pause_first: Duration::from_secs(1), pause_max: Duration::from_secs(1) };

    async fn serve(&self, merchant_id: MerchantId, _: Option<()>) -> Served {
        for _ in 0..COMMANDS_A_TURN {
            let Some(command) = self.next(merchant_id).map_err(|error| error.to_string())? else {
                return Ok(None);
            };
            self.remove(merchant_id, command).await?;
        }
        Ok(Some(AT_ONCE))
    }

    fn warn(merchant_id: MerchantId, reason: &str) {
        tracing::warn!(%merchant_id, reason, "metadata could not be swept and is tried again");
    }
}

impl GarbageCollector {
    /// The next command that removes rows of a merchant.
    fn next(&self, merchant_id: MerchantId) -> Result<Option<SweepMetadata>, Unreadable> {
        let Some(id) = first_garbage(self.store.as_ref(), merchant_id)? else { return Ok(None) };
        let rows = MerchantReader::new(merchant_id, Some(Arc::clone(&self.keyring)), &*self.store);
        // Gone again: somebody else finished it.
        let Some(below) = rows.get::<MetadataGarbage>(id)? else { return Ok(None) };
        let items = self.items(merchant_id, id, below, &rows)?;
        let mut command = SweepMetadata { id, items, sets: Vec::new(), finished_below: None };
        if command.items.len() < REMOVED_AT_ONCE {
            command.sets = sets_below(self.store.as_ref(), merchant_id, id, below, REMOVED_AT_ONCE)?;
            command.finished_below = (command.sets.len() < REMOVED_AT_ONCE).then_some(below);
        }
        Ok(Some(command))
    }

    fn items(
        &self,
        merchant_id: MerchantId,
        id: MetadataId,
        below: SetNumber,
        rows: &MerchantReader<&dyn Store>,
    ) -> Result<Vec<SweptItem>, Unreadable> {
        let found = items_below(self.store.as_ref(), merchant_id, id, below, REMOVED_AT_ONCE)?;
        let item = |(set, hash)| {
            let position = rows.get::<MetadataItems>((id, set, hash))?;
            let gone = || Unreadable { reason: format!("an item of {id} is gone, though nobody else removes it") };
            Ok(SweptItem { set, hash, position: position.ok_or_else(gone)? })
        };
        found.into_iter().map(item).collect()
    }

    async fn remove(&self, merchant_id: MerchantId, command: SweepMetadata) -> Result<(), String> {
        let answer = self.registry.carry_out(merchant_id, Command::SweepMetadata(command)).await?;
        if answer == Answer::Changed(false) {
            // To ask again at once would only spin.
            return Err("nothing of what is left was swept".to_owned());
        }
        Ok(())
    }
}
