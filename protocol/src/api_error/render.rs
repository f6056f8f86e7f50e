//! Renders a refusal: the body of the answer and its HTTP status. No other file knows either.

use actix_web::http::StatusCode;
use actix_web::http::header::Quality;
use serde_json::{Map, Value, json};

use super::{ApiError, Code};
use crate::fault::Fault;
use crate::quality;

/// The media type of the triple.
const JSON_MEDIA_TYPE: &str = "application/json";

/// The media type of RFC 9457.
const PROBLEM_MEDIA_TYPE: &str = "application/problem+json";

till_domain::word_enum! {
    /// The two forms in which a refusal is answered.
    pub enum Form: name {
        /// `[CODE, message, details]`, the Web Function form.
        Triple => "triple",
        /// RFC 9457 problem details with the statuses that REST clients expect.
        Problem => "problem",
    }
}

/// A refusal ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The HTTP status.
    pub status: StatusCode,
    /// The value of `Content-Type`.
    pub media_type: &'static str,
    /// The JSON text.
    pub body: String,
}

impl Form {
    /// The form that an `Accept` header asks for: problem details when the header names them and does not prefer plain
    /// JSON. Wildcards and a missing header mean the triple.
    #[must_use]
    pub fn from_accept(accept: &str) -> Form {
        let problem = quality::of_exact(accept, PROBLEM_MEDIA_TYPE).unwrap_or(Quality::ZERO);
        let plain = quality::of_exact(accept, JSON_MEDIA_TYPE).unwrap_or(Quality::ZERO);
        if problem > Quality::ZERO && problem >= plain { Form::Problem } else { Form::Triple }
    }

    /// The status of a refusal in this form.
    #[must_use]
    pub fn status(self, error: &ApiError) -> StatusCode {
        match self {
            Form::Triple => triple_status(error.code()),
            Form::Problem => problem_status(error),
        }
    }

    /// Renders a refusal in this form.
    #[must_use]
    pub fn render(self, error: &ApiError) -> Rendered {
        let status = self.status(error);
        match self {
            Form::Triple => Rendered { status, media_type: JSON_MEDIA_TYPE, body: triple(error).to_string() },
            Form::Problem => {
                Rendered { status, media_type: PROBLEM_MEDIA_TYPE, body: problem(error, status).to_string() }
            }
        }
    }
}

fn triple(error: &ApiError) -> Value {
    json!([error.code().name(), error.message(), error.details()])
}

fn problem(error: &ApiError, status: StatusCode) -> Value {
    let mut members = Map::new();
    members.insert("type".to_owned(), "about:blank".into());
    members.insert("title".to_owned(), status.canonical_reason().unwrap_or("Error").into());
    members.insert("status".to_owned(), status.as_u16().into());
    members.insert("detail".to_owned(), error.message().into());
    members.insert("code".to_owned(), error.code().name().into());
    members.insert("details".to_owned(), error.details().cloned().unwrap_or_default());
    Value::Object(members)
}

/// 400 for every error that the caller can correct. Any other status means that the call never reached an endpoint or
/// that the server failed.
const fn triple_status(code: Code) -> StatusCode {
    match code {
        Code::InvalidArguments
        | Code::Unauthorized
        | Code::BadVersion
        | Code::NotFound
        | Code::Conflict
        | Code::NotSupported
        | Code::CustomerRequired
        | Code::CustomerMismatch
        | Code::TokenAlreadyUsed
        | Code::NotReady
        | Code::InvalidState
        | Code::IdempotencyKeyReused
        | Code::NotRefundable
        | Code::AmountExceedsLimit
        | Code::InsufficientBalance
        | Code::MerchantSuspended
        | Code::Forbidden => StatusCode::BAD_REQUEST,
        Code::MisdirectedRequest => StatusCode::MISDIRECTED_REQUEST,
        Code::UnknownEndpoint => StatusCode::NOT_FOUND,
        Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Code::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Code::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
        Code::HeadTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        Code::AddressTooLong => StatusCode::URI_TOO_LONG,
        Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Code::UnhandledError => StatusCode::INTERNAL_SERVER_ERROR,
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
    }
}

impl Code {
    /// The status of an error with this code in the form of a triple.
    #[must_use]
    pub fn triple_status(self) -> u16 {
        triple_status(self).as_u16()
    }

    /// The status of a page that tells a refusal with this code. A page that was used or has timed out is gone (410).
    #[must_use]
    pub fn page_status(self) -> StatusCode {
        match self {
            Code::InvalidState => StatusCode::GONE,
            code => problem_status(&ApiError::new(code, "")),
        }
    }

    /// The status of an error with this code in the form of problem details.
    #[must_use]
    pub fn problem_status(self) -> u16 {
        problem_status(&ApiError::new(self, "")).as_u16()
    }

    /// The status of `INVALID_ARGUMENTS` that a stale version caused, in the form of problem details.
    #[must_use]
    pub fn stale_version_status() -> u16 {
        problem_status(&ApiError::invalid_arguments(&[Fault::version_mismatch("version", 0)])).as_u16()
    }
}

