//! `POST /admin/open-balance`, `add-topup`, `charge-invoice`

use till_domain::command::{AddTopup, ChargeInvoice, Command};

use super::about_merchant::{MERCHANT_ARGUMENT, MERCHANT_NOT_FOUND, Order};
use crate::access::Operator;
use crate::endpoints::endpoint::Endpoint;
use crate::endpoints::forms::{AMOUNT, DESCRIPTION, external_id};
use crate::protocol::api_error::Code;
use crate::protocol::arguments::{ArgumentSet, arguments};
use crate::protocol::declaration::{Declaration, DeclaredError, Flags, Package, Returns};
use till_domain::ids::{InvoiceId, MerchantId, TopupId};

pub(super) const ENDPOINTS: &[Endpoint<Operator>] = &[
    Endpoint(&OPEN_BALANCE, &Order(OPEN, |()| Command::OpenBalance)),
    Endpoint(&ADD_TOPUP, &Order(ADD, Command::AddTopup)),
    Endpoint(&CHARGE_INVOICE, &Order(CHARGE, Command::ChargeInvoice)),
];

const OPEN: ArgumentSet<(MerchantId, ())> = arguments!({ merchant_id: MERCHANT_ARGUMENT } => (merchant_id, ()));

static OPEN_BALANCE: Declaration = Declaration {
    name: "open-balance",
    package: Package::Admin,
    group: "balances",
    summary: "Opens a merchant's balance; `false` when it was open already.",
    docs: "The first transaction opens it, too.",
    arguments: OPEN.declared,
    returns: Returns::Boolean,
    errors: &[MERCHANT_NOT_FOUND],
    flags: Flags::COMMAND,
};

const ADD: ArgumentSet<(MerchantId, AddTopup)> = arguments!({
    merchant_id: MERCHANT_ARGUMENT,
    amount: AMOUNT.required("The amount in minor units of the merchant's currency."),
    external_id: external_id::<TopupId>().optional("Your own reference, unique among the merchant's top-ups.").shown(),
} => (merchant_id, AddTopup { amount, external_id }));

static ADD_TOPUP: Declaration = Declaration {
    name: "add-topup",
    package: Package::Admin,
    group: "balances",
    summary: "Adds money to a merchant's balance and answers the top-up's id (`tup_...`).",
    docs: "",
    arguments: ADD.declared,
    returns: Returns::Id(TopupId::PREFIX),
    errors: &[
        MERCHANT_NOT_FOUND,
        DeclaredError::when(Code::Conflict, "Another top-up has this `external_id`; the details name it.")
            .with(r#"{"argument": "external_id", "topup_id": "tup_01h2e8kqvbfwea724h75qc655w"}"#),
        DeclaredError::when(Code::AmountExceedsLimit, "A total of the ledger would exceed 2^53 - 1 minor units."),
    ],
    flags: Flags::COMMAND,
};

const CHARGE: ArgumentSet<(MerchantId, ChargeInvoice)> = arguments!({
    merchant_id: MERCHANT_ARGUMENT,
    amount: AMOUNT.required("The amount in minor units of the merchant's currency."),
    external_id: external_id::<InvoiceId>().optional("Your own reference, unique among the merchant's invoices.").shown(),
    description: DESCRIPTION.optional("The purpose."),
} => (merchant_id, ChargeInvoice { amount, external_id, description }));

static CHARGE_INVOICE: Declaration = Declaration {
    name: "charge-invoice",
    package: Package::Admin,
    group: "balances",
    summary: "Charges an invoice to a merchant's balance and answers the invoice's id (`inv_...`).",
    docs: "The available balance may become negative.",
    arguments: CHARGE.declared,
    returns: Returns::Id(InvoiceId::PREFIX),
    errors: &[
        MERCHANT_NOT_FOUND,
        DeclaredError::when(Code::Conflict, "Another invoice has this `external_id`; the details name it.")
            .with(r#"{"argument": "external_id", "invoice_id": "inv_01h2e8kqvbfwea724h75qc655w"}"#),
        DeclaredError::when(Code::AmountExceedsLimit, "A total of the ledger would exceed 2^53 - 1 minor units."),
    ],
    flags: Flags::COMMAND,
};
