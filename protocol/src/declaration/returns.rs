//! The shape of an endpoint's answer.

use serde_json::{Map, Value, json};

use super::{Argument, ObjectType, ValueType};

/// The shape of a successful answer.
#[derive(Debug, Clone, Copy)]
pub enum Returns {
    /// An id of ours, by its prefix.
    Id(&'static str),
    /// One of a few words.
    Words(&'static [&'static str]),
    /// A bare `true` or `false`.
    Boolean,
    /// A bare whole number.
    Integer,
    /// A bare string.
    Text(ValueType),
    /// An array of values of one type.
    Array(&'static ValueType),
    /// Any JSON value, with an example as JSON.
    Any(&'static str),
    /// One of these objects, or any other JSON value.
    AnyOf(&'static [&'static ObjectType]),
    /// One object.
    Object(&'static ObjectType),
    /// A page of objects, with the bodies of the calls for the adjacent pages.
    ListPage(&'static ObjectType),
}

impl Returns {
    /// The type of the answer. A page is an object here; documents describe its members.
    #[must_use]
    pub const fn value_type(&self) -> ValueType {
        match self {
            Returns::Id(prefix) => ValueType::Id(prefix),
            Returns::Words(words) => ValueType::Words(words),
            Returns::Boolean => ValueType::BOOLEAN,
            Returns::Integer => ValueType::INTEGER,
            Returns::Text(text) => *text,
            Returns::Array(entries) => ValueType::Array(entries),
            Returns::Any(_) | Returns::AnyOf(_) => ValueType::ANY,
            Returns::Object(object) => ValueType::Object(object),
            Returns::ListPage(_) => ValueType::AnyObject,
        }
    }

    /// The named objects in the answer, or in the page.
    #[must_use]
    pub fn objects(&self) -> Vec<&'static ObjectType> {
        match self {
            Returns::Object(object) | Returns::ListPage(object) => vec![object],
            Returns::AnyOf(objects) => objects.to_vec(),
            Returns::Array(entries) => entries.object().into_iter().collect(),
            Returns::Id(_)
            | Returns::Words(_)
            | Returns::Boolean
            | Returns::Integer
            | Returns::Text(_)
            | Returns::Any(_) => Vec::new(),
        }
    }

    /// An example of the answer of an endpoint with these arguments.
    #[must_use]
    pub fn example(&self, arguments: &[Argument]) -> Option<Value> {
        match self {
            Returns::ListPage(object) => Some(page_example(object, arguments)),
            Returns::AnyOf(objects) => objects.first().map(|object| object.example()),
            Returns::Integer => Some(3.into()),
            Returns::Any(json) => Some(serde_json::from_str(json).expect("an example is written as JSON")),
            Returns::Id(_)
            | Returns::Words(_)
            | Returns::Boolean
            | Returns::Text(_)
            | Returns::Array(_)
            | Returns::Object(_) => self.value_type().example(),
        }
    }

    /// True when the answer is a page.
    #[must_use]
    pub const fn is_page(&self) -> bool {
        matches!(self, Returns::ListPage(_))
    }
}

/// A first page with one of several entries. The body of the call for the next page has what every call needs, the
/// cursor, and the size.
fn page_example(object: &ObjectType, arguments: &[Argument]) -> Value {
    let is_sent = |argument: &&Argument| argument.required || ["after", "per_page"].contains(&argument.name);
    let next = arguments.iter().filter(is_sent);
    let next: Map<String, Value> =
        next.filter_map(|argument| Some((argument.name.to_owned(), argument.example()?))).collect();
    json!({ "previous": null, "page": [object.example()], "next": next })
}
