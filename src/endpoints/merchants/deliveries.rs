//! `POST /merchants/test-webhook`, `redeliver-webhook`, `list-webhook-deliveries`

use std::time::Instant;

use till_actors::Answered;
use till_actors::webhooks::AskedEvents;
use till_domain::command::{Command, RedeliverWebhook, RedeliveredEvents, WebhookChange};
use till_domain::event::Answer;
use till_domain::ids::{DeliveryId, WebhookEventId, WebhookId};
use till_domain::records::{Rows, Webhooks};
use till_domain::time::Millis;
use till_domain::webhook::WebhookTest;
use till_storage::deliveries::{DeliveryFilter, DeliveryStatus};

use super::webhooks::{WEBHOOK_ARGUMENT, WEBHOOK_NOT_FOUND, found, named, webhook_id};
use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::shapes::delivery::{DELIVERY, DeliveryShape};
use crate::protocol::api_error::{ApiError, CallEffect, Code};
use crate::protocol::declaration::{
    Argument, Declaration, DeclaredError, Flags, Integer, Package, Returns, ValueType, object, page_arguments, words_of,
};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::fault::Fault;
use crate::protocol::field;
use crate::service::{FilterText, Page, RETRY_AFTER_SECONDS, Service, Shared, TestTurn};

const PAGE: [Argument; 3] = page_arguments(DeliveryId::PREFIX);

/// The largest number of seconds that JSON readers keep exactly.
const SECONDS_MAX: u64 = (1 << 53) - 1;

/// A time of the past.
const SINCE: ValueType =
    ValueType::Integer(Integer { is_time: true, limits: Some((0, SECONDS_MAX)), example: Some(1_767_225_600) });

object! {
    /// The result of a test.
    TESTED "tested_webhook" as TestedShape of (tested: WebhookTest) {
        delivery_id: Id(DeliveryId::PREFIX) = tested.delivery_id, "The delivery's id (`dlv_...`).";
        status: words_of(DeliveryStatus) = status_of(*tested), "The result at the endpoint.", such_as("SUCCESSFUL");
        response_status: INTEGER or null = tested.response_status, "The HTTP status of the answer.", such_as("200");
        latency_ms: INTEGER or null = tested.latency_ms, "The duration in milliseconds.", such_as("20");
    }
}

pub(super) static TEST_WEBHOOK: Declaration = Declaration {
    name: "test-webhook",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Sends an event called `test` to a webhook, and answers the result.",
    docs: "It is attempted once, and has no `sequence`. The answer takes as long as the endpoint does, 15 seconds at most. A merchant has two attempts at a time and 30 a minute; beyond, the call is answered `RATE_LIMITED`, and nothing was done.",
    arguments: &[WEBHOOK_ARGUMENT],
    returns: Returns::Object(&TESTED),
    errors: &[WEBHOOK_NOT_FOUND],
    flags: Flags::COMMAND,
};

