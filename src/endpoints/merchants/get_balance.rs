//! `POST /merchants/get-balance`

use till_domain::ledger::BalanceTotals;
use till_domain::money::Currency;
use till_domain::records::{Balances, Profiles, Rows, Single};

use crate::endpoints::merchants::balance_history::no_balance;
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: MerchantEndpoints = &[MerchantEndpoint(Act::SeeMoney, &GET_BALANCE, &get_balance)];

object! {
    /// A balance in the currency of the account.
    BALANCE "balance" as BalanceShape of (currency: Currency, totals: BalanceTotals) {
        currency: STRING = currency, "The ISO 4217 code of the merchant's account.", such_as("THB");
        available: MINOR_UNITS = totals.available_minor(),
            "The amount that can be paid out now, in minor units; may be negative.", such_as("4989410");
        pending: MINOR_UNITS = totals.pending_minor(), "The amount that settles later, in minor units.", such_as("0");
    }
}

static GET_BALANCE: Declaration = Declaration {
    name: "get-balance",
    summary: "Returns the merchant's default balance.",
    returns: Returns::Object(&BALANCE),
    errors: &[DeclaredError::new(Code::NotFound, "No balance exists for the merchant.")],
    ..Declaration::query(Package::Merchants, "balance")
};

/// `POST /merchants/get-balance`
async fn get_balance(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    call.fields().finish(|| Some(()))?;
    let reader = call.caller().reader(&service).await?;
    let totals = reader.get::<Balances>(Single)?.ok_or_else(no_balance)?;
    let profile = reader.get::<Profiles>(Single)?.ok_or_else(no_balance)?;
    Ok(Reply::new(&BalanceShape::new(profile.currency, totals)))
}
