//! The outbox: background work that follows from durable records.

use parking_lot::RwLock;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use till_domain::effect::{Effect, OpenCall};
use till_domain::event::{Event, Mutation};
use till_domain::ids::{MerchantId, PaymentId, WebhookId};
use till_domain::merchant::TestClock;
use till_domain::payment::Payment;
use till_domain::records::{AnyKey, MetadataGarbage, Unreadable, WebhookDirectory};
use till_domain::time::Millis;
use till_storage::rows::ScanDirection;
use till_storage::shapes::{MerchantReader, next_merchant_with_timers, open_effects};

use crate::background::{AT_ONCE, WorkQueue};
use crate::bounds::{InFlight, Permit};
use crate::erasure::{Erasures, erased_by};
use crate::merchant::Changes;
use crate::payment_outcomes::{PaymentCounters, PaymentOutcome};
use crate::removed_rows::{Removed, RemovedRows};
use crate::store::Store;
use crate::test_clock::MerchantClocks;
use crate::webhooks::WebhookEndpoint;

/// Limit of the effects that wait in memory with all that their call needs. Others are read in their turn.
const PREPARED_CALLS_MAX: usize = 8_192;
/// Effects that one page of the scan at start reads.
const SCANNED_AT_ONCE: usize = 4_096;

/// An effect that was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct OpenEffect {
    pub(crate) merchant_id: MerchantId,
    pub(crate) call: OpenCall,
}

/// The effect and its payment.
pub(crate) type CallRows = (Arc<Effect>, Arc<Payment>);

/// The rows that the call of an effect needs, as they were when the effect was opened: nothing changes them before the
/// call.
#[derive(Debug)]
pub(crate) struct PreparedCall {
    rows: CallRows,
    /// Its permit for memory.
    permit: Permit,
}

impl PreparedCall {
    /// Returns the rows, and releases the permit.
    pub(crate) fn into_rows(self) -> CallRows {
        drop(self.permit);
        self.rows
    }
}

/// The queues of pending work. They only repeat rows: work that is lost here is found at the next start.
pub(crate) struct Outbox {
    pub(crate) effects: Arc<WorkQueue<OpenEffect, PreparedCall>>,
    clocks: Arc<MerchantClocks>,
    /// Merchants, by their earliest timers, at the instants of the wall clock.
    pub(crate) timers: Arc<WorkQueue<MerchantId>>,
    /// Merchants that have metadata garbage.
    pub(crate) garbage: Arc<WorkQueue<MerchantId>>,
    /// Webhooks that have something to be sent.
    pub(crate) webhooks: Arc<WorkQueue<WebhookEndpoint>>,
    /// The webhooks of merchants that are sent events, and sometimes disconnected ones.
    connected: RwLock<BTreeMap<MerchantId, BTreeSet<WebhookId>>>,
    prepared: Arc<InFlight>,
    /// Keys of removed customers that are to leave the files.
    pub(crate) erasures: Arc<Erasures>,
    key_changes: AtomicU64,
    late_successes: AtomicU64,
    payments: PaymentCounters,
    removed: RemovedRows,
}

impl Outbox {
    /// An empty outbox.
    pub(crate) fn new(clocks: Arc<MerchantClocks>) -> Outbox {
        Outbox {
            clocks,
            effects: Arc::default(),
            timers: Arc::default(),
            garbage: Arc::default(),
            webhooks: Arc::default(),
            connected: RwLock::default(),
            prepared: InFlight::new(PREPARED_CALLS_MAX),
            erasures: Arc::default(),
            key_changes: AtomicU64::new(0),
            late_successes: AtomicU64::new(0),
            payments: PaymentCounters::default(),
            removed: RemovedRows::default(),
        }
    }

    /// The time of every merchant.
    pub(crate) fn clocks(&self) -> Arc<MerchantClocks> {
        Arc::clone(&self.clocks)
    }

    /// The number of changes to API keys. A change is counted after it can be read and before it is answered.
    pub(crate) fn key_changes(&self) -> u64 {
        self.key_changes.load(Ordering::Acquire)
    }

