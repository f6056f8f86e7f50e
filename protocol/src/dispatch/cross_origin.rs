//! Calls from web pages: the origins whose pages may read an answer.
//!
//! Source: the Fetch standard, section 3.2 (CORS protocol).

use std::sync::Arc;

use actix_web::HttpResponseBuilder;
use actix_web::http::header::{self, HeaderMap, HeaderName};
use parking_lot::Mutex;

/// Headers that a page may send. A secret key in `authorization` is refused, and the page is told: without the
/// permission the browser would not send the call, and the leak would go unnoticed.
const ALLOWED_HEADERS: &str = "content-type, idempotency-key, api-version, client-version, x-request-id, authorization";

/// Headers of an answer that a page may read.
const EXPOSED_HEADERS: &str = "x-request-id, api-version, idempotent-replayed, retry-after";

/// The time for which a browser may cache a preflight's answer, in seconds.
const PREFLIGHT_SECONDS: &str = "600";

/// The origin whose pages may read a call's answer. The endpoint sets it, once it knows the installation.
#[derive(Debug, Clone, Default)]
pub(super) struct CrossOrigin {
    /// The only allowed origin, once it is known.
    allowed: Arc<Mutex<Option<String>>>,
}

impl CrossOrigin {
    pub(super) fn allow_only(&self, origin: &str) {
        self.set(Some(origin.to_owned()));
    }

    pub(super) fn set(&self, allowed: Option<String>) {
        *self.allowed.lock() = allowed;
    }

    /// The only origin whose pages may read the answer, for the log. No caller learns it.
    pub(super) fn allowed(&self) -> Option<String> {
        self.allowed.lock().clone()
    }

    /// True when pages of this origin may read the answer.
    pub(super) fn allows(&self, origin: &str) -> bool {
        self.allowed.lock().as_deref() == Some(origin)
    }
}

/// A page that cannot read the answer, because the browser withholds it; for the log, which does not show the page's
/// origin: it is the caller's own text, and may be a card number.
pub(super) struct Unread {
    /// The origin whose pages can read the answer, if there is one.
    pub(super) allowed: Option<String>,
}

impl Unread {
    /// The remark in the log line.
    pub(super) const NOTE: &'static str = "a page of another origin: the browser does not show it the answer";

    /// The page that sent a request with these headers; None when it may read the answer or is a page of this server
    /// itself.
    pub(super) fn of(headers: &HeaderMap, cross_origin: &CrossOrigin) -> Option<Unread> {
        let origin = origin(headers).filter(|origin| !cross_origin.allows(origin))?;
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let is_own = origin.split_once("://").is_some_and(|(_, authority)| Some(authority) == host);
        (!is_own).then(|| Unread { allowed: cross_origin.allowed() })
    }
}

/// The page's origin, as the browser names it.
pub(super) fn origin(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::ORIGIN).and_then(|value| value.to_str().ok())
}

/// True for an OPTIONS request that is a browser's preflight.
pub(super) fn is_preflight(headers: &HeaderMap) -> bool {
    origin(headers).is_some() && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Lets the page at `origin` read the answer.
pub(super) fn allow(response: &mut HttpResponseBuilder, origin: &str) {
    response.insert_header((header::ACCESS_CONTROL_ALLOW_ORIGIN, origin));
    response.insert_header((header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS));
}

/// Lets the page at `origin` make the call that its preflight asked about.
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
