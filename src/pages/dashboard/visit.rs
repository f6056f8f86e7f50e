//! A member's request for a page, and the calls that the page makes in the member's name.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use till_protocol::api_error::{ApiError, Code};
use till_protocol::declaration::{Declaration, ObjectType};
use till_protocol::dispatch::PageReply;
use url::form_urlencoded;

use super::cell::Merchant;
use super::forms::FORMS;
use super::session::{Member, signed_in};
use super::table::{Link, Table};
use crate::endpoints::pages::declared;
use crate::pages::answered::{AnsweredObject, Request};

/// The files of a statement, and what follows its id in their paths.
const FILES: [(&str, &str); 2] = [("CSV", ".csv"), ("PDF", ".pdf")];

/// A request of a member who is signed in.
pub(super) struct Visit {
    pub(super) request: Request,
    pub(super) member: Member,
}

impl Visit {
    /// Finds out who asks. Without a session: the reply that leads to the sign-in.
    pub(super) async fn begin(request: Request) -> Result<Result<Visit, PageReply>, ApiError> {
        Ok(signed_in(&request).await?.map(|member| Visit { request, member }))
    }

    pub(super) fn merchant(&self) -> &Merchant {
        &self.member.merchant
    }

    /// Makes a call, and reads of its answer what this type has.
    pub(super) async fn call<T: DeserializeOwned>(&self, name: &str, arguments: &Value) -> Result<T, ApiError> {
        self.request.call_for(declaration(name)?, Some(self.member.caller), arguments).await
    }

    /// Finds the object that the address names by this argument. A text that cannot name one names none.
    pub(super) async fn find(&self, name: &str, argument: &str) -> Result<Value, ApiError> {
        self.call(name, &json!({ argument: self.request.text(1) })).await.map_err(|error: ApiError| {
            match error.code() {
                Code::InvalidArguments => ApiError::new(Code::NotFound, "There is no such page."),
                _ => error,
            }
        })
    }

    /// True when the member may make a call.
    pub(super) fn may(&self, name: &str) -> bool {
        declared(name).is_some_and(|(_, act)| self.member.caller.may(act))
    }

    /// The entries that a call answered, with what can be done with each on the page of this pattern.
    pub(super) fn table(
        &self,
        (name, call): (&str, &str),
        of: &str,
        columns: &str,
        answer: &Value,
    ) -> Result<Table, ApiError> {
        let (kind, path) = (object_of(call)?, self.request.path());
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

    /// The links to the forms that the page of this pattern offers for an object, as far as the member may use them:
    /// those beside each object of a list, or those of the page as a whole.
    pub(super) fn acts(&self, of: &str, object: &Value, are_of_rows: bool) -> Vec<Link> {
        let offered = FORMS.iter().filter(|form| form.of == of && form.is_of_row() == are_of_rows);
        let met = offered.filter(|form| form.is_for(object) && self.may(form.call));
        met.map(|form| Link::new(form.title, format!("{}/{}", self.request.path(), form.path_below(object)))).collect()
    }
}

/// The declaration of a call of merchants.
pub(super) fn declaration(name: &str) -> Result<&'static Declaration, ApiError> {
    declared(name).map(|(declaration, _)| declaration).ok_or_else(ApiError::unhandled)
}

/// The object that a call finds, or lists.
pub(super) fn object_of(name: &str) -> Result<&'static ObjectType, ApiError> {
    declaration(name)?.returns.objects().first().copied().ok_or_else(ApiError::unhandled)
}

/// An address of a page with the arguments of a call as its query.
pub(super) fn address(path: &str, arguments: &Map<String, Value>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in arguments {
        query.append_pair(name, value.as_str().unwrap_or(&value.to_string()));
    }
    [path, &query.finish()].join(if arguments.is_empty() { "" } else { "?" })
}
