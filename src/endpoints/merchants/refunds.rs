//! `POST /merchants/refund-payment`, `find-refund`, `list-refunds`, `list-refunds-by-payment`

use till_domain::command::{Command, RefundPayment};
use till_domain::ids::RefundId;
use till_domain::payment::PaymentRef;
use till_domain::records::{Payments, Refunds, RefundsByExternalId, RefundsByPayment, RefundsByStatus};
use till_domain::refund::RefundStatus;
use till_domain::refusal::Refusal;

use super::by_merchant::ByMerchant;
use crate::endpoints::arguments::{PAYMENT_ARGUMENT, PAYMENT_NOT_FOUND, REFUND_ARGUMENT};
use crate::endpoints::created_at::{CREATED_AT_ARGUMENT, CreatedAt, MerchantClock};
use crate::endpoints::forms::{AMOUNT, external_id, reason, words};
use crate::endpoints::kinds::{StatusFilters, list_by_status};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::refund::{REFUND, RefundShape};
use crate::service::{read_list_page_of_index, refused};

pub(super) const ENDPOINTS: MerchantEndpoints = &[
    MerchantEndpoint(Act::GiveBack, &REFUND_PAYMENT, &ByMerchant(ORDERED, |_, refund| Command::RefundPayment(refund))),
    MerchantEndpoint(Act::SeePayments, &FIND_REFUND, &find::<Refunds>),
    MerchantEndpoint(Act::SeePayments, &LIST_REFUNDS, &list_refunds),
    MerchantEndpoint(Act::SeePayments, &LIST_REFUNDS_BY_PAYMENT, &list_refunds_by_payment),
];

const ORDERED: ArgumentSet<RefundPayment> = arguments!(RefundPayment {
    payment: PAYMENT_ARGUMENT,
    amount: AMOUNT.optional("The amount in minor units; the whole remainder when left out."),
    external_id: external_id::<RefundId>()
        .optional("The merchant's own reference, unique among its refunds, 1 to 255 bytes.")
        .in_examples(),
    reason: reason("damaged on arrival").optional("The reason of the refund."),
});

static REFUND_PAYMENT: Declaration = Declaration {
    name: "refund-payment",
    summary: "Refunds a captured payment, whole or in part. Answers the refund id.",
    docs: "Several refunds of a payment may be under way at once, up to the captured amount. A refund is `PENDING` \
        until the acquirer has answered. Send an `Idempotency-Key`, so that a call whose answer was lost can be \
        repeated safely.",
    arguments: ORDERED.declared,
    returns: Returns::Id(RefundId::PREFIX),
    errors: &[
        PAYMENT_NOT_FOUND,
        DeclaredError::new(Code::Conflict, "`external_id` is on another refund, which the details name.")
            .with(r#"{"argument": "external_id", "refund_id": "rfn_01h2e8kqvbfwea724h75qc655w"}"#),
        DeclaredError::new(
            Code::NotRefundable,
            "The payment is not captured, all of it is refunded, or an operation is open: details name its `status` \
                and its `operation`.",
        )
        .with(r#"{"status": "REFUNDED", "operation": null}"#),
        DeclaredError::new(Code::AmountExceedsLimit, "More than remains of the payment: details name the `limit`.")
            .with(r#"{"limit": 6000}"#),
        DeclaredError::new(
            Code::InsufficientBalance,
            "Neither the payment's own capture, nor what is available and pending otherwise, covers it: details name \
                `available` and `pending`.",
        )
        .with(r#"{"available": 0, "pending": 0}"#),
    ],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
    ..Declaration::command(Package::Merchants, "refunds")
};

static FIND_REFUND: Declaration = Declaration {
    name: "find-refund",
    summary: "Returns a refund with its status.",
    docs: "Poll it for the final status.",
    arguments: &[REFUND_ARGUMENT.argument],
    returns: Returns::Object(&REFUND),
    errors: &[DeclaredError::new(Code::NotFound, "No refund of this merchant has this id.")],
    ..Declaration::query(Package::Merchants, "refunds")
};

const LIST: ArgumentSet<StatusFilters<RefundId, RefundStatus>, MerchantClock> = arguments!({
    page: list_page::<RefundId>(),
    status: words!(RefundStatus).optional("Only refunds with this status."),
    created: CREATED_AT_ARGUMENT,
} => (page, status, CreatedAt(created)));

static LIST_REFUNDS: Declaration = Declaration {
    name: "list-refunds",
    summary: "Lists the merchant's refunds, newest first.",
    docs: "The status of a refund is that at the time of the call. `next` and `previous` carry the filters.",
    arguments: LIST.declared,
    returns: Returns::ListPage(&REFUND),
    ..Declaration::query(Package::Merchants, "refunds")
};

const BY_PAYMENT: ArgumentSet<(PaymentRef, ListPageRequest<RefundId>)> = arguments!({
    payment: PAYMENT_ARGUMENT,
    page: list_page::<RefundId>(),
} => (payment, page));

static LIST_REFUNDS_BY_PAYMENT: Declaration = Declaration {
    name: "list-refunds-by-payment",
    summary: "Lists the refunds of a payment, newest first.",
    docs: "The status of a refund is that at the time of the call. `next` and `previous` carry the payment.",
    arguments: BY_PAYMENT.declared,
    returns: Returns::ListPage(&REFUND),
    errors: &[PAYMENT_NOT_FOUND],
    ..Declaration::query(Package::Merchants, "refunds")
};

kind!(Refunds => RefundShape::new);
named_kind!(Refunds, by RefundsByExternalId, REFUND_ARGUMENT, refused(&Refusal::RefundNotFound));

/// `POST /merchants/list-refunds`
async fn list_refunds(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    list_by_status::<RefundsByStatus, Refunds, _>(service, call, &LIST, RefundStatus::name).await
}

/// `POST /merchants/list-refunds-by-payment`
async fn list_refunds_by_payment(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (payment, request) = call.fields().parse(&BY_PAYMENT)?;
    let reader = call.caller().reader(&service).await?;
    let payment_id = Payments::find_row(&reader, payment.clone())?.id;
    let page = read_list_page_of_index::<RefundsByPayment, Refunds, _>(&reader, payment_id, request)?;
    Reply::list_page(&page.with_filters(&[("payment_id", Some(payment.to_string()))]).map(RefundShape::new))
}
