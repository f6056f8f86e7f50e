//! `POST /merchants/find-webhook`, `list-webhooks`

use crate::endpoints::endpoint::Endpoint;
use crate::endpoints::kinds::{find, kind, list, named_kind};
use crate::protocol::declaration::{Declaration, Flags, Package, Returns, page_arguments};
use till_domain::ids::WebhookId;

use super::arguments::WEBHOOK_ARGUMENT;
use super::refusals::WEBHOOK_NOT_FOUND;
use crate::access::MerchantCaller;
use crate::endpoints::shapes::webhook::{WEBHOOK, WebhookShape};
use crate::protocol::api_error::ApiError;
use till_domain::records::Webhooks;

pub(in crate::endpoints::merchants) const ENDPOINTS: &[Endpoint<MerchantCaller>] =
    &[Endpoint(&FIND_WEBHOOK, &find::<Webhooks>), Endpoint(&LIST_WEBHOOKS, &list::<Webhooks>)];

static FIND_WEBHOOK: Declaration = Declaration {
    name: "find-webhook",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Returns a webhook.",
    docs: "",
    arguments: &[WEBHOOK_ARGUMENT.argument],
    returns: Returns::Object(&WEBHOOK),
    errors: &[WEBHOOK_NOT_FOUND],
    flags: Flags::QUERY,
};

static LIST_WEBHOOKS: Declaration = Declaration {
    name: "list-webhooks",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Lists the merchant's webhooks, connected or not, newest first.",
    docs: "",
    arguments: &page_arguments(WebhookId::PREFIX),
    returns: Returns::Page(&WEBHOOK),
    errors: &[],
    flags: Flags::QUERY,
};

const UNKNOWN: &str = "No webhook of this merchant has this webhook_id. list-webhooks lists those that exist.";

kind!(Webhooks => WebhookShape::new);
named_kind!(Webhooks, WEBHOOK_ARGUMENT, ApiError::not_found("webhook_id", UNKNOWN));
