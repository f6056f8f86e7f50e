//! `POST /admin/complete-payout`, `POST /admin/fail-payout`

use till_actors::acquirer::Reference;
use till_domain::command::{Command, PendingObject};
use till_domain::ids::{MerchantId, PayoutId};
use till_domain::payout::{Payout, PayoutStatus};
use till_domain::records::Payouts;
use till_domain::refusal::Refusal;
use till_sandbox::PendingEnd;

use super::about_merchant::{MERCHANT_ARGUMENT, check_exists, submit};
use super::waiting::SandboxWait;
use crate::endpoints::arguments::PAYOUT_ARGUMENT;
use crate::endpoints::prelude::*;
use crate::protocol::api_error::CallEffect;
use crate::service::{RETRY_AFTER_SECONDS, refused};

pub(super) const ENDPOINTS: Endpoints<Operator> =
    &[Endpoint(&COMPLETE_PAYOUT, &complete_payout), Endpoint(&FAIL_PAYOUT, &fail_payout)];

const ARGUMENTS: ArgumentSet<(MerchantId, IdOrExternalId<PayoutId>)> =
    arguments!({ merchant_id: MERCHANT_ARGUMENT, payout: PAYOUT_ARGUMENT } => (merchant_id, payout));

const ERRORS: &[DeclaredError] = &[
    DeclaredError::when(Code::NotFound, "No merchant has this id, or no payout of this merchant."),
    DeclaredError::when(
        Code::InvalidState,
        "The payout has ended: details name its `status`. Or the sandbox has no pending payout of this id.",
    )
    .with(r#"{"status": "SUCCESSFUL"}"#),
];

const DOCS: &str =
    "Plays the provider, for payouts of the sandbox: payouts of an amount that ends in 98 wait for this call.";

static COMPLETE_PAYOUT: Declaration = Declaration {
    name: "complete-payout",
    summary: "Has the sandbox pay a payout that is pending, and answers when that is recorded.",
    docs: DOCS,
    arguments: ARGUMENTS.declared,
    errors: ERRORS,
    ..Declaration::command(Package::Admin, "payouts")
};

static FAIL_PAYOUT: Declaration = Declaration {
    name: "fail-payout",
    summary: "Has the sandbox refuse a payout that is pending, and answers when that is recorded.",
    ..COMPLETE_PAYOUT
};

/// `POST /admin/complete-payout`
async fn complete_payout(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    end_payout(&service, &call, PendingEnd::Completed).await
}

/// `POST /admin/fail-payout`
async fn fail_payout(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    end_payout(&service, &call, PendingEnd::Failed).await
}

/// The order is kept first. A repeated call carries it out where a stop of the server prevented that.
async fn end_payout(service: &Service, call: &Call<Operator>, end: PendingEnd) -> Result<Reply, ApiError> {
    let (merchant_id, payout) = call.fields().parse(&ARGUMENTS)?;
    check_exists(service, merchant_id)?;
    let id = Payouts::found(&service.reader(merchant_id).await?, payout)?.id;
    let order = Command::OrderEnd(PendingObject::Payout(id));
    let ordered = submit(service, call, merchant_id, order).await?;
    has_ended(service, merchant_id, id, end).await?;
    Ok(ordered.into())
}

/// Returns once the payout has ended in this way and that is recorded.
async fn has_ended(service: &Service, merchant_id: MerchantId, id: PayoutId, end: PendingEnd) -> Result<(), ApiError> {
    let waiting = SandboxWait::begin();
    // The payout may be so new that the sandbox has not received it yet.
    while let Some(payout) = pending(service, merchant_id, id, end).await? {
        if end_at_sandbox(service, merchant_id, &payout, end).await? {
            break;
        }
        let not_there = "The sandbox has no such payout that waits to be ended.";
        waiting.until_next_poll(|| ApiError::new(Code::InvalidState, not_there)).await?;
    }
    let waiting = SandboxWait::begin();
    while pending(service, merchant_id, id, end).await?.is_some() {
        waiting.until_next_poll(|| ApiError::unavailable(CallEffect::Unknown, RETRY_AFTER_SECONDS)).await?;
    }
    Ok(())
}

/// Ends the payout at the sandbox; false when the sandbox has no pending one with its reference.
async fn end_at_sandbox(
    service: &Service,
    merchant_id: MerchantId,
    payout: &Payout,
    end: PendingEnd,
) -> Result<bool, ApiError> {
    let reference = Reference::of_payout(payout.id);
    service.sandbox.end_pending(merchant_id, reference, end).await.map_err(|error| {
        tracing::warn!(%error, "the sandbox did not end a payout");
        ApiError::unavailable(CallEffect::Unknown, RETRY_AFTER_SECONDS).because(error.to_string())
    })
}

/// The payout while it is pending; none once it has ended as asked.
async fn pending(
    service: &Service,
    merchant_id: MerchantId,
    id: PayoutId,
    end: PendingEnd,
) -> Result<Option<Payout>, ApiError> {
    let payout = Payouts::found(&service.reader(merchant_id).await?, IdOrExternalId::Own(id))?;
    match (payout.status, end) {
        (PayoutStatus::Pending, _) => Ok(Some(payout)),
        (PayoutStatus::Successful, PendingEnd::Completed) | (PayoutStatus::Failed, PendingEnd::Failed) => Ok(None),
        (status @ (PayoutStatus::Successful | PayoutStatus::Failed), _) => {
            Err(refused(&Refusal::HasEnded { what: "payout", status: status.name() }))
        }
    }
}
