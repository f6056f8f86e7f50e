//! `POST /merchants/initiate-payment-flow`

use till_domain::command::{Command, InitiatePayment};
use till_domain::ids::PaymentId;
use till_domain::money::Money;

use super::by_merchant::ByMerchant;
use crate::endpoints::arguments::CUSTOMER_DATA;
use crate::endpoints::forms::{
    AMOUNT, BOOLEAN, CARD_REF, CURRENCY, INTEREST_BEARER, RETURN_URL, SAVE_CARD, SESSION_ID, external_id,
};
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: MerchantEndpoints = &[MerchantEndpoint(
    Act::InitiatePayments,
    &INITIATE_PAYMENT_FLOW,
    &ByMerchant(PAYMENT, |_, payment| Command::InitiatePayment(payment)),
)];

const PAYMENT: ArgumentSet<InitiatePayment> = arguments!({
    external_id: external_id::<PaymentId>()
        .optional("The merchant's own reference, unique among its payments, 1 to 255 bytes.")
        .in_examples(),
    amount: AMOUNT.required("The amount in minor units; that of the session."),
    currency: CURRENCY.required("The ISO 4217 code; that of the session and of the merchant's account."),
    session_id: SESSION_ID.required("The session (`pse_...`) that the SDK made.").with_name("payment_session_id"),
    card: CARD_REF
        .optional("A saved card: an id (`crd_...`) or the merchant's own identifier. Required for a card session \
            without a token and without a saved card, unless the card is entered on the acquirer's page; else ignored.")
        .with_name("card_id"),
    capture: BOOLEAN.required("`true` captures on authorization, `false` only authorizes."),
    return_url: RETURN_URL.required("The page that the customer is sent to afterwards, successful or not."),
    customer: CUSTOMER_DATA,
    save_card: SAVE_CARD
        .optional("Saves the card of a multi-use token: `ADD`, or `DEFAULT` to make it the customer's default. Never \
            makes the payment fail. A card that was entered on the acquirer's page is not saved."),
    interest_bearer: INTEREST_BEARER.optional("Required for instalments; confirms what was fixed at selection."),
} => InitiatePayment {
    external_id,
    money: Money { amount, currency },
    session_id,
    card,
    capture,
    return_url,
    customer,
    save_card,
    interest_bearer,
});

pub(crate) static INITIATE_PAYMENT_FLOW: Declaration = Declaration {
    name: "initiate-payment-flow",
    summary: "Creates a payment from a payment session and has it authorized. Answers the payment id.",
    docs: "Send an `Idempotency-Key`, so that a call whose answer was lost can be repeated safely.",
    arguments: PAYMENT.declared,
    returns: Returns::Id(PaymentId::PREFIX),
    errors: &[
        DeclaredError::new(
            Code::NotFound,
            "No active session has this id (details name the payment that used it, if it is the merchant's), no \
                customer has this `ctc_` id, or no card of the customer has this card id.",
        ),
        DeclaredError::new(
            Code::Conflict,
            "Amount or currency differ from the session's, or `external_id` is on another payment, which the details \
                name.",
        )
        .with(r#"{"argument": "external_id", "payment_id": "pay_01h2e8kqvbfwea724h75qc655w"}"#),
        DeclaredError::new(
            Code::NotSupported,
            "`capture` is false and the method cannot authorize without capture, the method is not enabled any more, \
                or the card is entered on the acquirer's page and the call or the session names one.",
        ),
        DeclaredError::new(Code::CustomerRequired, "The session uses a saved card and no customer is given."),
        DeclaredError::new(Code::CustomerMismatch, "The given customer is not the owner of the session's saved card."),
        DeclaredError::new(Code::AmountExceedsLimit, "A total of the ledger would exceed 2^53 - 1 minor units."),
    ],
    ..Declaration::command(Package::Merchants, "payments")
};
