//! `POST /merchants/test-webhook`, `redeliver-webhook`, `list-webhook-deliveries`

use serde::Serialize;
use serde_json::json;
use till_actors::webhooks::Redelivery;
use till_domain::ids::{DeliveryId, WebhookEventId, WebhookId};
use till_domain::records::{Rows, WebhookEvents};
use till_domain::time::Millis;
use till_domain::webhook::WebhookStatus;
use till_storage::deliveries::{DeliveryFilter, DeliveryStatus};

use super::webhooks::{WEBHOOK_ARGUMENT, WEBHOOK_NOT_FOUND, found, webhook_id};
use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::shapes::delivery::{DELIVERY, DeliveryShape};
use crate::protocol::api_error::{ApiError, CallEffect, Code};
use crate::protocol::declaration::{
    Argument, Attribute, Declaration, DeclaredError, Flags, Integer, ObjectType, Package, Returns, ValueType,
    page_arguments, words_of,
};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::fault::Fault;
use crate::protocol::field;
use crate::service::{Page, RETRY_AFTER_SECONDS, Shared};

const PAGE: [Argument; 3] = page_arguments(DeliveryId::PREFIX);

/// The largest number of seconds that JSON readers keep exactly.
const SECONDS_MAX: u64 = (1 << 53) - 1;

/// A time of the past.
const SINCE: ValueType =
    ValueType::Integer(Integer { is_time: true, limits: Some((0, SECONDS_MAX)), example: Some(1_767_225_600) });

static TESTED: ObjectType = ObjectType {
    name: "tested_webhook",
    attributes: &[
        Attribute::always("delivery_id", ValueType::STRING, "The delivery's id (`dlv_...`)."),
        Attribute::always("status", words_of!(DeliveryStatus), "The result at the endpoint."),
        Attribute::nullable("response_status", ValueType::INTEGER, "The HTTP status of the answer."),
        Attribute::nullable("latency_ms", ValueType::INTEGER, "The duration in milliseconds."),
    ],
};

pub(super) static TEST_WEBHOOK: Declaration = Declaration {
    name: "test-webhook",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Sends an event called `test` to a webhook, and answers the result.",
    docs: "It is attempted once, and has no `sequence`. The answer takes as long as the endpoint does, 15 seconds at most.",
    arguments: &[WEBHOOK_ARGUMENT],
    returns: Returns::Object(&TESTED),
    errors: &[WEBHOOK_NOT_FOUND],
    flags: Flags { takes_idempotency_key: false, works_while_suspended: true, ..Flags::COMMAND },
};

pub(super) static REDELIVER_WEBHOOK: Declaration = Declaration {
    name: "redeliver-webhook",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Delivers one event, or all since a time, to a webhook again. Answers their number.",
    docs: "Give `event_id` or `since`. Events that were not sent to the webhook yet are delivered in their turn. It takes no `Idempotency-Key`: a repeated call delivers once more.",
    arguments: &[
        WEBHOOK_ARGUMENT,
        Argument::optional("event_id", ValueType::Id(WebhookEventId::PREFIX), "The event (`evt_...`).").shown(),
        Argument::optional("since", SINCE, "All events since this time, in Unix seconds."),
    ],
    returns: Returns::Integer,
    errors: &[
        DeclaredError::when(Code::NotFound, "No webhook or no event of this merchant has this id."),
        DeclaredError::when(Code::InvalidState, "The webhook is not connected: details name its `status`."),
    ],
    flags: Flags { takes_idempotency_key: false, works_while_suspended: true, ..Flags::COMMAND },
};

pub(super) static LIST_WEBHOOK_DELIVERIES: Declaration = Declaration {
    name: "list-webhook-deliveries",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Lists the deliveries of the last 30 days, newest first.",
    docs: "Filters given together must all hold. `next` and `previous` carry them.",
    arguments: &[
        PAGE[0],
        PAGE[1],
        PAGE[2],
        Argument::optional("webhook_id", ValueType::Id(WebhookId::PREFIX), "Only deliveries to this webhook."),
        Argument::optional("event_id", ValueType::Id(WebhookEventId::PREFIX), "Only deliveries of this event."),
        Argument::optional("status", words_of!(DeliveryStatus), "Only deliveries with this status."),
    ],
    returns: Returns::Page(&DELIVERY),
    errors: &[],
    flags: Flags::QUERY,
};

