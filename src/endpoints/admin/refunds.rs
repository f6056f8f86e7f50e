//! `POST /admin/complete-refund`, `POST /admin/fail-refund`

use serde_json::json;
use till_actors::acquirer::{PaymentStep, Reference};
use till_domain::ids::{MerchantId, RefundId};
use till_domain::records::{Refunds, Rows};
use till_domain::refund::{Refund, RefundStatus};
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
    &[MERCHANT_ARGUMENT, Argument::required("refund_id", ValueType::Id(RefundId::PREFIX), "The refund (`rfn_...`).")];

const ERRORS: &[DeclaredError] = &[
    DeclaredError::when(Code::NotFound, "No merchant has this id, or no refund of this merchant."),
    DeclaredError::when(
        Code::InvalidState,
        "The refund has ended: details name its `status`. Or the sandbox has no pending refund of this id.",
    ),
];

const DOCS: &str = "Plays the provider, for payments of the sandbox: refunds to the card 4000000000007726 wait for this call. It takes no `Idempotency-Key`: a refund ends once, and a repeated call is refused with its status.";

pub(super) static COMPLETE_REFUND: Declaration = Declaration {
    name: "complete-refund",
    package: Package::Admin,
    group: "refunds",
    summary: "Has the sandbox pay a refund that is pending, and answers when that is recorded.",
    docs: DOCS,
    arguments: ARGUMENTS,
    returns: Returns::Boolean,
    errors: ERRORS,
    flags: Flags { takes_idempotency_key: false, ..Flags::COMMAND },
};

pub(super) static FAIL_REFUND: Declaration = Declaration {
    name: "fail-refund",
    summary: "Has the sandbox refuse a refund that is pending, and answers when that is recorded.",
    ..COMPLETE_REFUND
};

/// `POST /admin/complete-refund`
pub(super) async fn complete_refund(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    end_refund(&service, &call, PendingEnd::Completed).await
}

/// `POST /admin/fail-refund`
pub(super) async fn fail_refund(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    end_refund(&service, &call, PendingEnd::Failed).await
}

async fn end_refund(service: &Service, call: &Call<Operator>, end: PendingEnd) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let refund_id = fields.required("refund_id", arguments::id("a refund id (rfn_...)"));
    let (merchant_id, refund_id) = fields.finish(|| Some((merchant_id?, refund_id?)))?;
    check_exists(service, merchant_id)?;
    let waiting = SandboxWait::begin();
    // The refund may be so new that the sandbox has not received it yet.
    while !end_at_sandbox(service, merchant_id, &pending(service, merchant_id, refund_id).await?, end).await? {
        let not_there = "The sandbox has no such refund that waits to be ended.";
        waiting.until_next_poll(|| ApiError::new(Code::InvalidState, not_there)).await?;
    }
    let waiting = SandboxWait::begin();
    while refund(service, merchant_id, refund_id).await?.status == RefundStatus::Pending {
        waiting.until_next_poll(|| ApiError::unavailable(CallEffect::Unknown, RETRY_AFTER_SECONDS)).await?;
    }
    Ok(Reply::new(&true))
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
        ApiError::unavailable(CallEffect::Unknown, RETRY_AFTER_SECONDS)
    })
}

async fn pending(service: &Service, merchant_id: MerchantId, refund_id: RefundId) -> Result<Refund, ApiError> {
    let refund = refund(service, merchant_id, refund_id).await?;
    if refund.status == RefundStatus::Pending {
        return Ok(refund);
    }
    let status = refund.status.name();
    let message = format!("The refund has ended already: it is {status}.");
    Err(ApiError::new(Code::InvalidState, message).with_details(json!({ "status": status })))
}

async fn refund(service: &Service, merchant_id: MerchantId, refund_id: RefundId) -> Result<Refund, ApiError> {
    let found = service.reader(merchant_id).await?.get::<Refunds>(refund_id)?;
    found.ok_or_else(|| ApiError::not_found("refund_id", "No refund of this merchant has this id."))
}
