//! Types as JSON Schema.

use serde_json::{Value, json};

use crate::declaration::{AMOUNT_MAX, Integer, Text, TextKind, ValueType};

/// The schema of a type.
pub(super) fn schema(value_type: &ValueType) -> Value {
    match value_type {
        ValueType::Text(text) => of_text(text),
        ValueType::Id(prefix) => {
            json!({ "type": "string", "pattern": format!("^{prefix}_[0-7][0-9a-hjkmnp-tv-z]{{25}}$") })
        }
        ValueType::Words(words) => json!({ "type": "string", "enum": words }),
        ValueType::Integer(integer) => of_integer(integer),
        ValueType::Amount => {
            json!({ "type": ["string", "integer"], "pattern": "^[1-9][0-9]{0,15}$", "minimum": 1,
                "maximum": AMOUNT_MAX })
        }
        ValueType::Boolean => json!({ "type": "boolean" }),
        ValueType::Object(object) => reference(object.name),
        ValueType::AnyObject => json!({ "type": "object", "additionalProperties": true }),
        ValueType::Body(name) => reference(name),
        ValueType::Array(entries) => json!({ "type": "array", "items": schema(entries) }),
        ValueType::Any => json!({}),
    }
}

fn of_text(text: &Text) -> Value {
    let mut schema = json!({ "type": "string" });
    if let Some((least, most)) = text.length {
        (schema["minLength"], schema["maxLength"]) = (least.into(), most.into());
    }
    if let Some(pattern) = text.pattern {
        schema["pattern"] = pattern.into();
    }
    match text.kind {
        TextKind::Email => schema["format"] = "email".into(),
        TextKind::Url => schema["format"] = "uri".into(),
        TextKind::Phone | TextKind::Plain => {}
    }
    schema
}

fn of_integer(integer: &Integer) -> Value {
    let mut schema = json!({ "type": "integer", "format": "int64" });
    if let Some((least, most)) = integer.limits {
        (schema["minimum"], schema["maximum"]) = (least.into(), most.into());
    }
    schema
}

/// A reference to a schema.
pub(super) fn reference(name: &str) -> Value {
    reference_to("schemas", name)
}

/// A reference to a component of any kind.
pub(super) fn reference_to(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

/// The same or null. A schema without a type allows null already. Null is not added to a list of words, since
/// generators would make several types of the list.
pub(super) fn or_null(mut schema: Value) -> Value {
    if schema.get("$ref").is_some() || schema.get("enum").is_some() {
        return json!({ "oneOf": [schema, { "type": "null" }] });
    }
    match schema.get("type").cloned() {
        Some(Value::String(single)) => schema["type"] = json!([single, "null"]),
        Some(Value::Array(several)) => schema["type"] = several.into_iter().chain(["null".into()]).collect(),
        Some(_) | None => {}
    }
    schema
}

/// The same schema with a description.
pub(super) fn described(mut schema: Value, docs: &str) -> Value {
    schema["description"] = docs.into();
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_one_more_type_and_no_word() {
        let words = or_null(schema(&ValueType::words(&["a", "b"])));
        assert_eq!(words, json!({ "oneOf": [{ "type": "string", "enum": ["a", "b"] }, { "type": "null" }] }));
        assert_eq!(or_null(schema(&ValueType::AMOUNT))["type"], json!(["string", "integer", "null"]));
        assert_eq!(or_null(json!({})), json!({}));
        assert_eq!(or_null(reference("card"))["oneOf"][1], json!({ "type": "null" }));
    }

    #[test]
    fn limits_stand_in_the_schema() {
        let number = schema(&ValueType::integer(1, 100, 25));
        assert_eq!(number, json!({ "type": "integer", "format": "int64", "minimum": 1, "maximum": 100 }));
        let text = schema(&ValueType::Text(Text::of(1, 9, "a").matching("^a+$")));
        assert_eq!(text, json!({ "type": "string", "minLength": 1, "maxLength": 9, "pattern": "^a+$" }));
    }
}
