//! The indexes of payments.

use till_domain::ids::{CustomerId, PaymentId, RawId};
use till_domain::merchant::PaymentMethod;
use till_domain::payment::PaymentStatus;
use till_domain::records::Payments;
use till_domain::time::DAY_MILLIS;

use super::key_bytes::KeyBytes;
use super::list_index::ListIndex;
use super::tables::TableKind;

/// The time by which ids are ahead of the clock at most, in milliseconds: an hour. They are when thousands are made in a
/// millisecond.
const IDS_AHEAD_MS: u64 = 3_600_000;

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
    /// Those captured on a day of UTC, counted from 1970-01-01.
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
            PaymentIndex::CaptureDay(_) => TableKind::PaymentsByCaptureDay,
        }
    }

    fn push_value(&self, bytes: &mut Vec<u8>) {
        match self {
            PaymentIndex::All | PaymentIndex::WithOpenEffect => {}
            PaymentIndex::Status(status, method) => (*status, *method).push(bytes),
            PaymentIndex::Amount(amount_minor) => amount_minor.push(bytes),
            PaymentIndex::Customer(customer_id) => customer_id.push(bytes),
            PaymentIndex::LastDigits(digits) => digits.push(bytes),
            PaymentIndex::CaptureDay(day) => day.push(bytes),
        }
    }

    /// No payment is captured before it is made, so a day of captures has none that is newer than its end.
    fn newest(&self) -> Option<PaymentId> {
        let PaymentIndex::CaptureDay(day) = self else { return None };
        let end = u64::from(*day).saturating_add(1).saturating_mul(DAY_MILLIS).saturating_add(IDS_AHEAD_MS);
        Some(PaymentId::from_raw(RawId::last_at(end)))
    }
}
