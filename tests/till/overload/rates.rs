//! Rate limits of keys and addresses.

use std::io::Write;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Client, Start, Wire, received};

/// Checks a refusal, and returns the seconds until the next call.
#[track_caller]
fn wait_named_by(answer: &ApiAnswer) -> u64 {
    assert_eq!((answer.status, answer.code()), (429, "RATE_LIMITED"), "{}", answer.body);
    let limit = answer.details()["limit_per_second"].as_u64().expect("the limit is named");
    assert!(answer.message().contains(&format!("are limited to {limit} a second")), "{}", answer.message());
    assert_eq!(answer.body.as_array().map(Vec::len), Some(3), "a triple: {}", answer.body);
    answer.header("retry-after").and_then(|seconds| seconds.parse().ok()).expect("whole seconds")
}

/// The first refusal, which takes several calls on a slow machine.
#[track_caller]
fn turned_away(call: impl Fn() -> ApiAnswer) -> ApiAnswer {
    (0..500).map(|_| call()).find(|answer| answer.status == 429).expect("a call is turned away")
}

#[test]
fn a_key_over_its_rate_is_told_when_to_continue() {
    let (server, shop) = Start::default().with("TILL_KEY_CALLS_PER_SECOND", "2").server_with_shop();
    let other = server.admin("generate-key", &json!({ "merchant_id": shop.merchant_id, "name": "Other" })).ok();
    let other = server.client().bearer(other["key"].as_str().expect("a string"));
    let balance = |client: &Client| client.post("/merchants/get-balance", &json!({}));
    let refused = turned_away(|| balance(&shop.client()));
    let seconds = wait_named_by(&refused);
    assert!((1..=2).contains(&seconds), "{seconds}");
    assert_eq!(balance(&other).status, 200, "another key of the merchant has its own count");
    let problem = shop.client().header("Accept", "application/problem+json");
    let problem = turned_away(|| balance(&problem));
    assert_eq!((problem.status, &problem.body["code"]), (429, &json!("RATE_LIMITED")));
    thread::sleep(Duration::from_secs(seconds));
    assert_eq!(balance(&shop.client()).status, 200);
}

#[test]
fn a_keys_rate_is_checked_after_the_key_and_before_the_body() {
    let (server, shop) = Start::default().with("TILL_KEY_CALLS_PER_SECOND", "1").server_with_shop();
    let wire = Wire::to(&server);
    let key = format!("Bearer {}", shop.key);
    let send = |key: &str| {
        let headers = [("Authorization", key), ("Content-Type", "text/plain")];
        wire.send("POST", "/merchants/get-balance", &headers, b"{}")
    };
    assert_eq!(turned_away(|| send(&key)).code(), "RATE_LIMITED");
    for _ in 0..20 {
        assert_eq!(send("Bearer sk_unknown").refused("UNAUTHORIZED"), Value::Null, "what is no key is not counted");
    }
    assert_eq!(wire.send("POST", "/merchants/nothing", &[("Authorization", &key)], b"{}").status, 404);
}

#[test]
fn without_the_setting_a_key_may_call_as_often_as_it_likes() {
    let (_server, shop) = Start::default().server_with_shop();
    assert!((0..300).all(|_| shop.call("get-balance", &json!({})).status == 200));
}

#[test]
fn an_address_over_its_rate_is_refused_before_its_body() {
    let server = Start::default().with("TILL_SDK_CALLS_PER_SECOND_PER_ADDRESS", "1").server();
    let (shop, other) = (server.shop(), server.shop());
    let call = |at: usize| [&shop, &other][at % 2].sdk("list-installment-plans", &json!({}));
    let refused = (0..500).map(call).find(|answer| answer.status == 429).expect("whatever the installation");
    wait_named_by(&refused);
    let head =
        "POST /sdk/tokenize-card HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n";
    let without_body = || {
        let mut stream = Wire::to(&server).connect();
        stream.write_all(head.as_bytes()).expect("the server reads");
        received(&mut stream).answer()
    };
    wait_named_by(&without_body());
    assert_eq!(shop.call("get-balance", &json!({})).status, 200, "the merchants' own calls are not counted");
}

/// Makes an SDK call with this `X-Forwarded-For`; true when it is refused for its address's rate.
fn is_limited(wire: &Wire, forwarded_for: &str) -> bool {
    let headers = [("Content-Type", "application/json"), ("X-Forwarded-For", forwarded_for)];
    wire.send("POST", "/sdk/list-installment-plans", &headers, b"{}").status == 429
}

#[test]
fn the_address_named_by_a_trusted_proxy_is_counted() {
    let start = Start::default().with("TILL_SDK_CALLS_PER_SECOND_PER_ADDRESS", "1");
    let start = start.with("TILL_FORWARDED_HEADER", "X-Forwarded-For").with("TILL_PROXY_NETWORKS", "127.0.0.1/32");
    let server = start.server();
    let proxy = Wire::to(&server);
    let callers: Vec<String> = (1..20).map(|last| format!("198.51.100.7, 192.0.2.{last}, 127.0.0.1")).collect();
    assert!(callers.iter().all(|caller| !is_limited(&proxy, caller)), "each has its own count");
    assert!(
        (0..20).any(|number| is_limited(&proxy, &format!("192.0.2.{number}, 198.51.100.1"))),
        "they are one caller"
    );
    assert!(callers.iter().any(|caller| is_limited(&proxy.from(2), caller)), "it is no proxy");
}
