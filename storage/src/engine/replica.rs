//! A store that repeats a log elsewhere: fetches what it lacks before a log is claimed.

use std::collections::HashSet;
use std::ops::ControlFlow;

use till_domain::ids::MerchantId;

use crate::family::Family;
use crate::journal::first_commit::{RemoteLog, RemoteRows};
use crate::journal::layout::{self, WriteSink};
use crate::journal::{EncodedRecord, Journal, JournalError};
use crate::keys::MetaKey;
use crate::rows::{RowError, RowRange, RowReader};

use super::Engine;

impl Engine {
    /// The note of how much of the log elsewhere this store has, which begins with the identity of that log; empty when
    /// it repeats none.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn note_of_log(&self) -> Result<Vec<u8>, RowError> {
        Ok(self.get(Family::Meta, &MetaKey::RemoteLog.encode())?.unwrap_or_default())
    }

    /// Makes this store one that repeats a log elsewhere, which has everything that it has. Durable when it returns;
    /// nothing may be written to the store afterwards.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn begin_replicating(&self, note: &[u8]) -> Result<(), JournalError> {
        self.write_apart(|_, sink| {
            sink.put(Family::Meta, &MetaKey::RemoteLog.encode(), note);
            Ok(None)
        })
    }

    /// Makes a store that repeated a log elsewhere one of its own, durably.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn end_repeating(&self) -> Result<(), JournalError> {
        self.write_apart(|_, sink| {
            sink.delete(Family::Meta, &MetaKey::RemoteLog.encode());
            Ok(None)
        })?;
        self.write_out().map_err(|reason| JournalError::Stopped { reason })?;
        self.mark_last_commit().map_err(|error| JournalError::Stopped { reason: error.to_string() })
    }

    /// Fetches what a merchant's log elsewhere has and this store does not. Waits for the other place.
    pub(super) fn fetch_missing(&self, merchant_id: MerchantId) -> Result<(), JournalError> {
        match self.remote_log().filter(|log| log.may_be_ahead(merchant_id)) {
            Some(log) => self.fetch_from(log, merchant_id),
            None => Ok(()),
        }
    }

    fn fetch_from(&self, log: &dyn RemoteLog, merchant_id: MerchantId) -> Result<(), JournalError> {
        self.end_claims(merchant_id)?;
        let mut head = layout::read_head(self, merchant_id)?;
        let mut records = log.records_after(merchant_id, head)?;
        // Its rows come first: after a kill in between the next start sees by the end of the log that something is
        // missing.
        log.read_underived_rows(merchant_id, &mut |rows| self.replace_rows(&rows))?;
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
        let claim = self.claims().claim(merchant_id, || layout::read_durable(self, merchant_id))?;
        self.claims().release(merchant_id, claim.epoch);
        Ok(())
    }

    /// Writes records that follow the merchant's log. Its rows lag behind until they are derived.
    fn write_fetched(&self, merchant_id: MerchantId, records: &[EncodedRecord]) -> Result<(), JournalError> {
        let (Some(first), Some(last)) = (records.first(), records.last()) else { return Ok(()) };
        let head = last.head();
        self.write_apart(|engine, sink| {
            if layout::read_head(engine, merchant_id)?.sequence.next() != first.sequence {
                return Ok(None); // Another claim has fetched them.
            }
            let commit = engine.last_commit().next();
            let mut scratch = Vec::new();
            for record in records {
                layout::write_record(merchant_id, record, commit, &mut scratch, sink);
            }
            layout::write_head(merchant_id, head, sink);
            sink.put(Family::Meta, &MetaKey::LastCommit.encode(), &commit.0.to_be_bytes());
            Ok(Some(commit))
        })?;
        self.forget_caught_up(merchant_id);
        Ok(())
    }

    /// Makes the rows of a range those of another place.
    ///
    /// # Errors
    /// Fails when the store cannot be read or written.
    pub fn replace_rows(&self, there: &RemoteRows) -> Result<(), JournalError> {
        let RemoteRows { family, range: (lower, upper), rows } = there;
        let kept: HashSet<&[u8]> = rows.iter().map(|(key, _)| key.as_slice()).collect();
        self.write_apart(|engine, sink| {
            engine.visit(RowRange::forward(*family, lower, upper), &mut |key, _| {
                if !kept.contains(key) {
                    sink.delete(*family, key);
                }
                ControlFlow::Continue(())
            })?;
            rows.iter().for_each(|(key, value)| sink.put(*family, key, value));
            Ok(None)
        })
    }
}
