//! Captures, voids, reversals and refunds over HTTP: contract, sections 9, 9.1a and 10.

use std::thread;

use serde_json::{Value, json};

use crate::harness::{PATIENCE, Server, Shop, first_answer, id_of_nothing, ids_of};

/// A payment that is authorized and not captured.
fn authorized(shop: &Shop, minor: u64) -> String {
    let payment = shop.initiate(&shop.session(minor), minor, &json!({ "capture": false })).id();
    assert_eq!(shop.settled(&payment)["status"], "AUTHORIZED");
    payment
}

/// The first answer of `ask` for which `is_done` holds.
fn eventually(ask: impl FnMut() -> Value, is_done: impl Fn(&Value) -> bool) -> Value {
    first_answer(PATIENCE, "still not done", ask, is_done)
}

/// The payment once no operation is open.
fn operated(shop: &Shop, payment: &str) -> Value {
    eventually(|| shop.payment(payment), |payment| payment["operation"].is_null())
}

/// The refund once the acquirer has answered.
fn refunded(shop: &Shop, refund: &str) -> Value {
    let find = || shop.call("find-refund", &json!({ "refund_id": refund })).ok();
    eventually(find, |refund| refund["status"] != "PENDING")
}

fn refund(shop: &Shop, payment: &str, minor: u64) -> String {
    shop.call("refund-payment", &json!({ "payment_id": payment, "amount": minor })).id()
}

fn flags(payment: &Value) -> Vec<&'static str> {
    ["capturable", "voidable", "reversible", "refundable"].into_iter().filter(|flag| payment[flag] == true).collect()
}

fn activity(shop: &Shop, kind: &str) -> Vec<Value> {
    shop.all("list-activity-logs").into_iter().filter(|entry| entry["activity_type"] == kind).collect()
}

#[test]
fn a_part_is_captured_and_the_rest_is_released() {
    let (_server, shop) = Server::with_shop();
    let payment = authorized(&shop, 10_000);
    assert_eq!(flags(&shop.payment(&payment)), ["capturable", "voidable"]);
    assert_eq!(shop.call("capture-payment", &json!({ "payment_id": payment, "amount": 8_000 })).ok(), true);
    let paid = operated(&shop, &payment);
    assert_eq!(
        (&paid["status"], &paid["amount_captured"], &paid["amount"]),
        (&json!("SUCCESSFUL"), &json!(8_000), &json!(10_000))
    );
    assert_eq!((&paid["last_operation"], flags(&paid)), (&Value::Null, vec!["reversible", "refundable"]));
    let entry = shop.all("balance-history").remove(0);
    assert_eq!(
        (&entry["type"], &entry["amount"], &entry["payment_id"]),
        (&json!("PAYMENT"), &json!(8_000), &json!(payment))
    );
    assert_eq!(shop.balance()["pending"], 8_000);
    let captured = activity(&shop, "PAYMENT_CAPTURED");
    assert_eq!(
        (captured.len(), &captured[0]["actor_type"], &captured[0]["actor_key_id"]),
        (1, &json!("API_KEY"), &json!(shop.key_id))
    );
}

#[test]
fn a_voided_payment_moves_no_money_and_allows_nothing_more() {
    let (_server, shop) = Server::with_shop();
    let payment = authorized(&shop, 500);
    assert_eq!(shop.call("void-payment", &json!({ "payment_id": payment })).ok(), true);
    let voided = operated(&shop, &payment);
    assert_eq!((&voided["status"], flags(&voided)), (&json!("VOIDED"), Vec::new()));
    assert!(shop.all("balance-history").is_empty());
    assert_eq!(activity(&shop, "PAYMENT_VOIDED")[0]["actor_key_id"], json!(shop.key_id));
    for endpoint in ["capture-payment", "void-payment", "reverse-payment"] {
        let details = shop.call(endpoint, &json!({ "payment_id": payment })).refused("INVALID_STATE");
        assert_eq!(details, json!({ "status": "VOIDED", "operation": null }), "{endpoint}");
    }
    let details = shop.call("refund-payment", &json!({ "payment_id": payment })).refused("NOT_REFUNDABLE");
    assert_eq!(details, json!({ "status": "VOIDED", "operation": null }));
    let status = shop.sdk("check-status", &json!({ "payment_session_id": voided["payment_session_id"] })).ok();
    assert_eq!(status, "FAILED");
}

