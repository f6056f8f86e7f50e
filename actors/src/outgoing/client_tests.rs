//! Calls to small servers on this machine.

use std::net::Ipv4Addr;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use tokio::net::TcpListener;

use super::super::failure::INTERIM_HEADS_MAX;
use super::super::http_connection::READ_BUFFER_BYTES_MAX;
use super::super::test_server::{BODY, Behaviour, TestServer, answers, unresponsive_listener};
use super::*;

/// Long enough for any call to a server that answers, even on a busy machine.
const AMPLE: Duration = Duration::from_secs(10);
/// For calls that must run out of time, and for what a server does in the meantime.
const SHORT: Duration = Duration::from_millis(300);

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const POST: HttpCall<'static> = HttpCall { path: "/", headers: &[], body: Some(BODY) };

fn client_of(server: &TestServer) -> HttpClient {
    client_at(&server.url("http", "127.0.0.1", "/"))
}

fn client_at(base: &Url) -> HttpClient {
    HttpClient::trusting(RootCertStore::empty(), base.as_str()).expect("it is a server")
}

/// A client of a server under the name `shop.example`, which trusts this certificate.
fn tls_client_of(server: &TestServer, trusted: CertificateDer<'static>) -> HttpClient {
    let mut roots = RootCertStore::empty();
    roots.add(trusted).expect("it is a certificate");
    let base = server.url("https", "shop.example", "/");
    let client = HttpClient::trusting(roots, base.as_str()).expect("it is a server");
    HttpClient { lookups: Lookups::with_resolver(|_| Ok(vec![Ipv4Addr::LOCALHOST.into()])), ..client }
}

/// Answers on one connection, in turn, after which it is closed; no answer for an empty text.
fn in_turn(texts: &[&str]) -> Behaviour {
    Behaviour::Answers(texts.iter().map(|text| (*text).to_owned()).collect())
}

async fn status_of(client: &HttpClient) -> u16 {
    match client.call(POST, AMPLE).await {
        Ok(answer) => answer.status,
        Err(error) => panic!("there was no answer: {error:?}"),
    }
}

/// A failure, and what it says of the call.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CallError {
    NotSent(RequestFailure),
    Unknown(RequestFailure),
}

fn told(failure: RequestFailure) -> CallError {
    if failure.is_unsent() { CallError::NotSent(failure) } else { CallError::Unknown(failure) }
}

async fn error_of(client: &HttpClient, time_limit: Duration) -> CallError {
    match client.call(POST, time_limit).await {
        Ok(answer) => panic!("there was an answer: {} {:?}", answer.status, answer.body),
        Err(failure) => told(failure),
    }
}

