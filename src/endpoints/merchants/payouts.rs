//! `POST /merchants/send-payout`, `find-payout`, `list-payouts`

use till_domain::command::{Command, SendPayout};
use till_domain::ids::PayoutId;
use till_domain::payout::PayoutStatus;
use till_domain::records::{Payouts, PayoutsByStatus};

use super::by_merchant;
use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::created_at::{CREATED_AT_ARGUMENT, CreatedAt};
use crate::endpoints::forms::{DESCRIPTION, EXTERNAL_ID, PAYOUT_ARGUMENT};
use crate::endpoints::named;
use crate::endpoints::shapes::payout::{PAYOUT, PayoutShape};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{
    Argument, Declaration, DeclaredError, Flags, Package, Returns, ValueType, page_arguments, words_of,
};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::service::{Shared, read_index_span, read_span};

const PAGE: [Argument; 3] = page_arguments(PayoutId::PREFIX);

pub(super) static SEND_PAYOUT: Declaration = Declaration {
    name: "send-payout",
    package: Package::Merchants,
    group: "payouts",
    summary: "Pays out money of the available balance to the merchant. Answers the payout id.",
    docs: "The amount is held at once. A payout is `PENDING` until the acquirer has answered. Send an `Idempotency-Key`, so that a call whose answer was lost can be repeated safely.",
    arguments: &[
        Argument::required("amount", ValueType::AMOUNT, "The amount in minor units of the account's currency."),
        Argument::optional(
            "external_id",
            EXTERNAL_ID,
            "The merchant's own reference, unique among its payouts, 1 to 255 bytes.",
        )
        .shown(),
        Argument::optional("description", DESCRIPTION, "The purpose."),
    ],
    returns: Returns::Id(PayoutId::PREFIX),
    errors: &[
        DeclaredError::when(Code::Conflict, "`external_id` is on another payout, which the details name.")
            .with(r#"{"argument": "external_id", "payout_id": "pyo_01h2e8kqvbfwea724h75qc655w"}"#),
        DeclaredError::when(
            Code::InsufficientBalance,
            "The balance does not cover it: details name the `available` amount.",
        )
        .with(r#"{"available": 9110}"#),
    ],
    flags: Flags::COMMAND,
};

pub(super) static FIND_PAYOUT: Declaration = Declaration {
    name: "find-payout",
    package: Package::Merchants,
    group: "payouts",
    summary: "Returns a payout with its status.",
    docs: "Poll it for the final status.",
    arguments: &[PAYOUT_ARGUMENT],
    returns: Returns::Object(&PAYOUT),
    errors: &[DeclaredError::when(Code::NotFound, "No payout of this merchant has this id.")],
    flags: Flags::QUERY,
};

pub(super) static LIST_PAYOUTS: Declaration = Declaration {
    name: "list-payouts",
    package: Package::Merchants,
    group: "payouts",
    summary: "Lists the merchant's payouts, newest first.",
    docs: "The status of a payout is that at the time of the call. `next` and `previous` carry the filters.",
    arguments: &[
        PAGE[0],
        PAGE[1],
        PAGE[2],
        Argument::optional("status", words_of!(PayoutStatus), "Only payouts with this status."),
        CREATED_AT_ARGUMENT,
    ],
    returns: Returns::Page(&PAYOUT),
    errors: &[],
    flags: Flags::QUERY,
};

/// `POST /merchants/send-payout`
pub(super) async fn send_payout(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let amount = fields.required("amount", arguments::amount);
    let external_id = fields.optional("external_id", arguments::external_id::<PayoutId>);
    let description = fields.optional("description", arguments::description);
    let payout = fields.finish(|| Some(SendPayout { amount: amount?, external_id, description }))?;
    by_merchant::submit(&service, &SEND_PAYOUT, &call, Command::SendPayout(payout)).await
}

/// `POST /merchants/find-payout`
pub(super) async fn find_payout(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let payout = fields.required("payout_id", arguments::id_or_external_id::<PayoutId>);
    let payout = fields.finish(|| payout)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    Ok(Reply::new(&PayoutShape::new(&named::payout(&reader, payout)?)))
}

/// `POST /merchants/list-payouts`
pub(super) async fn list_payouts(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let reader = service.reader(call.caller().merchant_id).await?;
    let mut fields = call.fields();
    let page = field::page(&mut fields, arguments::id::<PayoutId>("a payout id (pyo_...)"));
    let status = fields.optional("status", field::one_of(&PayoutStatus::ALL, PayoutStatus::name));
    let created = CreatedAt::read(&mut fields, &service, &reader)?;
    let request = fields.finish(|| page)?;
    let page = match status {
        None => read_span::<Payouts>(&reader, request, created.span()).await?,
        Some(status) => {
            read_index_span::<PayoutsByStatus, Payouts, _>(&reader, status, request, created.span()).await?
        }
    };
    let filters = [("status", status.map(|status| status.name().to_owned())), created.given()];
    Reply::page(&page.map(PayoutShape::new).carrying(&filters))
}
