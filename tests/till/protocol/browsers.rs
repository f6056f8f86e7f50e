//! Calls from web pages: the SDK's endpoints answer the pages of their installations, other interfaces answer none.

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, RawAnswer, Server, Shop, Start, Wire, temporary};

/// The origin of the test shop's pages.
const OWN: &str = "https://shop.example";

fn preflight(server: &Server, path: &str, origin: &str) -> RawAnswer {
    let headers = [
        ("Origin", origin),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "content-type,idempotency-key"),
    ];
    Wire::to(server).receive("OPTIONS", path, &headers, b"")
}

fn from_page(server: &Server, shop: &Shop, origin: &str, endpoint: &str, body: &Value) -> ApiAnswer {
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
    let plain = Wire::to(&server).send("OPTIONS", "/sdk/tokenize-card", &[], b"");
    assert_eq!((plain.status, plain.code()), (405, "METHOD_NOT_ALLOWED"), "without the headers of a preflight");
}

#[test]
fn an_installations_page_reads_answers_and_refusals() {
    let (server, shop) = Server::with_shop();
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
fn the_log_names_the_origin_whose_pages_read_an_answer_and_no_other() {
    let (_directory, [log]) = temporary(["log"]);
    let start = Start::default().with("TILL_LOG_FILTER", "info").with("TILL_LOG_FORMAT", "json").recording(&log);
    let (mut server, shop) = start.server_with_shop();
    let call = |origin: &str| from_page(&server, &shop, origin, "retrieve-installation-settings", &json!({}));
    // A caller's own text, which may be a card number.
    let answer = call("https://4242424242424242.example");
    assert!(!answer.body.to_string().contains(OWN), "{}", answer.body);
    call(OWN);
    let wrong = json!({ "installation_id": "ins_01h455vb4pex5vsknk084sn02q" });
    from_page(&server, &shop, "null", "check-status", &wrong);
    assert!(server.stop(), "its last lines are written");
    let text = std::fs::read_to_string(&log).expect("the log was kept");
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("/sdk/")).collect();
    let has = |line: &str, words: &[&str]| words.iter().all(|word| line.contains(word));
    assert!(has(lines[0], &[OWN, "the browser does not show it the answer"]), "{text}");
    assert!(!text.contains("4242424242424242"), "{text}");
    assert!(!lines[1].contains("browser") && !lines[1].contains(OWN), "{text}");
    assert!(has(lines[2], &["the browser does not show it the answer"]), "{text}");
}

#[test]
fn a_page_of_another_origin_reads_nothing() {
    let (server, shop) = Server::with_shop();
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
