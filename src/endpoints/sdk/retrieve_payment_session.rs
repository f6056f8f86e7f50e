//! `POST /sdk/retrieve-payment-session`

use serde::Serialize;
use till_domain::ids::SessionId;

use super::session::{self, INSTALLATION_ERRORS, SESSION};
use crate::endpoints::forms::{INTEREST_BEARER_WORDS, PAYMENT_METHOD_WORDS};
use crate::endpoints::prelude::*;
use crate::protocol::declaration::{Attribute, ObjectType};

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> =
    &[Endpoint(&RETRIEVE_PAYMENT_SESSION, &retrieve_payment_session)];

static PAYMENT_SESSION: ObjectType = ObjectType {
    name: "payment_session",
    attributes: &[
        Attribute::always("payment_session_id", ValueType::Id(SessionId::PREFIX), "The session's id (`pse_...`)."),
        Attribute::always(
            "status",
            ValueType::words(&["ACTIVE", "USED", "EXPIRED"]),
            "The status: it can be used while it is ACTIVE.",
        ),
        Attribute::always("amount", ValueType::INTEGER, "The amount to pay, in minor units.").such_as("10000"),
        Attribute::always("currency", ValueType::STRING, "The ISO 4217 code.").such_as("THB"),
        Attribute::always("payment_method", PAYMENT_METHOD_WORDS, "The payment method."),
        Attribute::always(
            "payment_method_display_name",
            ValueType::STRING,
            "The name of the payment method for a person.",
        )
        .such_as("Visa 4242"),
        Attribute::nullable(
            "interest_bearer",
            INTEREST_BEARER_WORDS,
            "The side that pays the interest; null without instalments.",
        ),
        Attribute::always("created_at", ValueType::TIMESTAMP, "The time at which it was created."),
        Attribute::always("expires_at", ValueType::TIMESTAMP, "The time until which it can be used.")
            .such_as("1767227400"),
    ],
};

static RETRIEVE_PAYMENT_SESSION: Declaration = Declaration {
    name: "retrieve-payment-session",
    summary: "Returns a payment session.",
    arguments: SESSION.declared,
    returns: Returns::Object(&PAYMENT_SESSION),
    errors: &INSTALLATION_ERRORS,
    flags: Flags::OPEN_QUERY,
    ..Declaration::query(Package::Sdk, "sessions")
};

#[derive(Serialize)]
struct SessionShape<'a> {
    payment_session_id: String,
    status: &'static str,
    amount: u64,
    currency: &'a str,
    payment_method: &'static str,
    payment_method_display_name: String,
    interest_bearer: Option<&'static str>,
    created_at: u64,
    expires_at: u64,
}

/// `POST /sdk/retrieve-payment-session`
async fn retrieve_payment_session(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let found = session::find(&service, &call).await?;
    let session = found.session;
    let status = match (session.payment_id, session.is_active(found.now)) {
        (Some(_), _) => "USED",
        (None, true) => "ACTIVE",
        (None, false) => "EXPIRED",
    };
    Ok(Reply::new(&SessionShape {
        payment_session_id: session.id.to_string(),
        status,
        amount: session.money.amount.get(),
        currency: session.money.currency.code(),
        payment_method: session.instrument.method().name(),
        payment_method_display_name: session.instrument.display_name(),
        interest_bearer: session.instrument.interest_bearer().map(|bearer| bearer.name()),
        created_at: session.created_at.unix_seconds(),
        expires_at: session.expires_at.unix_seconds(),
    }))
}
