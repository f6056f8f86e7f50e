//! What the state of an intent says of its payment.

use serde_json::Value;
use till_actors::acquirer::{AcquirerUnavailable, ApprovedAuthorization, Awaited, CallAnswer, CallDone, LookedUp};
use till_domain::card::{CardAtAcquirer, CardExpiry, CardScheme};
use till_domain::command::{AuthenticationResult, RequiredAction};
use till_domain::customer_action::{AuthenticationFlow, AuthenticationStatus, AuthenticationVersion, CustomerStep};
use till_domain::failure::{Failure, FailureCode};
use till_domain::text::{ActionAddress, QrText};
use till_domain::time::Millis;

use super::api::NoObject;
use super::failures::{failure_of, request_failure};
use super::objects::{CardDetails, Charge, Expected, Intent, IntentStatus, ObjectId, same};

/// The seconds that a customer has for the issuer's page, and for a QR code.
const CHALLENGE_SECONDS: u64 = 600;
const QR_SECONDS: u64 = 900;

/// The answer to a call that is under way, or whose state has a word that is not known.
pub(crate) const PENDING: CallAnswer = CallAnswer::Pending(Awaited::Time);

/// What has become of an authorization, by its intent.
///
/// # Errors
/// A mismatch.
pub(crate) fn authorization(intent: Intent, expected: &Expected) -> Result<LookedUp, AcquirerUnavailable> {
    intent.check_whole(expected)?;
    let answer = match intent.status {
        IntentStatus::RequiresConfirmation => return Ok(LookedUp::NotDone),
        IntentStatus::RequiresPaymentMethod => match declined_attempt(&intent) {
            Some(answer) => answer,
            None => return Ok(LookedUp::NotDone),
        },
        IntentStatus::RequiresAction => action_answer(&intent.next_action),
        IntentStatus::RequiresCapture | IntentStatus::Succeeded => approval(intent, expected)?,
        IntentStatus::Canceled => end_of_canceled(&intent),
        IntentStatus::Processing | IntentStatus::Other => PENDING,
    };
    Ok(LookedUp::Found(answer))
}

/// A declined authorization.
pub(crate) fn declined_for(failure: impl Into<Failure>) -> CallAnswer {
    CallAnswer::Declined { failure: failure.into(), authentication: None }
}

/// The end of an intent that nobody can pay any more.
fn end_of_canceled(intent: &Intent) -> CallAnswer {
    let was_held = intent.latest_charge.as_ref().is_some_and(|charge| charge.paid);
    declined_for(match intent.cancellation_reason.as_deref() {
        _ if was_held => FailureCode::AuthorizationExpired,
        Some("abandoned") => FailureCode::CustomerActionTimedOut,
        _ => FailureCode::CanceledByCustomer,
    })
}

fn declined_attempt(intent: &Intent) -> Option<CallAnswer> {
    let error = intent.last_payment_error.as_ref()?;
    let of_error = |id: &ObjectId| error.charge.as_deref() == Some(id.as_str());
    let charge = intent.latest_charge.as_ref().filter(|charge| of_error(&charge.id));
    let card = charge.and_then(Charge::card);
    let failure = failure_of(error, FailureCode::CardDeclined);
    Some(CallAnswer::Declined { failure, authentication: card.and_then(authentication) })
}

fn approval(intent: Intent, expected: &Expected) -> Result<CallAnswer, AcquirerUnavailable> {
    let captured = intent.status == IntentStatus::Succeeded;
    let moved = if captured { intent.amount_received } else { intent.amount_capturable };
    same(moved == expected.amount(), "amount")?;
    let card = intent.latest_charge.as_ref().and_then(Charge::card);
    Ok(CallAnswer::Done(CallDone::Approved(ApprovedAuthorization {
        captured,
        settles_at_once: false,
        is_disputed: false,
        authentication: card.and_then(authentication),
        capture_before: card.and_then(|card| card.capture_before).map(|seconds| Millis(0).plus_seconds(seconds)),
        card: card.and_then(card_at_acquirer),
        acquirer_reference: intent.id.into_text(),
    })))
}

/// What the customer is asked; pending for an action that is not known.
fn action_answer(action: &Value) -> CallAnswer {
    let redirect = action["redirect_to_url"]["url"].as_str().and_then(page);
    let code = action["promptpay_display_qr_code"]["data"].as_str().and_then(|code| QrText::new(code).ok());
    let (step, authenticates, lifetime_seconds) = match (redirect, code) {
        (Some(address), _) => (CustomerStep::Redirect(address), true, CHALLENGE_SECONDS),
        (None, Some(text)) => (CustomerStep::DisplayQr(text), false, QR_SECONDS),
        (None, None) => return PENDING,
    };
    CallAnswer::NeedsAction(RequiredAction { step, authenticates, lifetime_seconds })
}

/// The address of a page of Stripe's or an issuer's.
pub(crate) fn page(url: &str) -> Option<ActionAddress> {
    let is_absolute = url.starts_with("https://") || url.starts_with("http://");
    ActionAddress::new(url).ok().filter(|_| is_absolute)
}

