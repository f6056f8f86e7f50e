//! How many connections there may be, on either listener.

use std::io::Write;
use std::net::TcpStream;

use crate::harness::{Server, Start, Wire, received};

/// Opens connections and makes one request on each, so that the server has surely taken it.
fn used_connections(wire: &Wire, path: &str, count: usize) -> Vec<TcpStream> {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let open = |_| {
        let mut stream = wire.connect();
        stream.write_all(request.as_bytes()).expect("the server reads");
        let mut peeked = [0];
        assert!(stream.peek(&mut peeked).is_ok_and(|count| count == 1), "it answers");
        stream
    };
    (0..count).map(open).collect()
}

/// Checks that behind `bound` connections another one is not served, until one of them is ended by its owner.
#[track_caller]
fn holds(wire: &Wire, path: &str, bound: usize) {
    let mut held = used_connections(wire, path, bound);
    let mut late = wire.connect();
    late.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes())
        .expect("the system reads");
    late.set_read_timeout(Some(std::time::Duration::from_millis(500))).expect("a time limit can be set");
    assert!(late.peek(&mut [0]).is_err(), "it is not served yet");
    drop(held.pop());
    late.set_read_timeout(Some(std::time::Duration::from_secs(20))).expect("a time limit can be set");
    assert_eq!(received(&mut late).status, 200);
}

fn one_thread() -> Start {
    Start::default().with("TILL_HTTP_THREADS", "1")
}

#[test]
fn behind_the_most_connections_another_one_waits_until_one_is_free() {
    let server = one_thread().with("TILL_CONNECTIONS_MAX", "8").server();
    holds(&Wire::new(server.public()), "/merchants", 8);
    let server = Server::start();
    holds(&Wire::new(server.admin_address()), "/health/live", 256);
}

#[test]
fn a_connection_that_is_idle_for_too_long_makes_room_for_another_on_either_listener() {
    let server = one_thread().with("TILL_CONNECTIONS_MAX", "8").with("TILL_IDLE_SECONDS_MAX", "1").server();
    for (wire, path, bound) in
        [(Wire::new(server.public()), "/merchants", 8), (Wire::new(server.admin_address()), "/health/live", 256)]
    {
        let _idle = used_connections(&wire, path, bound);
        let answer = wire.receive("GET", path, &[], b"");
        assert_eq!(answer.status, 200, "{path}");
    }
}
