//! Staged records: what a merchant's state and rows will be once everything submitted is durable.

use lru::LruCache;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use till_domain::apply::{apply_rows, apply_state};
use till_domain::customer::Contact;
use till_domain::event::Mutation;
use till_domain::ids::{CustomerId, MerchantId};
use till_domain::records::{AnyKey, AnyRow, ChangedRows, MerchantState, Records, Rows, Unreadable};
use till_storage::journal::Sequence;
use till_storage::rows::RowWrites;
use till_storage::shapes::{self, Personal};

use super::rows_at_hand::RowsAtHand;
use crate::changes::Changes;

/// Limit of the durable rows that an actor keeps in memory.
const KEPT_ROWS_MAX: usize = 1_024;

/// The largest document that is kept in memory: the size of a usual row.
const KEPT_DOCUMENT_BYTES: usize = 1_024;

/// A row as the next decision sees it; none when there is no row.
#[derive(Debug)]
struct HeldRow {
    /// The record that staged it: while that is not durable, the row must stay. The first of all for a row that was
    /// read from the store.
    staged_by: Sequence,
    row: Option<AnyRow>,
}

/// A merchant's records as the next decision sees them: rows that are staged or kept in memory first, then the store.
pub(crate) struct StagedRecords<P> {
    merchant_id: MerchantId,
    rows: Arc<RowsAtHand>,
    pub(crate) personal: P,
    pub(crate) state: MerchantState,
    /// Staged rows and durable ones, the most recently used first. Bounded by [`StagedRecords::prune`].
    held: RefCell<LruCache<AnyKey, HeldRow>>,
    /// Staged rows that are not worth keeping once they are durable, oldest first.
    passing: VecDeque<(Sequence, AnyKey)>,
}

impl<P: Personal> StagedRecords<P> {
    pub(crate) fn new(merchant_id: MerchantId, rows: Arc<RowsAtHand>, personal: P, state: MerchantState) -> Self {
        StagedRecords {
            merchant_id,
            rows,
            personal,
            state,
            held: RefCell::new(LruCache::unbounded()),
            passing: VecDeque::new(),
        }
    }

    /// The changes of `mutation`, without staging them.
    ///
    /// # Errors
    /// [`Unreadable`] when a row that it changes cannot be read: then nothing may be submitted.
    pub(crate) fn changes(&self, mutation: &Mutation) -> Result<Changes, Unreadable> {
        let mut rows = ChangedRows::new(self);
        apply_rows(mutation, &mut rows)?;
        Ok(Changes { rows: rows.into_changed() })
    }

    /// The changes as they go to disk.
    ///
    /// # Errors
    /// [`Unreadable`] when the key of the person whose data a row holds cannot be read.
    pub(crate) fn encode(&mut self, changes: &Changes) -> Result<RowWrites, Unreadable> {
        let mut writes = RowWrites::with_room(changes.rows.len());
        self.encode_into(changes, &mut writes)?;
        Ok(writes)
    }

    /// The same, behind others.
    ///
    /// # Errors
    /// As there; `writes` has a part of them then.
    pub(crate) fn encode_into(&mut self, changes: &Changes, writes: &mut RowWrites) -> Result<(), Unreadable> {
        for (key, row) in &changes.rows {
            let begun = writes.begin(|bytes| shapes::push_row_key(self.merchant_id, key, &self.personal, bytes));
            match row {
                Some(row) => begun.put(|bytes| shapes::push_row(row, key, &mut self.personal, bytes))?,
                None => begun.delete(),
            }
        }
        Ok(())
    }

    /// Stages a mutation that was submitted as the record `sequence`.
    pub(crate) fn stage(&mut self, mutation: &Mutation, changes: Changes, sequence: Sequence) {
        apply_state(mutation, &mut self.state);
        self.hold(changes, sequence);
    }

    /// Holds the rows of the record `sequence` until they are durable.
    pub(crate) fn hold(&mut self, changes: Changes, sequence: Sequence) {
        let held = self.held.get_mut();
        for (key, row) in changes.rows.into_iter().filter(|(key, _)| key.is_read_by_decisions()) {
            if !is_worth_keeping(&key, row.as_ref()) {
                self.passing.push_back((sequence, key.clone()));
            }
            held.put(key, HeldRow { staged_by: sequence, row });
        }
    }

    /// Removes a removed customer's name, address and number from the payments in memory. A later change of such a
    /// payment would seal them again, under a new key.
    pub(crate) fn forget_person(&mut self, customer_id: CustomerId) {
        for (_, held) in self.held.get_mut().iter_mut() {
            if let Some(AnyRow::Payments(payment)) = &mut held.row
                && payment.customer_id == Some(customer_id)
            {
                Arc::make_mut(payment).contact = Contact::default();
            }
        }
    }

    /// Drops rows that need not be kept any more, because all up to `durable` can be read from the store.
    pub(crate) fn prune(&mut self, durable: Sequence) {
        let held = self.held.get_mut();
        while let Some((sequence, key)) = self.passing.pop_front_if(|(sequence, _)| *sequence <= durable) {
            // A later record may have changed the row again: then it stays staged.
            if held.peek(&key).is_some_and(|row| row.staged_by == sequence) {
                held.pop(&key);
            }
        }
        while held.len() > KEPT_ROWS_MAX && held.peek_lru().is_some_and(|(_, row)| row.staged_by <= durable) {
            held.pop_lru();
        }
    }
}

/// True when a durable row is kept in memory: rows that no decision reads again, and rows that take more room than
/// hundreds of usual ones, are left to the store.
fn is_worth_keeping(key: &AnyKey, row: Option<&AnyRow>) -> bool {
    match row {
        Some(AnyRow::MetadataDocuments(document)) => document.as_str().len() <= KEPT_DOCUMENT_BYTES,
        Some(_) => true,
        None => !matches!(key, AnyKey::MetadataItems(_) | AnyKey::MetadataSets(_)),
    }
}

impl<P: Personal> Rows for StagedRecords<P> {
    fn read(&self, key: &AnyKey) -> Result<Option<AnyRow>, Unreadable> {
        if !key.is_read_by_decisions() {
            // It is not staged, so the store may lag behind earlier decisions.
            return Err(Unreadable { reason: format!("{key:?} is of a kind that decisions must not read") });
        }
        let mut held = self.held.borrow_mut();
        if let Some(found) = held.get(key) {
            return Ok(found.row.clone());
        }
        let row = shapes::read_row(&*self.rows, self.merchant_id, key, &self.personal)?;
        if is_worth_keeping(key, row.as_ref()) {
            held.put(key.clone(), HeldRow { staged_by: Sequence(0), row: row.clone() });
        }
        Ok(row)
    }
}

impl<P: Personal> Records for StagedRecords<P> {
    fn state(&self) -> &MerchantState {
        &self.state
    }
}
