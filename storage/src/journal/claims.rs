//! The holders of merchants' logs, and the choice of the batches of a group that may be written: the rules of an append
//! that every journal shares, independent of the medium that stores the bytes.
//!
//! A merchant is tracked from its first claim until its claim is released. Between [`Claims::plan`] and
//! [`Claims::settle`] its batches are being written; a claim waits for them, so that the head it returns is
//! the durable one, and fences the batches that the earlier holder still has queued.

use parking_lot::{Condvar, Mutex, MutexGuard};
use till_domain::ids::MerchantId;

use crate::journal::first_commit::{FirstCommit, FirstVerdict};

use super::by_merchant::ByMerchant;
use super::snapshot::SNAPSHOTS_KEPT;
use super::{Append, AppendVerdict, Claim};
use crate::positions::{CommitNumber, Epoch, Head, Sequence};

/// The stored state of a merchant when it is first claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Durable {
    /// The end of its log.
    pub(crate) head: Head,
    /// The positions of its snapshots, ascending.
    pub(crate) snapshots: Vec<Sequence>,
}

struct ClaimSlot {
    epoch: Epoch,
    durable: Durable,
    being_written: bool,
}

struct Inner {
    slots: ByMerchant<ClaimSlot>,
    last_epoch: Epoch,
    /// Grows whenever a value that was read from disk earlier may be outdated.
    outdated: u64,
}

/// The claims of one process.
pub(crate) struct Claims {
    inner: Mutex<Inner>,
    settled: Condvar,
}

/// One batch of a plan.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PlannedBatch {
    /// To be written under this number. The snapshots at these positions are removed.
    Write { commit: CommitNumber, dropped_snapshots: Vec<Sequence>, keeps_snapshot: bool },
    /// Not to be written.
    Drop(AppendVerdict),
}

/// The batches of a group that are to be written.
#[derive(Debug, Default)]
pub(crate) struct WritePlan {
    /// The decision about each batch, in order.
    pub(crate) steps: Vec<PlannedBatch>,
    /// The durable state, after the plan is written, of each merchant that has a batch in it.
    pub(crate) after: ByMerchant<Durable>,
    /// The last assigned number, unless nothing is to be written.
    pub(crate) last_commit: Option<CommitNumber>,
}

impl WritePlan {
    /// The verdicts when what the plan still has was written.
    pub(crate) fn verdicts_when_written(self) -> Vec<AppendVerdict> {
        self.verdicts(AppendVerdict::Committed)
    }

    /// The batches that are to be written, with their numbers.
    pub(crate) fn writes<'g>(&'g self, group: &'g [Append]) -> impl Iterator<Item = (CommitNumber, &'g Append)> {
        group.iter().zip(&self.steps).filter_map(|(append, step)| match step {
            PlannedBatch::Write { commit, .. } => Some((*commit, append)),
            PlannedBatch::Drop(_) => None,
        })
    }

    /// Takes out of the plan what is not to be written after all. There is one verdict on each batch that is, in their
    /// order. What stays is numbered anew after `stored`. Returns the states of the merchants that have no batch in the
    /// plan any more: they are to be settled as not written.
    pub(crate) fn keep_written(
        &mut self,
        group: &[Append],
        verdicts: Vec<FirstVerdict>,
        stored: CommitNumber,
    ) -> ByMerchant<Durable> {
        let (mut verdicts, mut refused) = (verdicts.into_iter(), ByMerchant::default());
        self.last_commit = None;
        for (append, step) in group.iter().zip(&mut self.steps) {
            let PlannedBatch::Write { commit, .. } = step else { continue };
            let missing = || FirstVerdict::Unknown("there is no verdict on the batch".to_owned());
            match verdicts.next().unwrap_or_else(missing).refusal() {
                None => {
                    *commit = self.last_commit.unwrap_or(stored).next();
                    self.last_commit = Some(*commit);
                }
                Some(refusal) => {
                    *step = PlannedBatch::Drop(refusal);
                    refused.extend(self.after.remove_entry(&append.merchant_id));
                }
            }
        }
        refused
    }

    /// Numbers the batches that are to be written anew, after `stored`.
    pub(crate) fn number_after(&mut self, stored: CommitNumber) {
        let mut last = None;
        for step in &mut self.steps {
            if let PlannedBatch::Write { commit, .. } = step {
                *commit = last.unwrap_or(stored).next();
                last = Some(*commit);
            }
        }
        self.last_commit = last;
    }

    /// The verdicts when the write of the plan failed.
    pub(crate) fn failed(self, verdict: &AppendVerdict) -> Vec<AppendVerdict> {
        self.verdicts(|_| verdict.clone())
    }

    fn verdicts(self, written: impl Fn(CommitNumber) -> AppendVerdict) -> Vec<AppendVerdict> {
        let verdict = |step| match step {
            PlannedBatch::Write { commit, .. } => written(commit),
            PlannedBatch::Drop(verdict) => verdict,
        };
        self.steps.into_iter().map(verdict).collect()
    }
}

