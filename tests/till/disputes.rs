//! Disputes and the interest of instalments over HTTP: contract, sections 7, 9, 9.1a, 10 and 11.

use serde_json::{Value, json};

use crate::harness::{PATIENCE, Server, Shop, first_answer, id_of_nothing, ids_of, wait_until};

/// The card whose payments are disputed as soon as they are captured.
const DISPUTED: &str = "4000000000000259";
/// Opens a dispute about all that is left of a payment.
fn open(server: &Server, shop: &Shop, payment: &str) -> String {
    server.admin("open-dispute", &json!({ "merchant_id": shop.merchant_id, "payment_id": payment })).id()
}

fn close(server: &Server, shop: &Shop, dispute: &str, outcome: &str) {
    let body = json!({ "merchant_id": shop.merchant_id, "dispute_id": dispute, "outcome": outcome });
    assert_eq!(server.admin("close-dispute", &body).ok(), true);
}

fn find(shop: &Shop, dispute: &str) -> Value {
    shop.call("find-dispute", &json!({ "dispute_id": dispute })).ok()
}

fn challenge(shop: &Shop, dispute: &str, evidence: &str) {
    assert_eq!(shop.call("challenge-dispute", &json!({ "dispute_id": dispute, "evidence": evidence })).ok(), true);
}

/// The dispute once it has this status.
fn until(shop: &Shop, dispute: &str, status: &str) -> Value {
    first_answer(PATIENCE, &format!("still not {status}"), || find(shop, dispute), |found| found["status"] == status)
}

fn picked(object: &Value, names: &[&str]) -> Value {
    names.iter().map(|name| object[name].clone()).collect()
}

#[test]
fn a_dispute_shows_in_the_payment_the_ledger_and_the_events() {
    let (server, shop) = Server::with_shop();
    let payment = shop.initiate(&shop.session(10_000), 10_000, &json!({ "external_id": "order-1" })).id();
    shop.settled(&payment);
    let body = json!({
        "merchant_id": shop.merchant_id, "payment_id": "order-1", "amount": "4000", "reason": "goods not received",
    });
    let id = server.admin("open-dispute", &body).id();
    assert!(id.starts_with("dsp_"));
    let dispute = find(&shop, &id);
    let expected = json!({
        "dispute_id": id, "payment_id": payment, "external_id": "order-1", "status": "OPEN",
        "reason": "goods not received", "amount": 4_000, "currency": "THB", "evidence": null,
        "evidence_due_at": dispute["created_at"].as_u64().expect("a time") + 7 * 86_400,
        "created_at": dispute["created_at"], "closed_at": null,
    });
    assert_eq!(dispute, expected);
    let shown = picked(&shop.payment(&payment), &["status", "amount_charged_back", "refundable", "reversible"]);
    assert_eq!(shown, json!(["DISPUTED", 0, true, false]));
    assert_eq!(shop.balance(), json!({ "currency": "THB", "available": 0, "pending": 6_000 }));
    let entry = shop.all("balance-history").remove(0);
    let names = ["type", "direction", "status", "amount", "dispute_id", "parent_id", "parent_type", "payment_id"];
    let expected = json!(["DISPUTE", "DEBIT", "ON_HOLD", 4_000, id, payment, "PAYMENT", payment]);
    assert_eq!(picked(&entry, &names), expected);
    let event = shop.all("list-events").remove(0);
    let names = ["event", "status", "payment_id", "external_id", "dispute_id", "refund_id", "payout_id", "amount"];
    let expected = json!(["dispute_opened", "OPEN", payment, "order-1", id, null, null, 4_000]);
    assert_eq!(picked(&event, &names), expected);
}

#[test]
fn a_lost_dispute_charges_back_and_reverses_a_whole_loss() {
    let (server, shop) = Server::with(|server| {
        server.shop_with(json!({ "name": "Café Siam", "currency": "THB", "settlement_delay_seconds": 0 }))
    });
    let payment = shop.pay(10_000);
    let id = open(&server, &shop, &payment);
    assert_eq!(shop.balance()["available"], 0);
    close(&server, &shop, &id, "LOST");
    let lost = find(&shop, &id);
    assert!(lost["status"] == "LOST" && lost["closed_at"].is_u64(), "{lost}");
    let shown = picked(&shop.payment(&payment), &["status", "amount_captured", "amount_charged_back", "refundable"]);
    assert_eq!(shown, json!(["REVERSED", 10_000, 10_000, false]));
    let entry = shop.all("balance-history").remove(0);
    assert_eq!(picked(&entry, &["type", "status"]), json!(["DISPUTE", "EFFECTIVE"]));
    let activity = shop.all("list-activity-logs").remove(0);
    let names = ["activity_type", "actor_type", "object_type", "object_id", "parent_id"];
    assert_eq!(picked(&activity, &names), json!(["PAYMENT_REVERSED", "SYSTEM", "PAYMENT", payment, null]));
    let events = shop.all("list-events");
    let told: Vec<Value> = events.iter().map(|event| picked(event, &["event", "status"])).collect();
    let expected = json!([
        ["payment_reversed", "REVERSED"],
        ["dispute_closed", "LOST"],
        ["dispute_opened", "OPEN"],
        ["payment_completed", "SUCCESSFUL"],
    ]);
    assert_eq!(json!(told), expected);
}