#[derive(Serialize)]
struct Tested {
    delivery_id: String,
    status: &'static str,
    response_status: Option<u16>,
    latency_ms: Option<u64>,
}

/// `POST /merchants/test-webhook`
pub(super) async fn test_webhook(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let id = fields.required("webhook_id", webhook_id());
    let id = fields.finish(|| id)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let webhook = found(&reader, id)?;
    let delivery = service.engine.webhooks().test(reader.merchant_id(), &webhook).await;
    let delivery = delivery.map_err(|error| not_done(&*error))?;
    Ok(Reply::new(&Tested {
        delivery_id: delivery.id.to_string(),
        status: delivery.status.name(),
        response_status: delivery.response_status,
        latency_ms: delivery.latency_ms,
    }))
}

/// `POST /merchants/redeliver-webhook`
pub(super) async fn redeliver_webhook(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let id = fields.required("webhook_id", webhook_id());
    let event_id = fields.optional("event_id", arguments::id("an event id (evt_...)"));
    let since = fields.optional("since", field::integer(0..=SECONDS_MAX));
    match (fields.is_given("event_id"), fields.is_given("since")) {
        (true, true) => fields.fault(Fault::invalid("since", "cannot be given together with event_id")),
        (false, false) if fields.is_given("webhook_id") => {
            fields.fault(Fault::missing_because("event_id", "give event_id, or since for all events"))
        }
        (true, false) | (false, true) | (false, false) => {}
    }
    let again =
        event_id.map(Redelivery::Event).or(since.map(|seconds| Redelivery::Since(Millis(0).plus_seconds(seconds))));
    let (id, again) = fields.finish(|| Some((id?, again?)))?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let webhook = found(&reader, id)?;
    if let Redelivery::Event(event_id) = again
        && reader.get::<WebhookEvents>(event_id)?.is_none()
    {
        let message = "No event of this merchant has this event_id. list-events shows those of the last 30 days.";
        return Err(ApiError::not_found("event_id", message));
    }
    if webhook.status != WebhookStatus::Connected {
        let message = "The webhook is not connected, so that nothing is delivered to it. Call reconnect-webhook first.";
        let details = json!({ "status": webhook.status.name() });
        return Err(ApiError::new(Code::InvalidState, message).with_details(details));
    }
    let count = service.engine.webhooks().deliver_again(reader.merchant_id(), &webhook, again);
    Ok(Reply::new(&count.map_err(|error| not_done(&*error))?))
}

/// `POST /merchants/list-webhook-deliveries`
pub(super) async fn list_webhook_deliveries(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let page = field::page(&mut fields, arguments::id("a delivery id (dlv_...)"));
    let filter = DeliveryFilter {
        webhook_id: fields.optional("webhook_id", webhook_id()),
        event_id: fields.optional("event_id", arguments::id("an event id (evt_...)")),
        status: fields.optional("status", field::one_of(&DeliveryStatus::ALL, DeliveryStatus::name)),
    };
    let request = fields.finish(|| page)?;
    let deliveries = service.engine.webhooks().deliveries();
    let size = usize::from(request.per_page);
    let found = deliveries.page(call.caller().merchant_id, &filter, size, request.cursor);
    let (found, beside) = found.map_err(|error| not_done(&error))?;
    let page = Page::found(request, found, |delivery| delivery.id, beside);
    Reply::page(&page.map(DeliveryShape::new).carrying(&texts(&filter)))
}

/// The filters, for the bodies of the calls for the adjacent pages.
fn texts(filter: &DeliveryFilter) -> Vec<(&'static str, String)> {
    let texts = [
        ("webhook_id", filter.webhook_id.map(|id| id.to_string())),
        ("event_id", filter.event_id.map(|id| id.to_string())),
        ("status", filter.status.map(|status| status.name().to_owned())),
    ];
    texts.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
}

/// The error when the store of deliveries or the vault cannot be used.
fn not_done(error: &(dyn std::error::Error + 'static)) -> ApiError {
    tracing::error!(%error, "deliveries of a webhook cannot be read or written");
    ApiError::unavailable(CallEffect::NotDone, RETRY_AFTER_SECONDS)
}
