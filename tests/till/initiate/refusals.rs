//! The answer to each refusal of initiate-payment-flow, which leaves everything as it was: contract, section 4. The
//! rules and their order are tested in the domain.

use serde_json::{Value, json};

use super::attempt::{PATH, RefusedAttempt};
use crate::harness::{Server, Shop, id_of_nothing};

/// Configures a merchant's cards.
fn configure_cards(server: &Server, shop: &Shop, enabled: bool, authorizes_without_capture: bool) {
    let body = json!({
        "merchant_id": shop.merchant_id, "payment_method": "CARD", "acquirer": "sandbox", "enabled": enabled,
        "authorizes_without_capture": authorizes_without_capture,
    });
    server.admin("configure-payment-method", &body).ok();
}

#[test]
fn a_session_that_cannot_be_paid_is_named_with_its_payment() {
    let (_server, shop) = Server::with_shop();
    let attempt = RefusedAttempt::new(&shop);
    let unknown = json!({ "payment_session_id": id_of_nothing(&attempt.session) });
    assert_eq!(attempt.refused("NOT_FOUND", &unknown), json!({ "argument": "payment_session_id" }));
    let paid = attempt.still_pays();
    let used = json!({ "argument": "payment_session_id", "payment_id": paid["payment_id"] });
    assert_eq!(attempt.refused("NOT_FOUND", &json!({ "external_id": "again" })), used);
}

#[test]
fn another_price_and_an_unsupported_method_are_refused() {
    let (server, shop) = Server::with_shop();
    let attempt = RefusedAttempt::new(&shop);
    let differs = |argument: &str| json!({ "argument": argument, "session": { "amount": 100, "currency": "THB" } });
    assert_eq!(attempt.refused("CONFLICT", &json!({ "amount": "101" })), differs("amount"));
    assert_eq!(attempt.refused("CONFLICT", &json!({ "currency": "USD" })), differs("currency"));
    configure_cards(&server, &shop, true, false);
    assert_eq!(attempt.refused("NOT_SUPPORTED", &json!({ "capture": false })), Value::Null);
    configure_cards(&server, &shop, false, true);
    assert_eq!(attempt.refused("NOT_SUPPORTED", &json!({})), Value::Null);
    configure_cards(&server, &shop, true, true);
    attempt.still_pays();
}

#[test]
fn a_customer_who_does_not_own_the_saved_card_is_refused() {
    let (_server, shop) = Server::with_shop();
    let (customer, card) = shop.saved_card(&json!({ "customer_email": "ada@example.com" }));
    let attempt = RefusedAttempt::on(&shop, shop.saved_card_session(&card, 100), 100).watching(&customer);
    assert_eq!(attempt.refused("CUSTOMER_REQUIRED", &json!({ "customer_name": "Ada" })), Value::Null);
    assert_eq!(attempt.refused("CUSTOMER_MISMATCH", &json!({ "customer_email": "bob@example.com" })), Value::Null);
    let unknown = json!({ "customer_id": id_of_nothing(&customer) });
    assert_eq!(attempt.refused("NOT_FOUND", &unknown), json!({ "argument": "customer_id" }));
    attempt.still_pays_with(&json!({ "customer_email": "ADA@example.com" }));
}

#[test]
fn a_session_without_a_card_or_interest_bearer_asks_for_it() {
    let (_server, shop) = Server::with_shop();
    let (customer, card) = shop.saved_card(&json!({ "customer_email": "ada@example.com" }));
    let attempt = RefusedAttempt::on(&shop, shop.session_with(100, &json!({})), 100).watching(&customer);
    assert_eq!(attempt.faults(&json!({ "card_id": null })), ["missing card_id"]);
    for unknown in [id_of_nothing(&card), "my-card".to_owned()] {
        assert_eq!(attempt.refused("NOT_FOUND", &json!({ "card_id": unknown })), json!({ "argument": "card_id" }));
    }
    attempt.still_pays_with(&json!({ "card_id": card }));
    let attempt = RefusedAttempt::on(&shop, shop.installment_session(300, "customer"), 300);
    assert_eq!(attempt.faults(&json!({ "interest_bearer": null })), ["missing interest_bearer"]);
    assert_eq!(attempt.faults(&json!({ "interest_bearer": "merchant" })), ["invalid interest_bearer"]);
    attempt.still_pays_with(&json!({ "interest_bearer": "customer" }));
}

#[test]
fn a_taken_external_id_names_its_payment_and_a_total_has_a_limit() {
    let (server, shop) = Server::with_shop();
    let first = shop.pay_with(100, &json!({ "external_id": "order-1" }));
    server.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": "9007199254740800" })).ok();
    let attempt = RefusedAttempt::new(&shop).watching("order-1");
    let taken = json!({ "argument": "external_id", "payment_id": first["payment_id"] });
    assert_eq!(attempt.refused("CONFLICT", &json!({ "external_id": "order-1" })), taken);
    assert_eq!(attempt.refused("AMOUNT_EXCEEDS_LIMIT", &json!({})), Value::Null);
}

#[test]
fn faults_of_fields_come_before_the_session_and_a_stored_answer() {
    let (_server, shop) = Server::with_shop();
    let body = shop.initiation(&shop.session(100), 100);
    shop.settled(&shop.client().idempotency_key("first").post(PATH, &body).id());
    let attempt = RefusedAttempt::new(&shop).idempotency_key("first");
    let unknown = id_of_nothing(&attempt.session);
    assert_eq!(attempt.faults(&json!({ "payment_session_id": unknown, "amount": "x" })), ["invalid amount"]);
    attempt.refused("IDEMPOTENCY_KEY_REUSED", &json!({}));
}
