//! Slow clients: they hold a connection for a while, and nothing else.

use std::io::{ErrorKind, Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use rustls::version::TLS13;
use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Pair, Server, Shop, Start, Wire, connect, first_answer};

/// Slow clients of each kind.
const SLOW: usize = 150;

/// The longest time until a server closes a connection: its own time limits, on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn head(shop: &Shop, length: usize) -> String {
    format!(
        "POST /merchants/retrieve-metadata HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nAuthorization: \
            Bearer {}\r\nContent-Length: {length}\r\n\r\n",
        shop.key
    )
}

/// A connection, with or without TLS.
trait ByteStream: Read + Write {}

impl<L: Read + Write> ByteStream for L {}

/// A server with the address and the transport of its public listener.
struct ListeningServer {
    server: Server,
    pair: Option<Pair>,
}

impl ListeningServer {
    fn without_tls(idle_seconds: &str) -> ListeningServer {
        ListeningServer { server: closing_idle_after(idle_seconds, Start::default()), pair: None }
    }

    fn with_tls(idle_seconds: &str) -> ListeningServer {
        let pair = Pair::new();
        ListeningServer { server: closing_idle_after(idle_seconds, pair.start()), pair: Some(pair) }
    }

    /// Opens a connection; with TLS its keys are agreed on.
    fn connect(&self) -> Box<dyn ByteStream> {
        let Some(pair) = &self.pair else { return Box::new(Wire::new(self.server.public()).connect()) };
        let mut line = connect(self.server.public(), &[pair.der()], &[&TLS13]);
        line.conn.complete_io(&mut line.sock).expect("the handshake succeeds");
        Box::new(line)
    }

    /// Connections that have sent these bytes.
    fn opened(&self, bytes: &[u8], count: usize) -> Vec<Box<dyn ByteStream>> {
        let open = |_| {
            let mut line = self.connect();
            line.write_all(bytes).expect("the server reads");
            line.flush().expect("the server reads");
            line
        };
        (0..count).map(open).collect()
    }
}

/// A server that closes idle connections after so many seconds.
fn closing_idle_after(seconds: &str, start: Start) -> Server {
    start.with("TILL_HTTP_THREADS", "2").with("TILL_IDLE_SECONDS_MAX", seconds).server()
}

/// The number of the server's connections.
fn connections(server: &Server) -> f64 {
    server.metric("till_connections_open{listener=\"public\"}").expect("it is told")
}

/// Reads until the server closes the connection; returns the number of bytes.
#[track_caller]
fn bytes_until_ended(stream: &mut Box<dyn ByteStream>) -> usize {
    let until = Instant::now() + PATIENCE;
    let mut buffer = vec![0; 1 << 20];
    let mut bytes = 0;
    loop {
        assert!(Instant::now() < until, "the connection is held on");
        match stream.read(&mut buffer) {
            Ok(0) => return bytes,
            Ok(count) => bytes += count,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => return bytes, // The connection was reset.
        }
    }
}

/// Calls on a new connection: the server may close an idle one at the same moment.
fn call(shop: &Shop, endpoint: &str, body: &Value) -> ApiAnswer {
    shop.client().header("Connection", "close").post(&format!("/merchants/{endpoint}"), body)
}

#[track_caller]
fn is_served(shop: &Shop, number: usize) {
    let body = json!({ "key": "healthy", "value": number });
    assert_eq!(call(shop, "add-to-metadata-set", &body).ok(), json!(true));
    call(shop, "get-balance", &json!({})).ok();
}

#[test]
fn slow_clients_take_nothing_from_others_and_are_closed() {
    slow_clients_are_ended(&ListeningServer::without_tls("2"));
}

#[test]
fn slow_tls_clients_take_nothing_from_others_and_are_closed() {
    slow_clients_are_ended(&ListeningServer::with_tls("2"));
}

fn slow_clients_are_ended(stand: &ListeningServer) {
    let server = &stand.server;
    let shop = server.shop();
    let large = json!({ "key": "large", "metadata": { "text": "x".repeat(1_000_000) } });
    call(&shop, "sync-metadata", &large).ok();
    let question = "{\"key\":\"large\"}";
    let asked = [head(&shop, question.len()).as_bytes(), question.as_bytes()].concat();
    let mut slow = vec![
        ("a head that does not end", stand.opened(b"POST /merchants/get-balance HTTP/1.1\r\nHost:", SLOW)),
        ("a second head that does not end", stand.opened(b"GET /merchants HTTP/1.1\r\nHost: a\r\n\r\nPOST /mer", SLOW)),
        ("a connection without a request", stand.opened(b"", SLOW)),
        ("a connection that is kept", stand.opened(b"GET /merchants HTTP/1.1\r\nHost: a\r\n\r\n", SLOW)),
        ("answers that nobody reads", stand.opened(&asked.repeat(30), 16)),
    ];
    let bodies = stand.opened(format!("{}{{", head(&shop, 900_000)).as_bytes(), SLOW);
    for number in 0..20 {
        is_served(&shop, number);
    }
    drop(bodies);
    first_answer(PATIENCE, "connections are held on", || connections(server), |held| *held <= 0.0);
    for (kind, streams) in &mut slow {
        let counts: Vec<usize> = streams.iter_mut().map(bytes_until_ended).collect();
        let all = 30 * 1_000_000;
        assert!(counts.iter().all(|count| *count < all), "{kind}: {counts:?}");
    }
    is_served(&shop, 20);
}

#[test]
fn a_client_that_sends_slowly_is_served_and_blocks_nobody() {
    sends_a_little_now_and_then(&ListeningServer::without_tls("60"));
}

#[test]
fn a_slow_client_with_tls_is_served_and_blocks_nobody() {
    sends_a_little_now_and_then(&ListeningServer::with_tls("60"));
}

fn sends_a_little_now_and_then(stand: &ListeningServer) {
    let shop = stand.server.shop();
    call(&shop, "sync-metadata", &json!({ "key": "large", "metadata": {} })).ok();
    let body = format!("{{\"key\":\"large\"{}}}", " ".repeat(30));
    let head = head(&shop, body.len());
    let mut stream = stand.connect();
    let mut send = |piece: &[u8]| {
        stream.write_all(piece).and_then(|()| stream.flush()).expect("the server reads");
        thread::sleep(Duration::from_millis(50));
    };
    // A head must arrive within ten seconds, in which no other call is made here; a body may take thirty.
    head.as_bytes().chunks(16).for_each(&mut send);
    for (number, piece) in body.as_bytes().chunks(12).enumerate() {
        send(piece);
        is_served(&shop, number);
    }
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).expect("it is answered");
    assert_eq!(&answer, b"HTTP/1.1 200");
}
