//! A JSON value, as the caller sent it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};
use zeroize::Zeroize;

use super::Number;

/// The members of an object, each key once.
pub type Object = BTreeMap<String, Json>;

/// A JSON value whose numbers are exact and whose objects have no key twice.
///
/// Its `Debug` form shows the shape only: a body may carry a card number.
#[derive(Clone, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, exact.
    Number(Number),
    /// Text, with escapes resolved.
    String(String),
    /// Values in order.
    Array(Vec<Json>),
    /// Members by key.
    Object(Object),
}

impl Json {
    /// True for `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Json::Null)
    }

    /// The text, when this is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => None,
        }
    }

    /// The truth value, when this is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(value) => Some(*value),
            Json::Null | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => None,
        }
    }

    /// The integer, when this is a number with an integer value (see [`Number::as_integer`]).
    #[must_use]
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Json::Number(number) => number.as_integer(),
            Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => None,
        }
    }

    /// The kind of the value, for a message that does not repeat it: "a string".
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Number(_) => "a number",
            Json::String(_) => "a string",
            Json::Array(_) => "an array",
            Json::Object(_) => "an object",
        }
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Array(items) => write!(formatter, "an array of {}", items.len()),
            Json::Object(members) => write!(formatter, "an object of {}", members.len()),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => formatter.write_str(self.kind()),
        }
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Number(number) => number.serialize(serializer),
            Json::String(text) => serializer.serialize_str(text),
            Json::Array(items) => items.serialize(serializer),
            Json::Object(members) => members.serialize(serializer),
        }
    }
}

/// Overwrites every text and number in the value, but not keys: a card number and a security code must not remain in
/// freed memory.
impl Zeroize for Json {
    fn zeroize(&mut self) {
        match self {
            Json::String(text) => text.zeroize(),
            Json::Array(items) => items.iter_mut().for_each(Json::zeroize),
            Json::Object(members) => members.values_mut().for_each(Json::zeroize),
            Json::Number(number) => number.zeroize(),
            Json::Null | Json::Bool(_) => {}
        }
    }
}
