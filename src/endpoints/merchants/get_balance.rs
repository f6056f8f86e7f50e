//! `POST /merchants/get-balance`

use serde::Serialize;
use till_domain::records::{Balances, Profiles, Rows, Single};

use crate::endpoints::merchants::balance_history::no_balance;
use crate::endpoints::prelude::*;
use crate::protocol::declaration::{Attribute, ObjectType};

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> = &[Endpoint(&GET_BALANCE, &get_balance)];

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
    summary: "Returns the merchant's default balance.",
    returns: Returns::Object(&BALANCE),
    errors: &[DeclaredError::when(Code::NotFound, "No balance exists for the merchant.")],
    ..Declaration::query(Package::Merchants, "balance")
};

#[derive(Serialize)]
struct BalanceShape<'a> {
    currency: &'a str,
    available: i64,
    pending: i64,
}

/// `POST /merchants/get-balance`
async fn get_balance(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    call.fields().finish(|| Some(()))?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let totals = reader.get::<Balances>(Single)?.ok_or_else(no_balance)?;
    let profile = reader.get::<Profiles>(Single)?.ok_or_else(no_balance)?;
    let (available, pending) = (totals.available_minor(), totals.pending_minor());
    Ok(Reply::new(&BalanceShape { currency: profile.currency.code(), available, pending }))
}
