//! The answers to a caller when the server fails: contract, section 1.

use serde_json::{Value, json};
use till_domain::ids::{MerchantId, TokenId};
use till_storage::family::Family;
use till_storage::memory::AppendFault;
use till_storage::vault::{CardNumberOf, VaultKey};

use crate::harness::{ApiAnswer, CARD, Stage};

/// The media type of RFC 9457.
const PROBLEM: &str = "application/problem+json";

/// The time at which the tests begin.
const START: &str = "2025-04-01T00:00:00Z";

#[track_caller]
fn is_unavailable(answer: &ApiAnswer, outcome: &str) {
    assert_eq!((answer.status, answer.code()), (503, "UNAVAILABLE"), "{}", answer.body);
    assert_eq!(answer.body.as_array().map(Vec::len), Some(3), "a triple: {}", answer.body);
    assert_eq!(answer.details(), json!({ "outcome": outcome }));
    let seconds: u32 = answer.header("retry-after").and_then(|text| text.parse().ok()).expect("whole seconds");
    assert!(seconds >= 1);
}

#[test]
fn an_unexpected_failure_reveals_nothing_and_stops_nothing() {
    let (stage, shop) = Stage::with_shop(START);
    let session = json!({ "payment_session_id": shop.session(100) });
    let calls: [&dyn Fn() -> ApiAnswer; 3] =
        [&|| shop.call("get-balance", &json!({})), &|| shop.sdk("check-status", &session), &|| {
            stage.admin("create-merchant", &json!({ "name": "New", "currency": "USD" }))
        }];
    for call in calls {
        stage.panic_next();
        let answer = call();
        assert_eq!((answer.status, answer.code(), answer.details()), (500, "UNHANDLED_ERROR", Value::Null));
        assert_eq!(answer.body.as_array().map(Vec::len), Some(3), "a triple: {}", answer.body);
        assert!(!answer.body.to_string().contains("clock"), "{}", answer.body);
        assert!(answer.header("x-request-id").is_some() && answer.header("api-version").is_some());
        call().ok();
    }
    stage.panic_next();
    let answer = shop.client().header("Accept", PROBLEM).post("/merchants/get-balance", &json!({}));
    assert_eq!((answer.status, &answer.body["code"]), (500, &json!("UNHANDLED_ERROR")));
}

#[test]
fn a_failed_write_is_not_done_and_leaves_nothing() {
    let (stage, shop) = Stage::with_shop(START);
    let session = shop.session(100);
    let before = shop.picture(&[&session]);
    stage.store().fail_append(0, AppendFault::Unavailable);
    let body = shop.initiation(&session, 100);
    let named = shop.client().idempotency_key("order-1");
    is_unavailable(&named.post("/merchants/initiate-payment-flow", &body), "not_done");
    assert_eq!(shop.picture(&[&session]), before);
    let answer = named.post("/merchants/initiate-payment-flow", &body);
    assert_eq!(answer.header("idempotent-replayed"), None, "nothing was kept");
    assert_eq!(shop.settled(&answer.id())["status"], "SUCCESSFUL");
}

#[test]
fn a_write_with_unknown_outcome_is_answered_as_unknown() {
    let (stage, shop) = Stage::with_shop(START);
    stage.store().fail_append(0, AppendFault::AmbiguousWritten);
    let answer = shop.call("invite-user", &json!({ "email": "ada@shop.example" }));
    is_unavailable(&answer, "unknown");
    let problem = shop.client().header("Accept", PROBLEM).post("/merchants/invite-user", &json!({ "email": "b@c.co" }));
    assert_eq!((problem.status, &problem.body["code"]), (503, &json!("UNAVAILABLE")));
}

#[test]
fn a_card_that_the_vault_has_lost_fails_with_its_own_code() {
    let (stage, shop) = Stage::with_shop(START);
    let token = shop.token_of(CARD, "MULTIPLE");
    let session = shop.session_with(100, &json!({ "token": token }));
    let merchant: MerchantId = shop.merchant_id.parse().expect("a merchant's id");
    let of = CardNumberOf::Token(token.parse::<TokenId>().expect("a token's id"));
    stage.store().lose(Family::Vault, &VaultKey::CardNumber { merchant, of }.encode());
    let paid = shop.settled(&shop.initiate(&session, 100, &json!({})).id());
    assert_eq!((&paid["status"], &paid["failure_code"]), (&json!("FAILED"), &json!("card_not_available")));
    assert_eq!((shop.all("balance-history").len(), shop.all("list-activity-logs").len()), (0, 0));
}
