//! `POST /admin/complete-action`

use till_actors::acquirer::{AcquirerUnavailable, CallAnswer};
use till_domain::command::{Command, PendingObject};
use till_domain::customer_action::ActionStage;
use till_domain::ids::{IdOrExternalId, MerchantId, PaymentId};
use till_domain::payment::Payment;
use till_domain::records::Payments;
use till_domain::refusal::Refusal;
use till_protocol::api_error::{CallEffect, RETRY_AFTER_SECONDS};
use till_protocol::field;
use till_sandbox::{ActResult, ActionOutcome};

use super::about_merchant::{MERCHANT_ARGUMENT, check_exists, submit};
use super::waiting::SandboxWait;
use crate::endpoints::arguments::PAYMENT_ARGUMENT;
use crate::endpoints::prelude::*;
use crate::service::{refused, reply_of};

pub(super) const ENDPOINTS: Endpoints<Operator> = &[Endpoint(&COMPLETE_ACTION, &complete_action)];

/// The acts of a customer, by their words in the API.
const OUTCOMES: [(&str, ActionOutcome); 3] =
    [("SUCCEEDED", ActionOutcome::Succeed), ("FAILED", ActionOutcome::Fail), ("CANCELED", ActionOutcome::Cancel)];

const OUTCOME: Field<(&str, ActionOutcome)> = Field {
    value_type: ValueType::words(&["SUCCEEDED", "FAILED", "CANCELED"]),
    parse: |value| field::one_of(&OUTCOMES, |(name, _)| name)(value),
};

const COMPLETED: ArgumentSet<(MerchantId, IdOrExternalId<PaymentId>, ActionOutcome)> = arguments!({
    merchant_id: MERCHANT_ARGUMENT,
    payment: PAYMENT_ARGUMENT,
    outcome: OUTCOME.required("What the customer does on the page of the issuer, the bank or the wallet."),
} => (merchant_id, payment, outcome.1));

static COMPLETE_ACTION: Declaration = Declaration {
    name: "complete-action",
    summary: "Does what the customer of a payment of the sandbox is asked to do, and answers when that is recorded.",
    docs: "Plays the customer, without a browser. After the end of the payment a success is given back, and nothing \
        else happens.",
    arguments: COMPLETED.declared,
    errors: &[
        DeclaredError::new(Code::NotFound, "No merchant has this id, or no payment of this merchant."),
        DeclaredError::new(
            Code::InvalidState,
            "The customer has acted, or never had to: details name the payment's `status`.",
        )
        .with(r#"{"status": "SUCCESSFUL", "operation": null}"#),
    ],
    ..Declaration::command(Package::Admin, "payments")
};

/// `POST /admin/complete-action`
async fn complete_action(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let (merchant_id, name, outcome) = call.fields().parse(&COMPLETED)?;
    check_exists(&service, merchant_id)?;
    let view =
        async || -> Result<Payment, ApiError> { Payments::find_row(&service.reader(merchant_id).await?, name.clone()) };
    let before = view().await?;
    let ordered = submit(&service, &call, merchant_id, Command::OrderEnd(PendingObject::Action(before.id))).await?;
    let acted = service.sandbox().complete_action(merchant_id, before.id, outcome).await.map_err(unanswered)?;
    if acted == ActResult::Nothing {
        let refusal = Refusal::InvalidState { status: before.status, operation: None };
        return if ordered.replayed { Ok(reply_of(ordered)) } else { Err(refused(&refusal)) };
    }
    let found = service.sandbox().find_authorization(merchant_id, before.id).await.map_err(unanswered)?;
    let is_declined = matches!(found, Some(CallAnswer::Declined { .. }));
    let waiting = SandboxWait::begin();
    while !is_recorded(&before, &view().await?, is_declined) {
        waiting.until_next_poll(|| ApiError::unavailable(CallEffect::Unknown, RETRY_AFTER_SECONDS)).await?;
    }
    Ok(reply_of(ordered))
}

fn unanswered(error: AcquirerUnavailable) -> ApiError {
    tracing::warn!(%error, "the sandbox did not answer about an act of a customer");
    ApiError::unavailable(CallEffect::Unknown, RETRY_AFTER_SECONDS).with_cause(error.to_string())
}

/// True once a payment shows the act of its customer. After the end only an approval shows.
fn is_recorded(before: &Payment, now: &Payment, is_declined: bool) -> bool {
    match before.action {
        Some(ActionStage::Open(_)) => now.action == Some(ActionStage::Over),
        Some(ActionStage::Over) | None => is_declined || now.late_success.is_some(),
    }
}