#[tokio::test]
async fn a_call_is_one_request_with_its_headers_and_body() {
    let server = TestServer::start(answers("402 Payment Required", "Request-Id: req_1\r\n", "declined")).await;
    let headers = [("authorization", "Bearer secret"), ("content-type", "application/x-www-form-urlencoded")];
    let call = HttpCall { path: "/v1/refunds?a%20b=1&c", headers: &headers, ..POST };
    let answer = client_of(&server).call(call, AMPLE).await.unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!((answer.status, answer.body.as_ref()), (402, b"declined".as_slice()));
    assert_eq!([answer.header("request-id"), answer.header("retry-after")], [Some("req_1"), None]);
    let host = format!("host: {}", server.address);
    let agent = format!("user-agent: Till/{}", env!("CARGO_PKG_VERSION"));
    let expected = [
        "POST /v1/refunds?a%20b=1&c HTTP/1.1",
        "content-length: 16",
        &host,
        &agent,
        "authorization: Bearer secret",
        "content-type: application/x-www-form-urlencoded",
        "",
        r#"{"event":"test"}"#,
    ];
    assert_eq!(server.only_request().split("\r\n").collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_question_has_no_body_and_an_empty_change_says_so() {
    let server = TestServer::start(in_turn(&[OK, OK])).await;
    let client = client_of(&server);
    for body in [None, Some([].as_slice())] {
        let call = HttpCall { body, ..POST };
        assert!(client.call(call, AMPLE).await.is_ok_and(|answer| answer.body == "ok"));
    }
    let requests = server.requests.lock().expect("no test panics while it holds them");
    assert!(requests[0].starts_with("GET / HTTP/1.1\r\n") && !requests[0].contains("content-length"), "{requests:?}");
    assert!(requests[1].contains("\r\ncontent-length: 0\r\n"), "{requests:?}");
}

#[tokio::test]
async fn calls_one_after_the_other_share_a_connection() {
    let server = TestServer::start(in_turn(&[OK, OK, OK])).await;
    let client = client_of(&server);
    for _ in 0..3 {
        assert_eq!(status_of(&client).await, 200);
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn calls_at_the_same_time_have_connections_of_their_own() {
    let server = TestServer::start(in_turn(&[OK, OK])).await;
    let client = Arc::new(client_of(&server));
    for _ in 0..2 {
        let calls = [(); 2].map(|()| {
            let client = Arc::clone(&client);
            tokio::spawn(async move { status_of(&client).await })
        });
        for call in calls {
            assert_eq!(call.await.expect("the call ends"), 200);
        }
    }
    assert_eq!(server.connections(), 2, "both were kept");
}

#[tokio::test]
async fn no_more_connections_are_kept_than_the_limit() {
    let server = TestServer::start(in_turn(&[OK, OK])).await;
    let client = client_of(&server);
    for _ in 0..=KEPT_MAX {
        let connection = client.connect(Instant::now() + AMPLE).await.expect("the server accepts");
        client.keep(connection);
    }
    assert_eq!(client.kept.lock().len(), KEPT_MAX);
}

#[tokio::test]
async fn a_connection_without_a_request_for_some_seconds_is_not_used_again() {
    let server = TestServer::start(in_turn(&[OK, OK, OK])).await;
    let client = client_of(&server);
    let age = |by| client.kept.lock()[0].1 -= by;
    assert_eq!(status_of(&client).await, 200);
    age(KEPT_TIME_MAX / 2);
    assert_eq!((status_of(&client).await, server.connections()), (200, 1));
    age(KEPT_TIME_MAX);
    assert_eq!((status_of(&client).await, server.connections()), (200, 2));
    assert_eq!(client.kept.lock().len(), 1, "the old one was dropped");
}

#[tokio::test]
async fn a_connection_that_the_server_has_closed_is_replaced() {
    let server = TestServer::start(in_turn(&[OK])).await;
    let client = client_of(&server);
    for connections in 1..=3 {
        assert_eq!((status_of(&client).await, server.connections()), (200, connections));
        tokio::time::sleep(SHORT).await;
    }
}

#[tokio::test]
async fn a_connection_that_closes_before_a_byte_was_written_is_replaced() {
    let server = TestServer::start(in_turn(&[OK, OK])).await;
    let client = client_of(&server);
    assert_eq!(status_of(&client).await, 200);
    // The other side of this connection goes when it was seen to be open, and nobody notices before the next call.
    let (own_side, other_side) = tokio::io::duplex(1_024);
    let mut connection = HttpConnection::of_stream(own_side).await.expect("HTTP begins without the other side");
    assert!(connection.is_open().await);
    client.keep(connection);
    drop(other_side);
    assert_eq!((status_of(&client).await, server.connections()), (200, 2), "a new one, not another that was kept");
}

#[tokio::test]
async fn a_call_on_a_kept_connection_that_closes_without_an_answer_is_not_made_again() {
    let server = TestServer::start(in_turn(&[OK, ""])).await;
    let client = client_of(&server);
    assert_eq!(status_of(&client).await, 200);
    let error = error_of(&client, AMPLE).await;
    assert!(matches!(error, CallError::Unknown(RequestFailure::NoAnswer(_))), "{error:?}");
    let requests = server.requests.lock().expect("no test panics while it holds them").len();
    assert_eq!((requests, server.connections()), (2, 1));
}

#[tokio::test]
async fn a_call_to_a_dead_port_was_not_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let base = format!("http://{}", listener.local_addr().expect("it is bound")).parse().expect("it is a URL");
    drop(listener);
    let refused = RequestFailure::NotConnected(io::ErrorKind::ConnectionRefused);
    assert_eq!(error_of(&client_at(&base), AMPLE).await, CallError::NotSent(refused));
}

#[tokio::test]
async fn a_call_that_does_not_connect_in_time_was_not_sent() {
    let late = CallError::NotSent(RequestFailure::NotConnected(io::ErrorKind::TimedOut));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    drop(listener);
    let _unresponsive = unresponsive_listener(address).await;
    let client = client_at(&format!("http://{address}").parse().expect("it is a URL"));
    assert_eq!(error_of(&client, SHORT).await, late);
    let silent_at_tls = TestServer::start(Behaviour::Stalls(String::new())).await;
    let client = client_at(&silent_at_tls.url("https", "127.0.0.1", "/"));
    let started = Instant::now();
    assert_eq!(error_of(&client, 4 * CONNECTING_MAX).await, late);
    assert!(started.elapsed() < 2 * CONNECTING_MAX, "connecting has a limit of its own");
}

#[tokio::test]
async fn a_call_to_a_name_without_an_address_was_not_sent() {
    let not_found = || Err(io::Error::from(io::ErrorKind::NotFound));
    let answers: [fn() -> io::Result<Vec<IpAddr>>; 2] = [not_found, || Ok(Vec::new())];
    for answer in answers {
        let client = client_at(&"https://shop.example".parse().expect("it is a URL"));
        let client = HttpClient { lookups: Lookups::with_resolver(move |_| answer()), ..client };
        assert_eq!(error_of(&client, AMPLE).await, CallError::NotSent(RequestFailure::NameNotFound));
    }
}

#[tokio::test]
async fn a_call_with_tls_goes_to_a_trusted_certificate_of_the_host() {
    let (server, certificate) = TestServer::start_with_tls(in_turn(&[OK, OK]), "shop.example").await;
    let client = tls_client_of(&server, certificate);
    assert_eq!([status_of(&client).await, status_of(&client).await], [200, 200]);
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_call_to_a_refused_certificate_was_not_sent() {
    let (_, of_another_key) = TestServer::start_with_tls(in_turn(&[OK]), "shop.example").await;
    for name in ["other.example", "shop.example"] {
        let (server, certificate) = TestServer::start_with_tls(in_turn(&[OK]), name).await;
        let trusted = if name == "shop.example" { of_another_key.clone() } else { certificate };
        let error = error_of(&tls_client_of(&server, trusted), AMPLE).await;
        let is_refused = |text: &str| text.contains("certificate");
        assert!(matches!(&error, CallError::NotSent(RequestFailure::Tls(text)) if is_refused(text)), "{error:?}");
        assert!(server.requests.lock().expect("no test panics while it holds them").is_empty());
    }
}

#[tokio::test]
async fn a_server_that_falls_silent_leaves_the_outcome_unknown() {
    for sent in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 100 Continue\r\n\r\n", &OK[..OK.len() - 1]] {
        let server = TestServer::start(Behaviour::Stalls(sent.to_owned())).await;
        let client = client_of(&server);
        assert_eq!(error_of(&client, SHORT).await, CallError::Unknown(RequestFailure::TimedOut), "{sent:?}");
        assert!(client.kept.lock().is_empty(), "an answer that comes later belongs to no other call");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_leaves_the_outcome_unknown() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n";
    for sent in ["", "SSH-2.0-OpenSSH_9.6\r\n", "HTTP/1.1 200 OK\r\n", &OK[..OK.len() - 1], chunked] {
        let server = TestServer::start(in_turn(&[sent])).await;
        let error = error_of(&client_of(&server), AMPLE).await;
        assert!(matches!(error, CallError::Unknown(RequestFailure::NoAnswer(_))), "{sent:?}: {error:?}");
    }
}

#[tokio::test]
async fn an_answer_has_at_most_1_mib() {
    let of_length = async |bytes: usize| {
        let server = TestServer::start(answers("200 OK", "", &"x".repeat(bytes))).await;
        client_of(&server).call(POST, AMPLE).await.map(|answer| answer.body.len()).map_err(told)
    };
    let too_long = Err(CallError::Unknown(RequestFailure::BodyTooLong));
    assert_eq!(of_length(BODY_BYTES_MAX).await, Ok(BODY_BYTES_MAX));
    assert_eq!([of_length(BODY_BYTES_MAX + 1).await, of_length(2 << 20).await], [too_long.clone(), too_long.clone()]);
    let endless = "HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n";
    let server = TestServer::start(Behaviour::NeverEnds(endless.to_owned())).await;
    assert_eq!(Err(error_of(&client_of(&server), AMPLE).await), too_long);
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let target = TestServer::start(in_turn(&[OK])).await;
    let location = target.url("http", "127.0.0.1", "/").to_string();
    for status in ["301 Moved Permanently", "303 See Other", "307 Temporary Redirect"] {
        let server = TestServer::start(answers(status, &format!("Location: {location}\r\n"), "")).await;
        let answer = client_of(&server).call(POST, AMPLE).await.unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!((&answer.status.to_string()[..], answer.header("location")), (&status[..3], Some(&location[..])));
    }
    assert_eq!(target.connections(), 0);
}

#[tokio::test]
async fn a_few_interim_heads_come_before_the_answer() {
    let answer = format!("{}{OK}", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(INTERIM_HEADS_MAX));
    let server = TestServer::start(in_turn(&[&answer, &answer])).await;
    let client = client_of(&server);
    assert_eq!([status_of(&client).await, status_of(&client).await], [200, 200]);
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn an_endless_row_of_interim_heads_ends_the_call_at_once() {
    let server = TestServer::start(Behaviour::Repeats("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")).await;
    let started = Instant::now();
    let error = error_of(&client_of(&server), AMPLE).await;
    assert_eq!(error, CallError::Unknown(RequestFailure::TooManyInterimHeads));
    assert!(started.elapsed() < AMPLE, "it does not read until the time is over");
}

#[tokio::test]
async fn a_head_that_is_larger_than_the_read_buffer_is_no_answer() {
    let of_padding = async |bytes: usize| {
        let padding = format!("X-Padding: {}\r\n", "x".repeat(bytes));
        let server = TestServer::start(answers("200 OK", &padding, "")).await;
        client_of(&server).call(POST, AMPLE).await.map(|answer| answer.status).map_err(told)
    };
    assert_eq!(of_padding(READ_BUFFER_BYTES_MAX / 2).await, Ok(200));
    let error = of_padding(READ_BUFFER_BYTES_MAX).await;
    assert!(matches!(error, Err(CallError::Unknown(RequestFailure::NoAnswer(_)))), "{error:?}");
    let server = TestServer::start(Behaviour::NeverEnds("HTTP/1.1 200 OK\r\nX-Padding: ".to_owned())).await;
    let error = error_of(&client_of(&server), AMPLE).await;
    assert!(matches!(error, CallError::Unknown(RequestFailure::NoAnswer(_))), "{error:?}");
}

#[tokio::test]
async fn a_call_that_cannot_be_sent_calls_nobody() {
    let server = TestServer::start(in_turn(&[OK])).await;
    let client = client_of(&server);
    let header = |headers| HttpCall { headers, ..POST };
    let path = |path| HttpCall { path, ..POST };
    let calls = [header(&[("bad name", "value")]), header(&[("name", "line\r\nbreak: 1")])];
    for call in calls.into_iter().chain(["", "v1/charges", "http://127.0.0.1/", "/a b"].map(path)) {
        let error = client.call(call, AMPLE).await.err().map(told);
        assert_eq!(error, Some(CallError::NotSent(RequestFailure::Unsendable)), "{}", call.path);
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_base_url_is_a_server_with_tls_or_at_a_loopback_address() {
    let judged = |base| HttpClient::trusting(RootCertStore::empty(), base).err();
    for base in ["https://api.example", "https://api.example:8443/", "http://127.0.0.1:8420", "http://[::1]"] {
        assert_eq!(judged(base), None, "{base}");
    }
    for base in ["http://api.example", "http://10.0.0.1", "http://[::2]", "http://localhost"] {
        assert_eq!(judged(base), Some(RefusedBaseUrl::NotHttps), "{base}");
    }
    let more = ["https://api.example/v1", "https://api.example?a", "https://api.example#a", "https://a:b@api.example"];
    for base in ["", "api.example", "ftp://api.example"].into_iter().chain(more) {
        assert_eq!(judged(base), Some(RefusedBaseUrl::NotAServer), "{base}");
    }
}
