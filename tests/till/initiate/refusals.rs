//! The refusals of initiate-payment-flow one by one: contract, section 4. Each leaves everything as it was.

use serde_json::{Value, json};

use super::attempt::RefusedAttempt;
use crate::harness::{Server, Shop, id_of_nothing};

/// Configures a merchant's payment method.
pub(super) fn configure(server: &Server, shop: &Shop, method: &str, enabled: bool, authorizes_without_capture: bool) {
    let body = json!({
        "merchant_id": shop.merchant_id, "payment_method": method, "acquirer": "sandbox", "enabled": enabled,
        "authorizes_without_capture": authorizes_without_capture,
    });
    server.admin("configure-payment-method", &body).ok();
}

#[test]
fn an_unknown_session_is_not_found_and_names_no_payment() {
    let (_server, shop) = Server::with_shop();
    let attempt = RefusedAttempt::new(&shop);
    let unknown = json!({ "payment_session_id": id_of_nothing(&attempt.session) });
    assert_eq!(attempt.refused("NOT_FOUND", &unknown), json!({ "argument": "payment_session_id" }));
    attempt.still_pays();
}

#[test]
fn a_used_session_is_not_found_and_names_its_payment() {
    let (_server, shop) = Server::with_shop();
    let attempt = RefusedAttempt::new(&shop);
    let paid = attempt.still_pays();
    let details = attempt.refused("NOT_FOUND", &json!({ "external_id": "again" }));
    assert_eq!(details, json!({ "argument": "payment_session_id", "payment_id": paid["payment_id"] }));
    assert_eq!(shop.payment_session(&attempt.session)["status"], "USED");
}

#[test]
fn a_session_whose_payment_failed_is_used_too() {
    let (_server, shop) = Server::with_shop();
    let session = shop.session_of("4000000000000002", 100);
    let payment = shop.initiate(&session, 100, &json!({})).id();
    shop.settled(&payment);
    let details = RefusedAttempt::on(&shop, session, 100).refused("NOT_FOUND", &json!({}));
    assert_eq!(details, json!({ "argument": "payment_session_id", "payment_id": payment }));
}

#[test]
fn another_merchants_session_is_not_found_used_or_not() {
    let (_server, shop, other) = Server::with_shops();
    let attempt = RefusedAttempt::new(&shop);
    let foreign = json!({ "payment_session_id": other.session(100) });
    let expected = json!({ "argument": "payment_session_id" });
    assert_eq!(attempt.refused("NOT_FOUND", &foreign), expected);
    other.initiate(foreign["payment_session_id"].as_str().expect("an id"), 100, &json!({})).ok();
    assert_eq!(attempt.refused("NOT_FOUND", &foreign), expected, "whose payment used it is nobody else's matter");
    attempt.still_pays();
}

#[test]
fn another_amount_than_the_sessions_is_a_conflict() {
    let (_server, shop) = Server::with_shop();
    let attempt = RefusedAttempt::new(&shop);
    for amount in [json!("101"), json!(99), json!(1), json!(9_007_199_254_740_991_u64)] {
        let expected = json!({ "argument": "amount", "session": { "amount": 100, "currency": "THB" } });
        assert_eq!(attempt.refused("CONFLICT", &json!({ "amount": amount })), expected);
    }
    attempt.still_pays();
}

#[test]
fn another_currency_than_the_sessions_is_a_conflict() {
    let (_server, shop) = Server::with_shop();
    let attempt = RefusedAttempt::new(&shop);
    let expected = json!({ "argument": "currency", "session": { "amount": 100, "currency": "THB" } });
    assert_eq!(attempt.refused("CONFLICT", &json!({ "currency": "USD" })), expected);
    attempt.still_pays();
}

#[test]
fn capture_false_needs_a_method_that_can_only_authorize() {
    let (server, shop) = Server::with_shop();
    configure(&server, &shop, "CARD", true, false);
    let attempt = RefusedAttempt::new(&shop);
    assert_eq!(attempt.refused("NOT_SUPPORTED", &json!({ "capture": false })), Value::Null);
    attempt.still_pays();
}

#[test]
fn authorization_without_capture_depends_on_the_own_method() {
    let (server, shop) = Server::with_shop();
    configure(&server, &shop, "INSTALLMENT", true, false);
    let paid = shop.pay_with(100, &json!({ "capture": false }));
    assert_eq!(paid["status"], "AUTHORIZED");
    let attempt = RefusedAttempt::on(&shop, shop.installment_session(300, "merchant"), 300);
    attempt.refused("NOT_SUPPORTED", &json!({ "capture": false, "interest_bearer": "merchant" }));
    attempt.still_pays_with(&json!({ "interest_bearer": "merchant" }));
}

#[test]
fn a_method_disabled_after_selection_is_not_supported() {
    let (server, shop) = Server::with_shop();
    let attempt = RefusedAttempt::new(&shop);
    configure(&server, &shop, "CARD", false, true);
    attempt.refused("NOT_SUPPORTED", &json!({}));
    configure(&server, &shop, "CARD", true, true);
    attempt.still_pays();
}

