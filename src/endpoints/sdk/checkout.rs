//! `POST /sdk/retrieve-checkout` and `pay-checkout`: the customer's calls about a checkout.

use till_domain::card::Card;
use till_domain::checkout::{Checkout, CheckoutStatus};
use till_domain::command::{CheckoutChoice, Command, PayCheckout};
use till_domain::failure::FailureCode;
use till_domain::ids::{CardId, CheckoutId, SessionId, TokenId};
use till_domain::merchant::PaymentMethod;
use till_domain::records::{Checkouts, Rows};
use till_domain::session::InstallmentPlan;
use till_domain::time::Millis;
use till_protocol::arguments::id;
use till_protocol::fault::Fault;
use till_protocol::fields::Fields;

use super::list_installment_plans::{INSTALLMENT_PLAN, PlanShape};
use super::retrieve_installation_settings::{OFFERED_METHOD, offered_methods};
use super::select_payment_method::{refuse_given, require_given};
use super::session::INSTALLATION_ERRORS;
use crate::endpoints::forms::{BOOLEAN, CARD_REF, CHECKOUT_REFERENCE, PAYMENT_METHOD, SESSION_ID, words};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::checkout::{CHECKOUT_LINE, LineShape};
use crate::service::{CheckoutReference, NamedInstallation, OfferedCheckout, SdkCaller, given_up_to, reply_of};

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> =
    &[Endpoint(&RETRIEVE_CHECKOUT, &retrieve_checkout), Endpoint(&PAY_CHECKOUT, &pay_checkout)];

pub(in crate::endpoints) const REFERENCE: Required<CheckoutReference> = CHECKOUT_REFERENCE
    .required("The checkout: the last segment of its address, which is its id, a full stop and its secret.")
    .with_name("checkout_id");

const NAMED: ArgumentSet<(NamedInstallation, CheckoutReference)> = arguments!({
    named: NamedInstallation::arguments::<()>(),
    reference: REFERENCE,
} => (named, reference));

object! {
    /// The checkout as its customer sees it, at the time `now`.
    OFFERED_CHECKOUT "offered_checkout" as OfferedShape<'a> of (
        caller: &'a SdkCaller<'a>,
        offered: &'a OfferedCheckout,
        now: Millis
    ) {
        checkout_id: Id(CheckoutId::PREFIX) = offered.checkout.id, "The checkout's id (`chk_...`).";
        status: words_of(CheckoutStatus) = offered.checkout.status_at(*now), "The status.";
        merchant_name: STRING = caller.profile.name, "The merchant's name.", such_as("Shop");
        amount: MINOR_UNITS = offered.checkout.money.amount, "The amount in minor units.", such_as("10000");
        currency: STRING = offered.checkout.money.currency, "The ISO 4217 code.", such_as("THB");
        lines: Array(&ValueType::Object(&CHECKOUT_LINE)) = lines(&offered.checkout),
            "The lines of the order; empty without.";
        payment_methods: Array(&ValueType::Object(&OFFERED_METHOD)) =
            offered_methods(&offered.methods, offered.card_page),
            "The methods that can pay it now.";
        saved_cards: Array(&ValueType::Object(&SAVED_CARD)) =
            offered.saved_cards.iter().map(SavedCardShape::new).collect::<Vec<_>>(),
            "The saved cards of its customer, where the shop offers them, the checkout is open, and cards are entered \
                in a form.";
        installment_plans: Array(&ValueType::Object(&INSTALLMENT_PLAN)) =
            offered.plans().into_iter().map(PlanShape::new).collect::<Vec<_>>(),
            "The instalment plans that can be chosen.";
        return_url: URL = given_up_to(&offered.checkout), "The page of the shop for a customer who gives up.";
        payment_session_id: Id(SessionId::PREFIX) or null = offered.payment.as_ref().map(|payment| payment.session_id),
            "The session of the payment that is in progress, or of the last one.", in_examples;
        failure_code: words_of(FailureCode) or null = failure_code(offered),
            "The reason for which the last payment failed.";
        is_sandbox: BOOLEAN = offered.is_sandbox, "True while the sandbox plays the acquirer: no real money moves.";
        expires_at: TIMESTAMP = offered.checkout.expires_at, "The time until which a new payment can be made of it.";
    }
}

object! {
    /// A saved card as its customer knows it.
    SAVED_CARD "offered_card" as SavedCardShape<'a> of (card: &'a Card) {
        card_id: Id(CardId::PREFIX) = card.id, "The card's id, which a payment names.";
        display_name: STRING = format!("{} {}", card.card.scheme.display_name(), card.card.last_digits),
            "Its network and last four digits.", such_as("Visa 4242");
        expiration_date: STRING = card.card.expiry, "The last month in which it is valid, `MM/YY`.", such_as("12/49");
    }
}

fn lines(checkout: &Checkout) -> Vec<LineShape<'_>> {
    checkout.lines.iter().map(LineShape::new).collect()
}

fn failure_code(offered: &OfferedCheckout) -> Option<FailureCode> {
    let payment = offered.payment.as_ref().filter(|_| !offered.checkout.in_progress)?;
    payment.failure.as_ref().map(|failure| failure.code)
}

static RETRIEVE_CHECKOUT: Declaration = Declaration {
    name: "retrieve-checkout",
    summary: "Returns what the customer of a checkout sees and chooses among.",
    arguments: NAMED.declared,
    returns: Returns::Object(&OFFERED_CHECKOUT),
    errors: &INSTALLATION_ERRORS,
    flags: Flags::OPEN_QUERY,
    ..Declaration::query(Package::Sdk, "checkouts")
};

