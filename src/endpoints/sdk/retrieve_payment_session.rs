//! `POST /sdk/retrieve-payment-session`

use till_domain::failure::FailureCode;
use till_domain::ids::SessionId;
use till_domain::payment::Payment;
use till_domain::session::Session;
use till_domain::time::Millis;

use super::session::{self, INSTALLATION_ERRORS, SESSION};
use crate::endpoints::forms::{INTEREST_BEARER_WORDS, PAYMENT_METHOD_WORDS};
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: Endpoints<MerchantCaller> =
    &[Endpoint(&RETRIEVE_PAYMENT_SESSION, &retrieve_payment_session)];

object! {
    /// A session at the time `now`.
    PAYMENT_SESSION "payment_session" as SessionShape<'a> of (
        session: &'a Session,
        payment: Option<&'a Payment>,
        now: Millis
    ) {
        payment_session_id: Id(SessionId::PREFIX) = session.id, "The session's id (`pse_...`).";
        status: words(&["ACTIVE", "USED", "EXPIRED"]) = status(session, *now),
            "The status: it can be used while it is ACTIVE.";
        amount: MINOR_UNITS = session.money.amount, "The amount to pay, in minor units.", such_as("10000");
        currency: STRING = session.money.currency, "The ISO 4217 code.", such_as("THB");
        payment_method: type(PAYMENT_METHOD_WORDS) = session.instrument.method(), "The payment method.";
        payment_method_display_name: STRING = session.instrument.display_name(),
            "The name of the payment method for a person.", such_as("Visa 4242");
        interest_bearer: type(INTEREST_BEARER_WORDS) or null = session.instrument.interest_bearer(),
            "The side that pays the interest; null without instalments.";
        failure_code: words_of(FailureCode) or null =
            payment.and_then(|payment| payment.failure.as_ref()).map(|failure| failure.code),
            "The reason for which its payment failed; null without.";
        created_at: TIMESTAMP = session.created_at, "The time at which it was created.";
        expires_at: TIMESTAMP = session.expires_at, "The time until which it can be used.", such_as("1767227400");
    }
}

static RETRIEVE_PAYMENT_SESSION: Declaration = Declaration {
    name: "retrieve-payment-session",
    summary: "Returns a payment session.",
    arguments: SESSION.declared,
    returns: Returns::Object(&PAYMENT_SESSION),
    errors: &INSTALLATION_ERRORS,
    flags: Flags::OPEN_QUERY,
    ..Declaration::query(Package::Sdk, "sessions")
};

/// `POST /sdk/retrieve-payment-session`
async fn retrieve_payment_session(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let found = session::find(&service, &call).await?;
    Ok(Reply::new(&SessionShape::new(&found.session, found.payment.as_ref(), found.now)))
}

/// The status of a session at the time `now`.
fn status(session: &Session, now: Millis) -> &'static str {
    match (session.payment_id, session.is_active(now)) {
        (Some(_), _) => "USED",
        (None, true) => "ACTIVE",
        (None, false) => "EXPIRED",
    }
}
