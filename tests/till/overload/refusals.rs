//! The effects of a refusal: the caller reads it, and the connection stays open where that is possible.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{RawAnswer, Server, Shop, Start, Wire, holds_within};

/// Reads one answer and leaves the connection open.
fn next_answer(stream: &mut TcpStream) -> RawAnswer {
    let mut bytes = Vec::new();
    let mut byte = [0];
    loop {
        let received = RawAnswer::parse(&bytes);
        if received.is_whole() || stream.read(&mut byte).is_ok_and(|count| count == 0) {
            return received;
        }
        bytes.push(byte[0]);
    }
}

fn head(method: &str, path: &str, more: &str, length: usize) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: a\r\n{more}Content-Length: {length}\r\n\r\n")
}

#[test]
fn a_refusal_before_the_body_is_read_leaves_the_connection_open() {
    let (server, shop) = Start::default().with("TILL_SDK_CALLS_PER_SECOND_PER_ADDRESS", "1").server_with_shop();
    assert!((0..500).any(|_| shop.sdk("list-installment-plans", &json!({})).status == 429));
    let key = format!("Authorization: Bearer {}\r\n", shop.key);
    let json = "Content-Type: application/json\r\n";
    let mut stream = Wire::to(&server).connect();
    let body = "x".repeat(20_000);
    for (method, path, more, status) in [
        ("POST", "/merchants/nothing", json.to_owned(), 404),
        ("PUT", "/merchants/get-balance", json.to_owned(), 405),
        ("POST", "/merchants/get-balance", json.to_owned(), 400),
        ("POST", "/sdk/list-installment-plans", json.to_owned(), 429),
        ("POST", "/merchants/get-balance", key.clone(), 415),
    ] {
        stream.write_all(head(method, path, &more, body.len()).as_bytes()).expect("the connection is open");
        stream.write_all(body.as_bytes()).expect("the connection is open");
        let refused = next_answer(&mut stream);
        assert_eq!((refused.status, refused.header("connection")), (status, None), "{method} {path}");
    }
    let valid = head("POST", "/merchants/get-balance", &format!("{key}{json}"), 2) + "{}";
    stream.write_all(valid.as_bytes()).expect("the connection is open");
    assert_eq!(next_answer(&mut stream).status, 200);
}

#[test]
fn a_caller_that_sends_a_large_body_reads_its_refusal() {
    let server = Server::start();
    for (length, status, code) in [(900_000, 400, "UNAUTHORIZED"), (4_000_000, 400, "UNAUTHORIZED")] {
        let mut stream = Wire::to(&server).connect();
        let head = head("POST", "/merchants/get-balance", "Content-Type: application/json\r\n", length);
        stream.write_all(head.as_bytes()).expect("the server reads");
        stream.write_all(&vec![b' '; length]).expect("the server reads on");
        let refused = next_answer(&mut stream).answer();
        assert_eq!((refused.status, refused.code()), (status, code));
        let _ = stream.shutdown(Shutdown::Both);
    }
    let shop = server.shop();
    let key = format!("Authorization: Bearer {}\r\nContent-Type: application/json\r\n", shop.key);
    let mut stream = Wire::to(&server).connect();
    stream.write_all(head("POST", "/merchants/get-balance", &key, 3_000_000).as_bytes()).expect("the server reads");
    stream.write_all(&vec![b' '; 3_000_000]).expect("the server reads on");
    assert_eq!(next_answer(&mut stream).status, 413);
}

#[test]
fn a_refusal_does_not_wait_for_a_large_body_that_does_not_come() {
    let server = Server::start();
    let begun = Instant::now();
    for _ in 0..16 {
        let mut stream = Wire::to(&server).connect();
        let head = head("POST", "/merchants/get-balance", "Content-Type: application/json\r\n", 900_000);
        stream.write_all(head.as_bytes()).expect("the server reads");
        assert_eq!(next_answer(&mut stream).status, 400);
    }
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(3), "{took:?}: waiting for it takes a quarter of a second each");
}

/// Calls of one merchant: more than the permits that it may hold, of a server with one thread that reads requests.
const CALLS: usize = 150;

/// Sends calls that test a webhook whose endpoint does not answer.
fn tests_of(server: &Server, shop: &Shop, silent: &TcpListener) -> Vec<TcpStream> {
    let url = format!("http://{}/", silent.local_addr().expect("it has an address"));
    let connected = shop.call("connect-webhook", &json!({ "name": "a", "destination_url": url, "events": ["*"] })).ok();
    let test = json!({ "webhook_id": connected["webhook_id"] }).to_string();
    let key = format!("Authorization: Bearer {}\r\nContent-Type: application/json\r\n", shop.key);
    let request = head("POST", "/merchants/test-webhook", &key, test.len()) + &test;
    let call = |_| {
        let mut stream = Wire::to(server).connect();
        stream.write_all(request.as_bytes()).expect("the server reads");
        stream
    };
    (0..CALLS).map(call).collect()
}

/// True once an answer has begun to arrive.
fn is_answered(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).expect("a socket can be set so");
    let peeked = stream.peek(&mut [0]).is_ok();
    stream.set_nonblocking(false).expect("a socket can be set so");
    peeked
}

#[test]
fn tests_of_a_silent_endpoint_hold_up_no_write() {
    let start = Start::default().with("TILL_HTTP_THREADS", "1");
    let server = start.with("TILL_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8").server();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let (shop, second, other) = (server.shop(), server.shop(), server.shop());
    let mut calls = tests_of(&server, &shop, &silent);
    calls.extend(tests_of(&server, &second, &silent));
    for caller in [&other, &shop] {
        assert_eq!(caller.call("add-to-metadata-set", &json!({ "key": "a", "value": 1 })).ok(), json!(true));
    }
    holds_within(Duration::from_secs(10), || {
        calls.iter().filter(|stream| is_answered(stream)).count() >= 2 * (CALLS - 2)
    });
    assert_eq!(server.metric("till_calls_in_flight"), Some(0.0), "two of each merchant wait, without a permit");
    drop(silent);
    let answers: Vec<RawAnswer> = calls.iter_mut().map(next_answer).collect();
    let refused: Vec<&RawAnswer> = answers.iter().filter(|answer| answer.status == 429).collect();
    assert_eq!((refused.len(), answers.len() - refused.len()), (2 * (CALLS - 2), 4));
    assert!(refused.iter().all(|answer| answer.header("retry-after") == Some("5")));
}