impl Claims {
    /// No claims yet; epochs will be greater than `last_epoch`.
    pub(crate) fn new(last_epoch: Epoch) -> Claims {
        let inner = Inner { slots: ByMerchant::default(), last_epoch, outdated: 0 };
        Claims { inner: Mutex::new(inner), settled: Condvar::new() }
    }

    /// Claims a merchant's log; `load` reads its stored state when the merchant is not tracked yet.
    pub(crate) fn claim<E>(&self, merchant_id: MerchantId, load: impl Fn() -> Result<Durable, E>) -> Result<Claim, E> {
        let mut inner = self.lock();
        while !inner.slots.contains_key(&merchant_id) {
            let outdated = inner.outdated;
            drop(inner);
            let durable = load()?;
            inner = self.lock();
            if inner.outdated == outdated {
                let slot = ClaimSlot { epoch: inner.last_epoch, durable, being_written: false };
                inner.slots.entry(merchant_id).or_insert(slot);
            }
        }
        Ok(self.take_over(inner, merchant_id))
    }

    fn take_over(&self, mut inner: MutexGuard<'_, Inner>, merchant_id: MerchantId) -> Claim {
        let epoch = Epoch(inner.last_epoch.0.saturating_add(1));
        inner.last_epoch = epoch;
        if let Some(slot) = inner.slots.get_mut(&merchant_id) {
            slot.epoch = epoch;
        }
        let being_written = |inner: &mut Inner| inner.slots.get(&merchant_id).is_some_and(|slot| slot.being_written);
        self.settled.wait_while(&mut inner, being_written);
        let head = inner.slots.get(&merchant_id).map_or(Head::EMPTY, |slot| slot.durable.head);
        Claim { epoch, head }
    }

    /// Ends the claim of this epoch. A merchant whose batches are being written stays tracked, closed to all appends.
    pub(crate) fn release(&self, merchant_id: MerchantId, epoch: Epoch) {
        let mut inner = self.lock();
        let Some(slot) = inner.slots.get_mut(&merchant_id).filter(|slot| slot.epoch == epoch) else { return };
        slot.epoch = Epoch::default();
        if !slot.being_written {
            inner.slots.remove(&merchant_id);
            inner.outdated = inner.outdated.wrapping_add(1);
        }
    }

    /// The durable head of a claimed merchant.
    pub(crate) fn head(&self, merchant_id: MerchantId) -> Option<Head> {
        self.lock().slots.get(&merchant_id).map(|slot| slot.durable.head)
    }

    /// The batches of the group that are to be written, numbered from `last_commit` on. Must be followed by
    /// [`Claims::settle`].
    pub(crate) fn plan(&self, group: &[Append], last_commit: CommitNumber) -> WritePlan {
        let mut inner = self.lock();
        let mut plan = WritePlan { steps: Vec::with_capacity(group.len()), ..WritePlan::default() };
        let mut next = last_commit.next();
        for append in group {
            let step = inner.step(append, &mut plan.after, next);
            if matches!(step, PlannedBatch::Write { .. }) {
                plan.last_commit = Some(next);
                next = next.next();
            }
            plan.steps.push(step);
        }
        for merchant_id in plan.after.keys() {
            if let Some(slot) = inner.slots.get_mut(merchant_id) {
                slot.being_written = true;
            }
        }
        plan
    }

