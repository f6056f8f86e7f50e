//! The data of one webhook that deliveries need: its address, the events, the secrets.

use std::sync::Arc;

use till_domain::ids::{MerchantId, WebhookEventId};
use till_domain::records::{Profiles, Rows, Single, Unreadable, WebhookEvents, Webhooks};
use till_domain::time::Millis;
use till_domain::webhook::{Webhook, WebhookStatus};
use till_storage::rows::RowGate;
use till_storage::shapes::MerchantReader;
use till_storage::vault::{Keyring, WebhookSecretOf};

use super::body::EventBody;
use super::signing::{SignedHeaders, SigningSecret, sign};
use crate::outbox::WebhookEndpoint;
use crate::store::Store;

/// The body of one attempt, with the headers that prove its origin.
pub(super) struct SignedBody {
    pub(super) body: Vec<u8>,
    pub(super) headers: SignedHeaders,
}

/// Reads the data that deliveries need.
pub(super) struct WebhookReader {
    pub(super) store: Arc<dyn Store>,
    pub(super) keyring: Arc<Keyring>,
}

impl WebhookReader {
    /// The reader of one merchant's rows.
    pub(super) fn reader(&self, merchant_id: MerchantId) -> MerchantReader<&dyn Store> {
        MerchantReader::new(merchant_id, Some(Arc::clone(&self.keyring)), &*self.store)
    }

    /// True when the merchant's rows are derived from its whole log.
    pub(super) fn has_all_rows(&self, merchant_id: MerchantId) -> Result<bool, Unreadable> {
        Ok(self.store.gate(merchant_id)? == RowGate::Open)
    }

    /// The webhook, while events are sent to it.
    pub(super) fn connected(&self, endpoint: WebhookEndpoint) -> Result<Option<Webhook>, Unreadable> {
        let webhook = self.reader(endpoint.merchant_id).get::<Webhooks>(endpoint.webhook_id)?;
        Ok(webhook.filter(|webhook| webhook.status == WebhookStatus::Connected))
    }

    /// True while the merchant is suspended.
    pub(super) fn is_suspended(&self, merchant_id: MerchantId) -> Result<bool, Unreadable> {
        let profile = self.reader(merchant_id).get::<Profiles>(Single)?;
        Ok(profile.is_some_and(|profile| profile.suspended))
    }

    /// The body of an event; none when the event is not kept any longer.
    pub(super) fn body(&self, merchant_id: MerchantId, id: WebhookEventId) -> Result<Option<EventBody>, Unreadable> {
        let rows = self.reader(merchant_id);
        let Some(event) = rows.get::<WebhookEvents>(id)? else { return Ok(None) };
        EventBody::read(&event, &rows).map(Some)
    }

    /// A body, signed as of now.
    pub(super) fn letter(
        &self,
        merchant_id: MerchantId,
        webhook: &Webhook,
        (event_id, body): (WebhookEventId, EventBody),
        now: Millis,
    ) -> Result<SignedBody, Unreadable> {
        let (newest, older) = self.secrets(merchant_id, webhook, now)?;
        let body =
            serde_json::to_vec(&body.delivered(now)).map_err(|error| Unreadable { reason: error.to_string() })?;
        let headers = sign(&newest, &older, &event_id.to_string(), now.unix_seconds(), &body);
        Ok(SignedBody { body, headers })
    }

    /// The newest secret of a webhook, and those that it replaced and that still sign, the newest first.
    fn secrets(
        &self,
        merchant_id: MerchantId,
        webhook: &Webhook,
        now: Millis,
    ) -> Result<(SigningSecret, Vec<SigningSecret>), Unreadable> {
        let rows = self.reader(merchant_id);
        let read = |slot| -> Result<Option<SigningSecret>, Unreadable> {
            let secret = rows.webhook_secret(WebhookSecretOf { webhook_id: webhook.id, slot })?;
            Ok(secret.map(|bytes| SigningSecret::from_bytes(&bytes)))
        };
        let newest = read(webhook.secret_slot)?;
        let newest =
            newest.ok_or_else(|| Unreadable { reason: "the vault has no secret of the webhook".to_owned() })?;
        let sign = webhook.previous_secrets.iter().rev().filter(|secret| now < secret.until);
        let older: Result<Vec<SigningSecret>, Unreadable> =
            sign.filter_map(|secret| read(secret.slot).transpose()).collect();
        Ok((newest, older?))
    }
}
