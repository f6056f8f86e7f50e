//! The responses of an operation.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::components::{ERROR_TRIPLE, PROBLEM, body_name};
use super::refusals::examples;
use super::schema::reference;
use super::schema::{described, or_null, schema};
use crate::api_error::{Code, Form};
use crate::declaration::{Declaration, DeclaredError, ObjectType, Returns};

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
    let mut answer = json!({ "schema": returned(declaration) });
    if let Some(example) = declaration.returns.example(declaration.arguments) {
        answer["example"] = example;
    }
    let success = json!({ "description": "Done.", "content": { "application/json": answer } });
    let mut by_status: BTreeMap<u16, Refused> = BTreeMap::new();
    for declared in declaration.refusals().into_iter().chain(common()) {
        by_status.entry(declared.code.triple_status()).or_default().as_triple.push(declared);
        by_status.entry(declared.problem_status()).or_default().as_problem.push(declared);
    }
    let refused = by_status.iter().map(|(status, refused)| (status.to_string(), refused.response(declaration)));
    [("200".to_owned(), success)].into_iter().chain(refused).collect()
}

fn common() -> impl Iterator<Item = DeclaredError> {
    COMMON_CODES.iter().map(|code| DeclaredError::new(*code, code.docs()))
}

/// The refusals with one status, in either form.
#[derive(Default)]
struct Refused {
    as_triple: Vec<DeclaredError>,
    as_problem: Vec<DeclaredError>,
}

impl Refused {
    fn response(&self, declaration: &Declaration) -> Value {
        let forms = [
            ("application/json", Form::Triple, &self.as_triple, ERROR_TRIPLE),
            ("application/problem+json", Form::Problem, &self.as_problem, PROBLEM),
        ];
        let content = forms.into_iter().filter(|(_, _, refused, _)| !refused.is_empty());
        let content: Map<String, Value> = content
            .map(|(media_type, form, refused, schema)| {
                let examples = examples(declaration, form, refused);
                (media_type.to_owned(), json!({ "schema": reference(schema), "examples": examples }))
            })
            .collect();
        json!({ "description": self.description(), "content": content })
    }

    /// Each refusal once: those in both forms, then those in one of them.
    fn description(&self) -> String {
        let (triples, problems) = (lines(&self.as_triple), lines(&self.as_problem));
        let (both, triples): (Vec<String>, _) = triples.into_iter().partition(|line| problems.contains(line));
        let problems: Vec<String> = problems.into_iter().filter(|line| !both.contains(line)).collect();
        let header = "the header `Accept: application/problem+json`";
        let is_only = both.is_empty() && problems.is_empty();
        let without = if is_only { String::new() } else { format!("Without {header}:") };
        let parts = [(String::new(), both), (without, triples), (format!("With {header}:"), problems)];
        let parts = parts.into_iter().filter(|(_, lines)| !lines.is_empty());
        let text = parts.flat_map(|(head, lines)| [head].into_iter().chain(lines)).filter(|line| !line.is_empty());
        text.collect::<Vec<_>>().join("\n\n")
    }
}

fn lines(refused: &[DeclaredError]) -> Vec<String> {
    refused.iter().map(|declared| format!("`{}`: {}", declared.code.name(), declared.docs)).collect()
}

fn returned(declaration: &Declaration) -> Value {
    match &declaration.returns {
        Returns::ListPage(object) => page(declaration, object),
        Returns::AnyOf(objects) => any_of(objects),
        returns @ (Returns::Id(_)
        | Returns::Words(_)
        | Returns::Boolean
        | Returns::Integer
        | Returns::Text(_)
        | Returns::Array(_)
        | Returns::Any(_)
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
