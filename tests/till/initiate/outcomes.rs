//! The result of a payment: the sandbox's cards, with capture and without, and every member of find-payment.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::harness::{Server, Shop};

/// Seven days: the time for which an authorization is valid.
const AUTHORIZATION_SECONDS: u64 = 604_800;

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_secs()
}

/// A settled payment of a fresh token of a card.
fn paid_with(shop: &Shop, number: &str, more: &Value) -> Value {
    shop.settled(&shop.initiate(&shop.session_of(number, 100), 100, more).id())
}

fn status_of(shop: &Shop, payment: &Value) -> Value {
    shop.sdk("check-status", &json!({ "payment_session_id": payment["payment_session_id"] })).ok()
}

#[test]
fn every_declined_card_fails_with_its_own_code() {
    let (_server, shop) = Server::with_shop();
    let before = shop.picture(&[]);
    for (number, code) in [
        ("4000000000000002", "card_declined"),
        ("4000000000009995", "insufficient_funds"),
        ("4000000000000069", "expired_card"),
        ("4000000000000127", "incorrect_cvc"),
        ("4000000000000119", "processing_error"),
        ("4000008400001280", "authentication_unavailable"),
        ("4000008400001611", "authentication_rejected"),
    ] {
        for capture in [true, false] {
            let paid = paid_with(&shop, number, &json!({ "capture": capture }));
            assert_eq!((&paid["status"], &paid["failure_code"]), (&json!("FAILED"), &json!(code)), "{number}");
            assert!(paid["failure_message"].as_str().is_some_and(|text| text.ends_with('.')), "{paid}");
            assert_eq!((&paid["amount_captured"], &paid["fees"]), (&json!(0), &json!([])));
            for key in ["authorized_at", "captured_at", "expires_at"] {
                assert_eq!(paid[key], Value::Null, "{key} of {number}");
            }
            for key in ["capturable", "voidable", "reversible", "refundable"] {
                assert_eq!(paid[key], false, "{key} of {number}");
            }
            assert_eq!(status_of(&shop, &paid), "FAILED");
        }
    }
    assert_eq!(shop.picture(&[]), before);
}

#[test]
fn every_other_card_is_captured_when_asked_to() {
    let (_server, shop) = Server::with_shop();
    for (number, scheme, name) in [
        ("4242424242424242", "VISA", "Visa 4242"),
        ("4000000000000077", "VISA", "Visa 0077"),
        ("5555555555554444", "MASTERCARD", "Mastercard 4444"),
        ("378282246310005", "AMEX", "American Express 0005"),
    ] {
        let paid = paid_with(&shop, number, &json!({}));
        assert_eq!((&paid["status"], &paid["amount_captured"]), (&json!("SUCCESSFUL"), &json!(100)), "{number}");
        assert_eq!((&paid["failure_code"], &paid["failure_message"]), (&Value::Null, &Value::Null));
        assert_eq!(paid["payment_method_display_name"], name);
        assert_eq!((&paid["card"]["scheme"], &paid["card"]["first_digits"]), (&json!(scheme), &json!(&number[..6])));
        assert_eq!(status_of(&shop, &paid), "SUCCESSFUL");
    }
    assert_eq!(shop.all("list-activity-logs").len(), 4);
}

#[test]
fn a_captured_payment_shows_every_member() {
    let (_server, shop) = Server::with_shop();
    let session = shop.session(10_000);
    let more = json!({
        "external_id": "order-1", "customer_id": "ada", "customer_email": "Ada@Example.com",
        "customer_mobile": "+66812345678", "customer_name": "Ada",
    });
    let from = now();
    let paid = shop.settled(&shop.initiate(&session, 10_000, &more).id());
    let until = now();
    let created = paid["created_at"].as_u64().expect("a time");
    let captured = paid["captured_at"].as_u64().expect("a time");
    assert!(from <= created && created <= captured && captured <= until, "{paid}");
    let reference = format!("sandbox:{}/authorize", paid["payment_id"].as_str().expect("an id"));
    let expected = shop.declared(
        "payment",
        &json!({
            "payment_id": paid["payment_id"], "external_id": "order-1", "payment_session_id": session,
            "status": "SUCCESSFUL", "amount": 10_000, "currency": "THB", "payment_method": "CARD",
            "payment_method_display_name": "Visa 4242", "capture": "automatic", "amount_captured": 10_000,
            "amount_refunded": 0, "amount_charged_back": 0,
            "return_url": "https://shop.example/done", "customer_id": shop.contact("ada")["contact_id"],
            "customer_email": "ada@example.com", "customer_mobile": "+66812345678", "customer_name": "Ada",
            "card": {
                "card_id": null, "scheme": "VISA", "first_digits": "424242", "last_digits": "4242",
                "expiration_date": "12/49",
            },
            "authentication": {
                "version": "2.2.0", "flow": "FRICTIONLESS", "trans_status": "Y", "eci": "05",
                "authenticated_at": captured,
            },
            "fees": [], "acquirer": "sandbox", "acquirer_reference": reference,
            "created_at": created, "authorized_at": captured, "captured_at": captured,
            "capturable": false, "voidable": false, "reversible": true, "refundable": true,
        }),
    );
    assert_eq!(paid, expected);
}

