//! `POST /admin/complete-refund`, `POST /admin/fail-refund`

use till_actors::acquirer::{NamedCall, PaymentStep};
use till_domain::command::PendingObject;
use till_domain::ids::{MerchantId, RefundId};
use till_domain::records::Refunds;
use till_domain::refund::{Refund, RefundStatus};
use till_sandbox::PendingEnd;

use super::about_merchant::MERCHANT_ARGUMENT;
use super::pending_objects::{EndPending, PendingView};
use crate::endpoints::arguments::REFUND_ARGUMENT;
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: Endpoints<Operator> =
    &[Endpoint(&COMPLETE_REFUND, &ending(PendingEnd::Completed)), Endpoint(&FAIL_REFUND, &ending(PendingEnd::Failed))];

static ARGUMENTS: ArgumentSet<(MerchantId, IdOrExternalId<RefundId>)> =
    arguments!({ merchant_id: MERCHANT_ARGUMENT, refund: REFUND_ARGUMENT } => (merchant_id, refund));

const ERRORS: &[DeclaredError] = &[
    DeclaredError::new(Code::NotFound, "No merchant has this id, or no refund of this merchant."),
    DeclaredError::new(
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

const fn ending(end: PendingEnd) -> EndPending<Refunds> {
    EndPending { arguments: &ARGUMENTS, end, view: pending_view }
}

fn pending_view(refund: &Refund) -> PendingView {
    let end = match refund.status {
        RefundStatus::Pending => None,
        RefundStatus::Successful => Some(PendingEnd::Completed),
        RefundStatus::Failed => Some(PendingEnd::Failed),
    };
    let (object, reference) =
        (PendingObject::Refund(refund.id), NamedCall::first(refund.payment_id, PaymentStep::Refund(refund.id)));
    PendingView { noun: "refund", object, reference, status: refund.status.name(), end }
}
