//! A call as an endpoint receives it, and its answer.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use serde::Serialize;
use till_domain::ids::{InstallationId, MerchantId};

use super::body::Body;
use super::concurrency::HeldPermit;
use super::cross_origin::CrossOrigin;
use super::log_subject::LogSubject;
use super::request_id::RequestId;
use crate::api_error::ApiError;
use crate::declaration::Declaration;
use crate::fault::Fault;
use crate::fields::Fields;
use crate::json::Object;
use crate::request_thread::{self, LARGE_BYTES};
use crate::version::ApiVersion;

/// An endpoint: a declaration, and the function that carries out its calls.
pub trait Function<C>: Send + Sync {
    /// The declaration.
    fn declaration(&self) -> &'static Declaration;

    /// Refuses a caller who may not call it, before the body is read.
    ///
    /// # Errors
    /// `FORBIDDEN`.
    fn judge(&self, _: &C) -> Result<(), ApiError> {
        Ok(())
    }

    /// Carries out a call. The future runs on the worker thread that took the request and must not block it.
    fn call(&self, call: Call<C>) -> LocalBoxFuture<'_, Result<Reply, ApiError>>;
}

/// One interface's functions by name.
pub(super) type Functions<C> = BTreeMap<&'static str, Arc<dyn Function<C>>>;

/// Makes an endpoint of a declaration, the state of its function, and the function.
///
/// ```ignore
/// endpoint(&CAPTURE_PAYMENT, merchants.clone(), capture_payment)
/// ```
pub fn endpoint<C, S, F, R>(declaration: &'static Declaration, state: S, function: F) -> Arc<dyn Function<C>>
where
    C: 'static,
    S: Clone + Send + Sync + 'static,
    F: Fn(S, Call<C>) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Reply, ApiError>> + 'static,
{
    Arc::new(DeclaredFunction { declaration, state, function })
}

struct DeclaredFunction<S, F> {
    declaration: &'static Declaration,
    state: S,
    function: F,
}

impl<C, S, F, R> Function<C> for DeclaredFunction<S, F>
where
    S: Clone + Send + Sync,
    F: Fn(S, Call<C>) -> R + Send + Sync,
    R: Future<Output = Result<Reply, ApiError>> + 'static,
{
    fn declaration(&self) -> &'static Declaration {
        self.declaration
    }

    fn call(&self, call: Call<C>) -> LocalBoxFuture<'_, Result<Reply, ApiError>> {
        (self.function)(self.state.clone(), call).boxed_local()
    }
}

/// A call that has passed every check before that of its arguments.
pub struct Call<C> {
    pub(super) context: CallContext<C>,
    pub(super) body: Body,
    pub(super) permit: HeldPermit,
}

/// A call without its arguments. It can be sent to another thread.
#[derive(Clone)]
pub(super) struct CallContext<C> {
    pub(super) declaration: &'static Declaration,
    pub(super) caller: Option<C>,
    pub(super) version: ApiVersion,
    pub(super) idempotency_key: Result<Option<String>, Fault>,
    pub(super) request_id: RequestId,
    pub(super) peer: Option<IpAddr>,
    /// The scheme and host of this server's pages; none of a call that changes something.
    pub(super) origin: Option<String>,
    pub(super) has_origin: bool,
    pub(super) cross_origin: CrossOrigin,
    pub(super) log_subject: LogSubject,
    /// True when a page of this server makes the call.
    pub(super) is_of_page: bool,
}

