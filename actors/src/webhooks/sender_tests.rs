//! Attempts against small servers on this machine.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;
use std::time::SystemTime;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use tokio::net::TcpListener;

use super::super::address_policy::RefusedAddress;
use super::super::answer::EXCERPT_BYTES_MAX;
use super::super::names::Resolving;
use super::*;
use crate::outgoing::test_server::{BODY, Behaviour, TestServer, answers, unresponsive_listener};

const MERCHANT: MerchantId = MerchantId::from_bytes([1; 16]);

/// Long enough for any attempt against a server that answers, even on a busy machine.
const AMPLE: Duration = Duration::from_secs(10);
/// For attempts that must run out of time.
const SHORT: Duration = Duration::from_millis(300);

/// Resolves names to one list after the other; the last one stays.
struct ScriptedNames(Mutex<Vec<Vec<IpAddr>>>);

impl ScriptedNames {
    fn answering(script: &[&[&str]]) -> Arc<ScriptedNames> {
        let address = |text: &&str| text.parse().expect("it is an address");
        let script = script.iter().rev().map(|addresses| addresses.iter().map(address).collect());
        Arc::new(ScriptedNames(Mutex::new(script.collect())))
    }
}

impl ResolveNames for ScriptedNames {
    fn addresses_of<'n>(&'n self, _: MerchantId, _: &'n str) -> Resolving<'n> {
        let mut script = self.0.lock().expect("no test panics while it holds them");
        let addresses = if script.len() > 1 { script.pop() } else { script.last().cloned() };
        Box::pin(async move { addresses.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound)) })
    }
}

fn allowing(networks: &str) -> AddressPolicy {
    AddressPolicy::allowing(networks.parse().expect("they are networks"))
}

/// A sender that may call this machine.
fn sender() -> Sender {
    sender_with(allowing("127.0.0.0/8"), &[&["127.0.0.1"]])
}

fn sender_with(policy: AddressPolicy, script: &[&[&str]]) -> Sender {
    let (tls, attempts) = (tls_trusting(RootCertStore::empty()), Arc::new(Semaphore::new(ATTEMPTS_MAX)));
    Sender { policy, names: ScriptedNames::answering(script), tls, time_limit: AMPLE, attempts, sockets: SOCKETS_MAX }
}

fn trusting(certificate: CertificateDer<'static>) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).expect("it is a certificate");
    tls_trusting(roots)
}

async fn result_of(sender: &Sender, url: &Url) -> AttemptResult {
    sender.post(Post { merchant_id: MERCHANT, url, headers: &[], body: BODY }).await.result
}

async fn answer_of(sender: &Sender, url: &Url) -> EndpointAnswer {
    match result_of(sender, url).await {
        AttemptResult::Answered(answer) => answer,
        AttemptResult::Failed(reason) => panic!("there was no answer: {reason}"),
    }
}

async fn failure_of(sender: &Sender, url: &Url) -> FailureReason {
    match result_of(sender, url).await {
        AttemptResult::Answered(answer) => panic!("there was an answer: {answer:?}"),
        AttemptResult::Failed(reason) => reason,
    }
}

