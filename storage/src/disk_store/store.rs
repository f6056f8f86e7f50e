//! The order of a commit: who may write, who judges it first, the write, and who is told of it.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::MutexGuard;
use till_domain::ids::MerchantId;

use crate::engine::{CloseError, DiskReserve, Engine};
use crate::journal::claims::{Claims, WriteOutcome, WritePlan};
use crate::journal::layout;
use crate::journal::{Append, AppendVerdict, Claim, Journal, JournalError, StoredRecord, StoredSnapshot};
use crate::positions::{CommitNumber, Epoch, Head, Sequence};
use crate::rows::RowStore;

use super::caught_up::CaughtUp;
use super::deployment::Stages;
use super::{Archiving, Deployment};

/// The upper half of an epoch counts starts, the lower half the claims of one process.
const EPOCHS_PER_START: u64 = 1 << 32;

/// The journal and the rows of one data directory.
pub struct DiskStore {
    pub(super) engine: Arc<Engine>,
    pub(super) stages: Stages,
    pub(super) claims: Claims,
    pub(super) caught_up: CaughtUp,
}

impl DiskStore {
    /// The store of an open data directory. No other store may write to the directory as long as this one does.
    ///
    /// # Errors
    /// The directory was opened for another deployment, or cannot be written to.
    pub fn new(engine: Arc<Engine>, deployment: Deployment) -> Result<DiskStore, JournalError> {
        let stages = Stages::of(deployment);
        if engine.is_replica() != stages.remote_log().is_some() {
            let reason = "the log is not where the directory was opened for".to_owned();
            return Err(JournalError::Stopped { reason });
        }
        if let Some(log) = stages.remote_log() {
            engine.begin_replicating(&log.position())?;
        }
        let claims = Claims::new(Epoch(engine.starts().saturating_mul(EPOCHS_PER_START)));
        Ok(DiskStore { engine, stages, claims, caught_up: CaughtUp::default() })
    }

    /// This store of an embedded log, archived in this way from now on.
    #[must_use]
    pub fn archived(self, archiving: Archiving) -> DiskStore {
        DiskStore { stages: Stages::of(Deployment::Embedded(archiving)), ..self }
    }

    /// The local bytes.
    #[must_use]
    pub const fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Closes the store cleanly, as [`Engine::close`] does.
    ///
    /// # Errors
    /// Fails when a step failed. All acknowledged commits are durable nevertheless.
    pub fn close(&self) -> Result<(), CloseError> {
        self.engine.close_with_note(|| self.last_note())
    }

    /// The note of the log elsewhere to close with. None when the store has been made one of its own meanwhile, and
    /// while a group is written that may be there already and not here.
    fn last_note(&self) -> Option<Vec<u8>> {
        let log = self.stages.remote_log()?;
        let is_replica = self.engine.note_of_log().is_ok_and(|note| !note.is_empty());
        (is_replica && !self.claims.is_writing()).then(|| log.position())
    }

    /// Writes those batches of a group that may use the reserve of the disk, while the others are refused.
    fn append_below_reserve(
        &self,
        mut disk: MutexGuard<'_, DiskReserve>,
        group: Vec<Append>,
        reason: &str,
    ) -> Vec<AppendVerdict> {
        let refused = || AppendVerdict::Unavailable(reason.to_owned());
        let are_admitted: Vec<bool> = group.iter().map(|append| append.may_use_reserve).collect();
        let admitted: Vec<Append> = group.into_iter().filter(|append| append.may_use_reserve).collect();
        let verdicts = match disk.admit_below_reserve(bytes_of(&admitted), Instant::now()) {
            Ok(()) => self.append_admitted(disk, &admitted),
            Err(reason) => vec![AppendVerdict::Unavailable(reason); admitted.len()],
        };
        let mut verdicts = verdicts.into_iter();
        let verdict = |is_admitted| if is_admitted { verdicts.next() } else { None };
        are_admitted.into_iter().map(verdict).map(|verdict| verdict.unwrap_or_else(refused)).collect()
    }

    /// Writes a group for which there is space. The lock of local writes is given up while a log elsewhere is waited
    /// for, so that records of other merchants can be fetched meanwhile. These take commit numbers, so the plan is
    /// numbered anew.
    fn append_admitted(&self, mut disk: MutexGuard<'_, DiskReserve>, group: &[Append]) -> Vec<AppendVerdict> {
        let mut plan = self.claims.plan(group, self.engine.last_commit());
        let mut commit_first =
            || self.claims.commit_first(&mut plan, self.stages.judges(), group, self.engine.last_commit());
        if self.stages.remote_log().is_some() {
            MutexGuard::unlocked(&mut disk, commit_first);
            plan.number_after(self.engine.last_commit());
        } else {
            commit_first();
        }
        // Every batch may have been refused.
        let Some(last) = plan.last_commit else { return plan.verdicts_when_written() };
        if let Some(reason) = self.engine.reason_of_stop() {
            // It is in the log elsewhere, from where the next start fetches it.
            self.claims.settle(&plan.after, WriteOutcome::NotWritten);
            return plan.failed(&AppendVerdict::Unknown(reason.clone()));
        }
        match self.write(group, &plan, last) {
            Ok(()) => {
                self.stages.confirm(last);
                self.claims.settle(&plan.after, WriteOutcome::Written);
                plan.verdicts_when_written()
            }
            Err(reason) => {
                let verdict = self.engine.stop(&reason);
                self.claims.settle(&plan.after, WriteOutcome::NotWritten);
                plan.failed(&verdict)
            }
        }
    }

