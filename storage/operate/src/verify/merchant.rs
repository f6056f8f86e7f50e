//! Checks one merchant: its log, its snapshots, its rows.

use till_domain::apply::apply_state;
use till_domain::event::Mutation;
use till_domain::ids::MerchantId;
use till_domain::records::MerchantState;
use till_domain::time::Millis;
use till_storage::family::Family;
use till_storage::journal::{Head, Sequence, StoredSnapshot, layout, snapshot};
use till_storage::keys::SnapshotKey;
use till_storage::shapes::{ShapeError, decode_state, encode_state};

use super::comparison::Comparison;
use super::directory::Directory;
use super::fault::{BookSums, FaultLocation, Wrong};
use super::inspection::Inspection;
use super::job::Job;
use super::log::LogCheck;
use super::personal::ReplayPersonal;
use super::replayed::{ReplayError, Replayed};
use super::scratch::ScratchError;
use super::walk::{RowWalk, WalkStep};

/// The result of checking a merchant.
pub(super) struct MerchantCheck {
    /// Position of its last record.
    pub(super) records: u64,
    /// True when its log could be replayed.
    pub(super) replayed: bool,
    /// Its captures, when its rows are complete and derived from the whole log.
    pub(super) captures: Option<BookSums>,
}

/// Checks a merchant with everything below it.
pub(super) fn check(
    merchant_id: MerchantId,
    head: Option<Head>,
    directory: &mut Directory,
    job: &mut Job<'_>,
) -> Result<MerchantCheck, ScratchError> {
    let applied = applied(merchant_id, job);
    let rows = Replayed::new(job.options.memory_bytes_max, job.options.scratch.clone());
    let mut replay = MerchantReplay {
        merchant_id,
        log: LogCheck::new(merchant_id, head.map(|head| head.sequence)),
        personal: ReplayPersonal::new(merchant_id, job.keyring, job.rows),
        state: MerchantState::default(),
        rows,
        snapshots: snapshots(merchant_id, job),
        applied,
        applied_hash: None,
        rows_fold: applied.is_some(),
    };
    replay.run(job)?;
    replay.check_ends(head, job);
    replay.compare(head, directory, job)
}

fn applied(merchant_id: MerchantId, job: &mut Job<'_>) -> Option<Head> {
    match layout::read_applied(job.rows, merchant_id) {
        Ok(applied) => Some(applied),
        Err(error) => {
            job.fault(merchant_id, FaultLocation::Applied, Wrong::Unreadable { reason: error.to_string() });
            None
        }
    }
}

/// The valid snapshots; the others are reported as faults.
fn snapshots(merchant_id: MerchantId, job: &mut Job<'_>) -> Vec<StoredSnapshot> {
    let mut valid = Vec::new();
    for step in RowWalk::new(job.rows, Family::Snapshots, SnapshotKey::range(merchant_id)) {
        match step {
            WalkStep::Row(key, value) => match SnapshotKey::decode(&key) {
                Some(key) => match snapshot::decode(key, &value) {
                    Some(snapshot) => valid.push(snapshot),
                    None => {
                        job.fault(merchant_id, FaultLocation::Snapshot { sequence: key.sequence }, Wrong::WrongChecksum)
                    }
                },
                None => job.row_fault(Some(merchant_id), Family::Snapshots, &key, Wrong::Extra),
            },
            WalkStep::Gap(gap) => job.gap(Some(merchant_id), Family::Snapshots, gap, None),
        }
    }
    valid
}

struct MerchantReplay<'a> {
    merchant_id: MerchantId,
    log: LogCheck,
    personal: ReplayPersonal<'a>,
    state: MerchantState,
    rows: Replayed,
    snapshots: Vec<StoredSnapshot>,
    /// The position up to which the stored rows are derived; none when it is not known.
    applied: Option<Head>,
    /// The hash that the log has at that position.
    applied_hash: Option<[u8; 32]>,
    /// True while rows are still to be folded.
    rows_fold: bool,
}

impl<'a> MerchantReplay<'a> {
    fn run(&mut self, job: &mut Job<'a>) -> Result<(), ScratchError> {
        for step in self.log.walk(job) {
            let mutation = self.log.check_step(step, &self.personal, job);
            if let Some(mutation) = mutation.filter(|_| self.log.is_unbroken()) {
                self.fold(&mutation, job)?;
            }
            self.pass_applied();
        }
        self.rows.finish()
    }