#[tokio::test]
async fn a_delivery_is_one_post_with_its_headers_and_body() {
    let endpoint = TestServer::start(answers("204 No Content", "", "")).await;
    let url = endpoint.url("http", "shop.example", "/hooks/a%20b?shop=1&c=d");
    let headers = [("webhook-id", "evt_1"), ("Shop-Signature", "hmac_sha256=00")];
    let attempt = sender().post(Post { merchant_id: MERCHANT, url: &url, headers: &headers, body: BODY }).await;
    assert_eq!(
        attempt.result,
        AttemptResult::Answered(EndpointAnswer { status: 204, excerpt: String::new(), retry_after: None })
    );
    assert!(attempt.latency > Duration::ZERO && attempt.latency < AMPLE);
    let host = format!("host: shop.example:{}", endpoint.address.port());
    let agent = format!("user-agent: Till-Webhooks/{}", env!("CARGO_PKG_VERSION"));
    let expected = [
        "POST /hooks/a%20b?shop=1&c=d HTTP/1.1",
        &host,
        &agent,
        "content-type: application/json",
        "connection: close",
        "webhook-id: evt_1",
        "shop-signature: hmac_sha256=00",
        "content-length: 16",
        "",
        r#"{"event":"test"}"#,
    ];
    assert_eq!(endpoint.only_request().split("\r\n").collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn an_answer_has_an_excerpt_without_control_characters() {
    let endpoint = TestServer::start(answers("500 Internal Server Error", "", "out of\r\n\u{1b}[31mmemory")).await;
    let answer = answer_of(&sender(), &endpoint.url("http", "127.0.0.1", "/")).await;
    assert_eq!((answer.status, answer.excerpt.as_str()), (500, "out of   [31mmemory"));
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let target = TestServer::start(answers("200 OK", "", "")).await;
    let location = format!("Location: {}\r\n", target.url("http", "127.0.0.1", "/"));
    for status in
        ["301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"]
    {
        let endpoint = TestServer::start(answers(status, &location, "")).await;
        let answer = answer_of(&sender(), &endpoint.url("http", "127.0.0.1", "/")).await;
        assert_eq!(answer.status.to_string(), status[..3]);
    }
    assert_eq!(target.connections(), 0);
}

#[tokio::test]
async fn an_endpoint_that_does_not_answer_in_time_has_failed() {
    let sender = Sender { time_limit: SHORT, ..sender() };
    for sent in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 100 Continue\r\n\r\n"] {
        let endpoint = TestServer::start(Behaviour::Stalls(sent.to_owned())).await;
        let url = endpoint.url("http", "127.0.0.1", "/");
        let attempt = sender.post(Post { merchant_id: MERCHANT, url: &url, headers: &[], body: BODY }).await;
        assert_eq!(attempt.result, AttemptResult::Failed(RequestFailure::TimedOut.into()), "{sent:?}");
        assert!(attempt.latency >= SHORT && attempt.latency < AMPLE, "{:?}", attempt.latency);
    }
}

#[tokio::test]
async fn an_answer_whose_body_stalls_counts_with_its_beginning() {
    let sent = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nthank you";
    let endpoint = TestServer::start(Behaviour::Stalls(sent.to_owned())).await;
    let sender = Sender { time_limit: Duration::from_secs(2), ..sender() };
    let answer = answer_of(&sender, &endpoint.url("http", "127.0.0.1", "/")).await;
    assert_eq!((answer.status, answer.excerpt.as_str()), (200, "thank you"));
}

#[tokio::test]
async fn of_an_endless_body_only_the_excerpt_is_read() {
    let sent = "HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n";
    let endpoint = TestServer::start(Behaviour::NeverEnds(sent.to_owned())).await;
    let started = Instant::now();
    let answer = answer_of(&sender(), &endpoint.url("http", "127.0.0.1", "/")).await;
    assert_eq!(answer.excerpt, "x".repeat(EXCERPT_BYTES_MAX));
    assert!(started.elapsed() < AMPLE, "it does not read until the time is over");
}

#[tokio::test]
async fn no_more_attempts_are_made_at_once_than_there_are_permits() {
    let endpoint = TestServer::start(answers("200 OK", "", "")).await;
    let sender = Sender { attempts: Arc::new(Semaphore::new(1)), time_limit: SHORT, ..sender() };
    let url = endpoint.url("http", "127.0.0.1", "/");
    let permit = sender.attempts.acquire().await.expect("it is never closed");
    assert_eq!(failure_of(&sender, &url).await, RequestFailure::TimedOut.into());
    assert_eq!(endpoint.connections(), 0);
    drop(permit);
    let sender = Sender { time_limit: AMPLE, ..sender.clone() };
    for _ in 0..2 {
        assert_eq!(answer_of(&sender, &url).await.status, 200);
    }
}

#[tokio::test]
async fn a_name_is_called_at_privileged_ports_of_allowed_networks_only() {
    let sender = sender_with(allowing("127.0.0.2/32"), &[&["8.8.8.8"], &["127.0.0.2"]]);
    let url: Url = "https://shop.example:1/".parse().expect("it is a URL");
    assert_eq!(failure_of(&sender, &url).await, FailureReason::RefusedPort);
    let refused = RequestFailure::NotConnected(io::ErrorKind::ConnectionRefused).into();
    assert_eq!(failure_of(&sender, &url).await, refused, "it was called");
}

#[tokio::test]
async fn bytes_that_are_not_http_are_no_answer() {
    for sent in ["", "SSH-2.0-OpenSSH_9.6\r\n", "HTTP/1.1 200 OK\r\n"] {
        let endpoint = TestServer::start(Behaviour::Answers(vec![sent.to_owned()])).await;
        let failure = failure_of(&sender(), &endpoint.url("http", "127.0.0.1", "/")).await;
        assert!(matches!(failure, FailureReason::Request(RequestFailure::NoAnswer(_))), "{sent:?}: {failure:?}");
    }
}

#[tokio::test]
async fn retry_after_is_read_in_both_forms() {
    let in_an_hour = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3_600));
    let asked = async |value: &str| {
        let headers = format!("Retry-After: {value}\r\n");
        let endpoint = TestServer::start(answers("503 Service Unavailable", &headers, "")).await;
        answer_of(&sender(), &endpoint.url("http", "127.0.0.1", "/")).await.retry_after
    };
    assert_eq!(asked("120").await, Some(Duration::from_secs(120)));
    assert_eq!(asked("later").await, None);
    let by_date = asked(&in_an_hour).await.expect("a date is read");
    assert!(by_date > Duration::from_secs(3_500) && by_date <= Duration::from_secs(3_600), "{by_date:?}");
}

