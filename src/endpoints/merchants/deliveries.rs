//! `POST /merchants/test-webhook`, `redeliver-webhook`, `list-webhook-deliveries`

use std::time::Instant;

use till_actors::Answered;
use till_actors::webhooks::AskedEvents;
use till_domain::command::{Command, RedeliverWebhook, RedeliveredEvents, WebhookChange};
use till_domain::event::Answer;
use till_domain::ids::{DeliveryId, WebhookEventId, WebhookId};
use till_domain::records::{Rows, Webhooks};
use till_domain::webhook::WebhookTest;
use till_protocol::api_error::CallEffect;
use till_protocol::api_error::RETRY_AFTER_SECONDS;
use till_protocol::arguments::id;
use till_protocol::fault::Fault;
use till_protocol::fields::Fields;
use till_storage::deliveries::{DeliveryFilter, DeliveryStatus};

use super::webhooks::{WEBHOOK_ARGUMENT, WEBHOOK_NOT_FOUND};
use crate::endpoints::forms::{time, words};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::delivery::{DELIVERY, DeliveryShape};
use crate::service::{FilterText, ListPage, TestTurn, reply_of};

pub(super) const ENDPOINTS: MerchantEndpoints = &[
    MerchantEndpoint(Act::RunWebhooks, &TEST_WEBHOOK, &test_webhook),
    MerchantEndpoint(Act::RunWebhooks, &REDELIVER_WEBHOOK, &redeliver_webhook),
    MerchantEndpoint(Act::RunWebhooks, &LIST_WEBHOOK_DELIVERIES, &list_webhook_deliveries),
];

object! {
    /// The result of a test.
    TESTED "tested_webhook" as TestedShape of (tested: WebhookTest) {
        delivery_id: Id(DeliveryId::PREFIX) = tested.delivery_id, "The delivery's id (`dlv_...`).";
        status: words_of(DeliveryStatus) = status_of(*tested), "The result at the endpoint.", such_as("SUCCESSFUL");
        response_status: INTEGER or null = tested.response_status, "The HTTP status of the answer.", such_as("200");
        latency_ms: INTEGER or null = tested.latency_ms, "The duration in milliseconds.", such_as("20");
    }
}

static TEST_WEBHOOK: Declaration = Declaration {
    name: "test-webhook",
    summary: "Sends an event called `test` to a webhook, and answers the result.",
    docs: "It is attempted once, and has no `sequence`. The answer takes as long as the endpoint does, 15 seconds at \
        most. A merchant has two attempts at a time and 30 a minute; beyond, the call is answered `RATE_LIMITED`, and \
        nothing was done.",
    arguments: &[WEBHOOK_ARGUMENT.argument],
    returns: Returns::Object(&TESTED),
    errors: &[WEBHOOK_NOT_FOUND],
    ..Declaration::command(Package::Merchants, "webhooks")
};

const REDELIVERED: ArgumentSet<(WebhookId, AskedEvents)> = arguments!({
    webhook_id: WEBHOOK_ARGUMENT,
    event_id: id::<WebhookEventId>().optional("The event (`evt_...`).").in_examples(),
    since: time(1_767_225_600).optional("All events since this time, in Unix seconds."),
} judged by |fields: &mut Fields<'_>| match (fields.is_given("event_id"), fields.is_given("since")) {
    (true, true) => fields.fault(Fault::invalid("since", "cannot be given together with event_id")),
    (false, false) if fields.is_given("webhook_id") => {
        fields.fault(Fault::missing_because("event_id", "give event_id, or since for all events"))
    }
    (true, false) | (false, true) | (false, false) => {}
} => (webhook_id, event_id.map(AskedEvents::One).or(since.map(AskedEvents::Since))?));

