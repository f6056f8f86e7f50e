//! Clients that take their time: they hold a connection for a while, and nothing else.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{Server, Shop, Start, Wire};

/// Slow clients of each kind.
const SLOW: usize = 150;

/// How long a server may take to end a connection: its own time limits and a slow machine's.
const PATIENCE: Duration = Duration::from_secs(60);

fn head(shop: &Shop, length: usize) -> String {
    format!(
        "POST /merchants/retrieve-metadata HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nAuthorization: Bearer {}\r\nContent-Length: {length}\r\n\r\n",
        shop.key
    )
}

/// Connections that have sent this.
fn opened(wire: &Wire, bytes: &[u8], count: usize) -> Vec<TcpStream> {
    let open = |_| {
        let mut stream = wire.connect();
        stream.write_all(bytes).expect("the server reads");
        stream
    };
    (0..count).map(open).collect()
}

/// Connections that the server has open, twice each.
fn open_sockets(server: &Server) -> usize {
    let files = std::fs::read_dir(format!("/proc/{}/fd", server.id())).expect("it runs, on Linux").flatten();
    let links = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    links.filter(|link| link.to_string_lossy().starts_with("socket:")).count()
}

/// Reads until the server ends the connection; gives how many bytes came.
#[track_caller]
fn bytes_until_ended(stream: &mut TcpStream) -> usize {
    let until = Instant::now() + PATIENCE;
    let mut buffer = vec![0; 1 << 20];
    let mut bytes = 0;
    loop {
        assert!(Instant::now() < until, "the connection is held on");
        match stream.read(&mut buffer) {
            Ok(0) => return bytes,
            Ok(count) => bytes += count,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => return bytes, // Reset.
        }
    }
}

#[track_caller]
fn is_served(shop: &Shop, number: usize) {
    let body = json!({ "key": "healthy", "value": number });
    assert_eq!(shop.call("add-to-metadata-set", &body).ok(), json!(true));
    shop.call("get-balance", &json!({})).ok();
}

fn start() -> Server {
    let start = Start::default().with("TILL_HTTP_THREADS", "2").with("TILL_IDLE_SECONDS_MAX", "2");
    start.with("TILL_CALLS_IN_FLIGHT_MAX", "4").with("TILL_CALLS_IN_FLIGHT_PER_MERCHANT_MAX", "4").server()
}

#[test]
fn slow_clients_of_every_kind_take_nothing_from_others_and_are_ended() {
    let server = start();
    let shop = server.shop();
    let wire = Wire::new(server.public());
    let sockets_before = open_sockets(&server);
    let large = json!({ "key": "large", "metadata": { "text": "x".repeat(1_000_000) } });
    shop.call("sync-metadata", &large).ok();
    let question = "{\"key\":\"large\"}";
    let asked = [head(&shop, question.len()).as_bytes(), question.as_bytes()].concat();
    let mut slow = vec![
        ("a head that does not end", opened(&wire, b"POST /merchants/get-balance HTTP/1.1\r\nHost:", SLOW)),
        (
            "a second head that does not end",
            opened(&wire, b"GET /merchants HTTP/1.1\r\nHost: a\r\n\r\nPOST /mer", SLOW),
        ),
        ("a connection without a request", opened(&wire, b"", SLOW)),
        ("a connection that is kept", opened(&wire, b"GET /merchants HTTP/1.1\r\nHost: a\r\n\r\n", SLOW)),
        ("answers that nobody reads", opened(&wire, &asked.repeat(30), 16)),
    ];
    let bodies = opened(&wire, format!("{}{{", head(&shop, 900_000)).as_bytes(), SLOW);
    for number in 0..20 {
        is_served(&shop, number);
    }
    drop(bodies);
    let until = Instant::now() + PATIENCE;
    while open_sockets(&server) > sockets_before + 8 {
        assert!(Instant::now() < until, "{} sockets are held on", open_sockets(&server));
        thread::sleep(Duration::from_millis(50));
    }
    for (kind, streams) in &mut slow {
        let counts: Vec<usize> = streams.iter_mut().map(bytes_until_ended).collect();
        let all = 30 * 1_000_000;
        assert!(counts.iter().all(|count| *count < all), "{kind}: {counts:?}");
    }
    is_served(&shop, 20);
}

#[test]
fn a_client_that_sends_a_little_now_and_then_is_served_and_holds_nobody_up() {
    let server = start();
    let shop = server.shop();
    shop.call("sync-metadata", &json!({ "key": "large", "metadata": {} })).ok();
    let body = format!("{{\"key\":\"large\"{}}}", " ".repeat(30));
    let mut stream = Wire::new(server.public()).connect();
    for (number, byte) in [head(&shop, body.len()).as_bytes(), body.as_bytes()].concat().chunks(16).enumerate() {
        stream.write_all(byte).expect("the server reads");
        thread::sleep(Duration::from_millis(50));
        is_served(&shop, number);
    }
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).expect("it is answered");
    assert_eq!(&answer, b"HTTP/1.1 200");
}
