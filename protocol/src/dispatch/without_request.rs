//! Answers in cases where the dispatcher gets no request: the web server could not read it, or its connection was
//! refused.

use std::fmt::Write;
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use actix_web::body::MessageBody;
use actix_web::http::header::{HeaderMap, HttpDate};

use super::answer::Addressee;
use super::log_throttle::LogThrottle;
use super::request_id::RequestId;
use crate::api_error::{ApiError, Code, Form};
use crate::count::Count;
use crate::json::Malformed;
use crate::version::ApiVersion;

/// The time limit for a request's head to arrive.
pub(crate) const HEAD_ARRIVAL_MAX: Duration = Duration::from_secs(10);

/// The limit of bytes of a request's head that the web server reads.
const HEAD_BYTES_MAX: usize = 128 * 1024;

/// The limit of headers that it reads.
const HEADERS_MAX: usize = 96;

/// The advised delay before the next connection when there are too many connections, in seconds.
const CONNECT_RETRY_SECONDS: u32 = 1;

/// Requests that cannot be read come by the thousand during an attack.
static LOGGED: LazyLock<LogThrottle> = LazyLock::new(|| LogThrottle::of(1));

/// The answer to a request that could not be read, to which the web server gives this status.
pub(crate) fn answer_to_unreadable(status: u16, counters: &dyn Count) -> Vec<u8> {
    answer(refusal(status), counters)
}

/// The answer to a connection that was refused.
pub(crate) fn answer_to_refused_connection(counters: &dyn Count) -> Vec<u8> {
    answer(ApiError::overloaded(CONNECT_RETRY_SECONDS), counters)
}

/// The refusal as the last answer on a connection, which is counted and logged.
fn answer(error: ApiError, counters: &dyn Count) -> Vec<u8> {
    let (code, request_id) = (error.code().name(), RequestId::from_header(None));
    counters.unread(code);
    if let Some(left_out) = LOGGED.turn() {
        let (status, left_out) = (error.code().triple_status(), (left_out > 0).then_some(left_out));
        let span = tracing::info_span!("request", request_id = %request_id);
        span.in_scope(|| tracing::info!(path = "(unread)", status, code, left_out, "answered"));
    }
    last_answer(error, &request_id)
}

fn refusal(status: u16) -> ApiError {
    match status {
        400 => ApiError::malformed(&Malformed::new(
            "the request is not one of HTTP/1.1: its first line or a header is malformed, two headers contradict each \
                other about the body, or the path is longer than 65534 bytes; correct it and use a new connection",
        )),
        408 => {
            let message = format!(
                "The head of the request did not arrive within {} seconds. Send it at once, on a new connection.",
                HEAD_ARRIVAL_MAX.as_secs()
            );
            ApiError::new(Code::RequestTimeout, message)
        }
        431 => {
            let message = format!(
                "The head of the request is larger than {HEAD_BYTES_MAX} bytes, or has more than {HEADERS_MAX} \
                    headers. Send less there, on a new connection; arguments belong into the body."
            );
            ApiError::new(Code::HeadTooLarge, message)
        }
        _ => ApiError::unhandled(),
    }
}

/// The bytes of a refusal in the form in which any request is answered, with the headers that the web server adds to
/// every head.
fn last_answer(error: ApiError, request_id: &RequestId) -> Vec<u8> {
    let (headers, form) = (&HeaderMap::new(), Some(Form::Triple));
    let addressee = Addressee {
        headers,
        request_id,
        version: ApiVersion::NEWEST,
        may_read_cross_origin: false,
        form,
        page_frame: None,
    };
    let response = addressee.respond(Err(error));
    let mut head = format!("HTTP/1.1 {}\r\n", response.status());
    for (name, value) in response.headers() {
        let _infallible = write!(head, "{name}: {}\r\n", value.to_str().unwrap_or_default());
    }
    let body = response.into_body().try_into_bytes().unwrap_or_default();
    let date = HttpDate::from(SystemTime::now());
    let _infallible = write!(head, "content-length: {}\r\nconnection: close\r\ndate: {date}\r\n\r\n", body.len());
    [head.as_bytes(), &body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_request_is_answered_with_a_whole_triple() {
        let id = RequestId::from_header(Some("a-1"));
        for (number, code) in [(400, "INVALID_ARGUMENTS"), (408, "REQUEST_TIMEOUT"), (431, "HEAD_TOO_LARGE")] {
            let answer = last_answer(refusal(number), &id);
            let text = String::from_utf8_lossy(&answer);
            let (head, body) = text.split_once("\r\n\r\n").unwrap_or_default();
            assert!(head.starts_with(&format!("HTTP/1.1 {number} ")) && head.contains("x-request-id: a-1"), "{head}");
            assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{head}");
            assert!(head.contains("\r\ndate: ") && body.starts_with(&format!("[\"{code}\",")), "{text}");
        }
    }
}
