//! An unsuccessful call, before it is rendered as an answer.

use std::borrow::Cow;

use serde_json::{Value, json};
use till_domain::records::Unreadable;

use super::Code;
use crate::fault::{Fault, FaultKind};
use crate::json::Malformed;

/// The advised delay before a retry when the server could not carry out a call.
pub const RETRY_AFTER_SECONDS: u32 = 1;

/// The reason why a call did not succeed: everything that the caller is told.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiError {
    code: Code,
    message: Cow<'static, str>,
    details: Option<Value>,
    retry_after_seconds: Option<u32>,
    allow: Option<&'static str>,
    stale_version: bool,
    overload: bool,
    for_worker_pool: bool,
    ends_connection: bool,
    /// The cause as the log has it, which only the operator is told.
    cause: Option<String>,
}

till_domain::word_enum! {
    /// The known effect of a call that the server could not complete.
    pub enum CallEffect: name {
        /// Nothing was changed; the same call may be repeated.
        NotDone => "not_done",
        /// The call may have been done; repeating it with the same Idempotency-Key tells.
        Unknown => "unknown",
    }
}

impl ApiError {
    /// A refusal with a message for a person. The message must not repeat a secret.
    #[must_use]
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> ApiError {
        ApiError {
            code,
            message: message.into(),
            details: None,
            retry_after_seconds: None,
            allow: None,
            stale_version: false,
            overload: false,
            for_worker_pool: false,
            ends_connection: false,
            cause: None,
        }
    }

    /// Adds details for programs.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> ApiError {
        self.details = Some(details);
        self
    }

    /// `INVALID_ARGUMENTS` with its faults.
    #[must_use]
    pub fn invalid_arguments(faults: &[Fault]) -> ApiError {
        let summary = match faults {
            [] => "The body is not acceptable.".to_owned(),
            [fault] => sentence(&with_argument(fault)),
            [first, second] => sentence(&format!("{}; {}", with_argument(first), with_argument(second))),
            [first, rest @ ..] => {
                let names: Vec<&str> = rest.iter().map(Fault::argument).collect();
                format!("{}; and faults of {}.", with_argument(first), listed(&names))
            }
        };
        let mut error = ApiError::new(Code::InvalidArguments, summary);
        error.stale_version = faults.iter().any(|fault| matches!(fault.kind(), FaultKind::VersionMismatch { .. }));
        error.with_details(faults.iter().map(Fault::to_json).collect())
    }

    /// The same with one more sentence.
    #[must_use]
    pub fn with_note(mut self, note: &str) -> ApiError {
        self.message = format!("{} {note}", self.message).into();
        self
    }

    /// `INVALID_ARGUMENTS` for a body in which no argument could be read.
    #[must_use]
    pub fn malformed(cause: &Malformed) -> ApiError {
        let mut message = cause.to_string();
        message[..1].make_ascii_uppercase();
        message.push('.');
        ApiError::new(Code::InvalidArguments, message).with_details(json!([]))
    }

    /// `UNAUTHORIZED`, the same for an unknown and a revoked key.
    #[must_use]
    pub fn unauthorized() -> ApiError {
        ApiError::new(
            Code::Unauthorized,
            "The API key is not valid: it is unknown, has expired or was revoked. Use another key of the merchant.",
        )
    }

    /// `NOT_FOUND`: the object that `argument` names does not exist.
    #[must_use]
    pub fn not_found(argument: &'static str, message: impl Into<Cow<'static, str>>) -> ApiError {
        ApiError::new(Code::NotFound, message).with_details(json!({ "argument": argument }))
    }

    /// `RATE_LIMITED`: nothing was done. `of` names the owner of the counted calls.
    #[must_use]
    pub fn rate_limited(limit_per_second: u32, of: &'static str, retry_after_seconds: u32) -> ApiError {
        let message = format!(
            "The calls of {of} are limited to {limit_per_second} a second. Slow down, and continue after the seconds \
                in Retry-After."
        );
        let details = json!({ "limit_per_second": limit_per_second });
        ApiError::too_many(message, retry_after_seconds).with_details(details)
    }

    /// `RATE_LIMITED` for another limit: nothing was done.
    #[must_use]
    pub fn too_many(message: impl Into<Cow<'static, str>>, retry_after_seconds: u32) -> ApiError {
        ApiError::new(Code::RateLimited, message).retry_after(retry_after_seconds)
    }

    /// `UNAVAILABLE` (`not_done`): the server is overloaded. Such refusals do not get a log line each.
    #[must_use]
    pub fn overloaded(retry_after_seconds: u32) -> ApiError {
        ApiError { overload: true, ..ApiError::unavailable(CallEffect::NotDone, retry_after_seconds) }
    }

    /// Stops a call that changes nothing on a thread that reads requests, so that the dispatcher restarts it on the
    /// worker pool. No caller sees this error.
    #[must_use]
    pub fn for_worker_pool() -> ApiError {
        ApiError { for_worker_pool: true, ..ApiError::unavailable(CallEffect::NotDone, 1) }
    }

    /// `UNAVAILABLE`: the server cannot complete the call now. The error says what is known about the call's effect.
    #[must_use]
    pub fn unavailable(outcome: CallEffect, retry_after_seconds: u32) -> ApiError {
        let message = match outcome {
            CallEffect::NotDone => {
                "The server cannot do this now; nothing was changed. Try again after the seconds of Retry-After."
            }
            CallEffect::Unknown => {
                "The server cannot tell whether this was done. Ask again with the same Idempotency-Key."
            }
        };
        let error = ApiError::new(Code::Unavailable, message).retry_after(retry_after_seconds);
        error.with_details(json!({ "outcome": outcome.name() }))
    }

    /// `UNAVAILABLE` for a row that cannot be read. The log has the reason.
    #[must_use]
    pub fn unreadable(error: &dyn std::error::Error) -> ApiError {
        tracing::error!(%error, "a row cannot be read");
        ApiError::unavailable(CallEffect::NotDone, RETRY_AFTER_SECONDS).with_cause(error.to_string())
    }

    /// The same with the cause that the log has. Only the operator is told.
    #[must_use]
    pub fn with_cause(self, cause: impl Into<String>) -> ApiError {
        ApiError { cause: Some(cause.into()), ..self }
    }

    /// The error as the operator is told it: with the cause that the log has.
    #[must_use]
    pub fn for_operator(mut self) -> ApiError {
        match self.cause.take() {
            Some(cause) => self.with_note(&format!("The reason: {cause}.")),
            None => self,
        }
    }

    /// `UNHANDLED_ERROR`: a bug or a broken component. It reveals nothing internal.
    #[must_use]
    pub fn unhandled() -> ApiError {
        ApiError::new(
            Code::UnhandledError,
            "The server failed unexpectedly. The X-Request-Id header names this occurrence.",
        )
    }

    /// `MISDIRECTED_REQUEST`: the host name is not configured, and may be that of a web page that must not call this
    /// server.
    #[must_use]
    pub fn foreign_host() -> ApiError {
        let message = "This listener does not answer for this Host. Call it by its IP address, as localhost, or by the \
            name in its admin_listen; have a proxy in front of it send one of them.";
        ApiError::new(Code::MisdirectedRequest, message)
    }

    /// `METHOD_NOT_ALLOWED`, which names the allowed methods.
    #[must_use]
    pub fn method_not_allowed(allow: &'static str) -> ApiError {
        let message = format!("This path does not take this method. Allowed: {allow}.");
        ApiError { allow: Some(allow), ..ApiError::new(Code::MethodNotAllowed, message) }
    }

    /// The same error, after which its connection cannot be read any more.
    #[must_use]
    pub fn ending_connection(self) -> ApiError {
        ApiError { ends_connection: true, ..self }
    }

    fn retry_after(mut self, seconds: u32) -> ApiError {
        self.retry_after_seconds = Some(seconds);
        self
    }

    /// The code clients branch on.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// The message for a person.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Details for programs.
    #[must_use]
    pub fn details(&self) -> Option<&Value> {
        self.details.as_ref()
    }

    /// The advised delay before a retry, in seconds.
    #[must_use]
    pub fn retry_after_seconds(&self) -> Option<u32> {
        self.retry_after_seconds
    }

    /// The methods that the path takes, for a refusal of the method.
    #[must_use]
    pub fn allow(&self) -> Option<&'static str> {
        self.allow
    }

    /// True when its connection cannot be used any more.
    #[must_use]
    pub fn ends_connection(&self) -> bool {
        self.ends_connection
    }

    /// True for an overload or a rate limit, whose refusals come in large numbers.
    #[must_use]
    pub fn is_overload(&self) -> bool {
        self.overload || self.code == Code::RateLimited
    }

    /// True when the call is to be restarted on the worker pool.
    #[must_use]
    pub fn is_for_worker_pool(&self) -> bool {
        self.for_worker_pool
    }

    /// True when a stale version is among the causes.
    #[must_use]
    pub fn is_stale_version(&self) -> bool {
        self.stale_version
    }
}

