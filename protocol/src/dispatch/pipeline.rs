//! Runs pipelines: each step passes the same checks as a request of its own.

use std::time::Instant;

use actix_web::http::Method;
use futures_util::FutureExt;

use super::answer::Answer;
use super::body::{Body, BodyBytes};
use super::dispatcher::{Dispatcher, host_address};
use super::exchange::{Exchange, Incoming, RequestHead};
use super::hooks::{Arrival, AuthenticatedCaller};
use super::idempotency_key;
use super::path::{ParsedPath, locate};
use crate::api_error::ApiError;
use crate::declaration::{Declaration, PIPELINE, Package};
use crate::fault::{Fault, IDEMPOTENCY_KEY};
use crate::json::Object;
use crate::pipelining::{Address, PipelinePlan, PipelineStep, Results};
use crate::request_thread::LARGE_BYTES;
use crate::version::ApiVersion;

/// Pages of an origin may read a pipeline's answer when they may read the answer of every step.
#[derive(Default)]
struct Readers {
    steps: usize,
    granted: usize,
}

/// A pipeline that has arrived, and everything that is needed to read its steps on any thread.
struct UnreadPipeline {
    declaration: &'static Declaration,
    bytes: BodyBytes,
    address: Address,
    has_idempotency_key: bool,
    /// The interfaces of the listener, each of which has a pipeline.
    packages: Vec<Package>,
}

/// A pipeline whose steps are read, and the arguments that have their bodies.
struct PlannedPipeline {
    body: Body,
    plan: PipelinePlan,
}

impl UnreadPipeline {
    fn read(self) -> Result<PlannedPipeline, ApiError> {
        let body = Body::parse(self.bytes, self.declaration)?;
        let header_fault = self
            .has_idempotency_key
            .then(|| Fault::invalid(IDEMPOTENCY_KEY, "belongs to a step; send it in the headers of that step"));
        let is_pipeline = |path: &str| match locate(path) {
            Some(ParsedPath::Package { package, function: Some(PIPELINE), .. }) => self.packages.contains(&package),
            _ => false,
        };
        let plan = PipelinePlan::read(self.declaration, body.members(), header_fault, &self.address, is_pipeline)?;
        Ok(PlannedPipeline { body, plan })
    }
}

impl<C: AuthenticatedCaller> Dispatcher<C> {
    /// Answers a pipeline. It holds no permit of its own while its steps take theirs.
    pub(super) async fn pipeline(
        &self,
        exchange: &Exchange<'_, C>,
        named: Option<ApiVersion>,
        declaration: &'static Declaration,
        incoming: &mut Incoming<'_>,
    ) -> Result<Answer, ApiError> {
        if declaration.package == Package::Sdk {
            self.refuse_key_of_page(exchange.head.headers, &exchange.cross_origin).await?;
        }
        let PlannedPipeline { body, plan } = self.planned(exchange, declaration, incoming).await?;
        self.check_paths(&plan)?;
        let (mut results, mut readers) = (Results::default(), Readers::default());
        for step in &plan.steps {
            let step = (step, body.members());
            self.step(exchange, named, step, &mut results, &mut readers).boxed_local().await?;
        }
        Ok(Answer::Json { json: results.returned(&plan.returns), replayed: false })
    }

    /// Reads the steps, those of a large body on the worker pool. When there are too many calls at once, the pipeline
    /// is refused here, before any step has run.
    async fn planned(
        &self,
        exchange: &Exchange<'_, C>,
        declaration: &'static Declaration,
        incoming: &mut Incoming<'_>,
    ) -> Result<PlannedPipeline, ApiError> {
        let bytes = exchange.read_body(incoming, &self.body_budget, declaration).await?;
        let arrival = Arrival { declaration, caller: None, peer: exchange.head.peer };
        let share = self.gate.share_of(&arrival);
        let is_large = bytes.len() > LARGE_BYTES;
        let unread = UnreadPipeline {
            declaration,
            bytes,
            address: Address::new([self.origin(exchange).as_str(), host_address(exchange).as_str()]),
            has_idempotency_key: idempotency_key::is_given(exchange.head.headers),
            packages: self.packages().collect(),
        };
        if is_large {
            let permit = self.pool.permit(share).await?;
            return self.pool.run(permit, move || async move { unread.read() }).await?;
        }
        let _permit = self.permit(share, declaration).await?;
        unread.read()
    }

    /// Refuses a path that leads to nothing before the first step runs, though it is the refusal of a later step: the
    /// path cannot become valid in the meantime.
    fn check_paths(&self, plan: &PipelinePlan) -> Result<(), ApiError> {
        let mut paths = plan.steps.iter().map(|step| step.called.path.as_str());
        let unknown = paths.find(|path| self.target_at(path).is_none());
        unknown.map_or(Ok(()), |path| Err(self.unknown_endpoint(path)))
    }

    async fn step(
        &self,
        pipeline: &Exchange<'_, C>,
        named: Option<ApiVersion>,
        (step, arguments): (&PipelineStep, &Object),
        results: &mut Results,
        readers: &mut Readers,
    ) -> Result<(), ApiError> {
        let started = Instant::now();
        let headers = step.headers(pipeline.head.headers, results)?;
        if matches!(pipeline.place, Some(ParsedPath::Package { package: Package::Sdk, .. })) {
            self.refuse_key_of_page(&headers, &pipeline.cross_origin).await?;
        }
        let (path, query) = (step.called.path.as_str(), step.called.query.as_str());
        let head = RequestHead { method: &Method::POST, path, query, headers: &headers, ..pipeline.head };
        let exchange = Exchange::new(head, pipeline.entrance, pipeline.request_id.clone());
        let exchange = Exchange { version_of_pipeline: named, ..exchange };
        let (outcome, share) = self.judged(&exchange, &mut Incoming::Step(step, arguments, results)).await;
        self.note(&exchange, &self.logged_outcome(&exchange, &outcome), started.elapsed());
        readers.count(&exchange, pipeline);
        pipeline.key_share.set(exchange.key_share.get().or(pipeline.key_share.get()));
        let Ok(Answer::Json { json, .. }) = outcome else {
            pipeline.form.set(Some(exchange.addressee().form()));
            return Err(outcome.err().unwrap_or_else(ApiError::unhandled)); // A step is a POST, whose answer is JSON.
        };
        results.keep(json, share, exchange.changes_something.get())
    }
}

impl Readers {
    fn count<C: AuthenticatedCaller>(&mut self, step: &Exchange<'_, C>, pipeline: &Exchange<'_, C>) {
        self.steps += 1;
        self.granted += usize::from(step.may_be_read_by_its_page());
        let is_granted = self.granted == self.steps;
        pipeline.cross_origin.set(step.cross_origin.allowed().filter(|_| is_granted));
    }
}
