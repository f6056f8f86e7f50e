//! The limits of connections, and the idle ones that are closed in favour of others.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustls::version::TLS13;
use serde_json::json;

use crate::harness::{Pair, RawAnswer, Server, Shop, Start, Wire, connect, holds_within, received, wait_until};

/// The time in which a caller gets its first answer under any load.
const AT_ONCE: Duration = Duration::from_secs(10);

/// The longest time that the test waits on a slow machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn limited_to(connections: &str, of_one_address: &str) -> Start {
    let start = Start::default().with("TILL_CONNECTIONS_MAX", connections);
    start.with("TILL_CONNECTIONS_PER_ADDRESS_MAX", of_one_address)
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

/// A call with a valid key, which is refused unless `path` is that of an endpoint.
pub(super) fn with_key(shop: &Shop, path: &str) -> String {
    let headers = format!("Authorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: 2", shop.key);
    format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n\r\n{{}}")
}

/// Makes a call on a connection that stays open, and returns the status; None when the server has closed it.
pub(super) fn ask(stream: &mut TcpStream, request: &str) -> Option<u16> {
    stream.write_all(request.as_bytes()).ok()?;
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 * 1024];
    while !RawAnswer::parse(&bytes).is_whole() {
        let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
    }
    Some(RawAnswer::parse(&bytes).status)
}

/// Opens connections and makes a request on each, so that the server has accepted it.
fn used(wire: &Wire, request: &str, count: usize) -> Vec<TcpStream> {
    let open = |_| {
        let mut stream = wire.connect();
        assert!(ask(&mut stream, request).is_some(), "it answers");
        stream
    };
    (0..count).map(open).collect()
}

/// True when the server has closed a connection that has no unread bytes.
pub(super) fn is_ended(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).expect("an option can be set");
    let ended = match stream.peek(&mut [0]) {
        Ok(count) => count == 0,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    };
    stream.set_nonblocking(false).expect("an option can be set");
    ended
}

/// Checks that a new caller is answered at once.
#[track_caller]
fn is_served_at_once(wire: &Wire, path: &str) {
    let began = Instant::now();
    let answer = wire.receive("GET", path, &[], b"");
    println!("a new caller was answered {} after {:?}", answer.status, began.elapsed());
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
}

/// Checks that a new caller is refused by an ordinary answer.
#[track_caller]
fn is_refused(wire: &Wire) {
    let received = wire.receive("GET", "/merchants", &[], b"");
    for (name, value) in [("retry-after", "1"), ("connection", "close"), ("api-version", "2025-04-01")] {
        assert_eq!(received.header(name), Some(value), "{received:?}");
    }
    assert!(received.header("x-request-id").is_some_and(|id| id.starts_with("req_")), "{received:?}");
    let answer = received.answer();
    assert_eq!((answer.status, answer.code()), (503, "UNAVAILABLE"), "{}", answer.body);
    assert_eq!(answer.details(), json!({ "outcome": "not_done" }));
}

/// The value of a metric.
fn count(server: &Server, metric: &str) -> u64 {
    server.metric(metric).unwrap_or_else(|| panic!("there is no {metric}")).to_string().parse().expect("a count")
}

/// Waits until the server has accepted this number of connections.
#[track_caller]
fn has_taken(server: &Server, connections: u64) {
    wait_until(PATIENCE, "it takes no connections", || {
        count(server, "till_connections_open{listener=\"public\"}") >= connections
    });
}

#[test]
fn one_address_has_its_share_and_another_is_served_at_once() {
    let server = Start::default().with("TILL_CONNECTIONS_MAX", "8").server();
    let wire = Wire::to(&server);
    let mut held = used(&wire, &get("/merchants"), 2);
    is_refused(&wire);
    is_served_at_once(&wire.from(2), "/merchants");
    assert_eq!(count(&server, "till_connections_refused_total{limit=\"per_address\"}"), 1);
    assert_eq!(count(&server, "till_connections_open{listener=\"public\"}"), 2);
    drop(held.pop());
    wait_until(AT_ONCE, "its place is not free again", || wire.receive("GET", "/merchants", &[], b"").status == 200);
}

#[test]
fn proxies_have_no_share_of_their_own() {
    let start = Start::default().with("TILL_CONNECTIONS_MAX", "8");
    let server = start.with("TILL_PROXY_NETWORKS", "127.0.0.0/30").server();
    let _held = used(&Wire::to(&server), &get("/merchants"), 8);
    is_served_at_once(&Wire::to(&server), "/merchants");
    let other = Wire::to(&server).from(9);
    let _others = used(&other, &get("/merchants"), 2);
    is_refused(&other);
}

/// Opens connections one after the other, and makes useless calls on each as long as it is open.
fn take_all(wire: &Wire, is_over: &AtomicBool) {
    let mut held: Vec<Option<TcpStream>> = (0..10).map(|_| None).collect();
    while !is_over.load(Ordering::Relaxed) {
        for stream in &mut held {
            let open = stream.get_or_insert_with(|| wire.connect());
            if ask(open, &get("/x")) != Some(404) {
                *stream = None;
            }
        }
    }
}

#[test]
fn callers_that_take_all_connections_exclude_nobody() {
    let (server, shop) = limited_to("64", "64").server_with_shop();
    let wire = Wire::to(&server);
    let mut kept = used(&wire, &with_key(&shop, "/merchants/get-balance"), 3);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| take_all(&wire, &is_over));
        }
        holds_within(PATIENCE, || count(&server, "till_connections_evicted_total") >= 100);
        let served = thread::scope(|scope| {
            scope.spawn(|| (0..10).for_each(|_| is_served_at_once(&wire.from(2), "/merchants"))).join()
        });
        is_over.store(true, Ordering::Relaxed);
        served.expect("every new caller is served at once");
    });
    assert!(count(&server, "till_connections_evicted_total") > 100);
    for stream in &mut kept {
        assert_eq!(ask(stream, &with_key(&shop, "/merchants/get-balance")), Some(200), "it has shown a key");
    }
}

