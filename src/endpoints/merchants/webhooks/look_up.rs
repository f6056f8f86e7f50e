//! `POST /merchants/find-webhook`, `list-webhooks`

use till_domain::ids::WebhookId;
use till_domain::records::{Rows, Webhooks};
use till_domain::webhook::Webhook;

use super::arguments::{WEBHOOK_ARGUMENT, named, webhook_id};
use super::refusals::WEBHOOK_NOT_FOUND;
use crate::access::MerchantCaller;
use crate::endpoints::shapes::webhook::{WEBHOOK, WebhookShape};
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::{Argument, Declaration, Flags, Package, Returns, page_arguments};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::service::{Reader, Shared, read_page};

const PAGE: [Argument; 3] = page_arguments(WebhookId::PREFIX);

pub(in crate::endpoints::merchants) static FIND_WEBHOOK: Declaration = Declaration {
    name: "find-webhook",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Returns a webhook.",
    docs: "",
    arguments: &[WEBHOOK_ARGUMENT],
    returns: Returns::Object(&WEBHOOK),
    errors: &[WEBHOOK_NOT_FOUND],
    flags: Flags::QUERY,
};

pub(in crate::endpoints::merchants) static LIST_WEBHOOKS: Declaration = Declaration {
    name: "list-webhooks",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Lists the merchant's webhooks, connected or not, newest first.",
    docs: "",
    arguments: &PAGE,
    returns: Returns::Page(&WEBHOOK),
    errors: &[],
    flags: Flags::QUERY,
};

/// `POST /merchants/find-webhook`
pub(in crate::endpoints::merchants) async fn find_webhook(
    service: Shared,
    call: Call<MerchantCaller>,
) -> Result<Reply, ApiError> {
    let id = named(&call)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    Ok(Reply::new(&WebhookShape::new(&found(&reader, id)?)))
}

/// `POST /merchants/list-webhooks`
pub(in crate::endpoints::merchants) async fn list_webhooks(
    service: Shared,
    call: Call<MerchantCaller>,
) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let page = field::page(&mut fields, webhook_id());
    let request = fields.finish(|| page)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    Reply::page(&read_page::<Webhooks>(&reader, request)?.map(WebhookShape::new))
}

/// The webhook with an id.
pub(in crate::endpoints::merchants) fn found(reader: &Reader<'_>, id: WebhookId) -> Result<Webhook, ApiError> {
    let unknown = || {
        let message = "No webhook of this merchant has this webhook_id. list-webhooks lists those that exist.";
        ApiError::not_found("webhook_id", message)
    };
    reader.get::<Webhooks>(id)?.ok_or_else(unknown)
}