#[test]
fn an_authorization_waits_seven_days_and_moves_no_money() {
    let (_server, shop) = Server::with_shop();
    let before = shop.picture(&[]);
    let paid = paid_with(&shop, "4242424242424242", &json!({ "capture": false }));
    let authorized = paid["authorized_at"].as_u64().expect("a time");
    for (key, value) in [
        ("status", json!("AUTHORIZED")),
        ("capture", json!("manual")),
        ("amount_captured", json!(0)),
        ("fees", json!([])),
        ("captured_at", Value::Null),
        ("expires_at", json!(authorized + AUTHORIZATION_SECONDS)),
        ("capturable", json!(true)),
        ("voidable", json!(true)),
        ("reversible", json!(false)),
        ("refundable", json!(false)),
    ] {
        assert_eq!(paid[key], value, "{key}");
    }
    assert_eq!(shop.picture(&[]), before);
    assert_eq!(status_of(&shop, &paid), "SUCCESSFUL");
}

#[test]
fn an_instalment_payment_shows_its_plan_and_no_card() {
    let (_server, shop) = Server::with_shop();
    for bearer in ["customer", "merchant"] {
        let session = shop.installment_session(3_000, bearer);
        let paid = shop.settled(&shop.initiate(&session, 3_000, &json!({ "interest_bearer": bearer })).id());
        assert_eq!((&paid["status"], &paid["payment_method"]), (&json!("SUCCESSFUL"), &json!("INSTALLMENT")));
        assert_eq!(paid["payment_method_display_name"], "Sandbox instalments, 3 months");
        assert_eq!((&paid["card"], &paid["interest_bearer"]), (&Value::Null, &json!(bearer)));
    }
    let session = shop.installment_session(3_000, "merchant");
    let more = json!({ "interest_bearer": "merchant", "capture": false, "card_id": "ignored", "save_card": "ADD" });
    assert_eq!(shop.settled(&shop.initiate(&session, 3_000, &more).id())["status"], "AUTHORIZED");
}

#[test]
fn a_capture_is_one_held_credit_and_one_system_activity() {
    let (_server, shop) = Server::with_shop();
    let paid = paid_with(&shop, "4242424242424242", &json!({}));
    let [entry] = &shop.all("balance-history")[..] else { panic!("one entry") };
    let at = &paid["captured_at"];
    let expected = shop.declared(
        "entry",
        &json!({
            "entry_id": entry["entry_id"], "transaction_id": entry["transaction_id"], "direction": "CREDIT",
            "type": "PAYMENT", "amount": 100, "currency": "THB", "status": "ON_HOLD",
            "payment_id": paid["payment_id"], "external_id": paid["external_id"],
            "created_at": at,
        }),
    );
    assert_eq!(entry, &expected);
    let [activity] = &shop.all("list-activity-logs")[..] else { panic!("one activity") };
    let expected = shop.declared(
        "activity_log",
        &json!({
            "activity_log_id": activity["activity_log_id"], "created_at": at, "activity_type": "PAYMENT_CAPTURED",
            "actor_type": "SYSTEM",
            "object_id": paid["payment_id"], "object_type": "PAYMENT",
        }),
    );
    assert_eq!(activity, &expected);
}

#[test]
fn a_payment_is_found_by_its_own_and_by_its_external_id() {
    let (_server, shop) = Server::with_shop();
    let paid = shop.pay_with(100, &json!({ "external_id": "order-1" }));
    assert_eq!(shop.payment("order-1"), paid);
    assert_eq!(shop.payment(paid["payment_id"].as_str().expect("an id")), paid);
    for unknown in
        ["order-2", "ORDER-1", "pay_1", &crate::harness::id_of_nothing(paid["payment_id"].as_str().expect("an id"))]
    {
        let answer = shop.call("find-payment", &json!({ "payment_id": unknown }));
        assert_eq!(answer.refused("NOT_FOUND"), json!({ "argument": "payment_id" }), "{unknown}");
    }
    assert_eq!(shop.call("find-payment", &json!({})).faults(), ["missing payment_id"]);
    for wrong in [json!(1), json!(""), json!("a".repeat(256)), json!("a\u{0}")] {
        assert_eq!(shop.call("find-payment", &json!({ "payment_id": wrong })).faults(), ["invalid payment_id"]);
    }
    assert_eq!(
        shop.call("find-payment", &json!({ "payment_id": "x", "paymentId": 1 })).faults(),
        ["unknown paymentId"]
    );
}