#[test]
fn an_instalment_session_asks_for_its_interest_bearer() {
    let (_server, shop) = Server::with_shop();
    let attempt = RefusedAttempt::on(&shop, shop.installment_session(300, "customer"), 300);
    assert_eq!(attempt.faults(&json!({})), ["missing interest_bearer"]);
    assert_eq!(attempt.faults(&json!({ "interest_bearer": null })), ["missing interest_bearer"]);
    assert_eq!(attempt.faults(&json!({ "interest_bearer": "merchant" })), ["invalid interest_bearer"]);
    let paid = attempt.still_pays_with(&json!({ "interest_bearer": "customer" }));
    assert_eq!(paid["interest_bearer"], "customer");
}

#[test]
fn a_saved_cards_session_needs_more_than_a_customers_name() {
    let (_server, shop) = Server::with_shop();
    let (customer, card) = shop.saved_card(&json!({ "customer_email": "ada@example.com" }));
    let attempt = RefusedAttempt::on(&shop, shop.saved_card_session(&card, 100), 100).watching(&customer);
    assert_eq!(attempt.refused("CUSTOMER_REQUIRED", &json!({})), Value::Null);
    attempt.refused("CUSTOMER_REQUIRED", &json!({ "customer_name": "Ada" }));
    attempt.refused("CUSTOMER_REQUIRED", &json!({ "customer_id": null, "card_id": card }));
    attempt.still_pays_with(&json!({ "customer_email": "ADA@example.com" }));
}

#[test]
fn a_saved_cards_session_refuses_an_unknown_customer_id() {
    let (_server, shop) = Server::with_shop();
    let (customer, card) = shop.saved_card(&json!({ "customer_email": "ada@example.com" }));
    let attempt = RefusedAttempt::on(&shop, shop.saved_card_session(&card, 100), 100).watching(&customer);
    for unknown in [id_of_nothing(&customer), "ctc_1".to_owned()] {
        let expected = json!({ "argument": "customer_id" });
        assert_eq!(attempt.refused("NOT_FOUND", &json!({ "customer_id": unknown })), expected);
    }
    attempt.still_pays_with(&json!({ "customer_id": customer }));
}

#[test]
fn a_saved_cards_session_accepts_only_the_cards_owner() {
    let (_server, shop) = Server::with_shop();
    let owner = json!({ "customer_id": "ada", "customer_email": "ada@example.com", "customer_mobile": "+66812345678" });
    let (customer, card) = shop.saved_card(&owner);
    let other = json!({ "customer_id": "bob", "customer_email": "bob@example.com", "customer_mobile": "+66898765432" });
    let other_id = shop.pay_with(100, &other)["customer_id"].as_str().expect("a customer").to_owned();
    let attempt =
        RefusedAttempt::on(&shop, shop.saved_card_session(&card, 100), 100).watching(&customer).watching(&other_id);
    for given in [
        json!({ "customer_id": other_id }),
        json!({ "customer_id": "bob" }),
        json!({ "customer_id": "nobody" }),
        json!({ "customer_email": "bob@example.com" }),
        json!({ "customer_email": "nobody@example.com" }),
        json!({ "customer_mobile": "+66898765432" }),
        json!({ "customer_mobile": "+66800000000" }),
        json!({ "customer_id": "ada", "customer_email": "bob@example.com" }),
        json!({ "customer_id": "ada", "customer_email": "nobody@example.com" }),
        json!({ "customer_id": customer, "customer_mobile": "+66800000000" }),
        json!({ "customer_email": "ada@example.com", "customer_mobile": "+66898765432" }),
    ] {
        assert_eq!(attempt.refused("CUSTOMER_MISMATCH", &given), Value::Null, "{given}");
    }
    shop.call("find-contact", &json!({ "contact_id": "nobody" })).refused("NOT_FOUND");
    assert_eq!(attempt.still_pays_with(&owner)["customer_id"], customer);
}

#[test]
fn a_card_session_without_a_card_asks_for_one() {
    let (_server, shop) = Server::with_shop();
    let (_, card) = shop.saved_card(&json!({ "customer_email": "ada@example.com" }));
    let attempt = RefusedAttempt::on(&shop, shop.session_with(100, &json!({})), 100);
    assert_eq!(attempt.faults(&json!({})), ["missing card_id"]);
    assert_eq!(attempt.faults(&json!({ "card_id": null, "customer_email": "ada@example.com" })), ["missing card_id"]);
    let paid = attempt.still_pays_with(&json!({ "card_id": card }));
    assert_eq!(paid["card"]["card_id"], card);
}