/// A damaged row fails only the reads that touch it.
impl From<Unreadable> for ApiError {
    fn from(error: Unreadable) -> ApiError {
        ApiError::unreadable(&error)
    }
}

/// The longest list of names in a message.
const NAMES_MAX: usize = 8;

/// Names with commas between them; of many the first ones and the number of the others.
fn listed(names: &[&str]) -> String {
    match names {
        names if names.len() > NAMES_MAX => {
            format!("{} and {} more", names[..NAMES_MAX].join(", "), names.len() - NAMES_MAX)
        }
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        names => names.join(", "),
    }
}

/// A fault after the name of its argument.
fn with_argument(fault: &Fault) -> String {
    format!("{}: {}", fault.argument(), fault.message().trim_end_matches('.'))
}

fn sentence(text: &str) -> String {
    if text.ends_with('?') { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_tells_one_or_two_faults_and_names_more() {
        let (missing, unknown) = (Fault::missing("payment_id"), Fault::unknown("id", Some("payment_id")));
        let message = |faults: &[Fault]| ApiError::invalid_arguments(faults).message().to_owned();
        assert_eq!(message(std::slice::from_ref(&missing)), "payment_id: is required.");
        let both = "payment_id: is required; id: is not an argument of this endpoint; did you mean payment_id?";
        assert_eq!(message(&[missing.clone(), unknown]), both);
        let more = ["amount", "reason"].map(Fault::missing);
        let three = [&[missing.clone()][..], &more].concat();
        assert_eq!(message(&three), "payment_id: is required; and faults of amount and reason.");
        let many = vec![missing; 11];
        assert!(message(&many).ends_with(", payment_id and 2 more."), "{}", message(&many));
    }
}
