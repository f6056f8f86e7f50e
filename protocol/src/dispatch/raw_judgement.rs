//! The order in which a request to a raw endpoint is judged: path, method, announced size, the endpoint by the head
//! alone, size, load, and then the endpoint by the body.

use actix_web::dev::Payload;
use actix_web::http::header::HeaderMap;

use super::answer::Answer;
use super::body;
use super::concurrency::Permit;
use super::dispatcher::Dispatcher;
use super::exchange::{Exchange, Incoming};
use super::hooks::{Arrival, AuthenticatedCaller};
use super::raw_endpoint::{JudgeBody, RawEndpoint};
use crate::api_error::ApiError;
use crate::connection::{ShareOf, announced_length};
use crate::declaration::{Declaration, Flags, Package};
use crate::request_thread::LARGE_BYTES;

/// Requests count against the limits like calls that read, of the address that sends them. A body may be as large as
/// that of a call.
static RAW: Declaration =
    Declaration { name: body::RAW_BODY, flags: Flags::OPEN_QUERY, ..Declaration::query(Package::Merchants, "") };

impl<C: AuthenticatedCaller> Dispatcher<C> {
    /// Checks a request to a raw endpoint, from its announced size on. Of large bodies, which anybody may send, few of
    /// one caller are read at once, and the refusal of one comes after a pause in which it counts among them.
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
        let share = self.gate.share_of(&Arrival { declaration: &RAW, caller: None, peer: exchange.head.peer });
        let is_small = (1..=LARGE_BYTES).contains(&announced_length(headers));
        let _permit = match &self.limits {
            Some(limits) if !is_small => limits.permit_raw_body(share).await?,
            Some(_) | None => Permit::unlimited(),
        };
        let judged = self.judged_body(payload, headers, share, judge).await;
        if judged.is_err() && !is_small {
            tokio::time::sleep(body::TOO_LARGE_PAUSE).await;
        }
        judged.map(|()| Answer::Json { json: true.to_string(), replayed: false })
    }

    /// Reads a body and judges it, a large one on the worker pool.
    async fn judged_body(
        &self,
        payload: &mut Payload,
        headers: &HeaderMap,
        share: ShareOf,
        judge: JudgeBody,
    ) -> Result<(), ApiError> {
        let bytes = body::read(headers, payload, &self.body_budget, &RAW).await?;
        if bytes.len() <= LARGE_BYTES {
            let _permit = self.permit(share, &RAW).await?;
            return judge(bytes.as_bytes());
        }
        let permit = self.pool.permit(share).await?;
        self.pool.run(permit, move || async move { judge(bytes.as_bytes()) }).await?
    }
}
