//! `POST /sdk/retrieve-installation-settings`

use till_domain::acquirer::AcquirerName;
use till_domain::merchant::{PaymentMethod, Platform};
use till_domain::records::{Integrations, Rows};
use till_domain::session::InterestBearer;

use super::session::INSTALLATION_ERRORS;
use crate::endpoints::forms::{INTEREST_BEARER_WORDS, PAYMENT_METHOD_WORDS};
use crate::endpoints::prelude::*;
use crate::service::{NamedInstallation, SdkCaller, card_page};

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> =
    &[Endpoint(&RETRIEVE_INSTALLATION_SETTINGS, &retrieve_installation_settings)];

object! {
    /// The data that an installation needs for its payment form.
    SETTINGS "installation_settings" as SettingsShape<'a> of (
        caller: &'a SdkCaller<'a>,
        payment_methods: Vec<PaymentMethod>,
        card_page: Option<AcquirerName>
    ) {
        merchant_name: STRING = caller.profile.name, "The merchant's name.", such_as("Shop");
        currency: STRING = caller.profile.currency, "The ISO 4217 code of the merchant's account.", such_as("THB");
        installation_name: STRING = caller.installation.name,
            "The name that the merchant gave the installation.", such_as("Web");
        platform: words_of(Platform) = caller.installation.platform, "The platform that it runs on.";
        payment_methods: Array(&ValueType::Object(&OFFERED_METHOD)) = offered_methods(payment_methods, *card_page),
            "The methods that can be selected now.";
        interest_bearer: type(INTEREST_BEARER_WORDS) or null =
            payment_methods.iter().copied().find_map(interest_bearer),
            INTEREST_BEARER_DOCS;
    }
}

/// The description of `interest_bearer`.
const INTEREST_BEARER_DOCS: &str =
    "The side that pays the interest when the form does not ask; null without instalments.";

object! {
    /// A method that is offered. The published payment forms choose their fields by its category. The sandbox has no
    /// banks.
    pub(super) OFFERED_METHOD "offered_payment_method" as MethodShape of (
        method: PaymentMethod,
        card_page: Option<AcquirerName>
    ) {
        name: type(PAYMENT_METHOD_WORDS) = method, "The name that a selection gives as `payment_method`.";
        display_name: STRING = method.display_name(), "The name for a customer.", such_as("Card");
        category: words(&["card", "installment", "scan_to_pay", "mobile_banking"]) = category(*method),
            "The category of the method.";
        banks: Array(&ValueType::Object(&BANK)) = Vec::<&str>::new(),
            "The banks that it is limited to; empty where there is no choice.", such_as("[]");
        interest_bearer: type(INTEREST_BEARER_WORDS) or null = interest_bearer(*method), INTEREST_BEARER_DOCS;
        card_entry: words(&["FORM", "PAGE"]) or null = card_entry(*method, *card_page),
            "The place where the customer enters a card: `FORM`, which has it tokenized, or `PAGE`, the acquirer's own \
                page, where a form has no fields and a selection names no card; null for other methods.";
    }
}

object! {
    BANK "bank" {
        name: STRING, "The bank's name.", such_as("Example Bank");
    }
}

static RETRIEVE_INSTALLATION_SETTINGS: Declaration = Declaration {
    name: "retrieve-installation-settings",
    summary: "Returns the data that a client needs for its payment form.",
    arguments: NamedInstallation::arguments::<()>().declared,
    returns: Returns::Object(&SETTINGS),
    errors: &INSTALLATION_ERRORS,
    flags: Flags::OPEN_QUERY,
    ..Declaration::query(Package::Sdk, "installations")
};

/// The methods as a payment form reads them.
pub(super) fn offered_methods(methods: &[PaymentMethod], card_page: Option<AcquirerName>) -> Vec<MethodShape> {
    methods.iter().map(|method| MethodShape::new(*method, card_page)).collect()
}

const fn category(method: PaymentMethod) -> &'static str {
    match method {
        PaymentMethod::Card => "card",
        PaymentMethod::Installment => "installment",
        PaymentMethod::PromptPay => "scan_to_pay",
        PaymentMethod::MobileBanking => "mobile_banking",
    }
}

/// The place where the customer enters a card, when there is one.
const fn card_entry(method: PaymentMethod, card_page: Option<AcquirerName>) -> Option<&'static str> {
    match (method, card_page) {
        (PaymentMethod::Card, Some(_)) => Some("PAGE"),
        (PaymentMethod::Card, None) => Some("FORM"),
        (PaymentMethod::Installment | PaymentMethod::PromptPay | PaymentMethod::MobileBanking, _) => None,
    }
}

const fn interest_bearer(method: PaymentMethod) -> Option<InterestBearer> {
    match method {
        PaymentMethod::Card | PaymentMethod::PromptPay | PaymentMethod::MobileBanking => None,
        PaymentMethod::Installment => Some(InterestBearer::Customer),
    }
}

/// `POST /sdk/retrieve-installation-settings`
async fn retrieve_installation_settings(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let parsed = call.fields().parse(&NamedInstallation::arguments::<()>()).map(|named| (named, ()));
    let (caller, ()) = service.sdk_call(&call, parsed).await?;
    let payment_methods = enabled_methods(&caller.reader)?;
    let card_page = card_page(&caller.reader)?;
    Ok(Reply::new(&SettingsShape::new(&caller, payment_methods, card_page)))
}

/// The methods that can be selected now.
pub(super) fn enabled_methods(reader: &Reader<'_>) -> Result<Vec<PaymentMethod>, ApiError> {
    let mut enabled = Vec::new();
    for method in PaymentMethod::ALL {
        if is_enabled(reader, method)? {
            enabled.push(method);
        }
    }
    Ok(enabled)
}

/// True when a payment method can be selected now.
pub(super) fn is_enabled(reader: &Reader<'_>, method: PaymentMethod) -> Result<bool, ApiError> {
    Ok(reader.get::<Integrations>(method)?.is_some_and(|integration| integration.enabled))
}
