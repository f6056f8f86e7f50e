//! The shape of an endpoint's answer.

use super::ValueType;

/// The shape of a successful answer.
#[derive(Debug, Clone, Copy)]
pub enum Returns {
    /// A bare string, such as an id.
    String,
    /// One of a few words.
    Words(&'static [&'static str]),
    /// A bare `true` or `false`.
    Boolean,
    /// A bare whole number.
    Integer,
    /// An array of values of one type.
    Array(&'static ValueType),
    /// Any JSON value.
    Any,
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
}

impl Attribute {
    /// A member that always has a value.
    #[must_use]
    pub const fn always(name: &'static str, value_type: ValueType, docs: &'static str) -> Attribute {
        Attribute { name, value_type, nullable: false, optional: false, docs }
    }

    /// A member that may be null.
    #[must_use]
    pub const fn nullable(name: &'static str, value_type: ValueType, docs: &'static str) -> Attribute {
        Attribute { name, value_type, nullable: true, optional: false, docs }
    }

    /// The same, but the member may be left out.
    #[must_use]
    pub const fn sometimes(self) -> Attribute {
        Attribute { optional: true, ..self }
    }
}

impl Returns {
    /// The type of the answer. A page is an object here; documents describe its members.
    #[must_use]
    pub const fn value_type(&self) -> ValueType {
        match self {
            Returns::String => ValueType::STRING,
            Returns::Words(words) => ValueType::Words(words),
            Returns::Boolean => ValueType::BOOLEAN,
            Returns::Integer => ValueType::INTEGER,
            Returns::Array(entries) => ValueType::Array(entries),
            Returns::Any | Returns::AnyOf(_) => ValueType::ANY,
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
            Returns::String | Returns::Words(_) | Returns::Boolean | Returns::Integer | Returns::Any => Vec::new(),
        }
    }

    /// True when the answer is a page.
    #[must_use]
    pub const fn is_page(&self) -> bool {
        matches!(self, Returns::Page(_))
    }
}
