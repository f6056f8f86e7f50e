//! Counts of what durable records did.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use till_domain::event::{Event, Mutation};
use till_domain::ids::{MerchantId, PaymentId};

use super::payment_outcomes::{PaymentCounts, PaymentOutcome};
use crate::changes::Changes;
use crate::counts::RemovedRows;

/// Counts since the engine started, and the last count of overdrawn merchants.
#[derive(Debug, Default)]
pub struct Counts {
    key_changes: AtomicU64,
    pub(super) overdrawn_merchants: AtomicU64,
    records: Mutex<RecordCounts>,
}

/// What durable records did.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecordCounts {
    /// Payments that an acquirer authorized after they had ended.
    pub late_successes: u64,
    /// Late successes whose money is back.
    pub late_successes_returned: u64,
    /// Actions of customers, by what happened to them.
    pub actions: [u64; ActionStep::ALL.len()],
    /// Payments by what became of them.
    pub payments: PaymentCounts,
    /// Rows that were removed in the background.
    pub removed_rows: RemovedRows,
}

impl Counts {
    /// The number of changes to API keys of any merchant. A key is valid as long as this number is the same as before
    /// the key was read. A change is counted after it can be read and before it is answered.
    #[must_use]
    pub fn key_changes(&self) -> u64 {
        self.key_changes.load(Ordering::Acquire)
    }

    /// The number of merchants whose available balance is below zero, as of the last count.
    #[must_use]
    pub fn overdrawn_merchants(&self) -> u64 {
        self.overdrawn_merchants.load(Ordering::Relaxed)
    }

    /// Counts of the effects of durable records.
    #[must_use]
    pub fn records(&self) -> RecordCounts {
        *self.records.lock()
    }

    /// Counts a durable record.
    pub(crate) fn add(&self, merchant_id: MerchantId, record: &Counted) {
        if record.changes_keys {
            self.key_changes.fetch_add(1, Ordering::AcqRel);
        }
        let mut records = self.records.lock();
        records.removed_rows.add(record.removed_rows);
        if let Some(payment_id) = record.late_success {
            records.late_successes += 1;
            tracing::warn!(%merchant_id, %payment_id, "a payment was authorized after it had ended: its money is \
                returned");
        }
        records.late_successes_returned += u64::from(record.is_returned);
        if let Some(step) = record.action {
            records.actions[step as usize] += 1;
        }
        if let Some(outcome) = &record.outcome {
            records.payments.note(merchant_id, outcome);
        }
    }
}

/// What one record did.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    pub(crate) changes_keys: bool,
    removed_rows: RemovedRows,
    late_success: Option<PaymentId>,
    outcome: Option<PaymentOutcome>,
    action: Option<ActionStep>,
    /// True when the money of a late success is back.
    is_returned: bool,
}

impl Counted {
    /// The effects of a record; its changes of keys are not seen here.
    pub(crate) fn of(mutation: &Mutation, changes: &Changes) -> Counted {
        let (removed_rows, outcome) = (RemovedRows::of(mutation), PaymentOutcome::of(mutation, changes));
        let (action, is_returned) = (ActionStep::of(mutation), mutation.events.iter().any(is_return));
        let late_success = late_success(mutation);
        Counted { changes_keys: false, removed_rows, late_success, outcome, action, is_returned }
    }
}

till_domain::word_enum! {
    /// A step of the action of a customer.
    pub enum ActionStep: name {
        /// The customer was asked to act.
        Asked => "asked",
        /// The customer has acted.
        Done => "done",
        /// The customer gave up.
        GivenUp => "given_up",
        /// The merchant voided the payment.
        Voided => "voided",
        /// The customer did not act in time.
        Expired => "expired",
    }
}

impl ActionStep {
    /// The step that a record took. A record is about one payment's action at most.
    fn of(mutation: &Mutation) -> Option<ActionStep> {
        let is_canceled = mutation.events.iter().any(|event| matches!(event, Event::ActionCancelRequested { .. }));
        mutation.events.iter().find_map(|event| {
            if let Event::ActionRequired { .. } = event {
                Some(ActionStep::Asked)
            } else if let Event::ActionTaken { .. } = event {
                Some(ActionStep::Done)
            } else if let Event::PaymentFailed { .. } = event {
                is_canceled.then_some(ActionStep::GivenUp)
            } else if let Event::PaymentVoided { .. } = event {
                is_canceled.then_some(ActionStep::Voided)
            } else if let Event::PaymentExpired { .. } = event {
                is_canceled.then_some(ActionStep::Expired)
            } else {
                None
            }
        })
    }
}

const fn is_return(event: &Event) -> bool {
    matches!(event, Event::LateCallEnded { returned_at: Some(_), .. })
}

/// The payment that had ended before the acquirer authorized it. A record has one answer of an acquirer.
fn late_success(mutation: &Mutation) -> Option<PaymentId> {
    mutation.events.iter().find_map(|event| {
        let Event::LateSuccess { payment_id, authorization: _, captured: _ } = event else { return None };
        Some(*payment_id)
    })
}