    /// Commits the batches of a plan to the places that come before the store, one place after the other, and removes
    /// from the plan each batch that a place refuses.
    pub(crate) fn commit_first<'p>(
        &self,
        plan: &mut WritePlan,
        places: impl Iterator<Item = &'p dyn FirstCommit>,
        group: &[Append],
        stored: CommitNumber,
    ) {
        for place in places {
            if plan.last_commit.is_none() {
                return;
            }
            let batches: Vec<(CommitNumber, &Append)> = plan.writes(group).collect();
            let mut verdicts = place.commit(&batches, stored);
            let is_whole = verdicts.len() == batches.len();
            if !is_whole {
                verdicts.clear(); // Which verdict is of which batch is unknown.
            }
            if !is_whole || verdicts.iter().any(|verdict| *verdict != FirstVerdict::Written) {
                let refused = plan.keep_written(group, verdicts, stored);
                self.settle(&refused, WriteOutcome::NotWritten);
            }
        }
    }

    /// True between [`Claims::plan`] and [`Claims::settle`].
    pub(crate) fn is_writing(&self) -> bool {
        self.lock().slots.values().any(|slot| slot.being_written)
    }

    /// Ends the step that [`Claims::plan`] began, with the durable states of the plan and the outcome of its write.
    pub(crate) fn settle(&self, planned: &ByMerchant<Durable>, outcome: WriteOutcome) {
        let mut inner = self.lock();
        for (merchant_id, after) in planned {
            let Some(slot) = inner.slots.get_mut(merchant_id) else { continue };
            slot.being_written = false;
            if outcome == WriteOutcome::Written {
                slot.durable.clone_from(after);
            }
            if slot.epoch == Epoch::default() {
                inner.slots.remove(merchant_id);
                inner.outdated = inner.outdated.wrapping_add(1);
            }
        }
        drop(inner);
        self.settled.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }
}

/// The outcome of the write of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteOutcome {
    /// It is on disk.
    Written,
    /// It is not on disk, or that is unknown and nothing continues.
    NotWritten,
}

impl Inner {
    fn step(&self, append: &Append, after: &mut ByMerchant<Durable>, commit: CommitNumber) -> PlannedBatch {
        let slot = self.slots.get(&append.merchant_id).filter(|slot| slot.epoch == append.epoch);
        let Some(slot) = slot else { return PlannedBatch::Drop(AppendVerdict::Fenced) };
        let now = after.get(&append.merchant_id).unwrap_or(&slot.durable);
        if let Some(refusal) = refusal(append, now) {
            return PlannedBatch::Drop(refusal);
        }
        let now = after.entry(append.merchant_id).or_insert_with(|| slot.durable.clone());
        now.head = append.new_head;
        let (keeps_snapshot, dropped_snapshots) = keep_newest(&mut now.snapshots, append);
        PlannedBatch::Write { commit, dropped_snapshots, keeps_snapshot }
    }
}

fn refusal(append: &Append, now: &Durable) -> Option<AppendVerdict> {
    if append.expected_head != now.head {
        return Some(AppendVerdict::Stale { durable: now.head });
    }
    append.defect().map(|defect| AppendVerdict::Unavailable(format!("the batch cannot be written: {defect}")))
}

