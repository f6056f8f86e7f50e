//! A replica of a log elsewhere fetches what it lacks before a log is claimed.

use till_domain::ids::MerchantId;

use crate::family::Family;
use crate::journal::first_commit::RemoteLog;
use crate::journal::layout::{self, WriteSink};
use crate::journal::{EncodedRecord, JournalError};
use crate::keys::MetaKey;

use super::DiskStore;

impl DiskStore {
    /// Fetches what a merchant's log elsewhere has and this store does not. Waits for the other place.
    pub(super) fn fetch_missing(&self, merchant_id: MerchantId) -> Result<(), JournalError> {
        match self.stages.remote_log().filter(|log| log.may_be_ahead(merchant_id)) {
            Some(log) => self.fetch_from(log, merchant_id),
            None => Ok(()),
        }
    }

    fn fetch_from(&self, log: &dyn RemoteLog, merchant_id: MerchantId) -> Result<(), JournalError> {
        self.end_claims(merchant_id)?;
        let mut head = layout::read_head(&*self.engine, merchant_id)?;
        let mut records = log.records_after(merchant_id, head)?;
        // Its rows come first: after a kill in between the next start sees by the end of the log that something is
        // missing.
        log.read_underived_rows(merchant_id, &mut |rows| self.engine.replace_rows(&rows))?;
        while let Some(last) = records.last() {
            head = last.head();
            self.write_fetched(merchant_id, &records)?;
            records = log.records_after(merchant_id, head)?;
        }
        log.note_caught_up(merchant_id);
        Ok(())
    }

    /// Ends earlier claims, and waits for their batches: from then on nothing else writes to the merchant's log.
    fn end_claims(&self, merchant_id: MerchantId) -> Result<(), JournalError> {
        let claim = self.claims.claim(merchant_id, || layout::read_durable(&*self.engine, merchant_id))?;
        self.claims.release(merchant_id, claim.epoch);
        Ok(())
    }

    /// Writes records that follow the merchant's log. Its rows lag behind until they are derived.
    fn write_fetched(&self, merchant_id: MerchantId, records: &[EncodedRecord]) -> Result<(), JournalError> {
        let (Some(first), Some(last)) = (records.first(), records.last()) else { return Ok(()) };
        let head = last.head();
        self.engine.write_apart(|sink| {
            if layout::read_head(&*self.engine, merchant_id)?.sequence.next() != first.sequence {
                return Ok(None); // Another claim has fetched them.
            }
            let commit = self.engine.last_commit().next();
            let mut scratch = Vec::new();
            for record in records {
                layout::write_record(merchant_id, record, commit, &mut scratch, sink);
            }
            layout::write_head(merchant_id, head, sink);
            sink.put(Family::Meta, &MetaKey::LastCommit.encode(), &commit.0.to_be_bytes());
            Ok(Some(commit))
        })?;
        self.caught_up.forget(merchant_id);
        Ok(())
    }
}