static REDELIVER_WEBHOOK: Declaration = Declaration {
    name: "redeliver-webhook",
    summary: "Delivers one event, or all since a time, to a webhook again. Answers the number of events that this \
        covers.",
    docs: "Give `event_id` or `since`. The number counts events by their `sequence`: those that the webhook is not \
        sent, or that wait for another attempt, are passed over later. Events that were not sent to the webhook yet \
        are delivered in their turn. While the events of an earlier call are being delivered again, the call is \
        answered `RATE_LIMITED`, and nothing was done.",
    arguments: REDELIVERED.declared,
    returns: Returns::Integer,
    errors: &[
        DeclaredError::new(Code::NotFound, "No webhook or no event of this merchant has this id."),
        DeclaredError::new(Code::InvalidState, "The webhook is not connected: details name its `status`.")
            .with(r#"{"status": "DISCONNECTED"}"#),
    ],
    ..Declaration::command(Package::Merchants, "webhooks")
};

const FILTERS: ArgumentSet<DeliveryFilter> = arguments!(DeliveryFilter {
    webhook_id: id::<WebhookId>().optional("Only deliveries to this webhook."),
    event_id: id::<WebhookEventId>().optional("Only deliveries of this event."),
    status: words!(DeliveryStatus).optional("Only deliveries with this status."),
});

const LIST: ArgumentSet<(ListPageRequest<DeliveryId>, DeliveryFilter)> =
    arguments!({ page: list_page::<DeliveryId>(), filter: FILTERS } => (page, filter));

static LIST_WEBHOOK_DELIVERIES: Declaration = Declaration {
    name: "list-webhook-deliveries",
    summary: "Lists the deliveries of the last 30 days, newest first.",
    docs: "Filters given together must all hold. `next` and `previous` carry them.",
    arguments: LIST.declared,
    returns: Returns::ListPage(&DELIVERY),
    ..Declaration::query(Package::Merchants, "webhooks")
};

/// `POST /merchants/test-webhook`
async fn test_webhook(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let id = call.fields().parse(&WEBHOOK_ARGUMENT)?;
    let merchant_id = call.caller().merchant_id;
    let attempt = loop {
        if let Some(kept) = judged_test(&service, &call, id).await? {
            return Ok(kept);
        }
        // From here on the call waits for others.
        call.give_permit_back();
        match service.webhook_tests().begin(merchant_id, call.idempotency_key()?, Instant::now())? {
            TestTurn::Attempt(attempt) => break attempt,
            TestTurn::SameKey(end) => end.wait().await,
        }
    };
    // A call with the same key may have ended in between.
    if let Some(kept) = judged_test(&service, &call, id).await? {
        return Ok(kept);
    }
    let reader = call.caller().reader(&service).await?;
    let tested = service.engine().webhooks().test(merchant_id, &Webhooks::find_row(&reader, id)?).await;
    let tested = tested.map_err(|error| not_done(&*error))?;
    let recorded = submit_change(&service, &call, WebhookChange::RecordTest(tested)).await?;
    drop(attempt); // The answer is kept, so that a call with the same key finds it.
    tested_reply(&recorded)
}

/// Judges a call that tests a webhook, and returns the kept answer of an earlier one with the same key.
async fn judged_test(service: &Service, call: &Call<MerchantCaller>, id: WebhookId) -> Result<Option<Reply>, ApiError> {
    let judged = submit_change(service, call, WebhookChange::JudgeTest(id)).await?;
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
async fn redeliver_webhook(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (webhook_id, asked) = call.fields().parse(&REDELIVERED)?;
    let reader = call.caller().reader(&service).await?;
    let events = match reader.get::<Webhooks>(webhook_id)? {
        Some(webhook) => service.engine().webhooks().covered(reader.merchant_id(), &webhook, asked),
        None => Ok(RedeliveredEvents::Range(None)), // The rules refuse it, after a look for a kept answer.
    };
    let events = events.map_err(|error| not_done(&*error))?;
    let change = WebhookChange::Redeliver(RedeliverWebhook { webhook_id, events });
    Ok(reply_of(submit_change(&service, &call, change).await?))
}

async fn submit_change(
    service: &Service,
    call: &Call<MerchantCaller>,
    change: WebhookChange,
) -> Result<Answered, ApiError> {
    let caller = call.caller();
    let command = Command::ChangeWebhook(caller.merchant_id, change);
    service.submit(call, caller.merchant_id, caller.as_domain(), command, None).await
}

/// `POST /merchants/list-webhook-deliveries`
async fn list_webhook_deliveries(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (request, filter) = call.fields().parse(&LIST)?;
    let deliveries = service.engine().webhooks().deliveries();
    let size = usize::from(request.per_page);
    let found = deliveries.page(call.caller().merchant_id, &filter, size, request.cursor);
    let (found, beside) = found.map_err(|error| not_done(&error))?;
    let page = ListPage::of_found(request, found, |delivery| delivery.id, beside);
    Reply::list_page(&page.map(DeliveryShape::new).with_filters(&texts(&filter)))
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
