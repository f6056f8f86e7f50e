//! The operator advances the test clocks of merchants (section 9.1a of the contract).

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use till_storage::journal::{Journal, Sequence, record};

use crate::harness::{PATIENCE, Server, Shop, Stage, id_of_nothing, merged, wait_until};

const DAY_SECONDS: u64 = 86_400;
const HELD_SECONDS: u64 = 2 * DAY_SECONDS;
const LAPSES_SECONDS: u64 = 7 * DAY_SECONDS;

/// A card whose refunds fail after one second.
const REFUND_FAILS: &str = "4000000000005126";
/// A card whose refunds are pending until the operator ends them.
const REFUND_WAITS: &str = "4000000000007726";
/// A card whose calls are answered after five seconds.
const ANSWERS_LATE: &str = "4000000000003238";

/// The time at which the tests begin.
const START: &str = "2025-04-01T00:00:00.250Z";

fn on_test_clock() -> Value {
    json!({ "name": "Shop", "currency": "THB", "test_clock": true })
}

fn shop_on_test_clock() -> (Stage, Shop) {
    let stage = Stage::at(START);
    let shop = stage.shop_with(on_test_clock());
    (stage, shop)
}

fn advance(stage: &Stage, shop: &Shop, to: u64) {
    assert_eq!(stage.admin("advance-clock", &json!({ "merchant_id": shop.merchant_id, "to": to })).ok(), true);
}

fn test_clock(stage: &Stage, shop: &Shop) -> Value {
    stage.admin("find-merchant", &json!({ "merchant_id": shop.merchant_id })).ok()["test_clock"].clone()
}

/// The status of every balance entry and the time at which it became effective. The oldest entry comes first.
fn entries(shop: &Shop) -> Vec<(String, Option<u64>)> {
    let entry = |entry: &Value| (entry["status"].as_str().expect("a word").to_owned(), entry["effective_at"].as_u64());
    shop.all("balance-history").iter().rev().map(entry).collect()
}

fn effective(at: u64) -> (String, Option<u64>) {
    ("EFFECTIVE".to_owned(), Some(at))
}

#[test]
fn captures_settle_on_the_way_each_at_its_own_instant() {
    let (stage, shop) = shop_on_test_clock();
    let start = stage.now();
    shop.pay(500);
    advance(&stage, &shop, start + 3_600);
    shop.pay(700);
    advance(&stage, &shop, start + 30 * DAY_SECONDS);
    assert_eq!(entries(&shop), [effective(start + HELD_SECONDS), effective(start + 3_600 + HELD_SECONDS)]);
    assert_eq!(shop.balance(), json!({ "currency": "THB", "available": 1_200, "pending": 0 }));
    let expected = json!({ "now": start + 30 * DAY_SECONDS, "ahead_seconds": 30 * DAY_SECONDS - 1 });
    assert_eq!(test_clock(&stage, &shop), expected, "the stage began 250 ms after a full second");
}

#[test]
fn an_authorization_lapses_during_an_advance_at_its_own_time() {
    let (stage, shop) = shop_on_test_clock();
    let start = stage.now();
    let paid = shop.pay_with(100, &json!({ "capture": false }));
    advance(&stage, &shop, start + 300 * DAY_SECONDS);
    let payment = shop.payment(paid["payment_id"].as_str().expect("an id"));
    assert_eq!((&payment["status"], &payment["operation"]), (&json!("VOIDED"), &Value::Null));
    let [voided] = &shop.all("list-activity-logs")[..] else { panic!("one entry") };
    assert_eq!(voided["created_at"], start + LAPSES_SECONDS);
}

#[test]
fn a_dispute_without_evidence_is_lost_during_an_advance() {
    let (stage, shop) = shop_on_test_clock();
    let body = json!({ "merchant_id": shop.merchant_id, "payment_id": shop.pay(500) });
    let dispute = stage.admin("open-dispute", &body).id();
    let find = || shop.call("find-dispute", &json!({ "dispute_id": dispute })).ok();
    let due = find()["evidence_due_at"].as_u64().expect("a time");
    advance(&stage, &shop, due - 1);
    assert_eq!(find()["status"], "OPEN");
    advance(&stage, &shop, due + 30 * DAY_SECONDS);
    let lost = find();
    assert_eq!((&lost["status"], &lost["closed_at"]), (&json!("LOST"), &json!(due)));
}

