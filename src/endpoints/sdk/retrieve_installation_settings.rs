//! `POST /sdk/retrieve-installation-settings`

use serde::Serialize;
use till_domain::merchant::{PaymentMethod, Platform};
use till_domain::records::{Integrations, Rows};
use till_domain::session::InterestBearer;

use super::session::INSTALLATION_ERRORS;
use crate::endpoints::forms::{INTEREST_BEARER_WORDS, PAYMENT_METHOD_WORDS};
use crate::endpoints::prelude::*;
use crate::protocol::declaration::{Attribute, ObjectType};
use crate::service::NamedInstallation;

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> =
    &[Endpoint(&RETRIEVE_INSTALLATION_SETTINGS, &retrieve_installation_settings)];

static SETTINGS: ObjectType = ObjectType {
    name: "installation_settings",
    attributes: &[
        Attribute::always("merchant_name", ValueType::STRING, "The merchant's name.").such_as("Shop"),
        Attribute::always("currency", ValueType::STRING, "The ISO 4217 code of the merchant's account.").such_as("THB"),
        Attribute::always("installation_name", ValueType::STRING, "The name that the merchant gave the installation.")
            .such_as("Web"),
        Attribute::always("platform", words_of!(Platform), "The platform that it runs on."),
        Attribute::always(
            "payment_methods",
            ValueType::Array(&ValueType::Object(&OFFERED_METHOD)),
            "The methods that can be selected now.",
        ),
        Attribute::nullable("interest_bearer", INTEREST_BEARER_WORDS, INTEREST_BEARER_DOCS),
    ],
};

/// The description of `interest_bearer`.
const INTEREST_BEARER_DOCS: &str =
    "The side that pays the interest when the form does not ask; null without instalments.";

/// The declared members of a method that is offered.
static OFFERED_METHOD: ObjectType = ObjectType {
    name: "offered_payment_method",
    attributes: &[
        Attribute::always("name", PAYMENT_METHOD_WORDS, "The name that a selection gives as `payment_method`."),
        Attribute::always("display_name", ValueType::STRING, "The name for a customer.").such_as("Card"),
        Attribute::always(
            "category",
            ValueType::words(&["card", "installment", "scan_to_pay", "redirect"]),
            "The category of the method.",
        ),
        Attribute::always(
            "banks",
            ValueType::Array(&ValueType::Object(&BANK)),
            "The banks that it is limited to; empty where there is no choice.",
        )
        .such_as("[]"),
        Attribute::nullable("interest_bearer", INTEREST_BEARER_WORDS, INTEREST_BEARER_DOCS),
    ],
};

/// The declared members of a bank.
static BANK: ObjectType = ObjectType {
    name: "bank",
    attributes: &[Attribute::always("name", ValueType::STRING, "The bank's name.").such_as("Example Bank")],
};

static RETRIEVE_INSTALLATION_SETTINGS: Declaration = Declaration {
    name: "retrieve-installation-settings",
    summary: "Returns the data that a client needs for its payment form.",
    arguments: NamedInstallation::arguments::<()>().declared,
    returns: Returns::Object(&SETTINGS),
    errors: &INSTALLATION_ERRORS,
    flags: Flags::OPEN_QUERY,
    ..Declaration::query(Package::Sdk, "installations")
};

#[derive(Serialize)]
struct SettingsShape<'a> {
    merchant_name: &'a str,
    currency: &'a str,
    installation_name: &'a str,
    platform: &'static str,
    payment_methods: Vec<MethodShape>,
    interest_bearer: Option<&'static str>,
}

/// A method that is offered. The published payment forms choose their fields by its category.
#[derive(Serialize)]
struct MethodShape {
    name: &'static str,
    display_name: &'static str,
    category: &'static str,
    /// Would hold objects with a `name`; the sandbox has no banks.
    banks: [(); 0],
    interest_bearer: Option<&'static str>,
}

impl MethodShape {
    fn new(method: PaymentMethod) -> MethodShape {
        let (category, interest_bearer) = match method {
            PaymentMethod::Card => ("card", None),
            PaymentMethod::Installment => ("installment", Some(InterestBearer::Customer.name())),
        };
        MethodShape { name: method.name(), display_name: method.display_name(), category, banks: [], interest_bearer }
    }
}

/// `POST /sdk/retrieve-installation-settings`
async fn retrieve_installation_settings(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let parsed = call.fields().parse(&NamedInstallation::arguments::<()>()).map(|named| (named, ()));
    let (caller, ()) = service.sdk_call(&call, parsed).await?;
    let payment_methods = enabled_methods(&caller.reader)?;
    Ok(Reply::new(&SettingsShape {
        merchant_name: caller.profile.name.as_str(),
        currency: caller.profile.currency.code(),
        installation_name: caller.installation.name.as_str(),
        platform: caller.installation.platform.name(),
        interest_bearer: payment_methods.iter().find_map(|method| method.interest_bearer),
        payment_methods,
    }))
}

fn enabled_methods(reader: &Reader<'_>) -> Result<Vec<MethodShape>, ApiError> {
    let mut enabled = Vec::new();
    for method in PaymentMethod::ALL {
        if is_enabled(reader, method)? {
            enabled.push(MethodShape::new(method));
        }
    }
    Ok(enabled)
}

/// True when a payment method can be selected now.
pub(super) fn is_enabled(reader: &Reader<'_>, method: PaymentMethod) -> Result<bool, ApiError> {
    Ok(reader.get::<Integrations>(method)?.is_some_and(|integration| integration.enabled))
}
