//! `POST /admin/complete-refund`, `POST /admin/fail-refund`

use till_actors::acquirer::{PaymentStep, Reference};
use till_domain::command::{Command, PendingObject};
use till_domain::ids::{MerchantId, RefundId};
use till_domain::records::Refunds;
use till_domain::refund::{Refund, RefundStatus};
use till_domain::refusal::Refusal;
use till_sandbox::PendingEnd;

use super::about_merchant::{MERCHANT_ARGUMENT, check_exists, submit};
use super::waiting::SandboxWait;
use crate::endpoints::arguments::REFUND_ARGUMENT;
use crate::endpoints::prelude::*;
use crate::protocol::api_error::CallEffect;
use crate::service::{RETRY_AFTER_SECONDS, refused};

pub(super) const ENDPOINTS: Endpoints<Operator> =
    &[Endpoint(&COMPLETE_REFUND, &complete_refund), Endpoint(&FAIL_REFUND, &fail_refund)];

const ARGUMENTS: ArgumentSet<(MerchantId, IdOrExternalId<RefundId>)> =
    arguments!({ merchant_id: MERCHANT_ARGUMENT, refund: REFUND_ARGUMENT } => (merchant_id, refund));

const ERRORS: &[DeclaredError] = &[
    DeclaredError::when(Code::NotFound, "No merchant has this id, or no refund of this merchant."),
    DeclaredError::when(
        Code::InvalidState,
        "The refund has ended: details name its `status`. Or the sandbox has no pending refund of this id.",
    )
    .with(r#"{"status": "SUCCESSFUL"}"#),
];

const DOCS: &str =
    "Plays the provider, for payments of the sandbox: refunds to the card 4000000000007726 wait for this call.";

static COMPLETE_REFUND: Declaration = Declaration {
    name: "complete-refund",
    summary: "Has the sandbox pay a refund that is pending, and answers when that is recorded.",
    docs: DOCS,
    arguments: ARGUMENTS.declared,
    errors: ERRORS,
    ..Declaration::command(Package::Admin, "refunds")
};

static FAIL_REFUND: Declaration = Declaration {
    name: "fail-refund",
    summary: "Has the sandbox refuse a refund that is pending, and answers when that is recorded.",
    ..COMPLETE_REFUND
};

/// `POST /admin/complete-refund`
async fn complete_refund(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    end_refund(&service, &call, PendingEnd::Completed).await
}

/// `POST /admin/fail-refund`
async fn fail_refund(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    end_refund(&service, &call, PendingEnd::Failed).await
}

/// The order is kept first. A repeated call carries it out where a stop of the server prevented that.
async fn end_refund(service: &Service, call: &Call<Operator>, end: PendingEnd) -> Result<Reply, ApiError> {
    let (merchant_id, refund) = call.fields().parse(&ARGUMENTS)?;
    check_exists(service, merchant_id)?;
    let id = Refunds::found(&service.reader(merchant_id).await?, refund)?.id;
    let order = Command::OrderEnd(PendingObject::Refund(id));
    let ordered = submit(service, call, merchant_id, order).await?;
    has_ended(service, merchant_id, id, end).await?;
    Ok(ordered.into())
}

/// Returns once the refund has ended in this way and that is recorded.
async fn has_ended(service: &Service, merchant_id: MerchantId, id: RefundId, end: PendingEnd) -> Result<(), ApiError> {
    let waiting = SandboxWait::begin();
    // The refund may be so new that the sandbox has not received it yet.
    while let Some(refund) = pending(service, merchant_id, id, end).await? {
        if end_at_sandbox(service, merchant_id, &refund, end).await? {
            break;
        }
        let not_there = "The sandbox has no such refund that waits to be ended.";
        waiting.until_next_poll(|| ApiError::new(Code::InvalidState, not_there)).await?;
    }
    let waiting = SandboxWait::begin();
    while pending(service, merchant_id, id, end).await?.is_some() {
        waiting.until_next_poll(|| ApiError::unavailable(CallEffect::Unknown, RETRY_AFTER_SECONDS)).await?;
    }
    Ok(())
}

/// Ends the refund at the sandbox; false when the sandbox has no pending one with its reference.
async fn end_at_sandbox(
    service: &Service,
    merchant_id: MerchantId,
    refund: &Refund,
    end: PendingEnd,
) -> Result<bool, ApiError> {
    let reference = Reference::new(refund.payment_id, PaymentStep::Refund(refund.id));
    service.sandbox.end_pending(merchant_id, reference, end).await.map_err(|error| {
        tracing::warn!(%error, "the sandbox did not end a refund");
        ApiError::unavailable(CallEffect::Unknown, RETRY_AFTER_SECONDS).because(error.to_string())
    })
}

/// The refund while it is pending; none once it has ended as asked.
async fn pending(
    service: &Service,
    merchant_id: MerchantId,
    id: RefundId,
    end: PendingEnd,
) -> Result<Option<Refund>, ApiError> {
    let refund = Refunds::found(&service.reader(merchant_id).await?, IdOrExternalId::Own(id))?;
    match (refund.status, end) {
        (RefundStatus::Pending, _) => Ok(Some(refund)),
        (RefundStatus::Successful, PendingEnd::Completed) | (RefundStatus::Failed, PendingEnd::Failed) => Ok(None),
        (status @ (RefundStatus::Successful | RefundStatus::Failed), _) => {
            Err(refused(&Refusal::HasEnded { what: "refund", status: status.name() }))
        }
    }
}
