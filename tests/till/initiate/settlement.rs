//! Settlement and fees: the time at which the money of a capture becomes available, and its amount.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Server, Shop, first_answer};

fn shop_that_settles_after(server: &Server, seconds: u64) -> Shop {
    server.shop_with(json!({ "name": "Shop", "currency": "THB", "settlement_delay_seconds": seconds }))
}

/// The balance once nothing is pending any more.
#[track_caller]
fn settled_balance(shop: &Shop) -> Value {
    first_answer(Duration::from_secs(20), "not settled", || shop.balance(), |balance| balance["pending"] == 0)
}

fn set_fee(server: &Server, shop: &Shop, basis_points: u64, fixed: u64) {
    let body = json!({
        "merchant_id": shop.merchant_id, "payment_method": "CARD", "acquirer": "sandbox", "enabled": true,
        "authorizes_without_capture": true, "fee_basis_points": basis_points, "fee_fixed": fixed,
    });
    server.admin("configure-payment-method", &body).ok();
}

/// Type, direction and amount of the entries, in the order of their types.
fn entries(shop: &Shop) -> Vec<(String, String, u64)> {
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    let of =
        |entry: &Value| (text(&entry["type"]), text(&entry["direction"]), entry["amount"].as_u64().expect("an amount"));
    let mut entries: Vec<_> = shop.all("balance-history").iter().map(of).collect();
    entries.sort();
    entries
}

#[test]
fn a_capture_is_held_for_the_merchants_delay_and_then_available() {
    let (_server, shop) = Server::with(|server| shop_that_settles_after(server, 1));
    let payment = shop.pay(10_000);
    let held = shop.all("balance-history").remove(0);
    if held["status"] == "ON_HOLD" {
        assert_eq!((&held["effective_at"], &held["canceled_at"]), (&Value::Null, &Value::Null));
    }
    assert_eq!(settled_balance(&shop), json!({ "currency": "THB", "available": 10_000, "pending": 0 }));
    let entry = shop.all("balance-history").remove(0);
    assert_eq!((&entry["status"], &entry["entry_id"]), (&json!("EFFECTIVE"), &held["entry_id"]));
    let seconds = |key: &str| entry[key].as_u64().expect("a time");
    assert!(seconds("effective_at") > seconds("created_at"), "not before its delay: {entry}");
    let found = shop.payment(&payment);
    assert_eq!((&found["reversible"], &found["refundable"]), (&json!(false), &json!(true)), "what settled is refunded");
    assert_eq!(shop.all("list-activity-logs").len(), 1, "settling is no activity");
}

#[test]
fn money_held_at_a_kill_is_settled_after_the_next_start() {
    let (mut server, shop) = Server::with(|server| shop_that_settles_after(server, 1));
    shop.pay(10_000);
    server.kill();
    std::thread::sleep(Duration::from_millis(1_100));
    server.restart();
    assert_eq!(settled_balance(&shop.on(&server))["available"], 10_000);
}

#[test]
fn a_fee_is_a_debit_in_the_transaction_of_its_capture() {
    let (server, shop) = Server::with(|server| shop_that_settles_after(server, 1));
    set_fee(&server, &shop, 250, 10);
    let paid = shop.payment(&shop.pay(10_000));
    assert_eq!(paid["fees"], json!([{ "type": "PAYMENT_FEE", "amount": 260, "currency": "THB" }]));
    assert_eq!(paid["amount_captured"], 10_000);
    let expected = [("PAYMENT", "CREDIT", 10_000), ("PAYMENT_FEE", "DEBIT", 260)];
    assert_eq!(entries(&shop), expected.map(|(kind, side, amount)| (kind.to_owned(), side.to_owned(), amount)));
    let page = shop.all("balance-history");
    assert_eq!(page[0]["transaction_id"], page[1]["transaction_id"]);
    let balance = shop.balance();
    assert_eq!(
        balance["pending"].as_i64().zip(balance["available"].as_i64()).map(|(held, free)| held + free),
        Some(9_740)
    );
    assert_eq!(settled_balance(&shop)["available"], 9_740);
    assert!(shop.all("balance-history").iter().all(|entry| entry["status"] == "EFFECTIVE"), "they settle together");
}

#[test]
fn a_payment_that_is_only_authorized_has_no_fee() {
    let (server, shop) = Server::with_shop();
    set_fee(&server, &shop, 250, 10);
    assert_eq!(shop.pay_with(10_000, &json!({ "capture": false }))["fees"], json!([]));
    assert_eq!(shop.all("balance-history").len(), 0);
}
