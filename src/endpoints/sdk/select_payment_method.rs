//! `POST /sdk/select-payment-method`

use till_domain::command::{Command, SelectPaymentMethod, Selection};
use till_domain::customer::CardRef;
use till_domain::ids::{SessionId, TokenId};
use till_domain::merchant::PaymentMethod;
use till_domain::money::Money;
use till_domain::session::{InstallmentPlan, InterestBearer};

use super::list_installment_plans::INSTALLMENT_PLAN_WORDS;
use crate::access::MerchantCaller;
use crate::endpoints::arguments::{self, CUSTOMER_ARGUMENTS};
use crate::endpoints::forms::{CARD_REF, CURRENCY, INTEREST_BEARER_WORDS, PAYMENT_METHOD_WORDS};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{Argument, Declaration, DeclaredError, Flags, Package, Returns, ValueType};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::fault::Fault;
use crate::protocol::field;
use crate::protocol::fields::Fields;
use crate::service::{NamedInstallation, SdkCaller, Shared};

pub(super) static SELECT_PAYMENT_METHOD: Declaration = Declaration {
    name: "select-payment-method",
    package: Package::Sdk,
    group: "sessions",
    summary: "Fixes amount and payment method, and answers the payment session (`pse_...`).",
    docs: "The session expires after 30 minutes and can be paid once. Customer fields given here are defaults for the payment.",
    arguments: &[
        SdkCaller::ARGUMENTS[0],
        SdkCaller::ARGUMENTS[1],
        Argument::required("amount", ValueType::AMOUNT, "The amount to pay, in minor units."),
        Argument::required("currency", CURRENCY, "The ISO 4217 code of the merchant's account."),
        Argument::required("payment_method", PAYMENT_METHOD_WORDS, "The payment method."),
        Argument::optional(
            "token",
            ValueType::Id(TokenId::PREFIX),
            "The card's token (`tok_...`), for a payment by card. A SINGLE token is used up here.",
        )
        .shown(),
        Argument::optional(
            "card_id",
            CARD_REF,
            "The saved card: an id (`crd_...`) or the merchant's own identifier. Not together with `token`.",
        ),
        Argument::optional(
            "installment_plan_id",
            INSTALLMENT_PLAN_WORDS,
            "The instalment plan, from `list-installment-plans`. Required for instalments.",
        ),
        Argument::optional(
            "interest_bearer",
            INTEREST_BEARER_WORDS,
            "The side that pays the interest. Required for instalments.",
        ),
        CUSTOMER_ARGUMENTS[0],
        CUSTOMER_ARGUMENTS[1],
        CUSTOMER_ARGUMENTS[2],
        CUSTOMER_ARGUMENTS[3],
    ],
    returns: Returns::Id(SessionId::PREFIX),
    errors: &[
        DeclaredError::when(Code::NotFound, "The merchant has no such installation, token or saved card.")
            .with(r#"{"argument": "token"}"#),
        DeclaredError::when(Code::NotSupported, "The payment method is not enabled."),
        DeclaredError::when(Code::TokenAlreadyUsed, "The SINGLE token was used up before."),
    ],
    flags: Flags::OPEN_COMMAND,
};

/// `POST /sdk/select-payment-method`
pub(super) async fn select_payment_method(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (caller, command) = service.sdk_call(&call, parse(call.fields())).await?;
    let command = Command::SelectPaymentMethod(command);
    let answered =
        service.submit(&SELECT_PAYMENT_METHOD, &call, caller.merchant_id(), caller.as_domain(), command, None).await?;
    Ok(answered.into())
}

fn parse(mut fields: Fields<'_>) -> Result<(NamedInstallation, SelectPaymentMethod), ApiError> {
    let named = NamedInstallation::read(&mut fields);
    let amount = fields.required("amount", arguments::amount);
    let currency = fields.required("currency", arguments::currency);
    let method = fields.required("payment_method", field::one_of(&PaymentMethod::ALL, PaymentMethod::name));
    let chosen = Chosen::read(&mut fields);
    let selection = method.and_then(|method| chosen.selection(method, &mut fields));
    let customer = arguments::customer_fields(&mut fields);
    fields.finish(|| {
        let money = Money { amount: amount?, currency: currency? };
        Some((named?, SelectPaymentMethod { money, selection: selection?, customer }))
    })
}

/// The arguments that describe the means of payment, before they are checked against each other.
struct Chosen {
    token: Option<TokenId>,
    card: Option<CardRef>,
    plan: Option<InstallmentPlan>,
    interest_bearer: Option<InterestBearer>,
}

impl Chosen {
    fn read(fields: &mut Fields<'_>) -> Chosen {
        Chosen {
            token: fields.optional("token", arguments::id("a card token (tok_...)")),
            card: fields.optional("card_id", arguments::card_ref),
            plan: fields.optional("installment_plan_id", field::one_of(&InstallmentPlan::ALL, InstallmentPlan::id)),
            interest_bearer: fields.optional("interest_bearer", arguments::interest_bearer),
        }
    }

    fn selection(self, method: PaymentMethod, fields: &mut Fields<'_>) -> Option<Selection> {
        match method {
            PaymentMethod::Card => {
                refuse_given(fields, &["installment_plan_id", "interest_bearer"], "belongs to instalments only");
                self.card_selection(fields)
            }
            PaymentMethod::Installment => {
                refuse_given(fields, &["token", "card_id"], "belongs to cards only");
                require_given(fields, &["installment_plan_id", "interest_bearer"]);
                Some(Selection::Installment(self.plan?, self.interest_bearer?))
            }
        }
    }

    fn card_selection(self, fields: &mut Fields<'_>) -> Option<Selection> {
        match (self.token, self.card) {
            (Some(_), Some(_)) => {
                fields.fault(Fault::invalid("card_id", "cannot be given together with token; send one of them"));
                None
            }
            (Some(token_id), None) => Some(Selection::Token(token_id)),
            (None, Some(card)) => Some(Selection::SavedCard(card)),
            (None, None) => Some(Selection::UnnamedCard),
        }
    }
}

fn refuse_given(fields: &mut Fields<'_>, names: &[&'static str], message: &'static str) {
    for name in names.iter().copied().filter(|name| fields.is_given(name)).collect::<Vec<_>>() {
        fields.fault(Fault::invalid(name, message));
    }
}

fn require_given(fields: &mut Fields<'_>, names: &[&'static str]) {
    for name in names.iter().copied().filter(|name| !fields.is_given(name)).collect::<Vec<_>>() {
        fields.fault(Fault::missing_because(name, "is required for instalments"));
    }
}
