//! Ends of lifetimes: sessions, invitations, stored answers, authorizations, holds, keys and metadata.

use serde_json::{Value, json};

use crate::harness::{CARD, PATIENCE, Shop, Stage, merged, wait_until};

/// Half an hour: the time in which a session can be used.
const SESSION_SECONDS: u64 = 1_800;
/// A day: the least time for which an answer is stored.
const DAY_SECONDS: u64 = 86_400;
/// Two years: the lifetime of a record of metadata unless a call sets another.
const RECORD_SECONDS: u64 = 63_072_000;

/// The time at which the tests begin.
const START: &str = "2025-04-01T00:00:00.250Z";

/// The client's view of a session: `retrieve-payment-session`, `check-status`, `discover-next-action`.
fn client_view(shop: &Shop, session: &str) -> [Value; 3] {
    let body = json!({ "payment_session_id": session });
    [
        shop.payment_session(session)["status"].clone(),
        shop.sdk("check-status", &body).ok(),
        shop.sdk("discover-next-action", &body).ok(),
    ]
}

#[test]
fn an_unused_session_expires_and_is_not_found_in_30_minutes() {
    let (stage, shop) = Stage::with_shop(START);
    let (session, other) = (shop.session(100), shop.session(100));
    stage.pass_millis(SESSION_SECONDS * 1_000 - 1);
    assert_eq!(client_view(&shop, &session), ["ACTIVE", "PENDING", "WAIT"]);
    let payment = shop.initiate(&other, 100, &json!({})).id();
    stage.pass_millis(1);
    assert_eq!(client_view(&shop, &session), ["EXPIRED", "FAILED", "CHECK_STATUS"]);
    let answer = shop.initiate(&session, 100, &json!({}));
    let expected = json!({ "argument": "payment_session_id" });
    assert_eq!(answer.refused("NOT_FOUND"), expected, "no payment used it");
    shop.settled(&payment);
    assert_eq!(client_view(&shop, &other), ["USED", "SUCCESSFUL", "CHECK_STATUS"], "a used one is used also later");
    let expected = json!({ "argument": "payment_session_id", "payment_id": payment });
    assert_eq!(shop.initiate(&other, 100, &json!({})).refused("NOT_FOUND"), expected);
}

#[test]
fn an_invitation_expires_after_a_week_and_is_not_found() {
    let (stage, shop) = Stage::with_shop(START);
    let body = json!({ "email": "ada@shop.example" });
    let invitation = shop.call("invite-user", &body).id();
    stage.pass_millis(7 * DAY_SECONDS * 1_000 - 1);
    assert_eq!(shop.all("list-user-invitations")[0]["status"], "PENDING");
    shop.call("invite-user", &body).refused("CONFLICT");
    stage.pass_millis(1);
    let listed = shop.all("list-user-invitations").remove(0);
    assert_eq!((&listed["status"], &listed["user_id"]), (&json!("EXPIRED"), &Value::Null));
    shop.call("accept-invitation", &json!({ "invitation_id": invitation })).refused("NOT_FOUND");
    assert_ne!(shop.call("invite-user", &body).id(), invitation, "the address can be invited again");
    let statuses: Vec<Value> = shop.all("list-user-invitations").iter().map(|it| it["status"].clone()).collect();
    assert_eq!(statuses, ["PENDING", "EXPIRED"]);
}

#[test]
fn an_answer_is_stored_for_a_day_and_its_key_is_free_then() {
    let (stage, shop) = Stage::with_shop(START);
    let named = |email: &str| {
        shop.client().idempotency_key("invite-1").post("/merchants/invite-user", &json!({ "email": email }))
    };
    let first = named("ada@shop.example").id();
    stage.pass_seconds(DAY_SECONDS);
    let again = named("ada@shop.example");
    assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &json!(first)));
    named("bob@shop.example").refused("IDEMPOTENCY_KEY_REUSED");
    stage.pass_seconds(3_600);
    let other = named("bob@shop.example");
    assert_eq!(other.header("idempotent-replayed"), None);
    assert_ne!(other.id(), first);
}

#[test]
fn an_authorization_is_voided_by_the_system_after_seven_days() {
    let (stage, shop) = Stage::with_shop(START);
    let paid = shop.pay_with(100, &json!({ "capture": false }));
    let payment = paid["payment_id"].as_str().expect("an id");
    stage.pass_millis(7 * DAY_SECONDS * 1_000 - 1);
    assert_eq!(shop.payment(payment)["status"], "AUTHORIZED");
    stage.pass_millis(1);
    wait_until(PATIENCE, "the void did not come about", || shop.payment(payment)["status"] == "VOIDED");
    let [entry] = &shop.all("list-activity-logs")[..] else { panic!("one entry") };
    let expected = json!({
        "activity_log_id": entry["activity_log_id"], "created_at": stage.now(), "activity_type": "PAYMENT_VOIDED",
        "actor_type": "SYSTEM", "actor_email": null, "actor_key_id": null, "parent_type": null, "parent_id": null,
        "object_id": payment, "object_type": "PAYMENT", "user_email": null, "new_plan_id": null,
        "new_plan_name": null, "previous_plan_id": null, "previous_plan_name": null,
    });
    assert_eq!(entry, &expected);
    let of_type = shop.call("list-activity-logs", &json!({ "activity_type": "payment_voided" })).ok();
    assert_eq!(of_type["page"], json!([expected]));
    assert_eq!(shop.all("balance-history"), Vec::<Value>::new(), "no money moved");
}