#[test]
fn a_reversed_payment_cancels_its_entries() {
    let (_server, shop) = Server::with_shop();
    let payment = shop.pay(700);
    assert_eq!(shop.call("reverse-payment", &json!({ "payment_id": payment })).ok(), true);
    let reversed = operated(&shop, &payment);
    assert_eq!((&reversed["status"], &reversed["amount_captured"]), (&json!("REVERSED"), &json!(700)));
    let entry = shop.all("balance-history").remove(0);
    assert!(entry["status"] == "CANCELED" && entry["canceled_at"].is_u64(), "{entry}");
    assert_eq!(shop.balance(), json!({ "currency": "THB", "available": 0, "pending": 0 }));
    assert_eq!(activity(&shop, "PAYMENT_REVERSED").len(), 1);
    let status = shop.sdk("check-status", &json!({ "payment_session_id": reversed["payment_session_id"] })).ok();
    assert_eq!(status, "FAILED");
}

#[test]
fn refunds_in_parts_end_with_a_refunded_payment() {
    let (_server, shop) = Server::with_shop();
    let payment = shop.pay(1_000);
    let body = json!({ "payment_id": payment, "amount": 400, "external_id": "return-1", "reason": "damaged" });
    let first = shop.call("refund-payment", &body).id();
    assert!(first.starts_with("rfn_"), "{first}");
    let found = refunded(&shop, "return-1");
    assert_eq!(
        (&found["refund_id"], &found["status"], &found["full"]),
        (&json!(first), &json!("SUCCESSFUL"), &json!(false))
    );
    assert_eq!(
        (&found["reason"], &found["failure_code"], found["refunded_at"].is_u64()),
        (&json!("damaged"), &Value::Null, true)
    );
    let reference = found["acquirer_reference"].as_str().expect("the acquirer has told one");
    assert!(reference.starts_with(&format!("sandbox:{payment}/refund/")), "{reference}");
    assert_eq!(found["acquirer_code"], Value::Null);
    assert_eq!(
        shop.call("refund-payment", &body).refused("CONFLICT"),
        json!({ "argument": "external_id", "refund_id": first })
    );
    let part = shop.payment(&payment);
    assert_eq!((&part["status"], &part["amount_refunded"]), (&json!("PARTIALLY_REFUNDED"), &json!(400)));
    let details =
        shop.call("refund-payment", &json!({ "payment_id": payment, "amount": 601 })).refused("AMOUNT_EXCEEDS_LIMIT");
    assert_eq!(details, json!({ "limit": 600 }));
    let rest = shop.call("refund-payment", &json!({ "payment_id": payment })).id();
    assert_eq!(refunded(&shop, &rest)["amount"], 600);
    let whole = eventually(|| shop.payment(&payment), |payment| payment["status"] == "REFUNDED");
    assert_eq!((&whole["amount_refunded"], flags(&whole)), (&json!(1_000), Vec::new()));
    let status = shop.sdk("check-status", &json!({ "payment_session_id": whole["payment_session_id"] })).ok();
    assert_eq!(status, "SUCCESSFUL");
    let ids = |page: &Value| ids_of(page, "refund_id");
    let listed = shop.call("list-refunds-by-payment", &json!({ "payment_id": payment, "per_page": 1 })).ok();
    assert_eq!(ids(&listed), [rest.as_str()]);
    assert_eq!(listed["next"], json!({ "after": rest, "per_page": 1, "payment_id": payment }));
    let next = shop.call("list-refunds-by-payment", &listed["next"]).ok();
    assert_eq!((ids(&next), &next["next"]), (vec![first.clone()], &Value::Null));
    assert_eq!(ids(&shop.call("list-refunds", &json!({ "status": "SUCCESSFUL" })).ok()), [rest.as_str(), &first]);
    assert_eq!(ids(&shop.call("list-refunds", &json!({ "status": "PENDING" })).ok()), [""; 0]);
    assert_eq!(shop.all("list-refunds").len(), 2);
    let created = activity(&shop, "REFUND_CREATED");
    assert_eq!((created.len(), &created[0]["parent_id"], &created[0]["object_id"]), (2, &json!(payment), &json!(rest)));
    let entries = shop.all("balance-history");
    let refunds: Vec<&Value> = entries.iter().filter(|entry| entry["type"] == "REFUND").collect();
    assert_eq!(
        (refunds.len(), &refunds[1]["refund_id"], &refunds[1]["direction"]),
        (2, &json!(first), &json!("DEBIT"))
    );
    assert_eq!(shop.balance(), json!({ "currency": "THB", "available": 0, "pending": 0 }));
}

#[test]
fn a_refund_that_is_not_covered_names_the_balance() {
    let (_server, shop) = Server::with_shop();
    let settled = shop.settled(&shop.initiate(&shop.session_of("4000000000000077", 1_000), 1_000, &json!({})).id());
    shop.call("send-payout", &json!({ "amount": 400 })).ok();
    let refused = shop.call("refund-payment", &json!({ "payment_id": settled["payment_id"] }));
    assert_eq!(refused.refused("INSUFFICIENT_BALANCE"), json!({ "available": 600, "pending": 0 }));
}

