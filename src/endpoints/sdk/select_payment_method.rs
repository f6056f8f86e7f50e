//! `POST /sdk/select-payment-method`

use till_domain::command::{Command, SelectPaymentMethod, Selection};
use till_domain::ids::{SessionId, TokenId};
use till_domain::merchant::{PROMPT_PAY_MAX_MINOR, PaymentMethod};
use till_domain::money::{AmountMinor, Money};
use till_domain::session::InstallmentPlan;
use till_protocol::arguments::id;
use till_protocol::fault::Fault;
use till_protocol::fields::Fields;

use crate::endpoints::arguments::CUSTOMER_DATA;
use crate::endpoints::forms::{AMOUNT, CARD_REF, CURRENCY, INTEREST_BEARER, PAYMENT_METHOD, words};
use crate::endpoints::prelude::*;
use crate::service::{NamedInstallation, reply_of};

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> = &[Endpoint(&SELECT_PAYMENT_METHOD, &select_payment_method)];

const SELECTED: ArgumentSet<(NamedInstallation, SelectPaymentMethod)> = arguments!({
    installation: NamedInstallation::arguments::<()>(),
    amount: AMOUNT.required("The amount to pay, in minor units."),
    currency: CURRENCY.required("The ISO 4217 code of the merchant's account."),
    payment_method: PAYMENT_METHOD.required("The payment method."),
    token: id::<TokenId>()
        .optional("The card's token (`tok_...`), for a payment by card. A SINGLE token is used up here.")
        .in_examples(),
    card: CARD_REF
        .optional("The saved card: an id (`crd_...`) or the merchant's own identifier. Not together with `token`.")
        .with_name("card_id"),
    plan: words!(InstallmentPlan, id)
        .optional("The instalment plan, from `list-installment-plans`. Required for instalments.")
        .with_name("installment_plan_id"),
    interest_bearer: INTEREST_BEARER.optional("The side that pays the interest. Required for instalments."),
    customer: CUSTOMER_DATA,
} judged by |fields: &mut Fields<'_>| if let Some(method) = payment_method {
    judge(fields, method, matches!((&token, &card), (Some(Some(_)), Some(Some(_)))));
    if let Some(amount) = &amount {
        judge_amount(fields, method, *amount);
    }
} => {
    let selection = match (payment_method, token, card) {
        (PaymentMethod::Installment, _, _) => Selection::Installment(plan?, interest_bearer?),
        (PaymentMethod::Card, Some(token_id), _) => Selection::Token(token_id),
        (PaymentMethod::Card, None, Some(card)) => Selection::SavedCard(card),
        (PaymentMethod::Card, None, None) => Selection::UnnamedCard,
        (PaymentMethod::PromptPay, _, _) => Selection::PromptPay,
        (PaymentMethod::MobileBanking, _, _) => Selection::MobileBanking,
    };
    (installation, SelectPaymentMethod { money: Money { amount, currency }, selection, customer })
});

static SELECT_PAYMENT_METHOD: Declaration = Declaration {
    name: "select-payment-method",
    summary: "Fixes amount and payment method, and answers the payment session (`pse_...`).",
    docs: "The session expires after 30 minutes and can be paid once. Customer fields given here are defaults for the \
        payment.",
    arguments: SELECTED.declared,
    returns: Returns::Id(SessionId::PREFIX),
    errors: &[
        DeclaredError::new(Code::NotFound, "The merchant has no such installation, token or saved card.")
            .with(r#"{"argument": "token"}"#),
        DeclaredError::new(
            Code::NotSupported,
            "The payment method is not enabled, or `token` or `card_id` is given and its `card_entry` is PAGE.",
        ),
        DeclaredError::new(Code::TokenAlreadyUsed, "The SINGLE token was used up before."),
    ],
    flags: Flags::OPEN_COMMAND,
    ..Declaration::command(Package::Sdk, "sessions")
};

/// `POST /sdk/select-payment-method`
async fn select_payment_method(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (caller, command) = service.sdk_call(&call, call.fields().parse(&SELECTED)).await?;
    service.count_write(&call, &caller)?;
    let command = Command::SelectPaymentMethod(command);
    Ok(reply_of(service.submit(&call, caller.merchant_id(), caller.as_domain(), command, None).await?))
}

/// Reports arguments that do not belong to the payment method, and those that it needs.
fn judge(fields: &mut Fields<'_>, method: PaymentMethod, has_both: bool) {
    match method {
        PaymentMethod::Card => {
            refuse_given(fields, &["installment_plan_id", "interest_bearer"], "belongs to instalments only");
            if has_both {
                fields.fault(Fault::invalid("card_id", "cannot be given together with token; send one of them"));
            }
        }
        PaymentMethod::Installment => {
            refuse_given(fields, &["token", "card_id"], "belongs to cards only");
            require_given(fields, &["installment_plan_id", "interest_bearer"]);
        }
        PaymentMethod::PromptPay | PaymentMethod::MobileBanking => {
            refuse_given(fields, &["token", "card_id"], "belongs to cards only");
            refuse_given(fields, &["installment_plan_id", "interest_bearer"], "belongs to instalments only");
        }
    }
}

/// The amount of a QR code has at most twelve digits.
fn judge_amount(fields: &mut Fields<'_>, method: PaymentMethod, amount: AmountMinor) {
    if method == PaymentMethod::PromptPay && amount.get() > PROMPT_PAY_MAX_MINOR {
        let message = format!("must be at most {PROMPT_PAY_MAX_MINOR} for PROMPTPAY");
        fields.fault(Fault::invalid("amount", message));
    }
}

/// Reports arguments that do not belong to the payment method.
pub(super) fn refuse_given(fields: &mut Fields<'_>, names: &[&'static str], message: &'static str) {
    for name in names.iter().copied().filter(|name| fields.is_given(name)).collect::<Vec<_>>() {
        fields.fault(Fault::invalid(name, message));
    }
}

/// Reports missing arguments that instalments need.
pub(super) fn require_given(fields: &mut Fields<'_>, names: &[&'static str]) {
    for name in names.iter().copied().filter(|name| !fields.is_given(name)).collect::<Vec<_>>() {
        fields.fault(Fault::missing_because(name, "is required for instalments"));
    }
}
