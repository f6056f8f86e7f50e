//! `POST /admin/complete-payout`, `POST /admin/fail-payout`

use serde_json::json;
use till_actors::acquirer::Reference;
use till_domain::ids::{MerchantId, PayoutId};
use till_domain::payout::{Payout, PayoutStatus};
use till_domain::records::{Payouts, Rows};
use till_sandbox::PendingEnd;

use super::about_merchant::{MERCHANT_ARGUMENT, merchant_argument};
use super::merchants::check_exists;
use super::waiting::SandboxWait;
use crate::access::Operator;
use crate::endpoints::arguments;
use crate::protocol::api_error::{ApiError, CallEffect, Code};
use crate::protocol::declaration::{Argument, Declaration, DeclaredError, Flags, Package, Returns, ValueType};
use crate::protocol::dispatch::{Call, Reply};
use crate::service::{RETRY_AFTER_SECONDS, Service, Shared};

const ARGUMENTS: &[Argument] =
    &[MERCHANT_ARGUMENT, Argument::required("payout_id", ValueType::Id(PayoutId::PREFIX), "The payout (`pyo_...`).")];

const ERRORS: &[DeclaredError] = &[
    DeclaredError::when(Code::NotFound, "No merchant has this id, or no payout of this merchant."),
    DeclaredError::when(
        Code::InvalidState,
        "The payout has ended: details name its `status`. Or the sandbox has no pending payout of this id.",
    ),
];

const DOCS: &str = "Plays the provider, for payouts of the sandbox: payouts of an amount that ends in 98 wait for this call. It takes no `Idempotency-Key`: a payout ends once, and a repeated call is refused with its status.";

pub(super) static COMPLETE_PAYOUT: Declaration = Declaration {
    name: "complete-payout",
    package: Package::Admin,
    group: "payouts",
    summary: "Has the sandbox pay a payout that is pending, and answers when that is recorded.",
    docs: DOCS,
    arguments: ARGUMENTS,
    returns: Returns::Boolean,
    errors: ERRORS,
    flags: Flags { takes_idempotency_key: false, ..Flags::COMMAND },
};

pub(super) static FAIL_PAYOUT: Declaration = Declaration {
    name: "fail-payout",
    summary: "Has the sandbox refuse a payout that is pending, and answers when that is recorded.",
    ..COMPLETE_PAYOUT
};

/// `POST /admin/complete-payout`
pub(super) async fn complete_payout(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    end_payout(&service, &call, PendingEnd::Completed).await
}

/// `POST /admin/fail-payout`
pub(super) async fn fail_payout(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    end_payout(&service, &call, PendingEnd::Failed).await
}

async fn end_payout(service: &Service, call: &Call<Operator>, end: PendingEnd) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let payout_id = fields.required("payout_id", arguments::id("a payout id (pyo_...)"));
    let (merchant_id, payout_id) = fields.finish(|| Some((merchant_id?, payout_id?)))?;
    check_exists(service, merchant_id)?;
    let waiting = SandboxWait::begin();
    // The payout may be so new that the sandbox has not received it yet.
    while !end_at_sandbox(service, merchant_id, &pending(service, merchant_id, payout_id).await?, end).await? {
        let not_there = "The sandbox has no such payout that waits to be ended.";
        waiting.until_next_poll(|| ApiError::new(Code::InvalidState, not_there)).await?;
    }
    let waiting = SandboxWait::begin();
    while payout(service, merchant_id, payout_id).await?.status == PayoutStatus::Pending {
        waiting.until_next_poll(|| ApiError::unavailable(CallEffect::Unknown, RETRY_AFTER_SECONDS)).await?;
    }
    Ok(Reply::new(&true))
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
        ApiError::unavailable(CallEffect::Unknown, RETRY_AFTER_SECONDS)
    })
}

async fn pending(service: &Service, merchant_id: MerchantId, payout_id: PayoutId) -> Result<Payout, ApiError> {
    let payout = payout(service, merchant_id, payout_id).await?;
    if payout.status == PayoutStatus::Pending {
        return Ok(payout);
    }
    let status = payout.status.name();
    let message = format!("The payout has ended already: it is {status}.");
    Err(ApiError::new(Code::InvalidState, message).with_details(json!({ "status": status })))
}

async fn payout(service: &Service, merchant_id: MerchantId, payout_id: PayoutId) -> Result<Payout, ApiError> {
    let found = service.reader(merchant_id).await?.get::<Payouts>(payout_id)?;
    found.ok_or_else(|| ApiError::not_found("payout_id", "No payout of this merchant has this id."))
}