#[test]
fn unknown_objects_and_amounts_out_of_range_are_refused() {
    let (server, shop) = Server::with_shop();
    let payment = authorized(&shop, 100);
    for endpoint in ["capture-payment", "void-payment", "reverse-payment", "refund-payment", "list-refunds-by-payment"]
    {
        for nothing in [id_of_nothing(&payment), "order-none".to_owned()] {
            let details = shop.call(endpoint, &json!({ "payment_id": nothing })).refused("NOT_FOUND");
            assert_eq!(details["argument"], "payment_id", "{endpoint}");
        }
    }
    shop.call("find-refund", &json!({ "refund_id": "return-none" })).refused("NOT_FOUND");
    let details =
        shop.call("capture-payment", &json!({ "payment_id": payment, "amount": 101 })).refused("AMOUNT_EXCEEDS_LIMIT");
    assert_eq!(details, json!({ "limit": 100 }));
    shop.call("capture-payment", &json!({ "payment_id": payment, "amount": 0 })).refused("INVALID_ARGUMENTS");
    let other = server.shop();
    other.call("void-payment", &json!({ "payment_id": payment })).refused("NOT_FOUND");
    assert_eq!(shop.payment(&payment)["status"], "AUTHORIZED");
}

#[test]
fn simultaneous_refunds_and_captures_never_exceed_the_money() {
    let (_server, shop) = Server::with_shop();
    let (captured, held) = (shop.pay(1_000), authorized(&shop, 1_000));
    let (refunds, captures) = thread::scope(|scope| {
        let refunds: Vec<_> = (0..100)
            .map(|_| scope.spawn(|| shop.call("refund-payment", &json!({ "payment_id": captured, "amount": 30 }))))
            .collect();
        let captures: Vec<_> =
            (0..100).map(|_| scope.spawn(|| shop.call("capture-payment", &json!({ "payment_id": held })))).collect();
        let taken = |calls: Vec<thread::ScopedJoinHandle<'_, crate::harness::ApiAnswer>>| {
            calls.into_iter().map(|call| call.join().expect("no panic")).filter(|answer| answer.status == 200).count()
        };
        (taken(refunds), taken(captures))
    });
    assert_eq!((refunds, captures), (33, 1));
    assert_eq!(operated(&shop, &held)["amount_captured"], 1_000);
    let all = || shop.call("list-refunds", &json!({ "status": "PENDING" })).ok();
    eventually(all, |page| page["page"] == json!([]));
    assert_eq!(shop.payment(&captured)["amount_refunded"], 990);
    assert_eq!(shop.balance(), json!({ "currency": "THB", "available": 0, "pending": 1_010 }));
}

#[test]
fn a_refused_capture_fails_the_payment_or_keeps_it_authorized() {
    let (_server, shop) = Server::with_shop();
    let initiate = |body: &Value| shop.initiate(&shop.session_of("4000000000003055", 100), 100, body).id();
    let at_once = initiate(&json!({}));
    let failed = eventually(|| shop.payment(&at_once), |payment| payment["status"] == "FAILED");
    assert_eq!(failed["failure_code"], "capture_failed");
    let later = initiate(&json!({ "capture": false }));
    assert_eq!(shop.settled(&later)["status"], "AUTHORIZED");
    shop.call("capture-payment", &json!({ "payment_id": later })).ok();
    let held = operated(&shop, &later);
    assert_eq!(
        (&held["status"], &held["last_operation"]["failure_code"]),
        (&json!("AUTHORIZED"), &json!("capture_failed"))
    );
    assert!(shop.all("balance-history").is_empty());
}

#[test]
fn calls_that_time_out_take_effect_once() {
    let (_server, shop) = Server::with_shop();
    for (card, status, left) in [
        ("4000000000003063", "SUCCESSFUL", 60),
        ("4000000000003097", "SUCCESSFUL", 60),
        ("4000000000005126", "FAILED", 100),
    ] {
        let before = shop.balance()["pending"].as_u64().expect("an amount");
        let payment = shop.settled(&shop.initiate(&shop.session_of(card, 100), 100, &json!({})).id());
        let payment = payment["payment_id"].as_str().expect("an id");
        let refund = refunded(&shop, &refund(&shop, payment, 40));
        assert_eq!(refund["status"], status, "{card}");
        assert_eq!(shop.balance()["pending"], before + left, "{card}");
    }
}

