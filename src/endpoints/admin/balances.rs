//! `POST /admin/open-balance`, `add-topup`, `charge-invoice`

use till_domain::command::{AddTopup, ChargeInvoice, Command};
use till_domain::ids::{InvoiceId, TopupId};

use super::about_merchant::{MERCHANT_ARGUMENT, MERCHANT_NOT_FOUND, merchant_argument, submit};
use crate::access::Operator;
use crate::endpoints::arguments;
use crate::endpoints::forms::{DESCRIPTION, EXTERNAL_ID};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{Argument, Declaration, DeclaredError, Flags, Package, Returns, ValueType};
use crate::protocol::dispatch::{Call, Reply};
use crate::service::Shared;

pub(super) static OPEN_BALANCE: Declaration = Declaration {
    name: "open-balance",
    package: Package::Admin,
    group: "balances",
    summary: "Opens a merchant's balance; `false` when it was open already.",
    docs: "The first transaction opens it, too.",
    arguments: &[MERCHANT_ARGUMENT],
    returns: Returns::Boolean,
    errors: &[MERCHANT_NOT_FOUND],
    flags: Flags::COMMAND,
};

pub(super) static ADD_TOPUP: Declaration = Declaration {
    name: "add-topup",
    package: Package::Admin,
    group: "balances",
    summary: "Adds money to a merchant's balance and answers the top-up's id (`tup_...`).",
    docs: "",
    arguments: &[
        MERCHANT_ARGUMENT,
        Argument::required("amount", ValueType::AMOUNT, "The amount in minor units of the merchant's currency."),
        Argument::optional("external_id", EXTERNAL_ID, "Your own reference, unique among the merchant's top-ups.")
            .shown(),
    ],
    returns: Returns::Id(TopupId::PREFIX),
    errors: &[
        MERCHANT_NOT_FOUND,
        DeclaredError::when(Code::Conflict, "Another top-up has this `external_id`; the details name it.")
            .with(r#"{"argument": "external_id", "topup_id": "tup_01h2e8kqvbfwea724h75qc655w"}"#),
        DeclaredError::when(Code::AmountExceedsLimit, "A total of the ledger would exceed 2^53 - 1 minor units."),
    ],
    flags: Flags::COMMAND,
};

pub(super) static CHARGE_INVOICE: Declaration = Declaration {
    name: "charge-invoice",
    package: Package::Admin,
    group: "balances",
    summary: "Charges an invoice to a merchant's balance and answers the invoice's id (`inv_...`).",
    docs: "The available balance may become negative.",
    arguments: &[
        MERCHANT_ARGUMENT,
        Argument::required("amount", ValueType::AMOUNT, "The amount in minor units of the merchant's currency."),
        Argument::optional("external_id", EXTERNAL_ID, "Your own reference, unique among the merchant's invoices.")
            .shown(),
        Argument::optional("description", DESCRIPTION, "The purpose."),
    ],
    returns: Returns::Id(InvoiceId::PREFIX),
    errors: &[
        MERCHANT_NOT_FOUND,
        DeclaredError::when(Code::Conflict, "Another invoice has this `external_id`; the details name it.")
            .with(r#"{"argument": "external_id", "invoice_id": "inv_01h2e8kqvbfwea724h75qc655w"}"#),
        DeclaredError::when(Code::AmountExceedsLimit, "A total of the ledger would exceed 2^53 - 1 minor units."),
    ],
    flags: Flags::COMMAND,
};

/// `POST /admin/open-balance`
pub(super) async fn open_balance(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let merchant_id = fields.finish(|| merchant_id)?;
    Ok(submit(&service, &OPEN_BALANCE, &call, merchant_id, Command::OpenBalance, None).await?.into())
}

/// `POST /admin/add-topup`
pub(super) async fn add_topup(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let amount = fields.required("amount", arguments::amount);
    let external_id = fields.optional("external_id", arguments::external_id::<TopupId>);
    let (merchant_id, command) = fields.finish(|| Some((merchant_id?, AddTopup { amount: amount?, external_id })))?;
    Ok(submit(&service, &ADD_TOPUP, &call, merchant_id, Command::AddTopup(command), None).await?.into())
}

/// `POST /admin/charge-invoice`
pub(super) async fn charge_invoice(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let amount = fields.required("amount", arguments::amount);
    let external_id = fields.optional("external_id", arguments::external_id::<InvoiceId>);
    let description = fields.optional("description", arguments::description);
    let (merchant_id, command) =
        fields.finish(|| Some((merchant_id?, ChargeInvoice { amount: amount?, external_id, description })))?;
    Ok(submit(&service, &CHARGE_INVOICE, &call, merchant_id, Command::ChargeInvoice(command), None).await?.into())
}
