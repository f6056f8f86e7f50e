//! Statistics of webhook deliveries, for metrics.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use till_domain::time::Millis;

use super::retry_schedule::DeliveryVerdict;
use crate::outbox::WebhookEndpoint;

/// The names of the results of a delivery attempt.
const RESULTS: [&str; 3] = ["succeeded", "failed", "gone"];

/// Statistics of webhook deliveries since the engine started.
#[derive(Debug, Default)]
pub struct WebhookStatistics {
    attempts: [AtomicU64; RESULTS.len()],
    /// The waiting events of each endpoint. An endpoint without waiting events has no entry.
    waiting: Mutex<BTreeMap<WebhookEndpoint, WaitingDeliveries>>,
}

/// Events that an endpoint has not accepted yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WaitingDeliveries {
    /// The number of these events.
    pub count: usize,
    /// The time at which the oldest of these events was first due.
    pub since: Option<Millis>,
}

impl WebhookStatistics {
    /// The number of delivery attempts for each result.
    #[must_use]
    pub fn attempts(&self) -> [(&'static str, u64); RESULTS.len()] {
        std::array::from_fn(|result| (RESULTS[result], self.attempts[result].load(Ordering::Relaxed)))
    }

    /// The waiting events of all endpoints together.
    #[must_use]
    pub fn waiting(&self) -> WaitingDeliveries {
        let waiting = self.waiting.lock();
        let count = waiting.values().map(|waiting| waiting.count).sum();
        WaitingDeliveries { count, since: waiting.values().filter_map(|waiting| waiting.since).min() }
    }

    pub(super) fn count(&self, verdict: DeliveryVerdict) {
        let result = match verdict {
            DeliveryVerdict::Succeeded => 0,
            DeliveryVerdict::Failed => 1,
            DeliveryVerdict::Gone => 2,
        };
        self.attempts[result].fetch_add(1, Ordering::Relaxed);
    }

    /// Records the waiting events of an endpoint, in place of the earlier record.
    pub(super) fn note(&self, endpoint: WebhookEndpoint, waiting: WaitingDeliveries) {
        let mut all = self.waiting.lock();
        if waiting.count == 0 {
            all.remove(&endpoint);
        } else {
            all.insert(endpoint, waiting);
        }
    }
}
