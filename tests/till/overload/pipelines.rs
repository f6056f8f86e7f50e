//! Clients that pipeline HTTP requests: they are answered in order, and answers that they do not read take no memory.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::thread;
use std::time::{Duration, Instant};

use rustls::version::TLS13;
use serde_json::{Value, json};

use crate::harness::{Pair, RawAnswer, Secured, Server, Shop, Wire, chunked, connect};

const KIB: u64 = 1 << 10;

/// Number of connections that pipeline requests.
const CONNECTIONS: u64 = 4;

/// Limit of the memory of such a connection.
const CONNECTION_BYTES: u64 = 512 * KIB;

/// The memory that a server takes for its first requests.
const FIRST_BYTES: u64 = 2_048 * KIB;

/// The time for which a client tries to send further requests.
const SENDING: Duration = Duration::from_secs(4);

/// The longest time that the test waits on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Requests that a client sends before it reads.
const AHEAD: usize = 50;

/// Sends bytes until the server reads no more of them.
fn sent(line: &mut impl Write, bytes: &[u8]) {
    let _held = line.write_all(bytes);
}

fn secured(server: &Server, pair: &Pair) -> Secured {
    let mut line = connect(server.public(), &[pair.der()], &[&TLS13]);
    line.conn.complete_io(&mut line.sock).expect("the handshake succeeds");
    line.sock.set_write_timeout(Some(SENDING)).expect("a time limit can be set");
    line
}

/// Requests whose answers the client does not read, with and without a body in the answer.
fn ahead() -> [(&'static str, Vec<u8>); 3] {
    [
        ("answers without a body", b"GET /docs HTTP/1.1\r\nHost:a\r\n\r\n".repeat(100_000)),
        ("answers with a body", b"GET /x HTTP/1.1\r\nHost:a\r\n\r\n".repeat(20_000)),
        ("a chunked body first", {
            let body = [
                b"POST /merchants HTTP/1.1\r\nHost:a\r\nTransfer-Encoding: chunked\r\n\r\n".as_slice(),
                &chunked(b"{}"),
            ];
            [&body.concat(), &b"GET /x HTTP/1.1\r\nHost:a\r\n\r\n".repeat(20)[..]].concat().repeat(1_000)
        }),
    ]
}

/// Sends these bytes on some connections, and returns the growth of the server's memory, once it no longer grows.
fn taken(server: &Server, open: impl Fn() -> Box<dyn Write + Send>, bytes: &[u8]) -> u64 {
    let before = server.resident_bytes_max();
    let mut lines: Vec<_> = (0..CONNECTIONS).map(|_| open()).collect();
    thread::scope(|scope| lines.iter_mut().for_each(|line| drop(scope.spawn(|| sent(line, bytes)))));
    let until = Instant::now() + PATIENCE;
    let mut most = before;
    loop {
        thread::sleep(Duration::from_millis(700));
        let now = server.resident_bytes_max();
        if now == most || Instant::now() > until {
            return now.saturating_sub(before); // The system's count of resident pages is approximate.
        }
        most = now;
    }
}

#[track_caller]
fn is_little(taken: u64, kind: &str) {
    println!("{kind}: {} KiB for each of {CONNECTIONS}", taken / KIB / CONNECTIONS);
    assert!(taken < CONNECTIONS * CONNECTION_BYTES + FIRST_BYTES, "{kind}: {} KiB", taken / KIB);
}

#[test]
fn pipelined_requests_take_little_memory() {
    for (kind, bytes) in ahead() {
        let server = Server::start();
        server.client().get("/merchants");
        let open = || {
            let line = Wire::to(&server).connect();
            line.set_write_timeout(Some(SENDING)).expect("a time limit can be set");
            Box::new(line) as Box<dyn Write + Send>
        };
        is_little(taken(&server, open, &bytes), kind);
    }
}

#[test]
fn pipelined_requests_over_tls_take_little_memory() {
    let pair = Pair::new();
    for (kind, bytes) in ahead() {
        let server = pair.start().server();
        server.client().get("/merchants");
        is_little(taken(&server, || Box::new(secured(&server, &pair)), &bytes), kind);
    }
}

fn post(shop: &Shop, number: usize, more: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST /merchants/sync-metadata HTTP/1.1\r\nHost: a\r\nX-Request-Id: n{number}\r\nContent-Type: \
            application/json\r\nAuthorization: Bearer {}\r\n{more}\r\n\r\n",
        shop.key
    );
    [head.as_bytes(), body].concat()
}

/// One of many requests, with every kind of answer and body in turns.
fn request(shop: &Shop, number: usize) -> Vec<u8> {
    let text = |length| json!({ "key": "ahead", "metadata": { "text": "x".repeat(length) } }).to_string();
    let announced = |body: &str| post(shop, number, &format!("Content-Length: {}", body.len()), body.as_bytes());
    match number % 6 {
        0 => format!("GET /docs HTTP/1.1\r\nHost: a\r\nX-Request-Id: n{number}\r\n\r\n").into_bytes(),
        1 => format!("GET /x HTTP/1.1\r\nHost: a\r\nX-Request-Id: n{number}\r\n\r\n").into_bytes(),
        2 => announced(&text(5)),
        3 => announced(&text(20_000 * number)),
        4 => post(shop, number, "Transfer-Encoding: chunked", &chunked(text(4_000 * number).as_bytes())),
        _ => post(shop, number, "Expect: 100-continue\r\nContent-Length: 3", b"{} "),
    }
}

