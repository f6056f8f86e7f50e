//! What an endpoint answers.

use super::{JsonType, ValueType};

/// The shape of a successful answer.
#[derive(Debug, Clone, Copy)]
pub enum Returns {
    /// A bare string, such as an id.
    String,
    /// A bare `true` or `false`.
    Boolean,
    /// An array of anything.
    Array,
    /// Any JSON value.
    Any,
    /// An object.
    Object(&'static ObjectType),
    /// A page of objects, with the bodies of the calls for the pages beside it.
    Page(&'static ObjectType),
}

/// An object's members.
#[derive(Debug)]
pub struct ObjectType {
    /// The name documents give it.
    pub name: &'static str,
    /// Its members.
    pub attributes: &'static [Attribute],
}

/// A member of an answered object.
#[derive(Debug, Clone, Copy)]
pub struct Attribute {
    /// Its key.
    pub name: &'static str,
    /// Its type.
    pub value_type: ValueType,
    /// Whether it may be null.
    pub nullable: bool,
    /// What it means, in Markdown.
    pub docs: &'static str,
}

impl Attribute {
    /// A member that always has a value.
    #[must_use]
    pub const fn always(name: &'static str, value_type: ValueType, docs: &'static str) -> Attribute {
        Attribute { name, value_type, nullable: false, docs }
    }

    /// A member that may be null.
    #[must_use]
    pub const fn nullable(name: &'static str, value_type: ValueType, docs: &'static str) -> Attribute {
        Attribute { name, value_type, nullable: true, docs }
    }
}

/// The members of every page.
const PAGE_ATTRIBUTES: &[Attribute] = &[
    Attribute::nullable(
        "previous",
        ValueType::OBJECT,
        "The body of the call for the previous page; null on the first.",
    ),
    Attribute::always("page", ValueType::ARRAY, "The entries, newest first."),
    Attribute::nullable("next", ValueType::OBJECT, "The body of the call for the next page; null on the last."),
];

impl Returns {
    /// The JSON types of the answer.
    #[must_use]
    pub const fn json(&self) -> &'static [JsonType] {
        match self {
            Returns::String => ValueType::STRING.json,
            Returns::Boolean => ValueType::BOOLEAN.json,
            Returns::Array => ValueType::ARRAY.json,
            Returns::Any => ValueType::ANY.json,
            Returns::Object(_) | Returns::Page(_) => ValueType::OBJECT.json,
        }
    }

    /// The members of the answered object; none when it is not one.
    #[must_use]
    pub const fn attributes(&self) -> &'static [Attribute] {
        match self {
            Returns::String | Returns::Boolean | Returns::Array | Returns::Any => &[],
            Returns::Object(object) => object.attributes,
            Returns::Page(_) => PAGE_ATTRIBUTES,
        }
    }

    /// The named object in the answer, or in its page.
    #[must_use]
    pub const fn object(&self) -> Option<&'static ObjectType> {
        match self {
            Returns::Object(object) | Returns::Page(object) => Some(object),
            Returns::String | Returns::Boolean | Returns::Array | Returns::Any => None,
        }
    }

    /// Whether the answer is a page.
    #[must_use]
    pub const fn is_page(&self) -> bool {
        matches!(self, Returns::Page(_))
    }
}