pub(super) static REDELIVER_WEBHOOK: Declaration = Declaration {
    name: "redeliver-webhook",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Delivers one event, or all since a time, to a webhook again. Answers the number of events that this covers.",
    docs: "Give `event_id` or `since`. The number counts events by their `sequence`: those that the webhook is not sent, or that wait for another attempt, are passed over later. Events that were not sent to the webhook yet are delivered in their turn. While the events of an earlier call are being delivered again, the call is answered `RATE_LIMITED`, and nothing was done.",
    arguments: &[
        WEBHOOK_ARGUMENT,
        Argument::optional("event_id", ValueType::Id(WebhookEventId::PREFIX), "The event (`evt_...`).").shown(),
        Argument::optional("since", SINCE, "All events since this time, in Unix seconds."),
    ],
    returns: Returns::Integer,
    errors: &[
        DeclaredError::when(Code::NotFound, "No webhook or no event of this merchant has this id."),
        DeclaredError::when(Code::InvalidState, "The webhook is not connected: details name its `status`.")
            .with(r#"{"status": "DISCONNECTED"}"#),
    ],
    flags: Flags::COMMAND,
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

/// `POST /merchants/test-webhook`
pub(super) async fn test_webhook(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let id = named(&call)?;
    let merchant_id = call.caller().merchant_id;
    let attempt = loop {
        if let Some(kept) = judged_test(&service, &call, id).await? {
            return Ok(kept);
        }
        // From here on the call waits for others.
        call.give_permit_back();
        match service.webhook_tests.begin(merchant_id, call.idempotency_key()?, Instant::now())? {
            TestTurn::Attempt(attempt) => break attempt,
            TestTurn::SameKey(end) => end.wait().await,
        }
    };
    // A call with the same key may have ended in between.
    if let Some(kept) = judged_test(&service, &call, id).await? {
        return Ok(kept);
    }
    let reader = service.reader(merchant_id).await?;
    let tested = service.engine.webhooks().test(merchant_id, &found(&reader, id)?).await;
    let tested = tested.map_err(|error| not_done(&*error))?;
    let recorded = submit_change(&service, &TEST_WEBHOOK, &call, WebhookChange::RecordTest(tested)).await?;
    drop(attempt); // The answer is kept, so that a call with the same key finds it.
    tested_reply(&recorded)
}

/// Judges a call that tests a webhook, and returns the kept answer of an earlier one with the same key.
async fn judged_test(service: &Service, call: &Call<MerchantCaller>, id: WebhookId) -> Result<Option<Reply>, ApiError> {
    let judged = submit_change(service, &TEST_WEBHOOK, call, WebhookChange::JudgeTest(id)).await?;
    if judged.replayed { tested_reply(&judged).map(Some) } else { Ok(None) }
}

fn tested_reply(answered: &Answered) -> Result<Reply, ApiError> {
    let Answer::WebhookTested(tested) = answered.answer else { return Err(ApiError::unhandled()) };
    Ok(Reply::new(&TestedShape::new(tested)).replayed(answered.replayed))
}

const fn status_of(tested: WebhookTest) -> DeliveryStatus {
    if tested.is_successful { DeliveryStatus::Successful } else { DeliveryStatus::Failed }
}

/// `POST /merchants/redeliver-webhook`
pub(super) async fn redeliver_webhook(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (webhook_id, asked) = asked_events(&call)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let events = match reader.get::<Webhooks>(webhook_id)? {
        Some(webhook) => service.engine.webhooks().covered(reader.merchant_id(), &webhook, asked),
        None => Ok(RedeliveredEvents::Range(None)), // The rules refuse it, after a look for a kept answer.
    };
    let events = events.map_err(|error| not_done(&*error))?;
    let change = WebhookChange::Redeliver(RedeliverWebhook { webhook_id, events });
    Ok(submit_change(&service, &REDELIVER_WEBHOOK, &call, change).await?.into())
}

/// The arguments of `redeliver-webhook`.
fn asked_events(call: &Call<MerchantCaller>) -> Result<(WebhookId, AskedEvents), ApiError> {
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
    let since = since.map(|seconds| AskedEvents::Since(Millis(0).plus_seconds(seconds)));
    let asked = event_id.map(AskedEvents::One).or(since);
    fields.finish(|| Some((id?, asked?)))
}

async fn submit_change(
    service: &Service,
    declaration: &'static Declaration,
    call: &Call<MerchantCaller>,
    change: WebhookChange,
) -> Result<Answered, ApiError> {
    let caller = call.caller();
    let command = Command::ChangeWebhook(caller.merchant_id, change);
    service.submit(declaration, call, caller.merchant_id, caller.as_domain(), command, None).await
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
fn texts(filter: &DeliveryFilter) -> Vec<FilterText> {
    vec![
        ("webhook_id", filter.webhook_id.map(|id| id.to_string())),
        ("event_id", filter.event_id.map(|id| id.to_string())),
        ("status", filter.status.map(|status| status.name().to_owned())),
    ]
}

/// The error when the store of deliveries or the vault cannot be used.
fn not_done(error: &(dyn std::error::Error + 'static)) -> ApiError {
    tracing::error!(%error, "deliveries of a webhook cannot be read or written");
    ApiError::unavailable(CallEffect::NotDone, RETRY_AFTER_SECONDS)
}
