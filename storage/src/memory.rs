//! A store in memory with planned failures, for tests of the layers above.
//!
//! It keeps the same keys and values as the one on disk and passes the same conformance suite.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex, MutexGuard, RwLock};
use till_domain::ids::MerchantId;

use crate::family::Family;
use crate::journal::claims::{Claims, WriteOutcome};
use crate::journal::first_commit::FirstCommit;
use crate::journal::layout::{self, WriteSink};
use crate::journal::{Append, AppendVerdict, Claim, Journal, JournalError, LaggingRows, StoredRecord, StoredSnapshot};
use crate::positions::{CommitNumber, Epoch, Head, Sequence};
use crate::rows::{
    ReadAtHand, RowError, RowGate, RowPair, RowRange, RowReader, RowStore, RowWrites, ScanDirection, Visit,
};

/// The way in which an append is to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppendFault {
    /// Nothing is written, and the next append works again.
    Unavailable,
    /// The group is written, the caller gets no verdict about it, and no append works any more.
    AmbiguousWritten,
    /// The group is lost, the caller gets no verdict about it, and no append works any more.
    AmbiguousLost,
}

#[derive(Debug, Clone, Default)]
struct FamilyRows {
    families: [BTreeMap<Vec<u8>, Vec<u8>>; Family::ALL.len()],
    last_commit: CommitNumber,
}

#[derive(Debug, Default)]
struct Faults {
    /// The planned faults of the next appends, the next one first; none lets an append work.
    appends: VecDeque<Option<AppendFault>>,
    unreadable: Vec<(Family, Vec<u8>)>,
    stopped: bool,
    held: bool,
    /// Families and prefixes of keys whose reads wait.
    held_reads: Vec<(Family, Vec<u8>)>,
    /// True when no read is answered without waiting.
    cold: bool,
}

impl Faults {
    fn holds_read(&self, family: Family, key: &[u8]) -> bool {
        self.held_reads.iter().any(|(held, prefix)| *held == family && key.starts_with(prefix))
    }
}

/// Planned failures and delays, and a notice when they change.
#[derive(Debug, Default)]
struct FaultPlan {
    faults: Mutex<Faults>,
    changed: Condvar,
}

/// A journal and row store in memory.
pub struct MemoryStore {
    claims: Claims,
    lagging: LaggingRows,
    rows: RwLock<Arc<FamilyRows>>,
    plan: Arc<FaultPlan>,
    first_commit: Mutex<Option<Arc<dyn FirstCommit>>>,
    /// Serializes the writes.
    writer: Mutex<()>,
}

impl Default for MemoryStore {
    fn default() -> MemoryStore {
        MemoryStore::new()
    }
}

impl MemoryStore {
    /// An empty store that does not fail.
    #[must_use]
    pub fn new() -> MemoryStore {
        MemoryStore::holding(Arc::new(FamilyRows::default()), Epoch(0))
    }

    fn holding(rows: Arc<FamilyRows>, last_epoch: Epoch) -> MemoryStore {
        MemoryStore {
            claims: Claims::new(last_epoch),
            lagging: LaggingRows::default(),
            rows: RwLock::new(rows),
            plan: Arc::default(),
            first_commit: Mutex::default(),
            writer: Mutex::new(()),
        }
    }

    /// The store that the next process would open: the durable data, no claims and no planned failures.
    #[must_use]
    pub fn reopened(&self) -> MemoryStore {
        MemoryStore::holding(self.rows(), Epoch(1 << 32))
    }

    /// The append after `skipped` further ones fails. An append is one call, whatever the group's size.
    pub fn fail_append(&self, skipped: usize, fault: AppendFault) {
        let mut faults = self.faults();
        let length = faults.appends.len().max(skipped.saturating_add(1));
        faults.appends.resize(length, None);
        faults.appends[skipped] = Some(fault);
    }

    /// From now on reads that touch a key with this prefix fail.
    pub fn fail_reads(&self, family: Family, prefix: &[u8]) {
        self.faults().unreadable.push((family, prefix.to_vec()));
    }

    /// Reads work again.
    pub fn heal_reads(&self) {
        self.faults().unreadable.clear();
    }

    /// Sets the place to which commits are written, from now on, before this store writes them.
    pub fn commit_first_in(&self, place: Arc<dyn FirstCommit>) {
        *self.first_commit.lock() = Some(place);
    }

    /// From now on appends wait, as for a slow disk, until [`MemoryStore::resume_appends`].
    pub fn hold_appends(&self) {
        self.faults().held = true;
    }

    /// Held appends continue.
    pub fn resume_appends(&self) {
        self.faults().held = false;
        self.plan.changed.notify_all();
    }

