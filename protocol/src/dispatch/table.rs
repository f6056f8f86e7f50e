//! The table of endpoints, built once at start.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::call::{Call, Function, Functions, Reply, endpoint};
use super::call_limits::CallLimits;
use super::hooks::{AdmissionGate, Authenticate, AuthenticatedCaller, Observe, OpenGate};
use super::hosts::Hosts;
use super::page::BrowserPages;
use super::page_calls::PageFunctions;
use super::raw_endpoint::RawEndpoint;
use super::worker_pool::WorkerPool;
use crate::api_error::ApiError;
use crate::count::{Count, Uncounted};
use crate::declaration::{Declaration, DeliveryDeclaration, Flags, Package, Returns, Text, ValueType};
use crate::version::ApiVersion;

/// The name of a version: a date.
const VERSION: ValueType = ValueType::Text(Text { example: Some("2025-04-01"), ..Text::PLAIN });

/// The endpoint that answers the names of the API's versions.
static AVAILABLE_API_VERSIONS: Declaration = Declaration {
    name: "available-api-versions",
    package: Package::Merchants,
    group: "versions",
    summary: "Lists the versions of the API, oldest first.",
    docs: "Name one by URL prefix, by the header `Api-Version` or by the query `api_version`. A call that names none \
        gets the version that its key is pinned to.",
    arguments: &[],
    returns: Returns::Array(&VERSION),
    errors: &[],
    flags: Flags::OPEN_QUERY,
};

/// Collects the parts of a dispatcher.
pub struct DispatcherBuilder<C> {
    pub(super) packages: BTreeMap<Package, Functions<C>>,
    pub(super) authenticate: Arc<dyn Authenticate<C>>,
    pub(super) gate: Arc<dyn AdmissionGate<C>>,
    pub(super) limits: Option<CallLimits>,
    pub(super) pool: Option<WorkerPool>,
    pub(super) observe: Option<Arc<dyn Observe>>,
    pub(super) counters: Arc<dyn Count>,
    pub(super) public_url: Option<String>,
    pub(super) hosts: Hosts,
    pub(super) logs_addresses: bool,
    pub(super) deliveries: &'static [&'static DeliveryDeclaration],
    pub(super) pages: BrowserPages<C>,
    pub(super) raw_endpoints: Vec<Arc<dyn RawEndpoint>>,
}

impl<C: AuthenticatedCaller> DispatcherBuilder<C> {
    pub(super) fn new(packages: &[Package], authenticate: Arc<dyn Authenticate<C>>) -> DispatcherBuilder<C> {
        let packages: BTreeMap<Package, Functions<C>> =
            packages.iter().map(|package| (*package, Functions::new())).collect();
        let serves_merchants = packages.contains_key(&Package::Merchants);
        let builder = DispatcherBuilder {
            packages,
            authenticate,
            gate: Arc::new(OpenGate),
            limits: None,
            pool: None,
            observe: None,
            counters: Arc::new(Uncounted),
            public_url: None,
            hosts: Hosts::Any,
            logs_addresses: false,
            deliveries: &[],
            pages: BrowserPages::NONE,
            raw_endpoints: Vec::new(),
        };
        if serves_merchants {
            builder.function(endpoint(&AVAILABLE_API_VERSIONS, (), available_api_versions))
        } else {
            builder
        }
    }

    /// Adds an endpoint.
    ///
    /// # Panics
    /// When its declaration contradicts itself, its interface is not served here, or its name is taken: mistakes that
    /// the first start must reveal.
    #[must_use]
    pub fn function(mut self, function: Arc<dyn Function<C>>) -> DispatcherBuilder<C> {
        let declaration = function.declaration();
        check(declaration);
        let functions = self.packages.get_mut(&declaration.package);
        let functions =
            functions.unwrap_or_else(|| panic!("{}: its interface is not served by this dispatcher", declaration.name));
        let earlier = functions.insert(declaration.name, function);
        assert!(earlier.is_none(), "{} is registered twice", declaration.name);
        self
    }

    /// Adds several endpoints.
    ///
    /// # Panics
    /// Like [`DispatcherBuilder::function`].
    #[must_use]
    pub fn functions(self, functions: impl IntoIterator<Item = Arc<dyn Function<C>>>) -> DispatcherBuilder<C> {
        functions.into_iter().fold(self, DispatcherBuilder::function)
    }

    /// Limits the calls that run at once; no limit by default.
    #[must_use]
    pub fn limits(self, limits: CallLimits) -> DispatcherBuilder<C> {
        DispatcherBuilder { limits: Some(limits), ..self }
    }

