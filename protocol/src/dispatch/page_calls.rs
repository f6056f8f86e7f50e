//! The calls that a page makes inside the process: of the same endpoints as other callers make.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use serde_json::Value;

use super::answer::Answer;
use super::body::BodyBytes;
use super::call::{CallContext, Function};
use super::checked_call::CheckedCall;
use super::concurrency::{HeldPermit, Permit};
use super::cross_origin::CrossOrigin;
use super::hooks::AuthenticatedCaller;
use super::log_subject::LogSubject;
use super::request_id::RequestId;
use super::worker_pool::WorkerPool;
use crate::api_error::ApiError;
use crate::connection::ShareOf;
use crate::declaration::{Declaration, Package};
use crate::fault::Fault;
use crate::memory_budget::MemoryBudget;
use crate::pipelining::Sink;
use crate::version::ApiVersion;

/// The functions that pages may call: those of the listener, and those that only pages call.
pub(super) type PageFunctions<C> = BTreeMap<(Package, &'static str), Arc<dyn Function<C>>>;

/// The calls of one request for a page. They run under the permit of the request, and are neither counted nor logged
/// beside it.
pub(super) struct PageCalls<C> {
    pub(super) functions: Arc<PageFunctions<C>>,
    pub(super) pool: WorkerPool,
    pub(super) budget: MemoryBudget,
    pub(super) share: ShareOf,
    pub(super) permit: HeldPermit,
    pub(super) request_id: RequestId,
    pub(super) peer: Option<IpAddr>,
    pub(super) log_subject: LogSubject,
}

impl<C: AuthenticatedCaller> PageCalls<C> {
    /// Makes a call, and answers its JSON. A look-up that takes long goes on in the worker pool, as for every caller.
    pub(super) async fn call(
        &self,
        declaration: &'static Declaration,
        caller: Option<C>,
        origin: &str,
        arguments: &Value,
        idempotency_key: Result<Option<String>, Fault>,
    ) -> Result<String, ApiError> {
        let function = self.functions.get(&(declaration.package, declaration.name)).ok_or_else(ApiError::unhandled)?;
        caller.as_ref().map_or(Ok(()), |caller| function.judge(caller))?;
        let mut bytes = BodyBytes::empty(&self.budget, declaration);
        bytes.push(&arguments.to_string())?;
        let context = CallContext { idempotency_key, ..self.context(declaration, caller, origin) };
        let call = CheckedCall { function: Arc::clone(function), context, bytes };
        let copy = (!declaration.flags.changes_something).then(|| call.copied());
        let answered = match (call.answer(self.permit.clone()).await, copy) {
            (Err(error), Some(copy)) if error.is_for_worker_pool() => self.on_worker_pool(copy).await?,
            (answered, _) => answered?,
        };
        let Answer::Json { json, .. } = answered else { return Err(ApiError::unhandled()) };
        Ok(json)
    }

    async fn on_worker_pool(&self, call: CheckedCall<C>) -> Result<Answer, ApiError> {
        let permit = self.pool.permit(self.share).await?;
        let answered = move || async move { call.answer(HeldPermit::new(permit)).await };
        self.pool.run(Permit::unlimited(), answered).await?
    }

    fn context(&self, declaration: &'static Declaration, caller: Option<C>, origin: &str) -> CallContext<C> {
        CallContext {
            declaration,
            caller,
            version: ApiVersion::NEWEST,
            idempotency_key: Ok(None),
            request_id: self.request_id.clone(),
            peer: self.peer,
            origin: declaration.flags.answers_addresses.then(|| origin.to_owned()),
            has_origin: false,
            cross_origin: CrossOrigin::default(),
            log_subject: self.log_subject.clone(),
            is_of_page: true,
        }
    }
}
