//! The JSON types of arguments and answers.

/// A base type of JSON, by the name that the package document uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonType {
    /// An object.
    Object,
    /// An array.
    Array,
    /// A string.
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// `null`.
    Null,
}

impl JsonType {
    /// The name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            JsonType::Object => "object",
            JsonType::Array => "array",
            JsonType::String => "string",
            JsonType::Number => "number",
            JsonType::Boolean => "boolean",
            JsonType::Null => "null",
        }
    }
}

/// The type of a value: the JSON types it may have, a hint that narrows them, and the words allowed when
/// there are only a few.
#[derive(Debug, Clone, Copy)]
pub struct ValueType {
    /// The JSON types, the preferred one first.
    pub json: &'static [JsonType],
    /// A narrowing of the base type by its public name (`email`, `timestamp`).
    pub hint: Option<&'static str>,
    /// The allowed words, empty when any will do.
    pub choices: &'static [&'static str],
}

impl ValueType {
    /// Text.
    pub const STRING: ValueType = ValueType::of(&[JsonType::String]);
    /// A whole number.
    pub const INTEGER: ValueType = ValueType { hint: Some("i64"), ..ValueType::of(&[JsonType::Number]) };
    /// Unix seconds.
    pub const TIMESTAMP: ValueType = ValueType { hint: Some("timestamp"), ..ValueType::of(&[JsonType::Number]) };
    /// Minor units of a currency, going in: a string of digits or an integer.
    pub const AMOUNT: ValueType = ValueType::of(&[JsonType::String, JsonType::Number]);
    /// `true` or `false`.
    pub const BOOLEAN: ValueType = ValueType::of(&[JsonType::Boolean]);
    /// An e-mail address.
    pub const EMAIL: ValueType = ValueType { hint: Some("email"), ..ValueType::STRING };
    /// A telephone number in E.164 form.
    pub const PHONE: ValueType = ValueType { hint: Some("phone"), ..ValueType::STRING };
    /// An absolute http(s) address.
    pub const URL: ValueType = ValueType { hint: Some("url"), ..ValueType::STRING };
    /// An object of any shape.
    pub const OBJECT: ValueType = ValueType::of(&[JsonType::Object]);
    /// An array of anything.
    pub const ARRAY: ValueType = ValueType::of(&[JsonType::Array]);
    /// Any JSON value.
    pub const ANY: ValueType = ValueType::of(&[
        JsonType::Object,
        JsonType::Array,
        JsonType::String,
        JsonType::Number,
        JsonType::Boolean,
        JsonType::Null,
    ]);

    /// A value of one of these JSON types.
    #[must_use]
    pub const fn of(json: &'static [JsonType]) -> ValueType {
        ValueType { json, hint: None, choices: &[] }
    }

    /// Whether it may be an object or an array, which hold further values.
    #[must_use]
    pub fn is_container(&self) -> bool {
        self.json.iter().any(|json| matches!(json, JsonType::Object | JsonType::Array))
    }

    /// One of a few words.
    #[must_use]
    pub const fn words(choices: &'static [&'static str]) -> ValueType {
        ValueType { choices, ..ValueType::STRING }
    }
}
