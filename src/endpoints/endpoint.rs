//! An endpoint: its declaration and the function that carries out its calls, registered together.

use std::future::Future;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use till_domain::role::Act;
use till_protocol::api_error::ApiError;
use till_protocol::declaration::Declaration;
use till_protocol::dispatch::{Call, Function, Reply};

use crate::access::MerchantCaller;
use crate::service::Shared;

/// A declaration with the function that carries out its calls.
///
/// Each file of endpoints lists its own, and the folder lists the files:
///
/// ```ignore
/// pub(super) const ENDPOINTS: Endpoints<Operator> = &[
///     Endpoint(&SUSPEND_MERCHANT, &ByOperator(NAMED, |()| Command::SuspendMerchant)),
///     Endpoint(&FIND_MERCHANT, &find_merchant),
/// ];
/// ```
pub(super) struct Endpoint<C: 'static>(pub(super) &'static Declaration, pub(super) &'static dyn Handler<C>);

/// The endpoints of a file.
pub(super) type Endpoints<C> = &'static [Endpoint<C>];

/// An endpoint of `/merchants`, with what its callers do: those whose role does not allow it are refused.
pub(super) struct MerchantEndpoint(
    pub(super) Act,
    pub(super) &'static Declaration,
    pub(super) &'static dyn Handler<MerchantCaller>,
);

/// The endpoints of a file of `/merchants`.
pub(super) type MerchantEndpoints = &'static [MerchantEndpoint];

/// Carries out the calls of an endpoint: an `async` function of the service and the call, or a value that stands for
/// many such functions of one form.
pub(super) trait Handler<C>: Send + Sync {
    fn handle(&'static self, service: Shared, call: Call<C>) -> LocalBoxFuture<'static, Result<Reply, ApiError>>;
}

impl<C, F, R> Handler<C> for F
where
    F: Fn(Shared, Call<C>) -> R + Send + Sync,
    R: Future<Output = Result<Reply, ApiError>> + 'static,
{
    fn handle(&'static self, service: Shared, call: Call<C>) -> LocalBoxFuture<'static, Result<Reply, ApiError>> {
        self(service, call).boxed_local()
    }
}

/// The functions of several files of endpoints, with the service that they use.
pub(super) fn functions<C: 'static>(files: &[Endpoints<C>], service: &Shared) -> Vec<Arc<dyn Function<C>>> {
    let served = |endpoint: &'static Endpoint<C>| -> Arc<dyn Function<C>> {
        Arc::new(ServedEndpoint { endpoint, service: Arc::clone(service) })
    };
    files.iter().copied().flatten().map(served).collect()
}

/// The functions of several files of endpoints of `/merchants`.
pub(super) fn merchant_functions(
    files: &[MerchantEndpoints],
    service: &Shared,
) -> Vec<Arc<dyn Function<MerchantCaller>>> {
    let served = |endpoint: &'static MerchantEndpoint| -> Arc<dyn Function<MerchantCaller>> {
        Arc::new(ServedMerchantEndpoint { endpoint, service: Arc::clone(service) })
    };
    files.iter().copied().flatten().map(served).collect()
}

struct ServedEndpoint<C: 'static> {
    endpoint: &'static Endpoint<C>,
    service: Shared,
}

impl<C> Function<C> for ServedEndpoint<C> {
    fn declaration(&self) -> &'static Declaration {
        self.endpoint.0
    }

    fn call(&self, call: Call<C>) -> LocalBoxFuture<'_, Result<Reply, ApiError>> {
        self.endpoint.1.handle(Arc::clone(&self.service), call)
    }
}

struct ServedMerchantEndpoint {
    endpoint: &'static MerchantEndpoint,
    service: Shared,
}

impl Function<MerchantCaller> for ServedMerchantEndpoint {
    fn declaration(&self) -> &'static Declaration {
        self.endpoint.1
    }

    fn judge(&self, caller: &MerchantCaller) -> Result<(), ApiError> {
        caller.check(self.endpoint.0)
    }

    fn call(&self, call: Call<MerchantCaller>) -> LocalBoxFuture<'_, Result<Reply, ApiError>> {
        self.endpoint.2.handle(Arc::clone(&self.service), call)
    }
}