#[test]
fn sessions_keys_and_metadata_expire_by_the_merchants_time() {
    let (stage, shop) = shop_on_test_clock();
    let start = stage.now();
    let key = json!({ "merchant_id": shop.merchant_id, "name": "A", "expires_at": start + DAY_SECONDS });
    let key = stage.admin("generate-key", &key).ok()["key"].as_str().expect("a key").to_owned();
    let ask = || stage.client().bearer(&key).post("/merchants/get-balance", &json!({}));
    let record = json!({ "key": "k", "metadata": { "a": 1 }, "ttl": DAY_SECONDS });
    shop.call("sync-metadata", &record).ok();
    let session = shop.session(100);
    advance(&stage, &shop, start + 1_799);
    assert_eq!(shop.payment_session(&session)["status"], "ACTIVE");
    advance(&stage, &shop, start + 1_801);
    assert_eq!(shop.payment_session(&session)["status"], "EXPIRED");
    shop.initiate(&session, 100, &json!({})).refused("NOT_FOUND");
    advance(&stage, &shop, start + DAY_SECONDS - 1);
    ask().ok();
    shop.call("retrieve-metadata", &json!({ "key": "k" })).ok();
    advance(&stage, &shop, start + DAY_SECONDS + 1_802);
    ask().refused("UNAUTHORIZED");
    shop.call("retrieve-metadata", &json!({ "key": "k" })).refused("NOT_FOUND");
}

#[test]
fn ids_and_keywords_of_lists_use_the_merchants_time() {
    let (stage, shop) = shop_on_test_clock();
    let start = stage.now();
    let before = shop.session(100);
    shop.call("invite-user", &json!({ "email": "ada@shop.example" })).ok();
    advance(&stage, &shop, start + 5 * DAY_SECONDS);
    assert!(shop.session(100) > before);
    shop.call("invite-user", &json!({ "email": "bob@shop.example" })).ok();
    let today = shop.call("list-activity-logs", &json!({ "created_at": "today" })).ok();
    let created: Vec<&Value> = today["page"].as_array().expect("a page").iter().map(|it| &it["created_at"]).collect();
    assert_eq!(created, [start + 5 * DAY_SECONDS]);
}

#[test]
fn a_kept_answer_expires_by_the_merchants_time() {
    let (stage, shop) = shop_on_test_clock();
    let start = stage.now();
    let named = || {
        let body = json!({ "email": "ada@shop.example" });
        shop.client().idempotency_key("invite-1").post("/merchants/invite-user", &body)
    };
    named().ok();
    advance(&stage, &shop, start + DAY_SECONDS);
    assert_eq!(named().header("idempotent-replayed"), Some("true"));
    advance(&stage, &shop, start + 2 * DAY_SECONDS);
    assert_eq!(named().header("idempotent-replayed"), None, "the kept answer expires after 25 hours");
}

#[test]
fn captures_after_an_advance_settle_by_the_wall_clock() {
    let (stage, shop) = shop_on_test_clock();
    advance(&stage, &shop, stage.now() + 100 * DAY_SECONDS);
    shop.pay(500);
    stage.pass_millis(HELD_SECONDS * 1_000 - 1);
    assert_eq!(shop.balance()["available"], 0);
    stage.pass_millis(1);
    wait_until(PATIENCE, "the settlement did not come about", || shop.balance()["available"] == 500);
}

#[test]
fn an_advance_does_not_affect_other_merchants() {
    let stage = Stage::at(START);
    let (shop, still, plain) = (stage.shop_with(on_test_clock()), stage.shop_with(on_test_clock()), stage.shop());
    let start = stage.now();
    still.pay(500);
    plain.pay(500);
    advance(&stage, &shop, start + 30 * DAY_SECONDS);
    for other in [&still, &plain] {
        assert_eq!(entries(other), [("ON_HOLD".to_owned(), None)]);
    }
    assert_eq!(test_clock(&stage, &still), json!({ "now": start, "ahead_seconds": 0 }));
    assert_eq!(test_clock(&stage, &plain), Value::Null);
    plain.call("invite-user", &json!({ "email": "ada@shop.example" })).ok();
    assert_eq!(plain.all("list-activity-logs")[0]["created_at"], start);
}

#[test]
fn a_refused_advance_names_the_valid_arguments() {
    let stage = Stage::at(START);
    let (shop, plain) = (stage.shop_with(on_test_clock()), stage.shop());
    let now = stage.now();
    let to = |to: Value| stage.admin("advance-clock", &json!({ "merchant_id": shop.merchant_id, "to": to }));
    for past in [json!(now), json!(now - 1), json!(0)] {
        let refused = to(past);
        assert_eq!(refused.faults(), ["invalid to"]);
        assert!(refused.message().contains(&now.to_string()), "{}", refused.message());
    }
    assert_eq!(to(json!(now + 400 * DAY_SECONDS + 1)).faults(), ["invalid to"]);
    for wrong in [json!(-1), json!("soon"), json!(1.5)] {
        assert_eq!(to(wrong).faults(), ["invalid to"]);
    }
    assert_eq!(stage.admin("advance-clock", &json!({})).faults(), ["missing merchant_id", "missing to"]);
    let of = |merchant: &str| stage.admin("advance-clock", &json!({ "merchant_id": merchant, "to": now + 60 }));
    of(&id_of_nothing(&shop.merchant_id)).refused("NOT_FOUND");
    of(&plain.merchant_id).refused("INVALID_STATE");
    assert_eq!(test_clock(&stage, &shop)["ahead_seconds"], 0);
    assert_eq!(to(json!(now + 400 * DAY_SECONDS)).ok(), true);
}

