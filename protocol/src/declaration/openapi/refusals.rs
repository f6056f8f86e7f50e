//! Examples of refusals, in the forms in which they are answered.

use serde_json::{Map, Value, json};

use super::schema::reference_to;
use crate::api_error::{ApiError, CallEffect, Code, Form};
use crate::declaration::{Argument, Declaration, DeclaredError};
use crate::fault::Fault;

/// The codes of which any operation answers the same, and which both documents have: their examples are components.
const SHARED: [Code; 9] = [
    Code::BadVersion,
    Code::UnsupportedMediaType,
    Code::BodyTooLarge,
    Code::RateLimited,
    Code::UnhandledError,
    Code::Unavailable,
    Code::Unauthorized,
    Code::IdempotencyKeyReused,
    Code::MerchantSuspended,
];

/// The example of a rate: calls per second.
const RATE: u32 = 100;

/// The examples of an operation's refusals with one status in one form, by the names of their codes.
pub(super) fn examples(declaration: &Declaration, form: Form, refused: &[DeclaredError]) -> Map<String, Value> {
    let example = |declared: &DeclaredError| match (declared.code, declared.stale_version) {
        (_, true) => ("VERSION_MISMATCH".to_owned(), written(&refusal(declaration, declared), form)),
        (code, false) if SHARED.contains(&code) => {
            (code.name().to_owned(), reference_to("examples", &component(code, form)))
        }
        (code, false) => (code.name().to_owned(), written(&refusal(declaration, declared), form)),
    };
    refused.iter().map(example).collect()
}

/// The examples that operations refer to.
pub(super) fn shared_examples() -> Map<String, Value> {
    let forms = |code| Form::ALL.map(|form| (component(code, form), written(&plain(code), form)));
    SHARED.into_iter().flat_map(forms).collect()
}

fn component(code: Code, form: Form) -> String {
    format!("{}_{}", code.name(), form.name())
}

/// An Example Object with the answer for a refusal.
fn written(error: &ApiError, form: Form) -> Value {
    let answer: Value = serde_json::from_str(&form.render(error).body).expect("an answer is JSON");
    json!({ "value": answer })
}

fn refusal(declaration: &Declaration, declared: &DeclaredError) -> ApiError {
    if declared.code == Code::InvalidArguments {
        return ApiError::invalid_arguments(&[fault(declaration, declared.stale_version)]);
    }
    let error = ApiError::new(declared.code, declared.docs.replace('`', ""));
    match declared.details {
        Some(json) => error.with_details(serde_json::from_str(json).expect("details are written as JSON")),
        None if declared.code == Code::NotFound => match named_object(declaration) {
            Some(argument) => error.with_details(json!({ "argument": argument })),
            None => error,
        },
        None => error,
    }
}

/// A refusal with one of the shared codes.
fn plain(code: Code) -> ApiError {
    match code {
        Code::Unauthorized => ApiError::unauthorized(),
        Code::RateLimited => ApiError::rate_limited(RATE, "one API key or member", 1),
        Code::UnhandledError => ApiError::unhandled(),
        Code::Unavailable => ApiError::unavailable(CallEffect::NotDone, 1),
        code => ApiError::new(code, code.docs().replace('`', "")),
    }
}

/// A fault that a caller of the operation can make.
fn fault(declaration: &Declaration, stale_version: bool) -> Fault {
    let is_required = |argument: &&Argument| argument.required;
    let has_pages = declaration.position("per_page").is_some();
    match declaration.arguments.iter().find(is_required) {
        _ if stale_version => Fault::version_mismatch("version", 3),
        Some(argument) => Fault::missing(argument.name),
        None if has_pages => Fault::unknown("limit", Some("per_page")),
        None => Fault::unknown("id", None),
    }
}

/// The argument that names the object of a call.
fn named_object(declaration: &Declaration) -> Option<&'static str> {
    let names = declaration.arguments.iter().filter(|argument| argument.required).map(|argument| argument.name);
    names.into_iter().find(|name| name.ends_with("_id"))
}