fn problem_status(error: &ApiError) -> StatusCode {
    match error.code() {
        Code::InvalidArguments if error.is_stale_version() => StatusCode::CONFLICT,
        Code::Unauthorized => StatusCode::UNAUTHORIZED,
        Code::MerchantSuspended | Code::Forbidden => StatusCode::FORBIDDEN,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::Conflict | Code::TokenAlreadyUsed | Code::NotReady | Code::InvalidState => StatusCode::CONFLICT,
        Code::NotSupported
        | Code::CustomerRequired
        | Code::CustomerMismatch
        | Code::IdempotencyKeyReused
        | Code::NotRefundable
        | Code::AmountExceedsLimit
        | Code::InsufficientBalance => StatusCode::UNPROCESSABLE_ENTITY,
        code @ (Code::InvalidArguments
        | Code::BadVersion
        | Code::MisdirectedRequest
        | Code::UnknownEndpoint
        | Code::MethodNotAllowed
        | Code::BodyTooLarge
        | Code::UnsupportedMediaType
        | Code::RequestTimeout
        | Code::HeadTooLarge
        | Code::AddressTooLong
        | Code::RateLimited
        | Code::UnhandledError
        | Code::Unavailable) => triple_status(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api_error::CallEffect;

    fn body(form: Form, error: &ApiError) -> Value {
        serde_json::from_str(&form.render(error).body).unwrap_or_else(|error| panic!("{error}"))
    }

    fn status(form: Form, code: Code) -> u16 {
        form.render(&ApiError::new(code, "m")).status.as_u16()
    }

    #[test]
    fn the_triple_has_exactly_three_members_and_null_for_no_details() {
        let error = ApiError::new(Code::NotFound, "There is no such payment.");
        assert_eq!(body(Form::Triple, &error), json!(["NOT_FOUND", "There is no such payment.", null]));
        let error = error.with_details(json!({"payment_id": "pay_1"}));
        assert_eq!(body(Form::Triple, &error)[2], json!({"payment_id": "pay_1"}));
    }

    #[test]
    fn a_problem_carries_the_same_error_under_its_own_names() {
        let error = ApiError::new(Code::Conflict, "Taken.").with_details(json!({"argument": "external_id"}));
        let expected = json!({
            "type": "about:blank", "title": "Conflict", "status": 409, "detail": "Taken.", "code": "CONFLICT",
            "details": {"argument": "external_id"},
        });
        assert_eq!(body(Form::Problem, &error), expected);
        assert_eq!(Form::Problem.render(&error).media_type, "application/problem+json");
        assert_eq!(Form::Triple.render(&error).media_type, "application/json");
    }

    #[test]
    fn every_code_has_the_statuses_of_the_contract() {
        for (code, triple, problem) in [
            (Code::InvalidArguments, 400, 400),
            (Code::Unauthorized, 400, 401),
            (Code::BadVersion, 400, 400),
            (Code::NotFound, 400, 404),
            (Code::Conflict, 400, 409),
            (Code::NotSupported, 400, 422),
            (Code::CustomerRequired, 400, 422),
            (Code::CustomerMismatch, 400, 422),
            (Code::TokenAlreadyUsed, 400, 409),
            (Code::NotReady, 400, 409),
            (Code::InvalidState, 400, 409),
            (Code::IdempotencyKeyReused, 400, 422),
            (Code::NotRefundable, 400, 422),
            (Code::AmountExceedsLimit, 400, 422),
            (Code::InsufficientBalance, 400, 422),
            (Code::MerchantSuspended, 400, 403),
            (Code::Forbidden, 400, 403),
            (Code::MisdirectedRequest, 421, 421),
            (Code::UnknownEndpoint, 404, 404),
            (Code::MethodNotAllowed, 405, 405),
            (Code::BodyTooLarge, 413, 413),
            (Code::UnsupportedMediaType, 415, 415),
            (Code::RequestTimeout, 408, 408),
            (Code::HeadTooLarge, 431, 431),
            (Code::AddressTooLong, 414, 414),
            (Code::RateLimited, 429, 429),
            (Code::UnhandledError, 500, 500),
            (Code::Unavailable, 503, 503),
        ] {
            assert_eq!((status(Form::Triple, code), status(Form::Problem, code)), (triple, problem), "{code}");
        }
        assert_eq!(Code::ALL.len(), 28);
    }

    #[test]
    fn a_stale_version_is_a_conflict_to_rest_clients() {
        let error = ApiError::invalid_arguments(&[Fault::missing("key"), Fault::version_mismatch("version", 3)]);
        assert_eq!(Form::Problem.render(&error).status.as_u16(), 409);
        assert_eq!(Form::Triple.render(&error).status.as_u16(), 400);
    }

    #[test]
    fn an_unavailable_server_names_the_effect_and_the_retry_delay() {
        let error = ApiError::unavailable(CallEffect::Unknown, 2);
        assert_eq!(
            (body(Form::Triple, &error)[2].clone(), error.retry_after_seconds()),
            (json!({"outcome": "unknown"}), Some(2))
        );
        assert_eq!(
            body(Form::Triple, &ApiError::unavailable(CallEffect::NotDone, 1))[2],
            json!({"outcome": "not_done"})
        );
    }

    #[test]
    fn the_accept_header_chooses_the_form() {
        for (accept, form) in [
            ("", Form::Triple),
            ("*/*", Form::Triple),
            ("application/*", Form::Triple),
            ("application/json", Form::Triple),
            ("application/problem+json", Form::Problem),
            ("Application/Problem+JSON; charset=utf-8", Form::Problem),
            ("application/json, application/problem+json", Form::Problem),
            ("application/problem+json;q=0.5, application/json", Form::Triple),
            ("application/problem+json;q=0.9, application/json;q=0.8, */*;q=0.1", Form::Problem),
            ("application/problem+json;q=0", Form::Triple),
            ("application/problem+json;q=nonsense", Form::Triple),
        ] {
            assert_eq!(Form::from_accept(accept), form, "{accept}");
        }
    }
}