#[test]
fn evidence_decides_by_itself_or_waits_for_the_operator() {
    let (server, shop) = Server::with_shop();
    for (evidence, status, payment_status) in
        [("winning_evidence", "WON", "SUCCESSFUL"), ("losing_evidence", "LOST", "REVERSED")]
    {
        let payment = shop.pay(100);
        let id = open(&server, &shop, &payment);
        challenge(&shop, &id, evidence);
        assert_eq!(until(&shop, &id, status)["evidence"], evidence);
        assert_eq!(shop.payment(&payment)["status"], payment_status);
    }
    let payment = shop.pay(100);
    let id = open(&server, &shop, &payment);
    challenge(&shop, &id, "Signed for on 3 March.\nSee the photograph.");
    assert_eq!(find(&shop, &id)["status"], "CHALLENGED");
    let again = shop.call("challenge-dispute", &json!({ "dispute_id": id, "evidence": "more" }));
    assert_eq!(again.refused("INVALID_STATE"), json!({ "status": "CHALLENGED" }));
    close(&server, &shop, &id, "WON");
    assert_eq!(shop.payment(&payment)["status"], "SUCCESSFUL");
    let challenged = shop.all("list-activity-logs").into_iter().find(|it| it["activity_type"] == "DISPUTE_CHALLENGED");
    let names = ["actor_type", "actor_key_id", "object_type", "object_id", "parent_type", "parent_id"];
    let expected = json!(["API_KEY", shop.key_id, "DISPUTE", id, "PAYMENT", payment]);
    assert_eq!(picked(&challenged.expect("it is logged"), &names), expected);
}

