//! Requests that the web server refuses before the service sees them.

use std::fs;
use std::io::Write;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{RawAnswer, Server, Start, Wire, received, received_from, temporary};

/// Checks that an answer has the form of every refusal, and returns its status and code.
#[track_caller]
fn refusal(received: RawAnswer, about: &str) -> (u16, String) {
    let id = received.header("x-request-id").unwrap_or_default();
    assert!(id.starts_with("req_"), "{about}: {received:?}");
    assert_eq!(received.header("content-type"), Some("application/json"), "{about}");
    assert_eq!(received.header("api-version"), Some("2025-04-01"), "{about}");
    assert_eq!(received.header("connection"), Some("close"), "{about}");
    let answer = received.answer();
    assert_eq!(answer.body.as_array().map(Vec::len), Some(3), "{about}: {}", answer.body);
    (answer.status, answer.code().to_owned())
}

#[test]
fn a_request_that_cannot_be_read_is_answered_like_any_other() {
    let (_server, wire) = Server::with(Wire::to);
    let long_path = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(70_000));
    for request in [
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/9.9\r\nHost: a\r\n\r\n",
        "GET /\u{1} HTTP/1.1\r\nHost: a\r\n\r\n",
        "\u{16}\u{3}\u{1} is the beginning of a TLS handshake\r\n\r\n",
        &long_path,
    ] {
        let received = wire.exchange(request.as_bytes());
        assert_eq!(refusal(received, request), (400, "INVALID_ARGUMENTS".to_owned()), "{request}");
    }
}

#[test]
fn a_head_that_is_too_long_is_refused_at_any_length() {
    let (_server, wire) = Server::with(Wire::to);
    for bytes in [131_072, 200_000, 4_000_000] {
        let request = format!("GET / HTTP/1.1\r\nHost: a\r\nCookie: {}\r\n\r\n", "x".repeat(bytes));
        let received = wire.exchange(request.as_bytes());
        assert_eq!(refusal(received, &bytes.to_string()), (431, "HEAD_TOO_LARGE".to_owned()));
    }
    let many = "A: b\r\n".repeat(97);
    let received = wire.exchange(format!("GET / HTTP/1.1\r\n{many}\r\n").as_bytes());
    assert_eq!(refusal(received, "many headers"), (431, "HEAD_TOO_LARGE".to_owned()));
}

#[test]
fn a_head_that_arrives_too_slowly_is_refused() {
    let server = Server::start();
    let mut stream = Wire::to(&server).connect();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: a").expect("the server reads");
    assert_eq!(refusal(received(&mut stream), "a slow head"), (408, "REQUEST_TIMEOUT".to_owned()));
}

#[test]
fn a_body_that_does_not_arrive_is_refused() {
    let (server, shop) = Server::with_shop();
    let wire = Wire::to(&server);
    let head = format!(
        "POST /merchants/get-balance HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nAuthorization: Bearer \
            {}\r\n",
        shop.key
    );
    thread::scope(|scope| {
        for rest in
            ["Content-Length: 9\r\n\r\n", "Content-Length: 9\r\n\r\n{\"a\"", "Transfer-Encoding: chunked\r\n\r\n9\r\n{"]
        {
            let mut stream = wire.connect();
            stream.write_all(format!("{head}{rest}").as_bytes()).expect("the server reads");
            scope.spawn(move || {
                stream.set_read_timeout(Some(Duration::from_secs(60))).expect("it is open");
                let received = received(&mut stream);
                assert_eq!(received.header("connection"), Some("close"), "{rest:?}");
                assert_eq!(received.answer().refused("INVALID_ARGUMENTS"), json!([]), "{rest:?}");
            });
        }
    });
    shop.call("get-balance", &json!({})).ok();
}