    /// Writes a plan whose last commit is `last`.
    fn write(&self, group: &[Append], plan: &WritePlan, last: CommitNumber) -> Result<(), String> {
        let mut batch = self.engine.batch(group.iter().map(Append::byte_count).sum());
        layout::write_plan(group, plan, &mut batch);
        self.stages.write_along(group, plan, self.engine.last_commit(), &mut batch);
        self.engine.write_commits(batch, last)
    }

    /// Claims a merchant's log once what the log elsewhere has of it is here.
    fn claim_fetched(&self, merchant_id: MerchantId) -> Result<Claim, JournalError> {
        self.fetch_missing(merchant_id)?;
        self.claims.claim(merchant_id, || layout::read_durable(&*self.engine, merchant_id))
    }
}

fn bytes_of(group: &[Append]) -> u64 {
    u64::try_from(group.iter().map(Append::byte_count).sum::<usize>()).unwrap_or(u64::MAX)
}

impl Journal for DiskStore {
    fn claim(&self, merchant_id: MerchantId) -> Result<Claim, JournalError> {
        let mut claim = self.claim_fetched(merchant_id)?;
        while self.stages.remote_log().is_some_and(|log| log.may_be_ahead(merchant_id)) {
            // The claim has waited for a batch that was written there and not here.
            self.release(merchant_id, claim.epoch);
            claim = self.claim_fetched(merchant_id)?;
        }
        let applied = self.applied(merchant_id).inspect_err(|_| self.release(merchant_id, claim.epoch))?;
        self.stages.lagging.note(merchant_id, applied, claim.head);
        match self.engine.reason_of_stop() {
            Some(reason) => Err(JournalError::Stopped { reason: reason.clone() }),
            None => Ok(claim),
        }
    }

    fn release(&self, merchant_id: MerchantId, epoch: Epoch) {
        self.claims.release(merchant_id, epoch);
    }

    fn append(&self, group: Vec<Append>) -> Vec<AppendVerdict> {
        let mut disk = self.engine.writer();
        if let Some(verdict) = self.engine.end_of_writes() {
            return vec![verdict; group.len()];
        }
        match disk.admit(bytes_of(&group), Instant::now()) {
            Ok(()) => self.append_admitted(disk, &group),
            Err(reason) => {
                self.engine.note_lack_of_space();
                self.append_below_reserve(disk, group, &reason)
            }
        }
    }

    fn refusal(&self) -> Option<String> {
        self.stages.remote_log().and_then(|log| log.refusal())
    }

    fn is_short_of_space(&self) -> bool {
        self.engine.is_short_of_space()
    }

    fn head(&self, merchant_id: MerchantId) -> Result<Head, JournalError> {
        match self.claims.head(merchant_id) {
            Some(head) => Ok(head),
            None => Ok(layout::read_head(&*self.engine, merchant_id)?),
        }
    }

    fn read(&self, merchant_id: MerchantId, from: Sequence, max: usize) -> Result<Vec<StoredRecord>, JournalError> {
        layout::read_records(&*self.engine, merchant_id, from, max)
    }

    fn newest_snapshots(&self, merchant_id: MerchantId, max: usize) -> Result<Vec<StoredSnapshot>, JournalError> {
        layout::read_snapshots(&*self.engine, merchant_id, max)
    }

    fn merchants(&self, after: Option<MerchantId>, max: usize) -> Result<Vec<(MerchantId, Head)>, JournalError> {
        layout::read_merchants(&*self.engine, after, max)
    }

    fn last_commit(&self) -> CommitNumber {
        self.engine.last_commit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::EngineOptions;
    use crate::rows::{RowError, RowWrites};

    #[test]
    fn a_write_of_rows_with_unknown_outcome_stops_later_appends() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let engine = Arc::new(Engine::open(&EngineOptions::new(directory.path())).expect("it is empty"));
        let store = DiskStore::new(engine, Deployment::Embedded(Archiving::Off)).expect("it is its own");
        let unwritten = RowError::Unwritten { reason: store.engine().fail("an unknown outcome".to_owned()) };
        let shop = MerchantId::from_bytes([1; 16]);
        let rows = store.append_rows(shop, &RowWrites::default(), Head::EMPTY);
        assert_eq!(rows, Err(unwritten), "the outcome of the first write is unknown");
        let claim = store.claim(shop).expect("nobody else has it");
        let append = Append::nothing(shop, claim.epoch, claim.head);
        assert_eq!(store.append(vec![append.clone()]), [AppendVerdict::Ambiguous("an unknown outcome".to_owned())]);
        assert!(matches!(store.append(vec![append])[..], [AppendVerdict::Unavailable(_)]));
    }
}
