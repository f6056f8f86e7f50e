//! Calls of functions: their keys, their permits, and the threads that they run on.

use std::sync::Arc;

use actix_web::http::header::{AUTHORIZATION, HeaderMap};

use super::answer::Answer;
use super::bearer;
use super::call::Function;
use super::checked_call::CheckedCall;
use super::concurrency::{HeldPermit, Permit};
use super::cross_origin::{self, CrossOrigin};
use super::dispatcher::{Dispatcher, FULL_RETRY_SECONDS, arrival_for_document};
use super::encoding::{self, Coding};
use super::exchange::{Exchange, Incoming};
use super::hooks::{Arrival, AuthenticatedCaller};
use crate::api_error::{ApiError, Code};
use crate::connection::ShareOf;
use crate::declaration::{Declaration, Package};
use crate::request_thread::LARGE_BYTES;
use crate::version::ApiVersion;

/// The beginning of every secret API key.
const SECRET_KEY_PREFIX: &str = "sk_";

/// The refusal of a secret API key that a page sends.
const KEY_OF_PAGE: &str = "The header Authorization has a secret API key, and the header Origin says that a web page \
    made the call. Everybody who opens the page can read the key: revoke it with revoke-key, and leave the header \
    out, since /sdk needs none.";

impl<C: AuthenticatedCaller> Dispatcher<C> {
    /// Checks a call of a function, from its key on, and calls the function.
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
            exchange.key_share.set(Some(share));
            exchange.head.connection.inspect(|connection| connection.show_key(share));
        }
        self.gate.count(&arrival)?;
        caller.as_ref().map_or(Ok(()), |caller| function.judge(caller))?;
        if declaration.package == Package::Sdk && matches!(incoming, Incoming::Payload(_)) {
            self.refuse_key_of_page(exchange.head.headers, &exchange.cross_origin).await?;
        }
        let bytes = exchange.read_body(incoming, &self.body_budget, declaration).await?;
        let origin = declaration.flags.answers_addresses.then(|| self.origin(exchange));
        let context = exchange.context(declaration, caller, origin);
        let call = CheckedCall { function: Arc::clone(function), context, bytes };
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

    /// Refuses a call of the SDK that a page made and that shows a secret key: whoever opens the page can read the key,
    /// which is named in the log, so that it can be revoked. A shop's own server may send one: it sends no `Origin`.
    pub(super) async fn refuse_key_of_page(
        &self,
        headers: &HeaderMap,
        cross_origin: &CrossOrigin,
    ) -> Result<(), ApiError> {
        let words =
            headers.get_all(AUTHORIZATION).filter_map(|value| value.to_str().ok()).flat_map(str::split_whitespace);
        let key = words.into_iter().find(|word| word.starts_with(SECRET_KEY_PREFIX));
        let (Some(origin), Some(token)) = (cross_origin::origin(headers), key) else { return Ok(()) };
        // Only a key that exists is worth a line: anybody can send others without an end.
        if let Ok(caller) = self.authenticate.authenticate(token).await {
            let key_id = caller.log_name().to_string();
            tracing::warn!(key_id, "a page sent a secret API key: everybody who opens the page can read it");
        }
        cross_origin.allow_only(origin); // The refusal is for the eyes of whoever wrote the page.
        Err(ApiError::new(Code::Forbidden, KEY_OF_PAGE))
    }

    /// Compresses a large document for a caller that asks for it, in the share of the key that it showed. When the
    /// worker pool is busy, the document is sent uncompressed.
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
        let share = exchange.key_share.get();
        let share = share.unwrap_or_else(|| self.gate.share_of(&arrival_for_document(exchange)));
        let Ok(permit) = self.pool.permit(share).await else { return outcome };
        let (text, replayed) = (json.clone(), *replayed);
        self.pool.run(permit, move || async move { Answer::encoded(text, replayed, coding) }).await
    }
}
