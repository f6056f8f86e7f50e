//! The bounds of the server's memory under any load: the sum in docs/limits.md, "Memory".

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{Server, Shop, Wire, wait_until};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The most memory of the program and its store.
const STORE_BYTES: u64 = 448 * MIB;

/// The most memory of all large bodies that are being received, with their values.
const BODIES_BYTES: u64 = 256 * MIB;

/// The most memory of all large answers that clients do not read.
const ANSWERS_BYTES: u64 = 256 * MIB;

/// The most memory of one connection.
const CONNECTION_BYTES: u64 = 352 * KIB;

/// The most memory of a connection that has made only small calls.
const IDLE_CONNECTION_BYTES: u64 = 40 * KIB;

/// The longest time that the test waits on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The longest body.
const BODY_BYTES: usize = 1 << 20;

fn head(shop: &Shop, endpoint: &str, length: usize) -> String {
    format!(
        "POST /merchants/{endpoint} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nAuthorization: Bearer \
            {}\r\nContent-Length: {length}\r\n\r\n",
        shop.key
    )
}

/// Connections that have sent these bytes, as far as the server reads them; eight at a time.
fn opened(server: &Server, bytes: &[u8], count: usize) -> Vec<TcpStream> {
    let open = |_| {
        let mut stream = Wire::to(server).connect();
        stream.set_write_timeout(Some(Duration::from_secs(5))).expect("a time limit can be set");
        let _refused = stream.write_all(bytes); // A body without room in memory is not read to its end.
        stream
    };
    thread::scope(|scope| {
        let openers: Vec<_> = (0..8).map(|_| scope.spawn(|| (0..count / 8).map(open).collect::<Vec<_>>())).collect();
        openers.into_iter().flat_map(|opener| opener.join().expect("a client ends well")).collect()
    })
}

/// The numbers of these connections whose call was accepted, and whose call was refused for lack of memory.
fn answered(streams: &mut [TcpStream]) -> (usize, usize) {
    let (mut done, mut refused) = (0, 0);
    for stream in streams {
        stream.set_read_timeout(Some(PATIENCE)).expect("a time limit can be set");
        let mut begin = [0; 12];
        if stream.read_exact(&mut begin).is_err() {
            continue; // The connection was reset: the server had answered before everything was sent.
        }
        done += usize::from(begin.ends_with(b"200"));
        refused += usize::from(begin.ends_with(b"503"));
    }
    (done, refused)
}

/// The highest resident memory, once it no longer grows, because the server has read everything that was sent.
fn settled(server: &Server) -> u64 {
    let until = Instant::now() + PATIENCE;
    let mut before = 0;
    loop {
        let resident = server.resident_bytes_max();
        if resident == before || Instant::now() > until {
            return resident;
        }
        before = resident;
        thread::sleep(Duration::from_millis(700));
    }
}

#[track_caller]
fn is_bounded(server: &Server, parts: &[u64], connections: usize) {
    let connections = CONNECTION_BYTES * u64::try_from(connections).expect("a count fits");
    let bound = STORE_BYTES + parts.iter().sum::<u64>() + connections;
    let resident = settled(server);
    println!("{} MiB at most resident, of {} MiB", resident / MIB, bound / MIB);
    assert!(resident < bound, "{} MiB are more than {}", resident / MIB, bound / MIB);
}

#[track_caller]
fn is_served(shop: &Shop) {
    wait_until(PATIENCE, "it does not serve any more", || shop.call("get-balance", &json!({})).status == 200);
}

#[test]
fn endless_bodies_stay_within_their_memory() {
    let (server, shop) = Server::with_shop();
    let most = [head(&shop, "sync-metadata", BODY_BYTES).as_bytes(), &b" ".repeat(BODY_BYTES - 1)].concat();
    let held = opened(&server, &most, 1_200);
    is_bounded(&server, &[BODIES_BYTES], 1_200);
    drop(held);
    is_served(&shop);
}

#[test]
fn begun_bodies_take_no_memory_for_their_announced_length() {
    let (server, shop) = Server::with_shop();
    let begun = [head(&shop, "sync-metadata", BODY_BYTES).as_bytes(), &b" ".repeat(20_000)].concat();
    let held = opened(&server, &begun, 1_200);
    is_served(&shop);
    is_bounded(&server, &[], 1_200);
    drop(held);
}

#[test]
fn values_of_bodies_take_no_more_memory_than_there_is_room_for() {
    let (server, shop) = Server::with_shop();
    let deep = format!("{}{},", "[".repeat(60), "]".repeat(60));
    for value in ["1,", "[],", "{\"a\":1},", "\"\",", &deep] {
        let count = (BODY_BYTES - 100) / value.len();
        let body = format!("{{\"key\":\"a\",\"metadata\":[{}0]}}", value.repeat(count));
        let whole = [head(&shop, "sync-metadata", body.len()).as_bytes(), body.as_bytes()].concat();
        let counts = answered(&mut opened(&server, &whole, 128));
        assert!(counts.0 + counts.1 > 0, "{value}: {counts:?}");
    }
    is_bounded(&server, &[BODIES_BYTES], 128);
    is_served(&shop);
}

#[test]
fn unread_answers_stay_within_their_memory() {
    let (server, shop) = Server::with_shop();
    shop.call("sync-metadata", &json!({ "key": "large", "metadata": { "text": "x".repeat(1_000_000) } })).ok();
    let question = "{\"key\":\"large\"}";
    let asked = head(&shop, "retrieve-metadata", question.len()) + question;
    let held = opened(&server, asked.repeat(30).as_bytes(), 1_200);
    is_served(&shop);
    is_bounded(&server, &[ANSWERS_BYTES], 1_200);
    drop(held);
}

#[test]
fn unread_files_take_no_memory_for_each_connection() {
    let (server, shop) = Server::with_shop();
    let held = opened(&server, b"GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n", 1_200);
    is_served(&shop);
    is_bounded(&server, &[], 1_200);
    drop(held);
}

#[test]
fn idle_connections_keep_little_whatever_they_were_answered() {
    let server = Server::start();
    let before = server.resident_bytes_max();
    let mut held = Vec::new();
    while held.len() < 800 {
        let mut more = opened(&server, b"GET /merchants HTTP/1.1\r\nHost: a\r\n\r\n", 80);
        assert_eq!(answered(&mut more), (80, 0));
        held.extend(more);
    }
    let more = settled(&server) - before;
    assert!(more < 800 * IDLE_CONNECTION_BYTES + 16 * MIB, "{} KiB for each", more / 800 / KIB);
}
