//! `POST /admin/open-balance`, `add-topup`, `charge-invoice`

use till_domain::command::{AddTopup, ChargeInvoice, Command};
use till_domain::ids::{InvoiceId, MerchantId, TopupId};

use super::about_merchant::{ByOperator, MERCHANT_ARGUMENT, MERCHANT_NOT_FOUND};
use crate::endpoints::forms::{AMOUNT, DESCRIPTION, external_id};
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: Endpoints<Operator> = &[
    Endpoint(&OPEN_BALANCE, &ByOperator(OPEN, |()| Command::OpenBalance)),
    Endpoint(&ADD_TOPUP, &ByOperator(ADD, Command::AddTopup)),
    Endpoint(&CHARGE_INVOICE, &ByOperator(CHARGE, Command::ChargeInvoice)),
];

const OPEN: ArgumentSet<(MerchantId, ())> = arguments!({ merchant_id: MERCHANT_ARGUMENT } => (merchant_id, ()));

static OPEN_BALANCE: Declaration = Declaration {
    name: "open-balance",
    summary: "Opens a merchant's balance; `false` when it was open already.",
    docs: "The first transaction opens it, too.",
    arguments: OPEN.declared,
    errors: &[MERCHANT_NOT_FOUND],
    ..Declaration::command(Package::Admin, "balances")
};

const ADD: ArgumentSet<(MerchantId, AddTopup)> = arguments!({
    merchant_id: MERCHANT_ARGUMENT,
    amount: AMOUNT.required("The amount in minor units of the merchant's currency."),
    external_id: external_id::<TopupId>()
        .optional("Your own reference, unique among the merchant's top-ups.")
        .in_examples(),
} => (merchant_id, AddTopup { amount, external_id }));

static ADD_TOPUP: Declaration = Declaration {
    name: "add-topup",
    summary: "Adds money to a merchant's balance and answers the top-up's id (`tup_...`).",
    arguments: ADD.declared,
    returns: Returns::Id(TopupId::PREFIX),
    errors: &[
        MERCHANT_NOT_FOUND,
        DeclaredError::new(Code::Conflict, "Another top-up has this `external_id`; the details name it.")
            .with(r#"{"argument": "external_id", "topup_id": "tup_01h2e8kqvbfwea724h75qc655w"}"#),
        DeclaredError::new(Code::AmountExceedsLimit, "A total of the ledger would exceed 2^53 - 1 minor units."),
    ],
    ..Declaration::command(Package::Admin, "balances")
};

const CHARGE: ArgumentSet<(MerchantId, ChargeInvoice)> = arguments!({
    merchant_id: MERCHANT_ARGUMENT,
    amount: AMOUNT.required("The amount in minor units of the merchant's currency."),
    external_id: external_id::<InvoiceId>()
        .optional("Your own reference, unique among the merchant's invoices.")
        .in_examples(),
    description: DESCRIPTION.optional("The purpose."),
} => (merchant_id, ChargeInvoice { amount, external_id, description }));

static CHARGE_INVOICE: Declaration = Declaration {
    name: "charge-invoice",
    summary: "Charges an invoice to a merchant's balance and answers the invoice's id (`inv_...`).",
    docs: "The available balance may become negative.",
    arguments: CHARGE.declared,
    returns: Returns::Id(InvoiceId::PREFIX),
    errors: &[
        MERCHANT_NOT_FOUND,
        DeclaredError::new(Code::Conflict, "Another invoice has this `external_id`; the details name it.")
            .with(r#"{"argument": "external_id", "invoice_id": "inv_01h2e8kqvbfwea724h75qc655w"}"#),
        DeclaredError::new(Code::AmountExceedsLimit, "A total of the ledger would exceed 2^53 - 1 minor units."),
    ],
    ..Declaration::command(Package::Admin, "balances")
};
