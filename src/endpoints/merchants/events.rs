//! `POST /merchants/list-events`, `POST /merchants/find-event`

use till_actors::webhooks::EventBody;
use till_domain::ids::WebhookEventId;
use till_domain::records::{Rows, WebhookEvents, WebhookEventsByPayment};
use till_domain::webhook::{WebhookEvent, WebhookEventKind};

use super::named_payment;
use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::created_at::{CREATED_AT_ARGUMENT, CreatedAt};
use crate::endpoints::forms::EXTERNAL_ID;
use crate::endpoints::shapes::event::EVENT;
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{
    Argument, Declaration, DeclaredError, Flags, Package, Returns, ValueType, page_arguments, words_of,
};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::protocol::fields::Fields;
use crate::service::{Filtered, IdSpan, Reader, Shared, rows_of_index};

const PAGE: [Argument; 3] = page_arguments(WebhookEventId::PREFIX);

pub(super) static LIST_EVENTS: Declaration = Declaration {
    name: "list-events",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Lists the events of the last 30 days, newest first, each as webhooks deliver it.",
    docs: "Filters given together must all hold. `next` and `previous` carry them.",
    arguments: &[
        PAGE[0],
        PAGE[1],
        PAGE[2],
        Argument::optional("event", words_of!(WebhookEventKind), "Only events of this kind."),
        Argument::optional(
            "payment_id",
            EXTERNAL_ID,
            "Only events about this payment: its id (`pay_...`) or the merchant's own `external_id`.",
        ),
        CREATED_AT_ARGUMENT,
    ],
    returns: Returns::Page(&EVENT),
    errors: &[],
    flags: Flags::QUERY,
};

pub(super) static FIND_EVENT: Declaration = Declaration {
    name: "find-event",
    package: Package::Merchants,
    group: "webhooks",
    summary: "Returns an event as webhooks deliver it.",
    docs: "",
    arguments: &[Argument::required("event_id", ValueType::Id(WebhookEventId::PREFIX), "The event (`evt_...`).")],
    returns: Returns::Object(&EVENT),
    errors: &[DeclaredError::when(Code::NotFound, "No event of this merchant has this id, or it is no longer stored.")],
    flags: Flags::QUERY,
};

/// `POST /merchants/list-events`
pub(super) async fn list_events(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let reader = service.reader(call.caller().merchant_id).await?;
    let mut fields = call.fields();
    let page = field::page(&mut fields, event_id());
    let kind = fields.optional("event", field::one_of(&WebhookEventKind::ALL, WebhookEventKind::name));
    let payment = fields.optional("payment_id", arguments::payment_ref);
    let created = CreatedAt::read(&mut fields, &service, &reader)?;
    let request = fields.finish(|| page)?;
    let payment_id = payment.as_ref().map(|payment| named_payment::id(&reader, payment)).transpose()?;
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
        ("payment_id", payment.as_ref().map(named_payment::text)),
        created.given(),
    ];
    Reply::page(&page.try_map(|event| body(&reader, event))?.carrying(&filters))
}

/// `POST /merchants/find-event`
pub(super) async fn find_event(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields: Fields<'_> = call.fields();
    let id = fields.required("event_id", event_id());
    let id = fields.finish(|| id)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let unknown = || {
        let message = "No event of this merchant has this event_id. list-events shows those of the last 30 days.";
        ApiError::not_found("event_id", message)
    };
    let event = reader.get::<WebhookEvents>(id)?.ok_or_else(unknown)?;
    Ok(Reply::new(&body(&reader, &event)?))
}

fn event_id() -> impl Fn(&crate::protocol::json::Json) -> Result<WebhookEventId, String> {
    arguments::id("an event id (evt_...)")
}

fn body(reader: &Reader<'_>, event: &WebhookEvent) -> Result<EventBody, ApiError> {
    Ok(EventBody::read(event, reader)?)
}