    /// Sets the pool for large calls; a pool with one thread by default.
    #[must_use]
    pub fn pool(self, pool: WorkerPool) -> DispatcherBuilder<C> {
        DispatcherBuilder { pool: Some(pool), ..self }
    }

    /// Limits the rates of callers, and assigns calls to callers' shares.
    #[must_use]
    pub fn gate(self, gate: Arc<dyn AdmissionGate<C>>) -> DispatcherBuilder<C> {
        DispatcherBuilder { gate, ..self }
    }

    /// Serves `/metrics`, `/health/live` and `/health/ready` beside the endpoints.
    #[must_use]
    pub fn observe(self, observe: Arc<dyn Observe>) -> DispatcherBuilder<C> {
        DispatcherBuilder { observe: Some(observe), ..self }
    }

    /// Sets the counters of answers and connections; nothing is counted by default.
    #[must_use]
    pub fn counters(self, counters: Arc<dyn Count>) -> DispatcherBuilder<C> {
        DispatcherBuilder { counters, ..self }
    }

    /// The address under which callers reach the server, without a slash at its end, for documents and the addresses of
    /// pages. When None, documents and pages show the address that the request was sent to.
    #[must_use]
    pub fn public_url(self, public_url: Option<String>) -> DispatcherBuilder<C> {
        DispatcherBuilder { public_url, ..self }
    }

    /// Sets the hosts under which the listener answers; any by default.
    #[must_use]
    pub fn hosts(self, hosts: Hosts) -> DispatcherBuilder<C> {
        DispatcherBuilder { hosts, ..self }
    }

    /// Makes the log's lines of calls show the addresses of callers, which are personal data; they do not by default.
    #[must_use]
    pub fn logs_addresses(self, logs_addresses: bool) -> DispatcherBuilder<C> {
        DispatcherBuilder { logs_addresses, ..self }
    }

    /// The requests that the server makes itself, for the documents.
    #[must_use]
    pub fn deliveries(self, deliveries: &'static [&'static DeliveryDeclaration]) -> DispatcherBuilder<C> {
        DispatcherBuilder { deliveries, ..self }
    }

    /// Serves an endpoint that takes bodies in a form of their senders.
    #[must_use]
    pub fn raw_endpoint(mut self, endpoint: Arc<dyn RawEndpoint>) -> DispatcherBuilder<C> {
        self.raw_endpoints.push(endpoint);
        self
    }

    /// The functions that pages may call.
    pub(super) fn page_functions(&self) -> Arc<PageFunctions<C>> {
        let of_listener = self.packages.values().flat_map(Functions::values);
        let functions = of_listener.chain(&self.pages.functions);
        let named = |function: &Arc<dyn Function<C>>| (function.declaration().package, function.declaration().name);
        Arc::new(functions.map(|function| (named(function), Arc::clone(function))).collect())
    }

    /// Serves pages beside the endpoints, after these were added.
    ///
    /// # Panics
    /// Like [`DispatcherBuilder::function`].
    #[must_use]
    pub fn pages(self, pages: BrowserPages<C>) -> DispatcherBuilder<C> {
        for declaration in pages.functions.iter().map(|function| function.declaration()) {
            check(declaration);
            let is_taken = self.packages.get(&declaration.package).is_some_and(|of| of.contains_key(declaration.name));
            assert!(!is_taken, "{} is registered twice", declaration.name);
        }
        DispatcherBuilder { pages, ..self }
    }
}

async fn available_api_versions<C>((): (), call: Call<C>) -> Result<Reply, ApiError> {
    call.fields().finish(|| Some(Reply::new(&ApiVersion::names())))
}

/// Checks the properties that documents and parsing rely on.
fn check(declaration: &Declaration) {
    let name = declaration.name;
    let is_lower = |text: &str, joint: u8| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == joint)
    };
    assert!(is_lower(name, b'-'), "{name}: endpoints are named in kebab-case");
    for (position, argument) in declaration.arguments.iter().enumerate() {
        assert!(is_lower(argument.name, b'_'), "{name}: {} is not in snake_case", argument.name);
        assert!(declaration.position(argument.name) == Some(position), "{name}: {} is declared twice", argument.name);
    }
    let flags = declaration.flags;
    assert!(
        flags.changes_something || !flags.takes_idempotency_key,
        "{name}: a call that changes nothing needs no Idempotency-Key"
    );
}
