//! `POST /merchants/initiate-payment-flow`

use till_domain::command::{Command, InitiatePayment};
use till_domain::ids::{PaymentId, SessionId};
use till_domain::money::Money;

use super::by_merchant;
use crate::access::MerchantCaller;
use crate::endpoints::arguments::{self, CUSTOMER_ARGUMENTS};
use crate::endpoints::forms::{CARD_REF, CURRENCY, EXTERNAL_ID, INTEREST_BEARER_WORDS, SAVE_CARD_WORDS};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{Argument, Declaration, DeclaredError, Flags, Package, Returns, ValueType};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::protocol::fields::Fields;
use crate::service::Shared;

pub static INITIATE_PAYMENT_FLOW: Declaration = Declaration {
    name: "initiate-payment-flow",
    package: Package::Merchants,
    group: "payments",
    summary: "Creates a payment from a payment session and has it authorized. Answers the payment id.",
    docs: "Send an `Idempotency-Key`, so that a call whose answer was lost can be repeated safely.",
    arguments: &[
        Argument::optional(
            "external_id",
            EXTERNAL_ID,
            "The merchant's own reference, unique among its payments, 1 to 255 bytes.",
        )
        .shown(),
        Argument::required("amount", ValueType::AMOUNT, "The amount in minor units; that of the session."),
        Argument::required(
            "currency",
            CURRENCY,
            "The ISO 4217 code; that of the session and of the merchant's account.",
        ),
        Argument::required(
            "payment_session_id",
            ValueType::Id(SessionId::PREFIX),
            "The session (`pse_...`) that the SDK made.",
        ),
        Argument::optional(
            "card_id",
            CARD_REF,
            "A saved card: an id (`crd_...`) or the merchant's own identifier. Required for a card session without a token and without a saved card; else ignored.",
        ),
        Argument::required("capture", ValueType::BOOLEAN, "`true` captures on authorization, `false` only authorizes."),
        Argument::required(
            "return_url",
            ValueType::URL,
            "The page that the customer is sent to afterwards, successful or not.",
        ),
        CUSTOMER_ARGUMENTS[0],
        CUSTOMER_ARGUMENTS[1],
        CUSTOMER_ARGUMENTS[2],
        CUSTOMER_ARGUMENTS[3],
        Argument::optional(
            "save_card",
            SAVE_CARD_WORDS,
            "Saves the card of a multi-use token: `ADD`, or `DEFAULT` to make it the customer's default. Never makes the payment fail.",
        ),
        Argument::optional(
            "interest_bearer",
            INTEREST_BEARER_WORDS,
            "Required for instalments; confirms what was fixed at selection.",
        ),
    ],
    returns: Returns::Id(PaymentId::PREFIX),
    errors: &[
        DeclaredError::when(
            Code::NotFound,
            "No active session has this id (details name the payment that used it, if it is the merchant's), no customer has this `ctc_` id, or no card of the customer has this card id.",
        ),
        DeclaredError::when(
            Code::Conflict,
            "Amount or currency differ from the session's, or `external_id` is on another payment, which the details name.",
        ).with(r#"{"argument": "external_id", "payment_id": "pay_01h2e8kqvbfwea724h75qc655w"}"#),
        DeclaredError::when(
            Code::NotSupported,
            "`capture` is false and the method cannot authorize without capture, or the method is not enabled any more.",
        ),
        DeclaredError::when(Code::CustomerRequired, "The session uses a saved card and no customer is given."),
        DeclaredError::when(Code::CustomerMismatch, "The given customer is not the owner of the session's saved card."),
        DeclaredError::when(Code::AmountExceedsLimit, "A total of the ledger would exceed 2^53 - 1 minor units."),
    ],
    flags: Flags::COMMAND,
};

/// `POST /merchants/initiate-payment-flow`
pub(super) async fn initiate_payment_flow(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let command = Command::InitiatePayment(parse(call.fields())?);
    by_merchant::submit(&service, &INITIATE_PAYMENT_FLOW, &call, command).await
}

fn parse(mut fields: Fields<'_>) -> Result<InitiatePayment, ApiError> {
    let external_id = fields.optional("external_id", arguments::external_id::<PaymentId>);
    let amount = fields.required("amount", arguments::amount);
    let currency = fields.required("currency", arguments::currency);
    let session_id = fields.required("payment_session_id", arguments::session_id);
    let card = fields.optional("card_id", arguments::card_ref);
    let capture = fields.required("capture", field::boolean);
    let return_url = fields.required("return_url", arguments::return_url);
    let customer = arguments::customer_fields(&mut fields);
    let save_card = fields.optional("save_card", arguments::save_card);
    let interest_bearer = fields.optional("interest_bearer", arguments::interest_bearer);
    fields.finish(|| {
        Some(InitiatePayment {
            external_id,
            money: Money { amount: amount?, currency: currency? },
            session_id: session_id?,
            card,
            capture: capture?,
            return_url: return_url?,
            customer,
            save_card,
            interest_bearer,
        })
    })
}
