//! The schemas that others refer to: objects, bodies of calls, and the two forms of refusals.

use serde_json::{Map, Value, json};

use super::schema::{described, or_null, schema};
use crate::api_error::Code;
use crate::declaration::objects::objects;
use crate::declaration::{Argument, Attribute, Declaration, ObjectType};

/// The schema of problem details.
pub(super) const PROBLEM: &str = "problem";

/// The schema of error triples.
pub(super) const ERROR_TRIPLE: &str = "error_triple";

/// Every schema by its name.
pub(super) fn schemas(declarations: &[&Declaration]) -> Map<String, Value> {
    let bodies = declarations.iter().map(|declaration| (body_name(declaration), body(declaration.arguments)));
    let objects = objects(declarations).into_values().map(|found| (found.name.to_owned(), object(found)));
    let refusals = [(PROBLEM.to_owned(), problem()), (ERROR_TRIPLE.to_owned(), error_triple())];
    bodies.chain(objects).chain(refusals).collect()
}

/// The name of the schema of a call's body.
pub(super) fn body_name(declaration: &Declaration) -> String {
    format!("{}_{}_body", declaration.package.segment(), declaration.name.replace('-', "_"))
}

fn body(arguments: &[Argument]) -> Value {
    let required = arguments.iter().filter(|argument| argument.required).map(|argument| argument.name);
    json!({
        "type": "object",
        "properties": arguments.iter().map(property).collect::<Map<_, _>>(),
        "required": required.collect::<Vec<_>>(),
        "additionalProperties": false,
    })
}

fn property(argument: &Argument) -> (String, Value) {
    let own = schema(&argument.value_type);
    let own = if argument.required { own } else { or_null(own) };
    let mut property = described(own, argument.docs);
    if let Some(example) = argument.example() {
        property["examples"] = json!([example]);
    }
    (argument.name.to_owned(), property)
}

fn object(object: &ObjectType) -> Value {
    let always = object.attributes.iter().filter(|attribute| !attribute.optional);
    json!({
        "type": "object",
        "properties": object.attributes.iter().map(member).collect::<Map<_, _>>(),
        "required": always.map(|attribute| attribute.name).collect::<Vec<_>>(),
    })
}

fn member(attribute: &Attribute) -> (String, Value) {
    let own = schema(&attribute.value_type);
    let own = if attribute.nullable { or_null(own) } else { own };
    (attribute.name.to_owned(), described(own, attribute.docs))
}

fn codes() -> Vec<&'static str> {
    Code::ALL.map(Code::name).to_vec()
}

/// Problem details as they are answered.
fn problem() -> Value {
    json!({
        "type": "object",
        "description": "A refusal as RFC 9457 problem details, for callers that send `Accept: \
            application/problem+json`.",
        "properties": {
            "type": { "type": "string", "description": "Always `about:blank`." },
            "title": { "type": "string", "description": "The name of the status." },
            "status": { "type": "integer", "description": "The status." },
            "detail": { "type": "string", "description": "The message for a person." },
            "code": { "type": "string", "enum": codes(), "description": "The code to branch on." },
            "details": { "description": "The details of the code; null when there are none." },
        },
        "required": ["type", "title", "status", "detail", "code", "details"],
    })
}

/// The triple. Both limits say that it has these three elements and no other: one generator refuses a document with
/// `items: false`, and another types a fourth element when `items` is a schema.
fn error_triple() -> Value {
    json!({
        "type": "array",
        "description": "A refusal: code, message, details.",
        "prefixItems": [
            { "type": "string", "enum": codes(), "description": "The code to branch on." },
            { "type": "string", "description": "The message for a person." },
            { "description": "The details of the code; null when there are none." },
        ],
        "minItems": 3,
        "maxItems": 3,
    })
}
