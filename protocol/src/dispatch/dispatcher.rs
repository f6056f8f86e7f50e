//! The order in which a request is checked: host, path, method, version, key, rate, media type, size, load, body, and
//! then the endpoint.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::http::header::HOST;
use actix_web::{HttpRequest, HttpResponse};
use futures_util::FutureExt;
use tracing::Instrument;

use super::answer::{Answer, X_REQUEST_ID};
use super::body::{self, Body};
use super::call::Functions;
use super::call_limits::CallLimits;
use super::cross_origin;
use super::documents::{DocumentScope, Documents};
use super::entrance::Entrance;
use super::exchange::{Exchange, Incoming, LoggedOutcome, RequestHead, header_text};
use super::hooks::{AdmissionGate, Arrival, Authenticate, AuthenticatedCaller, Observe};
use super::hosts::Hosts;
use super::large_answers::{self, in_slices};
use super::log_throttle::LogThrottle;
use super::page::BrowserPages;
use super::page_calls::PageFunctions;
use super::page_reply::{PageFrame, PageReply};
use super::path::{OPENAPI_PATH, ParsedPath, Probe, locate, texts_in};
use super::raw_endpoint::RawEndpoint;
use super::request_id::RequestId;
use super::table::DispatcherBuilder;
use super::target::Target;
use super::unknown_path::Served;
use super::worker_pool::WorkerPool;
use crate::api_error::{ApiError, CallEffect};
use crate::connection::OpenConnection;
use crate::count::Count;
use crate::declaration::PIPELINE;
use crate::declaration::{
    Declaration, DeliveryDeclaration, Flags, Package, Returns, openapi_document, package_document,
};
use crate::fields::Fields;
use crate::memory_budget::{Exhausted, MemoryBudget, Reservation};
use crate::pages::{self, Audience};
use crate::pipelining;
use crate::request_thread;
use crate::version::ApiVersion;

/// The media type of Prometheus' text format.
const METRICS_MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The advised delay before the next readiness check, in seconds.
const READY_RETRY_SECONDS: u32 = 1;

/// The advised delay before a retry when there was no memory for an answer, in seconds.
pub(super) const FULL_RETRY_SECONDS: u32 = 1;

/// The limit of log lines per second about refused calls, of those with a key and of those without: each repeats at the
/// rate of its caller.
const REFUSED_LINES_MAX: u32 = 20;

/// The first of the documentation pages: their links are relative to it.
const PAGES_FIRST: &str = "/docs/";

/// The pseudo-endpoint of `POST` to an interface itself, which answers its document.
static PACKAGE_ITSELF: Declaration = Declaration {
    name: "package",
    package: Package::Merchants,
    group: "documents",
    summary: "Describes the interface.",
    docs: "",
    arguments: &[],
    returns: Returns::Any("{}"),
    errors: &[],
    flags: Flags::OPEN_QUERY,
};

/// Serves the interfaces of one listener.
pub struct Dispatcher<C> {
    packages: BTreeMap<Package, Functions<C>>,
    pub(super) authenticate: Arc<dyn Authenticate<C>>,
    pub(super) gate: Arc<dyn AdmissionGate<C>>,
    pub(super) limits: Option<CallLimits>,
    pub(super) pool: WorkerPool,
    observe: Option<Arc<dyn Observe>>,
    counters: Arc<dyn Count>,
    public_url: Option<String>,
    hosts: Hosts,
    deliveries: &'static [&'static DeliveryDeclaration],
    pub(super) body_budget: MemoryBudget,
    pub(super) answer_budget: MemoryBudget,
    documents: Documents,
    overload_lines: LogThrottle,
    /// Lines of other refused calls, without a key and with one.
    refused_lines: [LogThrottle; 2],
    logs_addresses: bool,
    pub(super) pages: BrowserPages<C>,
    pub(super) page_functions: Arc<PageFunctions<C>>,
    raw_endpoints: Vec<Arc<dyn RawEndpoint>>,
}

