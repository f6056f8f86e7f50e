//! The body of an event, as webhooks deliver it and as the merchant reads it: contract, section 11.

use serde::Serialize;
use till_domain::ids::WebhookEventId;
use till_domain::money::Currency;
use till_domain::records::{Checkouts, Payments, Payouts, Rows, Unreadable};
use till_domain::text::ExternalId;
use till_domain::time::Millis;
use till_domain::webhook::{EventCheckout, WebhookEvent, WebhookEventKind};

/// The name of the event by which a merchant tries a webhook.
const TEST: &str = "test";

/// A body. Every member is always there, null where it does not apply.
#[derive(Debug, Clone, Serialize)]
pub struct EventBody {
    event_id: String,
    event: String,
    sequence: Option<u64>,
    payment_id: Option<String>,
    external_id: Option<String>,
    status: Option<&'static str>,
    refund_id: Option<String>,
    dispute_id: Option<String>,
    payout_id: Option<String>,
    checkout_id: Option<String>,
    amount: Option<u64>,
    currency: Option<String>,
    created_at: u64,
    delivered_at: Option<u64>,
}

impl EventBody {
    /// The body of an event, with the identifier and the currency of its payment, payout or checkout.
    ///
    /// # Errors
    /// [`Unreadable`] when that cannot be read.
    pub fn read(event: &WebhookEvent, rows: &impl Rows) -> Result<EventBody, Unreadable> {
        let (external_id, currency) = subject(event, rows)?.unzip();
        let external_id = external_id.flatten();
        Ok(EventBody {
            event_id: event.id.to_string(),
            event: delivered_name(event.kind),
            sequence: Some(event.sequence),
            payment_id: event.payment_id.map(|payment_id| payment_id.to_string()),
            external_id: external_id.map(|external_id| external_id.as_str().to_owned()),
            status: Some(event.object.status()),
            refund_id: event.object.refund_id().map(|refund_id| refund_id.to_string()),
            dispute_id: event.object.dispute_id().map(|dispute_id| dispute_id.to_string()),
            payout_id: event.object.payout_id().map(|payout_id| payout_id.to_string()),
            checkout_id: event.checkout.map(|checkout| checkout.id.to_string()),
            amount: Some(event.amount_minor),
            currency: currency.map(|currency| currency.to_string()),
            created_at: event.created_at.unix_seconds(),
            delivered_at: None,
        })
    }

    /// The body of an event that happened only to try a webhook. It has no number.
    #[must_use]
    pub fn test(id: WebhookEventId, at: Millis) -> EventBody {
        EventBody {
            event_id: id.to_string(),
            event: TEST.to_owned(),
            sequence: None,
            payment_id: None,
            external_id: None,
            status: None,
            refund_id: None,
            dispute_id: None,
            payout_id: None,
            checkout_id: None,
            amount: None,
            currency: None,
            created_at: at.unix_seconds(),
            delivered_at: None,
        }
    }

    /// Sets the time of the delivery.
    #[must_use]
    pub fn delivered(self, at: Millis) -> EventBody {
        EventBody { delivered_at: Some(at.unix_seconds()), ..self }
    }
}

/// The name of a kind as it is delivered; for none, the name of the event which tries a webhook.
#[must_use]
pub fn name_of_delivered(kind: Option<WebhookEventKind>) -> String {
    kind.map_or_else(|| TEST.to_owned(), delivered_name)
}

fn delivered_name(kind: WebhookEventKind) -> String {
    kind.name().to_lowercase()
}

/// The merchant's own identifier and the currency of the payment, payout or checkout that an event is about. The
/// identifier of a checkout passes from payment to payment, so that the event says whether it had it.
fn subject(event: &WebhookEvent, rows: &impl Rows) -> Result<Option<(Option<ExternalId>, Currency)>, Unreadable> {
    if let Some(payout_id) = event.object.payout_id() {
        let payout = rows.get::<Payouts>(payout_id)?;
        return Ok(payout.map(|payout| (payout.external_id, payout.money.currency)));
    }
    if let Some(EventCheckout { id, has_external_id }) = event.checkout {
        let checkout = rows.get::<Checkouts>(id)?;
        return Ok(checkout.map(|it| (it.external_id.filter(|_| has_external_id), it.money.currency)));
    }
    let payment = event.payment_id.map_or(Ok(None), |payment_id| rows.get::<Payments>(payment_id))?;
    Ok(payment.map(|payment| (payment.external_id, payment.money.currency)))
}
