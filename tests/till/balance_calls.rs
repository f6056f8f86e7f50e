//! The endpoints of top-ups and invoices: contract, sections 9.1a and 10.

use serde_json::{Value, json};

use crate::harness::{Server, id_of_nothing, merged};

#[test]
fn topups_are_listed_newest_first_and_found_by_both_ids() {
    let (server, shop) = Server::with_shop();
    let add = |body: Value| server.admin("add-topup", &body).id();
    let first = add(json!({ "merchant_id": shop.merchant_id, "amount": 250, "external_id": "transfer-1" }));
    let second = add(json!({ "merchant_id": shop.merchant_id, "amount": "7" }));
    let listed = shop.all("list-topups");
    let expected = |id: &str, external_id: Value, amount: u64, at: &Value| {
        json!({
            "topup_id": id, "external_id": external_id, "status": "SUCCESSFUL", "amount": amount, "currency": "THB",
            "created_at": at,
        })
    };
    let at = |index: usize| listed[index]["created_at"].clone();
    let all = [expected(&second, Value::Null, 7, &at(0)), expected(&first, json!("transfer-1"), 250, &at(1))];
    assert_eq!(listed, all);
    assert!(at(0).is_u64());
    for name in [&first, "transfer-1"] {
        assert_eq!(shop.call("find-topup", &json!({ "topup_id": name })).ok(), all[1], "{name}");
    }
    let page = shop.call("list-topups", &json!({ "per_page": 1 })).ok();
    assert_eq!(page["next"], json!({ "after": second, "per_page": 1 }));
    for nothing in [id_of_nothing(&first).as_str(), "transfer-2"] {
        let details = shop.call("find-topup", &json!({ "topup_id": nothing })).refused("NOT_FOUND");
        assert_eq!(details, json!({ "argument": "topup_id" }), "{nothing}");
    }
    let other = server.shop();
    other.call("find-topup", &json!({ "topup_id": first })).refused("NOT_FOUND");
    assert!(other.all("list-topups").is_empty());
}

#[test]
fn an_invoice_is_charged_once_and_may_overdraw_the_balance() {
    let (server, shop) = Server::with_shop();
    let charge =
        |more: Value| server.admin("charge-invoice", &merged(&json!({ "merchant_id": shop.merchant_id }), &more));
    let invoice = charge(json!({ "amount": "250", "external_id": "bill-1", "description": "March 2026" })).id();
    assert!(invoice.starts_with("inv_"));
    assert_eq!(shop.balance(), json!({ "currency": "THB", "available": -250, "pending": 0 }));
    let entry = shop.all("balance-history").remove(0);
    assert_eq!(
        (&entry["type"], &entry["direction"], &entry["amount"]),
        (&json!("INVOICE"), &json!("DEBIT"), &json!(250))
    );
    assert_eq!((&entry["status"], &entry["invoice_id"]), (&json!("EFFECTIVE"), &json!(invoice)));
    assert_eq!((&entry["topup_id"], &entry["payment_id"]), (&Value::Null, &Value::Null));
    let details = charge(json!({ "amount": 1, "external_id": "bill-1" })).refused("CONFLICT");
    assert_eq!(details, json!({ "argument": "external_id", "invoice_id": invoice }));
    charge(json!({ "amount": 9_007_199_254_740_991_u64 })).refused("AMOUNT_EXCEEDS_LIMIT");
    let too_long = "x".repeat(256);
    let faults = charge(json!({ "amount": 0, "external_id": invoice, "description": too_long })).faults();
    assert_eq!(faults, ["invalid amount", "invalid external_id", "invalid description"]);
    assert_eq!(charge(json!({ "amount": 1, "description": "4242 4242 4242 4242" })).faults(), ["invalid description"]);
    assert_eq!(shop.balance()["available"], -250);
}

#[test]
fn costs_beyond_a_held_capture_are_missing_at_once() {
    let (mut server, shop) = Server::with_shop();
    server.configure(&shop, "INSTALLMENT", &json!({ "fee_fixed": 500 })).ok();
    server.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": 100 })).ok();
    let bearer = json!({ "interest_bearer": "merchant" });
    let payment = shop.initiate(&shop.installment_session(500, "merchant"), 500, &bearer).id();
    let fees = shop.settled(&payment)["fees"].clone();
    assert_eq!((&fees[0]["amount"], &fees[1]["amount"]), (&json!(500), &json!(15)), "{fees}");
    assert_eq!(shop.balance(), json!({ "currency": "THB", "available": 85, "pending": 0 }));
    let details = shop.call("send-payout", &json!({ "amount": 100 })).refused("INSUFFICIENT_BALANCE");
    assert_eq!(details, json!({ "available": 85 }));
    shop.pay(1_000);
    shop.call("refund-payment", &json!({ "payment_id": payment, "amount": 200 })).id();
    assert_eq!(shop.balance(), json!({ "currency": "THB", "available": -115, "pending": 1_000 }));
    assert!(server.stop());
    let verified = server.command().arg("verify").output().expect("the binary can be started");
    let report = String::from_utf8_lossy(&verified.stdout);
    assert!(verified.status.success() && report.contains("no faults"), "{report}");
}