impl<C: AuthenticatedCaller> DispatcherBuilder<C> {
    /// Builds the dispatcher.
    #[must_use]
    pub fn build(self) -> Dispatcher<C> {
        let page_functions = self.page_functions();
        Dispatcher {
            packages: self.packages,
            authenticate: self.authenticate,
            gate: self.gate,
            limits: self.limits,
            pool: self.pool.unwrap_or_else(|| WorkerPool::start(1, |_| {})),
            observe: self.observe,
            counters: self.counters,
            public_url: self.public_url,
            hosts: self.hosts,
            deliveries: self.deliveries,
            body_budget: body::budget(),
            answer_budget: large_answers::budget(),
            documents: Documents::default(),
            overload_lines: LogThrottle::of(1),
            refused_lines: [REFUSED_LINES_MAX; 2].map(LogThrottle::of),
            logs_addresses: self.logs_addresses,
            pages: self.pages,
            page_functions,
            raw_endpoints: self.raw_endpoints,
        }
    }
}

impl<C: AuthenticatedCaller> Dispatcher<C> {
    /// Starts a dispatcher that serves these interfaces.
    #[must_use]
    pub fn builder(packages: &[Package], authenticate: Arc<dyn Authenticate<C>>) -> DispatcherBuilder<C> {
        DispatcherBuilder::new(packages, authenticate)
    }

    /// The counters of the answers.
    pub(crate) fn counters(&self) -> Arc<dyn Count> {
        Arc::clone(&self.counters)
    }

    /// The interfaces of the listener.
    pub(super) fn packages(&self) -> impl Iterator<Item = Package> {
        self.packages.keys().copied()
    }

