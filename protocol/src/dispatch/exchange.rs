//! A call in progress, over HTTP or as a pipeline's step, with all that is known of it so far.

use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::http::header::{HeaderMap, HeaderName};
use actix_web::http::{Method, StatusCode};

use super::answer::{API_VERSION, Addressee};
use super::body;
use super::call::CallContext;
use super::cross_origin::{self, CrossOrigin, Unread};
use super::entrance::Entrance;
use super::hooks::AuthenticatedCaller;
use super::idempotency_key;
use super::log_subject::LogSubject;
use super::page_reply::PageFrame;
use super::path::{ParsedPath, UNKNOWN_PATH, locate};
use super::request_id::RequestId;
use crate::api_error::{ApiError, Form};
use crate::connection::ShareOf;
use crate::connection::{ForwardedHeader, OpenConnection};
use crate::declaration::{Declaration, Package};
use crate::json::Object;
use crate::memory_budget::MemoryBudget;
use crate::pipelining::{PipelineStep, Results};
use crate::version::{ApiVersion, NamedIn};

/// The facts about a call that are logged and counted.
pub(super) struct LoggedOutcome {
    pub(super) code: &'static str,
    pub(super) status: StatusCode,
    /// The caller's address, where lines may show it.
    pub(super) address: Option<IpAddr>,
    /// The number of lines that were suppressed before this one; None when this one is suppressed, too.
    pub(super) left_out: Option<u64>,
}

/// The method, path and headers of a call.
#[derive(Clone, Copy)]
pub(super) struct RequestHead<'r> {
    pub(super) method: &'r Method,
    pub(super) path: &'r str,
    pub(super) query: &'r str,
    pub(super) headers: &'r HeaderMap,
    /// The address at the other end of the connection; the one in the header when that is a trusted proxy.
    pub(super) peer: Option<IpAddr>,
    pub(super) connection: Option<&'r Rc<OpenConnection>>,
}

/// The source of a call's body.
pub(super) enum Incoming<'i> {
    /// From the connection.
    Payload(&'i mut Payload),
    /// From a step of a pipeline with these arguments, which may refer to the results so far.
    Step(&'i PipelineStep, &'i Object, &'i Results),
}

/// A call in progress.
pub(super) struct Exchange<'r, C: AuthenticatedCaller> {
    pub(super) head: RequestHead<'r>,
    pub(super) entrance: &'r Entrance,
    pub(super) request_id: RequestId,
    /// The parsed path.
    pub(super) place: Option<ParsedPath<'r>>,
    /// The endpoint's name, or another name of our own, for the log and for metrics.
    pub(super) label: Cell<&'static str>,
    /// True when its answer reports a change.
    pub(super) changes_something: Cell<bool>,
    pub(super) version: Cell<ApiVersion>,
    /// The version that a step inherits from its pipeline when it names none itself.
    pub(super) version_of_pipeline: Option<ApiVersion>,
    pub(super) caller: RefCell<Option<C::LogName>>,
    /// The share of the owner of the valid key that the call, or a step of it, showed.
    pub(super) key_share: Cell<Option<ShareOf>>,
    pub(super) cross_origin: CrossOrigin,
    pub(super) log_subject: LogSubject,
    /// The form of a refusal; when absent, the `Accept` header decides.
    pub(super) form: Cell<Option<Form>>,
    /// The part of the answer that its listener decides, when the request is for a page.
    pub(super) page_frame: Cell<Option<PageFrame>>,
}

impl<'r> RequestHead<'r> {
    pub(super) fn of(request: &'r HttpRequest, entrance: &Entrance) -> RequestHead<'r> {
        let peer = request.peer_addr().map(|address| address.ip());
        let caller = |header: &ForwardedHeader| Some(header.caller(request.headers(), peer?));
        RequestHead {
            method: request.method(),
            path: request.path(),
            query: request.query_string(),
            headers: request.headers(),
            peer: entrance.forwarded.as_ref().map_or(peer, caller),
            connection: OpenConnection::of(request),
        }
    }
}

impl<'r, C: AuthenticatedCaller> Exchange<'r, C> {
    pub(super) fn new(head: RequestHead<'r>, entrance: &'r Entrance, request_id: RequestId) -> Exchange<'r, C> {
        Exchange {
            head,
            entrance,
            request_id,
            place: locate(head.path),
            label: Cell::new(UNKNOWN_PATH),
            changes_something: Cell::new(false),
            version: Cell::new(ApiVersion::NEWEST),
            version_of_pipeline: None,
            caller: RefCell::default(),
            key_share: Cell::default(),
            cross_origin: CrossOrigin::default(),
            log_subject: LogSubject::default(),
            form: Cell::new(None),
            page_frame: Cell::new(None),
        }
    }

    /// The version that the call names in its path, header and query.
    pub(super) fn agree_on_version(&self) -> Result<Option<ApiVersion>, ApiError> {
        let in_path = match self.place {
            Some(ParsedPath::Package { version, .. }) => version,
            Some(ParsedPath::Root | ParsedPath::Probe(_) | ParsedPath::OpenApi | ParsedPath::Pages(_)) | None => None,
        };
        // A header that is not text does not name a version.
        let in_headers = self.head.headers.get_all(&API_VERSION).map(|value| value.to_str().unwrap_or(""));
        let in_query: Vec<_> = url::form_urlencoded::parse(self.head.query.as_bytes())
            .filter(|(key, _)| key == "api_version")
            .map(|(_, value)| value)
            .collect();
        let in_path = in_path.into_iter().map(|name| (NamedIn::Path, name));
        let in_headers = in_headers.map(|name| (NamedIn::Header, name));
        let in_query = in_query.iter().map(|name| (NamedIn::Query, name.as_ref()));
        let named = ApiVersion::agreed(in_path.chain(in_headers).chain(in_query))?;
        let named = named.or(self.version_of_pipeline);
        self.version.set(named.unwrap_or(ApiVersion::NEWEST));
        Ok(named)
    }

