//! The order in which a request to a raw endpoint is judged: path, method, announced size, the endpoint by the head
//! alone, size, load, and then the endpoint by the body.

use super::answer::Answer;
use super::body;
use super::dispatcher::Dispatcher;
use super::exchange::{Exchange, Incoming};
use super::hooks::{Arrival, AuthenticatedCaller};
use super::raw_endpoint::RawEndpoint;
use crate::api_error::ApiError;
use crate::declaration::{Declaration, Flags, Package};
use crate::request_thread::LARGE_BYTES;

/// Requests count against the limits like calls that read, of the address that sends them. A body may be as large as
/// that of a call.
static RAW: Declaration =
    Declaration { name: "raw-body", flags: Flags::OPEN_QUERY, ..Declaration::query(Package::Merchants, "") };

impl<C: AuthenticatedCaller> Dispatcher<C> {
    /// Checks a request to a raw endpoint, from its announced size on. A large body is judged on the worker pool.
    pub(super) async fn raw(
        &self,
        exchange: &Exchange<'_, C>,
        endpoint: &dyn RawEndpoint,
        texts: &[String],
        incoming: &mut Incoming<'_>,
    ) -> Result<Answer, ApiError> {
        let Incoming::Payload(payload) = incoming else { return Err(ApiError::unhandled()) };
        let headers = exchange.head.headers;
        body::refuse_announced(headers, &RAW).await?;
        let judge = endpoint.open(texts, headers)?;
        let bytes = body::read(headers, payload, &self.raw_budget, &RAW).await?;
        let share = self.gate.share_of(&Arrival { declaration: &RAW, caller: None, peer: exchange.head.peer });
        if bytes.len() > LARGE_BYTES {
            let permit = self.pool.permit(share).await?;
            self.pool.run(permit, move || async move { judge(bytes.as_bytes()) }).await??;
        } else {
            let _permit = self.permit(share, &RAW).await?;
            judge(bytes.as_bytes())?;
        }
        Ok(Answer::Json { json: true.to_string(), replayed: false })
    }
}