    /// The declarations of one interface, by name, and then its pipeline's.
    pub fn declarations(&self, package: Package) -> impl Iterator<Item = &'static Declaration> {
        let functions = self.packages.get(&package);
        let pipeline = functions.map(|_| pipelining::declaration(package));
        functions
            .into_iter()
            .flat_map(|functions| functions.values().map(|function| function.declaration()))
            .chain(pipeline)
    }

    /// Answers a request. Even when something panics, there is an answer, and a line in the log.
    pub async fn handle(&self, request: &HttpRequest, payload: Payload, entrance: &Entrance) -> HttpResponse {
        request_thread::mark();
        let work = OpenConnection::of(request).map(OpenConnection::begin);
        let payload = match &work {
            Some(work) => work.body(request, payload),
            None => payload,
        };
        let request_id = RequestId::from_header(header_text(request.headers(), &X_REQUEST_ID));
        let span = tracing::info_span!("request", request_id = %request_id);
        let exchange = Exchange::new(RequestHead::of(request, entrance), entrance, request_id);
        let response = self.answer(&exchange, payload).instrument(span).await;
        work.iter().for_each(|work| work.note_answer(response.status()));
        response
    }

    async fn answer(&self, exchange: &Exchange<'_, C>, mut payload: Payload) -> HttpResponse {
        let started = Instant::now();
        let (outcome, share) = self.judged(exchange, &mut Incoming::Payload(&mut payload)).await;
        if outcome.is_err() {
            body::discard(exchange.head.headers, &mut payload).await;
        }
        let outcome = self.compressed(exchange, outcome).await;
        let logged = self.logged_outcome(exchange, &outcome);
        let response = in_slices(exchange.addressee().respond(outcome), share);
        self.note(exchange, &logged, started.elapsed());
        response
    }

    /// Checks a call, carries it out, and reserves memory for its answer. Even when something panics, there is an
    /// outcome.
    pub(super) async fn judged(
        &self,
        exchange: &Exchange<'_, C>,
        incoming: &mut Incoming<'_>,
    ) -> (Result<Answer, ApiError>, Option<Reservation>) {
        let target = exchange.place.and_then(|place| self.target(place));
        let target = target.or_else(|| self.raw_target(exchange.head.path)).or_else(|| self.page_target(exchange));
        if let Some(target) = &target {
            exchange.label.set(target.label());
            exchange.changes_something.set(target.changes_something());
        }
        let judged = AssertUnwindSafe(self.judge(exchange, target, incoming)).catch_unwind().await;
        let mut outcome = judged.unwrap_or_else(|_| Err(ApiError::unhandled())); // The panic hook has logged the place.
        if exchange.is_of_operator() {
            outcome = outcome.map_err(ApiError::for_operator);
        }
        self.with_room(outcome, exchange.changes_something.get())
    }

    /// The facts about an outcome that are logged and counted.
    pub(super) fn logged_outcome(
        &self,
        exchange: &Exchange<'_, C>,
        outcome: &Result<Answer, ApiError>,
    ) -> LoggedOutcome {
        let status = exchange.addressee().status(outcome);
        let has_key = exchange.caller.borrow().is_some();
        let left_out = match outcome {
            Err(error) if error.is_overload() => self.overload_lines.turn(),
            _ if status.is_client_error() => self.refused_lines[usize::from(has_key)].turn(),
            Ok(_) | Err(_) => Some(0),
        };
        let code = match outcome {
            Ok(Answer::Page(PageReply { code: Some(code), .. })) => code.name(),
            Ok(_) => "OK",
            Err(error) => error.code().name(),
        };
        let address = exchange.head.peer.filter(|_| self.logs_addresses);
        LoggedOutcome { code, status, address, left_out }
    }

    /// Counts a call and writes its line in the log.
    pub(super) fn note(&self, exchange: &Exchange<'_, C>, logged: &LoggedOutcome, took: Duration) {
        if let Some(left_out) = logged.left_out {
            exchange.log(logged, took, left_out);
        }
        self.counters.count_answer(exchange.label.get(), logged.code, took);
    }

    /// Reserves memory for a large answer. Without memory it is refused, unless it reports a change.
    fn with_room(
        &self,
        outcome: Result<Answer, ApiError>,
        changes_something: bool,
    ) -> (Result<Answer, ApiError>, Option<Reservation>) {
        let bytes = match &outcome {
            Ok(Answer::Json { json, .. }) => json.len(),
            Ok(Answer::Compressed { bytes, .. }) => bytes.len(),
            Ok(_) | Err(_) => return (outcome, None),
        };
        match large_answers::reserve(&self.answer_budget, bytes, changes_something) {
            Ok(share) => (outcome, share),
            Err(Exhausted) => (Err(ApiError::overloaded(FULL_RETRY_SECONDS)), None),
        }
    }

    async fn judge(
        &self,
        exchange: &Exchange<'_, C>,
        target: Option<Target<'_, C>>,
        incoming: &mut Incoming<'_>,
    ) -> Result<Answer, ApiError> {
        if !self.hosts.answer(header_text(exchange.head.headers, &HOST)) {
            return Err(ApiError::foreign_host());
        }
        let target = target.ok_or_else(|| self.unknown_endpoint(exchange.head.path))?;
        if let Some(answer) = self.judge_method(exchange, &target)? {
            return Ok(answer);
        }
        match target {
            Target::Probe(probe, observe) => probe_answer(probe, observe.as_ref()),
            Target::Root => Ok(self.root_answer(exchange)),
            Target::OpenApi => {
                let _permit = self.permit_page(self.gate.share_of(&arrival_for_document(exchange)), false).await?;
                Ok(self.openapi_answer(exchange))
            }
            Target::Document(page) => {
                // The beginning of a large file is written in the turn of its answer.
                let _permit = self.permit_page(self.gate.share_of(&arrival_for_document(exchange)), false).await?;
                Ok(Answer::File(page))
            }
            Target::DocumentsMoved => Ok(Answer::Moved { to: PAGES_FIRST }),
            Target::BrowserPage(page, texts) => self.page(exchange, page, texts, incoming).await,
            Target::Asset(asset) => Ok(Answer::Page(asset)),
            Target::Raw(endpoint, texts) => self.raw(exchange, endpoint.as_ref(), &texts, incoming).await,
            Target::Package(package, functions) => {
                exchange.agree_on_version()?;
                self.package_answer(exchange, package, functions, incoming).await
            }
            Target::Pipeline(declaration) => {
                let named = exchange.agree_on_version()?;
                self.pipeline(exchange, named, declaration, incoming).boxed_local().await
            }
            Target::Function(function) => {
                let named = exchange.agree_on_version()?;
                self.call(exchange, named, function, incoming).await
            }
        }
    }

    /// The target of this path.
    pub(super) fn target_at(&self, path: &str) -> Option<Target<'_, C>> {
        locate(path).and_then(|place| self.target(place))
    }

    fn target(&self, place: ParsedPath<'_>) -> Option<Target<'_, C>> {
        match place {
            ParsedPath::Probe(probe) => self.observe.as_ref().map(|observe| Target::Probe(probe, observe)),
            ParsedPath::Root => Some(Target::Root),
            ParsedPath::OpenApi => Some(Target::OpenApi),
            ParsedPath::Pages(None) => Some(Target::DocumentsMoved),
            ParsedPath::Pages(Some(name)) => pages::page(name, self.audience()).map(Target::Document),
            ParsedPath::Package { package, function: None, .. } => {
                self.packages.get(&package).map(|functions| Target::Package(package, functions))
            }
            ParsedPath::Package { package, function: Some(PIPELINE), .. } => {
                self.packages.get(&package).map(|_| Target::Pipeline(pipelining::declaration(package)))
            }
            ParsedPath::Package { package, function: Some(name), .. } => {
                self.packages.get(&package)?.get(name).map(Target::Function)
            }
        }
    }

    fn raw_target(&self, path: &str) -> Option<Target<'_, C>> {
        let mut endpoints = self.raw_endpoints.iter();
        endpoints.find_map(|endpoint| Some(Target::Raw(endpoint, texts_in(path, endpoint.pattern())?)))
    }

    /// The page at the path of this request, when no endpoint is there. Slashes at its end are none of the page's. What
    /// is refused below the paths of pages is refused as a page.
    fn page_target(&self, exchange: &Exchange<'_, C>) -> Option<Target<'_, C>> {
        if !self.pages.begin_as(exchange.head.path) {
            return None;
        }
        let is_secure = self.origin(exchange).starts_with("https://");
        let has_session = self.pages.begins_as_of_session(exchange.head.path);
        exchange.page_frame.set(Some(PageFrame { refusal: self.pages.refusal, is_secure, has_session }));
        let path = exchange.head.path.trim_end_matches('/');
        let pages = &self.pages.pages;
        let page = || {
            pages.iter().find_map(|page| Some(Target::BrowserPage(page, texts_in(path, page.declaration().pattern)?)))
        };
        page().or_else(|| self.asset(path).map(Target::Asset))
    }

    /// The public address.
    pub(super) fn public_url(&self) -> Option<&str> {
        self.public_url.as_deref()
    }

    /// The host and port of the public address.
    pub(super) fn public_host(&self) -> Option<&str> {
        self.public_url.as_deref()?.split_once("://").map(|(_, host)| host)
    }

    /// The people for whom the pages of this listener are.
    fn audience(&self) -> Audience {
        if self.packages.contains_key(&Package::Admin) { Audience::Operators } else { Audience::Merchants }
    }

    pub(super) fn unknown_endpoint(&self, path: &str) -> ApiError {
        let packages = self.packages();
        let names = self.packages.iter().flat_map(|(package, named)| named.keys().map(|name| (*package, *name)));
        Served { packages: packages.collect(), functions: names.collect() }.refusal(path)
    }

    /// Refuses a method that the target does not take. Answers a browser's preflight.
    fn judge_method(&self, exchange: &Exchange<'_, C>, target: &Target<'_, C>) -> Result<Option<Answer>, ApiError> {
        let RequestHead { method, headers, .. } = exchange.head;
        let (allowed, allow) = target.methods();
        if allowed.contains(method) {
            return Ok(None);
        }
        let asks = method == Method::OPTIONS && target.is_for_pages() && cross_origin::is_preflight(headers);
        if asks { Ok(Some(Answer::Preflight)) } else { Err(ApiError::method_not_allowed(allow)) }
    }

    async fn package_answer(
        &self,
        exchange: &Exchange<'_, C>,
        package: Package,
        functions: &Functions<C>,
        incoming: &mut Incoming<'_>,
    ) -> Result<Answer, ApiError> {
        if exchange.head.method == Method::POST {
            let declaration = Declaration { package, ..PACKAGE_ITSELF };
            let bytes = exchange.read_body(incoming, &self.body_budget, &declaration).await?;
            let body = Body::parse(bytes, &PACKAGE_ITSELF)?;
            Fields::new(&PACKAGE_ITSELF, body.members()).finish(|| Some(()))?;
        }
        let _permit = self.permit_page(self.gate.share_of(&arrival_for_document(exchange)), false).await?;
        let base_url = self.base_url(exchange);
        let version = exchange.version.get();
        let subject = DocumentScope { package: Some(package), version };
        let json = self.documents.text(subject, &base_url, |base_url| {
            package_document(package, base_url, version, functions.values().map(|function| function.declaration()))
        });
        Ok(Answer::Json { json, replayed: false })
    }

    /// Answers `GET /`: a browser is redirected to the documentation pages, a program receives the addresses of the
    /// documents.
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

    /// Answers one OpenAPI document of everything that the listener serves.
    fn openapi_answer(&self, exchange: &Exchange<'_, C>) -> Answer {
        let subject = DocumentScope { package: None, version: ApiVersion::NEWEST };
        let json = self.documents.text(subject, &self.origin(exchange), |origin| {
            let declarations = self.packages.keys().flat_map(|package| self.declarations(*package));
            openapi_document(origin, subject.version, declarations, self.deliveries)
        });
        Answer::Json { json, replayed: false }
    }

    /// The address that the request was sent to, with a slash at its end, as far as the caller named it itself.
    fn base_url(&self, exchange: &Exchange<'_, C>) -> String {
        format!("{}{}/", self.origin(exchange), exchange.head.path.trim_end_matches('/'))
    }

    /// The scheme and host of that address.
    pub(super) fn origin(&self, exchange: &Exchange<'_, C>) -> String {
        self.public_url.clone().unwrap_or_else(|| host_address(exchange))
    }
}

