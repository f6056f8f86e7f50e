//! Events and answers as JSON: their kind, and their fields under the names of the shape on disk.

use serde::Serialize;
use serde_json::{Map, Value};
use till_domain::event::{Answer, Event};
use till_storage::shapes::{Disclosure, Shown};

use super::parts;

/// An event as its kind and its fields.
pub(super) fn event(event: &Event, disclosure: Disclosure) -> (String, Value) {
    kind_and_fields(Shown::new(event, disclosure))
}

/// The answer to a call.
pub(super) fn answer(answer: &Answer, disclosure: Disclosure) -> Value {
    kind_and_fields(Shown::new(answer, disclosure)).1
}

fn kind_and_fields(shown: impl Serialize) -> (String, Value) {
    let mut shown = parts::shape(shown);
    match shown.as_object_mut().and_then(|members| members.remove("kind")) {
        Some(kind) => (kind.as_str().unwrap_or_default().to_owned(), shown),
        None => (shown.as_str().unwrap_or_default().to_owned(), Value::Object(Map::new())),
    }
}
