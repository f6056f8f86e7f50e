//! The queue of webhooks that have something to be sent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::RwLock;
use till_domain::ids::{MerchantId, WebhookId};
use till_domain::records::{Unreadable, WebhookDirectory};
use till_storage::shapes::MerchantReader;

use crate::background::{AT_ONCE, WorkQueue};
use crate::store::Store;

/// A webhook with its merchant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WebhookEndpoint {
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The webhook.
    pub webhook_id: WebhookId,
}

/// Webhooks that have something to be sent, and those to which events are sent as they happen.
#[derive(Default)]
pub(crate) struct WebhookQueue {
    pub(crate) endpoints: Arc<WorkQueue<WebhookEndpoint>>,
    /// By merchant. One that was disconnected stays here until its turn.
    connected: RwLock<BTreeMap<MerchantId, BTreeSet<WebhookId>>>,
}

impl WebhookQueue {
    /// Queues a merchant's webhooks, since it has new events or its suspension has ended.
    pub(crate) fn wake(&self, merchant_id: MerchantId) {
        if let Some(webhooks) = self.connected.read().get(&merchant_id) {
            for webhook_id in webhooks.iter().copied() {
                self.queue(WebhookEndpoint { merchant_id, webhook_id });
            }
        }
    }

    /// Queues a webhook that was connected or changed, or was connected when the service last stopped.
    pub(crate) fn connect(&self, endpoint: WebhookEndpoint) {
        self.connected.write().entry(endpoint.merchant_id).or_default().insert(endpoint.webhook_id);
        self.queue(endpoint);
    }

    /// Queues a webhook with waiting deliveries.
    pub(crate) fn queue(&self, endpoint: WebhookEndpoint) {
        self.endpoints.add(endpoint, AT_ONCE, None);
    }

    /// Stops sending events to a webhook.
    pub(crate) fn forget(&self, WebhookEndpoint { merchant_id, webhook_id }: WebhookEndpoint) {
        let mut connected = self.connected.write();
        if let Some(webhooks) = connected.get_mut(&merchant_id) {
            webhooks.remove(&webhook_id);
            if webhooks.is_empty() {
                connected.remove(&merchant_id);
            }
        }
    }

    /// Queues all webhooks that are sent events.
    pub(crate) fn connect_all(&self, store: &dyn Store) -> Result<(), Unreadable> {
        for webhook in MerchantReader::of_all_merchants(store).all_keys::<WebhookDirectory>() {
            let (merchant_id, webhook_id) = webhook?;
            self.connect(WebhookEndpoint { merchant_id, webhook_id });
        }
        Ok(())
    }
}