    /// Queues a merchant's webhooks, since it has new events or its suspension has ended.
    fn send_to_webhooks(&self, merchant_id: MerchantId) {
        if let Some(webhooks) = self.connected.read().get(&merchant_id) {
            for webhook_id in webhooks.iter().copied() {
                self.webhooks.add(WebhookEndpoint { merchant_id, webhook_id }, AT_ONCE, None);
            }
        }
    }

    /// Queues a webhook that was connected or changed, or was connected when the service last stopped.
    fn queue_webhook(&self, endpoint: WebhookEndpoint) {
        self.connected.write().entry(endpoint.merchant_id).or_default().insert(endpoint.webhook_id);
        self.webhooks.add(endpoint, AT_ONCE, None);
    }

    /// Stops sending events to a webhook.
    pub(crate) fn forget_webhook(&self, WebhookEndpoint { merchant_id, webhook_id }: WebhookEndpoint) {
        let mut connected = self.connected.write();
        if let Some(webhooks) = connected.get_mut(&merchant_id) {
            webhooks.remove(&webhook_id);
            if webhooks.is_empty() {
                connected.remove(&merchant_id);
            }
        }
    }

    /// Queues all webhooks that are sent events, and those with waiting deliveries.
    pub(crate) fn queue_webhooks(&self, store: &dyn Store, waiting: &[WebhookEndpoint]) -> Result<(), Unreadable> {
        let directory = MerchantReader::of_all_merchants(store);
        let mut after = Bound::Unbounded;
        loop {
            let range = (after, Bound::Unbounded);
            let page = directory.scan_keys::<WebhookDirectory>(range, ScanDirection::Forward, SCANNED_AT_ONCE)?;
            for (merchant_id, webhook_id) in page.iter().copied() {
                self.queue_webhook(WebhookEndpoint { merchant_id, webhook_id });
            }
            let Some(last) = page.last().copied().filter(|_| page.len() == SCANNED_AT_ONCE) else { break };
            after = Bound::Excluded(last);
        }
        waiting.iter().for_each(|endpoint| self.webhooks.add(*endpoint, AT_ONCE, None));
        Ok(())
    }

    /// The number of payments that an acquirer authorized after they had ended.
    pub(crate) fn late_successes(&self) -> u64 {
        self.late_successes.load(Ordering::Relaxed)
    }

    /// Counts of payments by what became of them.
    pub(crate) const fn payments(&self) -> &PaymentCounters {
        &self.payments
    }

    /// Counts of rows that were removed in the background.
    pub(crate) const fn removed_rows(&self) -> &RemovedRows {
        &self.removed
    }

    /// Queues the work that was open when the service last stopped.
    pub(crate) fn queue_open_work(&self, store: &dyn Store) -> Result<(), Unreadable> {
        let mut after = None;
        loop {
            let page = open_effects(store, after, SCANNED_AT_ONCE)?;
            after = page.last().copied();
            for (merchant_id, call) in page.iter().copied() {
                self.effects.add(OpenEffect { merchant_id, call }, AT_ONCE, None);
            }
            if page.len() < SCANNED_AT_ONCE {
                break;
            }
        }
        let mut after = None;
        while let Some((merchant_id, due)) = next_merchant_with_timers(store, after)? {
            if let Some(due) = due {
                self.timers.add(merchant_id, self.clocks.wall_at(merchant_id, due), None);
            }
            if MerchantReader::new(merchant_id, None, store).has_any::<MetadataGarbage>(..)? {
                self.garbage.add(merchant_id, AT_ONCE, None);
            }
            after = Some(merchant_id);
        }
        Ok(())
    }
}

/// The outbox entries of one record, or of the records that a load derives rows from; they are sent once the records
/// are durable.
#[derive(Debug)]
pub(crate) struct Pending {
    merchant_id: MerchantId,
    effects: Vec<(OpenCall, Option<CallRows>)>,
    /// The earliest timer that was set.
    timer: Option<Millis>,
    has_garbage: bool,
    changes_keys: bool,
    removed: Removed,
    late_success: Option<PaymentId>,
    outcome: Option<PaymentOutcome>,
    erased: Vec<Vec<u8>>,
    wakes_webhooks: bool,
    webhooks: Vec<WebhookId>,
    test_clock: Option<TestClock>,
}

