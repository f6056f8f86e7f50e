//! The indexes of payments that only lists read, and the count of those that are open at an account. They follow from
//! each payment as it was before a mutation and as it is after it, so that a status that a payment passes through
//! within one mutation leaves no trace.

use super::acquirer_accounts;
use crate::ids::{AcquirerId, PaymentId};
use crate::merchant::PaymentMethod;
use crate::payment::{CaptureTime, Payment, PaymentStatus};
use crate::records::{
    AnyKey, AnyRow, Payments, PaymentsByAmount, PaymentsByCapture, PaymentsByCustomer, PaymentsByLastDigits,
    PaymentsByStatus, Present, Rows, RowsMut, Table, Unreadable,
};
use std::collections::BTreeMap;

/// Every index row of a payment.
#[must_use]
pub fn index_rows(payment: &Payment) -> Vec<(AnyKey, AnyRow)> {
    let mut index_rows = lasting_rows(payment);
    let indexed = IndexedState::of(payment);
    index_rows.extend(indexed.status_row(payment.id));
    index_rows.extend(indexed.capture_row(payment.id));
    index_rows.extend(indexed.last_digits_row(payment.id));
    index_rows
}

/// The rows that a payment keeps from its initiation on.
fn lasting_rows(payment: &Payment) -> Vec<(AnyKey, AnyRow)> {
    let by_amount = PaymentsByAmount::key((payment.money.amount.get(), payment.id));
    let mut index_rows = vec![(by_amount, PaymentsByAmount::wrap(Present))];
    if let Some(customer_id) = payment.customer_id {
        let by_customer = PaymentsByCustomer::key((customer_id, payment.id));
        index_rows.push((by_customer, PaymentsByCustomer::wrap(Present)));
    }
    index_rows
}

/// The parts of a payment that change and that an index has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct IndexedState {
    status: PaymentStatus,
    method: PaymentMethod,
    capture: Option<CaptureTime>,
    last_digits: Option<[u8; 4]>,
}

impl IndexedState {
    fn of(payment: &Payment) -> IndexedState {
        let capture = payment.capture.map(|capture| CaptureTime::of(payment.created_at, capture.at));
        let last_digits = payment.instrument.card().and_then(|card| card.last_digits.as_bytes().try_into().ok());
        IndexedState { status: payment.status, method: payment.instrument.method(), capture, last_digits }
    }

    /// The row by status; none for a payment that is PENDING.
    fn status_row(self, id: PaymentId) -> Option<(AnyKey, AnyRow)> {
        let row = (PaymentsByStatus::key((self.status, self.method, id)), PaymentsByStatus::wrap(Present));
        (self.status != PaymentStatus::Pending).then_some(row)
    }

    /// The row by time of capture; none for a payment that was never captured.
    fn capture_row(self, id: PaymentId) -> Option<(AnyKey, AnyRow)> {
        Some((PaymentsByCapture::key((self.capture?, id)), PaymentsByCapture::wrap(Present)))
    }

    /// The row by the last digits of the card; none while no card is known.
    fn last_digits_row(self, id: PaymentId) -> Option<(AnyKey, AnyRow)> {
        Some((PaymentsByLastDigits::key((self.last_digits?, id)), PaymentsByLastDigits::wrap(Present)))
    }
}

/// The rows of a merchant in the course of one mutation, with the former states of the payments that it changes.
pub(super) struct WatchedPayments<'r, R> {
    rows: &'r mut R,
    /// The states, with the account at which each payment was open. Nothing for one that the mutation initiates.
    before: BTreeMap<PaymentId, Option<(IndexedState, Option<AcquirerId>)>>,
}

impl<'r, R: RowsMut> WatchedPayments<'r, R> {
    /// Nothing is changed yet.
    pub(super) const fn new(rows: &'r mut R) -> WatchedPayments<'r, R> {
        WatchedPayments { rows, before: BTreeMap::new() }
    }

    /// Writes the index rows that differ from those before the mutation.
    ///
    /// # Errors
    /// [`Unreadable`] when a payment cannot be read.
    pub(super) fn write_indexes(self) -> Result<(), Unreadable> {
        let WatchedPayments { rows, before } = self;
        for (id, before) in before {
            let Some(payment) = rows.shared::<Payments>(id)? else { continue };
            let (after, open_at) = (IndexedState::of(&payment), acquirer_accounts::open_at(&payment, rows)?);
            acquirer_accounts::count(before.and_then(|(_, open_at)| open_at), open_at, rows)?;
            let before = before.map(|(indexed, _)| indexed);
            if before.is_none() {
                lasting_rows(&payment).into_iter().for_each(|(key, row)| rows.write(key, Some(row)));
            }
            replace(before.and_then(|before| before.status_row(id)), after.status_row(id), rows);
            replace(before.and_then(|before| before.capture_row(id)), after.capture_row(id), rows);
            replace(before.and_then(|before| before.last_digits_row(id)), after.last_digits_row(id), rows);
        }
        Ok(())
    }

    /// Remembers the state of a payment that is about to change for the first time.
    fn note(&mut self, key: &AnyKey) -> Result<(), Unreadable> {
        if let AnyKey::Payments(id) = key
            && !self.before.contains_key(id)
        {
            let before = match self.rows.shared::<Payments>(*id)? {
                Some(payment) => Some((IndexedState::of(&payment), acquirer_accounts::open_at(&payment, self.rows)?)),
                None => None,
            };
            self.before.insert(*id, before);
        }
        Ok(())
    }
}

/// Replaces one index row by another, unless they are the same.
fn replace(before: Option<(AnyKey, AnyRow)>, after: Option<(AnyKey, AnyRow)>, rows: &mut impl RowsMut) {
    if before == after {
        return;
    }
    if let Some((key, _)) = before {
        rows.write(key, None);
    }
    if let Some((key, row)) = after {
        rows.write(key, Some(row));
    }
}

impl<R: RowsMut> Rows for WatchedPayments<'_, R> {
    fn read(&self, key: &AnyKey) -> Result<Option<AnyRow>, Unreadable> {
        self.rows.read(key)
    }
}

impl<R: RowsMut> RowsMut for WatchedPayments<'_, R> {
    /// Events write a payment after they took it, or when they initiate it: then there is none before.
    fn write(&mut self, key: AnyKey, row: Option<AnyRow>) {
        if let AnyKey::Payments(id) = &key {
            self.before.entry(*id).or_insert(None);
        }
        self.rows.write(key, row);
    }

    fn take<T: Table>(&mut self, key: T::Key) -> Result<Option<T::Row>, Unreadable> {
        self.note(&T::key(key.clone()))?;
        self.rows.take::<T>(key)
    }
}
