//! `POST /merchants/list-events`, `POST /merchants/find-event`

use till_actors::webhooks::EventBody;
use till_domain::ids::WebhookEventId;
use till_domain::payment::PaymentRef;
use till_domain::records::{Profiles, Rows, Single, WebhookEvents, WebhookEventsByPayment};
use till_domain::webhook::{WebhookEvent, WebhookEventKind};
use till_storage::rows::ScanDirection;

use super::named_payment;
use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::created_at::{CREATED_AT, CREATED_AT_DOCS, CreatedRange, created_range, zone};
use crate::endpoints::forms::EXTERNAL_ID;
use crate::endpoints::shapes::event::EVENT;
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{
    Argument, Declaration, DeclaredError, Flags, Package, Returns, ValueType, page_arguments, words_of,
};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::protocol::fields::Fields;
use crate::service::{Filtered, IdSpan, Reader, Shared};

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
        Argument::optional("created_at", CREATED_AT, CREATED_AT_DOCS),
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

/// The filters in the caller's spelling.
struct Filters {
    kind: Option<WebhookEventKind>,
    payment: Option<PaymentRef>,
    created: Option<CreatedRange>,
}

/// `POST /merchants/list-events`
pub(super) async fn list_events(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let reader = service.reader(call.caller().merchant_id).await?;
    let profile = reader.get::<Profiles>(Single)?.ok_or_else(ApiError::unhandled)?;
    let mut fields = call.fields();
    let page = field::page(&mut fields, event_id());
    let (now, zone) = (service.clock_of(reader.merchant_id()), zone(&profile));
    let filters = Filters {
        kind: fields.optional("event", field::one_of(&WebhookEventKind::ALL, WebhookEventKind::name)),
        payment: fields.optional("payment_id", arguments::payment_ref),
        created: fields.optional("created_at", |value| created_range(&arguments::own_text(value)?, now, &zone)),
    };
    let request = fields.finish(|| page)?;
    let passes = |event: &WebhookEvent| filters.kind.is_none_or(|kind| kind == event.kind);
    let span = match &filters.created {
        Some(created) => IdSpan::made(created.from, created.until),
        None => Some(IdSpan::all()),
    };
    let view = reader.view();
    let page = match &filters.payment {
        None => {
            let rows =
                |span: IdSpan<_>, direction, limit| Ok(view.scan::<WebhookEvents>(span.range(), direction, limit)?);
            Filtered { rows, passes }.page(request, span).await?
        }
        Some(payment) => {
            let payment_id = named_payment::id(&reader, payment)?;
            let rows = |span: IdSpan<_>, direction: ScanDirection, limit| {
                let Some(payment_id) = payment_id else { return Ok(Vec::new()) };
                let range = span.range();
                let keys = (payment_id, *range.start())..=(payment_id, *range.end());
                let ids = view.scan_keys::<WebhookEventsByPayment>(keys, direction, limit)?;
                let event = |id| Ok((id, view.get::<WebhookEvents>(id)?.ok_or_else(ApiError::unhandled)?));
                ids.into_iter().map(|(_, id)| event(id)).collect()
            };
            Filtered { rows, passes }.page(request, span).await?
        }
    };
    let bodies = page.try_map(|event| body(&reader, event))?;
    Reply::page(&bodies.carrying(&filters.texts()))
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

impl Filters {
    /// The filters, for the bodies of the calls for the adjacent pages.
    fn texts(&self) -> Vec<(&'static str, String)> {
        let texts = [
            ("event", self.kind.map(|kind| kind.name().to_owned())),
            ("payment_id", self.payment.as_ref().map(named_payment::text)),
            ("created_at", self.created.as_ref().map(|created| created.text.clone())),
        ];
        texts.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
    }
}