    pub(super) async fn read_body(
        &self,
        incoming: &mut Incoming<'_>,
        budget: &MemoryBudget,
        declaration: &Declaration,
    ) -> Result<body::BodyBytes, ApiError> {
        match incoming {
            Incoming::Payload(payload) => {
                body::check_media_type(self.head.headers)?;
                body::read(self.head.headers, payload, budget, declaration).await
            }
            Incoming::Step(step, arguments, results) => {
                let mut bytes = body::BodyBytes::empty(budget, declaration);
                step.write_body(arguments, results, &mut bytes)?;
                Ok(bytes)
            }
        }
    }

    pub(super) fn context(
        &self,
        declaration: &'static Declaration,
        caller: Option<C>,
        origin: Option<String>,
    ) -> CallContext<C> {
        let headers = self.head.headers;
        let takes_key = declaration.flags.takes_idempotency_key;
        CallContext {
            declaration,
            caller,
            version: self.version.get(),
            idempotency_key: if takes_key { idempotency_key::read(headers) } else { Ok(None) },
            request_id: self.request_id.clone(),
            peer: self.head.peer,
            origin,
            has_origin: cross_origin::origin(headers).is_some(),
            cross_origin: self.cross_origin.clone(),
            log_subject: self.log_subject.clone(),
            is_of_page: false,
        }
    }

    pub(super) fn addressee(&self) -> Addressee<'_> {
        Addressee {
            headers: self.head.headers,
            request_id: &self.request_id,
            version: self.version.get(),
            may_read_cross_origin: self.may_be_read_by_its_page(),
            form: self.form.get(),
            page_frame: self.page_frame.get(),
        }
    }

    /// True for a call of the operator, who alone reaches these paths.
    pub(super) fn is_of_operator(&self) -> bool {
        matches!(self.place, Some(ParsedPath::Package { package: Package::Admin, .. }))
    }

    /// True when a page of the origin that the call names may read the answer.
    pub(super) fn may_be_read_by_its_page(&self) -> bool {
        cross_origin::origin(self.head.headers).is_some_and(|origin| self.cross_origin.allows(origin))
    }

    /// The page that made the call and cannot read the answer. A preflight is answered to every page.
    fn unread_page(&self) -> Option<Unread> {
        let is_call = *self.head.method == Method::POST && self.page_frame.get().is_none();
        is_call.then(|| Unread::of(self.head.headers, &self.cross_origin)).flatten()
    }

    /// Writes the log line of a call. Of the path it shows only names of our own, and nothing of the query and the
    /// body.
    pub(super) fn log(&self, logged: &LoggedOutcome, took: Duration, left_out: u64) {
        let LoggedOutcome { code, status, address, left_out: _ } = *logged;
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let method = known_method(self.head.method);
        let path = self.place.map_or(self.label.get(), |place| self.logged_path(place));
        let caller = self.caller.borrow();
        let caller = caller.as_ref().map(ToString::to_string);
        let caller = caller.as_deref();
        let (merchant_id, installation_id) = self.log_subject.texts();
        let (merchant_id, installation_id) = (merchant_id.as_deref(), installation_id.as_deref());
        let address = address.map(tracing::field::display);
        let left_out = (left_out > 0).then_some(left_out);
        let unread = self.unread_page();
        let note = unread.as_ref().map(|_| Unread::NOTE);
        let allowed_origin = unread.and_then(|page| page.allowed);
        let allowed_origin = allowed_origin.as_deref();
        let is_server_error = status.is_server_error();
        let status = status.as_u16();
        macro_rules! answered {
            ($level:ident) => {
                tracing::$level!(
                    method,
                    path,
                    status,
                    code,
                    ms,
                    caller,
                    merchant_id,
                    installation_id,
                    address,
                    left_out,
                    allowed_origin,
                    note,
                    "answered"
                )
            };
        }
        if is_server_error { answered!(warn) } else { answered!(info) }
    }

    /// The path, without its first segment when that is the caller's own text; the label when the path leads to
    /// nothing.
    fn logged_path(&self, place: ParsedPath<'_>) -> &str {
        let path = self.head.path;
        match place {
            _ if self.label.get() == UNKNOWN_PATH => UNKNOWN_PATH,
            ParsedPath::Package { version: Some(version), .. } => path.get(1 + version.len()..).unwrap_or(path),
            ParsedPath::Root
            | ParsedPath::Package { version: None, .. }
            | ParsedPath::Probe(_)
            | ParsedPath::OpenApi
            | ParsedPath::Pages(_) => path,
        }
    }
}

/// A method's name, when HTTP defines it: other names are the caller's own text.
fn known_method(method: &Method) -> &'static str {
    const KNOWN: [(&Method, &str); 8] = [
        (&Method::GET, "GET"),
        (&Method::HEAD, "HEAD"),
        (&Method::POST, "POST"),
        (&Method::PUT, "PUT"),
        (&Method::DELETE, "DELETE"),
        (&Method::PATCH, "PATCH"),
        (&Method::OPTIONS, "OPTIONS"),
        (&Method::TRACE, "TRACE"),
    ];
    KNOWN.iter().find(|(known, _)| *known == method).map_or("(other)", |(_, name)| name)
}

pub(super) fn header_text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
