//! Failures: every row of section 22, as `find-payment` shows it.

use serde_json::{Value, json};

use super::account::AtStripe;
use crate::harness::{CARD, PATIENCE, first_answer};

/// The rows: the issuer's or Stripe's words, and the code.
const ROWS: [(&str, &str); 15] = [
    ("card_declined", "generic_decline do_not_honor call_issuer a_word_of_next_year"),
    ("insufficient_funds", "insufficient_funds"),
    ("expired_card", "expired_card"),
    ("incorrect_cvc", "incorrect_cvc invalid_cvc"),
    ("processing_error", "processing_error"),
    ("authentication_failed", "authentication_required payment_intent_authentication_failure"),
    ("limit_exceeded", "card_velocity_exceeded withdrawal_count_limit_exceeded"),
    ("invalid_card", "incorrect_number invalid_number invalid_account invalid_expiry_month invalid_expiry_year"),
    ("lost_or_stolen_card", "lost_card stolen_card pickup_card restricted_card"),
    ("suspected_fraud", "fraudulent merchant_blacklist security_violation highest_risk_level"),
    ("card_not_supported", "card_not_supported currency_not_supported"),
    ("issuer_not_available", "issuer_not_available try_again_later reenter_transaction"),
    ("amount_not_allowed", "amount_too_small amount_too_large"),
    ("authorization_expired", "charge_expired_for_capture"),
    ("payment_declined", "payment_method_provider_decline"),
];
/// A card of which the test says what it does.
const TOLD: &str = "4000990000000012";
/// A card whose refunds are pending for a while.
const REFUNDED_LATER: &str = "4000000000007726";
const MINOR: u64 = 20_000;

/// The failure that a payment or refund shows, with the sentence left out.
#[track_caller]
fn failure(shown: &Value) -> Value {
    assert_eq!(shown["status"], "FAILED", "{shown}");
    assert!(shown["failure_message"].as_str().is_some_and(|text| text.ends_with('.')), "{shown}");
    json!([shown["failure_code"], shown["acquirer_code"]])
}

impl AtStripe {
    /// The card does this from now on.
    fn card_does(&self, outcome: &Value) {
        self.fake.control("POST", "cards", &json!({ "number": TOLD, "outcome": outcome }));
    }
}

#[test]
fn each_word_of_the_acquirer_has_its_code() {
    let at = AtStripe::by_number();
    for (code, words) in ROWS {
        for word in words.split(' ') {
            at.card_does(&json!({ "decline": "card_declined", "decline_code": word }));
            let payment = at.account.pay(TOLD, MINOR, &json!({}));
            assert_eq!(failure(&payment), json!([code, word]));
        }
    }
    assert_eq!(at.fake.all("charges"), Vec::<Value>::new());
}

#[test]
fn a_word_that_is_too_long_is_not_shown() {
    let at = AtStripe::by_number();
    at.card_does(&json!({ "decline": "card_declined", "decline_code": "x".repeat(65) }));
    assert_eq!(failure(&at.account.pay(TOLD, MINOR, &json!({}))), json!(["card_declined", null]));
}

#[test]
fn an_amount_that_the_acquirer_does_not_take_fails() {
    let at = AtStripe::by_number();
    for (minor, word) in [(500, "amount_too_small"), (100_000_000, "amount_too_large")] {
        assert_eq!(failure(&at.account.pay(CARD, minor, &json!({}))), json!(["amount_not_allowed", word]));
    }
}

#[test]
fn an_account_that_may_not_send_card_numbers_says_so() {
    let at = AtStripe::by_number();
    let settings = json!({ "account": at.account.name, "raw_card_numbers": false });
    at.fake.control("POST", "accounts", &settings);
    let failed = at.account.pay(CARD, MINOR, &json!({}));
    assert_eq!(failure(&failed), json!(["acquirer_refused_card_numbers", null]));
}

#[test]
fn a_hold_that_lapsed_at_the_acquirer_voids_the_payment() {
    let at = AtStripe::by_number();
    let payment = at.account.pay(CARD, MINOR, &json!({ "capture": false }));
    let intent = payment["acquirer_reference"].as_str().expect("an id");
    at.fake.control("POST", &format!("intents/{intent}/cancel"), &json!({}));
    let ended = at.account.operate("capture-payment", &payment, &json!({}));
    assert_eq!(ended["status"], "VOIDED", "{ended}");
    let events: Vec<Value> = at.account.shop.all("list-events").iter().map(|event| event["event"].clone()).collect();
    assert!(events.contains(&json!("payment_operation_failed")), "{events:?}");
}

#[test]
fn a_refund_that_fails_at_the_acquirer_fails() {
    let at = AtStripe::by_number();
    let payment = at.account.pay(REFUNDED_LATER, MINOR, &json!({}));
    let body = json!({ "payment_id": payment["payment_id"], "amount": MINOR });
    let id = at.account.shop.call("refund-payment", &body).id();
    let made = first_answer(PATIENCE, "no refund", || at.fake.all("refunds"), |refunds| !refunds.is_empty());
    let name = made[0]["id"].as_str().expect("an id");
    let end = json!({ "status": "failed", "failure_reason": "lost_or_stolen_card" });
    at.fake.control("POST", &format!("refunds/{name}/end"), &end);
    let refund = at.account.refunded(&id);
    assert_eq!(failure(&refund)[0], "refund_failed", "{refund}");
    assert_eq!(at.account.shop.payment(payment["payment_id"].as_str().expect("an id"))["amount_refunded"], 0);
}
