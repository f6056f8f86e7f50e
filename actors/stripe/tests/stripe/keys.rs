//! Keys: a stored failure, other parameters, and the end of keys.

use serde_json::json;
use till_actors::acquirer::{LookedUp, Prepared, UnansweredOutcome};

use crate::shop::{GOOD_CARD, MINOR, Means, Moved, Payment, Shop, moved_reference};

/// The keys under which requests were made, in their order.
fn keys_of(shop: &Shop, path: &str) -> Vec<String> {
    let requests = shop.fake.control("GET", "requests", &json!({}));
    let latest = requests["latest"].as_array().expect("a list");
    let made = latest.iter().rev().filter(|request| request["method"] == "POST" && request["path"] == path);
    made.map(|request| request["key"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn a_page_whose_key_has_a_stored_failure_gets_a_number() {
    for executed in [true, false] {
        let shop = Shop::open();
        let payment = shop.payment(Means::Page);
        shop.fake.plan(&json!({ "fault": "stored_500", "executed": executed, "path": "/v1/checkout/sessions" }));
        let error = shop.prepare(&payment).await.expect_err("stored");
        assert_eq!(error.outcome, UnansweredOutcome::Unknown);
        shop.prepared(shop.payment_again(&payment)).await;
        let key = format!("{}/authorize/prepare", payment.id);
        assert_eq!(keys_of(&shop, "/v1/checkout/sessions"), [key.clone(), key.clone(), format!("{key}/2")]);
    }
}

#[tokio::test]
async fn a_page_for_an_address_that_changed_gets_a_number() {
    let shop = Shop::open();
    let payment = shop.prepared(shop.payment(Means::Page)).await;
    let same = shop.prepared(shop.payment_again(&payment)).await;
    assert_eq!(same.object(), payment.object());
    let changed = Payment { email: "erased@shop.example", ..shop.payment_again(&payment) };
    let changed = shop.prepared(changed).await;
    assert_ne!(changed.object(), payment.object());
}

#[tokio::test]
async fn a_page_after_its_key_has_ended_is_another_one_and_late_is_declined() {
    let shop = Shop::open();
    let payment = shop.prepared(shop.payment(Means::Page)).await;
    shop.fake.control("DELETE", "keys", &json!({}));
    assert_ne!(shop.prepared(shop.payment_again(&payment)).await.object(), payment.object());
    shop.fake.control("DELETE", "keys", &json!({}));
    shop.fake.control("POST", "clock", &json!({ "offset_seconds": 3_700 }));
    let answer = shop.prepare(&payment).await;
    assert!(matches!(answer, Ok(Prepared::Declined(_))), "{answer:?}");
}

#[tokio::test]
async fn a_refund_whose_key_has_a_stored_failure_is_looked_for_before_another_key() {
    for executed in [true, false] {
        let shop = Shop::open();
        let (payment, own) = shop.paid(shop.payment(Means::Number(GOOD_CARD))).await;
        let step = shop.refund_step();
        let refund = || payment.refund(step, &own, MINOR / 2);
        shop.fake.plan(&json!({ "fault": "stored_500", "executed": executed, "path": "/v1/refunds" }));
        assert_eq!(shop.outcome(refund()).await, UnansweredOutcome::Unknown);
        moved_reference(shop.act(refund()).await);
        let made = keys_of(&shop, "/v1/refunds").len();
        assert_eq!(made, if executed { 2 } else { 3 });
        assert_eq!(shop.moved(), Moved { charges: 1, refunds: 1 });
    }
}

#[tokio::test]
async fn a_call_whose_keys_all_have_stored_failures_is_unknown() {
    let shop = Shop::open();
    let (payment, own) = shop.paid(shop.payment(Means::Number(GOOD_CARD))).await;
    let step = shop.refund_step();
    let refund = || payment.refund(step, &own, MINOR / 2);
    shop.fake.plan(&json!({ "fault": "stored_500", "times": 100, "method": "POST", "path": "/v1/refunds" }));
    for _ in 0..10 {
        assert_eq!(shop.outcome(refund()).await, UnansweredOutcome::Unknown);
    }
    assert_eq!(shop.look_up(&refund()).await, LookedUp::NotDone);
    let mut keys = keys_of(&shop, "/v1/refunds");
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 8);
}

#[tokio::test]
async fn a_refund_after_its_key_has_ended_is_found() {
    let shop = Shop::open();
    let (payment, own) = shop.paid(shop.payment(Means::Number(GOOD_CARD))).await;
    let step = shop.refund_step();
    let refund = || payment.refund(step, &own, MINOR / 2);
    let answer = shop.act(refund()).await;
    shop.fake.control("DELETE", "keys", &json!({}));
    assert_eq!(shop.found(&refund()).await, answer);
}

impl Shop {
    /// The payment as it is before it is prepared.
    fn payment_again(&self, payment: &Payment) -> Payment {
        let Payment { id, means, capture, minor, email, created_at, prepared: _ } = *payment;
        Payment { id, means, capture, minor, email, created_at, prepared: None }
    }
}
