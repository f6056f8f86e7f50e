//! A page with a form: its fields are arguments of a call, and what is wrong with them stands beside them.

use serde_json::{Value, json};
use till_domain::ids::InstallationId;
use till_protocol::api_error::{ApiError, Code};
use till_protocol::declaration::{Argument, Declaration, Returns, ValueType};
use till_protocol::dispatch::{IDEMPOTENCY_FIELD, PageReply};

use super::cell::Cell;
use super::field::{CODE, Field};
use super::forms::{After, FormPage};
use super::given::{Faults, Given, faults_of};
use super::page::{DONE, Form, Page, Section};
use super::seat::Seat;
use super::table::Link;
use super::visit::Visit;
use crate::pages::answered::AnsweredObject;

/// The argument that is always the currency of the merchant's account.
const CURRENCY: &str = "currency";

/// The members of an object that a form about it shows.
const SUMMARY: &str =
    "name status amount amount_captured amount_refunded amount_charged_back evidence_due_at suspended test_clock";

/// The beginnings of the names of calls that change what is there, whose forms show it.
const CHANGES: [&str; 2] = ["update-", "configure-"];

/// What was sent, and what is wrong with it.
#[derive(Default)]
struct Sent {
    given: Given,
    faults: Faults,
    error: Option<ApiError>,
}

/// Shows the form, or makes its call.
pub(in crate::pages) async fn open<S: Seat>(form: &'static FormPage, visit: Visit<S>) -> Result<PageReply, ApiError> {
    let declaration = visit.declaration(form.call)?;
    visit.seat.check(form.call)?;
    let Some(posted) = visit.request.form() else { return form_page(form, &visit, Sent::default()).await };
    let given = Given::of_form(posted);
    let (mut arguments, mut faults) = given.arguments(asked(form, declaration), visit.merchant());
    if faults.is_empty() && visit.seat.asks_for_code(form.call) {
        let fault = visit.seat.fault_of_code(&visit.request, given.text(CODE)).await?;
        faults.extend(fault.map(|fault| (CODE.to_owned(), fault)));
    }
    if !faults.is_empty() {
        return form_page(form, &visit, Sent { given, faults, error: None }).await;
    }
    for name in form.bound(declaration) {
        arguments.insert(name.to_owned(), visit.named_text(name).into());
    }
    if declaration.position(CURRENCY).is_some() && !form.asks_for(CURRENCY) {
        arguments.insert(CURRENCY.to_owned(), visit.merchant().currency.code().into());
    }
    match visit.call(form.call, &arguments.into()).await {
        Ok(answer) => Ok(reply_to_success(form, &visit, declaration, &answer)),
        Err(error) if error.code() == Code::Forbidden => Err(error),
        Err(error) => form_page(form, &visit, Sent { given, faults: faults_of(&error), error: Some(error) }).await,
    }
}