impl Pending {
    /// No entries yet.
    pub(crate) const fn new(merchant_id: MerchantId) -> Pending {
        let removed = Removed::NONE;
        Pending {
            merchant_id,
            effects: Vec::new(),
            timer: None,
            has_garbage: false,
            changes_keys: false,
            removed,
            late_success: None,
            outcome: None,
            erased: Vec::new(),
            wakes_webhooks: false,
            webhooks: Vec::new(),
            test_clock: None,
        }
    }

    /// The entries of a record and the rows that it writes.
    pub(crate) fn of(merchant_id: MerchantId, mutation: &Mutation, changes: &Changes) -> Pending {
        let (removed, late_success) = (Removed::of(mutation), late_success(mutation));
        let (outcome, erased) = (PaymentOutcome::of(mutation, changes), erased_by(merchant_id, mutation));
        let mut pending = Pending { removed, late_success, outcome, erased, ..Pending::new(merchant_id) };
        pending.add(changes);
        pending
    }

    /// Adds the entries of a further record.
    pub(crate) fn add(&mut self, changes: &Changes) {
        self.test_clock = changes.test_clock(self.merchant_id).or(self.test_clock);
        for key in changes.written() {
            if let AnyKey::Effects(effect_id) = key {
                self.effects.push((OpenCall::Payment(*effect_id), changes.opened(*effect_id)));
            } else if let AnyKey::OpenPayouts(payout_id) = key {
                self.effects.push((OpenCall::Payout(*payout_id), None));
            } else if let AnyKey::OpenEvidence(dispute_id) = key {
                self.effects.push((OpenCall::Evidence(*dispute_id), None));
            } else if let AnyKey::Timers(timer) = key {
                self.timer = Some(self.timer.map_or(timer.due, |earlier| earlier.min(timer.due)));
            } else if let AnyKey::MetadataGarbage(_) = key {
                self.has_garbage = true;
            } else if let AnyKey::ApiKeys(_) = key {
                self.changes_keys = true;
            } else if let AnyKey::WebhookEvents(_) | AnyKey::Profiles(_) = key {
                // The end of a suspension is a change of the profile, and orders to deliver events again go on then.
                self.wakes_webhooks = true;
            } else if let AnyKey::Webhooks(webhook_id) = key {
                self.webhooks.push(*webhook_id);
            }
        }
    }

    /// Queues the entries.
    pub(crate) fn send(self, outbox: &Outbox) {
        let merchant_id = self.merchant_id;
        if self.changes_keys {
            outbox.key_changes.fetch_add(1, Ordering::AcqRel);
        }
        outbox.removed.add(self.removed);
        outbox.erasures.add(self.erased);
        if let Some(test_clock) = self.test_clock {
            outbox.clocks.set(merchant_id, test_clock);
            // Timers of the test clock may be due earlier.
            outbox.timers.add(merchant_id, outbox.clocks.wall(), None);
        }
        if let Some(payment_id) = self.late_success {
            outbox.late_successes.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(%merchant_id, %payment_id, "a payment was authorized after it had ended: its money is returned");
        }
        if let Some(outcome) = &self.outcome {
            outbox.payments.note(merchant_id, outcome);
        }
        for (call, rows) in self.effects {
            let prepared = rows.and_then(|rows| outbox.prepared.enter().map(|permit| PreparedCall { rows, permit }));
            outbox.effects.add(OpenEffect { merchant_id, call }, AT_ONCE, prepared);
        }
        if let Some(due) = self.timer {
            outbox.timers.add(merchant_id, outbox.clocks.wall_at(merchant_id, due), None);
        }
        for webhook_id in self.webhooks {
            outbox.queue_webhook(WebhookEndpoint { merchant_id, webhook_id });
        }
        if self.wakes_webhooks {
            outbox.send_to_webhooks(merchant_id);
        }
        if self.has_garbage {
            outbox.garbage.add(merchant_id, AT_ONCE, None);
        }
    }
}

/// The payment that had ended before the acquirer authorized it. A record has one answer of an acquirer.
fn late_success(mutation: &Mutation) -> Option<PaymentId> {
    mutation.events.iter().find_map(|event| {
        let Event::LateSuccess { payment_id, authorization: _, captured: _ } = event else { return None };
        Some(*payment_id)
    })
}
