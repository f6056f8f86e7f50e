//! The order in which a request is judged: host, path, method, version, key, rate, media type, size, whether there is too
//! much to do, body, and then the endpoint.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_http::Request;
use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::http::header::{HOST, HeaderMap, HeaderName};
use actix_web::{HttpMessage, HttpResponse};
use futures_util::FutureExt;
use tracing::Instrument;

use super::answer::{API_VERSION, Addressee, Answer, X_REQUEST_ID};
use super::body::{self, Body, BodyRoom};
use super::call::{Call, Function};
use super::connections::Connection;
use super::cross_origin::{self, CrossOrigin, Unread};
use super::documents::{Documents, Subject};
use super::hooks::{Arrival, Authenticate, Caller, Gate, Observe, Origins};
use super::hosts::Hosts;
use super::large_answers::{AnswerRoom, NoRoom, Share, in_slices};
use super::pace::Pace;
use super::path::{OPENAPI_PATH, PAGES_PATH, Place, Probe, ROOT_PATH, locate};
use super::request_id::RequestId;
use super::seldom_logged::SeldomLogged;
use super::table::{DispatcherBuilder, Functions};
use super::unknown_path::Served;
use super::{bearer, idempotency_key, tally};
use crate::protocol::api_error::{ApiError, Outcome};
use crate::protocol::declaration::{Declaration, Flags, Package, Returns, openapi_document, package_document};
use crate::protocol::fields::Fields;
use crate::protocol::swagger_ui::{self, Page};
use crate::protocol::version::{ApiVersion, NamedIn};

/// The media type of Prometheus' text form.
const METRICS_MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// When to ask again whether the server is ready, in seconds.
const READY_RETRY_SECONDS: u32 = 1;

/// When to ask again after there was no room for an answer, in seconds.
const FULL_RETRY_SECONDS: u32 = 1;

/// The first of the pages for people: their links are relative to it.
const PAGES_FIRST: &str = "/docs/";

/// How a path that names nothing stands in the log: whatever was typed there may be a secret.
pub(super) const UNKNOWN_PATH: &str = "(unknown)";

/// `POST` to an interface itself answers its document.
static PACKAGE_ITSELF: Declaration = Declaration {
    name: "package",
    package: Package::Merchants,
    group: "documents",
    summary: "Describes the interface.",
    docs: "",
    arguments: &[],
    returns: Returns::Any,
    errors: &[],
    flags: Flags::OPEN_QUERY,
};

/// Serves one listener's interfaces.
pub struct Dispatcher<C> {
    packages: BTreeMap<Package, Functions<C>>,
    authenticate: Arc<dyn Authenticate<C>>,
    gate: Arc<dyn Gate<C>>,
    origins: Arc<dyn Origins>,
    observe: Option<Arc<dyn Observe>>,
    public_url: Option<String>,
    hosts: Hosts,
    body_room: BodyRoom,
    answer_room: AnswerRoom,
    documents: Documents,
    refusals: SeldomLogged,
}

/// Where requests come in, for those that do not say which host they are for.
#[derive(Debug, Clone)]
pub struct Entrance {
    /// Whether it is behind TLS.
    pub is_secure: bool,
    /// Host and port.
    pub host: String,
}

