//! One operation.

use serde_json::{Map, Value, json};

use super::components::body_name;
use super::responses::responses;
use super::schema::reference;
use super::tags::tag;
use crate::declaration::{Argument, Declaration, Flags};
use crate::version::ApiVersion;

/// The path of an operation, and the path item.
pub(super) fn path(declaration: &Declaration) -> (String, Value) {
    let path = format!("/{}/{}", declaration.package.segment(), declaration.name);
    (path, json!({ "post": operation(declaration) }))
}

fn operation(declaration: &Declaration) -> Value {
    json!({
        "operationId": format!("{}-{}", declaration.package.segment(), declaration.name),
        "tags": [tag(declaration)],
        "summary": plain(declaration.summary),
        "description": if declaration.docs.is_empty() { declaration.summary } else { declaration.docs },
        "security": security(&declaration.flags),
        "parameters": parameters(declaration),
        "requestBody": {
            "required": true,
            "content": { "application/json": {
                "schema": reference(&body_name(declaration)),
                "example": example(declaration.arguments),
            } },
        },
        "responses": responses(declaration),
    })
}

/// A key that is needed, may be sent, or has no meaning.
fn security(flags: &Flags) -> Value {
    match (flags.needs_key, flags.hands_key_on) {
        (true, _) => json!([{ "bearer": [] }]),
        (false, true) => json!([{}, { "bearer": [] }]),
        (false, false) => json!([]),
    }
}

/// A summary is plain text, not Markdown.
fn plain(summary: &str) -> String {
    summary.replace('`', "")
}

fn parameters(declaration: &Declaration) -> Vec<Value> {
    let version = json!({
        "name": "Api-Version", "in": "header", "schema": { "type": "string", "enum": ApiVersion::names() },
        "description": "The version to use; that of the key when left out.",
    });
    let key = json!({
        "name": "Idempotency-Key", "in": "header",
        "schema": { "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$" },
        "description": "Names the call: a repeated one is done once, and answered as the first was.",
    });
    let key = declaration.flags.takes_idempotency_key.then_some(key);
    [version].into_iter().chain(key).collect()
}

/// An example body that can be sent as it is: the required arguments, and those optional ones that are worth showing.
fn example(arguments: &[Argument]) -> Map<String, Value> {
    let shown = arguments.iter().filter(|argument| argument.required || argument.shown);
    shown.filter_map(|argument| Some((argument.name.to_owned(), argument.example()?))).collect()
}