/// The arguments that a form asks for, in its order.
fn asked(form: &FormPage, declaration: &'static Declaration) -> impl Iterator<Item = &'static Argument> + use<> {
    let (fields, arguments) = (form.fields, declaration.arguments);
    fields.split(' ').filter_map(move |name| arguments.iter().find(|argument| argument.name == name))
}

/// The form, with what was sent.
async fn form_page<S: Seat>(form: &'static FormPage, visit: &Visit<S>, mut sent: Sent) -> Result<PageReply, ApiError> {
    let declaration = visit.declaration(form.call)?;
    let mut page = Page::new(visit, form.title);
    if let Some((call, object)) = subject(form, visit).await? {
        page = page.with(Section::Figures(visit.merchant().members(visit.object_of(&call)?, SUMMARY, &object)));
        if CHANGES.iter().any(|begin| form.call.starts_with(begin)) && visit.request.form().is_none() {
            sent.given = Given::of_object(subject_within(form, visit, declaration, &object), form.fields);
        }
    }
    let Sent { given, faults, error } = &sent;
    let mut fields = Vec::new();
    for argument in asked(form, declaration) {
        let field = Field::of(argument, visit.merchant(), given, faults);
        fields.push(with_choices(field, argument, visit).await?);
    }
    fields.extend(visit.seat.asks_for_code(form.call).then(|| Field::code(faults)));
    let is_told = !faults.is_empty() && faults.keys().all(|name| fields.iter().any(|field| field.argument == *name));
    page.alert = error.as_ref().filter(|_| !is_told).map(|error| error.message().to_owned());
    page.refusal = error.as_ref().map(ApiError::code).or((!faults.is_empty()).then_some(Code::InvalidArguments));
    let leave = Link::new("Cancel", form.path_back(visit.request.path()));
    let mut shown = Form::new(fields, form.button, Some(leave));
    shown.text = declaration.summary.split(['.', ';']).next().unwrap_or_default();
    // While it is unknown whether the call was done, the same form asks for the same thing.
    if matches!(page.refusal, Some(Code::Unavailable | Code::UnhandledError)) {
        shown.idempotency_key = given.text(IDEMPOTENCY_FIELD).to_owned();
    }
    Ok(page.with(Section::Form(shown)).reply())
}

/// The object that the form is about, with the call that finds it.
async fn subject<S: Seat>(form: &FormPage, visit: &Visit<S>) -> Result<Option<(String, Value)>, ApiError> {
    let Some(name) = form.bound(visit.declaration(form.call)?).next() else { return Ok(None) };
    let call = format!("find-{}", name.trim_end_matches("_id"));
    if visit.declaration(&call).is_err() {
        return Ok(None);
    }
    let object = visit.find(&call, name).await?;
    Ok(Some((call, object)))
}

/// The entry of one of the object's lists that the address names; the object itself when it names none.
fn subject_within<'o, S: Seat>(
    form: &FormPage,
    visit: &Visit<S>,
    declaration: &'static Declaration,
    object: &'o Value,
) -> &'o Value {
    let is_named = |entry: &&Value| form.bound(declaration).any(|name| entry[name] == visit.named_text(name));
    let entries = object.as_object().into_iter().flat_map(|members| members.values().filter_map(Value::as_array));
    entries.flatten().find(is_named).unwrap_or(object)
}

/// An installation is chosen among those of the merchant, by who may look at them.
async fn with_choices<S: Seat>(field: Field, argument: &Argument, visit: &Visit<S>) -> Result<Field, ApiError> {
    let is_installation = matches!(argument.value_type, ValueType::Id(InstallationId::PREFIX));
    if !is_installation || !visit.seat.may("list-installations") {
        return Ok(field);
    }
    let found: Value = visit.call("list-installations", &json!({ "per_page": 100 })).await?;
    let words = |one: &Value| format!("{} ({})", one.text("name"), one.text("identifier"));
    let choice = |one: &Value| (one.text("installation_id").to_owned(), words(one));
    Ok(Field { kind: "select", choices: found.items("page").iter().map(choice).collect(), ..field })
}

/// What follows when the call has succeeded.
fn reply_to_success<S: Seat>(
    form: &'static FormPage,
    visit: &Visit<S>,
    declaration: &'static Declaration,
    answer: &Value,
) -> PageReply {
    let text = answer.as_str().unwrap_or_default();
    let mut back = form.path_back(visit.request.path()).to_owned();
    if form.after == After::Made {
        let id = text.rsplit('/').next().and_then(|last| last.split('.').next()).unwrap_or_default();
        back = format!("{back}/{id}");
    }
    if form.after != After::Answer {
        return PageReply::see_other(format!("{back}?{DONE}={}", form.call));
    }
    let details = match declaration.returns {
        Returns::Object(of) => visit.merchant().details(of, answer),
        Returns::Id(_) => vec![("ID".to_owned(), Cell { text: text.to_owned(), look: "id", href: None })],
        _ => vec![("Address".to_owned(), Cell { text: text.to_owned(), ..Cell::default() })],
    };
    let mut page = Page::new(visit, form.title).with(Section::Details(details));
    (page.done, page.links) = (Some(form.button), vec![Link::new("Go back", back)]);
    page.reply()
}
