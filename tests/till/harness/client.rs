//! An HTTP client that returns every answer, also refusals and failures.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use ureq::Agent;

/// The longest time that a call may take.
const CALL_MAX: Duration = Duration::from_secs(60);

/// A client of one address with its headers. Cheap to clone; clones share connections.
#[derive(Clone)]
pub(crate) struct Client {
    agent: Agent,
    base: String,
    headers: Vec<(String, String)>,
}

/// The answer of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ApiAnswer {
    /// The HTTP status; 0 without an answer.
    pub(crate) status: u16,
    /// The JSON; a string with the text of a body that is not JSON.
    pub(crate) body: Value,
    /// The headers, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
}

impl Client {
    /// A client of `base`, such as `http://127.0.0.1:8080`.
    pub(crate) fn new(base: &str) -> Client {
        Client::trusting(base, None)
    }

    /// A client of `base` that trusts the certificates in a file, if one is given.
    pub(crate) fn trusting(base: &str, certificates: Option<&Path>) -> Client {
        let mut agent = Agent::config_builder().timeout_global(Some(CALL_MAX)).http_status_as_error(false);
        if let Some(file) = certificates {
            agent = agent.tls_config(till::trusting(file).expect("a test's certificates can be read"));
        }
        Client { agent: agent.build().into(), base: base.to_owned(), headers: Vec::new() }
    }

    /// The same client with a header. One of the same name is replaced.
    #[must_use]
    pub(crate) fn header(mut self, name: &str, value: &str) -> Client {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same client with a bearer token.
    #[must_use]
    pub(crate) fn bearer(self, token: &str) -> Client {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    /// The same client with an Idempotency-Key.
    #[must_use]
    pub(crate) fn idempotency_key(self, key: &str) -> Client {
        self.header("Idempotency-Key", key)
    }

    /// Posts JSON.
    pub(crate) fn post(&self, path: &str, body: &Value) -> ApiAnswer {
        self.post_bytes(path, body.to_string().as_bytes())
    }

    /// Posts bytes as JSON, unless a header says otherwise.
    pub(crate) fn post_bytes(&self, path: &str, body: &[u8]) -> ApiAnswer {
        let mut request = self.agent.post(format!("{}{path}", self.base));
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            request = request.header("Content-Type", "application/json");
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        ApiAnswer::from_result(request.send(body))
    }

    /// Gets a path.
    pub(crate) fn get(&self, path: &str) -> ApiAnswer {
        let mut request = self.agent.get(format!("{}{path}", self.base));
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        ApiAnswer::from_result(request.call())
    }
}

impl ApiAnswer {
    fn from_result(result: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> ApiAnswer {
        match result {
            Ok(mut response) => {
                let text = response.body_mut().read_to_string().unwrap_or_default();
                let pair = |(name, value): (&ureq::http::HeaderName, &ureq::http::HeaderValue)| {
                    (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
                };
                ApiAnswer {
                    status: response.status().as_u16(),
                    body: serde_json::from_str(&text).unwrap_or(Value::String(text)),
                    headers: response.headers().iter().map(pair).collect(),
                }
            }
            Err(error) => ApiAnswer { status: 0, body: Value::String(error.to_string()), headers: Vec::new() },
        }
    }

    /// The value of a successful answer.
    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        self.body
    }

    /// The string of a successful answer, such as an id.
    #[track_caller]
    pub(crate) fn id(self) -> String {
        self.ok().as_str().expect("a bare string").to_owned()
    }

    /// The code of an error triple.
    pub(crate) fn code(&self) -> &str {
        self.body.get(0).and_then(Value::as_str).unwrap_or("")
    }

    /// The message of an error triple.
    pub(crate) fn message(&self) -> &str {
        self.body.get(1).and_then(Value::as_str).unwrap_or("")
    }

    /// The details of an error triple.
    pub(crate) fn details(&self) -> Value {
        self.body.get(2).cloned().unwrap_or(Value::Null)
    }

    /// Checks that the answer is a refusal with this code; returns the details.
    #[track_caller]
    pub(crate) fn refused(&self, code: &str) -> Value {
        assert_eq!((self.status, self.code()), (400, code), "{}", self.body);
        assert_eq!(self.body.as_array().map(Vec::len), Some(3), "a triple: {}", self.body);
        self.details()
    }

    /// The faults of an `INVALID_ARGUMENTS` as `type argument`, in order.
    #[track_caller]
    pub(crate) fn faults(&self) -> Vec<String> {
        let details = self.refused("INVALID_ARGUMENTS");
        let text = |fault: &Value, key: &str| fault[key].as_str().unwrap_or("?").to_owned();
        let faults = details.as_array().expect("an array of faults");
        faults.iter().map(|fault| format!("{} {}", text(fault, "type"), text(fault, "argument"))).collect()
    }

    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
