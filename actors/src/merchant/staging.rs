//! A loaded merchant for decisions: its staged records, its claim, and the batches that result from decisions.

use std::sync::Arc;
use till_domain::apply::apply_state;
use till_domain::command::Request;
use till_domain::decide::{Context, Outcome, decide};
use till_domain::event::{Mutation, VaultWrite};
use till_domain::ids::MerchantId;
use till_domain::payment::Lifetimes;
use till_domain::refusal::DecisionError;
use till_domain::time::Millis;
use till_storage::family::Family;
use till_storage::journal::{
    Append, BatchId, EncodedRecord, Epoch, Head, RecordHeader, RecordType, SnapshotSchedule, SnapshotWrite, record,
};
use till_storage::rows::{RowWrite, RowWrites};
use till_storage::shapes::{self, MerchantPersonal};
use till_storage::vault::Keyring;

use super::load::{Load, LoadError};
use super::reply::Denied;
use super::rows_at_hand::RowsAtHand;
use super::staged::StagedRecords;
use super::submission::Secret;
use super::vault_writes;
use crate::changes::Changes;
use crate::clock::{OsEntropy, ZoneCalendar, random_16};
use crate::outbox::Pending;
use crate::store::Store;

/// A merchant's staged records, at the head of its log.
pub(crate) struct Staging {
    merchant_id: MerchantId,
    store: Arc<dyn Store>,
    keyring: Arc<Keyring>,
    pub(super) rows: Arc<RowsAtHand>,
    pub(crate) records: StagedRecords<MerchantPersonal<Arc<RowsAtHand>>>,
    epoch: Epoch,
    head: Head,
    schedule: SnapshotSchedule,
}

/// The load of a merchant that is to be staged.
pub(crate) type StagingLoad = Load<MerchantPersonal<Arc<RowsAtHand>>>;

/// A batch that can be submitted, and its changes.
pub(crate) struct PreparedBatch {
    pub(crate) append: Append,
    pub(crate) changes: Changes,
}

impl Staging {
    /// Claims a merchant's log and begins to load its state.
    pub(crate) fn begin(
        merchant_id: MerchantId,
        store: &Arc<dyn Store>,
        keyring: &Arc<Keyring>,
    ) -> Result<StagingLoad, LoadError> {
        let rows = RowsAtHand::new(Arc::clone(store));
        let personal = MerchantPersonal::new(merchant_id, Arc::clone(keyring), Arc::clone(&rows));
        Load::begin(merchant_id, store, &rows, personal)
    }

    /// The merchant of a load that has ended; also returns the outbox entries that were never sent.
    pub(crate) fn loaded(load: StagingLoad, keyring: &Arc<Keyring>) -> (Staging, Pending) {
        let Load { merchant_id, store, rows, claim, records, pending, schedule, .. } = load;
        let (keyring, epoch, head) = (Arc::clone(keyring), claim.epoch, claim.head);
        (Staging { merchant_id, store, keyring, rows, records, epoch, head, schedule }, pending)
    }

    /// The head after everything that is staged.
    pub(crate) const fn head(&self) -> Head {
        self.head
    }

    /// Decides on a request when the wall clock shows `wall`.
    pub(crate) fn decide(
        &self,
        request: &Request,
        wall: Millis,
        lifetimes: Lifetimes,
        entropy: &mut OsEntropy,
    ) -> Result<Outcome, DecisionError> {
        let mut context =
            Context::new(wall, &self.records.state, entropy).with_lifetimes(lifetimes).with_calendar(&ZoneCalendar);
        decide(&self.records, request, &mut context)
    }

    /// Makes the batch of a decision: its record, its rows, its rows of the vault, and now and then a snapshot.
    ///
    /// # Errors
    /// An error when it cannot be written, also when a read for it would have waited: then nothing is staged.
    pub(crate) fn prepare(
        &mut self,
        mutation: &Mutation,
        vault: &[VaultWrite],
        secret: Option<&Secret>,
        entropy: &mut OsEntropy,
    ) -> Result<PreparedBatch, Denied> {
        let prepared = self.batch(mutation, vault, secret, BatchId(random_16(entropy)));
        if prepared.is_err() {
            self.records.personal.forget_pending();
        }
        prepared
    }