#[test]
fn a_card_of_another_customer_is_not_found() {
    let (_server, shop, foreign) = Server::with_shops();
    let (ada, card) = shop.saved_card(&json!({ "customer_email": "ada@example.com" }));
    let bob = shop.pay_with(100, &json!({ "customer_email": "bob@example.com" }))["customer_id"].clone();
    let (_, foreign_card) = foreign.saved_card(&json!({ "customer_email": "ada@example.com" }));
    let attempt = RefusedAttempt::on(&shop, shop.session_with(100, &json!({})), 100).watching(&ada);
    for given in [
        json!({ "card_id": id_of_nothing(&card) }),
        json!({ "card_id": "crd_1" }),
        json!({ "card_id": "my-card" }),
        json!({ "card_id": foreign_card }),
        json!({ "card_id": id_of_nothing(&card), "customer_id": ada }),
        json!({ "card_id": card, "customer_id": bob }),
        json!({ "card_id": card, "customer_email": "bob@example.com" }),
        json!({ "card_id": card, "customer_email": "new@example.com" }),
        json!({ "card_id": card, "customer_mobile": "+66800000000" }),
        json!({ "card_id": card, "customer_id": "new" }),
    ] {
        assert_eq!(attempt.refused("NOT_FOUND", &given), json!({ "argument": "card_id" }), "{given}");
    }
    shop.call("find-contact", &json!({ "contact_id": "new" })).refused("NOT_FOUND");
    assert_eq!(attempt.still_pays_with(&json!({ "card_id": card, "customer_id": ada }))["customer_id"], ada);
}

#[test]
fn a_taken_external_id_is_a_conflict_that_names_its_payment() {
    let (_server, shop) = Server::with_shop();
    let first = shop.pay_with(100, &json!({ "external_id": "order-1" }));
    let attempt = RefusedAttempt::new(&shop).watching("order-1");
    let taken = json!({ "external_id": "order-1", "customer_email": "new@example.com" });
    let details = attempt.refused("CONFLICT", &taken);
    assert_eq!(details, json!({ "argument": "external_id", "payment_id": first["payment_id"] }));
    attempt.still_pays_with(&json!({ "external_id": "Order-1" }));
}

#[test]
fn an_external_id_stays_taken_after_its_payment_failed() {
    let (_server, shop) = Server::with_shop();
    let failed =
        shop.initiate(&shop.session_of("4000000000000002", 100), 100, &json!({ "external_id": "order-1" })).id();
    assert_eq!(shop.settled(&failed)["status"], "FAILED");
    let details = RefusedAttempt::new(&shop).refused("CONFLICT", &json!({ "external_id": "order-1" }));
    assert_eq!(details["payment_id"], failed);
}

#[test]
fn another_merchant_may_use_the_same_external_id() {
    let (_server, shop, other) = Server::with_shops();
    shop.pay_with(100, &json!({ "external_id": "order-1" }));
    assert_eq!(other.pay_with(100, &json!({ "external_id": "order-1" }))["status"], "SUCCESSFUL");
}

#[test]
fn a_total_beyond_2_to_the_53_is_refused_before_it_is_charged() {
    let (server, shop) = Server::with_shop();
    let topup = json!({ "merchant_id": shop.merchant_id, "amount": "9007199254740891" });
    server.admin("add-topup", &topup).ok();
    let attempt = RefusedAttempt::on(&shop, shop.session(101), 101);
    attempt.refused("AMOUNT_EXCEEDS_LIMIT", &json!({}));
    RefusedAttempt::new(&shop).still_pays();
    let full = RefusedAttempt::on(&shop, shop.session(1), 1);
    full.refused("AMOUNT_EXCEEDS_LIMIT", &json!({}));
}

#[test]
fn a_suspended_merchant_is_refused_until_it_is_resumed() {
    let (server, shop) = Server::with_shop();
    let session = shop.session(100);
    let before = shop.picture(&[]);
    let merchant = json!({ "merchant_id": shop.merchant_id });
    assert_eq!(server.admin("suspend-merchant", &merchant).ok(), true);
    assert_eq!(shop.initiate(&session, 100, &json!({})).refused("MERCHANT_SUSPENDED"), Value::Null);
    assert_eq!(shop.picture(&[]), before);
    assert_eq!(server.admin("resume-merchant", &merchant).ok(), true);
    RefusedAttempt::on(&shop, session, 100).still_pays();
}

#[test]
fn a_call_without_a_valid_key_leaves_the_session_usable() {
    let (server, shop) = Server::with_shop();
    let attempt = RefusedAttempt::new(&shop);
    let body = attempt.body(&json!({}));
    let revoked = server.admin("generate-key", &json!({ "merchant_id": shop.merchant_id, "name": "Old" })).ok();
    server.admin("revoke-key", &json!({ "merchant_id": shop.merchant_id, "key_id": revoked["key_id"] })).ok();
    let revoked = server.client().bearer(revoked["key"].as_str().expect("a key"));
    for client in [server.client(), server.client().bearer("sk_wrong"), revoked] {
        assert_eq!(client.post(super::attempt::PATH, &body).refused("UNAUTHORIZED"), Value::Null);
    }
    attempt.still_pays();
}
