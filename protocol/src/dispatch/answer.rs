//! Turns an outcome into a response.

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue, Quality};
use actix_web::{HttpResponse, HttpResponseBuilder};

use super::cross_origin;
use super::encoding::{self, Coding, Encoded};
use super::page_reply::{PageFrame, PageReply};
use super::request_id::RequestId;
use crate::api_error::{ApiError, Form};
use crate::pages::PageFile;
use crate::quality;
use crate::request_thread::LARGE_BYTES;
use crate::version::ApiVersion;

/// The content security policy of the documentation pages: they may load and call this server only, and images from
/// `data:` URLs.
const PAGES_POLICY: &str =
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'";

/// Headers of our own. They are made once, since a look-up of a name by its text costs more than sending it.
pub(super) static X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
pub(super) static API_VERSION: HeaderName = HeaderName::from_static("api-version");

/// The media type of every JSON answer.
const JSON: &str = "application/json";

/// The content of an answer, before the headers that every response carries.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// A successful call's JSON.
    Json {
        json: String,
        /// True when it is the stored answer of an earlier call.
        replayed: bool,
    },
    /// The same, compressed on the worker pool.
    Compressed {
        /// The text in its coding.
        bytes: Vec<u8>,
        /// The name of the coding.
        coding: &'static str,
        /// True when it is the stored answer of an earlier call.
        replayed: bool,
    },
    /// Text for the operator's tools.
    Text { text: String, media_type: &'static str },
    /// A file of the documentation pages.
    File(PageFile),
    /// An answer of a page for a person's browser.
    Page(PageReply),
    /// A redirect.
    Moved { to: &'static str },
    /// The answer to a browser's preflight: a page of any origin may make the call. The endpoint decides whether the
    /// page may read the answer, by the installation that the body names.
    Preflight,
}

/// The parts of the request that the response depends on.
pub(super) struct Addressee<'r> {
    pub(super) headers: &'r HeaderMap,
    pub(super) request_id: &'r RequestId,
    pub(super) version: ApiVersion,
    pub(super) may_read_cross_origin: bool,
    /// The form of a refusal; when absent, the `Accept` header decides.
    pub(super) form: Option<Form>,
    /// The part of the answer that its listener decides, when the request is for a page.
    pub(super) page_frame: Option<PageFrame>,
}

