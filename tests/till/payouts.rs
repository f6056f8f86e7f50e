//! Payouts over HTTP: contract, sections 7, 9.1a, 10 and 11.

use std::fs;
use std::process::Command;
use std::thread;

use serde_json::{Value, json};

use crate::harness::{PATIENCE, Server, Shop, first_answer, id_of_nothing, ids_of, merged};

/// A merchant with this balance.
fn shop_with(server: &Server, minor: u64) -> Shop {
    let shop = server.shop();
    server.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": minor })).ok();
    shop
}

fn send(shop: &Shop, minor: u64) -> String {
    shop.call("send-payout", &json!({ "amount": minor })).id()
}

fn find(shop: &Shop, payout: &str) -> Value {
    shop.call("find-payout", &json!({ "payout_id": payout })).ok()
}

/// The payout once the acquirer has answered.
fn ended(shop: &Shop, payout: &str) -> Value {
    first_answer(PATIENCE, "still not done", || find(shop, payout), |found| found["status"] != "PENDING")
}

fn available(shop: &Shop) -> Value {
    shop.balance()["available"].clone()
}

#[test]
fn a_payout_shows_in_ledger_activity_and_events() {
    let (_server, shop) = Server::with(|server| shop_with(server, 1_000));
    let body = json!({ "amount": "400", "external_id": "out-1", "description": "March 2026" });
    let id = shop.call("send-payout", &body).id();
    assert!(id.starts_with("pyo_"));
    let payout = ended(&shop, &id);
    let expected = json!({
        "payout_id": id, "external_id": "out-1", "status": "SUCCESSFUL", "amount": 400, "currency": "THB",
        "description": "March 2026", "failure_code": null, "created_at": payout["created_at"],
            "paid_at": payout["paid_at"],
    });
    assert_eq!(payout, expected);
    assert!(payout["paid_at"].is_u64() && payout["created_at"].is_u64());
    assert_eq!(shop.balance(), json!({ "currency": "THB", "available": 600, "pending": 0 }));
    let entry = shop.all("balance-history").remove(0);
    let shown = ["type", "direction", "status", "amount", "payout_id", "payment_id", "refund_id", "invoice_id"];
    let shown: Vec<&Value> = shown.iter().map(|name| &entry[name]).collect();
    assert_eq!(json!(shown), json!(["PAY_OUT", "DEBIT", "EFFECTIVE", 400, id, null, null, null]));
    let activity = shop.all("list-activity-logs").remove(0);
    let shown = ["activity_type", "actor_type", "actor_key_id", "object_type", "object_id", "parent_id"];
    let shown: Vec<&Value> = shown.iter().map(|name| &activity[name]).collect();
    assert_eq!(json!(shown), json!(["PAYOUT_CREATED", "API_KEY", shop.key_id, "PAYOUT", id, null]));
    let event = shop.all("list-events").remove(0);
    let expected = json!({
        "event_id": event["event_id"], "event": "payout_completed", "sequence": 1, "payment_id": null,
            "checkout_id": null,
        "external_id": "out-1", "status": "SUCCESSFUL", "refund_id": null, "dispute_id": null, "payout_id": id,
        "amount": 400, "currency": "THB", "created_at": event["created_at"], "delivered_at": null,
    });
    assert_eq!(event, expected);
}

#[test]
fn the_operator_ends_a_payout_by_its_own_identifier_and_key() {
    let (server, shop) = Server::with(|server| shop_with(server, 1_000));
    for (endpoint, status) in [("complete-payout", "SUCCESSFUL"), ("fail-payout", "FAILED")] {
        shop.call("send-payout", &json!({ "amount": 198, "external_id": endpoint })).id();
        let body = json!({ "merchant_id": shop.merchant_id, "payout_id": endpoint });
        let end = || server.admin_client().idempotency_key("k").post(&format!("/admin/{endpoint}"), &body);
        assert_eq!(end().ok(), true);
        assert_eq!(find(&shop, endpoint)["status"], status);
        let again = end();
        assert_eq!(again.header("idempotent-replayed"), Some("true"), "{endpoint}: {}", again.body);
        assert_eq!(again.ok(), true);
        server.admin(endpoint, &body).refused("INVALID_STATE");
    }
}

