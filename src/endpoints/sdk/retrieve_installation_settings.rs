//! `POST /sdk/retrieve-installation-settings`

use serde::Serialize;
use till_domain::merchant::PaymentMethod;
use till_domain::records::Integrations;

use super::session::INSTALLATION_ERRORS;
use crate::access::MerchantCaller;
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::{Attribute, Declaration, Flags, ObjectType, Package, Returns, ValueType};
use crate::protocol::dispatch::{Call, Reply};
use crate::service::{Named, Reader, SdkCaller, Shared};

static SETTINGS: ObjectType = ObjectType {
    name: "installation_settings",
    attributes: &[
        Attribute::always("merchant_name", ValueType::STRING, "The merchant's name."),
        Attribute::always("currency", ValueType::STRING, "The ISO 4217 code of the merchant's account."),
        Attribute::always("installation_name", ValueType::STRING, "What the merchant calls the installation."),
        Attribute::always("platform", ValueType::words(&["WEB", "IOS", "ANDROID", "TERMINAL"]), "Where it runs."),
        Attribute::always("payment_methods", ValueType::ARRAY, "What can be selected now: CARD, INSTALLMENT."),
    ],
};

/// The declaration.
pub(super) static RETRIEVE_INSTALLATION_SETTINGS: Declaration = Declaration {
    name: "retrieve-installation-settings",
    package: Package::Sdk,
    group: "installations",
    summary: "Answers what a client needs to show its payment form.",
    docs: "",
    arguments: &SdkCaller::ARGUMENTS,
    returns: Returns::Object(&SETTINGS),
    errors: &INSTALLATION_ERRORS,
    flags: Flags::OPEN_QUERY,
};

#[derive(Serialize)]
struct SettingsShape<'a> {
    merchant_name: &'a str,
    currency: &'a str,
    installation_name: &'a str,
    platform: &'static str,
    payment_methods: Vec<&'static str>,
}

/// `POST /sdk/retrieve-installation-settings`
pub(super) async fn retrieve_installation_settings(
    service: Shared,
    call: Call<MerchantCaller>,
) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let named = Named::read(&mut fields);
    let parsed = fields.finish(|| Some((named?, ())));
    let (caller, ()) = service.sdk_call(&call, parsed).await?;
    Ok(Reply::new(&SettingsShape {
        merchant_name: caller.profile.name.as_str(),
        currency: caller.profile.currency.code(),
        installation_name: caller.installation.name.as_str(),
        platform: caller.installation.platform.name(),
        payment_methods: enabled_methods(&caller.reader)?,
    }))
}

fn enabled_methods(reader: &Reader<'_>) -> Result<Vec<&'static str>, ApiError> {
    let mut enabled = Vec::new();
    for method in PaymentMethod::ALL {
        if is_enabled(reader, method)? {
            enabled.push(method.name());
        }
    }
    Ok(enabled)
}

/// Whether a payment method can be selected now.
pub(super) fn is_enabled(reader: &Reader<'_>, method: PaymentMethod) -> Result<bool, ApiError> {
    Ok(reader.get::<Integrations>(method)?.is_some_and(|integration| integration.enabled))
}
