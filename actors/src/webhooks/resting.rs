//! Endpoints that fail repeatedly are called less often, so that they cost other work nothing.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use till_domain::time::Millis;

use super::retry_schedule::DeliveryVerdict;
use crate::outbox::WebhookEndpoint;

/// Attempts at one endpoint at the same time.
pub(super) const ATTEMPTS_AT_ONCE: usize = 8;
/// Failures in a row after which there are pauses between the attempts at an endpoint.
const FAILURES_MAX: u32 = 100;
/// The pause after each further failure.
const PAUSE_SECONDS: u64 = 1;

/// Failures in a row of each endpoint whose last attempt failed. They are lost at a restart.
#[derive(Debug, Default)]
pub(super) struct Resting(Mutex<BTreeMap<WebhookEndpoint, Failures>>);

#[derive(Debug, Clone, Copy, Default)]
struct Failures {
    count: u32,
    paused_until: Millis,
}

impl Resting {
    /// The end of the endpoint's pause, when it has one at this time.
    pub(super) fn end_of_rest(&self, endpoint: WebhookEndpoint, now: Millis) -> Option<Millis> {
        let paused_until = self.0.lock().get(&endpoint)?.paused_until;
        (now < paused_until).then_some(paused_until)
    }

    /// Limit of the attempts under way at the endpoint at this time.
    pub(super) fn attempts_at_once(&self, endpoint: WebhookEndpoint, now: Millis) -> usize {
        match self.0.lock().get(&endpoint) {
            Some(failures) if now < failures.paused_until => 0,
            Some(failures) if failures.count >= FAILURES_MAX => 1,
            _ => ATTEMPTS_AT_ONCE,
        }
    }

    /// True when the last attempt at the endpoint failed.
    pub(super) fn is_failing(&self, endpoint: WebhookEndpoint) -> bool {
        self.0.lock().contains_key(&endpoint)
    }

    /// Notes the result of an attempt: the first success ends the pauses.
    pub(super) fn note(&self, endpoint: WebhookEndpoint, verdict: DeliveryVerdict, now: Millis) {
        let mut all = self.0.lock();
        if verdict == DeliveryVerdict::Succeeded {
            all.remove(&endpoint);
            return;
        }
        let failures = all.entry(endpoint).or_default();
        failures.count = failures.count.saturating_add(1);
        if failures.count >= FAILURES_MAX {
            failures.paused_until = now.plus_seconds(PAUSE_SECONDS);
        }
    }

    /// Drops the failures of an endpoint that is not connected any more.
    pub(super) fn forget(&self, endpoint: WebhookEndpoint) {
        self.0.lock().remove(&endpoint);
    }
}
