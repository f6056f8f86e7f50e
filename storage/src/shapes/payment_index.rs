//! The indexes of payments.

use till_domain::ids::{CustomerId, PaymentId, RawId};
use till_domain::merchant::PaymentMethod;
use till_domain::payment::{CAPTURED_AT_ONCE_MS, CaptureTime, PaymentStatus};
use till_domain::records::Payments;
use till_domain::time::{DAY_MILLIS, Millis};

use super::key_bytes::KeyBytes;
use super::list_index::ListIndex;
use super::tables::TableKind;

/// The time by which ids are ahead of the clock at most, in milliseconds: a second. They are when thousands are made in
/// a millisecond.
const IDS_AHEAD_MS: u64 = 1_000;

/// One value of one index of payments, or all payments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentIndex {
    /// Every payment.
    All,
    /// Those in a status other than PENDING, of one method.
    Status(PaymentStatus, PaymentMethod),
    /// Those with an open call to the acquirer about the payment itself. The PENDING ones are among them.
    WithOpenEffect,
    /// Those of an amount, in minor units.
    Amount(u64),
    /// Those of a customer.
    Customer(CustomerId),
    /// Those by a card with these last four digits.
    LastDigits([u8; 4]),
    /// Those captured at once, as far as their ids allow that they were captured from one instant to another. A few of
    /// them were captured before it or after.
    CapturedAtOnce(Millis, Millis),
    /// Those captured later, on a day of UTC, counted from 1970-01-01.
    CaptureDay(u32),
}

impl ListIndex for PaymentIndex {
    type List = Payments;

    const ALL: PaymentIndex = PaymentIndex::All;

    fn table(&self) -> TableKind {
        match self {
            PaymentIndex::All => TableKind::Payments,
            PaymentIndex::Status(..) => TableKind::PaymentsByStatus,
            PaymentIndex::WithOpenEffect => TableKind::Effects,
            PaymentIndex::Amount(_) => TableKind::PaymentsByAmount,
            PaymentIndex::Customer(_) => TableKind::PaymentsByCustomer,
            PaymentIndex::LastDigits(_) => TableKind::PaymentsByLastDigits,
            PaymentIndex::CapturedAtOnce(..) | PaymentIndex::CaptureDay(_) => TableKind::PaymentsByCapture,
        }
    }

    fn push_value(&self, bytes: &mut Vec<u8>) {
        match self {
            PaymentIndex::All | PaymentIndex::WithOpenEffect => {}
            PaymentIndex::Status(status, method) => (*status, *method).push(bytes),
            PaymentIndex::Amount(amount_minor) => amount_minor.push(bytes),
            PaymentIndex::Customer(customer_id) => customer_id.push(bytes),
            PaymentIndex::LastDigits(digits) => digits.push(bytes),
            PaymentIndex::CapturedAtOnce(..) => CaptureTime::AtOnce.push(bytes),
            PaymentIndex::CaptureDay(day) => CaptureTime::Day(*day).push(bytes),
        }
    }

    /// No payment is captured before it is made, so a day of captures has none that is newer than its end.
    fn ends(&self) -> Option<(PaymentId, PaymentId)> {
        let (from_ms, until_ms) = match self {
            PaymentIndex::CapturedAtOnce(from, until) => (from.0.saturating_sub(CAPTURED_AT_ONCE_MS), until.0),
            PaymentIndex::CaptureDay(day) => (0, u64::from(*day).saturating_add(1).saturating_mul(DAY_MILLIS)),
            PaymentIndex::All
            | PaymentIndex::Status(..)
            | PaymentIndex::WithOpenEffect
            | PaymentIndex::Amount(_)
            | PaymentIndex::Customer(_)
            | PaymentIndex::LastDigits(_) => return None,
        };
        let newest = RawId::last_at(until_ms.saturating_add(IDS_AHEAD_MS));
        Some((PaymentId::from_raw(RawId::first_at(from_ms)), PaymentId::from_raw(newest)))
    }
}