impl<C> Call<C> {
    /// The arguments, to be read according to the declaration. A malformed `Idempotency-Key` is reported among their
    /// faults.
    #[must_use]
    pub fn fields(&self) -> Fields<'_> {
        Fields::new(self.context.declaration, self.body.members())
            .with_header_fault(self.context.idempotency_key.clone().err())
    }

    /// The declaration of the called endpoint.
    #[must_use]
    pub fn declaration(&self) -> &'static Declaration {
        self.context.declaration
    }

    /// An address of the acquirer's, or of a page of this server that is recorded by its path, as the caller can follow
    /// it. The declaration says that the call answers addresses.
    #[must_use]
    pub fn absolute(&self, address: &str) -> String {
        debug_assert!(self.context.declaration.flags.answers_addresses, "{}", self.context.declaration.name);
        let origin = self.context.origin.as_deref().filter(|_| address.starts_with('/'));
        [origin.unwrap_or_default(), address].concat()
    }

    /// The body as received.
    #[must_use]
    pub fn body(&self) -> &Object {
        self.body.members()
    }

    /// The authenticated caller.
    ///
    /// # Panics
    /// When the endpoint's declaration asks for no key: such an endpoint has no authenticated caller.
    #[must_use]
    pub fn caller(&self) -> &C {
        self.context.caller.as_ref().expect("the declaration needs a key, so the dispatcher authenticated the caller")
    }

    /// The version that the request names, else the version that the caller's key is pinned to, else the newest.
    #[must_use]
    pub fn version(&self) -> ApiVersion {
        self.context.version
    }

    /// The idempotency key of the call. None when the caller gives none, or the endpoint takes none.
    ///
    /// # Errors
    /// `INVALID_ARGUMENTS` when it is malformed. [`Fields::finish`] has refused the call before that.
    pub fn idempotency_key(&self) -> Result<Option<&str>, ApiError> {
        match &self.context.idempotency_key {
            Ok(key) => Ok(key.as_deref()),
            Err(fault) => Err(ApiError::invalid_arguments(std::slice::from_ref(fault))),
        }
    }

    /// Gives back the permit under which the call runs, before it waits for somebody else.
    pub fn give_permit_back(&self) {
        self.permit.give_back();
    }

    /// The id in the answer and in every log line of the call.
    #[must_use]
    pub fn request_id(&self) -> &RequestId {
        &self.context.request_id
    }

    /// The caller's address: the other end of the connection, or the address in the header of a trusted proxy.
    #[must_use]
    pub fn peer(&self) -> Option<IpAddr> {
        self.context.peer
    }

    /// True when a page of this server makes the call: the request for the page was counted already.
    #[must_use]
    pub fn is_of_page(&self) -> bool {
        self.context.is_of_page
    }

    /// Makes the call's line in the log name the merchant, and the installation of a call of the client SDK.
    pub fn log_subject(&self, merchant_id: MerchantId, installation_id: Option<InstallationId>) {
        self.context.log_subject.set(merchant_id, installation_id);
    }

    /// Lets the page that made the call read its answer, success or refusal, when the page is of this origin.
    pub fn allow_only_origin(&self, origin: &str) {
        if self.context.has_origin {
            self.context.cross_origin.allow_only(origin);
        }
    }
}

/// A successful answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    json: String,
    replayed: bool,
}

impl Reply {
    /// The answer with this value as JSON.
    ///
    /// # Panics
    /// When the value has no JSON form, such as a map whose keys are not strings: a mistake in its type.
    #[must_use]
    pub fn new(value: &(impl Serialize + ?Sized)) -> Reply {
        Reply::from_json(serde_json::to_string(value).expect("an answer's type has a JSON form"))
    }

    /// An answer that is JSON text already, for example a stored one.
    #[must_use]
    pub fn from_json(json: String) -> Reply {
        Reply { json, replayed: false }
    }

    /// The answer with one page of a list. A list changes nothing, so a large page can be read again on the worker
    /// pool.
    ///
    /// # Errors
    /// [`ApiError::for_worker_pool`] when the page is large and this thread reads requests.
    pub fn list_page(page: &impl Serialize) -> Result<Reply, ApiError> {
        let mut json = Vec::with_capacity(4 * 1024);
        match serde_json::to_writer(Bounded(&mut json), page) {
            Ok(()) => String::from_utf8(json).map(Reply::from_json).map_err(|_| ApiError::unhandled()),
            Err(error) if error.is_io() => Err(ApiError::for_worker_pool()),
            Err(_) => Err(ApiError::unhandled()),
        }
    }

    /// Marks the answer as the stored answer of an earlier call with the same key.
    #[must_use]
    pub fn replayed(self, replayed: bool) -> Reply {
        Reply { replayed, ..self }
    }

    /// The JSON text.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.json
    }

    /// True when it is the stored answer of an earlier call.
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        self.replayed
    }

    pub(super) fn into_json(self) -> String {
        self.json
    }
}

/// The text of an answer while it is written. It refuses a text that is too large for a thread that reads requests.
struct Bounded<'t>(&'t mut Vec<u8>);

impl io::Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > LARGE_BYTES && request_thread::is_here() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
