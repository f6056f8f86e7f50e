//! The order of the checks of a request: each clause against the one after it.

use std::io::Write;

use serde_json::json;

use crate::harness::{ApiAnswer, Server, Shop, Start, Wire, received};

/// The media type of every body.
const JSON: (&str, &str) = ("Content-Type", "application/json");
/// A media type that no endpoint takes.
const TEXT: (&str, &str) = ("Content-Type", "text/plain");
/// A version that never existed.
const NO_VERSION: (&str, &str) = ("Api-Version", "1999-01-01");
/// A length above the limit, announced and never sent.
const TOO_LONG: (&str, &str) = ("Content-Length", "1048577");

fn refused(answer: &ApiAnswer, status: u16, code: &str) {
    assert_eq!((answer.status, answer.code()), (status, code), "{}", answer.body);
    assert_eq!(answer.body.as_array().map(Vec::len), Some(3), "a triple: {}", answer.body);
}

fn bearer(shop: &Shop) -> String {
    format!("Bearer {}", shop.key)
}

#[test]
fn a_path_that_names_nothing_is_404_whatever_the_method() {
    let server = Server::start();
    for base in [server.public(), server.admin_address()] {
        let wire = Wire::new(base);
        for path in
            ["/nothing", "/nothing/", "/merchants/no-such", "/sdk/no-such", "/admin/no-such", "/merchants//", "/sdk//x"]
        {
            for method in ["GET", "POST", "PUT", "DELETE", "OPTIONS", "BREW"] {
                refused(&wire.send(method, path, &[JSON, NO_VERSION], b"{}"), 404, "UNKNOWN_ENDPOINT");
            }
        }
    }
    let near = Wire::to(&server).send("POST", "/merchants/get-balence", &[JSON], b"{}");
    assert_eq!(near.details(), json!({ "suggestion": "/merchants/get-balance" }));
}

#[test]
fn every_endpoint_has_one_address() {
    let (_server, wire) = Server::with(Wire::to);
    for path in [
        "/merchants/get-balance/",
        "/merchants//get-balance",
        "//merchants/get-balance",
        "/merchants/get%2Dbalance",
        "/Merchants/get-balance",
        "/merchants/Get-Balance",
        "/merchants/get_balance",
        "/merchants/../merchants/get-balance",
        "/2025-04-01/2025-04-01/merchants/get-balance",
        "/2025-04-01/nothing",
    ] {
        refused(&wire.send("POST", path, &[JSON], b"{}"), 404, "UNKNOWN_ENDPOINT");
    }
}

#[test]
fn the_method_precedes_the_version_and_allow_names_methods() {
    let server = Server::start();
    let (public, admin) = (Wire::to(&server), Wire::new(server.admin_address()));
    for (wire, path, allow) in [
        (&public, "/merchants/get-balance", "POST"),
        (&public, "/2025-04-01/merchants/get-balance", "POST"),
        (&public, "/sdk/tokenize-card", "POST, OPTIONS"),
        (&public, "/merchants", "GET, HEAD, POST"),
        (&public, "/sdk", "GET, HEAD, POST"),
        (&admin, "/admin", "GET, HEAD, POST"),
        (&admin, "/admin/list-merchants", "POST"),
        (&admin, "/metrics", "GET, HEAD"),
        (&admin, "/health/live", "GET, HEAD"),
        (&admin, "/health/ready", "GET, HEAD"),
    ] {
        let method = if allow.starts_with("GET, HEAD") { "PUT" } else { "GET" };
        let answer = wire.send(method, path, &[NO_VERSION], b"");
        refused(&answer, 405, "METHOD_NOT_ALLOWED");
        assert_eq!(answer.header("allow"), Some(allow), "{path}");
    }
    let unknown = public.send("BREW", "/merchants/get-balance", &[], b"");
    refused(&unknown, 405, "METHOD_NOT_ALLOWED");
}

#[test]
fn a_version_is_judged_before_the_key() {
    let server = Server::start();
    let answer = Wire::to(&server).send("POST", "/merchants/get-balance", &[JSON, NO_VERSION], b"{}");
    refused(&answer, 400, "BAD_VERSION");
    let answer = Wire::new(server.admin_address()).send("POST", "/admin/list-merchants", &[JSON, NO_VERSION], b"{}");
    refused(&answer, 400, "BAD_VERSION");
}

