//! Pages of lists, whose filters are the arguments of their calls, and pages of objects.

use serde_json::{Value, json};
use till_protocol::api_error::{ApiError, Code};
use till_protocol::declaration::Argument;
use till_protocol::dispatch::PageReply;

use super::field::Field;
use super::given::{Faults, Given, faults_of};
use super::lists::{ListPage, ObjectPage};
use super::page::{Form, Page, Section};
use super::seat::Seat;
use super::table::{Link, Table};
use super::visit::{Visit, address};
use crate::pages::answered::AnsweredObject;
use crate::pages::checkout::QrDrawing;

/// The arguments that choose a page of a list.
const PAGING: [&str; 3] = ["per_page", "after", "before"];

/// Shows a list. The address that a browser makes of the form of filters leads to the one with the call's arguments.
pub(in crate::pages) async fn open<S: Seat>(list: &'static ListPage, visit: Visit<S>) -> Result<PageReply, ApiError> {
    let (declared, path) = (visit.declaration(list.call)?.arguments, visit.request.path());
    let given = Given::of_query(visit.request.whole_query());
    let (arguments, mut faults) = given.arguments(declared.iter(), visit.merchant());
    if given.is_of_filters() && faults.is_empty() {
        return Ok(PageReply::see_other(address(path, &arguments)));
    }
    let mut answer = Value::Null;
    if faults.is_empty() && !(list.is_search && arguments.is_empty()) {
        match visit.call(list.call, &arguments.clone().into()).await {
            Ok(found) => answer = found,
            // No balance was opened yet.
            Err(error) if error.code() == Code::NotFound && error.details().is_none() => {}
            Err(error) => faults = Some(faults_of(&error)).filter(|faults| !faults.is_empty()).ok_or(error)?,
        }
    }
    let is_whole = arguments.is_empty() && faults.is_empty();
    let beside = |call: &str| answer[call].as_object().map(|arguments| address(path, arguments));
    let table = Table {
        is_main: true,
        empty: if is_whole { list.empty } else { "Nothing found" }.to_owned(),
        newer: beside("previous"),
        older: beside("next"),
        ..visit.table((list.title, list.call), list.page.pattern, list.columns, &answer)?
    };
    let mut page = Page::new(&visit, list.title);
    page.links = visit.acts(list.page.pattern, &Value::Null, false);
    if list.call == "list-payments" {
        page.links.push(Link::new("Export CSV", address(&format!("{path}.csv"), &arguments)));
    }
    page.refusal = (!faults.is_empty()).then_some(Code::InvalidArguments);
    page.sections = parts(&visit, list.page.pattern, true).await?;
    page.sections.extend(filters(&visit, list, &given, &faults).map(Section::Form));
    page.sections.push(Section::Table(table));
    page.sections.extend(parts(&visit, list.page.pattern, false).await?);
    Ok(page.reply())
}

/// The form of filters: one for each argument, but for those that choose a page. One that is an id is shown only where
/// the address has it, or a search is made by it.
fn filters<S: Seat>(visit: &Visit<S>, list: &ListPage, given: &Given, faults: &Faults) -> Option<Form> {
    let declared: &'static [Argument] = visit.declaration(list.call).ok()?.arguments;
    let is_given = |name: &str| list.is_search || !name.ends_with("_id") || given.all(name).next().is_some();
    let shown = declared.iter().filter(|argument| !PAGING.contains(&argument.name) && is_given(argument.name));
    let mut fields: Vec<Field> =
        shown.map(|argument| Field::filter(argument, visit.merchant(), given, faults)).collect();
    // The search stands first.
    fields.sort_by_key(|field| field.name != "terms");
    let form = Form::new(fields, "Apply filters", Some(Link::new("Clear filters", visit.request.path())));
    (!form.fields.is_empty()).then_some(Form { is_query: true, ..form })
}

/// What else stands on the page of this pattern, above or below: members of objects, or lists.
pub(in crate::pages) async fn parts<S: Seat>(
    visit: &Visit<S>,
    of: &str,
    is_above: bool,
) -> Result<Vec<Section>, ApiError> {
    let mut sections = Vec::new();
    for part in S::SITE.parts.iter().filter(|part| part.of == of && visit.seat.may(part.call)) {
        if visit.declaration(part.call)?.returns.is_page() == is_above {
            continue;
        }
        let arguments = if part.by.is_empty() { json!({}) } else { json!({ part.by: visit.named_text(part.by) }) };
        match visit.call(part.call, &arguments).await {
            Ok(object) if is_above => {
                sections.push(Section::Figures(visit.merchant().members(
                    visit.object_of(part.call)?,
                    part.columns,
                    &object,
                )));
            }
            Ok(answer) => {
                sections.push(Section::Table(visit.table((part.title, part.call), of, part.columns, &answer)?));
            }
            Err(error) if is_above && error.code() == Code::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(sections)
}

/// Shows an object: its members, what can be done with it, and lists of what belongs to it.
pub(in crate::pages) async fn open_object<S: Seat>(
    shown: &'static ObjectPage,
    visit: Visit<S>,
) -> Result<PageReply, ApiError> {
    let object = visit.find(shown.call, shown.argument).await?;
    let mut page = Page::new(&visit, object.text(shown.argument));
    page.links = visit.acts(shown.page.pattern, &object, false);
    page.sections.extend(object.optional_text("url").and_then(QrDrawing::draw).map(Section::Qr));
    page.sections.push(Section::Details(visit.merchant().details(visit.object_of(shown.call)?, &object)));
    page.sections.extend(parts(&visit, shown.page.pattern, false).await?);
    Ok(page.reply())
}
