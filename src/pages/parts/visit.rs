//! The request for a page of somebody who is signed in, and the calls that the page makes in that name.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use till_protocol::api_error::{ApiError, Code};
use till_protocol::declaration::{Declaration, ObjectType};
use till_protocol::dispatch::BrowserRequest;
use url::form_urlencoded;

use super::cell::Merchant;
use super::forms::argument;
use super::seat::Seat;
use super::table::{Link, Table};
use crate::pages::answered::AnsweredObject;

/// The files of a statement, and what follows its id in their paths.
const FILES: [(&str, &str); 2] = [("CSV", ".csv"), ("PDF", ".pdf")];

/// A request of somebody who is signed in.
pub(in crate::pages) struct Visit<S: Seat> {
    pub(in crate::pages) request: BrowserRequest<S::Who>,
    pub(in crate::pages) seat: S,
    /// The pattern of the page.
    pub(in crate::pages) pattern: &'static str,
}

impl<S: Seat> Visit<S> {
    pub(in crate::pages) fn merchant(&self) -> &Merchant {
        self.seat.merchant()
    }

    /// The text that the address has for a name in braces of the pattern; empty when it has none of that name.
    pub(in crate::pages) fn named_text(&self, name: &str) -> &str {
        let place = self.pattern.split('/').filter_map(argument).position(|known| known == name);
        place.map_or("", |place| self.request.text(place))
    }

    /// The declaration of a call.
    pub(in crate::pages) fn declaration(&self, name: &str) -> Result<&'static Declaration, ApiError> {
        S::SITE.declaration(name)
    }

    /// The object that a call finds, or lists.
    pub(in crate::pages) fn object_of(&self, name: &str) -> Result<&'static ObjectType, ApiError> {
        S::SITE.object_of(name)
    }

    /// Makes a call, and reads of its answer what this type has.
    pub(in crate::pages) async fn call<T: DeserializeOwned>(
        &self,
        name: &str,
        arguments: &Value,
    ) -> Result<T, ApiError> {
        self.request.call_for(self.declaration(name)?, Some(self.seat.who()), arguments).await
    }

    /// Finds the object that the address names by this argument. A text that cannot name one names none.
    pub(in crate::pages) async fn find(&self, name: &str, argument: &str) -> Result<Value, ApiError> {
        self.call(name, &json!({ argument: self.named_text(argument) })).await.map_err(|error: ApiError| {
            match error.code() {
                Code::InvalidArguments => ApiError::new(Code::NotFound, "There is no such page."),
                _ => error,
            }
        })
    }

    /// The entries that a call answered, with what can be done with each on the page of this pattern.
    pub(in crate::pages) fn table(
        &self,
        (name, call): (&str, &str),
        of: &str,
        columns: &str,
        answer: &Value,
    ) -> Result<Table, ApiError> {
        let (kind, path) = (self.object_of(call)?, self.request.path());
        let objects = answer.as_array().map_or_else(|| answer.items("page"), Vec::as_slice);
        let rows = objects.iter().map(|object| self.merchant().members(kind, columns, object));
        let mut table = Table::new(name, "None yet", rows);
        for (row, object) in table.rows.iter_mut().zip(objects) {
            row.acts = self.acts(of, object, true);
            if let Some(id) = object.optional_text("month").and(object.optional_text("statement_id")) {
                row.acts.extend(FILES.map(|(label, suffix)| Link::new(label, format!("{path}/{id}{suffix}"))));
            }
        }
        Ok(table)
    }

    /// The links to the forms that the page of this pattern offers for an object, as far as the visitor may use them:
    /// those beside each object of a list, or those of the page as a whole.
    pub(in crate::pages) fn acts(&self, of: &str, object: &Value, are_of_rows: bool) -> Vec<Link> {
        let offered = S::SITE.forms.iter().filter(|form| form.of == of && form.is_of_row() == are_of_rows);
        let met = offered.filter(|form| form.is_for(object) && self.seat.may(form.call));
        met.map(|form| Link::new(form.title, format!("{}/{}", self.request.path(), form.path_below(object)))).collect()
    }
}

/// An address of a page with the arguments of a call as its query.
pub(in crate::pages) fn address(path: &str, arguments: &Map<String, Value>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in arguments {
        query.append_pair(name, value.as_str().unwrap_or(&value.to_string()));
    }
    [path, &query.finish()].join(if arguments.is_empty() { "" } else { "?" })
}
