//! `POST /merchants/refund-payment`, `find-refund`, `list-refunds`, `list-refunds-by-payment`

use till_domain::command::{Command, RefundPayment};
use till_domain::ids::RefundId;
use till_domain::records::{Payments, Refunds, RefundsByPayment, RefundsByStatus, Rows};
use till_domain::refund::RefundStatus;
use till_domain::text::{NAME_MAX_CHARACTERS, Reason};

use super::{by_merchant, named_payment};
use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::created_at::{CREATED_AT_ARGUMENT, CreatedAt};
use crate::endpoints::forms::{EXTERNAL_ID, PAYMENT_ARGUMENT, PAYMENT_NOT_FOUND, REFUND_ARGUMENT, printable};
use crate::endpoints::named;
use crate::endpoints::shapes::refund::{REFUND, RefundShape};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{
    Argument, Declaration, DeclaredError, Flags, Package, Returns, ValueType, page_arguments, words_of,
};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::protocol::json::Json;
use crate::service::{Shared, read_index_page, read_index_span, read_span};

const PAGE: [Argument; 3] = page_arguments(RefundId::PREFIX);

pub(super) static REFUND_PAYMENT: Declaration = Declaration {
    name: "refund-payment",
    package: Package::Merchants,
    group: "refunds",
    summary: "Refunds a captured payment, whole or in part. Answers the refund id.",
    docs: "Several refunds of a payment may be under way at once, up to the captured amount. A refund is `PENDING` until the acquirer has answered. Send an `Idempotency-Key`, so that a call whose answer was lost can be repeated safely.",
    arguments: &[
        PAYMENT_ARGUMENT,
        Argument::optional(
            "amount",
            ValueType::AMOUNT,
            "The amount in minor units; the whole remainder when left out.",
        ),
        Argument::optional(
            "external_id",
            EXTERNAL_ID,
            "The merchant's own reference, unique among its refunds, 1 to 255 bytes.",
        )
        .shown(),
        Argument::optional("reason", printable(NAME_MAX_CHARACTERS, "damaged on arrival"), "The reason of the refund."),
    ],
    returns: Returns::Id(RefundId::PREFIX),
    errors: &[
        PAYMENT_NOT_FOUND,
        DeclaredError::when(Code::Conflict, "`external_id` is on another refund, which the details name.").with(r#"{"argument": "external_id", "refund_id": "rfn_01h2e8kqvbfwea724h75qc655w"}"#),
        DeclaredError::when(
            Code::NotRefundable,
            "The payment is not captured, all of it is refunded, or an operation is open: details name its `status` and its `operation`.",
        ).with(r#"{"status": "REFUNDED", "operation": null}"#),
        DeclaredError::when(Code::AmountExceedsLimit, "More than remains of the payment: details name the `limit`.").with(r#"{"limit": 6000}"#),
        DeclaredError::when(
            Code::InsufficientBalance,
            "Neither the payment's own capture, nor what is available and pending otherwise, covers it: details name `available` and `pending`.",
        ).with(r#"{"available": 0, "pending": 0}"#),
    ],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
};

pub(super) static FIND_REFUND: Declaration = Declaration {
    name: "find-refund",
    package: Package::Merchants,
    group: "refunds",
    summary: "Returns a refund with its status.",
    docs: "Poll it for the final status.",
    arguments: &[REFUND_ARGUMENT],
    returns: Returns::Object(&REFUND),
    errors: &[DeclaredError::when(Code::NotFound, "No refund of this merchant has this id.")],
    flags: Flags::QUERY,
};

pub(super) static LIST_REFUNDS: Declaration = Declaration {
    name: "list-refunds",
    package: Package::Merchants,
    group: "refunds",
    summary: "Lists the merchant's refunds, newest first.",
    docs: "The status of a refund is that at the time of the call. `next` and `previous` carry the filters.",
    arguments: &[
        PAGE[0],
        PAGE[1],
        PAGE[2],
        Argument::optional("status", words_of!(RefundStatus), "Only refunds with this status."),
        CREATED_AT_ARGUMENT,
    ],
    returns: Returns::Page(&REFUND),
    errors: &[],
    flags: Flags::QUERY,
};

pub(super) static LIST_REFUNDS_BY_PAYMENT: Declaration = Declaration {
    name: "list-refunds-by-payment",
    package: Package::Merchants,
    group: "refunds",
    summary: "Lists the refunds of a payment, newest first.",
    docs: "The status of a refund is that at the time of the call. `next` and `previous` carry the payment.",
    arguments: &[PAYMENT_ARGUMENT, PAGE[0], PAGE[1], PAGE[2]],
    returns: Returns::Page(&REFUND),
    errors: &[PAYMENT_NOT_FOUND],
    flags: Flags::QUERY,
};

/// `POST /merchants/refund-payment`
pub(super) async fn refund_payment(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let payment = fields.required("payment_id", arguments::payment_ref);
    let amount = fields.optional("amount", arguments::amount);
    let external_id = fields.optional("external_id", arguments::external_id::<RefundId>);
    let reason = fields.optional("reason", |value| arguments::checked(Reason::new(field::name(value)?)));
    let refund = fields.finish(|| Some(RefundPayment { payment: payment?, amount, external_id, reason }))?;
    by_merchant::submit(&service, &REFUND_PAYMENT, &call, Command::RefundPayment(refund)).await
}

/// `POST /merchants/find-refund`
pub(super) async fn find_refund(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let refund = fields.required("refund_id", arguments::id_or_external_id::<RefundId>);
    let refund = fields.finish(|| refund)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    Ok(Reply::new(&RefundShape::new(&named::refund(&reader, refund)?)))
}

/// `POST /merchants/list-refunds`
pub(super) async fn list_refunds(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let reader = service.reader(call.caller().merchant_id).await?;
    let mut fields = call.fields();
    let page = field::page(&mut fields, refund_id());
    let status = fields.optional("status", field::one_of(&RefundStatus::ALL, RefundStatus::name));
    let created = CreatedAt::read(&mut fields, &service, &reader)?;
    let request = fields.finish(|| page)?;
    let page = match status {
        None => read_span::<Refunds>(&reader, request, created.span()).await?,
        Some(status) => {
            read_index_span::<RefundsByStatus, Refunds, _>(&reader, status, request, created.span()).await?
        }
    };
    let filters = [("status", status.map(|status| status.name().to_owned())), created.given()];
    Reply::page(&page.map(RefundShape::new).carrying(&filters))
}

/// `POST /merchants/list-refunds-by-payment`
pub(super) async fn list_refunds_by_payment(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let payment = fields.required("payment_id", arguments::payment_ref);
    let page = field::page(&mut fields, refund_id());
    let (payment, request) = fields.finish(|| Some((payment?, page?)))?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let found = named_payment::id(&reader, &payment)?.map_or(Ok(None), |id| reader.get::<Payments>(id))?;
    let payment_id = found.ok_or_else(named_payment::unknown)?.id;
    let page = read_index_page::<RefundsByPayment, Refunds, _>(&reader, payment_id, request)?;
    Reply::page(&page.carrying(&[("payment_id", Some(named_payment::text(&payment)))]).map(RefundShape::new))
}

fn refund_id() -> impl Fn(&Json) -> Result<RefundId, String> {
    arguments::id("a refund id (rfn_...)")
}
