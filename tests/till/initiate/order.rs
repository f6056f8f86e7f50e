//! The order of the refusals: a call that deserves two gets the earlier one. Contract, section 4.

use serde_json::{Value, json};

use super::attempt::RefusedAttempt;
use super::refusals::configure;
use crate::harness::{Server, Shop, id_of_nothing, merged};

/// A payment whose call was named `first`.
fn named_first(shop: &Shop) -> (String, Value) {
    let session = shop.session(100);
    let body = shop.initiation(&session, 100);
    let payment = shop.client().idempotency_key("first").post(super::attempt::PATH, &body).id();
    shop.settled(&payment);
    (payment, body)
}

#[test]
fn faults_of_fields_come_before_a_stored_answer() {
    let (_server, shop) = Server::with_shop();
    named_first(&shop);
    let attempt = RefusedAttempt::new(&shop).idempotency_key("first");
    assert_eq!(attempt.faults(&json!({ "amount": "x" })), ["invalid amount"]);
    attempt.refused("IDEMPOTENCY_KEY_REUSED", &json!({}));
    attempt.still_pays();
}

#[test]
fn faults_of_fields_come_before_an_inactive_session() {
    let (_server, shop) = Server::with_shop();
    let attempt = RefusedAttempt::new(&shop);
    let unknown = id_of_nothing(&attempt.session);
    assert_eq!(attempt.faults(&json!({ "payment_session_id": unknown, "capture": 1 })), ["invalid capture"]);
    attempt.still_pays();
}

#[test]
fn a_stored_answer_comes_before_the_session_that_it_used_up() {
    let (_server, shop) = Server::with_shop();
    let (payment, body) = named_first(&shop);
    assert_eq!(shop.client().idempotency_key("first").post(super::attempt::PATH, &body).id(), payment);
    shop.client().post(super::attempt::PATH, &body).refused("NOT_FOUND");
}

#[test]
fn a_reused_idempotency_key_comes_before_an_inactive_session() {
    let (_server, shop) = Server::with_shop();
    named_first(&shop);
    let attempt = RefusedAttempt::new(&shop).idempotency_key("first");
    let unknown = id_of_nothing(&attempt.session);
    attempt.refused("IDEMPOTENCY_KEY_REUSED", &json!({ "payment_session_id": unknown }));
    attempt.still_pays();
}

#[test]
fn a_stored_answer_precedes_suspension_and_that_the_session() {
    let (server, shop) = Server::with_shop();
    let (payment, body) = named_first(&shop);
    server.admin("suspend-merchant", &json!({ "merchant_id": shop.merchant_id })).ok();
    let named = shop.client().idempotency_key("first");
    assert_eq!(named.post(super::attempt::PATH, &body).id(), payment);
    let other = shop.initiation(body["payment_session_id"].as_str().expect("an id"), 99);
    named.post(super::attempt::PATH, &other).refused("IDEMPOTENCY_KEY_REUSED");
    shop.client().post(super::attempt::PATH, &other).refused("MERCHANT_SUSPENDED");
}

#[test]
fn an_inactive_session_comes_before_another_amount() {
    let (_server, shop) = Server::with_shop();
    let attempt = RefusedAttempt::new(&shop);
    attempt.still_pays();
    attempt.refused("NOT_FOUND", &json!({ "amount": "99" }));
    attempt.refused("NOT_FOUND", &json!({ "currency": "USD" }));
}

#[test]
fn another_amount_comes_before_a_capture_that_is_not_supported() {
    let (server, shop) = Server::with_shop();
    configure(&server, &shop, "CARD", true, false);
    let attempt = RefusedAttempt::new(&shop);
    attempt.refused("CONFLICT", &json!({ "amount": "99", "capture": false }));
    attempt.refused("NOT_SUPPORTED", &json!({ "capture": false }));
    attempt.still_pays();
}

#[test]
fn an_unsupported_capture_precedes_the_interest_bearer() {
    let (server, shop) = Server::with_shop();
    configure(&server, &shop, "INSTALLMENT", true, false);
    let attempt = RefusedAttempt::on(&shop, shop.installment_session(300, "merchant"), 300);
    attempt.refused("NOT_SUPPORTED", &json!({ "capture": false }));
    assert_eq!(attempt.faults(&json!({})), ["missing interest_bearer"]);
    attempt.still_pays_with(&json!({ "interest_bearer": "merchant" }));
}

