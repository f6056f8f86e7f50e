//! The types of arguments and of members of answers, and the objects that have these members. Both documents are
//! generated from them.

use serde_json::Value;
use till_domain::text::{EMAIL_MAX_BYTES, RETURN_URL_MAX_BYTES};

/// The largest amount, in minor units: 2^53-1, which every JSON reader holds exactly.
pub const AMOUNT_MAX: u64 = (1 << 53) - 1;

/// The suffix of the ids in examples.
const EXAMPLE_ID_SUFFIX: &str = "01h2e8kqvbfwea724h75qc655w";

/// The type of a value. The type of an argument has the limits that its parser enforces.
#[derive(Debug, Clone, Copy)]
pub enum ValueType {
    /// A string.
    Text(Text),
    /// An id of ours, by its prefix.
    Id(&'static str),
    /// One of a few words.
    Words(&'static [&'static str]),
    /// A whole number.
    Integer(Integer),
    /// Minor units of a currency in a request: a string of digits or an integer.
    Amount,
    /// `true` or `false`.
    Boolean,
    /// An object with these members.
    Object(&'static ObjectType),
    /// An object of any shape.
    AnyObject,
    /// The body of a call, by the name that the OpenAPI document gives it.
    Body(&'static str),
    /// An array of values of one type.
    Array(&'static ValueType),
    /// Any JSON value.
    Any,
}

/// The limits of a string.
#[derive(Debug, Clone, Copy)]
pub struct Text {
    /// A kind that other programs know.
    pub kind: TextKind,
    /// The limits of its length, in characters.
    pub length: Option<(usize, usize)>,
    /// A regular expression (ECMA-262) that it matches.
    pub pattern: Option<&'static str>,
    /// An example.
    pub example: Option<&'static str>,
}

/// Kinds of strings that other programs know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// Any other kind.
    Plain,
    /// An e-mail address.
    Email,
    /// A telephone number in E.164 form.
    Phone,
    /// An absolute http(s) address.
    Url,
}

/// The limits of a whole number.
#[derive(Debug, Clone, Copy)]
pub struct Integer {
    /// True when it is a time, in Unix seconds.
    pub is_time: bool,
    /// True when it is an amount, in minor units.
    pub is_amount: bool,
    /// The minimum and the maximum.
    pub limits: Option<(u64, u64)>,
    /// An example within the limits.
    pub example: Option<u64>,
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
    /// Its type.
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

impl ValueType {
    /// A string without declared limits, for answers.
    pub const STRING: ValueType = ValueType::Text(Text::PLAIN);
    /// A whole number without declared limits, for answers.
    pub const INTEGER: ValueType = ValueType::Integer(Integer::ANY);
    /// Minor units of a currency in an answer.
    pub const MINOR_UNITS: ValueType = ValueType::Integer(Integer { is_amount: true, ..Integer::ANY });
    /// Unix seconds in an answer.
    pub const TIMESTAMP: ValueType =
        ValueType::Integer(Integer { is_time: true, example: Some(1_767_225_600), ..Integer::ANY });
    /// Minor units of a currency in a request: a string of digits or an integer.
    pub const AMOUNT: ValueType = ValueType::Amount;
    /// `true` or `false`.
    pub const BOOLEAN: ValueType = ValueType::Boolean;
    /// An e-mail address.
    pub const EMAIL: ValueType = ValueType::Text(Text::EMAIL);
    /// A telephone number in E.164 form.
    pub const PHONE: ValueType = ValueType::Text(Text::PHONE);
    /// An absolute http(s) address.
    pub const URL: ValueType = ValueType::Text(Text::URL);
    /// An object of any shape.
    pub const OBJECT: ValueType = ValueType::AnyObject;
    /// Any JSON value.
    pub const ANY: ValueType = ValueType::Any;

    /// One of a few words.
    #[must_use]
    pub const fn words(words: &'static [&'static str]) -> ValueType {
        ValueType::Words(words)
    }

    /// A whole number within limits.
    #[must_use]
    pub const fn integer(least: u64, most: u64, example: u64) -> ValueType {
        ValueType::Integer(Integer { limits: Some((least, most)), example: Some(example), ..Integer::ANY })
    }

    /// The allowed words, when the type is a list of words.
    #[must_use]
    pub const fn choices(&self) -> &'static [&'static str] {
        if let ValueType::Words(words) = self { words } else { &[] }
    }

    /// True when it is an e-mail address, whose letter case has no meaning.
    #[must_use]
    pub const fn is_email(&self) -> bool {
        matches!(self, ValueType::Text(Text { kind: TextKind::Email, .. }))
    }

    /// The named object that it is, or that it holds.
    #[must_use]
    pub const fn object(&self) -> Option<&'static ObjectType> {
        match self {
            ValueType::Object(object) => Some(object),
            ValueType::Array(entries) => entries.object(),
            ValueType::Text(_)
            | ValueType::Id(_)
            | ValueType::Words(_)
            | ValueType::Integer(_)
            | ValueType::Amount
            | ValueType::Boolean
            | ValueType::AnyObject
            | ValueType::Body(_)
            | ValueType::Any => None,
        }
    }