/// Adds the append's snapshot. Returns if the snapshot is kept, and the positions of those to be removed.
fn keep_newest(snapshots: &mut Vec<Sequence>, append: &Append) -> (bool, Vec<Sequence>) {
    let Some(snapshot) = &append.snapshot else { return (false, Vec::new()) };
    let at = snapshot.at.sequence;
    let mut all: Vec<Sequence> = snapshots.iter().copied().filter(|&known| known != at).collect();
    all.push(at);
    all.sort_unstable();
    let mut dropped: Vec<Sequence> = all.drain(..all.len().saturating_sub(SNAPSHOTS_KEPT)).collect();
    let keeps = !dropped.contains(&at);
    dropped.retain(|&sequence| sequence != at);
    *snapshots = all;
    (keeps, dropped)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::journal::SnapshotWrite;

    const MERCHANT: MerchantId = MerchantId::from_bytes([1; 16]);

    fn nothing_on_disk() -> Result<Durable, Infallible> {
        Ok(Durable { head: Head::EMPTY, snapshots: Vec::new() })
    }

    fn claim(claims: &Claims) -> Claim {
        claims.claim(MERCHANT, nothing_on_disk).expect("infallible")
    }

    fn append(epoch: Epoch, snapshot_at: Option<u64>) -> Append {
        let at = |sequence| Head { sequence: Sequence(sequence), hash: [0; 32] };
        let snapshot = snapshot_at.map(|sequence| SnapshotWrite { at: at(sequence), bytes: Vec::new() });
        Append { snapshot, ..Append::nothing(MERCHANT, epoch, Head::EMPTY) }
    }

    #[test]
    fn a_claim_waits_for_the_batch_in_progress_and_fences_the_next() {
        let claims = Arc::new(Claims::new(Epoch(0)));
        let first = claim(&claims);
        let plan = claims.plan(&[append(first.epoch, None)], CommitNumber(0));
        let waiting = std::thread::spawn({
            let claims = Arc::clone(&claims);
            move || claim(&claims)
        });
        while claims.lock().last_epoch == first.epoch {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(20));
        assert!(!waiting.is_finished(), "the batch is still being written");
        let late = claims.plan(&[append(first.epoch, None)], CommitNumber(1));
        assert_eq!(late.steps, [PlannedBatch::Drop(AppendVerdict::Fenced)]);
        let head = Head { sequence: Sequence(1), hash: [7; 32] };
        let after = Durable { head, snapshots: Vec::new() };
        claims.settle(
            &plan.after.into_keys().map(|merchant_id| (merchant_id, after.clone())).collect(),
            WriteOutcome::Written,
        );
        let second = waiting.join().expect("the claim returns");
        assert_eq!(second.head, head);
        assert!(second.epoch > first.epoch);
    }

    #[test]
    fn a_released_claim_is_fenced_and_removed_also_during_a_write() {
        let claims = Claims::new(Epoch(0));
        let first = claim(&claims);
        claims.release(MERCHANT, Epoch(77));
        assert_eq!(claims.head(MERCHANT), Some(Head::EMPTY), "another epoch's release does nothing");
        let plan = claims.plan(&[append(first.epoch, None)], CommitNumber(0));
        claims.release(MERCHANT, first.epoch);
        assert!(claims.head(MERCHANT).is_some(), "it is being written");
        claims.settle(&plan.after, WriteOutcome::Written);
        assert_eq!(claims.head(MERCHANT), None);
        let late = claims.plan(&[append(first.epoch, None)], CommitNumber(0));
        assert_eq!(late.steps, [PlannedBatch::Drop(AppendVerdict::Fenced)]);
        assert!(claim(&claims).epoch > first.epoch, "epochs never come back");
    }

    #[test]
    fn a_state_read_before_a_release_is_read_again() {
        let claims = Claims::new(Epoch(0));
        let loads = std::cell::Cell::new(0);
        let load = || {
            loads.set(loads.get() + 1);
            if loads.get() == 1 {
                let other = claim(&claims);
                claims.release(MERCHANT, other.epoch);
            }
            nothing_on_disk()
        };
        claims.claim(MERCHANT, load).expect("infallible");
        assert_eq!(loads.get(), 2);
    }

    #[test]
    fn a_snapshot_older_than_the_two_newest_is_not_written() {
        let at = |numbers: &[u64]| numbers.iter().copied().map(Sequence).collect::<Vec<_>>();
        for (known, new, keeps, dropped, kept) in [
            (at(&[]), 5, true, at(&[]), at(&[5])),
            (at(&[5]), 9, true, at(&[]), at(&[5, 9])),
            (at(&[5, 9]), 12, true, at(&[5]), at(&[9, 12])),
            (at(&[5, 9]), 9, true, at(&[]), at(&[5, 9])),
            (at(&[5, 9]), 7, true, at(&[5]), at(&[7, 9])),
            (at(&[5, 9]), 3, false, at(&[]), at(&[5, 9])),
        ] {
            let mut snapshots = known.clone();
            let outcome = keep_newest(&mut snapshots, &append(Epoch(1), Some(new)));
            assert_eq!((outcome, snapshots), ((keeps, dropped), kept), "{known:?} and {new}");
        }
    }
}
