//! Calls of functions: their keys, their permits, and the threads that they run on.

use std::sync::Arc;

use super::answer::Answer;
use super::bearer;
use super::call::Function;
use super::checked_call::CheckedCall;
use super::concurrency::{HeldPermit, Permit, ShareOf};
use super::dispatcher::{Dispatcher, FULL_RETRY_SECONDS, arrival_for_document};
use super::encoding::{self, Coding};
use super::exchange::{Exchange, Incoming};
use super::hooks::{Arrival, AuthenticatedCaller};
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::Declaration;
use crate::protocol::request_thread::LARGE_BYTES;
use crate::protocol::version::ApiVersion;

impl<C: AuthenticatedCaller> Dispatcher<C> {
    /// Checks a call of a function, from its key on, and has it carried out.
    pub(super) async fn call(
        &self,
        exchange: &Exchange<'_, C>,
        named: Option<ApiVersion>,
        function: &Arc<dyn Function<C>>,
        incoming: &mut Incoming<'_>,
    ) -> Result<Answer, ApiError> {
        let declaration = function.declaration();
        let caller = if declaration.flags.needs_key { Some(self.authenticated(exchange, named).await?) } else { None };
        let arrival = Arrival { declaration, caller: caller.as_ref(), peer: exchange.head.peer };
        let share = self.gate.share_of(&arrival);
        if caller.is_some() {
            exchange.head.connection.inspect(|connection| connection.show_key(share));
        }
        self.gate.count(&arrival)?;
        let bytes = exchange.read_body(incoming, &self.body_budget, declaration).await?;
        let call =
            CheckedCall { function: Arc::clone(function), context: exchange.context(declaration, caller), bytes };
        if call.bytes.len() > LARGE_BYTES {
            return self.on_worker_pool(exchange, share, call).await;
        }
        let permit = HeldPermit::new(self.permit(share, declaration).await?);
        self.check_answer_room(declaration)?;
        let copy = (!declaration.flags.changes_something).then(|| call.copied());
        let answered = call.answer(permit.clone()).await;
        permit.give_back();
        match (answered, copy) {
            (Err(error), Some(call)) if error.is_for_worker_pool() => self.on_worker_pool(exchange, share, call).await,
            (answered, _) => answered,
        }
    }

    /// Runs a call on the worker pool: its body or its answer is large, or it reads for a long time.
    async fn on_worker_pool(
        &self,
        exchange: &Exchange<'_, C>,
        share: ShareOf,
        call: CheckedCall<C>,
    ) -> Result<Answer, ApiError> {
        let permit = self.pool.permit(share).await?;
        self.check_answer_room(call.context.declaration)?;
        let coding = encoding::choose(exchange.head.headers);
        let answered = self.pool.run(Permit::unlimited(), move || async move {
            let permit = HeldPermit::new(permit);
            let answer = match call.answer(permit.clone()).await? {
                Answer::Json { json, replayed } => Answer::encoded(json, replayed, coding),
                answer => answer,
            };
            permit.give_back();
            Ok(answer)
        });
        answered.await?
    }

    /// Refuses a call that changes something while the budget of unfetched answers is exhausted: its answer could not
    /// be refused any more.
    fn check_answer_room(&self, declaration: &Declaration) -> Result<(), ApiError> {
        let is_refused = declaration.flags.changes_something && self.answer_budget.is_exhausted();
        if is_refused { Err(ApiError::overloaded(FULL_RETRY_SECONDS)) } else { Ok(()) }
    }

    /// Takes a permit for a call to this endpoint that runs on this thread.
    pub(super) async fn permit(&self, share: ShareOf, declaration: &Declaration) -> Result<Permit, ApiError> {
        match &self.limits {
            Some(limits) if declaration.flags.changes_something => limits.permit_change(share).await,
            Some(limits) => limits.permit_read(share).await,
            None => Ok(Permit::unlimited()),
        }
    }

    async fn authenticated(&self, exchange: &Exchange<'_, C>, named: Option<ApiVersion>) -> Result<C, ApiError> {
        let token = bearer::token(exchange.head.headers);
        let token = token.map_err(|problem| self.authenticate.no_token(problem))?;
        let caller = self.authenticate.authenticate(token).await?;
        exchange.version.set(named.unwrap_or_else(|| caller.pinned_version()));
        exchange.caller.replace(Some(caller.log_name()));
        Ok(caller)
    }

    /// Compresses a large document for a caller that asks for it. When the worker pool is busy, the document is sent
    /// uncompressed.
    pub(super) async fn compressed(
        &self,
        exchange: &Exchange<'_, C>,
        outcome: Result<Answer, ApiError>,
    ) -> Result<Answer, ApiError> {
        let coding = match &outcome {
            Ok(Answer::Json { json, .. }) if json.len() > LARGE_BYTES => encoding::choose(exchange.head.headers),
            Ok(_) | Err(_) => return outcome,
        };
        let (Coding::Gzip | Coding::Zstd, Ok(Answer::Json { json, replayed })) = (coding, &outcome) else {
            return outcome;
        };
        let share = self.gate.share_of(&arrival_for_document(exchange));
        let Ok(permit) = self.pool.permit(share).await else { return outcome };
        let (text, replayed) = (json.clone(), *replayed);
        self.pool.run(permit, move || async move { Answer::encoded(text, replayed, coding) }).await
    }
}
