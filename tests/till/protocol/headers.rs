//! Headers: those that every answer has, and those of a request that change its answer.

use std::fs;
use std::io::{Read, Write};

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use crate::harness::{RawAnswer, Server, Start, Wire, received, temporary};

/// The media type of every body.
const JSON: (&str, &str) = ("Content-Type", "application/json");

/// A request: the `Wire` that sends it, the method, the path, the headers and the body.
type Sent<'a> = (&'a Wire, &'a str, &'a str, Vec<(&'a str, &'a str)>, &'a str);

/// Sends one request for each way in which a request can end, and returns the answers with descriptions.
fn endings(server: &Server) -> Vec<(String, RawAnswer)> {
    let shop = server.shop();
    let key = format!("Bearer {}", shop.key);
    let named = shop.named(&json!({})).to_string();
    let (public, admin) = (Wire::to(server), Wire::new(server.admin_address()));
    let bearer = ("Authorization", key.as_str());
    let token = ("Authorization", "Bearer admin-token-of-a-test");
    let preflight = [("Origin", "https://shop.example"), ("Access-Control-Request-Method", "POST")];
    let requests: Vec<Sent<'_>> = vec![
        (&public, "POST", "/merchants/get-balance", vec![JSON, bearer], "{}"),
        (&public, "POST", "/merchants/get-balance", vec![JSON], "{}"),
        (&public, "POST", "/merchants/get-balance", vec![JSON, bearer], "{"),
        (&public, "POST", "/merchants/get-balance", vec![bearer], "{}"),
        (&public, "POST", "/merchants/get-balance", vec![JSON, bearer, ("Content-Length", "1048577")], ""),
        (&public, "POST", "/merchants/get-balance", vec![JSON, ("Api-Version", "1")], "{}"),
        (&public, "GET", "/merchants/get-balance", vec![], ""),
        (&public, "POST", "/nothing", vec![JSON], "{}"),
        (&public, "GET", "/merchants", vec![], ""),
        (&public, "HEAD", "/merchants", vec![], ""),
        (&public, "POST", "/sdk", vec![JSON], "{}"),
        (&public, "POST", "/sdk/retrieve-installation-settings", vec![JSON], &named),
        (&public, "POST", "/sdk/retrieve-installation-settings", vec![JSON], "{}"),
        (&public, "OPTIONS", "/sdk/tokenize-card", preflight.to_vec(), ""),
        (&public, "POST", "/merchants/available-api-versions", vec![JSON], "{}"),
        (&admin, "POST", "/admin/list-merchants", vec![JSON, token], "{}"),
        (&admin, "POST", "/admin/list-merchants", vec![JSON], "{}"),
        (&admin, "POST", "/admin/find-merchant", vec![JSON, token], "{}"),
        (&admin, "GET", "/admin", vec![], ""),
        (&admin, "GET", "/metrics", vec![], ""),
        (&admin, "GET", "/health/live", vec![], ""),
        (&admin, "GET", "/health/ready", vec![], ""),
    ];
    let send = |(wire, method, path, headers, body): Sent<'_>| {
        (format!("{method} {path} {headers:?}"), wire.receive(method, path, &headers, body.as_bytes()))
    };
    requests.into_iter().map(send).collect()
}

#[test]
fn every_answer_carries_its_request_id_and_its_version() {
    let server = Server::start();
    let mut ids = std::collections::BTreeSet::new();
    for (what, answer) in endings(&server) {
        assert_ne!(answer.status, 0, "{what}");
        assert_eq!(answer.header("api-version"), Some("2025-04-01"), "{what}");
        let id = answer.header("x-request-id").unwrap_or_else(|| panic!("{what}"));
        assert!(id.starts_with("req_") && ids.insert(id.to_owned()), "{what}: {id}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{what}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{what}");
    }
}

#[test]
fn a_valid_request_id_is_kept_and_another_is_replaced() {
    let (_server, wire) = Server::with(Wire::to);
    let longest = "x".repeat(128);
    for sane in ["a", "order-1_retry.2", longest.as_str()] {
        let answer = wire.send("POST", "/nothing", &[JSON, ("X-Request-Id", sane)], b"{}");
        assert_eq!(answer.header("x-request-id"), Some(sane));
    }
    let too_long = "x".repeat(129);
    for insane in ["", "a b", "a;b", "a\tb", "ü", "<script>", too_long.as_str()] {
        let answer = wire.send("POST", "/nothing", &[JSON, ("X-Request-Id", insane)], b"{}");
        assert!(answer.header("x-request-id").is_some_and(|id| id.starts_with("req_")), "{insane}");
    }
}

#[test]
fn the_log_line_of_a_request_has_its_id() {
    let (_directory, [log]) = temporary(["log"]);
    let start = Start::default().with("TILL_LOG_FILTER", "info").with("TILL_LOG_FORMAT", "json").recording(&log);
    let (mut server, shop) = start.server_with_shop();
    shop.client().header("X-Request-Id", "find-me-1").post("/merchants/get-balance", &json!({})).ok();
    shop.client().header("X-Request-Id", "find-me-2").post("/merchants/nothing", &json!({}));
    assert!(server.stop());
    let text = fs::read_to_string(&log).expect("the log was kept");
    for (id, path, status) in [("find-me-1", "/merchants/get-balance", 200), ("find-me-2", "(unknown)", 404)] {
        let line = text.lines().find(|line| line.contains(id)).unwrap_or_else(|| panic!("no line with {id}"));
        let line: Value = serde_json::from_str(line).expect("a line of the log is JSON");
        assert_eq!((&line["path"], &line["status"]), (&json!(path), &json!(status)), "{line}");
    }
}

