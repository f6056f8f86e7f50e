//! Calls from web pages: which origins may read an answer.
//!
//! Source: the Fetch standard, section 3.2 (CORS protocol).

use std::cell::Cell;
use std::rc::Rc;

use actix_web::HttpResponseBuilder;
use actix_web::http::header::{self, HeaderMap, HeaderName};

/// Headers that a page may send.
const ALLOWED_HEADERS: &str = "content-type, idempotency-key, api-version, x-request-id";

/// Headers of an answer that a page may read.
const EXPOSED_HEADERS: &str = "x-request-id, api-version, idempotent-replayed, retry-after";

/// How long a browser may remember a preflight's answer, in seconds.
const PREFLIGHT_SECONDS: &str = "600";

/// Whether a call's answer may be read by the page that made it. The endpoint decides, once it knows the
/// installation.
#[derive(Debug, Clone, Default)]
pub(super) struct CrossOrigin {
    granted: Rc<Cell<bool>>,
}

impl CrossOrigin {
    pub(super) fn grant(&self) {
        self.set(true);
    }

    pub(super) fn set(&self, is_granted: bool) {
        self.granted.set(is_granted);
    }

    pub(super) fn is_granted(&self) -> bool {
        self.granted.get()
    }
}

/// The page's origin as the browser names it.
pub(super) fn origin(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::ORIGIN).and_then(|value| value.to_str().ok())
}

/// Whether this OPTIONS request is a browser's question before a call.
pub(super) fn is_preflight(headers: &HeaderMap) -> bool {
    origin(headers).is_some() && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Lets the page at `origin` read the answer.
pub(super) fn allow(response: &mut HttpResponseBuilder, origin: &str) {
    response.insert_header((header::ACCESS_CONTROL_ALLOW_ORIGIN, origin));
    response.insert_header((header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS));
}

/// Lets the page at `origin` make the call that it asked about.
pub(super) fn allow_preflight(response: &mut HttpResponseBuilder, origin: &str) {
    let allowed: [(HeaderName, &str); 4] = [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, origin),
        (header::ACCESS_CONTROL_ALLOW_METHODS, "POST"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS),
        (header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_SECONDS),
    ];
    for pair in allowed {
        response.insert_header(pair);
    }
}