#[test]
fn a_dispute_is_escalated_by_the_system_and_conceded_by_the_key() {
    let (server, shop) = Server::with_shop();
    let payment = shop.pay(100);
    let id = open(&server, &shop, &payment);
    let named = json!({ "merchant_id": shop.merchant_id, "dispute_id": id });
    assert_eq!(server.admin("escalate-dispute", &named).ok(), true);
    assert_eq!(server.admin("escalate-dispute", &named).refused("INVALID_STATE"), json!({ "status": "ESCALATED" }));
    assert_eq!(shop.call("concede-dispute", &json!({ "dispute_id": id })).ok(), true);
    let conceded = shop.call("concede-dispute", &json!({ "dispute_id": id }));
    assert_eq!(conceded.refused("INVALID_STATE"), json!({ "status": "CONCEDED" }));
    let body = json!({ "merchant_id": shop.merchant_id, "dispute_id": id, "outcome": "WON" });
    assert_eq!(server.admin("close-dispute", &body).refused("INVALID_STATE"), json!({ "status": "CONCEDED" }));
    let activities = shop.all("list-activity-logs");
    let names = ["activity_type", "actor_type", "actor_key_id"];
    let logged: Vec<Value> = activities.iter().take(3).map(|activity| picked(activity, &names)).collect();
    let expected = json!([
        ["PAYMENT_REVERSED", "API_KEY", shop.key_id],
        ["DISPUTE_CONCEDED", "API_KEY", shop.key_id],
        ["DISPUTE_ESCALATED", "SYSTEM", null],
    ]);
    assert_eq!(json!(logged), expected);
    let group = shop.call("list-activity-logs", &json!({ "activity_type": "dispute" })).ok();
    assert_eq!(group["page"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_disputed_card_is_disputed_with_either_way_of_capturing() {
    let (_server, shop) = Server::with_shop();
    let at_once = shop.initiate(&shop.session_of(DISPUTED, 100), 100, &json!({})).id();
    assert_eq!(shop.settled(&at_once)["status"], "DISPUTED");
    let later = shop.initiate(&shop.session_of(DISPUTED, 200), 200, &json!({ "capture": false })).id();
    assert_eq!(shop.settled(&later)["status"], "AUTHORIZED");
    assert_eq!(shop.call("capture-payment", &json!({ "payment_id": later, "amount": 150 })).ok(), true);
    wait_until(PATIENCE, "still not disputed", || shop.payment(&later)["status"] == "DISPUTED");
    let amounts: Vec<Value> =
        shop.all("list-disputes").iter().map(|it| picked(it, &["payment_id", "amount"])).collect();
    assert_eq!(json!(amounts), json!([[later, 150], [at_once, 100]]));
    assert_eq!(shop.balance(), json!({ "currency": "THB", "available": 0, "pending": 0 }));
}

#[test]
fn disputes_are_listed_newest_first_by_status_and_payment() {
    let (server, shop) = Server::with_shop();
    let payment = shop.initiate(&shop.session(100), 100, &json!({ "external_id": "order-1" })).id();
    shop.settled(&payment);
    let mut ids = Vec::new();
    for outcome in ["LOST", "WON", "LOST"] {
        let body = json!({ "merchant_id": shop.merchant_id, "payment_id": payment, "amount": 10 });
        let id = server.admin("open-dispute", &body).id();
        close(&server, &shop, &id, outcome);
        ids.insert(0, id);
    }
    let other = open(&server, &shop, &shop.pay(50));
    let list = |filters: Value| ids_of(&shop.call("list-disputes", &filters).ok(), "dispute_id");
    assert_eq!(list(json!({})), [&[other.clone()][..], &ids].concat());
    assert_eq!(list(json!({ "status": "OPEN" })), [other]);
    assert_eq!(list(json!({ "payment_id": "order-1" })), ids);
    assert_eq!(list(json!({ "payment_id": payment, "status": "LOST" })), [ids[0].clone(), ids[2].clone()]);
    assert_eq!(list(json!({ "payment_id": id_of_nothing(&payment) })), [""; 0]);
    let first = shop.call("list-disputes", &json!({ "payment_id": payment, "status": "LOST", "per_page": 1 })).ok();
    let next = json!({ "after": ids[0], "per_page": 1, "status": "LOST", "payment_id": payment });
    assert_eq!((&first["next"], &first["previous"]), (&next, &Value::Null));
    assert_eq!(list(next), [ids[2].clone()]);
}

#[test]
fn wrong_calls_about_disputes_are_refused_with_the_fault() {
    let (server, shop) = Server::with_shop();
    let payment = shop.pay(100);
    let id = open(&server, &shop, &payment);
    let faults = |endpoint: &str, body: Value| shop.call(endpoint, &body).faults();
    assert_eq!(faults("challenge-dispute", json!({})), ["missing dispute_id", "missing evidence"]);
    let card = json!({ "dispute_id": id, "evidence": "paid with 4242 4242 4242 4242" });
    assert_eq!(faults("challenge-dispute", card), ["invalid evidence"]);
    for evidence in [String::new(), "x".repeat(20_001), "bell \u{7}".to_owned()] {
        let body = json!({ "dispute_id": id, "evidence": evidence });
        assert_eq!(faults("challenge-dispute", body), ["invalid evidence"]);
    }
    assert_eq!(faults("list-disputes", json!({ "status": "open" })), ["invalid status"]);
    let nothing = id_of_nothing(&id);
    for endpoint in ["find-dispute", "concede-dispute"] {
        let refused = shop.call(endpoint, &json!({ "dispute_id": nothing })).refused("NOT_FOUND");
        assert_eq!(refused, json!({ "argument": "dispute_id" }));
    }
    let admin = |endpoint: &str, body: Value| server.admin(endpoint, &body);
    let merchant_id = &shop.merchant_id;
    let again = admin("open-dispute", json!({ "merchant_id": merchant_id, "payment_id": payment }));
    assert_eq!(again.refused("INVALID_STATE"), json!({ "status": "DISPUTED", "operation": null }));
    let conceded = json!({ "merchant_id": merchant_id, "dispute_id": id, "outcome": "CONCEDED" });
    assert_eq!(admin("close-dispute", conceded).faults(), ["invalid outcome"]);
    let other = shop.pay(100);
    let too_much = json!({ "merchant_id": merchant_id, "payment_id": other, "amount": 101 });
    assert_eq!(admin("open-dispute", too_much).refused("AMOUNT_EXCEEDS_LIMIT"), json!({ "limit": 100 }));
    let longest = json!({ "dispute_id": id, "evidence": "ä".repeat(20_000) });
    assert_eq!(shop.call("challenge-dispute", &longest).ok(), true);
}

#[test]
fn a_dispute_outlives_a_killed_server_and_takes_evidence_then() {
    let (mut server, shop) = Server::with_shop();
    let payment = shop.pay(100);
    let id = open(&server, &shop, &payment);
    let shop = server.restart_with(&shop);
    assert_eq!(find(&shop, &id)["status"], "OPEN");
    challenge(&shop, &id, "losing_evidence");
    until(&shop, &id, "LOST");
}

#[test]
fn interest_that_a_merchant_bears_is_an_entry_of_its_own() {
    let (_server, shop) = Server::with_shop();
    let more = json!({ "interest_bearer": "merchant" });
    let payment = shop.initiate(&shop.installment_session(10_000, "merchant"), 10_000, &more).id();
    shop.settled(&payment);
    let entries: Vec<Value> = shop
        .all("balance-history")
        .iter()
        .map(|entry| picked(entry, &["type", "direction", "status", "amount", "payment_id"]))
        .collect();
    let expected =
        json!([["INTEREST", "DEBIT", "ON_HOLD", 300, payment], ["PAYMENT", "CREDIT", "ON_HOLD", 10_000, payment]]);
    assert_eq!(json!(entries), expected);
    assert_eq!(shop.balance(), json!({ "currency": "THB", "available": 0, "pending": 9_700 }));
}