/// Answers that come at once, and answers that a commit delays.
#[test]
fn calls_in_two_parts_follow_one_another_on_one_connection() {
    let (server, shop) = Server::with_shop();
    let mut stream = Wire::to(&server).connect();
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("it is open");
    for (endpoint, body, status) in [
        ("find-payment", r#"{"payment_id": 1}"#, 400),
        ("find-payment", r#"{"payment_id": 1}"#, 400),
        ("get-balance", "{}", 200),
        ("open-metadata-set", "{}", 404),
        ("invite-user", r#"{"email": "ada@example.com"}"#, 200),
        ("get-balance", "{}", 200),
    ] {
        let head = format!(
            "POST /merchants/{endpoint} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nAuthorization: \
                Bearer {}\r\nContent-Length: {}\r\n\r\n",
            shop.key,
            body.len()
        );
        for part in [head.as_str(), body] {
            stream.write_all(part.as_bytes()).expect("the server reads");
            thread::sleep(Duration::from_millis(50));
        }
        let answer = received_from(&mut stream).answer();
        assert_eq!(answer.status, status, "{endpoint}: {}", answer.body);
    }
}

#[test]
fn broken_chunks_are_answered_with_the_callers_own_request_id() {
    let (server, shop) = Server::with_shop();
    let wire = Wire::to(&server);
    let head = format!(
        "POST /merchants/get-balance HTTP/1.1\r\nHost: a\r\nX-Request-Id: order-17\r\nContent-Type: \
            application/json\r\nAuthorization: Bearer {}\r\nTransfer-Encoding: chunked\r\n\r\n",
        shop.key
    );
    for body in ["zz\r\n{}\r\n0\r\n\r\n", "2\r\n{}xx0\r\n\r\n", "2\r\n{}\r\nq\r\n"] {
        for parts in [vec![format!("{head}{body}")], vec![head.clone(), body.to_owned()]] {
            let mut stream = wire.connect();
            for part in parts {
                stream.write_all(part.as_bytes()).expect("the server reads");
                thread::sleep(Duration::from_millis(50));
            }
            let received = received(&mut stream);
            assert_eq!(received.header("x-request-id"), Some("order-17"), "{body:?}");
            assert_eq!(received.header("connection"), Some("close"), "{body:?}");
            assert_eq!(received.answer().refused("INVALID_ARGUMENTS"), json!([]), "{body:?}");
        }
    }
    shop.call("get-balance", &json!({})).ok();
}

#[test]
fn an_unreadable_request_leaves_the_one_before_its_answer() {
    let server = Server::start();
    let mut stream = Wire::to(&server).connect();
    stream.write_all(b"GET /merchants HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/9.9\r\n\r\n").expect("the server reads");
    let mut text = String::new();
    std::io::Read::read_to_string(&mut stream, &mut text).expect("two answers, and the end");
    assert_eq!(text.matches("\r\nx-request-id: ").count(), 2, "{text}");
    let (first, second) = text.split_once("HTTP/1.1 400 ").expect("the second answer");
    assert!(first.starts_with("HTTP/1.1 200 ") && second.contains("[\"INVALID_ARGUMENTS\","), "{text}");
}

#[test]
fn an_unreadable_request_is_counted_and_logged_with_its_id() {
    let (_directory, [log]) = temporary(["log"]);
    let start = Start::default().with("TILL_LOG_FILTER", "info").with("TILL_LOG_FORMAT", "json").recording(&log);
    let mut server = start.server();
    let received = Wire::to(&server).exchange(b"GET / HTTP/9.9\r\n\r\n");
    let id = received.header("x-request-id").unwrap_or_default().to_owned();
    let metrics = server.metrics();
    let counted = "till_http_requests_total{code=\"INVALID_ARGUMENTS\",endpoint=\"(unknown)\"} 1";
    assert!(metrics.lines().any(|line| line == counted), "{metrics}");
    assert!(server.stop());
    let text = fs::read_to_string(&log).expect("the log was kept");
    let line = text.lines().find(|line| line.contains(&id)).unwrap_or_else(|| panic!("no line with {id}"));
    let line: Value = serde_json::from_str(line).expect("a line of the log is JSON");
    assert_eq!((&line["path"], &line["status"]), (&json!("(unread)"), &json!(400)), "{line}");
}
