//! Counts of what durable records did.

use std::sync::atomic::{AtomicU64, Ordering};
use till_domain::event::{Event, Mutation};
use till_domain::ids::{MerchantId, PaymentId};

use super::payment_outcomes::{PaymentCounters, PaymentOutcome};
use crate::merchant::Changes;
use crate::removal::{Removed, RemovedRows};

/// What durable records did since the engine started.
#[derive(Debug, Default)]
pub(crate) struct RecordCounts {
    /// Changes to API keys. A change is counted after it can be read and before it is answered.
    key_changes: AtomicU64,
    /// Payments that an acquirer authorized after they had ended.
    late_successes: AtomicU64,
    /// Payments by what became of them.
    pub(crate) payments: PaymentCounters,
    /// Rows that were removed in the background.
    pub(crate) removed: RemovedRows,
}

impl RecordCounts {
    /// The number of changes to API keys.
    pub(crate) fn key_changes(&self) -> u64 {
        self.key_changes.load(Ordering::Acquire)
    }

    /// The number of payments that an acquirer authorized after they had ended.
    pub(crate) fn late_successes(&self) -> u64 {
        self.late_successes.load(Ordering::Relaxed)
    }

    /// Counts a durable record.
    pub(crate) fn add(&self, merchant_id: MerchantId, record: &Counted) {
        if record.changes_keys {
            self.key_changes.fetch_add(1, Ordering::AcqRel);
        }
        self.removed.add(record.removed);
        if let Some(payment_id) = record.late_success {
            self.late_successes.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(%merchant_id, %payment_id, "a payment was authorized after it had ended: its money is returned");
        }
        if let Some(outcome) = &record.outcome {
            self.payments.note(merchant_id, outcome);
        }
    }
}

/// What one record did.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    pub(crate) changes_keys: bool,
    removed: Removed,
    late_success: Option<PaymentId>,
    outcome: Option<PaymentOutcome>,
}

impl Counted {
    /// What a record did; its changes of keys are not seen here.
    pub(crate) fn of(mutation: &Mutation, changes: &Changes) -> Counted {
        let (removed, outcome) = (Removed::of(mutation), PaymentOutcome::of(mutation, changes));
        Counted { changes_keys: false, removed, late_success: late_success(mutation), outcome }
    }
}

/// The payment that had ended before the acquirer authorized it. A record has one answer of an acquirer.
fn late_success(mutation: &Mutation) -> Option<PaymentId> {
    mutation.events.iter().find_map(|event| {
        let Event::LateSuccess { payment_id, authorization: _, captured: _ } = event else { return None };
        Some(*payment_id)
    })
}
