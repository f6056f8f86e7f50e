//! `POST /admin/complete-payout`, `POST /admin/fail-payout`

use till_actors::acquirer::NamedCall;
use till_domain::command::PendingObject;
use till_domain::ids::{MerchantId, PayoutId};
use till_domain::payout::{Payout, PayoutStatus};
use till_domain::records::Payouts;
use till_sandbox::PendingEnd;

use super::about_merchant::MERCHANT_ARGUMENT;
use super::pending_objects::{EndPending, PendingView};
use crate::endpoints::arguments::PAYOUT_ARGUMENT;
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: Endpoints<Operator> =
    &[Endpoint(&COMPLETE_PAYOUT, &ending(PendingEnd::Completed)), Endpoint(&FAIL_PAYOUT, &ending(PendingEnd::Failed))];

static ARGUMENTS: ArgumentSet<(MerchantId, IdOrExternalId<PayoutId>)> =
    arguments!({ merchant_id: MERCHANT_ARGUMENT, payout: PAYOUT_ARGUMENT } => (merchant_id, payout));

const ERRORS: &[DeclaredError] = &[
    DeclaredError::new(Code::NotFound, "No merchant has this id, or no payout of this merchant."),
    DeclaredError::new(
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

const fn ending(end: PendingEnd) -> EndPending<Payouts> {
    EndPending { arguments: &ARGUMENTS, end, view: pending_view }
}

fn pending_view(payout: &Payout) -> PendingView {
    let end = match payout.status {
        PayoutStatus::Pending => None,
        PayoutStatus::Successful => Some(PendingEnd::Completed),
        PayoutStatus::Failed => Some(PendingEnd::Failed),
    };
    let (object, reference) = (PendingObject::Payout(payout.id), NamedCall::Payout(payout.id));
    PendingView { noun: "payout", object, reference, status: payout.status.name(), end }
}