/// The result of 3-D Secure; none for an exemption, and for a word that is not known.
fn authentication(card: &CardDetails) -> Option<AuthenticationResult> {
    let word = |member: &str| card.three_d_secure[member].as_str();
    let status = match (word("result")?, word("result_reason")) {
        ("authenticated", _) => AuthenticationStatus::Authenticated,
        ("attempt_acknowledged", _) => AuthenticationStatus::Attempted,
        ("failed", Some("rejected")) | ("rejected", _) => AuthenticationStatus::Rejected,
        ("failed", _) => AuthenticationStatus::NotAuthenticated,
        ("not_supported" | "processing_error", _) => AuthenticationStatus::Unavailable,
        _ => return None,
    };
    let flow = match word("authentication_flow") {
        Some("challenge") => AuthenticationFlow::Challenge,
        _ => AuthenticationFlow::Frictionless,
    };
    let eci = word("electronic_commerce_indicator").and_then(|text| text.parse().ok());
    let version = AuthenticationVersion::ALL.into_iter().find(|known| word("version") == Some(known.name()));
    Some(AuthenticationResult { flow, status, eci, version })
}

fn card_at_acquirer(card: &CardDetails) -> Option<CardAtAcquirer> {
    let is_last_four = |digits: &&str| digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let last_digits = card.last4.as_deref().filter(is_last_four)?.to_owned();
    let is_expiry = (1..=12).contains(&card.exp_month);
    let expiry = is_expiry.then_some(CardExpiry { year: card.exp_year, month: card.exp_month })?;
    // Stripe's words for the schemes are ours in lower case.
    let is_brand = |scheme: &CardScheme| card.brand.as_deref().is_some_and(|it| it.eq_ignore_ascii_case(scheme.name()));
    let scheme = CardScheme::ALL.into_iter().find(is_brand).unwrap_or(CardScheme::Other);
    Some(CardAtAcquirer { scheme, last_digits, expiry })
}

/// The answer to a call, by what was read of its object. What a refused one has come to is looked up; when it is not
/// done, the refusal is the answer.
///
/// # Errors
/// [`AcquirerUnavailable`] when there is no clear answer, or the object does not have the call's effect.
pub(crate) async fn carried_out(
    made: Result<LookedUp, NoObject>,
    look_up: impl Future<Output = Result<LookedUp, AcquirerUnavailable>> + Send,
) -> Result<CallAnswer, AcquirerUnavailable> {
    match made {
        Ok(LookedUp::Found(answer)) => Ok(answer),
        Ok(LookedUp::NotDone) => Err(AcquirerUnavailable::unknown("its answer is as if nothing had been asked")),
        Err(NoObject::Refused(error)) => match look_up.await? {
            LookedUp::Found(answer) => Ok(answer),
            LookedUp::NotDone => Ok(declined_for(request_failure(&error))),
        },
        Err(other) => Err(other.unclear()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use till_actors::acquirer::UnansweredOutcome;
    use till_domain::acquirer::AccountMode;
    use till_domain::ids::PaymentId;
    use till_domain::money::{AmountMinor, Money};

    const PAYMENT: PaymentId = PaymentId::from_bytes([1; 16]);

    fn expected() -> Expected {
        let money =
            Money { amount: AmountMinor::new(100).expect("an amount"), currency: "THB".parse().expect("a currency") };
        Expected::payment(PAYMENT, money, AccountMode::Live)
    }

    /// The members of an intent that is paid, with these in their place.
    fn intent(members: &Value) -> serde_json::Result<Intent> {
        let mut intent = json!({
            "id": "pi_1", "livemode": true, "amount": 100, "amount_capturable": 0, "amount_received": 100,
            "currency": "thb", "metadata": { "till_reference": format!("{PAYMENT}/authorize") }, "status": "succeeded",
            "a_member_of_next_year": { "status": "failed" },
        });
        for (name, value) in members.as_object().expect("an object") {
            intent[name] = value.clone();
        }
        serde_json::from_value(intent)
    }

    #[test]
    fn an_intent_is_read_by_the_members_that_are_known() {
        let found = authorization(intent(&json!({})).expect("an intent"), &expected());
        assert!(matches!(found, Ok(LookedUp::Found(CallAnswer::Done(_)))), "{found:?}");
    }

    #[test]
    fn a_word_that_is_not_known_is_pending() {
        let unknown_action = json!({ "type": "dance", "dance": {} });
        for members in [
            json!({ "status": "a_status_of_next_year" }),
            json!({ "status": "requires_action" }),
            json!({ "status": "requires_action", "next_action": unknown_action }),
        ] {
            let found = authorization(intent(&members).expect("an intent"), &expected());
            assert_eq!(found, Ok(LookedUp::Found(PENDING)), "{members}");
        }
    }

    #[test]
    fn an_intent_without_what_is_asked_of_it_is_not_read() {
        for members in [
            json!({ "amount": 100.5 }),
            json!({ "amount": null }),
            json!({ "amount_received": "100" }),
            json!({ "livemode": "true" }),
            json!({ "id": "../accounts" }),
            json!({ "id": "" }),
            json!({ "latest_charge": "ch_1" }),
            json!({ "status": null }),
        ] {
            assert!(intent(&members).is_err(), "{members}");
        }
    }

    #[test]
    fn an_intent_of_something_else_is_told_and_decides_nothing() {
        for members in [
            json!({ "amount": 99 }),
            json!({ "amount_received": 99 }),
            json!({ "status": "requires_capture", "amount_capturable": 101 }),
            json!({ "currency": "eur" }),
            json!({ "metadata": {} }),
            json!({ "livemode": false }),
            json!({ "status": "canceled", "livemode": false }),
        ] {
            let found = authorization(intent(&members).expect("an intent"), &expected());
            let outcome = found.map_err(|error| error.outcome);
            assert_eq!(outcome, Err(UnansweredOutcome::Mismatch), "{members}");
        }
    }
}
