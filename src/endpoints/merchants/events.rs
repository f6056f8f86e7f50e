//! `POST /merchants/list-events`, `POST /merchants/find-event`

use till_actors::webhooks::EventBody;
use till_domain::ids::WebhookEventId;
use till_domain::payment::PaymentRef;
use till_domain::records::{PaymentsByExternalId, Rows, WebhookEvents, WebhookEventsByPayment};
use till_domain::webhook::{WebhookEvent, WebhookEventKind};
use till_protocol::arguments::id;

use crate::endpoints::created_at::{CREATED_AT_ARGUMENT, CreatedAt, MerchantClock};
use crate::endpoints::forms::PAYMENT_REF;
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::event::EVENT;
use crate::endpoints::shapes::webhook::kind_named;
use crate::service::{Filtered, IdSpan, rows_of_index};

pub(super) const ENDPOINTS: MerchantEndpoints = &[
    MerchantEndpoint(Act::SeePayments, &LIST_EVENTS, &list_events),
    MerchantEndpoint(Act::SeePayments, &FIND_EVENT, &find_event),
];

const EVENT_ARGUMENT: Required<WebhookEventId> =
    id::<WebhookEventId>().required("The event (`evt_...`).").with_name("event_id");

const EVENT_KIND: Field<WebhookEventKind> = Field {
    value_type: words_of!(WebhookEventKind),
    parse: |value| {
        let rule = || format!("must be one of: {}", WebhookEventKind::ALL.map(WebhookEventKind::name).join(", "));
        value.as_str().and_then(kind_named).ok_or_else(rule)
    },
};

/// The filters of a page of events.
type EventFilters = (ListPageRequest<WebhookEventId>, Option<WebhookEventKind>, Option<PaymentRef>, CreatedAt);

const LIST: ArgumentSet<EventFilters, MerchantClock> = arguments!({
    page: list_page::<WebhookEventId>(),
    event: EVENT_KIND.optional("Only events of this kind, as subscriptions or as events write it."),
    payment: PAYMENT_REF
        .optional("Only events about this payment: its id (`pay_...`) or the merchant's own `external_id`.")
        .with_name("payment_id"),
    created: CREATED_AT_ARGUMENT,
} => (page, event, payment, CreatedAt(created)));

static LIST_EVENTS: Declaration = Declaration {
    name: "list-events",
    summary: "Lists the events of the last 30 days, newest first, each as webhooks deliver it.",
    docs: "Filters given together must all hold. `next` and `previous` carry them.",
    arguments: LIST.declared,
    returns: Returns::ListPage(&EVENT),
    ..Declaration::query(Package::Merchants, "webhooks")
};

static FIND_EVENT: Declaration = Declaration {
    name: "find-event",
    summary: "Returns an event as webhooks deliver it.",
    arguments: &[EVENT_ARGUMENT.argument],
    returns: Returns::Object(&EVENT),
    errors: &[DeclaredError::new(Code::NotFound, "No event of this merchant has this id, or it is no longer stored.")],
    ..Declaration::query(Package::Merchants, "webhooks")
};

/// `POST /merchants/list-events`
async fn list_events(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let reader = call.caller().reader(&service).await?;
    let clock = MerchantClock::of(&service, &reader)?;
    let (request, kind, payment, created) = call.fields().parse_in(&LIST, &clock)?;
    if payment.is_none() {
        call.caller().check(Act::RunWebhooks)?;
    }
    let payment_id = payment.as_ref().map(|payment| reader.id_of::<PaymentsByExternalId>(payment)).transpose()?;
    let rows = |span: IdSpan<_>, direction, limit| match payment_id {
        None => Ok(reader.view().scan::<WebhookEvents>(span.range(), direction, limit)?),
        Some(None) => Ok(Vec::new()),
        Some(Some(id)) => {
            rows_of_index::<WebhookEventsByPayment, WebhookEvents, _>(&reader, &id, span, direction, limit)
        }
    };
    let passes = |event: &WebhookEvent| kind.is_none_or(|kind| kind == event.kind);
    let page = Filtered { rows, passes }.page(request, created.span()).await?;
    let filters = [
        ("event", kind.map(|kind| kind.name().to_owned())),
        ("payment_id", payment.as_ref().map(PaymentRef::to_string)),
        created.filter_text(),
    ];
    Reply::list_page(&page.try_map(|event| EventBody::read(event, &reader))?.with_filters(&filters))
}

/// `POST /merchants/find-event`
async fn find_event(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let id = call.fields().parse(&EVENT_ARGUMENT)?;
    let reader = call.caller().reader(&service).await?;
    let event = WebhookEvents::find_row(&reader, id)?;
    if event.payment_id.is_none() {
        call.caller().check(Act::RunWebhooks)?;
    }
    Ok(Reply::new(&EventBody::read(&event, &reader)?))
}

const UNKNOWN: &str = "No event of this merchant has this event_id. list-events shows those of the last 30 days.";

named_kind!(WebhookEvents, EVENT_ARGUMENT, ApiError::not_found("event_id", UNKNOWN));