/// What a path led to.
enum Target<'d, C> {
    Function(&'d Arc<dyn Function<C>>),
    Package(Package, &'d Functions<C>),
    Probe(Probe, &'d Arc<dyn Observe>),
    Root,
    OpenApi,
    Page(Page),
    PagesMoved,
}

/// One request on its way, with what has been learnt of it so far.
struct Exchange<'r, C: Caller> {
    request: &'r Request,
    entrance: &'r Entrance,
    request_id: RequestId,
    version: Cell<ApiVersion>,
    caller: RefCell<Option<C::LogName>>,
    cross_origin: CrossOrigin,
}

impl<C: Caller> Dispatcher<C> {
    /// Starts a dispatcher that serves these interfaces.
    #[must_use]
    pub fn builder(packages: &[Package], authenticate: Arc<dyn Authenticate<C>>) -> DispatcherBuilder<C> {
        DispatcherBuilder::new(packages, authenticate)
    }

    /// The room for large answers.
    #[cfg(test)]
    pub(super) const fn answer_room(&self) -> &AnswerRoom {
        &self.answer_room
    }

    pub(super) fn from_builder(builder: DispatcherBuilder<C>) -> Dispatcher<C> {
        let DispatcherBuilder { packages, authenticate, gate, origins, observe, public_url, hosts } = builder;
        let (body_room, answer_room) = (BodyRoom::default(), AnswerRoom::default());
        let (documents, refusals) = (Documents::default(), SeldomLogged::default());
        Dispatcher {
            packages,
            authenticate,
            gate,
            origins,
            observe,
            public_url,
            hosts,
            body_room,
            answer_room,
            documents,
            refusals,
        }
    }

    /// The declarations of one interface, by name.
    pub fn declarations(&self, package: Package) -> impl Iterator<Item = &'static Declaration> {
        self.packages
            .get(&package)
            .into_iter()
            .flat_map(|functions| functions.values().map(|function| function.declaration()))
    }

    /// Answers a request. Whatever happens inside, there is an answer, and a line in the log.
    pub async fn handle(&self, mut request: Request, entrance: &Entrance) -> HttpResponse {
        let payload = request.take_payload();
        let _busy = Connection::of(&request).map(Connection::begin);
        let working = Pace::of(&request).map(Pace::begin);
        let payload = match &working {
            Some(working) => working.body(&request, payload),
            None => payload,
        };
        let request_id = RequestId::from_header(header_text(request.headers(), &X_REQUEST_ID));
        let span = tracing::info_span!("request", request_id = %request_id);
        let exchange = Exchange::new(&request, entrance, request_id);
        self.answer(&exchange, payload).instrument(span).await
    }

    async fn answer(&self, exchange: &Exchange<'_, C>, mut payload: Payload) -> HttpResponse {
        let started = Instant::now();
        let place = locate(exchange.request.path());
        let target = place.and_then(|place| self.target(place));
        let label = target.as_ref().map_or(UNKNOWN_PATH, Target::label);
        let changes_something = target.as_ref().is_some_and(Target::changes_something);
        let judged = AssertUnwindSafe(self.judge(exchange, place, target, &mut payload)).catch_unwind().await;
        let outcome = judged.unwrap_or_else(|_| Err(ApiError::unhandled())); // The panic hook has logged where.
        if outcome.is_err() {
            body::discard(exchange.request.headers(), &mut payload).await;
        }
        let (outcome, share) = self.with_room(outcome, changes_something);
        let code = outcome.as_ref().map_or_else(|error| error.code().name(), |_| "OK");
        let logged = match &outcome {
            Err(error) if error.is_overload() => self.refusals.turn(),
            Ok(_) | Err(_) => Some(0),
        };
        let response = in_slices(exchange.addressee().respond(outcome), share);
        let took = started.elapsed();
        if let Some(left_out) = logged {
            exchange.log(label, place, code, &response, took, left_out);
        }
        tally::count(label, code, took);
        response
    }

    /// Takes room for a large answer. Without room it is refused, but never when it tells of a change.
    fn with_room(
        &self,
        outcome: Result<Answer, ApiError>,
        changes_something: bool,
    ) -> (Result<Answer, ApiError>, Option<Share>) {
        let Ok(Answer::Json { json, .. }) = &outcome else { return (outcome, None) };
        let room = match changes_something {
            true => Ok(self.answer_room.take_anyway(json.len())),
            false => self.answer_room.take(json.len()),
        };
        match room {
            Ok(share) => (outcome, share),
            Err(NoRoom) => (Err(ApiError::overloaded(FULL_RETRY_SECONDS)), None),
        }
    }

    async fn judge(
        &self,
        exchange: &Exchange<'_, C>,
        place: Option<Place<'_>>,
        target: Option<Target<'_, C>>,
        payload: &mut Payload,
    ) -> Result<Answer, ApiError> {
        if !self.hosts.answer(header_text(exchange.request.headers(), &HOST)) {
            return Err(ApiError::foreign_host());
        }
        let target = target.ok_or_else(|| self.unknown_endpoint(exchange.request.path()))?;
        if let Some(answer) = self.judge_method(exchange, &target)? {
            return Ok(answer);
        }
        match target {
            Target::Probe(probe, observe) => probe_answer(probe, observe.as_ref()),
            Target::Root => Ok(self.root_answer(exchange)),
            Target::OpenApi => {
                let _permit = self.gate.admit(&exchange.arrival_for_document()).await?;
                Ok(self.openapi_answer(exchange))
            }
            Target::Page(page) => Ok(Answer::File(page)),
            Target::PagesMoved => Ok(Answer::Moved { to: PAGES_FIRST }),
            Target::Package(package, functions) => {
                exchange.agree_on_version(place)?;
                self.package_answer(exchange, package, functions, payload).await
            }
            Target::Function(function) => {
                let named = exchange.agree_on_version(place)?;
                self.call(exchange, named, function, payload).await
            }
        }
    }

    fn target(&self, place: Place<'_>) -> Option<Target<'_, C>> {
        match place {
            Place::Probe(probe) => self.observe.as_ref().map(|observe| Target::Probe(probe, observe)),
            Place::Root => Some(Target::Root),
            Place::OpenApi => Some(Target::OpenApi),
            Place::Pages(None) => Some(Target::PagesMoved),
            Place::Pages(Some(name)) => swagger_ui::page(name).map(Target::Page),
            Place::Package { package, function: None, .. } => {
                self.packages.get(&package).map(|functions| Target::Package(package, functions))
            }
            Place::Package { package, function: Some(name), .. } => {
                self.packages.get(&package)?.get(name).map(Target::Function)
            }
        }
    }

    fn unknown_endpoint(&self, path: &str) -> ApiError {
        let packages = self.packages.keys().copied();
        let names = self.packages.iter().flat_map(|(package, named)| named.keys().map(|name| (*package, *name)));
        Served { packages: packages.collect(), functions: names.collect() }.refusal(path)
    }

    /// Refuses a method that the target does not take. A browser's preflight is answered here.
    fn judge_method(&self, exchange: &Exchange<'_, C>, target: &Target<'_, C>) -> Result<Option<Answer>, ApiError> {
        let method = exchange.request.method();
        let (allowed, allow): (&[Method], &'static str) = match target {
            Target::Root | Target::Probe(..) | Target::OpenApi | Target::Page(_) | Target::PagesMoved => {
                (&[Method::GET, Method::HEAD], "GET, HEAD")
            }
            Target::Package(..) => (&[Method::GET, Method::HEAD, Method::POST], "GET, HEAD, POST"),
            Target::Function(function) if function.declaration().package == Package::Sdk => {
                (&[Method::POST], "POST, OPTIONS")
            }
            Target::Function(_) => (&[Method::POST], "POST"),
        };
        if allowed.contains(method) {
            return Ok(None);
        }
        let origin = cross_origin::origin(exchange.request.headers());
        match (target, origin) {
            (Target::Function(function), Some(origin))
                if method == Method::OPTIONS
                    && function.declaration().package == Package::Sdk
                    && cross_origin::is_preflight(exchange.request.headers()) =>
            {
                Ok(Some(Answer::Preflight { allowed: self.origins.installation_allows(origin) }))
            }
            _ => Err(ApiError::method_not_allowed(allow)),
        }
    }

    async fn package_answer(
        &self,
        exchange: &Exchange<'_, C>,
        package: Package,
        functions: &Functions<C>,
        payload: &mut Payload,
    ) -> Result<Answer, ApiError> {
        if exchange.request.method() == Method::POST {
            let declaration = Declaration { package, ..PACKAGE_ITSELF };
            let bytes = exchange.read_body(payload, self.body_room.clone(), &declaration).await?;
            let body = Body::parse(bytes, &PACKAGE_ITSELF)?;
            Fields::new(&PACKAGE_ITSELF, body.members()).finish(|| Some(()))?;
        }
        let _permit = self.gate.admit(&exchange.arrival_for_document()).await?;
        let base_url = self.base_url(exchange);
        let version = exchange.version.get();
        let subject = Subject { package: Some(package), version };
        let json = self.documents.text(subject, &base_url, |base_url| {
            package_document(package, base_url, version, functions.values().map(|function| function.declaration()))
        });
        Ok(Answer::Json { json, replayed: false })
    }

    /// Where the documents are: a browser is taken to the pages, a program is told.
    fn root_answer(&self, exchange: &Exchange<'_, C>) -> Answer {
        if exchange.addressee().reads_pages() {
            return Answer::Moved { to: PAGES_FIRST };
        }
        let origin = self.origin(exchange);
        let packages: serde_json::Map<String, serde_json::Value> = self
            .packages
            .keys()
            .map(|package| (package.segment().to_owned(), format!("{origin}/{}", package.segment()).into()))
            .collect();
        let json = serde_json::json!({
            "name": "Till",
            "docs": format!("{origin}{PAGES_FIRST}"),
            "openapi": format!("{origin}{OPENAPI_PATH}"),
            "packages": packages,
        });
        Answer::Json { json: json.to_string(), replayed: false }
    }

    /// Everything that the listener serves, as one OpenAPI document.
    fn openapi_answer(&self, exchange: &Exchange<'_, C>) -> Answer {
        let subject = Subject { package: None, version: ApiVersion::NEWEST };
        let json = self.documents.text(subject, &self.origin(exchange), |origin| {
            let functions = self.packages.values().flat_map(|functions| functions.values());
            openapi_document(origin, subject.version, functions.map(|function| function.declaration()))
        });
        Answer::Json { json, replayed: false }
    }

    /// The address that the request was sent to, as far as the caller named it itself, with a slash behind it.
    fn base_url(&self, exchange: &Exchange<'_, C>) -> String {
        format!("{}{}/", self.origin(exchange), exchange.request.path().trim_end_matches('/'))
    }

    /// Scheme and host of that address.
    fn origin(&self, exchange: &Exchange<'_, C>) -> String {
        let host = header_text(exchange.request.headers(), &HOST).filter(|host| !host.is_empty());
        match &self.public_url {
            Some(public_url) => public_url.clone(),
            None => {
                let scheme = if exchange.entrance.is_secure { "https" } else { "http" };
                format!("{scheme}://{}", host.unwrap_or_else(|| &exchange.entrance.host))
            }
        }
    }

    async fn call(
        &self,
        exchange: &Exchange<'_, C>,
        named: Option<ApiVersion>,
        function: &Arc<dyn Function<C>>,
        payload: &mut Payload,
    ) -> Result<Answer, ApiError> {
        let declaration = function.declaration();
        let caller = if declaration.flags.needs_key { Some(self.authenticated(exchange, named).await?) } else { None };
        let arrival = Arrival { declaration, caller: caller.as_ref(), peer: exchange.peer() };
        self.gate.count(&arrival)?;
        let bytes = exchange.read_body(payload, self.body_room.clone(), declaration).await?;
        let permit = self.gate.admit(&arrival).await?;
        if declaration.flags.changes_something && self.answer_room.is_full() {
            return Err(ApiError::overloaded(FULL_RETRY_SECONDS)); // Its answer cannot be refused any more.
        }
        let body = Body::parse(bytes, declaration)?;
        let reply = function.call(exchange.call(declaration, caller, body)).await;
        drop(permit);
        let reply = reply?;
        let replayed = reply.is_replayed();
        Ok(Answer::Json { json: reply.into_json(), replayed })
    }

    async fn authenticated(&self, exchange: &Exchange<'_, C>, named: Option<ApiVersion>) -> Result<C, ApiError> {
        let token = bearer::token(exchange.request.headers());
        let token = token.map_err(|problem| self.authenticate.no_token(problem))?;
        let caller = self.authenticate.authenticate(token).await?;
        exchange.version.set(named.unwrap_or_else(|| caller.pinned_version()));
        exchange.caller.replace(Some(caller.log_name()));
        Ok(caller)
    }
}

fn probe_answer(probe: Probe, observe: &dyn Observe) -> Result<Answer, ApiError> {
    match probe {
        Probe::Metrics => Ok(Answer::Text { text: observe.metrics(), media_type: METRICS_MEDIA_TYPE }),
        Probe::Live => Ok(Answer::Json { json: "{\"status\":\"live\"}".to_owned(), replayed: false }),
        Probe::Ready => match observe.not_ready() {
            None if observe.is_paused() => {
                Ok(Answer::Json { json: "{\"status\":\"paused\"}".to_owned(), replayed: false })
            }
            None => Ok(Answer::Json { json: "{\"status\":\"ready\"}".to_owned(), replayed: false }),
            Some(reason) => {
                tracing::debug!(reason, "not ready");
                Err(ApiError::unavailable(Outcome::NotDone, READY_RETRY_SECONDS))
            }
        },
    }
}

impl<C> Target<'_, C> {
    /// The path as it stands in the log and in metrics: one of ours.
    fn label(&self) -> &'static str {
        match self {
            Target::Function(function) => function.declaration().name,
            Target::Package(package, _) => package.segment(),
            Target::Probe(probe, _) => probe.path(),
            Target::Root => ROOT_PATH,
            Target::OpenApi => OPENAPI_PATH,
            Target::Page(_) | Target::PagesMoved => PAGES_PATH,
        }
    }

    /// Whether an answer from it tells of a change.
    fn changes_something(&self) -> bool {
        matches!(self, Target::Function(function) if function.declaration().flags.changes_something)
    }
}

