//! Deliveries that a merchant asks for: one to try a webhook, and the look-up of those that are repeated.

use std::panic::resume_unwind;
use std::sync::Arc;

use till_domain::command::RedeliveredEvents;
use till_domain::ids::{IdPosition, MerchantId, RawId, WebhookEventId};
use till_domain::records::{Rows, Unreadable, WebhookEvents};
use till_domain::time::Millis;
use till_domain::webhook::{Webhook, WebhookEvent, WebhookTest};
use till_storage::deliveries::{Deliveries, Delivery, DeliveryBatch, DeliveryStatus};
use till_storage::rows::ScanDirection;
use tokio::task::spawn_blocking;

use super::body::EventBody;
use super::dispatcher::Dispatcher;
use super::outcome::AttemptOutcome;
use super::statistics::WebhookStatistics;
use crate::background::WorkError;
use crate::outbox::WebhookEndpoint;

/// The events that a merchant asks to be delivered again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedEvents {
    /// One event.
    One(WebhookEventId),
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

    /// Sends an event that happened only to try a webhook, and waits for the end of the attempt, some 15 seconds at
    /// most. It is attempted once.
    ///
    /// # Errors
    /// An error when the secret cannot be read or the delivery cannot be written. Without room for it, no attempt is
    /// made.
    pub async fn test(&self, merchant_id: MerchantId, webhook: &Webhook) -> Result<WebhookTest, WorkError> {
        let dispatcher = &self.0;
        dispatcher.deliveries().check_room()?;
        let now = dispatcher.clock.now();
        let event_id = dispatcher.mint(now);
        let delivery = dispatcher.fresh(webhook, (event_id, None));
        let endpoint = WebhookEndpoint { merchant_id, webhook_id: webhook.id };
        let attempt = dispatcher.post(endpoint, webhook, (event_id, EventBody::test(event_id, now))).await?;
        let (schedule, chance) = (&dispatcher.delivery.schedule, dispatcher.chance());
        let AttemptOutcome { delivery, verdict } =
            AttemptOutcome::of(delivery, attempt, schedule, chance, now).without_retry();
        dispatcher.statistics.count(verdict);
        let Delivery { id, status, response_status, latency_ms, .. } = delivery;
        let (batch, writer) = (DeliveryBatch { deliveries: vec![delivery], progress: None }, Arc::clone(dispatcher));
        // This thread serves other callers, too.
        let written = spawn_blocking(move || writer.deliveries().write(merchant_id, &batch)).await;
        written.unwrap_or_else(|error| resume_unwind(error.into_panic()))?;
        let is_successful = status == DeliveryStatus::Successful;
        Ok(WebhookTest { delivery_id: id, is_successful, response_status, latency_ms })
    }

    /// The events that an order to deliver again covers: those that the webhook's own progress has passed. Events that
    /// it was not sent yet are sent in their turn. Takes two look-ups, however many events there are.
    ///
    /// # Errors
    /// An error when events or the progress cannot be read.
    pub fn covered(
        &self,
        merchant_id: MerchantId,
        webhook: &Webhook,
        asked: AskedEvents,
    ) -> Result<RedeliveredEvents, WorkError> {
        let progress = self.deliveries().progress(merchant_id, webhook.id)?;
        let passed = progress.map(|progress| progress.handled_up_to).max(Some(webhook.connected_after));
        let passed = passed.unwrap_or(webhook.connected_after);
        let rows = self.0.library.reader(merchant_id);
        let since = match asked {
            AskedEvents::One(id) => {
                let event = rows.get::<WebhookEvents>(id)?;
                let is_to_come = event.is_some_and(|event| event.id > passed);
                return Ok(if is_to_come { RedeliveredEvents::Range(None) } else { RedeliveredEvents::One(event) });
            }
            AskedEvents::Since(at) => first_id_at(at),
        };
        if since > passed {
            return Ok(RedeliveredEvents::Range(None));
        }
        let end = |direction| -> Result<Option<WebhookEvent>, Unreadable> {
            let found = rows.scan::<WebhookEvents>(since..=passed, direction, 1)?;
            Ok(found.into_iter().next().map(|(_, event)| event))
        };
        Ok(RedeliveredEvents::Range(end(ScanDirection::Forward)?.zip(end(ScanDirection::Backward)?)))
    }
}

/// The least id of this time.
fn first_id_at(at: Millis) -> WebhookEventId {
    WebhookEventId::from_raw(RawId::new(IdPosition { millis: at.0, counter: 0 }, 0))
}