    /// From now on reads of keys with this prefix wait, as for a slow disk, until [`MemoryStore::resume_reads`].
    pub fn hold_reads(&self, family: Family, prefix: &[u8]) {
        self.faults().held_reads.push((family, prefix.to_vec()));
    }

    /// Held reads continue.
    pub fn resume_reads(&self) {
        self.faults().held_reads.clear();
        self.plan.changed.notify_all();
    }

    /// From now on nothing is at hand, as in a store that is much larger than its cache.
    pub fn stay_cold(&self) {
        self.faults().cold = true;
    }

    /// Every row of a family, in order: for comparing two stores.
    #[must_use]
    pub fn dump(&self, family: Family) -> Vec<RowPair> {
        let pair = |(key, value): (&Vec<u8>, &Vec<u8>)| (key.clone(), value.clone());
        self.rows().families[family.index()].iter().map(pair).collect()
    }

    /// Overwrites a row without the journal, as damage would.
    pub fn damage(&self, family: Family, key: &[u8], value: &[u8]) {
        self.write(|rows| rows.put(family, key, value));
    }

    /// Removes a row without the journal.
    pub fn lose(&self, family: Family, key: &[u8]) {
        self.write(|rows| rows.delete(family, key));
    }

    fn rows(&self) -> Arc<FamilyRows> {
        Arc::clone(&self.rows.read())
    }

    fn faults(&self) -> MutexGuard<'_, Faults> {
        self.plan.faults.lock()
    }

    fn write(&self, change: impl FnOnce(&mut FamilyRows)) {
        let mut rows = self.rows.write();
        change(Arc::make_mut(&mut rows));
    }

    /// Waits while appends are held, then returns the planned fault of this one.
    fn next_fault(&self) -> Result<Option<AppendFault>, AppendVerdict> {
        let held = |faults: &mut Faults| faults.held;
        let mut faults = self.faults();
        self.plan.changed.wait_while(&mut faults, held);
        if faults.stopped {
            return Err(AppendVerdict::Unavailable("the outcome of an earlier write is unknown".to_owned()));
        }
        let fault = faults.appends.pop_front().flatten();
        match fault {
            Some(AppendFault::Unavailable) => Err(AppendVerdict::Unavailable("planned".to_owned())),
            Some(AppendFault::AmbiguousWritten | AppendFault::AmbiguousLost) => {
                faults.stopped = true;
                Ok(fault)
            }
            None => Ok(None),
        }
    }

    fn reader(&self) -> MemoryView {
        MemoryView { rows: self.rows(), plan: Arc::clone(&self.plan) }
    }
}

impl WriteSink for FamilyRows {
    fn put(&mut self, family: Family, key: &[u8], value: &[u8]) {
        self.families[family.index()].insert(key.to_vec(), value.to_vec());
    }

    fn delete(&mut self, family: Family, key: &[u8]) {
        self.families[family.index()].remove(key);
    }
}

impl Journal for MemoryStore {
    fn claim(&self, merchant_id: MerchantId) -> Result<Claim, JournalError> {
        let claim = self.claims.claim(merchant_id, || layout::read_durable(&self.reader(), merchant_id))?;
        let applied = self.applied(merchant_id).inspect_err(|_| self.release(merchant_id, claim.epoch))?;
        self.lagging.note(merchant_id, applied, claim.head);
        if self.faults().stopped {
            return Err(JournalError::Stopped { reason: "the outcome of an earlier write is unknown".to_owned() });
        }
        Ok(claim)
    }

    fn release(&self, merchant_id: MerchantId, epoch: Epoch) {
        self.claims.release(merchant_id, epoch);
    }

    fn append(&self, group: Vec<Append>) -> Vec<AppendVerdict> {
        let _one_at_a_time = self.writer.lock();
        let fault = match self.next_fault() {
            Ok(fault) => fault,
            Err(refusal) => return vec![refusal; group.len()],
        };
        let stored = self.rows().last_commit;
        let mut plan = self.claims.plan(&group, stored);
        let first = self.first_commit.lock().clone();
        let places = self.lagging.judge().into_iter().chain(first.as_deref().map(|place| place as _));
        self.claims.commit_first(&mut plan, places, &group, stored);
        let written = fault != Some(AppendFault::AmbiguousLost);
        if written {
            self.write(|rows| {
                layout::write_plan(&group, &plan, rows);
                rows.last_commit = plan.last_commit.unwrap_or(rows.last_commit);
            });
        }
        if let (Some(place), true, Some(last)) = (first, written, plan.last_commit) {
            place.confirm(last);
        }
        self.claims.settle(&plan.after, if written { WriteOutcome::Written } else { WriteOutcome::NotWritten });
        match fault {
            Some(_) => plan.failed(&AppendVerdict::Ambiguous("planned".to_owned())),
            None => plan.verdicts_when_written(),
        }
    }

