//! Deliveries that a merchant asks for: one to try a webhook, and repeated ones.

use std::sync::Arc;

use till_domain::ids::{IdPosition, MerchantId, RawId, WebhookEventId};
use till_domain::records::{Rows, WebhookEvents};
use till_domain::time::Millis;
use till_domain::webhook::{Webhook, WebhookEvent};
use till_storage::deliveries::{Deliveries, Delivery, DeliveryBatch};
use till_storage::rows::ScanDirection;

use super::body::EventBody;
use super::dispatcher::Dispatcher;
use super::endpoint::WebhookEndpoint;
use super::outcome::AttemptOutcome;
use super::statistics::WebhookStatistics;
use crate::background::{AT_ONCE, WorkError};

/// Deliveries that are queued by one write.
const QUEUED_AT_ONCE: usize = 256;

/// The events that are to be delivered again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redelivery {
    /// One event.
    Event(WebhookEventId),
    /// All events since this time.
    Since(Millis),
}

/// The deliveries of all merchants.
#[derive(Clone)]
pub struct Webhooks(pub(crate) Arc<Dispatcher>);

impl Webhooks {
    /// The deliveries of each event to each endpoint.
    #[must_use]
    pub fn deliveries(&self) -> &dyn Deliveries {
        self.0.deliveries()
    }

    /// Numbers for metrics.
    #[must_use]
    pub fn statistics(&self) -> &WebhookStatistics {
        &self.0.statistics
    }

    /// Sends an event that happened only to try a webhook, and waits for the end of the attempt, some 15 seconds at most.
    /// It is attempted once.
    ///
    /// # Errors
    /// An error when the secret cannot be read or the delivery cannot be written.
    pub async fn test(&self, merchant_id: MerchantId, webhook: &Webhook) -> Result<Delivery, WorkError> {
        let dispatcher = &self.0;
        let now = dispatcher.clock.now();
        let event_id = dispatcher.mint(now);
        let delivery = dispatcher.fresh(webhook, (event_id, None));
        let endpoint = WebhookEndpoint { merchant_id, webhook_id: webhook.id };
        let attempt = dispatcher.post(endpoint, webhook, (event_id, EventBody::test(event_id, now))).await?;
        let (schedule, chance) = (&dispatcher.delivery.schedule, dispatcher.chance());
        let AttemptOutcome { delivery, verdict } =
            AttemptOutcome::of(delivery, attempt, schedule, chance, now).without_retry();
        dispatcher.statistics.count(verdict);
        let batch = DeliveryBatch { deliveries: vec![delivery.clone()], progress: None };
        dispatcher.deliveries().write(merchant_id, &batch)?;
        Ok(delivery)
    }

    /// Repeats the deliveries of events to a webhook that were delivered or given up, if the events are still kept and
    /// the webhook is sent their kind. Events that it has not been sent yet wait for their turn. Returns the number of
    /// deliveries.
    ///
    /// # Errors
    /// An error when events cannot be read, or the deliveries cannot be written: some may be queued then.
    pub fn deliver_again(
        &self,
        merchant_id: MerchantId,
        webhook: &Webhook,
        which: Redelivery,
    ) -> Result<usize, WorkError> {
        let dispatcher = &self.0;
        let progress = dispatcher.deliveries().progress(merchant_id, webhook.id)?;
        let last = progress.map(|progress| progress.handled_up_to).max(Some(webhook.connected_after));
        let last = last.unwrap_or(webhook.connected_after);
        let rows = dispatcher.library.reader(merchant_id);
        let mut count = 0;
        match which {
            Redelivery::Event(id) => {
                let event = rows.get::<WebhookEvents>(id)?.filter(|event| event.id <= last);
                count += self.queue(merchant_id, webhook, event.into_iter().collect())?;
            }
            Redelivery::Since(at) => {
                let mut from = first_id_at(at);
                while from <= last {
                    let found = rows.scan::<WebhookEvents>(from..=last, ScanDirection::Forward, QUEUED_AT_ONCE)?;
                    let Some((newest, _)) = found.last() else { break };
                    let Some(next) = till_domain::ids::Id::to_raw(*newest).successor() else { break };
                    from = till_domain::ids::Id::from_raw(next);
                    let sent = found.into_iter().map(|(_, event)| event);
                    let sent = sent.filter(|event| webhook.subscription.includes(event.kind)).collect();
                    count += self.queue(merchant_id, webhook, sent)?;
                }
            }
        }
        dispatcher.outbox.webhooks.add(WebhookEndpoint { merchant_id, webhook_id: webhook.id }, AT_ONCE, None);
        Ok(count)
    }

    fn queue(&self, merchant_id: MerchantId, webhook: &Webhook, events: Vec<WebhookEvent>) -> Result<usize, WorkError> {
        let fresh = |event: &WebhookEvent| self.0.fresh(webhook, (event.id, Some(event)));
        let deliveries: Vec<Delivery> = events.iter().map(fresh).collect();
        let count = deliveries.len();
        if count > 0 {
            self.0.deliveries().write(merchant_id, &DeliveryBatch { deliveries, progress: None })?;
        }
        Ok(count)
    }
}

/// The least id of this time.
fn first_id_at(at: Millis) -> WebhookEventId {
    let raw = RawId::new(IdPosition { millis: at.0, counter: 0 }, 0);
    till_domain::ids::Id::from_raw(raw)
}
