//! The response to a request for a page: contract, section 15.

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpResponse, HttpResponseBuilder};

use super::answer::{Addressee, X_REQUEST_ID};
use super::page_reply::{PageContent, PageFrame, PageReply};
use crate::api_error::ApiError;

/// The headers of every page beside its content security policy.
const HEADERS: [(&str, &str); 4] = [
    ("x-content-type-options", "nosniff"),
    ("cross-origin-opener-policy", "same-origin"),
    ("permissions-policy", "payment=(), camera=(), microphone=(), geolocation=()"),
    ("x-robots-tag", "noindex"),
];

/// What the next page learns of the address of a page: nothing, since that is a capability; where visitors sign in,
/// pages of the same server learn it, so that browsers name the origin of forms.
const REFERRER_POLICY: &str = "referrer-policy";

/// The pages that may load an answer: those of the server itself, or all.
const RESOURCE_POLICY: &str = "cross-origin-resource-policy";

/// A year, for a browser that came by TLS.
const TRANSPORT_SECURITY: &str = "max-age=31536000";

/// The cache policy of a file whose name has a hash of its content.
const ASSET_CACHE: &str = "public, max-age=31536000, immutable";

/// The cache policy of a text that may change seldom: five minutes.
const KEPT_CACHE: &str = "public, max-age=300";

impl PageReply {
    /// The status of the response.
    pub(super) fn status(&self) -> StatusCode {
        match (&self.content, self.code) {
            (_, Some(code)) => code.page_status(),
            (PageContent::SeeOther(_), None) => StatusCode::SEE_OTHER,
            (PageContent::Html(_) | PageContent::Asset(..) | PageContent::Other(..), None) => StatusCode::OK,
        }
    }
}

impl PageFrame {
    /// The response of a page.
    pub(super) fn respond(self, addressee: &Addressee<'_>, reply: PageReply) -> HttpResponse {
        let policy = policy(&reply.form_targets, reply.framed_by.as_deref());
        let mut response = self.start(addressee, reply.status(), &policy, reply.is_shared);
        if let Some(cookie) = reply.cookie {
            response.insert_header((header::SET_COOKIE, cookie));
        }
        match reply.content {
            PageContent::Html(text) => finish_html(&mut response, addressee, text),
            PageContent::SeeOther(address) => response.insert_header((header::LOCATION, address)).finish(),
            PageContent::Asset(bytes, media_type) => {
                response.insert_header((header::CACHE_CONTROL, ASSET_CACHE));
                response.insert_header((header::CONTENT_TYPE, media_type)).body(bytes)
            }
            PageContent::Other(bytes, media_type) => {
                if reply.is_kept {
                    response.insert_header((header::CACHE_CONTROL, KEPT_CACHE));
                }
                response.insert_header((header::CONTENT_TYPE, media_type)).body(bytes)
            }
        }
    }

    /// The page of a refusal.
    pub(super) fn refuse(self, addressee: &Addressee<'_>, error: &ApiError) -> HttpResponse {
        let mut response = self.start(addressee, error.code().page_status(), &policy(&[], None), false);
        if let Some(seconds) = error.retry_after_seconds() {
            response.insert_header((header::RETRY_AFTER, seconds.to_string()));
        }
        if let Some(methods) = error.allow() {
            response.insert_header((header::ALLOW, methods));
        }
        if error.ends_connection() {
            response.force_close(); // The rest of the body is not or cannot be read.
        }
        finish_html(&mut response, addressee, (self.refusal)(error, addressee.request_id))
    }

    fn start(
        self,
        addressee: &Addressee<'_>,
        status: StatusCode,
        policy: &str,
        is_shared: bool,
    ) -> HttpResponseBuilder {
        let mut response = HttpResponse::build(status);
        response.insert_header((X_REQUEST_ID.clone(), addressee.request_id.as_str()));
        response.insert_header((header::CACHE_CONTROL, HeaderValue::from_static("no-store")));
        response.insert_header((header::CONTENT_SECURITY_POLICY, policy));
        let resource_policy = if is_shared { "cross-origin" } else { "same-origin" };
        response.insert_header((RESOURCE_POLICY, resource_policy));
        if is_shared {
            response.insert_header((header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"));
        }
        for (name, value) in HEADERS {
            response.insert_header((name, value));
        }
        response.insert_header((REFERRER_POLICY, if self.has_session { "same-origin" } else { "no-referrer" }));
        if self.is_secure {
            response.insert_header((header::STRICT_TRANSPORT_SECURITY, TRANSPORT_SECURITY));
        }
        response
    }
}

fn finish_html(response: &mut HttpResponseBuilder, addressee: &Addressee<'_>, text: String) -> HttpResponse {
    let (bytes, coding) = addressee.encoded(text);
    response.insert_header((header::CONTENT_TYPE, "text/html; charset=utf-8"));
    response.insert_header((header::VARY, "Accept-Encoding"));
    if let Some(coding) = coding {
        response.insert_header((header::CONTENT_ENCODING, coding));
    }
    response.body(bytes)
}

/// True for an origin in a policy: a host with a sign that has a meaning of its own there, such as a semicolon, is in
/// none.
fn is_plain_origin(origin: &&str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:/[]".contains(&byte);
    origin.contains("://") && origin.bytes().all(is_plain)
}

/// The content security policy. Browsers apply `form-action` to each redirect after a form, too.
fn policy(form_targets: &[String], framed_by: Option<&str>) -> String {
    let plain = form_targets.iter().map(String::as_str).filter(is_plain_origin);
    let form_targets: String = plain.map(|origin| format!(" {origin}")).collect();
    let framed_by = framed_by.filter(is_plain_origin).unwrap_or("'none'");
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action \
            'self'{form_targets}; base-uri 'none'; frame-ancestors {framed_by}; require-trusted-types-for 'script'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_stands_in_a_policy_only_when_nothing_of_it_has_a_meaning_there() {
        for origin in ["https://shop.example", "http://[::1]:8080", "https://xn--bcher-kva.example:8443"] {
            let written = policy(&[origin.to_owned(), "https://cart.example".to_owned()], Some(origin));
            assert!(written.contains(&format!("form-action 'self' {origin} https://cart.example;")), "{written}");
            assert!(written.contains(&format!("frame-ancestors {origin};")), "{written}");
        }
        for hostile in ["https://a;script-src *", "https://a,b", "https://'self'", "https://*.a", "null", ""] {
            assert_eq!(policy(&[hostile.to_owned()], Some(hostile)), policy(&[], None), "{hostile}");
        }
    }
}