impl Addressee<'_> {
    /// The response for an outcome.
    pub(super) fn respond(&self, outcome: Result<Answer, ApiError>) -> HttpResponse {
        match (self.page_frame, outcome) {
            (Some(frame), Ok(Answer::Page(reply))) => frame.respond(self, reply),
            (Some(frame), Err(error)) => frame.refuse(self, &error),
            (Some(_) | None, outcome) => self.respond_to_call(outcome),
        }
    }

    fn respond_to_call(&self, outcome: Result<Answer, ApiError>) -> HttpResponse {
        match outcome {
            Ok(Answer::Json { json, replayed }) => self.finish_json(replayed, self.encoded(json)),
            Ok(Answer::Compressed { bytes, coding, replayed }) => self.finish_json(replayed, (bytes, Some(coding))),
            Ok(Answer::Text { text, media_type }) => {
                self.start(StatusCode::OK).insert_header((header::CONTENT_TYPE, media_type)).body(text)
            }
            Ok(Answer::File(PageFile { bytes, media_type })) => self
                .start(StatusCode::OK)
                .insert_header((header::CONTENT_TYPE, media_type))
                .insert_header((header::CONTENT_SECURITY_POLICY, PAGES_POLICY))
                .body(bytes),
            Ok(Answer::Moved { to }) => {
                self.start(StatusCode::PERMANENT_REDIRECT).insert_header((header::LOCATION, to)).finish()
            }
            Ok(Answer::Preflight) => self.preflight(),
            Ok(Answer::Page(_)) => self.refusal(&ApiError::unhandled()), // Only requests for pages have such answers.
            Err(error) => self.refusal(&error),
        }
    }

    /// The status of the response to an outcome.
    pub(super) fn status(&self, outcome: &Result<Answer, ApiError>) -> StatusCode {
        match outcome {
            Ok(Answer::Json { .. } | Answer::Compressed { .. } | Answer::Text { .. } | Answer::File(_)) => {
                StatusCode::OK
            }
            Ok(Answer::Moved { .. }) => StatusCode::PERMANENT_REDIRECT,
            Ok(Answer::Preflight) => StatusCode::NO_CONTENT,
            Ok(Answer::Page(reply)) => reply.status(),
            Err(error) if self.page_frame.is_some() => error.code().page_status(),
            Err(error) => self.form().status(error),
        }
    }

    /// The form of a refusal.
    pub(super) fn form(&self) -> Form {
        self.form.unwrap_or_else(|| Form::from_accept(&self.accept()))
    }

    fn finish_json(&self, replayed: bool, encoded: Encoded) -> HttpResponse {
        let mut response = self.start(StatusCode::OK);
        if replayed {
            response.insert_header(("Idempotent-Replayed", "true"));
        }
        self.finish(response, JSON, encoded)
    }

    /// A text in the coding that the caller accepts. A large text, unless it is a page, was offered to the worker pool
    /// before, and is not compressed here.
    pub(super) fn encoded(&self, text: String) -> Encoded {
        let is_large = text.len() > LARGE_BYTES;
        encoding::encode(text, || if is_large { Coding::Identity } else { encoding::choose(self.headers) })
    }

    fn refusal(&self, error: &ApiError) -> HttpResponse {
        let rendered = self.form().render(error);
        let mut response = self.start(rendered.status);
        if let Some(seconds) = error.retry_after_seconds() {
            response.insert_header((header::RETRY_AFTER, seconds.to_string()));
        }
        if let Some(methods) = error.allow() {
            response.insert_header((header::ALLOW, methods));
        }
        if rendered.status == StatusCode::UNAUTHORIZED {
            response.insert_header((header::WWW_AUTHENTICATE, "Bearer"));
        }
        if error.ends_connection() {
            response.force_close(); // The rest of the body is not or cannot be read.
        }
        self.finish(response, rendered.media_type, self.encoded(rendered.body))
    }

    fn preflight(&self) -> HttpResponse {
        let mut response = self.start(StatusCode::NO_CONTENT);
        response.insert_header((header::VARY, "Origin"));
        if let Some(origin) = cross_origin::origin(self.headers) {
            cross_origin::allow_preflight(&mut response, origin);
        }
        response.finish()
    }

    /// True when the caller asks for a page, as browsers do when they open an address.
    pub(super) fn reads_pages(&self) -> bool {
        quality::of_exact(&self.accept(), "text/html").is_some_and(|quality| quality > Quality::ZERO)
    }

    /// Starts a response with the headers that every response carries.
    fn start(&self, status: StatusCode) -> HttpResponseBuilder {
        let mut response = HttpResponse::build(status);
        response.insert_header((X_REQUEST_ID.clone(), self.request_id.as_str()));
        response.insert_header((API_VERSION.clone(), HeaderValue::from_static(self.version.name())));
        response.insert_header((header::CACHE_CONTROL, HeaderValue::from_static("no-store")));
        response.insert_header((header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")));
        response
    }

    fn finish(
        &self,
        mut response: HttpResponseBuilder,
        media_type: &'static str,
        (bytes, coding): Encoded,
    ) -> HttpResponse {
        response.insert_header((header::CONTENT_TYPE, HeaderValue::from_static(media_type)));
        response.insert_header((header::VARY, HeaderValue::from_static("Accept, Accept-Encoding, Origin")));
        if let Some(origin) = cross_origin::origin(self.headers).filter(|_| self.may_read_cross_origin) {
            cross_origin::allow(&mut response, origin);
        }
        if let Some(coding) = coding {
            response.insert_header((header::CONTENT_ENCODING, coding));
        }
        response.body(bytes)
    }

    fn accept(&self) -> String {
        let values: Vec<&str> = self.headers.get_all(header::ACCEPT).filter_map(|value| value.to_str().ok()).collect();
        values.join(",")
    }
}
