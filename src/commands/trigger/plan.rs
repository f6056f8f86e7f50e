//! The calls that cause each event, with the sandbox's cards of `docs/sandbox.md`.

use anyhow::ensure;
use serde_json::json;

use super::Event;
use super::merchant::Merchant;
use crate::commands::progress::say;

/// The card that always succeeds.
const CARD: &str = "4242424242424242";
/// The card whose captures are refused.
const REFUSED_CAPTURE: &str = "4000000000003055";

/// The amount of a payment, in minor units.
const AMOUNT: &str = "10000";

/// The calls that cause an event: a payment, and what is done to it.
pub(super) struct Plan {
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

/// A call about a payment that is there.
#[derive(Clone, Copy)]
struct Then {
    endpoint: &'static str,
    /// The status that the payment must have.
    at: &'static str,
}

/// The calls that cause the event, if calls can.
pub(super) fn plan(event: Event) -> Option<Plan> {
    let later = |card, then| Plan { card, capture: Capture::Later, then };
    let at_once = |then| Plan { card: CARD, capture: Capture::AtOnce, then };
    let authorized = |endpoint| Some(Then { endpoint, at: "AUTHORIZED" });
    let captured = |endpoint| Some(Then { endpoint, at: "SUCCESSFUL" });
    match event {
        Event::PaymentAuthorized => Some(later(CARD, None)),
        Event::PaymentVoided => Some(later(CARD, authorized("void-payment"))),
        Event::PaymentOperationFailed => Some(later(REFUSED_CAPTURE, authorized("capture-payment"))),
        Event::PaymentCompleted => Some(at_once(None)),
        Event::PaymentReversed => Some(at_once(captured("reverse-payment"))),
        Event::RefundCompleted => Some(at_once(captured("refund-payment"))),
        Event::PaymentExpired => None,
    }
}

impl Plan {
    /// Makes the calls, says what each did, and gives the payment's id.
    pub(super) fn carry_out(&self, merchant: &Merchant) -> anyhow::Result<String> {
        let payment_id = self.pay(merchant)?;
        if let Some(Then { endpoint, at }) = self.then {
            let status = merchant.settled(&payment_id)?;
            ensure!(status == at, "the payment {payment_id} is {status}, and not {at}");
            let answer = merchant.call(endpoint, &json!({ "payment_id": payment_id }))?;
            say(&format!("{endpoint}: {answer}"));
        }
        Ok(payment_id)
    }

    fn pay(&self, merchant: &Merchant) -> anyhow::Result<String> {
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