#[tokio::test]
async fn a_refused_literal_address_is_not_called() {
    let endpoint = TestServer::start(answers("200 OK", "", "")).await;
    let sender = sender_with(allowing("10.0.0.0/8"), &[]);
    for scheme in ["http", "https"] {
        for host in ["127.0.0.1", "[::ffff:127.0.0.1]", "2130706433"] {
            let failure = failure_of(&sender, &endpoint.url(scheme, host, "/")).await;
            assert_eq!(failure, FailureReason::Refused(RefusedAddress::Loopback), "{scheme} {host}");
        }
    }
    assert_eq!(endpoint.connections(), 0);
}

#[tokio::test]
async fn a_name_is_judged_by_its_addresses_at_every_attempt() {
    let endpoint = TestServer::start(answers("200 OK", "", "")).await;
    let url = endpoint.url("http", "shop.example", "/");
    let sender =
        sender_with(allowing("127.0.0.1/32"), &[&["127.0.0.1"], &["127.0.0.2"], &["10.0.0.1"], &["127.0.0.1"]]);
    assert_eq!(answer_of(&sender, &url).await.status, 200);
    assert_eq!(failure_of(&sender, &url).await, FailureReason::Refused(RefusedAddress::Loopback));
    assert_eq!(failure_of(&sender, &url).await, FailureReason::Refused(RefusedAddress::Private));
    assert_eq!(answer_of(&sender, &url).await.status, 200);
    assert_eq!(endpoint.connections(), 2);
}

#[tokio::test]
async fn only_permitted_addresses_of_a_name_are_called() {
    let endpoint = TestServer::start(answers("200 OK", "", "")).await;
    let url = endpoint.url("http", "shop.example", "/");
    let mixed = sender_with(allowing("127.0.0.0/8"), &[&["10.0.0.1", "fd00::1", "127.0.0.1"]]);
    assert_eq!(answer_of(&mixed, &url).await.status, 200);
    let unreachable_first = sender_with(allowing("127.0.0.0/8"), &[&["127.0.0.9", "127.0.0.1"]]);
    assert_eq!(answer_of(&unreachable_first, &url).await.status, 200);
    let refused = sender_with(allowing("10.0.0.0/8"), &[&["127.0.0.1", "::1"]]);
    assert_eq!(failure_of(&refused, &url).await, FailureReason::Refused(RefusedAddress::Loopback));
    assert_eq!(endpoint.connections(), 2);
}

#[tokio::test]
async fn an_address_that_does_not_accept_leaves_time_for_the_next_one() {
    let endpoint = TestServer::start(answers("200 OK", "", "")).await;
    let unresponsive = SocketAddr::new(IpAddr::from([127, 0, 0, 8]), endpoint.address.port());
    let _listener = unresponsive_listener(unresponsive).await;
    let names: &[&[&str]] = &[&["127.0.0.8", "127.0.0.1"], &["127.0.0.8"]];
    let sender = Sender { time_limit: Duration::from_secs(2), ..sender_with(allowing("127.0.0.0/8"), names) };
    let url = endpoint.url("http", "shop.example", "/");
    assert_eq!(answer_of(&sender, &url).await.status, 200);
    assert_eq!(failure_of(&sender, &url).await, RequestFailure::NotConnected(io::ErrorKind::TimedOut).into());
}

#[tokio::test]
async fn a_name_by_https_that_leads_to_this_machine_is_refused() {
    let (endpoint, certificate) = TestServer::start_with_tls(answers("200 OK", "", ""), "shop.example").await;
    let sender = Sender { tls: trusting(certificate), ..sender_with(AddressPolicy::default(), &[&["127.0.0.1"]]) };
    let failure = failure_of(&sender, &endpoint.url("https", "shop.example", "/")).await;
    assert_eq!(failure, FailureReason::Refused(RefusedAddress::Loopback));
    assert_eq!(endpoint.connections(), 0);
}

#[tokio::test]
async fn http_to_a_name_outside_of_the_allowed_networks_is_refused() {
    let sender = sender_with(allowing("127.0.0.0/8"), &[&["8.8.8.8"]]);
    let url: Url = "http://shop.example/".parse().expect("it is a URL");
    assert_eq!(failure_of(&sender, &url).await, FailureReason::Refused(RefusedAddress::NotForHttp));
}

