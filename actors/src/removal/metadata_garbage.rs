//! Metadata garbage: removes rows of metadata that nobody can see any more, in chunks, as commands.
//!
//! After a metadata record ends or its value is replaced, the items of its sets become invisible at once, but
//! their rows stay. Such rows cannot change any more, so it is correct to read the store without staged records.

use std::sync::Arc;
use std::time::Duration;

use till_domain::command::{Command, SweepMetadata};
use till_domain::event::Answer;
use till_domain::ids::MerchantId;
use till_domain::metadata::{ItemHash, SetNumber, SweptItem};
use till_domain::records::{MetadataGarbage, MetadataItems, MetadataSets, Unreadable};
use till_domain::time::Millis;
use till_storage::rows::ScanDirection;
use till_storage::shapes::MerchantReader;

use crate::background::{AT_ONCE, BackgroundRows, BackgroundWork, Retry, Served};
use crate::merchant::{Admission, Registry};

/// Limit of the rows that one command removes. It bounds the size of its record and the time that its merchant waits.
const REMOVED_AT_ONCE: usize = 256;
/// Limit of the commands of one merchant before other merchants have their turn.
const COMMANDS_A_TURN: usize = 32;

/// Removes the metadata garbage of merchants.
pub(crate) struct GarbageCollector {
    pub(crate) registry: Arc<Registry>,
}

impl BackgroundWork for GarbageCollector {
    type Subject = MerchantId;
    type Prepared = ();

    /// Few, since no caller waits for this work.
    const SERVED_MAX: usize = 4;
    const RETRY: Retry = Retry { pause_first: Duration::from_secs(1), pause_max: Duration::from_secs(1) };

    async fn serve(&self, merchant_id: MerchantId, _: Millis, _: Option<()>) -> Served {
        for _ in 0..COMMANDS_A_TURN {
            let Some(command) = self.next(merchant_id)? else { return Ok(None) };
            let command = Command::SweepMetadata(command);
            if self.registry.carry_out(merchant_id, command, Admission::Always).await? == Answer::Changed(false) {
                // Another attempt at once would remove nothing either.
                return Err("none of the remaining rows was removed".into());
            }
        }
        Ok(Some(AT_ONCE))
    }

    fn warn(merchant_id: MerchantId, reason: &str) {
        tracing::warn!(%merchant_id, reason, "metadata garbage could not be removed; it is tried again");
    }
}

impl GarbageCollector {
    /// The next command that removes rows of a merchant.
    fn next(&self, merchant_id: MerchantId) -> Result<Option<SweepMetadata>, Unreadable> {
        // No sealed fields.
        let rows = MerchantReader::new(merchant_id, None, BackgroundRows(&*self.registry.shared().store));
        let first = rows.scan::<MetadataGarbage>(.., ScanDirection::Forward, 1)?;
        let Some((id, below)) = first.into_iter().next() else { return Ok(None) };
        let (start, no_hash) = (SetNumber(0), ItemHash([0; 32]));
        let items = (id, start, no_hash)..(id, below, no_hash);
        let items = rows.scan::<MetadataItems>(items, ScanDirection::Forward, REMOVED_AT_ONCE)?;
        let items = items.into_iter().map(|((_, set, hash), position)| SweptItem { set, hash, position }).collect();
        let mut command = SweepMetadata { id, items, sets: Vec::new(), finished_below: None };
        if command.items.len() < REMOVED_AT_ONCE {
            let sets =
                rows.scan_keys::<MetadataSets>((id, start)..(id, below), ScanDirection::Forward, REMOVED_AT_ONCE)?;
            command.sets = sets.into_iter().map(|(_, number)| number).collect();
            command.finished_below = (command.sets.len() < REMOVED_AT_ONCE).then_some(below);
        }
        Ok(Some(command))
    }
}
