//! Connections that are held: with answers that nobody reads, and by keys that do nothing more. See `heavy_load.rs`.

use std::fs::read_to_string;
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::closed_loop::key_of;
use super::connections::{ask, is_ended, with_key};
use super::heavy_load::{CAMPAIGN_P99_MAX, campaign, check_memory, judge};
use super::light_calls::LightCalls;
use crate::harness::{Server, Shop, Start, Wire, wait_until};

/// Connections whose answers nobody reads: in a campaign nearly as many as one address may have.
const UNREAD: (usize, usize) = (2_000, 64);

/// Connections in all, while keys hold them.
const HELD: (usize, usize) = (2_048, 64);

/// Connections that are opened at once, fewer than wait in the system's queue.
const OPENED_AT_ONCE: usize = 250;

/// The time after which a connection without progress is ended, and what a slow machine takes longer.
const ENDED_WITHIN: Duration = Duration::from_secs(20 + 20);

/// Bytes of the system's memory for a connection whose answer nobody reads: the server's send buffer, and on this
/// machine what the client's end keeps.
const SYSTEM_BYTES: u64 = 512 << 10;

fn in_campaign((campaign_count, suite_count): (usize, usize)) -> usize {
    if campaign().is_some() { campaign_count } else { suite_count }
}

/// The server's connections.
fn open_connections(server: &Server) -> usize {
    let open = server.metric("till_connections_open{listener=\"public\"}").unwrap_or_default();
    open.to_string().parse().expect("a count")
}

/// Connections that make a request eight times, and read nothing. They are opened no faster than the server accepts
/// them: others would not get through the system's queue.
fn unread(server: &Server, request: &str) -> Vec<TcpStream> {
    let (wire, mut held) = (Wire::to(server), Vec::new());
    for _ in 0..in_campaign(UNREAD) {
        let mut stream = wire.connect();
        stream.write_all(request.repeat(8).as_bytes()).expect("the server reads");
        held.push(stream);
        if held.len().is_multiple_of(OPENED_AT_ONCE) {
            wait_until(ENDED_WITHIN, "they are not accepted", || open_connections(server) >= held.len());
        }
    }
    held
}

/// Bytes of the system's memory for TCP.
fn system_bytes() -> u64 {
    let told = read_to_string("/proc/net/sockstat").expect("the system tells");
    let pages = told.lines().find_map(|line| line.strip_prefix("TCP:")?.split(" mem ").nth(1)).expect("it is told");
    pages.trim().parse::<u64>().expect("a number") * 4_096
}

#[test]
fn answers_that_nobody_reads_delay_no_light_calls() {
    let server = Server::start();
    let shop = server.shop();
    let (key, read) = (key_of(&shop), LightCalls::balance(&shop));
    let beside = |path: &str, until: Instant| {
        let before = system_bytes();
        let (light, held) = thread::scope(|scope| {
            let light = scope.spawn(|| LightCalls::make(&server, &key, &read, until));
            let held = unread(&server, &format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"));
            (light.join().expect("each light call is answered"), held)
        });
        let taken = system_bytes().saturating_sub(before);
        println!("  {} connections, {} MiB of the system's memory", held.len(), taken >> 20);
        let most = u64::try_from(held.len()).expect("a count fits") * SYSTEM_BYTES;
        assert!(campaign().is_none() || taken <= most, "{taken} bytes are above {most}");
        (light, held)
    };
    let large = "/docs/swagger-ui-bundle.js";
    let control = |until| beside("/health/live", until).0;
    judge("answers that nobody reads", CAMPAIGN_P99_MAX, control, |until| beside(large, until).0);
    check_memory(&server, in_campaign(UNREAD), 0);
    if campaign().is_some() {
        let (_, _held) = beside(large, Instant::now());
        wait_until(ENDED_WITHIN, "they are held on", || open_connections(&server) <= 2);
    }
}

/// Holds this number of connections by a key each, and opens those again that were ended, until it is over.
fn hold(wire: &Wire, shops: &[Shop], count: usize, is_over: &AtomicBool) {
    let open = |number: usize| {
        let mut stream = wire.connect();
        let _ended = ask(&mut stream, &with_key(&shops[number % shops.len()], "/merchants/get-balance"));
        stream
    };
    let mut held: Vec<TcpStream> = (0..count).map(open).collect();
    while !is_over.load(Ordering::Relaxed) {
        for (number, stream) in held.iter_mut().enumerate().filter(|(_, stream)| is_ended(stream)) {
            *stream = open(number);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn connections_that_four_keys_hold_delay_no_light_calls() {
    let count = in_campaign(HELD);
    let start = Start::default().with("TILL_CONNECTIONS_MAX", &count.to_string());
    let server = start.with("TILL_CONNECTIONS_PER_ADDRESS_MAX", &count.to_string()).server();
    let (shop, shops) = (server.shop(), [(); 4].map(|()| server.shop()));
    let (key, read) = (key_of(&shop), LightCalls::balance(&shop));
    let light = |until| LightCalls::make(&server, &key, &read, until);
    let beside = |held: usize, until: Instant| {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| hold(&Wire::to(&server), &shops, held, &is_over));
            wait_until(ENDED_WITHIN, "they are not held", || open_connections(&server) >= held);
            let light = scope.spawn(|| light(until)).join();
            is_over.store(true, Ordering::Relaxed);
            light.expect("each light call is answered")
        })
    };
    // The control leaves room for everybody.
    let control = |until| beside(count - 16, until);
    judge("connections that four keys hold", CAMPAIGN_P99_MAX, control, |until| beside(count, until));
    let refused = server.metric("till_connections_refused_total{limit=\"in_all\"}");
    assert_eq!(refused, Some(0.0), "nobody is turned away");
    check_memory(&server, count, 0);
}