#[test]
fn a_refused_payout_names_the_balance_or_the_earlier_one() {
    let (server, shop) = Server::with_shop();
    let refused = |body: &Value, code: &str| shop.call("send-payout", body).refused(code);
    assert_eq!(refused(&json!({ "amount": 1 }), "INSUFFICIENT_BALANCE"), json!({ "available": 0 }));
    server.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": 100 })).ok();
    assert_eq!(refused(&json!({ "amount": 101 }), "INSUFFICIENT_BALANCE"), json!({ "available": 100 }));
    let id = shop.call("send-payout", &json!({ "amount": 60, "external_id": "out-1" })).id();
    let taken = json!({ "argument": "external_id", "payout_id": id });
    assert_eq!(refused(&json!({ "amount": 1_000, "external_id": "out-1" }), "CONFLICT"), taken);
    let faults = |body: &Value| shop.call("send-payout", body).faults();
    assert_eq!(faults(&json!({})), ["missing amount"]);
    let wrong = json!({ "amount": 0, "external_id": id, "description": "" });
    assert_eq!(faults(&wrong), ["invalid amount", "invalid external_id", "invalid description"]);
    assert_eq!(faults(&json!({ "amount": 1, "description": "x".repeat(256) })), ["invalid description"]);
    assert_eq!(faults(&json!({ "amount": 1, "description": "4242-4242-4242-4242" })), ["invalid description"]);
    server.admin("suspend-merchant", &json!({ "merchant_id": shop.merchant_id })).ok();
    refused(&json!({ "amount": 1 }), "MERCHANT_SUSPENDED");
    ended(&shop, &id);
    assert_eq!(available(&shop), 40);
}

#[test]
fn payouts_are_listed_by_status_and_found_by_both_ids() {
    let (server, shop) = Server::with(|server| shop_with(server, 100_000));
    let paid = shop.call("send-payout", &json!({ "amount": 100, "external_id": "out-1" })).id();
    let (failed, waits) = (send(&shop, 299), send(&shop, 398));
    for id in [&paid, &failed] {
        ended(&shop, id);
    }
    let ids = |body: &Value| ids_of(&shop.call("list-payouts", body).ok(), "payout_id");
    assert_eq!(ids(&json!({})), [waits.as_str(), &failed, &paid]);
    for (status, id) in [("PENDING", &waits), ("FAILED", &failed), ("SUCCESSFUL", &paid)] {
        assert_eq!(ids(&json!({ "status": status })), [id.as_str()], "{status}");
    }
    let page = shop.call("list-payouts", &json!({ "per_page": 1, "status": "PENDING" })).ok();
    assert_eq!((&page["next"], &page["page"][0]), (&Value::Null, &find(&shop, &waits)));
    assert_eq!(find(&shop, "out-1"), find(&shop, &paid));
    for nothing in [id_of_nothing(&paid).as_str(), "out-2"] {
        let details = shop.call("find-payout", &json!({ "payout_id": nothing })).refused("NOT_FOUND");
        assert_eq!(details, json!({ "argument": "payout_id" }), "{nothing}");
    }
    let other = server.shop();
    other.call("find-payout", &json!({ "payout_id": paid })).refused("NOT_FOUND");
    assert!(other.all("list-payouts").is_empty());
}