#[test]
fn one_key_cannot_hold_all_connections_from_many_addresses() {
    let server = limited_to("8", "4").server();
    let (shop, other) = (server.shop(), server.shop());
    let wires = [1, 2].map(|last| Wire::to(&server).from(last));
    let path = "/merchants/find-payment";
    let others = used(&wires[0], &with_key(&other, path), 2);
    let held: Vec<TcpStream> =
        [2, 4].into_iter().zip(&wires).flat_map(|(count, wire)| used(wire, &with_key(&shop, path), count)).collect();
    for _ in 0..4 {
        is_served_at_once(&Wire::to(&server).from(3), "/merchants");
    }
    assert_eq!(held.iter().filter(|stream| is_ended(stream)).count(), 1, "callers without a key give way after it");
    assert!(!others.iter().any(is_ended), "they are fewer");
}

#[test]
fn four_keys_cannot_hold_all_connections() {
    let server = limited_to("8", "8").server();
    let wire = Wire::to(&server);
    let shops = [(); 4].map(|()| server.shop());
    let held: Vec<Vec<_>> =
        shops.iter().map(|shop| used(&wire, &with_key(shop, "/merchants/find-payment"), 2)).collect();
    for shop in [server.shop(), server.shop()] {
        is_served_at_once(&wire.from(2), "/merchants");
        let balance = with_key(&shop, "/merchants/get-balance");
        assert_eq!(ask(&mut wire.from(3).connect(), &balance), Some(200));
    }
    let left = held.iter().map(|held| held.iter().filter(|stream| !is_ended(stream)).count());
    assert!(left.clone().all(|left| left >= 1), "{:?}", left.collect::<Vec<_>>());
    assert_eq!(count(&server, "till_connections_refused_total{limit=\"in_all\"}"), 0);
}

#[test]
fn a_caller_without_a_key_that_sends_slowly_gives_way_to_others() {
    let server = limited_to("4", "4").server();
    let wire = Wire::to(&server);
    let slow =
        "POST /sdk/check-status HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{";
    let mut held: Vec<TcpStream> = (0..4).map(|_| wire.connect()).collect();
    held.iter_mut().for_each(|stream| stream.write_all(slow.as_bytes()).expect("the server reads"));
    has_taken(&server, 4);
    is_served_at_once(&wire.from(2), "/merchants");
}

#[test]
fn handshakes_that_do_not_end_give_way_to_others() {
    let pair = Pair::new();
    let start = pair.start().with("TILL_CONNECTIONS_MAX", "4").with("TILL_CONNECTIONS_PER_ADDRESS_MAX", "4");
    let server = start.server();
    let silent: Vec<TcpStream> = (0..4).map(|_| Wire::to(&server).connect()).collect();
    has_taken(&server, 4);
    let began = Instant::now();
    let mut line = connect(server.public(), &[pair.der()], &[&TLS13]);
    line.write_all(get("/merchants").as_bytes()).expect("the server reads");
    let mut answer = [0; 12];
    line.read_exact(&mut answer).expect("it is answered");
    assert!(&answer == b"HTTP/1.1 200" && began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
    assert_eq!(silent.iter().filter(|stream| is_ended(stream)).count(), 1);
}

#[test]
fn the_operator_gets_in_however_many_connections_are_held() {
    let server = Server::start();
    let wire = Wire::new(server.admin_address());
    let _held = used(&wire, &get("/health/live"), 256);
    is_served_at_once(&wire, "/health/live");
    assert!(count(&server, "till_connections_open{listener=\"admin\"}") <= 256);
}

/// Makes a call each half second for twelve seconds; returns the time until the server closed the connection, if it
/// did.
fn ended_while_asking(wire: &Wire, request: &str) -> Option<Duration> {
    let (mut stream, began) = (wire.connect(), Instant::now());
    while began.elapsed() < Duration::from_secs(12) {
        if is_ended(&stream) || ask(&mut stream, request).is_none() {
            return Some(began.elapsed());
        }
        thread::sleep(Duration::from_millis(500));
    }
    None
}

#[test]
fn a_refusal_renews_no_idle_time() {
    let server = Start::default().with("TILL_IDLE_SECONDS_MAX", "4").server();
    let (wire, shop) = (Wire::to(&server), server.shop());
    let requests = [get("/x"), get("/merchants"), with_key(&shop, "/merchants/find-payment")];
    let [refused, answered, with_key] = thread::scope(|scope| {
        let asking = requests.each_ref().map(|request| scope.spawn(|| ended_while_asking(&wire, request)));
        asking.map(|ended| ended.join().expect("it asks"))
    });
    println!("refusals: {refused:?}, answers: {answered:?}, refusals with a key: {with_key:?}");
    assert!(refused.is_some_and(|after| (3_500..11_500).contains(&after.as_millis())), "{refused:?}");
    assert_eq!((answered, with_key), (None, None));
}

#[test]
fn an_idle_connection_is_closed_on_either_listener() {
    let server = Start::default().with("TILL_IDLE_SECONDS_MAX", "1").server();
    for (address, path) in [(server.public(), "/merchants"), (server.admin_address(), "/health/live")] {
        let mut idle = used(&Wire::new(address), &get(path), 8);
        let began = Instant::now();
        assert!(idle.iter_mut().all(|stream| received(stream).status == 0), "{path}");
        println!("{path}: ended after {:?}", began.elapsed());
        assert!(began.elapsed() < Duration::from_secs(30), "{path}: {:?}", began.elapsed());
    }
}
