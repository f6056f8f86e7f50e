//! Payments by the number of a card: contract of acquirers, sections 17 to 19.

use serde_json::{Value, json};

use super::account::{Account, AtStripe, added, come_back};
use crate::harness::{CARD, merged};

/// A card that asks for a challenge.
const CHALLENGED: &str = "4000002500003155";
const MINOR: u64 = 20_000;

impl AtStripe {
    /// The one charge of a payment.
    #[track_caller]
    pub(super) fn charge_of(&self, payment: &Value) -> Value {
        let own = format!("{}/authorize", payment["payment_id"].as_str().expect("an id"));
        let charges = self.fake.all("charges");
        let mut of_payment = charges.iter().filter(|charge| charge["reference"] == *own);
        let charge = of_payment.next().unwrap_or_else(|| panic!("{own} is not charged: {charges:?}"));
        assert!(of_payment.next().is_none(), "{own} is charged twice: {charges:?}");
        charge.clone()
    }
}

fn held(account: &Account) -> Value {
    let payment = account.pay(CARD, MINOR, &json!({ "capture": false }));
    assert_eq!(payment["status"], "AUTHORIZED", "{payment}");
    payment
}

/// Amounts of a charge: whether and how much is captured, and given back.
fn amounts(charge: &Value) -> Value {
    json!([charge["captured"], charge["amount_captured"], charge["amount_refunded"]])
}

#[test]
fn a_payment_shows_its_account_and_the_acquirers_id() {
    let at = AtStripe::by_number();
    let payment = at.account.pay(CARD, MINOR, &json!({ "external_id": "order 1" }));
    let charge = at.charge_of(&payment);
    let expected = json!({
        "status": "SUCCESSFUL", "amount_captured": MINOR, "acquirer": "stripe", "acquirer_id": at.account.acquirer_id,
        "acquirer_reference": charge["payment_intent"], "acquirer_code": null, "failure_code": null,
    });
    assert_eq!(merged(&payment, &expected), payment);
    assert_eq!((&payment["card"]["scheme"], &payment["card"]["last_digits"]), (&json!("VISA"), &json!("4242")));
    assert_eq!(amounts(&charge), json!([true, MINOR, 0]));
    let intent = at.fake.all("intents").remove(0);
    let sent = json!({
        "till_payment": payment["payment_id"],
        "till_reference": format!("{}/authorize", payment["payment_id"].as_str().expect("an id")),
    });
    assert_eq!((&intent["metadata"], &intent["description"]), (&sent, &json!("order 1")));
}

#[test]
fn a_held_payment_is_captured_or_voided() {
    let at = AtStripe::by_number();
    let part = at.account.operate("capture-payment", &held(&at.account), &json!({ "amount": MINOR / 2 }));
    assert_eq!((&part["status"], &part["amount_captured"]), (&json!("SUCCESSFUL"), &json!(MINOR / 2)));
    assert_eq!(amounts(&at.charge_of(&part)), json!([true, MINOR / 2, MINOR / 2]));
    let voided = at.account.operate("void-payment", &held(&at.account), &json!({}));
    assert_eq!(voided["status"], "VOIDED");
    assert_eq!(amounts(&at.charge_of(&voided)), json!([false, 0, MINOR]));
}

#[test]
fn captured_money_is_given_back_in_parts_or_at_once() {
    let at = AtStripe::by_number();
    let payment = at.account.pay(CARD, MINOR, &json!({}));
    let part = MINOR / 4;
    assert_eq!(at.account.refund(&payment, part)["status"], "SUCCESSFUL");
    assert_eq!(at.account.refund(&payment, MINOR - part)["status"], "SUCCESSFUL");
    let id = payment["payment_id"].as_str().expect("an id");
    assert_eq!(at.account.shop.payment(id)["status"], "REFUNDED");
    let reversed = at.account.operate("reverse-payment", &at.account.pay(CARD, MINOR, &json!({})), &json!({}));
    assert_eq!(reversed["status"], "REVERSED");
    let refunds = at.fake.all("refunds");
    let mut given: Vec<u64> = refunds.iter().map(|refund| refund["amount"].as_u64().expect("an amount")).collect();
    given.sort_unstable();
    assert_eq!(given, [part, MINOR - part, MINOR]);
    assert!(refunds.iter().all(|refund| refund["reference"].is_string()), "{refunds:?}");
}

#[test]
fn a_challenged_card_is_authenticated_at_the_issuers_page() {
    let at = AtStripe::by_number();
    let challenged = || at.account.begin(CHALLENGED, MINOR, &json!({}));
    let ended_by = |payment: String, answer: &str| {
        let page = at.account.asked(&payment);
        come_back(&at.server, &at.fake.remote().post(&page, &format!("answer={answer}")));
        at.account.shop.settled(&payment)
    };
    let paid = ended_by(challenged(), "authenticate");
    assert_eq!((&paid["status"], &paid["authentication"]["trans_status"]), (&json!("SUCCESSFUL"), &json!("Y")));
    let failed = ended_by(challenged(), "fail");
    assert_eq!((&failed["status"], &failed["failure_code"]), (&json!("FAILED"), &json!("authentication_failed")));
    let given_up = challenged();
    at.account.asked(&given_up);
    at.account.shop.call("void-payment", &json!({ "payment_id": given_up })).ok();
    assert_eq!(at.account.shop.payment(&given_up)["status"], "VOIDED");
    assert_eq!(at.fake.all("charges").len(), 1);
}

#[test]
fn a_secret_that_the_acquirer_refuses_is_not_taken() {
    let at = AtStripe::by_number();
    let other = at.server.shop();
    for secret in ["sk_live_EXAMPLE000000000000001234", "sk_test_EXAMPLE000000000000001234"] {
        let refused = added(&at.server, &other, secret, &json!({}));
        assert_eq!(refused.faults(), ["invalid secret"], "{secret}");
    }
    let again = added(&at.server, &at.account.shop, &at.account.secret, &json!({}));
    again.refused("CONFLICT");
}
