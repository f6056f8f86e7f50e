//! Bodies and answers as large as they may be, of many callers at once: memory stays bounded, and who asks for little is
//! served meanwhile.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Server, Shop, Wire};

const MIB: usize = 1 << 20;

/// Callers at once: together they would take far more than is allowed.
const CALLERS: usize = 600;

/// What the server may take: 256 MiB of bodies or answers, itself, and what is being worked on.
const RESIDENT_BYTES_MAX: u64 = 640 << 20;

/// A call with a body of exactly one mebibyte: `open`, as much of `filling` as fits, and `close`.
fn largest_call(shop: &Shop, open: &str, filling: &str, close: &str) -> Vec<u8> {
    let room = MIB - open.len() - close.len();
    let filled = filling.repeat(room / filling.len());
    let padding = " ".repeat(room - filled.len());
    let head = format!(
        "POST /merchants/sync-metadata HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nAuthorization: Bearer {}\r\nContent-Length: {MIB}\r\n\r\n",
        shop.key
    );
    [head.as_bytes(), open.as_bytes(), filled.as_bytes(), padding.as_bytes(), close.as_bytes()].concat()
}

/// Sends all of this but its last byte on so many connections.
fn all_but_the_last_byte(server: &Server, call: &[u8], count: usize) -> Vec<TcpStream> {
    let wire = Wire::new(server.public());
    let send = || {
        let mut stream = wire.connect();
        stream.set_write_timeout(Some(Duration::from_secs(20))).expect("a time limit can be set");
        let _ = stream.write_all(&call[..call.len() - 1]); // Who is refused need not be read from.
        stream
    };
    thread::scope(|scope| {
        let senders: Vec<_> =
            (0..8).map(|_| scope.spawn(|| (0..count / 8).map(|_| send()).collect::<Vec<_>>())).collect();
        senders.into_iter().flat_map(|sender| sender.join().expect("a sender ends well")).collect()
    })
}

/// The status of what has come back, if anything has.
fn status(stream: &mut TcpStream) -> Option<u16> {
    stream.set_read_timeout(Some(Duration::from_millis(1))).expect("a time limit can be set");
    let mut head = [0; 12];
    stream.read_exact(&mut head).ok()?;
    std::str::from_utf8(&head[9..]).ok()?.parse().ok()
}

#[track_caller]
fn is_bounded(server: &Server) {
    let bytes = server.resident_bytes_max();
    println!("{} MiB at most", bytes >> 20);
    assert!(bytes < RESIDENT_BYTES_MAX, "{} MiB", bytes >> 20);
}

#[test]
fn bodies_at_the_limit_from_many_connections_take_bounded_memory_and_those_above_are_refused() {
    let server = Server::start();
    let shop = server.shop();
    let call = largest_call(&shop, r#"{"key":"large","metadata":{"text":""#, "x", r#""}}"#);
    let mut held = all_but_the_last_byte(&server, &call, CALLERS);
    let statuses: Vec<u16> = held.iter_mut().filter_map(status).collect();
    is_bounded(&server);
    assert!(statuses.len() >= CALLERS - 257, "256 bodies are held: {}", statuses.len());
    assert!(statuses.iter().all(|status| *status == 503), "{statuses:?}");
    shop.call("get-balance", &json!({})).ok();
    drop(held);
    let (_, body) = call.split_at(call.len() - MIB);
    while shop.client().post_bytes("/merchants/sync-metadata", body).status != 200 {
        thread::sleep(Duration::from_millis(20)); // Until the room is given back.
    }
}

#[test]
fn bodies_of_as_many_values_as_fit_take_bounded_memory_when_they_are_worked_on_at_once() {
    let server = Server::start();
    let shop = server.shop();
    for (what, open, filling, close) in [
        ("numbers", r#"{"key":"many","metadata":{"all":[0"#, ",0", "]}}"),
        ("lists", r#"{"key":"many","metadata":{"all":[[]"#, ",[]", "]}}"),
        ("texts", r#"{"key":"many","metadata":{"all":["""#, r#","""#, "]}}"),
    ] {
        let call = largest_call(&shop, open, filling, close);
        let mut held = all_but_the_last_byte(&server, &call, 128);
        held.iter_mut().for_each(|stream| drop(stream.write_all(&call[call.len() - 1..])));
        shop.call("get-balance", &json!({})).ok();
        let answers: Vec<u16> = held.iter_mut().map(answered).collect();
        println!("{what}: {} done at once", answers.iter().filter(|status| **status == 200).count());
        is_bounded(&server);
        assert!(answers.iter().all(|status| [200, 503].contains(status)), "{what}: {answers:?}");
    }
}

/// The status of an answer, which is waited for.
fn answered(stream: &mut TcpStream) -> u16 {
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time limit can be set");
    let mut head = [0; 12];
    stream.read_exact(&mut head).ok().and_then(|()| std::str::from_utf8(&head[9..]).ok()?.parse().ok()).unwrap_or(0)
}

#[test]
fn the_largest_answers_to_many_callers_who_do_not_read_them_take_bounded_memory() {
    let server = Server::start();
    let shop = server.shop();
    for number in 0..9 {
        let item = format!("{number}{}", "x".repeat(900_000));
        shop.call("add-to-metadata-set", &json!({ "key": "large", "value": item })).ok();
    }
    let question = r#"{"key":"large"}"#;
    let head = format!(
        "POST /merchants/retrieve-metadata HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n{question}",
        shop.key,
        question.len()
    );
    let wire = Wire::new(server.public());
    let asked = (0..CALLERS).map(|_| {
        let mut stream = wire.connect();
        stream.write_all(head.as_bytes()).expect("the server reads");
        stream
    });
    let mut asked: Vec<TcpStream> = asked.collect();
    let statuses: Vec<u16> = asked.iter_mut().map(answered).collect();
    is_bounded(&server);
    let count = |status: u16| statuses.iter().filter(|&&found| found == status).count();
    assert!(count(200) > 20 && count(503) > 20, "{statuses:?}");
    assert_eq!(count(200) + count(503), CALLERS, "{statuses:?}");
    shop.call("get-balance", &json!({})).ok();
    drop(asked);
    let size = |answer: Value| answer.to_string().len();
    while size(shop.call("retrieve-metadata", &json!({ "key": "large" })).body) < 7 * MIB {
        thread::sleep(Duration::from_millis(20)); // Until the room is given back.
    }
}
