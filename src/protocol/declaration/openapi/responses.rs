//! The responses of an operation.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::components::{ERROR_TRIPLE, PROBLEM, body_name, reference};
use super::schema::{described, or_null, schema};
use crate::protocol::api_error::Code;
use crate::protocol::declaration::{Declaration, DeclaredError, ObjectType, Returns};

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

/// The responses of an operation by their statuses.
pub(super) fn responses(declaration: &Declaration) -> Map<String, Value> {
    let success = json!({
        "description": "Done.",
        "content": { "application/json": { "schema": returned(declaration) } },
    });
    let mut by_status: BTreeMap<u16, Refused> = BTreeMap::new();
    for error in declaration.refusals().into_iter().chain(common()) {
        let line = format!("`{}`: {}", error.code.name(), error.docs);
        by_status.entry(error.code.triple_status()).or_default().as_triple.push(line.clone());
        by_status.entry(error.problem_status()).or_default().as_problem.push(line);
    }
    let refused = by_status.iter().map(|(status, refused)| (status.to_string(), refused.response()));
    [("200".to_owned(), success)].into_iter().chain(refused).collect()
}

fn common() -> impl Iterator<Item = DeclaredError> {
    COMMON_CODES.iter().map(|code| DeclaredError::when(*code, code.docs()))
}

/// The refusals with one status, in either form.
#[derive(Default)]
struct Refused {
    as_triple: Vec<String>,
    as_problem: Vec<String>,
}

impl Refused {
    fn response(&self) -> Value {
        let forms = [
            ("application/json", &self.as_triple, ERROR_TRIPLE),
            ("application/problem+json", &self.as_problem, PROBLEM),
        ];
        let forms = forms.into_iter().filter(|(_, lines, _)| !lines.is_empty());
        let content: Map<String, Value> =
            forms.map(|(media_type, _, form)| (media_type.to_owned(), json!({ "schema": reference(form) }))).collect();
        json!({ "description": self.description(), "content": content })
    }

    fn description(&self) -> String {
        let asked = "With the header `Accept: application/problem+json`";
        match (self.as_triple.is_empty(), self.as_problem.is_empty()) {
            (true, _) => format!("{asked}:\n\n{}", self.as_problem.join("\n\n")),
            (false, true) => self.as_triple.join("\n\n"),
            (false, false) if self.as_triple == self.as_problem => self.as_triple.join("\n\n"),
            (false, false) => {
                let (triples, problems) = (self.as_triple.join("\n\n"), self.as_problem.join("\n\n"));
                format!("{triples}\n\n{asked} only:\n\n{problems}")
            }
        }
    }
}

fn returned(declaration: &Declaration) -> Value {
    match &declaration.returns {
        Returns::Page(object) => page(declaration, object),
        Returns::AnyOf(objects) => any_of(objects),
        returns @ (Returns::String
        | Returns::Words(_)
        | Returns::Boolean
        | Returns::Integer
        | Returns::Array(_)
        | Returns::Any
        | Returns::Object(_)) => schema(&returns.value_type()),
    }
}

/// The previous and next bodies have the schema of this same call's body, so that they can be sent as they are.
fn page(declaration: &Declaration, object: &ObjectType) -> Value {
    let body = or_null(reference(&body_name(declaration)));
    json!({
        "type": "object",
        "properties": {
            "previous": described(body.clone(), "The body of the call for the previous page; null on the first."),
            "page": { "type": "array", "items": reference(object.name), "description": "The entries, newest first." },
            "next": described(body, "The body of the call for the next page; null on the last."),
        },
        "required": ["previous", "page", "next"],
    })
}

/// The objects come first, since a reader takes the first alternative that fits.
fn any_of(objects: &[&ObjectType]) -> Value {
    let other = json!({
        "additionalProperties": true,
        "items": {},
        "description": "Any JSON value.",
    });
    let objects = objects.iter().map(|object| reference(object.name));
    json!({ "anyOf": objects.chain([other]).collect::<Vec<_>>() })
}