#[test]
fn a_held_entry_is_effective_after_its_delay_with_its_time() {
    let stage = Stage::at(START);
    let shop = stage.shop_with(json!({ "name": "Shop", "currency": "THB", "settlement_delay_seconds": 100 }));
    shop.pay(500);
    stage.pass_millis(99_999);
    let held = shop.all("balance-history").remove(0);
    assert_eq!((&held["status"], &held["effective_at"]), (&json!("ON_HOLD"), &Value::Null));
    stage.pass_millis(1);
    wait_until(PATIENCE, "the settlement did not come about", || shop.balance()["available"] == 500);
    let mut expected = held.clone();
    expected["status"] = json!("EFFECTIVE");
    expected["effective_at"] = json!(stage.now());
    assert_eq!(shop.all("balance-history"), [expected], "nothing else of it changes");
    assert_eq!(held["created_at"].as_u64().map(|at| at + 100), Some(stage.now()));
}

#[test]
fn the_balance_history_has_no_window_of_time() {
    let (stage, shop) = Stage::with_shop("2015-01-01T00:00:00Z");
    for (amount, instant) in (1..).zip(["2015-01-02T00:00:00Z", "2019-06-01T00:00:00Z", "2025-04-01T00:00:00Z"]) {
        stage.set(instant);
        stage.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": amount })).ok();
    }
    stage.set("2045-01-01T00:00:00Z");
    let amounts: Vec<Value> = shop.all("balance-history").iter().map(|entry| entry["amount"].clone()).collect();
    assert_eq!(amounts, [3, 2, 1]);
}

#[test]
fn a_key_ends_at_its_expiry_to_the_millisecond() {
    let (stage, shop) = Stage::with_shop(START);
    let body = json!({ "name": "Short", "expires_at": stage.now() + 60 });
    let key = shop.call("generate-key", &body).ok()["key"].as_str().expect("a key").to_owned();
    let ask = || stage.client().bearer(&key).post("/merchants/get-balance", &json!({}));
    stage.set("2025-04-01T00:00:59.999Z");
    ask().ok();
    stage.set("2025-04-01T00:01:00Z");
    ask().refused("UNAUTHORIZED");
}

#[test]
fn the_call_that_made_a_key_is_answered_again_after_its_end() {
    let (stage, shop) = Stage::with_shop(START);
    let body = json!({ "name": "Short", "expires_at": stage.now() + 60 });
    let by_operator = merged(&body, &json!({ "merchant_id": shop.merchant_id }));
    let both = |name: &str| {
        [
            shop.client().idempotency_key(name).post("/merchants/generate-key", &body),
            stage.admin_client().idempotency_key(name).post("/admin/generate-key", &by_operator),
        ]
    };
    let first = both("once").map(|made| made.ok());
    stage.set("2025-04-01T00:01:00Z");
    for (again, first) in both("once").into_iter().zip(first) {
        assert_eq!(again.header("idempotent-replayed"), Some("true"), "{again:?}");
        assert_eq!(again.ok(), first);
    }
    for other in both("twice") {
        assert_eq!(other.faults(), ["invalid expires_at"], "the end is not in the future");
    }
}

#[test]
fn metadata_lives_two_years_from_the_last_accepted_call() {
    let (stage, shop) = Stage::with_shop(START);
    let add = |more: Value| {
        let body = json!({ "key": "cart", "path": "l", "value": 1 });
        shop.call("add-to-metadata-set", &merged(&body, &more))
    };
    let record = || shop.call("retrieve-metadata", &json!({ "key": "cart" }));
    assert_eq!(add(json!({})).ok(), true);
    assert_eq!(record().ok()["expires_at"], stage.now() + RECORD_SECONDS);
    stage.pass_seconds(1_000);
    assert_eq!(add(json!({})).ok(), false);
    assert_eq!(record().ok()["expires_at"], stage.now() + RECORD_SECONDS, "also when the item was there already");
    assert_eq!(record().ok()["version"], 1);
    stage.pass_millis(RECORD_SECONDS * 1_000 - 1);
    record().ok();
    stage.pass_millis(1);
    record().refused("NOT_FOUND");
    assert_eq!(add(json!({ "ttl": 1 })).ok(), true, "for a writer it is gone, too");
    let expires_at = record().ok()["expires_at"].clone();
    assert_eq!(expires_at, stage.now() + 1);
    stage.pass_millis(999);
    let refused = add(json!({ "version": 7, "ttl": 500 }));
    assert_eq!(refused.faults(), ["version_mismatch version"]);
    assert_eq!(record().ok()["expires_at"], expires_at, "a refused call moves nothing");
    stage.pass_millis(1);
    record().refused("NOT_FOUND");
}

#[test]
fn a_single_token_is_not_found_after_30_minutes() {
    let (stage, shop) = Stage::with_shop(START);
    let (token, multiple) = (shop.token_of(CARD, "SINGLE"), shop.token_of(CARD, "MULTIPLE"));
    stage.pass_seconds(SESSION_SECONDS);
    let select = |token: &str| {
        let body = json!({ "amount": 100, "currency": "THB", "payment_method": "CARD", "token": token });
        shop.sdk("select-payment-method", &body)
    };
    assert_eq!(select(&token).refused("NOT_FOUND"), json!({ "argument": "token" }));
    select(&multiple).id();
}