#[test]
fn every_log_line_of_a_request_has_its_answers_id() {
    let (_directory, [log]) = temporary(["log"]);
    let start = Start::default().with("TILL_LOG_FILTER", "info").with("TILL_LOG_FORMAT", "json").recording(&log);
    let (mut server, shop) = start.server_with_shop();
    let mut ids = Vec::new();
    for (client, path) in [
        (shop.client(), "/merchants/get-balance"),
        (shop.client(), "/merchants/find-payment"),
        (server.client(), "/merchants/get-balance"),
        (server.client(), "/nothing"),
        (server.admin_client(), "/admin/create-checkpoint"),
        (server.admin_client(), "/admin/reload"),
    ] {
        let answer = client.post(path, &json!({}));
        ids.push(answer.header("x-request-id").expect("every answer has a request id").to_owned());
    }
    assert!(server.stop());
    let text = fs::read_to_string(&log).expect("the log was kept");
    let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let of = |message: &str| -> Vec<&str> {
        let logged = lines.iter().filter(|line| line["message"] == message);
        logged.map(|line| line["span"]["request_id"].as_str().unwrap_or("(none)")).collect()
    };
    let answered = of("answered");
    assert!(!answered.contains(&"(none)"), "{text}");
    for id in &ids {
        assert_eq!(answered.iter().filter(|answered| *answered == id).count(), 1, "{id}");
    }
    assert_eq!((of("a checkpoint was taken"), of("reloaded")), (vec![ids[4].as_str()], vec![ids[5].as_str()]));
}

#[test]
fn answers_are_compressed_when_asked_and_only_then() {
    let (_server, wire) = Server::with(Wire::to);
    let plain = wire.receive("GET", "/merchants", &[], b"");
    assert_eq!(plain.header("content-encoding"), None);
    assert!(plain.header("vary").is_some_and(|vary| vary.contains("Accept-Encoding")));
    let encoded = |accept: &str| wire.receive("GET", "/merchants", &[("Accept-Encoding", accept)], b"");
    let gzip = encoded("gzip");
    assert_eq!(gzip.header("content-encoding"), Some("gzip"));
    let mut text = Vec::new();
    GzDecoder::new(gzip.body.as_slice()).read_to_end(&mut text).expect("it is gzip");
    assert!(text == plain.body, "the decompressed body is the plain body");
    let zstd = encoded("gzip;q=0.5, zstd");
    assert_eq!(zstd.header("content-encoding"), Some("zstd"));
    assert!(
        zstd::decode_all(zstd.body.as_slice()).expect("it is zstd") == plain.body,
        "the decompressed body is the plain body"
    );
    for none in ["identity", "gzip;q=0", "br", "*;q=0", "gzip;q=0, zstd;q=0.0"] {
        let answer = encoded(none);
        assert_eq!(answer.header("content-encoding"), None, "{none}");
        assert!(answer.body == plain.body, "{none}");
    }
}

#[test]
fn accept_is_optional_and_media_types_may_have_parameters() {
    let server = Server::start();
    let key = format!("Bearer {}", server.shop().key);
    let wire = Wire::to(&server);
    for media_type in ["application/json", "application/json; charset=utf-8", "Application/JSON ;v=1"] {
        let headers = [("Content-Type", media_type), ("Authorization", key.as_str())];
        wire.send("POST", "/merchants/get-balance", &headers, b"{}").ok();
    }
    for media_type in ["text/plain", "application/jsonp", "application/problem+json", "json", "*/*", ""] {
        let headers = [("Content-Type", media_type), ("Authorization", key.as_str())];
        let answer = wire.send("POST", "/merchants/get-balance", &headers, b"{}");
        assert_eq!((answer.status, answer.code()), (415, "UNSUPPORTED_MEDIA_TYPE"), "{media_type}");
    }
    for more in [JSON, ("Content-Encoding", "gzip")] {
        let answer = wire.send("POST", "/merchants/get-balance", &[("Authorization", &key), JSON, more], b"{}");
        assert_eq!(answer.status, 415, "{more:?}");
    }
}

#[test]
fn a_connection_takes_further_calls_also_after_refusals() {
    let server = Server::start();
    let key = server.shop().key;
    let mut stream = Wire::to(&server).connect();
    let call = |body: &str| {
        format!(
            "POST /merchants/get-balance HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nAuthorization: \
                Bearer {key}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let calls = [call("{}"), call("{"), call("{\"x\":1}"), call("{}")].concat();
    let last = "GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    stream.write_all(calls.as_bytes()).expect("the server reads");
    stream.write_all(last.as_bytes()).expect("the server reads");
    let mut all = Vec::new();
    stream.read_to_end(&mut all).expect("the server answers");
    let text = String::from_utf8_lossy(&all).into_owned();
    let statuses: Vec<&str> =
        text.match_indices("HTTP/1.1 ").map(|(at, prefix)| &text[at + prefix.len()..at + prefix.len() + 3]).collect();
    assert_eq!(statuses, ["200", "400", "400", "200", "404"]);
}

#[test]
fn a_stopping_server_finishes_the_call_that_it_is_reading() {
    let mut server = Server::start();
    let key = server.shop().key;
    let mut stream = Wire::to(&server).connect();
    let head = format!(
        "POST /merchants/get-balance HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: \
            application/json\r\nAuthorization: Bearer {key}\r\nContent-Length: 2\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).expect("the server reads");
    std::thread::sleep(std::time::Duration::from_millis(200));
    let stopping = std::thread::spawn(move || server.stop());
    std::thread::sleep(std::time::Duration::from_millis(300));
    stream.write_all(b"}").expect("the server still reads");
    assert_eq!(received(&mut stream).status, 200);
    assert!(stopping.join().expect("the stopping thread does not panic"), "the server ends with exit code 0");
}