#[test]
fn the_interest_bearer_comes_before_the_customer() {
    let (_server, shop) = Server::with_shop();
    let attempt = RefusedAttempt::on(&shop, shop.installment_session(300, "merchant"), 300);
    assert_eq!(attempt.faults(&json!({ "customer_id": "ctc_nobody" })), ["missing interest_bearer"]);
    let wrong = json!({ "customer_id": "ctc_nobody", "interest_bearer": "customer" });
    assert_eq!(attempt.faults(&wrong), ["invalid interest_bearer"]);
    attempt.refused("NOT_FOUND", &json!({ "customer_id": "ctc_nobody", "interest_bearer": "merchant" }));
    attempt.still_pays_with(&json!({ "interest_bearer": "merchant" }));
}

#[test]
fn an_unknown_customer_precedes_one_who_is_not_the_owner() {
    let (_server, shop) = Server::with_shop();
    let (customer, card) = shop.saved_card(&json!({ "customer_email": "ada@example.com" }));
    let attempt = RefusedAttempt::on(&shop, shop.saved_card_session(&card, 100), 100);
    let both = json!({ "customer_id": id_of_nothing(&customer), "customer_email": "bob@example.com" });
    attempt.refused("NOT_FOUND", &both);
    attempt.refused("CUSTOMER_MISMATCH", &json!({ "customer_id": "bob", "customer_email": "bob@example.com" }));
    attempt.still_pays_with(&json!({ "customer_id": customer }));
}

#[test]
fn the_customer_comes_before_the_card() {
    let (_server, shop) = Server::with_shop();
    let (_, card) = shop.saved_card(&json!({ "customer_email": "ada@example.com" }));
    let attempt = RefusedAttempt::on(&shop, shop.session_with(100, &json!({})), 100);
    let refused = attempt.without_trace(&json!({ "customer_id": "ctc_nobody" }));
    assert_eq!(refused.refused("NOT_FOUND"), json!({ "argument": "customer_id" }));
    assert_eq!(attempt.faults(&json!({ "customer_email": "ada@example.com" })), ["missing card_id"]);
    attempt.still_pays_with(&json!({ "card_id": card }));
}

#[test]
fn a_customer_who_is_not_the_owner_precedes_a_taken_external_id() {
    let (_server, shop) = Server::with_shop();
    let (customer, card) = shop.saved_card(&json!({ "customer_email": "ada@example.com" }));
    shop.pay_with(100, &json!({ "external_id": "order-1" }));
    let attempt = RefusedAttempt::on(&shop, shop.saved_card_session(&card, 100), 100);
    attempt.refused("CUSTOMER_REQUIRED", &json!({ "external_id": "order-1" }));
    attempt.refused("CUSTOMER_MISMATCH", &json!({ "external_id": "order-1", "customer_email": "bob@example.com" }));
    attempt.refused("CONFLICT", &json!({ "external_id": "order-1", "customer_id": customer }));
    attempt.still_pays_with(&json!({ "customer_id": customer }));
}

#[test]
fn the_card_comes_before_a_taken_external_id() {
    let (_server, shop) = Server::with_shop();
    let (_, card) = shop.saved_card(&json!({ "customer_email": "ada@example.com" }));
    shop.pay_with(100, &json!({ "external_id": "order-1" }));
    let attempt = RefusedAttempt::on(&shop, shop.session_with(100, &json!({})), 100);
    assert_eq!(attempt.faults(&json!({ "external_id": "order-1" })), ["missing card_id"]);
    attempt.refused("NOT_FOUND", &json!({ "external_id": "order-1", "card_id": id_of_nothing(&card) }));
    attempt.refused("CONFLICT", &json!({ "external_id": "order-1", "card_id": card }));
    attempt.still_pays_with(&json!({ "card_id": card }));
}

#[test]
fn a_taken_external_id_comes_before_the_limit_of_the_ledger() {
    let (server, shop) = Server::with_shop();
    shop.pay_with(100, &json!({ "external_id": "order-1" }));
    server.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": "9007199254740800" })).ok();
    let attempt = RefusedAttempt::new(&shop);
    attempt.refused("CONFLICT", &json!({ "external_id": "order-1" }));
    attempt.refused("AMOUNT_EXCEEDS_LIMIT", &json!({}));
}

/// Calls with several faults, which are corrected one after the other.
struct Healing<'a> {
    attempt: RefusedAttempt<'a>,
    body: Value,
}

