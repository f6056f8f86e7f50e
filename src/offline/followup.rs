//! The calls to the acquirer and the timers that an event opens and closes, as `domain/src/apply` does it.

use serde_json::{Value, json};
use till_domain::effect::{Timer, TimerKind};
use till_domain::event::Event;
use till_domain::ids::PaymentId;
use till_domain::ledger::{EntryStatus, Transaction};

use super::parts;

/// What an event opens and what it closes.
#[derive(Default)]
pub(super) struct Followups {
    pub(super) opened: Vec<Value>,
    pub(super) closed: Vec<Value>,
}

impl Followups {
    /// Of the events of one record.
    pub(super) fn of(events: &[Event]) -> Followups {
        let mut followups = Followups::default();
        events.iter().for_each(|event| followups.add(event));
        followups
    }

    fn add(&mut self, event: &Event) {
        if let Event::PaymentInitiated { payment: _, effect } = event {
            self.opened.push(parts::effect(effect));
        } else if let Event::PaymentAuthorized { payment_id, authorization } = event {
            self.closes_effect(*payment_id);
            self.opens_timer(authorization.lapses_at.map(|due| Timer { due, kind: TimerKind::Lapse(*payment_id) }));
        } else if let Event::PaymentFailed { payment_id, .. } | Event::PaymentVoided { payment_id, .. } = event {
            self.closes_effect(*payment_id);
        } else if let Event::PaymentCaptured { transaction, .. } | Event::TopupAdded { transaction, .. } = event {
            self.opens_timer(settling(transaction));
        } else if let Event::AuthorizationLapsed { payment_id, effect, lapses_at } = event {
            self.opened.push(parts::effect(effect));
            self.closes_timer(Timer { due: *lapses_at, kind: TimerKind::Lapse(*payment_id) });
        } else if let Event::TransactionSettled { transaction_id, settles_at, .. } = event {
            self.closes_timer(Timer { due: *settles_at, kind: TimerKind::Settle(*transaction_id) });
        } else {
            self.add_metadata(event);
        }
    }

    fn add_metadata(&mut self, event: &Event) {
        let timer = |id, due| Timer { due, kind: TimerKind::ExpireMetadata(id) };
        let (record, timer_was) = if let Event::MetadataSaved { record, timer_was, .. } = event {
            (record, *timer_was)
        } else if let Event::MetadataTimerMoved { record, timer_was, .. } = event {
            (record, Some(*timer_was))
        } else {
            if let Event::MetadataEnded { id, timer_due, .. } = event {
                self.closes_timer(timer(*id, *timer_due));
            }
            return;
        };
        if timer_was == Some(record.timer_due) {
            return;
        }
        if let Some(was) = timer_was {
            self.closes_timer(timer(record.id, was));
        }
        self.opens_timer(Some(timer(record.id, record.timer_due)));
    }

    fn closes_effect(&mut self, payment_id: PaymentId) {
        self.closed.push(json!({ "effect": "any", "payment_id": payment_id.to_string() }));
    }

    fn opens_timer(&mut self, timer: Option<Timer>) {
        self.opened.extend(timer.map(parts::timer));
    }

    fn closes_timer(&mut self, timer: Timer) {
        self.closed.push(parts::timer(timer));
    }
}

/// When a transaction settles, while it is on hold.
fn settling(transaction: &Transaction) -> Option<Timer> {
    let due = transaction.settles_at.filter(|_| transaction.status == EntryStatus::OnHold)?;
    Some(Timer { due, kind: TimerKind::Settle(transaction.id) })
}