#[test]
fn the_operator_ends_payouts_that_wait_for_the_sandbox_once() {
    let (server, shop) = Server::with(|server| shop_with(server, 10_000));
    let (paid, refused) = (send(&shop, 1_098), send(&shop, 2_098));
    assert_eq!(available(&shop), 10_000 - 1_098 - 2_098);
    let body = |payout: &str| json!({ "merchant_id": shop.merchant_id, "payout_id": payout });
    assert_eq!(server.admin("complete-payout", &body(&paid)).ok(), true);
    assert_eq!(server.admin("fail-payout", &body(&refused)).ok(), true);
    // The ends of these payouts are recorded when the calls are answered.
    assert_eq!(find(&shop, &paid)["status"], "SUCCESSFUL");
    let failed = find(&shop, &refused);
    assert_eq!((&failed["status"], &failed["failure_code"]), (&json!("FAILED"), &json!("payout_failed")));
    assert_eq!(available(&shop), 10_000 - 1_098);
    let at_once = send(&shop, 100);
    ended(&shop, &at_once);
    for (payout, status) in [(&paid, "SUCCESSFUL"), (&refused, "FAILED"), (&at_once, "SUCCESSFUL")] {
        for endpoint in ["complete-payout", "fail-payout"] {
            let details = server.admin(endpoint, &body(payout)).refused("INVALID_STATE");
            assert_eq!(details, json!({ "status": status }), "{endpoint} {payout}");
        }
    }
    let details = server.admin("complete-payout", &body(&id_of_nothing(&paid))).refused("NOT_FOUND");
    assert_eq!(details, json!({ "argument": "payout_id" }));
}

#[test]
fn a_hundred_payouts_at_once_never_exceed_the_balance() {
    let (_server, shop) = Server::with(|server| shop_with(server, 1_000));
    let answers: Vec<_> = thread::scope(|scope| {
        let calls: Vec<_> = (0..100)
            .map(|number| {
                let body = json!({ "amount": 30, "external_id": format!("out-{number}") });
                let shop = &shop;
                scope.spawn(move || shop.call("send-payout", &body))
            })
            .collect();
        calls.into_iter().map(|call| call.join().expect("no panic")).collect()
    });
    let (taken, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 200);
    assert_eq!((taken.len(), refused.len()), (33, 67));
    for answer in refused {
        answer.refused("INSUFFICIENT_BALANCE");
    }
    taken.into_iter().for_each(|answer| drop(ended(&shop, &answer.id())));
    assert_eq!(shop.balance(), json!({ "currency": "THB", "available": 10, "pending": 0 }));
}

#[test]
fn open_payouts_survive_a_kill_and_are_shown_as_metrics() {
    let (mut server, shop) = Server::with(|server| shop_with(server, 10_000));
    let waits = send(&shop, 1_098);
    let named = shop.client().idempotency_key("payout 1");
    let body = json!({ "amount": 500 });
    let at_once = named.post("/merchants/send-payout", &body).id();
    let shop = server.restart_with(&shop);
    let again = shop.client().idempotency_key("payout 1").post("/merchants/send-payout", &body);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.id(), at_once);
    assert_eq!(ended(&shop, &at_once)["status"], "SUCCESSFUL");
    assert_eq!(find(&shop, &waits)["status"], "PENDING");
    assert_eq!(server.metric("till_payouts_open"), Some(1.0));
    assert!(server.metric("till_payouts_oldest_seconds").is_some());
    let body = merged(&json!({ "merchant_id": shop.merchant_id }), &json!({ "payout_id": waits }));
    assert_eq!(server.admin("complete-payout", &body).ok(), true);
    assert_eq!(available(&shop), 10_000 - 1_098 - 500);
}

#[test]
fn payouts_that_an_older_book_lacks_are_found() {
    let (mut server, shop) = Server::with(|server| shop_with(server, 1_000));
    ended(&shop, &send(&shop, 100));
    assert!(server.stop());
    let (book, aside) = (server.data().join("sandbox"), server.data().join("sandbox.aside"));
    let copied = Command::new("cp").arg("-a").args([&book, &aside]).status();
    assert!(copied.is_ok_and(|status| status.success()));
    let shop = server.restart_with(&shop);
    (0..2).for_each(|_| drop(ended(&shop, &send(&shop, 100))));
    assert!(server.stop());
    let verify = || {
        let output = server.command().arg("verify").output().expect("the binary can be started");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(verify().ends_with("no faults\n"));
    fs::remove_dir_all(&book).expect("it is there");
    fs::rename(&aside, &book).expect("it can be put back");
    let faults = verify();
    assert!(faults.contains("1 payouts that have ended, the log") && faults.contains("3 payouts"), "{faults}");
}
