//! Calls from web pages: the SDK's endpoints answer their own pages, and no other interface answers any.

use serde_json::{Value, json};

use crate::harness::{Answer, Received, Server, Shop, Wire};

/// The origin of the test shop's pages.
const OWN: &str = "https://shop.example";

fn preflight(server: &Server, path: &str, origin: &str) -> Received {
    let headers = [
        ("Origin", origin),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "content-type,idempotency-key"),
    ];
    Wire::new(server.public()).receive("OPTIONS", path, &headers, b"")
}

fn from_page(server: &Server, shop: &Shop, origin: &str, endpoint: &str, body: &Value) -> Answer {
    server.client().header("Origin", origin).post(&format!("/sdk/{endpoint}"), &shop.named(body))
}

#[test]
fn a_browser_may_ask_before_it_calls_the_sdk() {
    let server = Server::start();
    server.shop();
    for path in ["/sdk/tokenize-card", "/2025-04-01/sdk/select-payment-method"] {
        let answer = preflight(&server, path, OWN);
        assert_eq!((answer.status, answer.body.len()), (204, 0));
        assert_eq!(answer.header("access-control-allow-origin"), Some(OWN));
        assert_eq!(answer.header("access-control-allow-methods"), Some("POST"));
        let allowed = answer.header("access-control-allow-headers").expect("headers are allowed").to_lowercase();
        for header in ["content-type", "idempotency-key", "api-version", "client-version", "x-request-id"] {
            assert!(allowed.contains(header), "{header}");
        }
        assert!(answer.header("access-control-max-age").is_some());
        assert!(answer.header("access-control-allow-credentials").is_none());
        assert!(answer.header("vary").is_some_and(|vary| vary.contains("Origin")));
    }
    for path in ["/merchants/get-balance", "/merchants/initiate-payment-flow"] {
        let answer = preflight(&server, path, OWN);
        assert_eq!(answer.status, 405, "{path}");
        assert!(answer.header("access-control-allow-origin").is_none(), "{path}");
    }
    let plain = Wire::new(server.public()).send("OPTIONS", "/sdk/tokenize-card", &[], b"");
    assert_eq!((plain.status, plain.code()), (405, "METHOD_NOT_ALLOWED"), "without the headers of a preflight");
}

#[test]
fn a_page_of_the_installation_reads_its_answers_and_its_refusals() {
    let server = Server::start();
    let shop = server.shop();
    let cases = [
        ("retrieve-installation-settings", json!({}), 200),
        ("check-status", json!({ "payment_session_id": "pse_01h455vb4pex5vsknk084sn02q" }), 400),
        ("tokenize-card", json!({ "number": "4242424242424241" }), 400),
    ];
    for (endpoint, body, status) in cases {
        let answer = from_page(&server, &shop, OWN, endpoint, &body);
        assert_eq!(answer.status, status, "{}", answer.body);
        assert_eq!(answer.header("access-control-allow-origin"), Some(OWN), "{endpoint}");
        let exposed = answer.header("access-control-expose-headers").expect("headers are exposed").to_lowercase();
        assert!(exposed.contains("x-request-id"));
    }
}

#[test]
fn a_page_of_another_origin_reads_nothing() {
    let server = Server::start();
    let shop = server.shop();
    for origin in [
        "https://evil.example",
        "http://shop.example",
        "https://shop.example:8443",
        "null",
        "https://shop.example.evil",
    ] {
        let answer = from_page(&server, &shop, origin, "retrieve-installation-settings", &json!({}));
        assert!(answer.header("access-control-allow-origin").is_none(), "{origin}");
        let merchants = shop.client().header("Origin", OWN).post("/merchants/get-balance", &json!({}));
        assert!(merchants.header("access-control-allow-origin").is_none());
    }
}