/// `POST /sdk/retrieve-checkout`
async fn retrieve_checkout(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (caller, reference) = service.sdk_call(&call, call.fields().parse(&NAMED)).await?;
    let checkout_id = service.opened_checkout(caller.merchant_id(), reference).ok_or_else(no_such_checkout)?;
    let checkout = caller.reader.get::<Checkouts>(checkout_id)?;
    let checkout = checkout.filter(|checkout| checkout.installation_id == caller.installation.id);
    let checkout = checkout.ok_or_else(no_such_checkout)?;
    let now = service.merchant_now(caller.merchant_id())?;
    let offered = OfferedCheckout::read(&caller.reader, checkout, now)?;
    Ok(Reply::new(&OfferedShape::new(&caller, &offered, now)))
}

/// The refusal of a checkout that a reference does not open. It does not tell whether there is one.
pub(in crate::endpoints) fn no_such_checkout() -> ApiError {
    let message = "No checkout of this installation opens with this checkout_id. Send the last segment of the address \
        that start-checkout answered, whole: id, full stop and secret.";
    ApiError::not_found("checkout_id", message)
}

const PAID: ArgumentSet<(NamedInstallation, (CheckoutReference, PayCheckout))> = arguments!({
    named: NamedInstallation::arguments::<()>(),
    reference: REFERENCE,
    payment_method: PAYMENT_METHOD.required("The payment method that the customer chose."),
    token: id::<TokenId>()
        .optional("The card's token (`tok_...`), for a payment by card. Where `card_entry` is PAGE, neither it nor \
            `card_id` is given.")
        .in_examples(),
    card: CARD_REF.optional("A saved card that the checkout offers. Not together with `token`.").with_name("card_id"),
    plan: words!(InstallmentPlan, id)
        .optional("The instalment plan. Required for instalments.")
        .with_name("installment_plan_id"),
    saves_card: BOOLEAN
        .optional("True saves the card for next time, of a token for several uses and where the checkout offers it.")
        .with_name("save_card"),
    replaces: SESSION_ID.optional("The session (`pse_...`) of the payment that the customer gives up."),
} judged by |fields: &mut Fields<'_>| if let Some(method) = payment_method {
    judge(fields, method);
} => {
    let choice = match (payment_method, token, card) {
        (PaymentMethod::Card, Some(token_id), _) => CheckoutChoice::Token(token_id),
        (PaymentMethod::Card, None, Some(card)) => CheckoutChoice::SavedCard(card),
        (PaymentMethod::Card, None, None) => CheckoutChoice::AcquirerPage,
        (PaymentMethod::Installment, _, _) => CheckoutChoice::Installment(plan?),
        (PaymentMethod::PromptPay, _, _) => CheckoutChoice::PromptPay,
        (PaymentMethod::MobileBanking, _, _) => CheckoutChoice::MobileBanking,
    };
    let (checkout_id, saves_card) = (reference.id, saves_card.unwrap_or(false));
    (named, (reference, PayCheckout { checkout_id, choice, saves_card, replaces }))
});

/// Reports arguments that do not belong to the payment method, and those that it needs.
fn judge(fields: &mut Fields<'_>, method: PaymentMethod) {
    if method == PaymentMethod::Card {
        refuse_given(fields, &["installment_plan_id"], "belongs to instalments only");
        if fields.is_given("token") && fields.is_given("card_id") {
            fields.fault(Fault::invalid("card_id", "cannot be given together with token; send one of them"));
        }
        return;
    }
    refuse_given(fields, &["token", "card_id", "save_card"], "belongs to cards only");
    match method {
        PaymentMethod::Installment => require_given(fields, &["installment_plan_id"]),
        PaymentMethod::PromptPay | PaymentMethod::MobileBanking => {
            refuse_given(fields, &["installment_plan_id"], "belongs to instalments only");
        }
        PaymentMethod::Card => {}
    }
}

pub(crate) static PAY_CHECKOUT: Declaration = Declaration {
    name: "pay-checkout",
    summary: "Pays a checkout: selects the method and initiates the payment in one step. Answers the payment session \
        (`pse_...`).",
    docs: "While a payment of the checkout is in progress, and once it is paid, the session of that payment is \
        answered and nothing new is made. `replaces` gives a payment up whose customer must act, and makes another \
        one. Then ask `discover-next-action`.",
    arguments: PAID.declared,
    returns: Returns::Id(SessionId::PREFIX),
    errors: &[
        DeclaredError::new(
            Code::NotFound,
            "There is no such installation, checkout, token, saved card or replaced session.",
        )
        .with(r#"{"argument": "checkout_id"}"#),
        DeclaredError::new(Code::InvalidState, "The checkout takes no new payment: details name its `status`.")
            .with(r#"{"status": "EXPIRED"}"#),
        DeclaredError::new(
            Code::NotSupported,
            "The checkout does not offer the payment method, it is not enabled, or a card is given and `card_entry` is \
                PAGE.",
        ),
        DeclaredError::new(Code::TokenAlreadyUsed, "The SINGLE token was used up before."),
        DeclaredError::new(Code::AmountExceedsLimit, "A total of the ledger would exceed 2^53 - 1 minor units."),
    ],
    flags: Flags::OPEN_COMMAND,
    ..Declaration::command(Package::Sdk, "checkouts")
};

/// `POST /sdk/pay-checkout`
async fn pay_checkout(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (caller, (reference, command)) = service.sdk_call(&call, call.fields().parse(&PAID)).await?;
    service.opened_checkout(caller.merchant_id(), reference).ok_or_else(no_such_checkout)?;
    let command = Command::PayCheckout(command);
    Ok(reply_of(service.submit(&call, caller.merchant_id(), caller.as_domain(), command, None).await?))
}