fn probe_answer(probe: Probe, observe: &dyn Observe) -> Result<Answer, ApiError> {
    match probe {
        Probe::Metrics => Ok(Answer::Text { text: observe.metrics(), media_type: METRICS_MEDIA_TYPE }),
        Probe::Live => Ok(Answer::Json { json: "{\"status\":\"live\"}".to_owned(), replayed: false }),
        Probe::Ready => match observe.not_ready() {
            None => Ok(Answer::Json { json: ready_json(observe), replayed: false }),
            Some(reason) => {
                tracing::debug!(reason, "not ready");
                Err(ApiError::unavailable(CallEffect::NotDone, READY_RETRY_SECONDS))
            }
        },
    }
}

/// A server with damaged tables serves everything else: it stays ready, and names them.
fn ready_json(observe: &dyn Observe) -> String {
    let status = if observe.is_paused() { "paused" } else { "ready" };
    match observe.damaged_tables() {
        damaged if damaged.is_empty() => serde_json::json!({ "status": status }).to_string(),
        damaged => serde_json::json!({ "status": status, "damaged_tables": damaged }).to_string(),
    }
}

/// The arrival of a request for a document, which counts against the limits like a call: documents are made for each
/// request.
pub(super) fn arrival_for_document<C: AuthenticatedCaller>(exchange: &Exchange<'_, C>) -> Arrival<'static, C> {
    Arrival { declaration: &PACKAGE_ITSELF, caller: None, peer: exchange.head.peer }
}

/// The scheme and host that the request was sent to.
pub(super) fn host_address<C: AuthenticatedCaller>(exchange: &Exchange<'_, C>) -> String {
    let scheme = if exchange.entrance.is_secure { "https" } else { "http" };
    let host = header_text(exchange.head.headers, &HOST).filter(|host| !host.is_empty());
    format!("{scheme}://{}", host.unwrap_or(&exchange.entrance.host))
}