    /// Stages the changes of a batch that is submitted.
    pub(crate) fn stage(&mut self, mutation: &Mutation, changes: Changes, append: &Append) {
        self.records.stage(mutation, changes, append.new_head.sequence);
        self.head = append.new_head;
        self.schedule.count_batch(append);
    }

    /// Releases the log: queued batches are not written any more.
    pub(crate) fn release(&self) {
        self.store.release(self.merchant_id, self.epoch);
    }

    fn batch(
        &mut self,
        mutation: &Mutation,
        vault: &[VaultWrite],
        secret: Option<&Secret>,
        batch_id: BatchId,
    ) -> Result<PreparedBatch, Denied> {
        let unreadable = |error: till_domain::records::Unreadable| Denied::not_done(error.to_string());
        let changes = self.records.changes(mutation).map_err(unreadable)?;
        let derived = self.records.encode(&changes).map_err(unreadable)?;
        let record = self.record(batch_id, mutation)?;
        let mut sealed = RowWrites::default();
        vault_writes::push(self.merchant_id, vault, secret, &self.keyring, self.rows.as_ref(), &mut sealed)
            .map_err(Denied::not_done)?;
        if self.rows.has_missed() {
            return Err(Denied::not_done("a row is not in memory"));
        }
        self.forget_persons(vault);
        self.push_pending_subject_keys(&mut sealed);
        let new_head = record.head();
        let is_due = self.schedule.is_due(new_head.sequence, record.bytes.len());
        let snapshot = if is_due { self.snapshot(new_head, mutation) } else { None };
        let append = Append {
            merchant_id: self.merchant_id,
            epoch: self.epoch,
            expected_head: self.head,
            new_head,
            batch_id,
            records: vec![record],
            vault: sealed,
            derived,
            snapshot,
            may_use_reserve: false,
        };
        Ok(PreparedBatch { append, changes })
    }

    /// Forgets the persons whose keys are deleted. Nothing after this fails, so they are gone with the batch.
    fn forget_persons(&mut self, vault: &[VaultWrite]) {
        for write in vault {
            if let VaultWrite::ForgetCustomerKey(customer_id) = write {
                self.records.forget_person(*customer_id);
            }
        }
        for subject in vault_writes::forgotten_subjects(vault) {
            self.records.personal.forget_subject(subject);
        }
    }

    fn record(&mut self, batch_id: BatchId, mutation: &Mutation) -> Result<EncodedRecord, Denied> {
        let body = shapes::encode_mutation(mutation, &mut self.records.personal)
            .map_err(|error| Denied::not_done(error.to_string()))?;
        let header = RecordHeader {
            record_type: RecordType::Mutation,
            merchant_id: self.merchant_id,
            sequence: self.head.sequence.next(),
            batch_id,
            epoch: self.epoch,
            at_ms: self.wall_time(mutation).0,
            prev_hash: self.head.hash,
        };
        record::encode(&header, &body).map_err(|error| Denied::not_done(error.to_string()))
    }

    /// The time of a record by the wall clock, even for a merchant with a test clock: stores are restored to moments
    /// that apply to all merchants. Like the merchant's time it never goes back.
    fn wall_time(&self, mutation: &Mutation) -> Millis {
        let test_clock = mutation.test_clock().or(self.records.state.test_clock);
        Millis(mutation.at.0.saturating_sub(test_clock.map_or(0, |test_clock| test_clock.offset_ms)))
    }

    fn push_pending_subject_keys(&mut self, rows: &mut RowWrites) {
        for (key, value) in self.records.personal.take_pending() {
            rows.push(RowWrite { family: Family::Vault, key: &key, value: Some(&value) });
        }
    }

    /// The snapshot after `mutation`.
    fn snapshot(&self, at: Head, mutation: &Mutation) -> Option<SnapshotWrite> {
        let mut state = self.records.state.clone();
        apply_state(mutation, &mut state);
        // A snapshot only shortens a load: the log is complete without it.
        let encoded = shapes::encode_state(&state);
        encoded
            .inspect_err(|error| tracing::error!(%error, "a snapshot was not taken"))
            .ok()
            .map(|bytes| SnapshotWrite { at, bytes })
    }
}
