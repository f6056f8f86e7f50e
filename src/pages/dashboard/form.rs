//! A page with a form: its fields are arguments of a call, and what is wrong with them stands beside them.

use serde_json::{Value, json};
use till_domain::ids::InstallationId;
use till_protocol::api_error::{ApiError, Code};
use till_protocol::declaration::{Argument, Returns, ValueType};
use till_protocol::dispatch::{IDEMPOTENCY_FIELD, PageReply};

use super::cell::Cell;
use super::field::{CODE, Field};
use super::forms::{After, FormPage};
use super::given::{Faults, Given, faults_of};
use super::page::{DONE, Form, Page, Section};
use super::session::fault_of_code;
use super::table::Link;
use super::visit::{Visit, declaration, object_of};
use crate::endpoints::pages::declared;
use crate::pages::answered::AnsweredObject;

/// The argument that is always the currency of the merchant's account.
const CURRENCY: &str = "currency";

/// The members of an object that a form about it shows.
const SUMMARY: &str = "name status amount amount_captured amount_refunded amount_charged_back evidence_due_at";

/// What was sent, and what is wrong with it.
#[derive(Default)]
struct Sent {
    given: Given,
    faults: Faults,
    error: Option<ApiError>,
}

/// Shows the form, or makes its call.
pub(super) async fn open(form: &'static FormPage, visit: Visit) -> Result<PageReply, ApiError> {
    let (declaration, act) = declared(form.call).ok_or_else(ApiError::unhandled)?;
    visit.member.caller.check(act)?;
    let Some(posted) = visit.request.form() else { return form_page(form, &visit, Sent::default()).await };
    let given = Given::of_form(posted);
    let (mut arguments, mut faults) = given.arguments(asked(form)?, visit.merchant());
    if faults.is_empty() && act.asks_for_code() {
        let fault = fault_of_code(&visit.request, &visit.member, given.text(CODE)).await?;
        faults.extend(fault.map(|fault| (CODE.to_owned(), fault)));
    }
    if !faults.is_empty() {
        return form_page(form, &visit, Sent { given, faults, error: None }).await;
    }
    for (place, name) in form.bound().enumerate() {
        arguments.insert(name.to_owned(), visit.request.text(place + 1).into());
    }
    if declaration.position(CURRENCY).is_some() {
        arguments.insert(CURRENCY.to_owned(), visit.merchant().currency.code().into());
    }
    match visit.call(form.call, &arguments.into()).await {
        Ok(answer) => Ok(reply_to_success(form, &visit, declaration.returns, &answer)),
        Err(error) if error.code() == Code::Forbidden => Err(error),
        Err(error) => form_page(form, &visit, Sent { given, faults: faults_of(&error), error: Some(error) }).await,
    }
}

/// The arguments that a form asks for, in its order.
fn asked(form: &FormPage) -> Result<impl Iterator<Item = &'static Argument> + use<>, ApiError> {
    let (fields, arguments) = (form.fields, declaration(form.call)?.arguments);
    Ok(fields.split(' ').filter_map(move |name| arguments.iter().find(|argument| argument.name == name)))
}

/// The form, with what was sent.
async fn form_page(form: &'static FormPage, visit: &Visit, mut sent: Sent) -> Result<PageReply, ApiError> {
    let (declaration, act) = declared(form.call).ok_or_else(ApiError::unhandled)?;
    let mut page = Page::new(visit, form.title);
    if let Some((call, object)) = subject(form, visit).await? {
        page = page.with(Section::Figures(visit.merchant().members(object_of(&call)?, SUMMARY, &object)));
        if form.call.starts_with("update-") && visit.request.form().is_none() {
            sent.given = Given::of_object(&object, form.fields);
        }
    }
    let Sent { given, faults, error } = &sent;
    let mut fields = Vec::new();
    for argument in asked(form)? {
        let field = Field::of(argument, visit.merchant(), given, faults);
        fields.push(with_choices(field, argument, visit).await?);
    }
    fields.extend(act.asks_for_code().then(|| Field::code(faults)));
    let is_told = !faults.is_empty() && faults.keys().all(|name| fields.iter().any(|field| field.argument == *name));
    page.alert = error.as_ref().filter(|_| !is_told).map(|error| error.message().to_owned());
    page.refusal = error.as_ref().map(ApiError::code).or((!faults.is_empty()).then_some(Code::InvalidArguments));
    let leave = Link::new("Cancel", form.path_back(visit.request.path()));
    let mut shown = Form::new(fields, form.button, leave);
    shown.text = declaration.summary.split(['.', ';']).next().unwrap_or_default();
    // While it is unknown whether the call was done, the same form asks for the same thing.
    if matches!(page.refusal, Some(Code::Unavailable | Code::UnhandledError)) {
        shown.idempotency_key = given.text(IDEMPOTENCY_FIELD).to_owned();
    }
    Ok(page.with(Section::Form(shown)).reply())
}

/// The object that the form is about, with the call that finds it.
async fn subject(form: &FormPage, visit: &Visit) -> Result<Option<(String, Value)>, ApiError> {
    let Some(name) = form.bound().next() else { return Ok(None) };
    let call = format!("find-{}", name.trim_end_matches("_id"));
    if declared(&call).is_none() {
        return Ok(None);
    }
    let object = visit.find(&call, name).await?;
    Ok(Some((call, object)))
}

/// An installation is chosen among those of the merchant, by who may look at them.
async fn with_choices(field: Field, argument: &Argument, visit: &Visit) -> Result<Field, ApiError> {
    let is_installation = matches!(argument.value_type, ValueType::Id(InstallationId::PREFIX));
    if !is_installation || !visit.may("list-installations") {
        return Ok(field);
    }
    let found: Value = visit.call("list-installations", &json!({ "per_page": 100 })).await?;
    let words = |one: &Value| format!("{} ({})", one.text("name"), one.text("identifier"));
    let choice = |one: &Value| (one.text("installation_id").to_owned(), words(one));
    Ok(Field { kind: "select", choices: found.items("page").iter().map(choice).collect(), ..field })
}

/// What follows when the call has succeeded.
fn reply_to_success(form: &'static FormPage, visit: &Visit, returns: Returns, answer: &Value) -> PageReply {
    let text = answer.as_str().unwrap_or_default();
    let mut back = form.path_back(visit.request.path()).to_owned();
    if form.after == After::Checkout {
        let id = text.rsplit('/').next().and_then(|last| last.split('.').next()).unwrap_or_default();
        back = format!("{}/checkouts/{id}", visit.merchant().base);
    }
    if form.after != After::Answer {
        return PageReply::see_other(format!("{back}?{DONE}={}", form.call));
    }
    let details = match returns {
        Returns::Object(of) => visit.merchant().details(of, answer),
        _ => vec![("Address".to_owned(), Cell { text: text.to_owned(), ..Cell::default() })],
    };
    let mut page = Page::new(visit, form.title).with(Section::Details(details));
    (page.done, page.links) = (Some(form.button), vec![Link::new("Go back", back)]);
    page.reply()
}
