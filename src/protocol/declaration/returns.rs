//! The shape of an endpoint's answer.

use serde_json::{Map, Value, json};

use super::{Argument, ValueType};

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
    /// An array of values of one type.
    Array(&'static ValueType),
    /// Any JSON value, with an example as JSON.
    Any(&'static str),
    /// One of these objects, or any other JSON value.
    AnyOf(&'static [&'static ObjectType]),
    Object(&'static ObjectType),
    /// A page of objects, with the bodies of the calls for the adjacent pages.
    Page(&'static ObjectType),
}

/// An object's members.
#[derive(Debug)]
pub struct ObjectType {
    /// Its name in documents.
    pub name: &'static str,
    /// Its members.
    pub attributes: &'static [Attribute],
}

/// A member of an answered object.
#[derive(Debug, Clone, Copy)]
pub struct Attribute {
    /// Its key.
    pub name: &'static str,
    pub value_type: ValueType,
    /// True when it may be null.
    pub nullable: bool,
    /// True when it may be left out.
    pub optional: bool,
    /// The description, in Markdown.
    pub docs: &'static str,
    /// An example value where that of its type does not fit: a text as it is, anything else as JSON.
    pub own_example: Option<&'static str>,
    /// True when the example of its object has a value although it may be null.
    pub shown: bool,
}

impl Attribute {
    /// A member that always has a value.
    #[must_use]
    pub const fn of(name: &'static str, value_type: ValueType, docs: &'static str) -> Attribute {
        let (nullable, optional, own_example, shown) = (false, false, None, false);
        Attribute { name, value_type, nullable, optional, docs, own_example, shown }
    }

    /// The same, but the value may be null.
    #[must_use]
    pub const fn null(self) -> Attribute {
        Attribute { nullable: true, ..self }
    }

    /// The same, but the member may be left out.
    #[must_use]
    pub const fn sometimes(self) -> Attribute {
        Attribute { optional: true, ..self }
    }

    /// The same with an example value: a text as it is, anything else as JSON.
    #[must_use]
    pub const fn such_as(self, example: &'static str) -> Attribute {
        Attribute { own_example: Some(example), ..self }
    }

    /// The same, and the example of its object has a value although it may be null.
    #[must_use]
    pub const fn shown(self) -> Attribute {
        Attribute { shown: true, ..self }
    }

    /// The value in the example of its object; None when that does not have the member.
    #[must_use]
    pub fn example(&self) -> Option<Value> {
        if let Some(own) = self.own_example {
            return Some(self.value_type.example_from(own));
        }
        match (self.optional, self.nullable && !self.shown) {
            (true, _) => None,
            (false, true) => Some(Value::Null),
            (false, false) => self.value_type.example(),
        }
    }
}

impl ObjectType {
    /// An example of the object.
    #[must_use]
    pub fn example(&self) -> Value {
        let members = self.attributes.iter();
        members.filter_map(|attribute| Some((attribute.name.to_owned(), attribute.example()?))).collect()
    }
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
            Returns::Array(entries) => ValueType::Array(entries),
            Returns::Any(_) | Returns::AnyOf(_) => ValueType::ANY,
            Returns::Object(object) => ValueType::Object(object),
            Returns::Page(_) => ValueType::AnyObject,
        }
    }

    /// The named objects in the answer, or in the page.
    #[must_use]
    pub fn objects(&self) -> Vec<&'static ObjectType> {
        match self {
            Returns::Object(object) | Returns::Page(object) => vec![object],
            Returns::AnyOf(objects) => objects.to_vec(),
            Returns::Array(entries) => entries.object().into_iter().collect(),
            Returns::Id(_) | Returns::Words(_) | Returns::Boolean | Returns::Integer | Returns::Any(_) => Vec::new(),
        }
    }

    /// An example of the answer of an endpoint with these arguments.
    #[must_use]
    pub fn example(&self, arguments: &[Argument]) -> Option<Value> {
        match self {
            Returns::Page(object) => Some(page_example(object, arguments)),
            Returns::AnyOf(objects) => objects.first().map(|object| object.example()),
            Returns::Integer => Some(3.into()),
            Returns::Any(json) => Some(serde_json::from_str(json).expect("an example is written as JSON")),
            Returns::Id(_) | Returns::Words(_) | Returns::Boolean | Returns::Array(_) | Returns::Object(_) => {
                self.value_type().example()
            }
        }
    }

    /// True when the answer is a page.
    #[must_use]
    pub const fn is_page(&self) -> bool {
        matches!(self, Returns::Page(_))
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
