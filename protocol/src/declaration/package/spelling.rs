//! Types in the spelling of the package document.
//!
//! A type is a base type, a base type with a narrowing after a dot (`string.email`, `object.payment`), or a list, which
//! is a union; a list within the list is an array of its items. All published clients read this spelling of arrays, and
//! no other: one of them fails on `array.object.payment`.
//!
//! Source: webfunction.org/package, section types.

use serde_json::{Value, json};

use crate::declaration::{Integer, Text, TextKind, ValueType};

/// The spelling of a type.
pub(super) fn spelling_of(value_type: &ValueType) -> Value {
    match value_type {
        ValueType::Text(Text { kind, .. }) => spelt_text(*kind).into(),
        ValueType::Id(_) | ValueType::Words(_) => "string".into(),
        ValueType::Integer(Integer { is_time: true, .. }) => "number.timestamp".into(),
        ValueType::Integer(Integer { is_time: false, .. }) => "number.i64".into(),
        ValueType::Amount => json!(["string", "number.i64"]),
        ValueType::Boolean => "boolean".into(),
        ValueType::Object(object) => format!("object.{}", object.name).into(),
        ValueType::AnyObject | ValueType::Body(_) => "object".into(),
        ValueType::Array(entries) => match spelling_of(entries) {
            union @ Value::Array(_) => json!([union]),
            single => json!([[single]]),
        },
        ValueType::Any => "any".into(),
    }
}

fn spelt_text(kind: TextKind) -> &'static str {
    match kind {
        TextKind::Plain => "string",
        TextKind::Email => "string.email",
        TextKind::Phone => "string.phone",
        TextKind::Url => "string.url",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declaration::ObjectType;

    static FEE: ObjectType = ObjectType { name: "fee", attributes: &[] };
    static A_FEE: ValueType = ValueType::Object(&FEE);

    #[test]
    fn types_have_the_spelling_that_published_clients_read() {
        for (value_type, expected) in [
            (ValueType::EMAIL, json!("string.email")),
            (ValueType::URL, json!("string.url")),
            (ValueType::PHONE, json!("string.phone")),
            (ValueType::Id("pay"), json!("string")),
            (ValueType::TIMESTAMP, json!("number.timestamp")),
            (A_FEE, json!("object.fee")),
            (ValueType::Array(&A_FEE), json!([["object.fee"]])),
            (ValueType::Array(&ValueType::Amount), json!([["string", "number.i64"]])),
            (ValueType::ANY, json!("any")),
        ] {
            assert_eq!(spelling_of(&value_type), expected);
        }
    }
}
