//! The examples of answers, refusals and deliveries in the OpenAPI documents: each has the form that its schema allows,
//! and the status under which its code is answered.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use till::{ApiError, Code, Form};

use crate::harness::Server;

/// The documents of both listeners.
fn documents() -> [Value; 2] {
    let server = Server::start();
    [server.shop().client(), server.admin_client()].map(|client| client.get("/openapi.json").ok())
}

/// The part that a reference names, or the value itself.
fn resolved<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    match value["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).expect("a reference resolves"),
        None => value,
    }
}

/// The reason for which a schema does not allow a value, if there is one.
fn fault(document: &Value, schema: &Value, value: &Value) -> Option<String> {
    let schema = resolved(document, schema);
    let alternatives = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array());
    if let Some(alternatives) = alternatives {
        let allowed = alternatives.iter().any(|schema| fault(document, schema, value).is_none());
        return (!allowed).then(|| format!("{value} is none of the alternatives"));
    }
    if !has_type(schema, value) {
        return Some(format!("{value} is not of type {}", schema["type"]));
    }
    if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
        return Some(format!("{value} is none of {}", schema["enum"]));
    }
    match value {
        Value::Object(members) => fault_of_object(document, schema, members),
        Value::Array(entries) => fault_of_array(document, schema, entries),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn has_type(schema: &Value, value: &Value) -> bool {
    let types: Vec<&str> = match &schema["type"] {
        Value::String(single) => vec![single],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => return true,
    };
    let own = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    types.contains(&own)
}

fn fault_of_object(document: &Value, schema: &Value, members: &Map<String, Value>) -> Option<String> {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|name| !members.contains_key(*name)) {
        return Some(format!("{missing} is missing"));
    }
    let properties = schema["properties"].as_object()?;
    members.iter().find_map(|(name, value)| {
        let Some(schema) = properties.get(name) else { return Some(format!("{name} is not described")) };
        fault(document, schema, value).map(|fault| format!("{name}: {fault}"))
    })
}

fn fault_of_array(document: &Value, schema: &Value, entries: &[Value]) -> Option<String> {
    if schema["maxItems"].as_u64().is_some_and(|most| entries.len() as u64 > most) {
        return Some(format!("has {} elements", entries.len()));
    }
    let first = schema["prefixItems"].as_array().map_or(&[][..], Vec::as_slice);
    let schemas = first.iter().chain(std::iter::repeat(&schema["items"]));
    entries.iter().zip(schemas).find_map(|(entry, schema)| fault(document, schema, entry))
}

/// The examples of a media type, resolved.
fn examples<'d>(document: &'d Value, content: &'d Value) -> Vec<&'d Value> {
    let several = content["examples"].as_object().into_iter().flat_map(Map::values);
    let several = several.map(|example| &resolved(document, example)["value"]);
    content.get("example").into_iter().chain(several).collect()
}

/// Every answer of every operation: its place, status, media type and description of the content.
fn answers(document: &Value) -> Vec<(String, &str, &str, &Value)> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (status, response) in item["post"]["responses"].as_object().expect("responses") {
            for (media_type, content) in response["content"].as_object().expect("content") {
                found.push((format!("{path} {status} {media_type}"), status.as_str(), media_type.as_str(), content));
            }
        }
    }
    assert!(found.len() > 100, "there are many");
    found
}

#[test]
fn every_answer_has_an_example_that_its_schema_allows() {
    for document in &documents() {
        for (place, _, _, content) in answers(document) {
            let examples = examples(document, content);
            assert!(!examples.is_empty(), "{place} has no example");
            for example in examples {
                assert_eq!(fault(document, &content["schema"], example), None, "{place}: {example}");
            }
        }
    }
}

#[test]
fn the_code_of_an_example_belongs_to_its_status() {
    for document in &documents() {
        for (place, status, media_type, content) in
            answers(document).into_iter().filter(|(_, status, ..)| *status != "200")
        {
            for example in examples(document, content) {
                let is_problem = media_type == "application/problem+json";
                let code = if is_problem { &example["code"] } else { &example[0] };
                let code = Code::ALL.iter().copied().find(|known| code == known.name()).expect("a code of ours");
                let is_stale = example.to_string().contains("version_mismatch");
                let form = if is_problem { Form::Problem } else { Form::Triple };
                let expected = form.status(&ApiError::new(code, "m")).as_u16().to_string();
                assert!(expected == status || (is_problem && is_stale && status == "409"), "{place}: {example}");
            }
        }
    }
}

#[test]
fn no_code_is_described_twice_under_a_status() {
    for document in &documents() {
        for (path, item) in document["paths"].as_object().expect("paths") {
            for (status, response) in item["post"]["responses"].as_object().expect("responses") {
                let description = response["description"].as_str().expect("a text");
                let lines: Vec<&str> = description.split("\n\n").filter(|line| line.starts_with('`')).collect();
                let distinct: BTreeSet<&str> = lines.iter().copied().collect();
                assert_eq!(lines.len(), distinct.len(), "{path} {status}: {description}");
            }
        }
    }
}

#[test]
fn a_delivered_event_is_described_with_its_headers() {
    let [document, admin] = documents();
    let delivery = &document["webhooks"]["event"]["post"];
    let content = &delivery["requestBody"]["content"]["application/json"];
    assert_eq!(fault(&document, &content["schema"], &content["example"]), None);
    assert!(content["example"]["delivered_at"].is_u64(), "{content}");
    let headers: Vec<&str> = delivery["parameters"]
        .as_array()
        .expect("headers")
        .iter()
        .filter_map(|header| header["name"].as_str())
        .collect();
    assert_eq!(headers, ["webhook-id", "webhook-timestamp", "webhook-signature", "X-Webhook-Signature"]);
    assert!(admin.get("webhooks").is_none(), "the operator is sent nothing");
}

#[test]
fn a_schema_refuses_what_it_does_not_describe() {
    let document = json!({});
    let triple = json!({ "type": "array", "prefixItems": [{ "type": "string" }], "maxItems": 1 });
    assert!(
        fault(&document, &triple, &json!(["a"])).is_none() && fault(&document, &triple, &json!(["a", 1])).is_some()
    );
    let object = json!({ "type": "object", "properties": { "a": { "enum": ["b"] } }, "required": ["a"] });
    assert!(fault(&document, &object, &json!({ "a": "b" })).is_none());
    for wrong in [json!({}), json!({ "a": "c" }), json!({ "a": "b", "z": 1 }), json!([])] {
        assert!(fault(&document, &object, &wrong).is_some(), "{wrong}");
    }
}