impl Healing<'_> {
    /// Checks that the first remaining refusal is this one, then corrects its fault.
    #[track_caller]
    fn refused(&mut self, code: &str, cure: Value) -> Value {
        let details = self.attempt.refused(code, &self.body);
        self.body = merged(&self.body, &cure);
        details
    }

    /// Checks that the first remaining refusal has these faults of arguments, then corrects them.
    #[track_caller]
    fn faulty(&mut self, fault: &str, cure: Value) {
        assert_eq!(self.attempt.faults(&self.body), [fault]);
        self.body = merged(&self.body, &cure);
    }
}

#[test]
fn a_saved_cards_session_gets_its_refusals_in_order() {
    let (server, shop) = Server::with_shop();
    let (customer, card) = shop.saved_card(&json!({ "customer_email": "ada@example.com" }));
    shop.pay_with(100, &json!({ "external_id": "order-1" }));
    named_first(&shop);
    let session = shop.saved_card_session(&card, 100);
    configure(&server, &shop, "CARD", true, false);
    server.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": "9007199254740600" })).ok();
    let body = json!({
        "currency": "thb", "payment_session_id": id_of_nothing(&session), "amount": "99", "capture": false,
        "external_id": "order-1",
    });
    let attempt = RefusedAttempt::on(&shop, session.clone(), 100).idempotency_key("first");
    let mut healing = Healing { attempt, body };
    healing.faulty("invalid currency", json!({ "currency": "THB" }));
    healing.refused("IDEMPOTENCY_KEY_REUSED", json!({}));
    healing.attempt = RefusedAttempt::on(&shop, session.clone(), 100);
    healing.refused("NOT_FOUND", json!({ "payment_session_id": session }));
    assert_eq!(healing.refused("CONFLICT", json!({ "amount": "100" }))["argument"], "amount");
    healing.refused("NOT_SUPPORTED", json!({ "capture": true }));
    healing.refused("CUSTOMER_REQUIRED", json!({ "customer_id": id_of_nothing(&customer) }));
    healing.refused("NOT_FOUND", json!({ "customer_id": "bob" }));
    healing.refused("CUSTOMER_MISMATCH", json!({ "customer_id": customer }));
    let details = healing.refused("CONFLICT", json!({ "external_id": "order-2" }));
    assert_eq!(details["argument"], "external_id");
    healing.refused("AMOUNT_EXCEEDS_LIMIT", json!({}));
}

#[test]
fn an_instalment_session_gets_its_refusals_in_order() {
    let (server, shop) = Server::with_shop();
    shop.pay_with(100, &json!({ "external_id": "order-1" }));
    let session = shop.installment_session(300, "merchant");
    configure(&server, &shop, "INSTALLMENT", true, false);
    let body = json!({ "currency": "USD", "capture": false, "customer_id": "ctc_nobody", "external_id": "order-1" });
    let mut healing = Healing { attempt: RefusedAttempt::on(&shop, session, 300), body };
    healing.refused("CONFLICT", json!({ "currency": "THB" }));
    healing.refused("NOT_SUPPORTED", json!({ "capture": true }));
    healing.faulty("missing interest_bearer", json!({ "interest_bearer": "customer" }));
    healing.faulty("invalid interest_bearer", json!({ "interest_bearer": "merchant" }));
    healing.refused("NOT_FOUND", json!({ "customer_id": "ada" }));
    healing.refused("CONFLICT", json!({ "external_id": "order-2" }));
    let body = healing.body.clone();
    healing.attempt.still_pays_with(&body);
}

#[test]
fn a_card_session_without_a_card_gets_its_refusals_in_order() {
    let (server, shop) = Server::with_shop();
    let (customer, card) = shop.saved_card(&json!({ "customer_email": "ada@example.com" }));
    shop.pay_with(100, &json!({ "external_id": "order-1" }));
    let session = shop.session_with(100, &json!({}));
    configure(&server, &shop, "CARD", true, false);
    let body = json!({ "amount": 1, "capture": false, "customer_id": "ctc_nobody", "external_id": "order-1" });
    let mut healing = Healing { attempt: RefusedAttempt::on(&shop, session, 100).watching(&customer), body };
    healing.refused("CONFLICT", json!({ "amount": 100 }));
    healing.refused("NOT_SUPPORTED", json!({ "capture": true }));
    healing.refused("NOT_FOUND", json!({ "customer_id": "bob" }));
    healing.faulty("missing card_id", json!({ "card_id": card }));
    healing.refused("NOT_FOUND", json!({ "customer_id": customer }));
    healing.refused("CONFLICT", json!({ "external_id": "order-2" }));
    let body = healing.body.clone();
    healing.attempt.still_pays_with(&body);
}
