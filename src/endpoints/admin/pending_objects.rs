//! The ends of refunds and payouts that the sandbox leaves pending.

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use till_actors::acquirer::NamedCall;
use till_domain::command::{Command, PendingObject};
use till_domain::ids::MerchantId;
use till_domain::refusal::Refusal;
use till_protocol::api_error::{CallEffect, RETRY_AFTER_SECONDS};
use till_sandbox::PendingEnd;

use super::about_merchant::{check_exists, submit};
use super::waiting::SandboxWait;
use crate::endpoints::endpoint::Handler;
use crate::endpoints::prelude::*;
use crate::service::{refused, reply_of};

/// Ends the object of the table `T` that a call names, and answers once that is recorded.
pub(super) struct EndPending<T: NamedKind> {
    pub(super) arguments: &'static ArgumentSet<(MerchantId, T::Name)>,
    pub(super) end: PendingEnd,
    pub(super) view: fn(&T::Row) -> PendingView,
}

/// The properties of a refund or payout on which its end depends.
pub(super) struct PendingView {
    /// The kind in messages.
    pub(super) noun: &'static str,
    pub(super) object: PendingObject,
    pub(super) reference: NamedCall,
    pub(super) status: &'static str,
    /// The recorded end; none while it is pending.
    pub(super) end: Option<PendingEnd>,
}

impl<T: NamedKind<Name: Clone> + 'static> Handler<Operator> for EndPending<T> {
    fn handle(
        &'static self,
        service: Shared,
        call: Call<Operator>,
    ) -> LocalBoxFuture<'static, Result<Reply, ApiError>> {
        async move { self.end(&service, &call).await }.boxed_local()
    }
}

impl<T: NamedKind<Name: Clone>> EndPending<T> {
    /// The order is kept first. A repeated call carries it out where a stop of the server prevented that.
    async fn end(&self, service: &Service, call: &Call<Operator>) -> Result<Reply, ApiError> {
        let (merchant_id, name) = call.fields().parse(self.arguments)?;
        check_exists(service, merchant_id)?;
        let view = async || -> Result<PendingView, ApiError> {
            Ok((self.view)(&T::find_row(&service.reader(merchant_id).await?, name.clone())?))
        };
        let ordered = submit(service, call, merchant_id, Command::OrderEnd(view().await?.object)).await?;
        let waiting = SandboxWait::begin();
        // The object may be so new that the sandbox has not received it yet.
        while let Some(pending) = view().await?.unless_ended(self.end)? {
            if pending.end_at_sandbox(service, merchant_id, self.end).await? {
                break;
            }
            waiting.until_next_poll(|| pending.not_at_sandbox()).await?;
        }
        let waiting = SandboxWait::begin();
        while view().await?.unless_ended(self.end)?.is_some() {
            waiting.until_next_poll(|| ApiError::unavailable(CallEffect::Unknown, RETRY_AFTER_SECONDS)).await?;
        }
        Ok(reply_of(ordered))
    }
}

impl PendingView {
    /// The object while it is pending; none once it has ended in this way.
    fn unless_ended(self, asked: PendingEnd) -> Result<Option<PendingView>, ApiError> {
        match self.end {
            None => Ok(Some(self)),
            Some(end) if end == asked => Ok(None),
            Some(_) => Err(refused(&Refusal::HasEnded { what: self.noun, status: self.status })),
        }
    }

    /// Ends the object at the sandbox; false when the sandbox has no pending one with its reference.
    async fn end_at_sandbox(
        &self,
        service: &Service,
        merchant_id: MerchantId,
        end: PendingEnd,
    ) -> Result<bool, ApiError> {
        service.sandbox().end_pending(merchant_id, self.reference, end).await.map_err(|error| {
            tracing::warn!(%error, "the sandbox did not end a {}", self.noun);
            ApiError::unavailable(CallEffect::Unknown, RETRY_AFTER_SECONDS).with_cause(error.to_string())
        })
    }

    fn not_at_sandbox(&self) -> ApiError {
        let message = format!("The sandbox has no such {} that waits to be ended.", self.noun);
        ApiError::new(Code::InvalidState, message)
    }
}