impl<'r, C: Caller> Exchange<'r, C> {
    fn new(request: &'r Request, entrance: &'r Entrance, request_id: RequestId) -> Exchange<'r, C> {
        let version = Cell::new(ApiVersion::NEWEST);
        let (caller, cross_origin) = (RefCell::default(), CrossOrigin::default());
        Exchange { request, entrance, request_id, version, caller, cross_origin }
    }

    /// Documents are made for each request, which is work like a call's.
    fn arrival_for_document(&self) -> Arrival<'static, C> {
        Arrival { declaration: &PACKAGE_ITSELF, caller: None, peer: self.peer() }
    }

    /// The version that the request names in its path, header and query.
    fn agree_on_version(&self, place: Option<Place<'_>>) -> Result<Option<ApiVersion>, ApiError> {
        let in_path = match place {
            Some(Place::Package { version, .. }) => version,
            Some(Place::Root | Place::Probe(_) | Place::OpenApi | Place::Pages(_)) | None => None,
        };
        // A header that is no text names no version either.
        let in_headers = self.request.headers().get_all(&API_VERSION).map(|value| value.to_str().unwrap_or(""));
        let query = self.request.uri().query().unwrap_or_default().as_bytes();
        let in_query: Vec<_> = url::form_urlencoded::parse(query)
            .filter(|(key, _)| key == "api_version")
            .map(|(_, value)| value)
            .collect();
        let in_path = in_path.into_iter().map(|name| (NamedIn::Path, name));
        let in_headers = in_headers.map(|name| (NamedIn::Header, name));
        let in_query = in_query.iter().map(|name| (NamedIn::Query, name.as_ref()));
        let named = ApiVersion::agreed(in_path.chain(in_headers).chain(in_query))?;
        self.version.set(named.unwrap_or(ApiVersion::NEWEST));
        Ok(named)
    }

    async fn read_body(
        &self,
        payload: &mut Payload,
        room: BodyRoom,
        declaration: &Declaration,
    ) -> Result<body::Bytes, ApiError> {
        body::check_media_type(self.request.headers())?;
        body::read(self.request.headers(), payload, room, declaration).await
    }

    fn call(&self, declaration: &'static Declaration, caller: Option<C>, body: Body) -> Call<C> {
        let headers = self.request.headers();
        let takes_key = declaration.flags.takes_idempotency_key;
        Call {
            declaration,
            caller,
            body,
            version: self.version.get(),
            idempotency_key: if takes_key { idempotency_key::read(headers) } else { Ok(None) },
            request_id: self.request_id.clone(),
            peer: self.peer(),
            has_origin: cross_origin::origin(headers).is_some(),
            cross_origin: self.cross_origin.clone(),
        }
    }

    /// The path less its first segment when that is the caller's own text.
    fn path_without_version(&self, place: Option<Place<'_>>) -> &str {
        let path = self.request.path();
        match place {
            Some(Place::Package { version: Some(version), .. }) => path.get(1 + version.len()..).unwrap_or(path),
            Some(
                Place::Root | Place::Package { version: None, .. } | Place::Probe(_) | Place::OpenApi | Place::Pages(_),
            )
            | None => path,
        }
    }

    fn peer(&self) -> Option<IpAddr> {
        self.request.peer_addr().map(|address| address.ip())
    }

    /// The page that made the call and cannot read the answer. A preflight is answered to every page.
    fn unread_page(&self) -> Option<Unread> {
        let is_call = *self.request.method() == Method::POST;
        is_call.then(|| Unread::of(self.request.headers(), &self.cross_origin)).flatten()
    }

    fn addressee(&self) -> Addressee<'_> {
        Addressee {
            headers: self.request.headers(),
            request_id: &self.request_id,
            version: self.version.get(),
            may_read_cross_origin: cross_origin::origin(self.request.headers())
                .is_some_and(|origin| self.cross_origin.allows(origin)),
        }
    }

    /// Writes the line that a request leaves in the log. Of the path it shows only what is ours; of the query and the
    /// body nothing.
    fn log(
        &self,
        label: &'static str,
        place: Option<Place<'_>>,
        code: &'static str,
        response: &HttpResponse,
        took: Duration,
        left_out: u64,
    ) {
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let status = response.status().as_u16();
        let method = known_method(self.request.method());
        let path = if label == UNKNOWN_PATH { UNKNOWN_PATH } else { self.path_without_version(place) };
        let caller = self.caller.borrow();
        let caller = || caller.as_ref().map(ToString::to_string);
        let left_out = (left_out > 0).then_some(left_out);
        let unread = self.unread_page();
        let note = unread.as_ref().map(|_| Unread::NOTE);
        let (origin, allowed_origin) = unread.map(|page| (page.origin, page.allowed)).unzip();
        let (origin, allowed_origin) = (origin.as_deref(), allowed_origin.flatten());
        let allowed_origin = allowed_origin.as_deref();
        let caller = caller();
        let caller = caller.as_deref();
        if response.status().is_server_error() {
            tracing::warn!(method, path, status, code, ms, caller, left_out, origin, allowed_origin, note, "answered");
        } else {
            tracing::info!(method, path, status, code, ms, caller, left_out, origin, allowed_origin, note, "answered");
        }
    }
}

/// A method's name, when it is one that HTTP defines: others are the caller's own text.
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

fn header_text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