#[test]
fn a_key_is_judged_before_the_media_type() {
    let server = Server::start();
    let answer = Wire::to(&server).send("POST", "/merchants/get-balance", &[TEXT], b"{}");
    refused(&answer, 400, "UNAUTHORIZED");
    let answer = Wire::new(server.admin_address()).send("POST", "/admin/list-merchants", &[TEXT], b"{}");
    refused(&answer, 400, "UNAUTHORIZED");
}

#[test]
fn a_media_type_is_judged_before_the_size() {
    let server = Server::start();
    let key = bearer(&server.shop());
    let wire = Wire::to(&server);
    let headers = [("Authorization", key.as_str()), TEXT, TOO_LONG];
    refused(&wire.send("POST", "/merchants/get-balance", &headers, b""), 415, "UNSUPPORTED_MEDIA_TYPE");
    let missing = [("Authorization", key.as_str()), TOO_LONG];
    refused(&wire.send("POST", "/merchants/get-balance", &missing, b""), 415, "UNSUPPORTED_MEDIA_TYPE");
}

#[test]
fn a_size_is_judged_before_the_body() {
    let server = Server::start();
    let key = bearer(&server.shop());
    let wire = Wire::to(&server);
    let headers = [("Authorization", key.as_str()), JSON];
    let malformed = vec![b'x'; (1 << 20) + 1];
    refused(&wire.send("POST", "/merchants/get-balance", &headers, &malformed), 413, "BODY_TOO_LARGE");
}

#[test]
fn faults_of_a_body_precede_look_ups() {
    let (server, merchant) =
        Server::with(|server| server.admin("create-merchant", &json!({ "name": "Bare", "currency": "THB" })).id());
    let key = server.admin("generate-key", &json!({ "merchant_id": merchant, "name": "A" })).ok();
    let client = server.client().bearer(key["key"].as_str().expect("a key"));
    assert_eq!(client.post("/merchants/balance-history", &json!({ "per_page": 0 })).faults(), ["invalid per_page"]);
    client.post("/merchants/balance-history", &json!({})).refused("NOT_FOUND");
    client.post("/merchants/get-balance", &json!({})).refused("NOT_FOUND");
    let malformed = json!({ "merchant_id": merchant.chars().rev().collect::<String>(), "amount": 0 });
    assert_eq!(server.admin("add-topup", &malformed).faults(), ["invalid merchant_id", "invalid amount"]);
}

#[test]
fn the_sdk_is_limited_for_each_installation() {
    let (server, shop) = Start::default().with("TILL_SDK_CALLS_PER_SECOND", "1").server_with_shop();
    let other = server.shop();
    let answers: Vec<ApiAnswer> =
        (0..10).map(|_| shop.sdk("retrieve-installation-settings", &json!({}))).filter(|it| it.status != 200).collect();
    assert!(!answers.is_empty(), "a burst is cut off");
    for answer in &answers {
        refused(answer, 429, "RATE_LIMITED");
        let seconds: u32 = answer.header("retry-after").and_then(|value| value.parse().ok()).expect("whole seconds");
        assert!((1..=2).contains(&seconds), "{seconds}");
    }
    other.sdk("retrieve-installation-settings", &json!({})).ok();
    shop.call("get-balance", &json!({})).ok();
    let versioned = shop.named(&json!({})).to_string();
    let answer = Wire::to(&server).send(
        "POST",
        "/sdk/retrieve-installation-settings",
        &[JSON, NO_VERSION],
        versioned.as_bytes(),
    );
    refused(&answer, 400, "BAD_VERSION");
}

#[test]
fn a_call_whose_body_has_not_arrived_takes_no_permit() {
    let (server, shop) = Start::default().with("TILL_HTTP_THREADS", "1").server_with_shop();
    let key = bearer(&shop);
    let head = format!(
        "POST /merchants/get-balance HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nAuthorization: \
            {key}\r\nContent-Length: 2\r\n\r\n{{"
    );
    let wire = Wire::to(&server);
    let mut slow: Vec<_> = (0..300).map(|_| wire.connect()).collect();
    for stream in &mut slow {
        stream.write_all(head.as_bytes()).expect("the server reads");
    }
    for _ in 0..20 {
        shop.call("get-balance", &json!({})).ok();
    }
    assert_eq!(server.metric("till_calls_in_flight"), Some(0.0), "there are 256 permits");
    for mut stream in slow {
        stream.write_all(b"}").expect("the server still reads");
        assert_eq!(received(&mut stream).status, 200);
    }
}
