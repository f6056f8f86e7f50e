//! Cancellations of what a customer was asked: a page is expired, an intent canceled.

use till_actors::acquirer::{AcquirerUnavailable, CallAnswer, CallDone, CancelRequest, LookedUp};

use super::api::{Api, EXPAND, FormBody, NoObject};
use super::authorizations::SoughtPayment;
use super::objects::{CardPage, CardPageStatus, Expected, Intent, IntentStatus};
use super::outcomes::{PENDING, authorization, carried_out};

const CANCELED: CallAnswer = CallAnswer::Done(CallDone::Canceled);

/// Cancels what was made ready for an authorization. When nothing was, there is nothing that anybody could pay.
pub(crate) async fn act(api: &Api, request: &CancelRequest) -> Result<CallAnswer, AcquirerUnavailable> {
    let Some(sought) = sought(api, request) else { return Ok(CANCELED) };
    let reason = if request.deadline_passed { "abandoned" } else { "requested_by_customer" };
    carried_out(cancel(&sought, reason).await, look_up_in(&sought)).await
}

/// Looks up what has become of a cancellation.
pub(crate) async fn look_up(api: &Api, request: &CancelRequest) -> Result<LookedUp, AcquirerUnavailable> {
    match sought(api, request) {
        Some(sought) => look_up_in(&sought).await,
        None => Ok(LookedUp::Found(CANCELED)),
    }
}

fn sought<'a>(api: &'a Api, request: &'a CancelRequest) -> Option<SoughtPayment<'a>> {
    SoughtPayment::of(api, request.payment, request.money, request.prepared.as_ref())
}

async fn cancel(sought: &SoughtPayment<'_>, reason: &'static str) -> Result<LookedUp, NoObject> {
    let SoughtPayment { api, expected, .. } = sought;
    if sought.is_at_page() {
        let form = FormBody::new().with(EXPAND, "payment_intent.latest_charge");
        return Ok(of_session(api.call(&sought.path("/expire"), Some(&form), None).await?, expected)?);
    }
    let form = FormBody::new().with("cancellation_reason", reason).with(EXPAND, "latest_charge");
    Ok(of_intent(api.call(&sought.path("/cancel"), Some(&form), None).await?, expected)?)
}

async fn look_up_in(sought: &SoughtPayment<'_>) -> Result<LookedUp, AcquirerUnavailable> {
    if sought.is_at_page() {
        return of_session(sought.session().await?, &sought.expected);
    }
    of_intent(sought.intent().await?, &sought.expected)
}

fn of_session(session: CardPage, expected: &Expected) -> Result<LookedUp, AcquirerUnavailable> {
    session.check(expected)?;
    Ok(match (session.status, session.payment_intent) {
        (CardPageStatus::Open, _) => LookedUp::NotDone,
        (CardPageStatus::Expired, None) => LookedUp::Found(CANCELED),
        (CardPageStatus::Complete | CardPageStatus::Expired, Some(intent)) => match of_intent(intent, expected)? {
            // The last attempt has failed, and the page takes no other.
            LookedUp::NotDone => LookedUp::Found(CANCELED),
            found @ LookedUp::Found(_) => found,
        },
        (CardPageStatus::Complete, None) | (CardPageStatus::Other, _) => LookedUp::Found(PENDING),
    })
}

/// An intent that was charged is too late to cancel: its approval is the answer.
fn of_intent(intent: Intent, expected: &Expected) -> Result<LookedUp, AcquirerUnavailable> {
    intent.check_whole(expected)?;
    match intent.status {
        IntentStatus::RequiresCapture | IntentStatus::Succeeded => authorization(intent, expected),
        IntentStatus::Canceled => Ok(LookedUp::Found(CANCELED)),
        IntentStatus::Processing | IntentStatus::Other => Ok(LookedUp::Found(PENDING)),
        IntentStatus::RequiresPaymentMethod | IntentStatus::RequiresConfirmation | IntentStatus::RequiresAction => {
            Ok(LookedUp::NotDone)
        }
    }
}
