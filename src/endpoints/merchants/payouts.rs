//! `POST /merchants/send-payout`, `find-payout`, `list-payouts`

use till_domain::command::{Command, SendPayout};
use till_domain::ids::PayoutId;
use till_domain::payout::PayoutStatus;
use till_domain::records::{Payouts, PayoutsByExternalId, PayoutsByStatus};
use till_domain::refusal::Refusal;

use super::by_merchant::ByMerchant;
use crate::endpoints::arguments::PAYOUT_ARGUMENT;
use crate::endpoints::created_at::{CREATED_AT_ARGUMENT, CreatedAt, MerchantClock};
use crate::endpoints::forms::{AMOUNT, DESCRIPTION, external_id, words};
use crate::endpoints::kinds::{StatusFilters, list_by_status};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::payout::{PAYOUT, PayoutShape};
use crate::service::refused;

pub(super) const ENDPOINTS: MerchantEndpoints = &[
    MerchantEndpoint(Act::SendPayouts, &SEND_PAYOUT, &ByMerchant(SENT, |_, payout| Command::SendPayout(payout))),
    MerchantEndpoint(Act::SeeMoney, &FIND_PAYOUT, &find::<Payouts>),
    MerchantEndpoint(Act::SeeMoney, &LIST_PAYOUTS, &list_payouts),
];

const SENT: ArgumentSet<SendPayout> = arguments!(SendPayout {
    amount: AMOUNT.required("The amount in minor units of the account's currency."),
    external_id: external_id::<PayoutId>()
        .optional("The merchant's own reference, unique among its payouts, 1 to 255 bytes.")
        .in_examples(),
    description: DESCRIPTION.optional("The purpose."),
});

static SEND_PAYOUT: Declaration = Declaration {
    name: "send-payout",
    summary: "Pays out money of the available balance to the merchant. Answers the payout id.",
    docs: "The amount is held at once. A payout is `PENDING` until the acquirer has answered. Send an \
        `Idempotency-Key`, so that a call whose answer was lost can be repeated safely.",
    arguments: SENT.declared,
    returns: Returns::Id(PayoutId::PREFIX),
    errors: &[
        DeclaredError::new(Code::Conflict, "`external_id` is on another payout, which the details name.")
            .with(r#"{"argument": "external_id", "payout_id": "pyo_01h2e8kqvbfwea724h75qc655w"}"#),
        DeclaredError::new(
            Code::InsufficientBalance,
            "The balance does not cover it: details name the `available` amount.",
        )
        .with(r#"{"available": 9110}"#),
    ],
    ..Declaration::command(Package::Merchants, "payouts")
};

static FIND_PAYOUT: Declaration = Declaration {
    name: "find-payout",
    summary: "Returns a payout with its status.",
    docs: "Poll it for the final status.",
    arguments: &[PAYOUT_ARGUMENT.argument],
    returns: Returns::Object(&PAYOUT),
    errors: &[DeclaredError::new(Code::NotFound, "No payout of this merchant has this id.")],
    ..Declaration::query(Package::Merchants, "payouts")
};

const LIST: ArgumentSet<StatusFilters<PayoutId, PayoutStatus>, MerchantClock> = arguments!({
    page: list_page::<PayoutId>(),
    status: words!(PayoutStatus).optional("Only payouts with this status."),
    created: CREATED_AT_ARGUMENT,
} => (page, status, CreatedAt(created)));

static LIST_PAYOUTS: Declaration = Declaration {
    name: "list-payouts",
    summary: "Lists the merchant's payouts, newest first.",
    docs: "The status of a payout is that at the time of the call. `next` and `previous` carry the filters.",
    arguments: LIST.declared,
    returns: Returns::ListPage(&PAYOUT),
    ..Declaration::query(Package::Merchants, "payouts")
};

kind!(Payouts => PayoutShape::new);
named_kind!(Payouts, by PayoutsByExternalId, PAYOUT_ARGUMENT, refused(&Refusal::PayoutNotFound));

/// `POST /merchants/list-payouts`
async fn list_payouts(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    list_by_status::<PayoutsByStatus, Payouts, _>(service, call, &LIST, PayoutStatus::name).await
}
