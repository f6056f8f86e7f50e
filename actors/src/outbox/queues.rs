//! All queues together.

use std::sync::Arc;
use till_domain::ids::MerchantId;
use till_domain::records::{MetadataGarbage, Unreadable};
use till_storage::shapes::{MerchantReader, next_merchant_with_timers, open_calls};

use super::effect_queue::EffectQueue;
use super::erasures::Erasures;
use super::timer_queue::TimerQueue;
use super::webhook_queue::WebhookQueue;
use crate::background::{AT_ONCE, WorkQueue};
use crate::clock::MerchantClocks;
use crate::store::Store;

/// The queues of pending work. They only repeat rows: work that is lost here is found at the next start.
pub(crate) struct Outbox {
    pub(crate) effects: EffectQueue,
    pub(crate) timers: TimerQueue,
    /// Merchants that have metadata garbage.
    pub(crate) garbage: Arc<WorkQueue<MerchantId>>,
    pub(crate) webhooks: Arc<WebhookQueue>,
    /// Keys of removed customers that are to leave the files.
    pub(crate) erasures: Arc<Erasures>,
}

impl Outbox {
    /// An empty outbox.
    pub(crate) fn new(clocks: Arc<MerchantClocks>) -> Outbox {
        Outbox {
            effects: EffectQueue::new(),
            timers: TimerQueue::new(clocks),
            garbage: Arc::default(),
            webhooks: Arc::default(),
            erasures: Arc::default(),
        }
    }

    /// Queues the work that was open when the service last stopped, and the webhooks that are sent events.
    pub(crate) fn queue_open_work(&self, store: &dyn Store) -> Result<(), Unreadable> {
        for open in open_calls(store, None) {
            let (merchant_id, call) = open?;
            self.effects.add_from_log(merchant_id, call);
        }
        let mut after = None;
        while let Some((merchant_id, due)) = next_merchant_with_timers(store, after)? {
            if let Some(due) = due {
                self.timers.add(merchant_id, due);
            }
            if MerchantReader::new(merchant_id, None, store).has_any::<MetadataGarbage>(..)? {
                self.garbage.add(merchant_id, AT_ONCE, None);
            }
            after = Some(merchant_id);
        }
        self.webhooks.connect_all(store)
    }
}