#[tokio::test]
async fn a_name_without_an_address_has_failed() {
    let url: Url = "https://shop.example/".parse().expect("it is a URL");
    let unknown = sender_with(AddressPolicy::default(), &[]);
    assert_eq!(failure_of(&unknown, &url).await, RequestFailure::NameNotFound.into());
    let empty = sender_with(AddressPolicy::default(), &[&[]]);
    assert_eq!(failure_of(&empty, &url).await, RequestFailure::NameNotFound.into());
}

#[tokio::test]
async fn the_systems_names_include_localhost() {
    let endpoint = TestServer::start(answers("200 OK", "", "")).await;
    let url = endpoint.url("http", "localhost", "/");
    assert_eq!(answer_of(&Sender::new(allowing("127.0.0.0/8")), &url).await.status, 200);
    let failure = failure_of(&Sender::new(AddressPolicy::default()), &url).await;
    assert_eq!(failure, FailureReason::Refused(RefusedAddress::Loopback));
}

#[tokio::test]
async fn a_closed_port_is_no_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let url: Url = format!("http://{}/", listener.local_addr().expect("it is bound")).parse().expect("it is a URL");
    drop(listener);
    assert_eq!(
        failure_of(&sender(), &url).await,
        RequestFailure::NotConnected(io::ErrorKind::ConnectionRefused).into()
    );
}

#[tokio::test]
async fn https_is_delivered_to_a_trusted_certificate_of_the_host() {
    let (endpoint, certificate) = TestServer::start_with_tls(answers("200 OK", "", "thanks"), "shop.example").await;
    let sender = Sender { tls: trusting(certificate), ..sender() };
    for host in ["shop.example", "shop.example."] {
        let answer = answer_of(&sender, &endpoint.url("https", host, "/")).await;
        assert_eq!((answer.status, answer.excerpt.as_str()), (200, "thanks"), "{host}");
    }
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_gets_no_delivery() {
    let (endpoint, _) = TestServer::start_with_tls(answers("200 OK", "", ""), "shop.example").await;
    let (_, other) = TestServer::start_with_tls(answers("200 OK", "", ""), "shop.example").await;
    let sender = Sender { tls: trusting(other), ..sender() };
    let failure = failure_of(&sender, &endpoint.url("https", "shop.example", "/")).await;
    assert!(
        matches!(&failure, FailureReason::Request(RequestFailure::Tls(text)) if text.contains("certificate")),
        "{failure:?}"
    );
    assert!(endpoint.requests.lock().expect("no test panics while it holds them").is_empty());
}

#[tokio::test]
async fn a_certificate_of_another_name_gets_no_delivery() {
    let (endpoint, certificate) = TestServer::start_with_tls(answers("200 OK", "", ""), "other.example").await;
    let sender = Sender { tls: trusting(certificate), ..sender() };
    for host in ["shop.example", "127.0.0.1"] {
        let failure = failure_of(&sender, &endpoint.url("https", host, "/")).await;
        assert!(
            matches!(&failure, FailureReason::Request(RequestFailure::Tls(text)) if text.contains("certificate")),
            "{failure:?}"
        );
    }
    assert!(endpoint.requests.lock().expect("no test panics while it holds them").is_empty());
}

#[tokio::test]
async fn a_header_that_cannot_be_sent_fails_before_anybody_is_called() {
    let endpoint = TestServer::start(answers("200 OK", "", "")).await;
    let url = endpoint.url("http", "127.0.0.1", "/");
    for headers in [[("bad name", "value")], [("name", "line\r\nbreak: 1")]] {
        let attempt = sender().post(Post { merchant_id: MERCHANT, url: &url, headers: &headers, body: BODY }).await;
        assert_eq!(attempt.result, AttemptResult::Failed(RequestFailure::Unsendable.into()));
    }
    assert_eq!(endpoint.connections(), 0);
}

#[test]
fn every_path_and_query_of_a_url_can_be_sent() {
    for character in (0..=127_u8).map(char::from).chain(['é', 'บ', '😀']) {
        let text = format!("https://shop.example/a{character}b?c{character}d");
        if let Ok(url) = AddressPolicy::default().check_url(&text) {
            let request = request_of(Post { merchant_id: MERCHANT, url: &url, headers: &[], body: BODY });
            assert!(request.is_ok(), "{text}");
        }
    }
}

#[test]
fn debug_output_shows_no_more_than_the_policy() {
    let text = format!("{:?}", sender_with(AddressPolicy::default(), &[]));
    assert_eq!(text, "Sender { policy: AddressPolicy { allowed: AllowedNetworks([]) }, .. }");
}