/// The ids of all answers, in the order in which they came. `100 Continue` is not counted.
fn ids(mut bytes: &[u8]) -> Vec<String> {
    let mut ids = Vec::new();
    while !bytes.is_empty() {
        let head = 4 + bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a whole head");
        let received = RawAnswer::parse(&bytes[..head]);
        let length = received.header("content-length").map_or(0, |length| length.parse().expect("a number"));
        ids.extend(received.header("x-request-id").map(str::to_owned));
        bytes = &bytes[head + length..];
    }
    ids
}

fn expected() -> Vec<String> {
    (0..AHEAD).map(|number| format!("n{number}")).collect()
}

fn all_requests(shop: &Shop) -> Vec<u8> {
    let last = format!("GET /x HTTP/1.1\r\nHost: a\r\nX-Request-Id: n{}\r\nConnection: close\r\n\r\n", AHEAD - 1);
    let most: Vec<u8> = (0..AHEAD - 1).flat_map(|number| request(shop, number)).collect();
    [most.as_slice(), last.as_bytes()].concat()
}

#[test]
fn pipelined_requests_are_all_answered_in_order() {
    let (server, shop) = Server::with_shop();
    let mut line = Wire::to(&server).connect();
    let mut writer = line.try_clone().expect("a socket can be cloned");
    let all = all_requests(&shop);
    let mut received = Vec::new();
    thread::scope(|scope| {
        scope.spawn(|| sent(&mut writer, &all));
        line.read_to_end(&mut received).expect("the server ends the connection");
    });
    assert_eq!(ids(&received), expected());
}

#[test]
fn pipelined_requests_over_tls_are_all_answered_in_order() {
    let pair = Pair::new();
    let (server, shop) = pair.start().server_with_shop();
    let mut line = secured(&server, &pair);
    line.write_all(&all_requests(&shop)).and_then(|()| line.flush()).expect("the server reads");
    let mut received = Vec::new();
    let _without_close_notify = line.read_to_end(&mut received);
    assert_eq!(ids(&received), expected());
}

#[test]
fn a_client_that_half_closes_gets_all_answers() {
    let (server, shop) = Server::with_shop();
    let mut line = Wire::to(&server).connect();
    for number in 0..AHEAD {
        let kind = if number % 6 == 3 { 2 } else { number % 6 }; // Requests that fit into the buffers of both sides.
        let request = String::from_utf8(request(&shop, kind)).expect("it is text");
        let request = request.replace(&format!("X-Request-Id: n{kind}\r\n"), &format!("X-Request-Id: n{number}\r\n"));
        line.write_all(request.as_bytes()).expect("the server reads");
    }
    line.shutdown(Shutdown::Write).expect("it is open");
    let mut received = Vec::new();
    line.read_to_end(&mut received).expect("the server ends the connection");
    assert_eq!(ids(&received), expected());
}

#[test]
fn requests_of_every_length_are_answered() {
    let (server, shop) = Server::with_shop();
    let wire = Wire::to(&server);
    let mut line = wire.connect();
    for length in (0..1_400).step_by(7).chain(480..560).chain(740..800).chain(990..1_060) {
        let get = format!("GET /docs HTTP/1.1\r\nHost: a\r\nX-Filler: {}\r\n\r\n", "x".repeat(length));
        let body = json!({ "key": "k", "metadata": { "text": "x".repeat(length) } }).to_string();
        let asked = post(&shop, length, &format!("Content-Length: {}", body.len()), body.as_bytes());
        for request in [get.as_bytes(), &asked] {
            line.write_all(request).expect("the server reads");
            let mut buffer = [0; 4_096];
            let count = line.read(&mut buffer).unwrap_or_else(|error| panic!("{length}: {error}"));
            assert!(matches!(RawAnswer::parse(&buffer[..count]).status, 200 | 308), "{length}");
        }
    }
}

#[test]
fn large_bodies_are_taken_at_full_speed() {
    let (server, shop) = Server::with_shop();
    let body = json!({ "key": "large", "metadata": { "text": "x".repeat(1_000_000) } });
    let started = Instant::now();
    for _ in 0..20 {
        let answer: Value = shop.call("sync-metadata", &body).ok();
        assert!(answer.is_object() || answer.is_boolean());
    }
    let took = started.elapsed();
    println!("{} ms for a megabyte", took.as_millis() / 20);
    assert!(took < Duration::from_secs(20), "{took:?}");
    let started = Instant::now();
    let chunks = [("Transfer-Encoding", "chunked"), ("Content-Type", "application/json")];
    let bearer = format!("Bearer {}", shop.key);
    let headers = [&chunks[..], &[("Authorization", bearer.as_str())]].concat();
    let answer =
        Wire::to(&server).send("POST", "/merchants/sync-metadata", &headers, &chunked(body.to_string().as_bytes()));
    assert_eq!(answer.status, 200);
    println!("{} ms for one in chunks", started.elapsed().as_millis());
}
