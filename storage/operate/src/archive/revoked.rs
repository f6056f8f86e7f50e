//! API keys that were revoked after the moment that is restored, and are valid again in the restored store.

use std::collections::BTreeSet;

use till_domain::event::Event;
use till_domain::ids::{KeyId, MerchantId};
use till_domain::records::{ApiKeys, Rows};
use till_storage::journal::{LogRecord, LogRecordError, StoredRecord};
use till_storage::shapes::MerchantReader;

use crate::overlay::Overlay;

use super::ArchiveError;
use super::commit::ArchivedCommit;

/// Keys that a later commit revokes.
#[derive(Default)]
pub(super) struct RevokedLater(BTreeSet<(MerchantId, KeyId)>);

impl RevokedLater {
    /// Notes the keys that a commit revokes. Nothing of persons is read.
    pub(super) fn note(&mut self, commit: &ArchivedCommit, overlay: &Overlay) -> Result<(), String> {
        let sealed = MerchantReader::new(commit.merchant_id, None, overlay);
        for bytes in &commit.records {
            let stored = StoredRecord { commit: commit.commit, bytes: bytes.clone() };
            let read = LogRecord::read::<LogRecordError>(&stored, &sealed, |_| Ok(()));
            let events = read.map_err(|error| error.to_string())?.mutation.events;
            self.0.extend(events.iter().filter_map(|event| match event {
                Event::KeyRevoked { key_id, at: _ } => Some((commit.merchant_id, *key_id)),
                _ => None,
            }));
        }
        Ok(())
    }

    /// Those that the restored store has.
    pub(super) fn known_to(self, overlay: &Overlay) -> Result<Vec<(MerchantId, KeyId)>, ArchiveError> {
        let mut known = Vec::new();
        for (merchant_id, key_id) in self.0 {
            let rows = MerchantReader::new(merchant_id, None, overlay);
            if rows.get::<ApiKeys>(key_id).map_err(ArchiveError::store)?.is_some() {
                known.push((merchant_id, key_id));
            }
        }
        Ok(known)
    }
}