#[test]
fn an_advance_repeated_under_its_key_gets_the_kept_answer() {
    let (stage, shop) = shop_on_test_clock();
    let start = stage.now();
    let named = |to: u64| {
        let body = json!({ "merchant_id": shop.merchant_id, "to": to });
        stage.admin_client().idempotency_key("a").post("/admin/advance-clock", &body)
    };
    assert_eq!(named(start + 60).ok(), true);
    let again = named(start + 60);
    assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &json!(true)));
    named(start + 90).refused("IDEMPOTENCY_KEY_REUSED");
    assert_eq!(test_clock(&stage, &shop)["now"], start + 60);
}

#[test]
fn two_advances_of_one_merchant_run_one_after_the_other() {
    let (server, shop) = Server::with(|server| server.shop_with(on_test_clock()));
    let start = find(&server, &shop)["now"].as_u64().expect("a time");
    let session = shop.session_of(ANSWERS_LATE, 10_000);
    shop.initiate(&session, 10_000, &json!({})).id();
    let advance = |days: u64| {
        let body = json!({ "merchant_id": shop.merchant_id, "to": start + days * DAY_SECONDS });
        server.admin("advance-clock", &body)
    };
    std::thread::scope(|scope| {
        let first = scope.spawn(|| advance(30).ok());
        std::thread::sleep(Duration::from_millis(500)); // The advance waits for the acquirer for five seconds.
        assert_eq!(advance(3).faults(), ["invalid to"], "the second advance would set the clock back");
        assert_eq!(first.join().expect("no panic"), true);
    });
}

/// An advance waits for calls that the acquirer answers late, but not for refunds and payouts that only the operator
/// can complete.
#[test]
fn an_advance_waits_for_the_acquirer_and_not_for_the_operator() {
    let (server, shop) = Server::with(|server| server.shop_with(on_test_clock()));
    let start = find(&server, &shop)["now"].as_u64().expect("a time");
    let advance = |days: u64| {
        let body = json!({ "merchant_id": shop.merchant_id, "to": start + days * DAY_SECONDS });
        assert_eq!(server.admin("advance-clock", &body).ok(), true);
    };
    let paid = |number: &str| {
        let session = shop.session_of(number, 10_000);
        shop.initiate(&session, 10_000, &json!({})).id()
    };
    let [fails, waits] = [REFUND_FAILS, REFUND_WAITS].map(|number| {
        let payment = paid(number);
        shop.settled(&payment);
        shop.call("refund-payment", &json!({ "payment_id": payment, "amount": 100 })).id()
    });
    server.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": 1_000 })).ok();
    let payout = shop.call("send-payout", &json!({ "amount": 198 })).id();
    let late = paid(ANSWERS_LATE);
    advance(30);
    assert_eq!(shop.payment(&late)["status"], "SUCCESSFUL", "it was answered after five seconds");
    let status = |refund: &str| shop.call("find-refund", &json!({ "refund_id": refund })).ok()["status"].clone();
    assert_eq!((status(&fails), status(&waits)), (json!("FAILED"), json!("PENDING")));
    assert_eq!(shop.call("find-payout", &json!({ "payout_id": payout })).ok()["status"], "PENDING");
    let held = shop.all("balance-history").into_iter().filter(|entry| entry["type"] == "PAYMENT");
    assert_eq!(held.filter(|entry| entry["status"] == "EFFECTIVE").count(), 3, "the late payment settles, too");
    let refund = json!({ "merchant_id": shop.merchant_id, "refund_id": waits });
    assert_eq!(server.admin("complete-refund", &refund).ok(), true);
    assert_eq!(status(&waits), "SUCCESSFUL");
    let payout = json!({ "merchant_id": shop.merchant_id, "payout_id": payout });
    assert_eq!(server.admin("complete-payout", &payout).ok(), true);
    advance(31);
}

fn find(server: &Server, shop: &Shop) -> Value {
    server.admin("find-merchant", &json!({ "merchant_id": shop.merchant_id })).ok()["test_clock"].clone()
}