    /// True when it may be an object or an array, which hold further values.
    #[must_use]
    pub const fn is_container(&self) -> bool {
        match self {
            ValueType::Object(_) | ValueType::Array(_) | ValueType::AnyObject | ValueType::Body(_) | ValueType::Any => {
                true
            }
            ValueType::Text(_)
            | ValueType::Id(_)
            | ValueType::Words(_)
            | ValueType::Integer(_)
            | ValueType::Amount
            | ValueType::Boolean => false,
        }
    }

    /// An example value, where the type alone determines one.
    #[must_use]
    pub fn example(&self) -> Option<Value> {
        match self {
            ValueType::Text(text) => text.example.map(Value::from),
            ValueType::Id(prefix) => Some(format!("{prefix}_{EXAMPLE_ID_SUFFIX}").into()),
            ValueType::Words(words) => words.first().copied().map(Value::from),
            ValueType::Integer(integer) => integer.example.map(Value::from),
            ValueType::Amount => Some("10000".into()),
            ValueType::Boolean => Some(true.into()),
            ValueType::Object(object) => Some(object.example()),
            ValueType::Array(entries) => entries.example().map(|entry| Value::Array(vec![entry])),
            ValueType::AnyObject | ValueType::Body(_) | ValueType::Any => None,
        }
    }

    /// An example value as it is written in a declaration: a text as it is, anything else as JSON.
    #[must_use]
    pub fn example_from(&self, written: &'static str) -> Value {
        match self {
            ValueType::Text(_) | ValueType::Id(_) | ValueType::Words(_) => written.into(),
            ValueType::Integer(_)
            | ValueType::Amount
            | ValueType::Boolean
            | ValueType::Object(_)
            | ValueType::AnyObject
            | ValueType::Body(_)
            | ValueType::Array(_)
            | ValueType::Any => serde_json::from_str(written).expect("an example is written as JSON"),
        }
    }
}

impl Integer {
    /// Any whole number.
    pub const ANY: Integer = Integer { is_time: false, is_amount: false, limits: None, example: None };
}

impl Text {
    /// Any string.
    pub const PLAIN: Text = Text { kind: TextKind::Plain, length: None, pattern: None, example: None };
    const EMAIL: Text = Text {
        kind: TextKind::Email,
        length: Some((3, EMAIL_MAX_BYTES)),
        example: Some("somchai@example.com"),
        ..Text::PLAIN
    };
    const PHONE: Text = Text {
        kind: TextKind::Phone,
        length: Some((9, 16)),
        pattern: Some("^\\+[1-9][0-9]{7,14}$"),
        example: Some("+66812345678"),
    };
    /// An absolute http(s) address that a caller gives.
    pub const URL: Text = Text {
        kind: TextKind::Url,
        length: Some((8, RETURN_URL_MAX_BYTES)),
        pattern: Some("^[Hh][Tt][Tt][Pp][Ss]?://[^\\s]+$"),
        example: Some("https://shop.example/done"),
    };

    /// A string with this number of characters.
    #[must_use]
    pub const fn of(least: usize, most: usize, example: &'static str) -> Text {
        Text { length: Some((least, most)), example: Some(example), ..Text::PLAIN }
    }

    /// The same with a regular expression that it must match.
    #[must_use]
    pub const fn matching(self, pattern: &'static str) -> Text {
        Text { pattern: Some(pattern), ..self }
    }
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
    pub const fn optional(self) -> Attribute {
        Attribute { optional: true, ..self }
    }

    /// The same with an example value: a text as it is, anything else as JSON.
    #[must_use]
    pub const fn such_as(self, example: &'static str) -> Attribute {
        Attribute { own_example: Some(example), ..self }
    }

    /// The same, and the example of its object has a value although it may be null.
    #[must_use]
    pub const fn in_examples(self) -> Attribute {
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
