//! `POST /merchants/find-webhook`, `list-webhooks`

use till_domain::ids::WebhookId;
use till_domain::records::Webhooks;

use super::arguments::WEBHOOK_ARGUMENT;
use super::refusals::WEBHOOK_NOT_FOUND;
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::webhook::{WEBHOOK, WebhookShape};

pub(in crate::endpoints::merchants) const ENDPOINTS: MerchantEndpoints = &[
    MerchantEndpoint(Act::RunWebhooks, &FIND_WEBHOOK, &find::<Webhooks>),
    MerchantEndpoint(Act::RunWebhooks, &LIST_WEBHOOKS, &list::<Webhooks>),
];

static FIND_WEBHOOK: Declaration = Declaration {
    name: "find-webhook",
    summary: "Returns a webhook.",
    arguments: &[WEBHOOK_ARGUMENT.argument],
    returns: Returns::Object(&WEBHOOK),
    errors: &[WEBHOOK_NOT_FOUND],
    ..Declaration::query(Package::Merchants, "webhooks")
};

static LIST_WEBHOOKS: Declaration = Declaration {
    name: "list-webhooks",
    summary: "Lists the merchant's webhooks, connected or not, newest first.",
    arguments: &list_page_arguments(WebhookId::PREFIX),
    returns: Returns::ListPage(&WEBHOOK),
    ..Declaration::query(Package::Merchants, "webhooks")
};

const UNKNOWN: &str = "No webhook of this merchant has this webhook_id. list-webhooks lists those that exist.";

kind!(Webhooks => WebhookShape::new);
named_kind!(Webhooks, WEBHOOK_ARGUMENT, ApiError::not_found("webhook_id", UNKNOWN));