    fn fold(&mut self, mutation: &Mutation, job: &mut Job<'_>) -> Result<(), ScratchError> {
        apply_state(mutation, &mut self.state);
        self.check_snapshot(job);
        let wanted = self.rows_fold && self.applied.is_some_and(|applied| self.log.last() <= applied.sequence);
        if !wanted || !job.compares_rows {
            return Ok(());
        }
        match self.rows.fold(self.merchant_id, mutation, &mut self.personal) {
            Ok(()) => Ok(()),
            Err(ReplayError::Scratch(error)) => Err(error),
            Err(ReplayError::Log(unreadable)) => {
                let location = FaultLocation::Records { first: self.log.last(), last: self.log.last() };
                job.fault(self.merchant_id, location, Wrong::NotReplayable { reason: unreadable.reason });
                self.rows_fold = false;
                Ok(())
            }
        }
    }

    fn pass_applied(&mut self) {
        let Some(head) = self.log.head() else { return };
        if self.applied.is_some_and(|applied| applied.sequence == head.sequence) {
            self.applied_hash = Some(head.hash);
        }
    }

    fn check_snapshot(&mut self, job: &mut Job<'_>) {
        let Some(head) = self.log.head() else { return };
        let Some(at) = self.snapshots.iter().position(|snapshot| snapshot.at.sequence == head.sequence) else { return };
        let snapshot = self.snapshots.swap_remove(at);
        if let Some(wrong) = snapshot_fault(&snapshot, head, &self.state) {
            job.fault(self.merchant_id, FaultLocation::Snapshot { sequence: head.sequence }, wrong);
        }
    }

    /// Checks the rows that say where the log and the rows end, and reports snapshots ahead of the log.
    fn check_ends(&mut self, head: Option<Head>, job: &mut Job<'_>) {
        let last = self.log.last();
        let end = head.map_or(last, |head| head.sequence.max(last));
        match head {
            None if last > Sequence(0) => job.fault(self.merchant_id, FaultLocation::Head, Wrong::Missing),
            None => {}
            Some(head) => self.check_head(head, job),
        }
        for snapshot in self.snapshots.iter().filter(|snapshot| snapshot.at.sequence > end) {
            job.fault(self.merchant_id, FaultLocation::Snapshot { sequence: snapshot.at.sequence }, Wrong::Ahead);
        }
        match self.applied {
            Some(applied) if applied.sequence > end => {
                job.fault(self.merchant_id, FaultLocation::Applied, Wrong::Ahead)
            }
            Some(applied) if self.applied_hash.is_some_and(|hash| hash != applied.hash) => {
                job.fault(self.merchant_id, FaultLocation::Applied, Wrong::OtherRecord);
            }
            Some(_) | None => {}
        }
    }

    fn check_head(&mut self, head: Head, job: &mut Job<'_>) {
        let last = self.log.last();
        if last < head.sequence {
            let location = FaultLocation::Records { first: last.next(), last: head.sequence };
            job.fault(self.merchant_id, location, Wrong::Missing);
            self.log.give_replay_up();
        } else if last > head.sequence {
            job.fault(self.merchant_id, FaultLocation::Head, Wrong::LogGoesOn { to: last });
        } else if self.log.head().is_some_and(|found| found != head) {
            job.fault(self.merchant_id, FaultLocation::Head, Wrong::OtherRecord);
        }
    }

    fn compare(
        &self,
        head: Option<Head>,
        directory: &mut Directory,
        job: &mut Job<'_>,
    ) -> Result<MerchantCheck, ScratchError> {
        let replayed = self.rows_fold && self.log.is_unbroken();
        if !job.compares_rows {
            return Ok(MerchantCheck { records: self.log.last().0, replayed, captures: None });
        }
        let (merchant_id, personal) = (self.merchant_id, &self.personal);
        Comparison { merchant_id, replayed: replayed.then_some(&self.rows), personal }.run(job)?;
        if replayed {
            directory.compare(merchant_id, &self.rows, job)?;
        } else {
            directory.pass_over(merchant_id);
        }
        let now = if replayed { self.state.last_at } else { Millis(u64::MAX) };
        let captures = Inspection { merchant_id, personal, now }.run(job).filter(|_| self.applied == head);
        Ok(MerchantCheck { records: self.log.last().0, replayed, captures })
    }
}

fn snapshot_fault(snapshot: &StoredSnapshot, head: Head, state: &MerchantState) -> Option<Wrong> {
    if snapshot.at != head {
        return Some(Wrong::OtherRecord);
    }
    match decode_state(&snapshot.bytes) {
        // A snapshot of another format counts as none: the log serves as well.
        Err(ShapeError::UnknownFormat { .. }) => None,
        Err(error) => Some(Wrong::Undecodable { reason: error.to_string() }),
        Ok(_) => (encode_state(state).ok().as_ref() != Some(&snapshot.bytes)).then_some(Wrong::Different),
    }
}
