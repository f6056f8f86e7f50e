//! Few file descriptors: a server accepts fewer connections, says so, and goes on under any number of idle ones.

use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tempfile::TempDir;

use crate::harness::{Server, Start, Wire, directory};

/// Idle connections from each of some addresses, more in all than the server may open files.
const IDLE_OF_AN_ADDRESS: usize = 500;

/// Descriptors of the test itself.
const OWN_DESCRIPTORS: u64 = 4_096;

/// A server that may open this many files, which records its log, and the log.
fn server_with(descriptors: &str, directory: &TempDir) -> (Server, impl Fn() -> String + use<>) {
    let log = directory.path().join("log");
    let start = Start::default().behind(&format!("ulimit {descriptors}")).recording(&log);
    let server = start.with("TILL_CONNECTIONS_MAX", "3000").server();
    (server, move || read(&log))
}

fn read(log: &Path) -> String {
    std::fs::read_to_string(log).expect("it was recorded")
}

/// Lets this process hold the connections.
fn raise_own_limit() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let current = Some(maximum.map_or(OWN_DESCRIPTORS, |maximum| maximum.min(OWN_DESCRIPTORS)));
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).expect("a limit below the maximum");
}

/// Opens idle connections from an address, as far as the server takes them.
fn idle_from(server: &Server, last: u8) -> Vec<TcpStream> {
    let wire = Wire::to(server).from(last);
    (0..IDLE_OF_AN_ADDRESS).map(|_| wire.connect()).collect()
}

/// True when the server still has the connection open.
fn is_open(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).expect("an option can be set");
    stream.peek(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

#[test]
fn idle_connections_never_end_a_server_of_few_descriptors() {
    raise_own_limit();
    let directory = directory();
    for limit in [768, 1_024, 1_500] {
        let (mut server, log) = server_with(&format!("-n {limit}"), &directory);
        let shop = server.shop();
        let idle: Vec<TcpStream> = [2, 3, 4].into_iter().flat_map(|last| idle_from(&server, last)).collect();
        for number in 0..50 {
            let item = json!({ "key": "items", "value": number });
            assert_eq!(shop.call("add-to-metadata-set", &item).ok(), true, "{limit}");
        }
        let open = idle.iter().filter(|stream| is_open(stream)).count();
        println!("{limit}: {open} of {} idle connections are open", idle.len());
        assert!(open > 20, "{limit}: it keeps what it can");
        let lines = log().lines().filter(|line| line.contains("for want of file descriptors")).count();
        assert_eq!(lines, 1, "{}", log());
        assert!(server.stop(), "exit code 0: {}", log());
        std::fs::remove_file(directory.path().join("log")).expect("it was recorded");
    }
}

#[test]
fn webhooks_of_silent_endpoints_never_end_a_server_of_few_descriptors() {
    raise_own_limit();
    let directory = directory();
    let start = Start::default().behind("ulimit -n 1024").recording(&directory.path().join("log"));
    let (mut server, shop) = start.with("TILL_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8").server_with_shop();
    server.admin("add-topup", &json!({ "merchant_id": shop.merchant_id, "amount": 1_000 })).ok();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("http://{}/", silent.local_addr().expect("it is bound"));
    let connect = json!({ "name": "a", "destination_url": url, "events": ["*"] });
    for _ in 0..8 {
        let webhooks: Vec<_> =
            (0..50).map(|_| shop.call("connect-webhook", &connect).ok()["webhook_id"].clone()).collect();
        (0..8).for_each(|_| _ = shop.call("send-payout", &json!({ "amount": 1 })).ok());
        for webhook in webhooks {
            assert_eq!(shop.call("disconnect-webhook", &json!({ "webhook_id": webhook })).ok(), true);
        }
    }
    assert!(server.metric("process_open_fds").is_some_and(|open| open < 700.0), "sockets of webhooks have a share");
    assert!(server.stop(), "exit code 0: {}", read(&directory.path().join("log")));
}

#[test]
fn the_soft_limit_of_descriptors_is_raised_at_the_start() {
    let directory = directory();
    let (server, log) = server_with("-Sn 300; ulimit -Hn 8192", &directory);
    assert_eq!(server.metric("process_max_fds"), Some(8_192.0));
    assert!(!log().contains("file descriptors"), "{}", log());
}

#[test]
fn a_start_with_too_few_descriptors_is_refused_by_name() {
    let start = Start::default().behind("ulimit -n 500");
    let directory = directory();
    let refused = start.try_server_on(&directory.path().join("data"), None).map(|_| ());
    let reason = refused.expect_err("it cannot serve");
    assert!(reason.contains("500 files") && reason.contains("ulimit -n"), "{reason}");
    assert!(!directory.path().join("data").exists(), "a refused start changes nothing");
}
