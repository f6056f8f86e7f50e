//! The calls that cause each event, with the sandbox's cards of `docs/sandbox.md`.

use anyhow::ensure;
use serde_json::{Value, json};

use super::Event;
use super::merchant::{EventSubject, MerchantClient};
use crate::commands::progress::say;

/// The card that always succeeds.
const CARD: &str = "4242424242424242";
/// The card whose captures are refused.
const REFUSED_CAPTURE: &str = "4000000000003055";

/// The card whose payments are disputed as soon as they are captured.
const DISPUTED: &str = "4000000000000259";
/// The card whose money is available at once.
const SETTLES_AT_ONCE: &str = "4000000000000077";

/// The card whose issuer asks the customer.
const CHALLENGED: &str = "4000002760003184";

/// The amount of a payout, in minor units: the sandbox pays it at once.
const PAYOUT: &str = "1000";
/// The amount of a payment, in minor units.
const AMOUNT: &str = "10000";

/// The calls that cause an event: a payment, and the calls that follow it.
pub(super) struct CallSequence {
    card: &'static str,
    capture: Capture,
    then: Option<Then>,
}

/// The moment of the capture.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Capture {
    AtOnce,
    Later,
}

/// A call after the payment.
#[derive(Clone, Copy)]
enum Then {
    /// A call about the payment, which must have the status.
    OfPayment { endpoint: &'static str, at: &'static str },
    /// Concedes the dispute about the payment.
    ConcedeDispute,
    /// Pays out a part of the payment's money.
    SendPayout,
}

/// The calls that cause the event; None when no call can.
pub(super) fn plan(event: Event) -> Option<CallSequence> {
    let later = |card, then| CallSequence { card, capture: Capture::Later, then };
    let at_once = |card, then| CallSequence { card, capture: Capture::AtOnce, then };
    let authorized = |endpoint| Some(Then::OfPayment { endpoint, at: "AUTHORIZED" });
    let captured = |endpoint| Some(Then::OfPayment { endpoint, at: "SUCCESSFUL" });
    match event {
        Event::PaymentAuthorized => Some(later(CARD, None)),
        Event::PaymentVoided => Some(later(CARD, authorized("void-payment"))),
        Event::PaymentOperationFailed => Some(later(REFUSED_CAPTURE, authorized("capture-payment"))),
        Event::PaymentCompleted => Some(at_once(CARD, None)),
        Event::PaymentActionRequired => Some(at_once(CHALLENGED, None)),
        Event::PaymentReversed => Some(at_once(CARD, captured("reverse-payment"))),
        Event::RefundCompleted => Some(at_once(CARD, captured("refund-payment"))),
        Event::DisputeOpened => Some(at_once(DISPUTED, None)),
        Event::DisputeClosed => Some(at_once(DISPUTED, Some(Then::ConcedeDispute))),
        Event::PayoutCompleted => Some(at_once(SETTLES_AT_ONCE, Some(Then::SendPayout))),
        Event::PaymentExpired => None,
    }
}

impl CallSequence {
    /// Makes the calls, prints each result, and returns the subject of the event.
    pub(super) fn carry_out(&self, merchant: &MerchantClient) -> anyhow::Result<EventSubject> {
        let payment_id = self.pay(merchant)?;
        let Some(then) = self.then else { return Ok(EventSubject::Payment(payment_id)) };
        let status = merchant.settled(&payment_id)?;
        match then {
            Then::OfPayment { endpoint, at } => {
                ensure!(status == at, "the payment {payment_id} is {status}, and not {at}");
                call(merchant, endpoint, &json!({ "payment_id": payment_id }))?;
                Ok(EventSubject::Payment(payment_id))
            }
            Then::ConcedeDispute => {
                call(merchant, "concede-dispute", &json!({ "dispute_id": merchant.dispute(&payment_id)? }))?;
                Ok(EventSubject::Payment(payment_id))
            }
            Then::SendPayout => {
                let payout_id = call(merchant, "send-payout", &json!({ "amount": PAYOUT }))?;
                Ok(EventSubject::Payout(merchant.id(&payout_id)?))
            }
        }
    }

    fn pay(&self, merchant: &MerchantClient) -> anyhow::Result<String> {
        let currency = merchant.currency()?;
        let card = json!({
            "number": self.card, "name": "Ada Example", "expiration_date": "12/49", "security_code": "123",
            "usage": "SINGLE",
        });
        let token = merchant.sdk("tokenize-card", card)?;
        say(&format!("tokenize-card: a token of {}", self.card));
        let selection = json!({
            "amount": AMOUNT, "currency": currency, "payment_method": "CARD", "token": token,
        });
        let session = merchant.sdk("select-payment-method", selection)?;
        say(&format!("select-payment-method: {session}"));
        let initiation = json!({
            "amount": AMOUNT, "currency": currency, "payment_session_id": session,
            "capture": self.capture == Capture::AtOnce, "return_url": "https://shop.example/done",
        });
        let payment_id = merchant.call("initiate-payment-flow", &initiation)?;
        say(&format!("initiate-payment-flow: {payment_id}"));
        merchant.id(&payment_id)
    }
}

/// Makes a call, and prints its answer.
fn call(merchant: &MerchantClient, endpoint: &str, body: &Value) -> anyhow::Result<Value> {
    let answer = merchant.call(endpoint, body)?;
    say(&format!("{endpoint}: {answer}"));
    Ok(answer)
}
