//! The entries that follow from a record.

use till_domain::event::Mutation;
use till_domain::ids::{MerchantId, WebhookId};
use till_domain::merchant::TestClock;
use till_domain::open_call::OpenCall;
use till_domain::records::AnyKey;
use till_domain::time::Millis;

use super::effect_queue::CallRows;
use super::erasures::erased_by;
use super::queues::Outbox;
use super::webhook_queue::WebhookEndpoint;
use crate::background::AT_ONCE;
use crate::changes::Changes;
use crate::counts::{Counted, Counts};

/// The outbox entries of one record, or of the records that a load derives rows from; they are sent once the records
/// are durable.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    counted: Counted,
    effects: Vec<(OpenCall, Option<CallRows>)>,
    /// Calls that records of an earlier process have left open.
    from_log: Vec<OpenCall>,
    /// The earliest timer that was set.
    timer: Option<Millis>,
    has_garbage: bool,
    erased: Vec<Vec<u8>>,
    wakes_webhooks: bool,
    webhooks: Vec<WebhookId>,
    test_clock: Option<TestClock>,
}

impl Pending {
    /// The entries of a record and the rows that it writes.
    pub(crate) fn of(merchant_id: MerchantId, mutation: &Mutation, changes: &Changes) -> Pending {
        let (counted, erased) = (Counted::of(mutation, changes), erased_by(merchant_id, mutation));
        let mut pending = Pending { counted, erased, ..Pending::default() };
        pending.add(merchant_id, changes);
        pending
    }

    /// Adds the entries of a further record.
    pub(crate) fn add(&mut self, merchant_id: MerchantId, changes: &Changes) {
        self.test_clock = changes.test_clock(merchant_id).or(self.test_clock);
        for key in changes.written() {
            if let Some(call) = OpenCall::of(key) {
                self.effects.push((call, changes.opened(call)));
            } else if let AnyKey::Timers(timer) = key {
                self.timer = Some(self.timer.map_or(timer.due, |earlier| earlier.min(timer.due)));
            } else if let AnyKey::MetadataGarbage(_) = key {
                self.has_garbage = true;
            } else if let AnyKey::ApiKeys(_) = key {
                self.counted.changes_keys = true;
            } else if let AnyKey::WebhookEvents(_) | AnyKey::Profiles(_) = key {
                // The end of a suspension is a change of the profile, and orders to deliver events again go on then.
                self.wakes_webhooks = true;
            } else if let AnyKey::Webhooks(webhook_id) = key {
                self.webhooks.push(*webhook_id);
            }
        }
    }

    /// Replaces the calls to acquirers by the open ones. After a replay of several records the calls that these records
    /// opened are no longer the open ones, and an earlier process may have made those that are.
    pub(crate) fn replace_calls(&mut self, open: Vec<OpenCall>) {
        (self.effects, self.from_log) = (Vec::new(), open);
    }

    /// Queues the entries, and counts the record.
    pub(crate) fn send(self, merchant_id: MerchantId, outbox: &Outbox, counts: &Counts) {
        counts.add(merchant_id, &self.counted);
        outbox.erasures.add(self.erased);
        if let Some(test_clock) = self.test_clock {
            outbox.timers.set_test_clock(merchant_id, test_clock);
        }
        for (call, rows) in self.effects {
            outbox.effects.add(merchant_id, call, rows);
        }
        for call in self.from_log {
            outbox.effects.add_from_log(merchant_id, call);
        }
        if let Some(due) = self.timer {
            outbox.timers.add(merchant_id, due);
        }
        for webhook_id in self.webhooks {
            outbox.webhooks.connect(WebhookEndpoint { merchant_id, webhook_id });
        }
        if self.wakes_webhooks {
            outbox.webhooks.wake(merchant_id);
        }
        if self.has_garbage {
            outbox.garbage.add(merchant_id, AT_ONCE, None);
        }
    }
}
