//! The OpenAPI document: the same declarations as the package document, for REST clients and for people.
//!
//! It describes the problem-details form of errors, which REST clients expect; a caller that sends no
//! `Accept: application/problem+json` gets the error triple under status 400 instead.
//!
//! Source: the OpenAPI specification 3.1.1; RFC 9457 for problem details.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Argument, Attribute, Declaration, DeclaredError, ObjectType, Package, Returns, ValueType};
use crate::protocol::api_error::Code;
use crate::protocol::version::ApiVersion;

/// The codes that any endpoint may answer.
const COMMON_CODES: &[Code] = &[
    Code::InvalidArguments,
    Code::BadVersion,
    Code::UnsupportedMediaType,
    Code::BodyTooLarge,
    Code::RateLimited,
    Code::UnhandledError,
    Code::Unavailable,
];

/// Describes the interfaces of one listener, whose base address is `base_url`.
#[must_use]
pub fn openapi_document<'a>(
    base_url: &str,
    version: ApiVersion,
    declarations: impl IntoIterator<Item = &'a Declaration>,
) -> Value {
    let declarations: Vec<&Declaration> = declarations.into_iter().collect();
    json!({
        "openapi": "3.1.1",
        "info": { "title": "Till", "version": version.name(), "description": description(&declarations) },
        "servers": [{ "url": base_url }],
        "tags": tags(&declarations),
        "paths": declarations.iter().map(|declaration| path(declaration)).collect::<Map<_, _>>(),
        "components": {
            "schemas": schemas(&declarations),
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn description(declarations: &[&Declaration]) -> String {
    let has = |package| declarations.iter().any(|declaration| declaration.package == package);
    let docs = Package::ALL
        .iter()
        .filter(|package| has(**package))
        .map(|package| format!("`/{}`: {}", package.segment(), package.docs()));
    docs.collect::<Vec<_>>().join("\n\n")
}

fn tag(declaration: &Declaration) -> String {
    format!("{} / {}", declaration.package.segment(), declaration.group)
}

fn tags(declarations: &[&Declaration]) -> Vec<Value> {
    let mut names: Vec<String> = declarations.iter().map(|declaration| tag(declaration)).collect();
    names.sort();
    names.dedup();
    names.iter().map(|name| json!({ "name": name })).collect()
}

fn path(declaration: &Declaration) -> (String, Value) {
    let path = format!("/{}/{}", declaration.package.segment(), declaration.name);
    (path, json!({ "post": operation(declaration) }))
}

fn operation(declaration: &Declaration) -> Value {
    let mut operation = json!({
        "operationId": format!("{}-{}", declaration.package.segment(), declaration.name),
        "tags": [tag(declaration)],
        "summary": declaration.summary,
        "description": declaration.docs,
        "parameters": parameters(declaration),
        "requestBody": {
            "required": true,
            "content": { "application/json": { "schema": body(declaration.arguments) } },
        },
        "responses": responses(declaration),
    });
    if declaration.flags.needs_key {
        operation["security"] = json!([{ "bearer": [] }]);
    }
    operation
}

fn parameters(declaration: &Declaration) -> Vec<Value> {
    let version = json!({
        "name": "Api-Version", "in": "header", "schema": { "type": "string", "enum": ApiVersion::names() },
        "description": "The version to use; that of the key when left out.",
    });
    let key = json!({
        "name": "Idempotency-Key", "in": "header", "schema": { "type": "string", "minLength": 1, "maxLength": 255 },
        "description": "Names the call: a repeated one is done once, and answered as the first was.",
    });
    let key = declaration.flags.takes_idempotency_key.then_some(key);
    [version].into_iter().chain(key).collect()
}

fn body(arguments: &[Argument]) -> Value {
    let property = |argument: &Argument| (argument.name.to_owned(), typed(&argument.value_type, argument.docs, false));
    let required = arguments.iter().filter(|argument| argument.required).map(|argument| argument.name);
    json!({
        "type": "object",
        "properties": arguments.iter().map(property).collect::<Map<_, _>>(),
        "required": required.collect::<Vec<_>>(),
        "additionalProperties": false,
    })
}

fn typed(value_type: &ValueType, docs: &str, nullable: bool) -> Value {
    let mut types: Vec<&str> = value_type.json.iter().map(|json_type| json_type.name()).collect();
    if value_type.hint == Some("i64") || value_type.hint == Some("timestamp") {
        types = vec!["integer"];
    }
    // JSON Schema takes each type once, and the type of any value includes it already.
    if nullable && !types.contains(&"null") {
        types.push("null");
    }
    let mut schema = json!({ "type": types, "description": docs });
    if let [only] = types.as_slice() {
        schema["type"] = json!(only);
    }
    if !value_type.choices.is_empty() {
        let mut choices: Vec<Value> = value_type.choices.iter().map(|choice| json!(choice)).collect();
        choices.extend(nullable.then_some(Value::Null));
        schema["enum"] = Value::Array(choices);
    }
    if let Some(format) = value_type.hint.and_then(format) {
        schema["format"] = json!(format);
    }
    schema
}

/// The name in OpenAPI's registry of formats, for hints that it knows.
fn format(hint: &str) -> Option<&'static str> {
    match hint {
        "email" => Some("email"),
        "url" => Some("uri"),
        "i64" | "timestamp" => Some("int64"),
        _ => None,
    }
}

fn responses(declaration: &Declaration) -> Map<String, Value> {
    let success = json!({
        "description": "Done.",
        "content": { "application/json": { "schema": returned(&declaration.returns) } },
    });
    let mut responses = Map::from_iter([("200".to_owned(), success)]);
    for (status, lines) in errors_by_status(declaration) {
        let problem = json!({ "schema": { "$ref": "#/components/schemas/problem" } });
        let response = json!({ "description": lines.join("\n\n"), "content": { "application/problem+json": problem } });
        responses.insert(status.to_string(), response);
    }
    responses
}

fn errors_by_status(declaration: &Declaration) -> BTreeMap<u16, Vec<String>> {
    let common = COMMON_CODES.iter().map(|code| DeclaredError::when(*code, code.docs()));
    let mut by_status: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for DeclaredError { code, docs } in declaration.refusals().into_iter().chain(common) {
        let lines = by_status.entry(code.problem_status()).or_default();
        lines.push(format!("`{}`: {docs}", code.name()));
    }
    by_status
}

fn returned(returns: &Returns) -> Value {
    match returns {
        Returns::Object(object) => reference(object),
        Returns::Page(object) => json!({
            "type": "object",
            "properties": {
                "previous": { "type": ["object", "null"], "description": "The body of the call for the previous page." },
                "page": { "type": "array", "items": reference(object) },
                "next": { "type": ["object", "null"], "description": "The body of the call for the next page." },
            },
            "required": ["previous", "page", "next"],
        }),
        Returns::String | Returns::Boolean | Returns::Array => json!({ "type": returns.json()[0].name() }),
        Returns::Any => json!({}),
    }
}

fn reference(object: &ObjectType) -> Value {
    json!({ "$ref": format!("#/components/schemas/{}", object.name) })
}

fn schemas(declarations: &[&Declaration]) -> Map<String, Value> {
    let objects = declarations.iter().filter_map(|declaration| declaration.returns.object());
    let mut schemas: Map<String, Value> = objects.map(|object| (object.name.to_owned(), schema(object))).collect();
    schemas.insert("problem".to_owned(), problem());
    schemas
}

fn schema(object: &ObjectType) -> Value {
    let property = |attribute: &Attribute| {
        (attribute.name.to_owned(), typed(&attribute.value_type, attribute.docs, attribute.nullable))
    };
    json!({
        "type": "object",
        "properties": object.attributes.iter().map(property).collect::<Map<_, _>>(),
        "required": object.attributes.iter().map(|attribute| attribute.name).collect::<Vec<_>>(),
    })
}

/// Problem details as they are answered.
fn problem() -> Value {
    json!({
        "type": "object",
        "properties": {
            "type": { "type": "string" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string" },
            "code": { "type": "string", "enum": Code::ALL.iter().map(|code| code.name()).collect::<Vec<_>>() },
            "details": {},
        },
        "required": ["type", "title", "status", "detail", "code"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::declaration::Flags;

    static THING: ObjectType = ObjectType {
        name: "thing",
        attributes: &[
            Attribute::always("thing_id", ValueType::STRING, "Its id."),
            Attribute::nullable("bearer", ValueType::words(&["a", "b"]), "Who."),
        ],
    };

    static FIND_THING: Declaration = Declaration {
        name: "find-thing",
        package: Package::Merchants,
        group: "things",
        summary: "Answers a thing.",
        docs: "",
        arguments: &[
            Argument::required("amount", ValueType::AMOUNT, "How much."),
            Argument::optional("per_page", ValueType::INTEGER, "How many."),
        ],
        returns: Returns::Object(&THING),
        errors: &[DeclaredError::when(Code::NotFound, "There is none.")],
        flags: Flags::QUERY,
    };

    #[test]
    fn an_operation_has_its_arguments_answer_and_errors() {
        let document = openapi_document("http://localhost", ApiVersion::NEWEST, [&FIND_THING]);
        let operation = &document["paths"]["/merchants/find-thing"]["post"];
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(body["required"], json!(["amount"]));
        assert_eq!(body["properties"]["amount"]["type"], json!(["string", "number"]));
        assert_eq!(body["properties"]["per_page"]["type"], "integer");
        let answer = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        assert_eq!(answer["$ref"], "#/components/schemas/thing");
        assert_eq!(document["components"]["schemas"]["thing"]["properties"]["bearer"]["enum"], json!(["a", "b", null]));
        let not_found = operation["responses"]["404"]["description"].as_str().unwrap_or_default();
        assert!(not_found.contains("`NOT_FOUND`: There is none."), "{not_found}");
        assert_eq!(operation["security"], json!([{ "bearer": [] }]));
    }
}