#[test]
fn a_restart_keeps_the_clock_and_its_due_timers() {
    let mut server = Server::start();
    let merchant = merged(&on_test_clock(), &json!({ "settlement_delay_seconds": 100 }));
    let shop = server.shop_with(merchant);
    let start = find(&server, &shop)["now"].as_u64().expect("a time");
    let to = start + 90 * DAY_SECONDS;
    server.admin("advance-clock", &json!({ "merchant_id": shop.merchant_id, "to": to })).ok();
    shop.pay(500);
    let shop = server.restart_with(&shop);
    let clock = find(&server, &shop);
    assert!(clock["now"].as_u64() >= Some(to) && clock["now"].as_u64() < Some(to + 60), "{clock}");
    let listed = server.admin("list-merchants", &json!({})).ok()["page"][0]["test_clock"].clone();
    assert_eq!(listed["ahead_seconds"], clock["ahead_seconds"]);
    assert_eq!(shop.balance()["pending"], 500);
    let to = clock["now"].as_u64().expect("a time") + 200;
    server.admin("advance-clock", &json!({ "merchant_id": shop.merchant_id, "to": to })).ok();
    assert_eq!(shop.balance()["available"], 500);
}

#[test]
fn records_keep_the_time_of_the_wall_clock() {
    let (stage, shop) = shop_on_test_clock();
    shop.pay(500);
    advance(&stage, &shop, stage.now() + 30 * DAY_SECONDS);
    stage.pass_seconds(5);
    shop.pay(500);
    let merchant_id = shop.merchant_id.parse().expect("an id");
    let records = stage.store().read(merchant_id, Sequence(1), 1_000).expect("it can be read");
    let times = records.iter().map(|stored| record::decode(&stored.bytes).expect("it is sound").header.at_ms);
    let seconds: BTreeSet<u64> = times.map(|at_ms| at_ms / 1_000).collect();
    assert_eq!(seconds, [stage.now() - 5, stage.now()].into(), "a restore to a point in time uses these times");
}

/// After a kill of the server at any moment of an advance, the same call continues from the time that the clock had
/// reached. In the end every due event has happened once and at its own time.
#[test]
fn an_interrupted_advance_continues_under_the_same_key() {
    const PAYMENTS: usize = 40;
    let (mut server, shop) = Server::with(|server| server.shop_with(on_test_clock()));
    let now = |server: &Server| find(server, &shop)["now"].as_u64().expect("a time");
    for _ in 0..PAYMENTS {
        shop.pay(100);
        // The events are an hour apart, so that none is due while the server starts.
        let body = json!({ "merchant_id": shop.merchant_id, "to": now(&server) + 3_600 });
        server.admin("advance-clock", &body).ok();
    }
    let to = now(&server) + 30 * DAY_SECONDS;
    let body = json!({ "merchant_id": shop.merchant_id, "to": to });
    let call = |server: &Server| server.admin_client().idempotency_key("a");
    let steps_before_the_kill = || shop.balance()["available"].as_u64() >= Some(300);
    std::thread::scope(|scope| {
        let (client, body) = (call(&server), &body);
        scope.spawn(move || client.post("/admin/advance-clock", body));
        while !steps_before_the_kill() {
            std::thread::sleep(Duration::from_millis(1));
        }
        server.signal("KILL");
    });
    let shop = server.restart_with(&shop);
    let left = now(&server);
    assert!(left < to, "the advance was over before the kill");
    assert_eq!(call(&server).post("/admin/advance-clock", &body).ok(), true);
    let history = shop.all("balance-history");
    assert_eq!(history.len(), PAYMENTS);
    for entry in history {
        let held = entry["effective_at"].as_u64().expect("a time") - entry["created_at"].as_u64().expect("a time");
        assert_eq!((&entry["status"], held), (&json!("EFFECTIVE"), HELD_SECONDS), "{entry}");
    }
    assert!(server.stop());
    let verified = server.command().arg("verify").output().expect("it runs");
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}

#[test]
fn the_command_line_creates_a_test_clock_and_advances_it() {
    let server = Server::start();
    let run = |words: &[&str]| {
        let output = server.command().args(words).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text").trim().trim_matches('"').to_owned()
    };
    let merchant = run(&["merchant", "create", "--name", "Shop", "--currency", "THB", "--test-clock"]);
    let clock = || server.admin("find-merchant", &json!({ "merchant_id": merchant })).ok()["test_clock"].clone();
    let to = clock()["now"].as_u64().expect("a time") + DAY_SECONDS;
    assert_eq!(run(&["clock", "advance", "--merchant-id", &merchant, "--to", &to.to_string()]), "true");
    assert!(clock()["now"].as_u64() >= Some(to), "{}", clock());
}
