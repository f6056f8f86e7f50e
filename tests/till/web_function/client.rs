//! A client of any Web Function service, which knows only the protocol.
//!
//! Source: webfunction.org, its pages endpoint, package, authentication, error, versioning and pagination.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::Response;

use super::package::{Package, PackageEndpoint};

/// The number of times that a call is sent while its answers are that an earlier one is still at work.
const BUSY_ANSWERS_MAX: u32 = 100;
/// The pause between two of them.
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// The result of an invocation.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum InvocationResult {
    /// Status 200: any JSON value.
    Value(Value),
    /// Status 400 of an endpoint with error triples.
    Refused { code: String, message: String, details: Value },
}

/// Calls the endpoints of one package.
#[derive(Clone)]
pub(super) struct Client {
    agent: Agent,
    pub(super) package: Package,
    bearer: Option<String>,
    version: Option<String>,
}

/// An agent for all clients: redirections are ordinary answers, and are never followed.
pub(super) fn agent() -> Agent {
    Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into()
}

impl Client {
    /// Retrieves a package by invoking its address as an endpoint.
    pub(super) fn of_package_endpoint(agent: &Agent, url: &str) -> Client {
        let document = value(invoke(agent, url, &[], &json!({})));
        Client { agent: agent.clone(), package: Package::read(&document), bearer: None, version: None }
    }

    /// Retrieves a package as a document, with GET.
    pub(super) fn of_document(agent: &Agent, url: &str) -> Client {
        let response = agent.get(url).header("Accept", "application/json").call().expect("it answers");
        let document = value(outcome(response));
        Client { agent: agent.clone(), package: Package::read(&document), bearer: None, version: None }
    }

    /// The same client with a token for the endpoints that require one.
    pub(super) fn with_bearer(self, token: &str) -> Client {
        Client { bearer: Some(token.to_owned()), ..self }
    }

    /// Another client with the token of this one.
    pub(super) fn on(&self, other: Client) -> Client {
        Client { bearer: self.bearer.clone(), ..other }
    }

    /// The same client without a token.
    pub(super) fn without_bearer(self) -> Client {
        Client { bearer: None, ..self }
    }

    /// The same client, which requests a version.
    pub(super) fn with_version(self, version: &str) -> Client {
        Client { version: Some(version.to_owned()), ..self }
    }

    /// Invokes an endpoint.
    pub(super) fn call(&self, endpoint: &PackageEndpoint, arguments: &Value) -> InvocationResult {
        let bearer = self.bearer.as_ref().filter(|_| endpoint.has_flag("bearer_auth"));
        let bearer = bearer.map(|token| ("Authorization", format!("Bearer {token}")));
        let version = self.version.as_ref().filter(|_| self.package.has_flag("versioned"));
        let version = version.map(|version| ("Api-Version", version.clone()));
        let headers: Vec<(&str, String)> = bearer.into_iter().chain(version).collect();
        let outcome = invoke(&self.agent, &self.url(endpoint), &headers, arguments);
        assert!(
            matches!(outcome, InvocationResult::Value(_)) || endpoint.has_flag("error_triple"),
            "{}: {outcome:?} without the flag error_triple",
            endpoint.name
        );
        outcome
    }

    /// The endpoint's name, resolved against the package's base URL as any relative reference (RFC 3986, 5.2), as the
    /// published clients do: a base that does not end in a slash loses its last segment.
    fn url(&self, endpoint: &PackageEndpoint) -> String {
        let base = &self.package.base_url;
        let last = base.rfind('/').expect("a URL has slashes");
        format!("{}{}", &base[..=last], endpoint.name)
    }
}

fn invoke(agent: &Agent, url: &str, headers: &[(&str, String)], arguments: &Value) -> InvocationResult {
    let send = || {
        let request = agent.post(url).header("Content-Type", "application/json").header("Accept", "application/json");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
        request.send(arguments.to_string()).unwrap_or_else(|error| panic!("{url}: {error}"))
    };
    // An earlier call may still be at work: `redeliver-webhook` says so.
    for _ in 0..BUSY_ANSWERS_MAX {
        let response = send();
        if response.status() != 429 {
            return outcome(response);
        }
        thread::sleep(BUSY_PAUSE);
    }
    panic!("{url} is busy all the time")
}

fn outcome(mut response: Response<ureq::Body>) -> InvocationResult {
    let media_type = response.headers().get("content-type").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let text = response.body_mut().read_to_string().expect("a body of text");
    let status = response.status().as_u16();
    assert!(matches!(status, 200 | 400), "not a status of the protocol: {status} {text}");
    let media_type = media_type.as_deref().and_then(|text| text.split(';').next()).map(str::trim);
    assert_eq!(media_type, Some("application/json"), "{text}");
    let body: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    if status == 200 { InvocationResult::Value(body) } else { triple(body) }
}

fn triple(body: Value) -> InvocationResult {
    match body.as_array().map(Vec::as_slice) {
        Some([Value::String(code), Value::String(message), details]) => {
            assert!(!code.is_empty() && !message.is_empty(), "{body}");
            InvocationResult::Refused { code: code.clone(), message: message.clone(), details: details.clone() }
        }
        _ => panic!("not an error triple: {body}"),
    }
}

/// The value of a call that must succeed.
#[track_caller]
pub(super) fn value(outcome: InvocationResult) -> Value {
    match outcome {
        InvocationResult::Value(value) => value,
        InvocationResult::Refused { code, message, details } => panic!("{code} {message} {details}"),
    }
}

/// The code of a call that must be refused.
#[track_caller]
pub(super) fn code(outcome: InvocationResult) -> String {
    match outcome {
        InvocationResult::Refused { code, .. } => code,
        InvocationResult::Value(value) => panic!("answered {value}"),
    }
}