#[test]
fn the_operator_ends_refunds_that_wait_for_the_sandbox_once() {
    let (server, shop) = Server::with_shop();
    let payment = shop.settled(&shop.initiate(&shop.session_of("4000000000007726", 100), 100, &json!({})).id());
    let payment = payment["payment_id"].as_str().expect("an id");
    let (paid, refused) = (refund(&shop, payment, 30), refund(&shop, payment, 20));
    let body = |refund: &str| json!({ "merchant_id": shop.merchant_id, "refund_id": refund });
    assert_eq!(server.admin("complete-refund", &body(&paid)).ok(), true);
    assert_eq!(server.admin("fail-refund", &body(&refused)).ok(), true);
    // The ends of these refunds are recorded when the calls are answered.
    let find = |refund: &str| shop.call("find-refund", &json!({ "refund_id": refund })).ok();
    assert_eq!(find(&paid)["status"], "SUCCESSFUL");
    let failed = find(&refused);
    assert_eq!((&failed["status"], &failed["failure_code"]), (&json!("FAILED"), &json!("refund_failed")));
    assert_eq!(shop.payment(payment)["amount_refunded"], 30);
    assert_eq!(shop.balance()["pending"], 70);
    for (refund, status) in [(&paid, "SUCCESSFUL"), (&refused, "FAILED")] {
        for endpoint in ["complete-refund", "fail-refund"] {
            let details = server.admin(endpoint, &body(refund)).refused("INVALID_STATE");
            assert_eq!(details, json!({ "status": status }), "{endpoint}");
        }
    }
}

#[test]
fn the_operator_ends_a_refund_by_its_own_identifier_and_key() {
    let (server, shop) = Server::with_shop();
    let payment = shop.settled(&shop.initiate(&shop.session_of("4000000000007726", 100), 100, &json!({})).id());
    let refunding =
        |external_id: &str| json!({ "payment_id": payment["payment_id"], "amount": 30, "external_id": external_id });
    let end = |endpoint: &str, refund: &str, key: &str| {
        let body = json!({ "merchant_id": shop.merchant_id, "refund_id": refund });
        server.admin_client().idempotency_key(key).post(&format!("/admin/{endpoint}"), &body)
    };
    for (endpoint, status) in [("complete-refund", "SUCCESSFUL"), ("fail-refund", "FAILED")] {
        shop.call("refund-payment", &refunding(endpoint)).id();
        assert_eq!(end(endpoint, endpoint, "k").ok(), true);
        assert_eq!(shop.call("find-refund", &json!({ "refund_id": endpoint })).ok()["status"], status);
        let again = end(endpoint, endpoint, "k");
        assert_eq!(again.header("idempotent-replayed"), Some("true"), "{endpoint}: {}", again.body);
        assert_eq!(again.ok(), true);
        end(endpoint, endpoint, "other").refused("INVALID_STATE");
        end(endpoint, "back-9", "k").refused("NOT_FOUND");
    }
    end("complete-refund", "fail-refund", "k").refused("IDEMPOTENCY_KEY_REUSED");
}

#[test]
fn the_card_that_answers_twice_takes_effect_once() {
    let (_server, shop) = Server::with_shop();
    let payment = shop.initiate(&shop.session_of("4000000000003220", 100), 100, &json!({ "capture": false })).id();
    assert_eq!(shop.settled(&payment)["status"], "AUTHORIZED");
    shop.call("capture-payment", &json!({ "payment_id": payment })).ok();
    assert_eq!(operated(&shop, &payment)["status"], "SUCCESSFUL");
    assert_eq!(refunded(&shop, &refund(&shop, &payment, 40))["status"], "SUCCESSFUL");
    let kinds = |entry: Value| (entry["type"].clone(), entry["amount"].clone());
    let entries = || shop.all("balance-history").into_iter().map(kinds).collect::<Vec<_>>();
    let once = [(json!("REFUND"), json!(40)), (json!("PAYMENT"), json!(100))];
    assert_eq!(entries(), once);
    // A second answer would have arrived by now, because the sandbox sends it before the first.
    assert_eq!((shop.payment(&payment)["amount_refunded"].clone(), entries()), (json!(40), once.to_vec()));
}

#[test]
fn later_captures_settle_at_once_where_the_card_says_so() {
    let (_server, shop) = Server::with_shop();
    let payment = shop.initiate(&shop.session_of("4000000000000077", 100), 100, &json!({ "capture": false })).id();
    assert_eq!(shop.settled(&payment)["status"], "AUTHORIZED");
    shop.call("capture-payment", &json!({ "payment_id": payment })).ok();
    operated(&shop, &payment);
    assert_eq!(eventually(|| shop.balance(), |balance| balance["available"] == 100)["pending"], 0);
}
