//! `POST /merchants/get-balance`

use crate::endpoints::endpoint::Endpoint;
use crate::protocol::declaration::{
    Attribute, Declaration, DeclaredError, Flags, ObjectType, Package, Returns, ValueType,
};
use crate::protocol::dispatch::{Call, Reply};
use serde::Serialize;
use till_domain::records::{Balances, Profiles, Rows, Single};

use crate::access::MerchantCaller;
use crate::endpoints::merchants::balance_history::no_balance;
use crate::protocol::api_error::{ApiError, Code};
use crate::service::Shared;

pub(super) const ENDPOINTS: &[Endpoint<MerchantCaller>] = &[Endpoint(&GET_BALANCE, &get_balance)];

static BALANCE: ObjectType = ObjectType {
    name: "balance",
    attributes: &[
        Attribute::always("currency", ValueType::STRING, "The ISO 4217 code of the merchant's account.").such_as("THB"),
        Attribute::always(
            "available",
            ValueType::INTEGER,
            "The amount that can be paid out now, in minor units; may be negative.",
        )
        .such_as("4989410"),
        Attribute::always("pending", ValueType::INTEGER, "The amount that settles later, in minor units.").such_as("0"),
    ],
};

static GET_BALANCE: Declaration = Declaration {
    name: "get-balance",
    package: Package::Merchants,
    group: "balance",
    summary: "Returns the merchant's default balance.",
    docs: "",
    arguments: &[],
    returns: Returns::Object(&BALANCE),
    errors: &[DeclaredError::when(Code::NotFound, "No balance exists for the merchant.")],
    flags: Flags::QUERY,
};

#[derive(Serialize)]
struct BalanceShape<'a> {
    currency: &'a str,
    available: i64,
    pending: i64,
}

/// `POST /merchants/get-balance`
pub(super) async fn get_balance(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    call.fields().finish(|| Some(()))?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let totals = reader.get::<Balances>(Single)?.ok_or_else(no_balance)?;
    let profile = reader.get::<Profiles>(Single)?.ok_or_else(no_balance)?;
    let (available, pending) = (totals.available_minor(), totals.pending_minor());
    Ok(Reply::new(&BalanceShape { currency: profile.currency.code(), available, pending }))
}
