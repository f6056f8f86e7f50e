//! The header Idempotency-Key at initiate-payment-flow: contract, section 8.

use serde_json::{Value, json};

use super::attempt::{PATH, RefusedAttempt};
use crate::harness::{ApiAnswer, Server, Shop, merged};

/// Calls with an Idempotency-Key.
fn named(shop: &Shop, key: &str, body: &Value) -> ApiAnswer {
    shop.client().idempotency_key(key).post(PATH, body)
}

/// Checks that this is the stored answer of a call that made this payment.
#[track_caller]
fn assert_replays(answer: ApiAnswer, payment: &str) {
    assert_eq!(answer.header("idempotent-replayed"), Some("true"), "{}", answer.body);
    assert_eq!(answer.id(), payment);
}

#[test]
fn a_repeated_call_gets_the_stored_answer_with_its_header() {
    let (_server, shop) = Server::with_shop();
    let body = shop.initiation(&shop.session(100), 100);
    let first = named(&shop, "order-1", &body);
    assert_eq!(first.header("idempotent-replayed"), None);
    let payment = first.id();
    shop.settled(&payment);
    let before = shop.picture(&[&payment]);
    for _ in 0..3 {
        assert_replays(named(&shop, "order-1", &body), &payment);
    }
    assert_eq!(shop.picture(&[&payment]), before, "there is one payment, captured once");
}

#[test]
fn a_stored_answer_is_replayed_across_kill_9() {
    let (mut server, shop) = Server::with_shop();
    let body = shop.initiation(&shop.session(100), 100);
    let payment = named(&shop, "order-1", &body).id();
    let shop = server.restart_with(&shop);
    assert_replays(named(&shop, "order-1", &body), &payment);
    shop.settled(&payment);
    let other = shop.initiation(&shop.session(100), 100);
    named(&shop, "order-1", &other).refused("IDEMPOTENCY_KEY_REUSED");
    assert_eq!(shop.all("balance-history").len(), 1, "captured once");
}

#[test]
fn forms_that_mean_the_same_are_one_body() {
    let (_server, shop) = Server::with_shop();
    let session = shop.session(100);
    let body = merged(&shop.initiation(&session, 100), &json!({ "customer_email": "Ada@Example.com" }));
    let payment = named(&shop, "order-1", &body).id();
    let with = |more: Value| merged(&body, &more);
    for same in [
        with(json!({ "amount": 100 })),
        with(json!({ "amount": 100.0 })),
        with(json!({ "customer_email": "ada@example.com" })),
        with(json!({ "external_id": null, "card_id": null, "save_card": null, "interest_bearer": null })),
    ] {
        assert_replays(named(&shop, "order-1", &same), &payment);
    }
    let exponent = body.to_string().replace("\"100\"", "1e2");
    assert_replays(shop.client().idempotency_key("order-1").post_bytes(PATH, exponent.as_bytes()), &payment);
    let spaced = serde_json::to_string_pretty(&body).expect("JSON can be written");
    assert_replays(shop.client().idempotency_key("order-1").post_bytes(PATH, spaced.as_bytes()), &payment);
}

#[test]
fn another_body_under_the_same_key_is_always_refused() {
    let (_server, shop) = Server::with_shop();
    let first = shop.initiation(&shop.session(100), 100);
    shop.settled(&named(&shop, "order-1", &first).id());
    let attempt = RefusedAttempt::new(&shop).idempotency_key("order-1");
    assert_eq!(attempt.refused("IDEMPOTENCY_KEY_REUSED", &json!({})), Value::Null);
    for more in [
        json!({ "external_id": "x" }),
        json!({ "amount": "101" }),
        json!({ "currency": "USD" }),
        json!({ "card_id": "x" }),
        json!({ "capture": false }),
        json!({ "return_url": "https://shop.example/other" }),
        json!({ "customer_id": "x" }),
        json!({ "customer_email": "a@b.co" }),
        json!({ "customer_mobile": "+66812345678" }),
        json!({ "customer_name": "x" }),
        json!({ "save_card": "ADD" }),
        json!({ "interest_bearer": "customer" }),
    ] {
        named(&shop, "order-1", &merged(&first, &more)).refused("IDEMPOTENCY_KEY_REUSED");
    }
    attempt.still_pays();
}

#[test]
fn a_refusal_is_not_stored_and_the_key_can_be_used_again() {
    let (_server, shop) = Server::with_shop();
    let attempt = RefusedAttempt::new(&shop).idempotency_key("order-1");
    attempt.refused("CONFLICT", &json!({ "amount": "99" }));
    attempt.refused("CONFLICT", &json!({ "amount": "99" }));
    attempt.refused("NOT_FOUND", &json!({ "customer_id": "ctc_nobody" }));
    attempt.refused("INVALID_ARGUMENTS", &json!({ "amount": "x" }));
    let answer = named(&shop, "order-1", &attempt.body(&json!({})));
    assert_eq!(answer.header("idempotent-replayed"), None);
    let payment = answer.id();
    assert_replays(named(&shop, "order-1", &attempt.body(&json!({}))), &payment);
}

#[test]
fn a_malformed_key_is_a_fault_and_the_longest_is_accepted() {
    let (_server, shop) = Server::with_shop();
    for key in ["", " ", "a\tb", &"a".repeat(256)] {
        let attempt = RefusedAttempt::new(&shop).idempotency_key(key);
        assert_eq!(attempt.faults(&json!({})), ["invalid Idempotency-Key"], "{key:?}");
        attempt.still_pays();
    }
    let body = shop.initiation(&shop.session(100), 100);
    let longest = "~".repeat(255);
    let payment = named(&shop, &longest, &body).id();
    assert_replays(named(&shop, &longest, &body), &payment);
}

#[test]
fn a_key_may_have_spaces_inside_and_is_trimmed() {
    let (_server, shop) = Server::with_shop();
    let body = shop.initiation(&shop.session(100), 100);
    let payment = named(&shop, "order 1, first try", &body).id();
    assert_replays(named(&shop, "  order 1, first try ", &body), &payment);
    named(&shop, "order 1,  first try", &body).refused("NOT_FOUND");
}

#[test]
fn a_key_belongs_to_its_merchant_and_to_its_endpoint() {
    let (server, shop, other) = Server::with_shops();
    let payment = named(&shop, "order-1", &shop.initiation(&shop.session(100), 100)).id();
    let foreign = named(&other, "order-1", &other.initiation(&other.session(100), 100));
    assert_eq!(foreign.header("idempotent-replayed"), None);
    assert_ne!(foreign.id(), payment);
    let selection = json!({ "amount": "100", "currency": "THB", "payment_method": "CARD" });
    let select = server.client().idempotency_key("order-1").post("/sdk/select-payment-method", &shop.named(&selection));
    assert_eq!(select.header("idempotent-replayed"), None);
    assert!(select.id().starts_with("pse_"));
}

#[test]
fn any_key_of_the_merchant_may_ask_again() {
    let (server, shop) = Server::with_shop();
    let body = shop.initiation(&shop.session(100), 100);
    let payment = named(&shop, "order-1", &body).id();
    let second = server.admin("generate-key", &json!({ "merchant_id": shop.merchant_id, "name": "Second" })).ok();
    let client = server.client().bearer(second["key"].as_str().expect("a key"));
    assert_replays(client.idempotency_key("order-1").post(PATH, &body), &payment);
}