    fn is_short_of_space(&self) -> bool {
        false
    }

    fn head(&self, merchant_id: MerchantId) -> Result<Head, JournalError> {
        match self.claims.head(merchant_id) {
            Some(head) => Ok(head),
            None => Ok(layout::read_head(&self.reader(), merchant_id)?),
        }
    }

    fn read(&self, merchant_id: MerchantId, from: Sequence, max: usize) -> Result<Vec<StoredRecord>, JournalError> {
        layout::read_records(&self.reader(), merchant_id, from, max)
    }

    fn newest_snapshots(&self, merchant_id: MerchantId, max: usize) -> Result<Vec<StoredSnapshot>, JournalError> {
        layout::read_snapshots(&self.reader(), merchant_id, max)
    }

    fn merchants(&self, after: Option<MerchantId>, max: usize) -> Result<Vec<(MerchantId, Head)>, JournalError> {
        layout::read_merchants(&self.reader(), after, max)
    }

    fn last_commit(&self) -> CommitNumber {
        self.rows().last_commit
    }
}

impl RowReader for MemoryStore {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
        self.reader().get(family, key)
    }

    fn visit(&self, range: RowRange<'_>, visit: &mut Visit<'_>) -> Result<(), RowError> {
        self.reader().visit(range, visit)
    }
}

impl RowStore for MemoryStore {
    fn get_at_hand(&self, family: Family, key: &[u8]) -> ReadAtHand {
        let waits = |faults: &Faults| faults.cold || faults.holds_read(family, key);
        if waits(&self.faults()) {
            return ReadAtHand::WouldWait;
        }
        self.get(family, key).map_or(ReadAtHand::WouldWait, ReadAtHand::Value)
    }

    fn view(&self) -> Box<dyn RowReader + '_> {
        Box::new(self.reader())
    }

    fn applied(&self, merchant_id: MerchantId) -> Result<Head, RowError> {
        layout::read_applied(&self.reader(), merchant_id)
    }

    fn gate(&self, merchant_id: MerchantId) -> Result<RowGate, RowError> {
        let reader = self.reader();
        let applied = layout::read_applied(&reader, merchant_id)?;
        let head = layout::read_head(&reader, merchant_id)?;
        Ok(if applied == head { RowGate::Open } else { RowGate::Behind { applied, head } })
    }

    fn append_rows(&self, merchant_id: MerchantId, rows: &RowWrites, applied: Head) -> Result<(), RowError> {
        let _one_at_a_time = self.writer.lock();
        let reader = self.reader();
        let before = layout::read_applied(&reader, merchant_id)?;
        let head = layout::read_head(&reader, merchant_id)?;
        if applied.sequence <= before.sequence || applied.sequence > head.sequence {
            let (applied, asked, head) = (before.sequence, applied.sequence, head.sequence);
            return Err(RowError::OutOfOrder { applied, asked, head });
        }
        self.write(|store| {
            layout::write_rows(rows.iter(), store);
            layout::write_applied(merchant_id, applied, store);
        });
        self.lagging.note(merchant_id, applied, head);
        Ok(())
    }

    /// It has no files.
    fn purge(&self, _: Family, _: &[Vec<u8>]) -> Result<(), RowError> {
        Ok(())
    }
}

/// A snapshot of the store.
struct MemoryView {
    rows: Arc<FamilyRows>,
    plan: Arc<FaultPlan>,
}

impl MemoryView {
    fn check_readable(&self, family: Family, key: &[u8]) -> Result<(), RowError> {
        let mut faults = self.plan.faults.lock();
        self.plan.changed.wait_while(&mut faults, |faults| faults.holds_read(family, key));
        let hit = |(failing, prefix): &(Family, Vec<u8>)| *failing == family && key.starts_with(prefix);
        if faults.unreadable.iter().any(hit) {
            return Err(RowError::Unreadable { family, reason: "planned".to_owned() });
        }
        Ok(())
    }
}

impl RowReader for MemoryView {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
        self.check_readable(family, key)?;
        Ok(self.rows.families[family.index()].get(key).cloned())
    }

    fn visit(&self, range: RowRange<'_>, visit: &mut Visit<'_>) -> Result<(), RowError> {
        let RowRange { family, lower, upper, direction } = range;
        if lower >= upper {
            return Ok(());
        }
        let bounds = (Bound::Included(lower), Bound::Excluded(upper));
        let mut range = self.rows.families[family.index()].range::<[u8], _>(bounds);
        let mut next = || match direction {
            ScanDirection::Forward => range.next(),
            ScanDirection::Backward => range.next_back(),
        };
        while let Some((key, value)) = next() {
            self.check_readable(family, key)?;
            if visit(key, value).is_break() {
                break;
            }
        }
        Ok(())
    }
}
